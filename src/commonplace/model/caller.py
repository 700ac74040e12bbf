"""A caller: a program that came in by a door of the daemon, and what it may do there."""

from dataclasses import dataclass
from typing import Final, Literal, get_args

Scope = Literal["read", "write", "admin"]
SCOPES: tuple[Scope, ...] = get_args(Scope)
"""What a caller may do, each including those before it."""

Via = Literal["tcp", "socket"]

CALLER: Final = "commonplace.caller"
"""Where the guard of the daemon puts the Caller into the ASGI scope, and doors find it."""


@dataclass(frozen=True, slots=True)
class Caller:
    """A program at the door: its name, its scopes, the vault it means, and the way it came.

    `vault` is the path or the folder name of a registered vault; empty means the default one.
    """

    name: str
    scopes: frozenset[Scope]
    vault: str = ""
    via: Via = "tcp"

    def may(self, scope: Scope) -> bool:
        """Whether it has that scope, or one that includes it."""
        return any(scope in SCOPES[: SCOPES.index(each) + 1] for each in self.scopes)
