"""Listing a device-local store: every file once, and a Problem for everything that is passed over."""

import os
import time
from collections.abc import Iterable

from commonplace.errors import NotFound, Refused
from commonplace.model import Problem, Stat
from commonplace.vault.base import Listing, Skip
from commonplace.vault.files import kind_of
from commonplace.vault.paths import is_git, is_temporary, name_key, normal, printable
from commonplace.vault.tree import Tree
from commonplace.vault.trouble import disk_trouble

_STILL_AT_WORK = 60.0  # seconds that a writer may have a half-made file


def list_tree(tree: Tree, folder: str, *, recursive: bool, skip: Skip) -> Listing:
    """The files below a folder, in order of their paths. Raises NotFound when there is no such folder."""
    found = _Found(skip)
    with disk_trouble(folder or str(tree.root), doing="list"), tree.folder(folder) as (opened, spelled):
        found.look_into(opened, spelled)
    while recursive and found.folders:
        found.look_below(tree, found.folders.pop())
    files = sorted(found.files, key=lambda file: file.path)
    return Listing(tuple(files), tuple(sorted(found.passed_over)))


class _Found:
    """What a round through the folders has found so far; `folders` are still to be looked into."""

    def __init__(self, skip: Skip) -> None:
        self._skip = skip
        self.files: list[Stat] = []
        self.folders: list[str] = []
        self.passed_over: list[Problem] = []

    def look_below(self, tree: Tree, path: str) -> None:
        """Look into a folder found before; one that vanished since is nothing, one that cannot be opened a Problem."""
        try:
            with tree.folder(path) as (opened, _):
                self.look_into(opened, path)
        except NotFound:
            return
        except Refused as refusal:
            self._pass_over(path, refusal.message, "symlink")
        except OSError as error:
            self._pass_over(path, f"the folder cannot be read: {error.strerror}", "unreadable-folder")

    def look_into(self, opened: int, path: str) -> None:
        """Take in what an open folder holds."""
        prefix = f"{path}/" if path else ""
        with os.scandir(opened) as entries:
            names = [entry.name for entry in entries if self._take(entry, prefix)]
        self._report_collisions(prefix, names)

    def _take(self, entry: os.DirEntry[str], prefix: str) -> bool:
        """Whether the entry belongs to the store and is not skipped."""
        name = entry.name
        path = prefix + name
        if is_git(name) or is_temporary(name):
            self._report_left_over(entry, path)
            return False
        if self._skipped(entry, printable(path)):
            return False
        try:
            normal(path)
            self._sort_in(entry, path)
        except Refused as refusal:
            self._pass_over(printable(path), refusal.message, "unusable-name")
        except FileNotFoundError:
            return False  # it went away while we looked
        except OSError as error:
            self._pass_over(path, f"the file cannot be looked at: {error.strerror}", "unreadable-file")
        return True

    def _report_left_over(self, entry: os.DirEntry[str], path: str) -> None:
        """A half-made file that no writer is at work on any more may be all that is left of someone's save."""
        try:
            changed = entry.stat(follow_symlinks=False).st_ctime
        except FileNotFoundError:
            return  # the writer has finished
        if is_temporary(entry.name) and time.time() - changed > _STILL_AT_WORK:
            message = "left by a writer that was killed: compare it with the notes beside it, then remove it"
            self._pass_over(path, message, "left-over")

    def _skipped(self, entry: os.DirEntry[str], path: str) -> bool:
        if entry.is_symlink():
            return self._skip(path) or self._skip(f"{path}/")
        return self._skip(f"{path}/" if entry.is_dir(follow_symlinks=False) else path)

    def _sort_in(self, entry: os.DirEntry[str], path: str) -> None:
        if entry.is_symlink():
            self._pass_over(path, "a symbolic link: links are not followed", "symlink")
        elif entry.is_dir(follow_symlinks=False):
            self.folders.append(path)
        elif entry.is_file(follow_symlinks=False):
            status = entry.stat(follow_symlinks=False)
            self.files.append(Stat(path, status.st_mtime, status.st_size))
        else:
            kind = kind_of(entry.stat(follow_symlinks=False).st_mode)
            self._pass_over(path, f"{kind}, not a regular file", "special-file")

    def _report_collisions(self, prefix: str, names: Iterable[str]) -> None:
        first: dict[str, str] = {}
        for name in sorted(names):
            other = first.setdefault(name_key(name), name)
            if other != name:
                message = (
                    f"differs from '{printable(other)}' only in case or accents' form: some systems take them for one"
                )
                self._pass_over(printable(prefix + name), message, "name-collision")

    def _pass_over(self, path: str, message: str, code: str) -> None:
        self.passed_over.append(Problem(path, 0, message, code))
