"""The folder of a store, walked one path component at a time from its root.

Every step opens the next folder relative to the previous one and refuses a symbolic link, so a parent that is swapped
for a link halfway is either refused or never looked at again. Names are taken as the disk has them: some systems
store accents decomposed, and some open a file by a name in another case.
"""

import errno
import os
import stat
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from commonplace.errors import CommonplaceError, VaultUnavailable
from commonplace.vault.contract_errors import (
    case_collision,
    file_not_found,
    folder_not_found,
    link_not_followed,
    parent_is_a_file,
)
from commonplace.vault.paths import spelling
from commonplace.vault.syscalls import flush, unavailable_from

# Windows has none of these flags: the import works there, and opening a store reports that it is unsupported.
NO_LINKS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
FOLDER_FLAGS = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | NO_LINKS
_PASSING_FLAGS = FOLDER_FLAGS | getattr(os, "O_PATH", 0)  # for a folder on the way: whoever watches it is not woken

_Wanted = tuple[str, str]  # a path, and what is left of it below the folder that is open


@dataclass(frozen=True, slots=True)
class FileLocation:
    """Where a file or folder is or would be: an open parent folder, the name on disk, and the path for messages.

    `mode` is None where nothing exists; `twin` is then an existing path that differs in case only.
    `created` names the folders that were created on the way.
    """

    folder: int
    name: str
    path: str
    mode: int | None
    twin: str | None
    created: tuple[str, ...] = ()

    @property
    def is_folder(self) -> bool:
        """True if a folder exists here."""
        return self.mode is not None and stat.S_ISDIR(self.mode)

    def refuse_link(self, path: str) -> None:
        """Raise Refused when this is a symbolic link on the way to that path."""
        if self.mode is not None and stat.S_ISLNK(self.mode):
            raise link_not_followed(path, link=self.path)


class FolderTree:
    """The folder of a store. Its root may be reached through a link; below it no link is followed."""

    def __init__(self, root: Path) -> None:
        self.root = _real_folder(root)
        self._numbers = _numbers(os.stat(self.root))

    @contextmanager
    def locate(self, path: str) -> Iterator[FileLocation]:
        """The location of that file, for reading. Raises NotFound when a folder above it does not exist."""
        with _Descent(self.root, self._numbers, path) as descent:
            for location, more in descent.along(path):
                location.refuse_link(path)
                if more and not location.is_folder:
                    raise file_not_found(path, twin=location.twin and location.twin + path.removeprefix(location.path))
            yield location

    @contextmanager
    def locate_for_writing(self, path: str) -> Iterator[FileLocation]:
        """The location of that file; creates missing folders, and removes them again if the block fails."""
        created: list[str] = []
        try:
            with _Descent(self.root, self._numbers, path, creates=True) as descent:
                for location, more in descent.along(path):
                    location.refuse_link(path)
                    if more and location.mode is None:
                        created.extend(_make_folder(location, path))
                    elif more and not location.is_folder:
                        raise parent_is_a_file(path, by=location.path)
                yield replace(location, created=tuple(created))
        except BaseException:
            self.remove_folders(created)
            raise

    @contextmanager
    def open_folder(self, path: str) -> Iterator[tuple[int, str]]:
        """The open folder at that path, and its path as it is on disk; "" is the root. Raises NotFound."""
        with _Descent(self.root, self._numbers, path) as descent:
            on_disk = ""
            for location, _ in descent.along(path) if path else ():
                location.refuse_link(path)
                if not location.is_folder:
                    raise folder_not_found(
                        path, twin=location.twin and location.twin + path.removeprefix(location.path)
                    )
                on_disk = location.path
            if on_disk:
                descent.enter(location.name)
            yield descent.folder, on_disk

    def locate_all(self, paths: Iterable[str]) -> Iterator[tuple[str, FileLocation]]:
        """Each of these paths with its location; those below what is no folder, or cannot be opened, are left out.

        Each folder is opened once, for passing through alone. A location is good until the next is asked for.
        """
        with _Descent(self.root, self._numbers, "/") as descent:
            yield from _locations(descent.folder, "", _by_first_name((path, path) for path in paths))

    def path_on_disk(self, path: str) -> str:
        """The path as it is on disk, as far as it exists. Raises Refused for a link on the way."""
        with _Descent(self.root, self._numbers, path) as descent:
            for location, more in descent.along(path):
                location.refuse_link(path)
                if more and not location.is_folder:
                    rest = path.split("/")[location.path.count("/") + 1 :]
                    return "/".join([location.path, *rest])
            return location.path

    def remove_folders(self, paths: Sequence[str]) -> None:
        """Remove these folders, the last one first, if they are empty and still exist."""
        for path in reversed(paths):
            with suppress(OSError, CommonplaceError), self.locate(path) as location:
                os.rmdir(location.name, dir_fd=location.folder)


def _locations(folder: int, path: str, wanted: Mapping[str, Sequence[_Wanted]]) -> Iterator[tuple[str, FileLocation]]:
    """The location of each wanted path, by the first name of what is left of it below this open folder."""
    for name, each in wanted.items():
        try:
            location = location_in(folder, path, name)
        except OSError:
            continue
        yield from ((whole, location) for whole, rest in each if not rest)
        below = [(whole, rest) for whole, rest in each if rest]
        if not below or not location.is_folder:
            continue
        try:
            opened = os.open(location.name, _PASSING_FLAGS, dir_fd=folder)
        except OSError:
            continue
        try:
            yield from _locations(opened, location.path, _by_first_name(below))
        finally:
            os.close(opened)


def _by_first_name(wanted: Iterable[_Wanted]) -> dict[str, list[_Wanted]]:
    by_name: dict[str, list[_Wanted]] = {}
    for whole, left in wanted:
        name, _, rest = left.partition("/")
        by_name.setdefault(name, []).append((whole, rest))
    return by_name


