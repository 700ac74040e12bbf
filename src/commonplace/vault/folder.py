"""A store in a folder of this machine, as far as it is read: the part that backends with and without git share."""

import threading
from collections.abc import Iterator
from pathlib import Path

from commonplace.errors import NotFound
from commonplace.model import Stat
from commonplace.vault.base import Blob, Listing, Locator, Seen, Skip
from commonplace.vault.files import read_file, stat_file
from commonplace.vault.listing import list_tree
from commonplace.vault.lock import VaultLock
from commonplace.vault.paths import normal, normal_folder
from commonplace.vault.rules import own
from commonplace.vault.tree import Tree
from commonplace.vault.trouble import disk_trouble
from commonplace.vault.watching import watch_folder


class Folder:
    """A folder. Reads need no lock: a file is always whole, because it is only ever replaced in one step."""

    def __init__(self, root: Path) -> None:
        """Open the store in that folder. Raises VaultUnavailable when it is not there or no folder."""
        self._tree = Tree(root)
        self._lock = VaultLock(self._tree.root)

    def resolve(self, path: str) -> Locator:
        """Where that file is or would be, spelled as the disk spells it. Raises Refused."""
        asked = normal(path)
        with disk_trouble(asked, doing="look for"):
            return Locator(self._tree.spelled(asked), self)

    def read(self, at: Locator) -> Blob:
        """The file's bytes. Raises NotFound, and Refused for what is no regular file."""
        path = own(at, self)
        with disk_trouble(path, doing="read"), self._tree.place(path) as place:
            return read_file(place).blob

    def exists(self, at: Locator) -> bool:
        """Whether a file is there. Raises Refused for what is no regular file."""
        try:
            self.stat(at)
        except NotFound:
            return False
        return True

    def stat(self, at: Locator) -> Stat:
        """Size and time of the file. Raises NotFound, and Refused for what is no regular file."""
        path = own(at, self)
        with disk_trouble(path, doing="look at"), self._tree.place(path) as place:
            return stat_file(place)

    def list(self, folder: str = "", *, recursive: bool = True, skip: Skip | None = None) -> Listing:
        """The files below a folder. Raises NotFound when there is no such folder."""
        return list_tree(self._tree, normal_folder(folder), recursive=recursive, skip=skip or _skip_nothing)

    def watch(
        self, *, stop: threading.Event, skip: Skip | None = None, step: float = 0.5
    ) -> Iterator[tuple[Seen, ...]]:
        """What happens from this call on, until `stop` is set; () each `step` seconds while nothing does.

        Raises VaultUnavailable, at once or later, when the system does not watch the folder for us.
        """
        return watch_folder(self._tree, stop=stop, skip=skip, step=step)


def _skip_nothing(path: str) -> bool:
    return False
