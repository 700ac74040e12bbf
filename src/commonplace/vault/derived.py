"""What a derived file may be, the same for every backend: its name, and what is left alone."""

from typing import Final

from commonplace.errors import Refused

DERIVED_NAME: Final = "_index.md"
"""The one name that a derived file may have: no other file can be taken for one, whatever goes wrong."""

WAIT_S: Final = 10.0
"""How long the lock is waited for, as in a transaction."""


def refuse_other_names(path: str) -> str:
    """The path. Raises Refused when a derived file may not stand there."""
    if path.rpartition("/")[2] == DERIVED_NAME:
        return path
    raise Refused(
        f"only files named {DERIVED_NAME} are derived: {path}",
        path=path,
        hint=f"Write other files in a transaction, or name {DERIVED_NAME} in that folder.",
    )


def not_ours(path: str) -> Refused:
    """The error for a file in the way that nobody derived, so that it may hold a person's words."""
    return Refused(
        f"a file that Commonplace did not make stands where a generated one belongs: {path}",
        path=path,
        hint="Move it to another name, or delete it if it is a copy of a generated one.",
    )
