"""Derived files: generated from notes and written atomically, under one name."""

from typing import TYPE_CHECKING, Final

from commonplace.errors import Refused
from commonplace.vault.batch import make_all, plan_all
from commonplace.vault.changes import Write
from commonplace.vault.syscalls import defer_interrupts
from commonplace.vault.tree import FolderTree

if TYPE_CHECKING:  # a folder without git does not load it
    pass

DERIVED_NAME: Final = "_index.md"
"""The only name of a derived file: no other file can be mistaken for one, whatever goes wrong."""

LOCK_WAIT_S: Final = 10.0
"""How long to wait for the lock, as in a transaction."""


def checked_derived_path(path: str) -> str:
    """The path. Raises Refused when it is not the path of a derived file."""
    if path.rpartition("/")[2] == DERIVED_NAME:
        return path
    raise Refused(
        f"only files named {DERIVED_NAME} can be derived: {path}",
        path=path,
        hint=f"Write other files in a transaction, or name {DERIVED_NAME} in that folder.",
    )


def write_derived(tree: FolderTree, path: str, content: bytes) -> None:
    """Write the file unless it has this content already. The caller holds the lock. Raises as a write does."""
    steps = plan_all(tree, [Write(path, content, None)])
    with defer_interrupts():
        make_all(tree, steps)
