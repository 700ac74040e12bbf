"""What a look over links and over a whole vault comes back with."""

from dataclasses import dataclass

from commonplace.model.note import Link
from commonplace.model.problem import Problem


@dataclass(frozen=True, slots=True)
class ResolvedLink:
    """A link of the note at `source`, and the path it leads to; None when there is no such file.

    `also` names other files that the same words could mean.
    """

    source: str
    link: Link
    path: str | None
    also: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Check:
    """A whole vault, read once: how many notes, every link, every Problem."""

    notes: int
    links: tuple[ResolvedLink, ...]
    problems: tuple[Problem, ...]