@dataclass(frozen=True, slots=True)
class DiskName:
    """A name as it is in a folder, and the mode of what it names, links not followed.

    Where nothing exists, `mode` is None, `name` is unchanged, and `twin` is a name there that differs in case only.
    """

    name: str
    mode: int | None
    twin: str | None = None


def find_name(folder: int, name: str) -> DiskName:
    """The name as it is in the open folder: exactly, else in another Unicode normalisation form."""
    status = _lstat(folder, name)
    if status is not None and not _opens_by_other_names(folder, name, status):
        return DiskName(name, status.st_mode)
    on_disk = spelling(name, _names_in(folder))
    status = _lstat(folder, on_disk.name) if on_disk.exists else None
    return DiskName(on_disk.name, status.st_mode if status is not None else None, on_disk.twin)


def _names_in(folder: int) -> list[str]:
    """The names in the folder, which may be open for passing through alone."""
    opened = os.open(".", FOLDER_FLAGS, dir_fd=folder)
    try:
        return os.listdir(opened)
    finally:
        os.close(opened)


def location_in(folder: int, path: str, name: str) -> FileLocation:
    """The location of a file of that name in the open folder, which has this path."""
    entry, above = find_name(folder, name), f"{path}/" if path else ""
    return FileLocation(folder, entry.name, above + entry.name, entry.mode, above + entry.twin if entry.twin else None)


def _opens_by_other_names(folder: int, name: str, status: os.stat_result) -> bool:
    """True if this file system ignores case or normalisation form; then only a listing has the real name."""
    others = {name.swapcase(), unicodedata.normalize("NFD", name), unicodedata.normalize("NFC", name)} - {name}
    for other in others:
        same = _lstat(folder, other)
        if same is not None and os.path.samestat(same, status):
            return True
    return False


def _lstat(folder: int, name: str) -> os.stat_result | None:
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False)
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ENAMETOOLONG):  # another form of a long name can exceed the limit
            return None
        raise


class _Descent:
    """A walk down from the root to that path that keeps one folder open at a time.

    Only the folder of the last component is open for more than passing through, or every folder if some may be created.
    """

    def __init__(self, root: Path, numbers: tuple[int, int], path: str, *, creates: bool = False) -> None:
        self._passing = FOLDER_FLAGS if creates else _PASSING_FLAGS
        try:
            self.folder = os.open(root, self._passing if "/" in path else FOLDER_FLAGS)
        except OSError as error:
            raise unavailable_from(error, path=str(root), doing="open the vault") from error
        if _numbers(os.fstat(self.folder)) != numbers:
            os.close(self.folder)
            raise _replaced(root)

    def __enter__(self) -> "_Descent":
        return self

    def __exit__(self, *error: object) -> None:
        os.close(self.folder)

    def along(self, path: str) -> Iterator[tuple[FileLocation, bool]]:
        """The location of each component, and whether more follow; a folder is entered when the next is requested."""
        names, walked = path.split("/"), ""
        for left, name in zip(range(len(names) - 1, -1, -1), names, strict=True):
            location = location_in(self.folder, walked, name)
            yield location, left > 0
            if left:
                flags = self._passing if left > 1 else FOLDER_FLAGS
                self._enter_unless_swapped(location.name, path, link=location.path, flags=flags)
                walked = location.path

    def enter(self, name: str, *, flags: int = FOLDER_FLAGS) -> None:
        """Open that folder and close the current one."""
        below = os.open(name, flags, dir_fd=self.folder)
        os.close(self.folder)
        self.folder = below

    def _enter_unless_swapped(self, name: str, path: str, *, link: str, flags: int) -> None:
        try:
            self.enter(name, flags=flags)
        except OSError as error:
            entry = find_name(self.folder, name)
            if entry.mode is not None and stat.S_ISLNK(entry.mode):
                raise link_not_followed(path, link=link) from error
            raise


def _numbers(folder: os.stat_result) -> tuple[int, int]:
    """What tells this folder from every other on this machine, whatever its name."""
    return folder.st_dev, folder.st_ino


def _replaced(root: Path) -> VaultUnavailable:
    """The error for another folder in the vault's place: read as the vault, it would look as if notes were removed."""
    return VaultUnavailable(
        f"another folder has taken the place of the vault while it was open: {root}",
        path=str(root),
        hint="If you moved the vault, or its disk is not mounted, put it back; then open the vault anew.",
    )


def _real_folder(root: Path) -> Path:
    if os.open not in os.supports_dir_fd:
        raise VaultUnavailable(
            "this system cannot open files relative to a folder, which a device-local vault needs",
            path=str(root),
            hint="Run Commonplace on Linux or macOS, or on Windows inside WSL.",
        )
    try:
        real = root.resolve(strict=True)
    except FileNotFoundError as error:
        raise VaultUnavailable(
            f"the vault folder does not exist: {root}", path=str(root), hint="Create it, or name another folder."
        ) from error
    except (OSError, RuntimeError) as error:  # a loop of links is a RuntimeError before Python 3.13
        raise VaultUnavailable(
            f"the vault folder cannot be reached: {root}: {error}", path=str(root), hint="Check the path and its links."
        ) from error
    if not real.is_dir():
        raise VaultUnavailable(f"the vault is not a folder: {root}", path=str(root), hint="Name a folder.")
    return real


def _make_folder(location: FileLocation, path: str) -> tuple[str, ...]:
    """Create a folder above that path; returns its path, or nothing when someone else has just created it."""
    if location.twin:
        raise case_collision(path, twin=location.twin)
    try:
        os.mkdir(location.name, dir_fd=location.folder)
    except FileExistsError:
        return ()
    flush(location.folder)
    return (location.path,)
