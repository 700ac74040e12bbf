"""Changes of notes: who asks, what was asked, and what came of it."""

from dataclasses import dataclass
from typing import Literal

ActorKind = Literal["person", "agent", "job"]
Verb = Literal["write", "delete", "move", "undo", "erase", "remember", "confirm", "forget"]
"""What is done to a note; the last three are done to entries alone, and by nothing else."""


@dataclass(frozen=True, slots=True)
class Actor:
    """Who changes a note, and through which door: `origin` is a word such as `cli`, `library` or `mcp`."""

    kind: ActorKind = "person"
    origin: str = "library"


@dataclass(frozen=True, slots=True)
class Terms:
    """What a caller says beside the change itself.

    `expected` is the version that the change was based on, or `absent`; `expected_mtime` the file time.
    `personal` is a person's explicit word for notes outside the folders that programs may write to;
    `grant` is a token that a person gave for this one call.
    `dry_run` changes nothing and comes back with the difference it would make.
    """

    message: str | None = None
    expected: str | None = None
    expected_mtime: float | None = None
    personal: bool = False
    grant: str | None = None
    dry_run: bool = False


@dataclass(frozen=True, slots=True)
class Changed:
    """What came of one change.

    `path` is where the note is now, which policy may have chosen; `asked` is where it was wanted.
    `changed` is False when everything was so already. `difference` is a unified diff, for a dry run only.
    `repointed` names notes whose links were made to follow a move; `left` those that could not be.
    """

    verb: Verb
    path: str
    asked: str
    commit: str | None
    version: str | None
    changed: bool
    difference: str | None = None
    repointed: tuple[str, ...] = ()
    left: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Erased:
    """What an erasure left behind: commits that still hold the note, and the remotes that may hold them too.

    `former` names the paths from which the note was moved; `purge` all of its paths from the root of the repository.
    """

    path: str
    commit: str | None
    commits_holding_it: int
    remotes: tuple[str, ...]
    former: tuple[str, ...] = ()
    purge: tuple[str, ...] = ()
