"""What a look over links and over a whole vault comes back with."""

from dataclasses import dataclass

from commonplace.model.note import Link
from commonplace.model.problem import Problem


@dataclass(frozen=True, slots=True)
class ResolvedLink:
    """A link of the note at `source`, and the path it leads to; None when there is no such file.

    `by` tells how it was found: as a path, by a note's name, or by an alias in its frontmatter.
    `also` names a few other files that the same words could mean.
    """

    source: str
    link: Link
    path: str | None
    by: str
    also: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Check:
    """A whole vault, read once: how many notes, every link, every Problem."""

    notes: int
    links: tuple[ResolvedLink, ...]
    problems: tuple[Problem, ...]
