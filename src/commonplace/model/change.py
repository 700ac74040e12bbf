"""Who asks and what is changed: actors, programs that call the daemon, the terms of a change and its result."""

from dataclasses import dataclass
from typing import Final, Literal, get_args

Scope = Literal["read", "write", "admin"]
SCOPES: tuple[Scope, ...] = get_args(Scope)
"""What a caller may do; each scope includes those before it."""

Via = Literal["tcp", "socket"]

CALLER: Final = "commonplace.caller"
"""The key of the Caller in the ASGI scope, set by the daemon's guard and read by the doors."""
STILL_ADMITTED: Final = "commonplace.still_admitted"
"""The key of a function in the ASGI scope: would the guard admit that caller now? For answers without an end."""


@dataclass(frozen=True, slots=True)
class Caller:
    """A calling program: its name, its scopes, the vault it asks for, and how it connected.

    `vault` is the path or the folder name of a registered vault; empty means the default one. `folder` is the working
    folder of a program on this machine, if it gave one. `person` is the id of the person whose token it is; empty for
    programs of the user who runs the daemon.
    """

    name: str
    scopes: frozenset[Scope]
    vault: str = ""
    via: Via = "tcp"
    folder: str = ""
    person: str = ""

    def may(self, scope: Scope) -> bool:
        """True if the caller has that scope, or one that includes it."""
        return any(scope in SCOPES[: SCOPES.index(each) + 1] for each in self.scopes)

    @property
    def role_hint(self) -> str:
        """What to look at if a person's program may not do something; empty for other programs."""
        if not self.person:
            return ""
        roles = f"`commonplace person show {self.person}` has their roles"
        return f"The token's scope, and the person's roles in this vault and on the server, must allow it; {roles}."


ActorKind = Literal["person", "agent", "job"]
ACTOR_KINDS: tuple[ActorKind, ...] = get_args(ActorKind)
Verb = Literal["write", "delete", "move", "undo", "erase", "curate", "remember", "confirm", "forget"]
"""What is done to a note; the last three apply to entries only, and nothing else changes entries.

`curate` is a validated operation on a profile note: programs change USER.md and CHANNEL.md by nothing else."""


@dataclass(frozen=True, slots=True)
class Actor:
    """Who changes a note, and through which door: `origin` is a word such as `cli`, `library` or `mcp`.

    `person` is the id of the person for whom it is done; empty for the user who runs the program.
    """

    kind: ActorKind = "person"
    origin: str = "library"
    person: str = ""


@dataclass(frozen=True, slots=True)
class Terms:
    """The terms of a change, besides the change itself.

    `message` is that of the commit; `why` is for the log of changes alone, and is erased with the note.
    `expected` is the version that the change is based on, or `absent`; `expected_mtime` the file time.
    `personal` is a person's explicit consent for notes outside the folders that programs may write to;
    `grant` is a token that a person gave for this one call.
    `spoken` says that a program passes on what the person said: their words were found where it cannot write.
    `dry_run` changes nothing and returns the difference it would make.
    """

    message: str | None = None
    why: str = ""
    expected: str | None = None
    expected_mtime: float | None = None
    personal: bool = False
    grant: str | None = None
    spoken: bool = False
    dry_run: bool = False


@dataclass(frozen=True, slots=True)
class Changed:
    """The result of one change.

    `path` is where the note is now, which policy may have chosen; `asked` is the path that was requested.
    `changed` is False if nothing had to change. `difference` is a unified diff, for a dry run only.
    `repointed` lists notes whose links were updated after a move; `left` those whose links could not be.
    `existed` is True if the note was there before.
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
    existed: bool = False


@dataclass(frozen=True, slots=True)
class Erasure:
    """The result of an erasure, with what is left: commits that still hold the note, and remotes that may have them.

    `former` lists the paths from which the note was moved; `purge` all of its paths from the root of the repository.
    """

    path: str
    commit: str | None
    commits_holding_it: int
    remotes: tuple[str, ...]
    former: tuple[str, ...] = ()
    purge: tuple[str, ...] = ()
