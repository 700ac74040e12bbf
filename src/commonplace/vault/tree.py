"""The folder of a device-local store, walked one component at a time from its root.

Every step opens the next folder relative to the one before and refuses a symbolic link, so a parent that is swapped
for a link half-way is either refused or never looked at again.
"""

import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from commonplace.errors import CommonplaceError, VaultUnavailable
from commonplace.vault.rules import blocked, collision, missing, no_folder, symbolic_link
from commonplace.vault.spell import spell
from commonplace.vault.syscalls import flush
from commonplace.vault.trouble import unavailable

# Windows has none of these flags: the import works there, and opening a store says that it cannot.
NO_LINKS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
FOLDER_FLAGS = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | NO_LINKS


@dataclass(frozen=True, slots=True)
class Place:
    """Where a file or folder is or would be: an open folder, the name as the disk spells it, the path for people.

    `mode` is None where nothing is, and `twin` then a path that differs in case alone.
    `made` names the folders that were made on the way.
    """

    folder: int
    name: str
    path: str
    mode: int | None
    twin: str | None
    made: tuple[str, ...] = ()

    @property
    def is_folder(self) -> bool:
        """Whether a folder stands here."""
        return self.mode is not None and stat.S_ISDIR(self.mode)

    def refuse_link(self, path: str) -> None:
        """Raise Refused when this is a symbolic link on the way to that path."""
        if self.mode is not None and stat.S_ISLNK(self.mode):
            raise symbolic_link(path, link=self.path)


class Tree:
    """The folder that holds a store. Its root may be reached over a link; below it none is followed."""

    def __init__(self, root: Path) -> None:
        self.root = _real_folder(root)

    @contextmanager
    def place(self, path: str) -> Iterator[Place]:
        """The place of that file, for reading. Raises NotFound when a folder on the way is not there."""
        with _Descent(self.root) as descent:
            for place, more in descent.along(path):
                place.refuse_link(path)
                if more and not place.is_folder:
                    raise missing(path, twin=place.twin and place.twin + path.removeprefix(place.path))
            yield place

    @contextmanager
    def place_made(self, path: str) -> Iterator[Place]:
        """The place of that file, for writing: missing folders are made, and removed again if the block fails."""
        made: list[str] = []
        try:
            with _Descent(self.root) as descent:
                for place, more in descent.along(path):
                    place.refuse_link(path)
                    if more and place.mode is None:
                        made.extend(_make_folder(place, path))
                    elif more and not place.is_folder:
                        raise blocked(path, by=place.path)
                yield replace(place, made=tuple(made))
        except BaseException:
            self.remove_folders(made)
            raise

    @contextmanager
    def folder(self, path: str) -> Iterator[tuple[int, str]]:
        """The folder at that path, open, and its path as the disk spells it; "" is the root. Raises NotFound."""
        with _Descent(self.root) as descent:
            spelled = ""
            for place, _ in descent.along(path) if path else ():
                place.refuse_link(path)
                if not place.is_folder:
                    raise no_folder(path, twin=place.twin and place.twin + path.removeprefix(place.path))
                spelled = place.path
            if spelled:
                descent.enter(place.name)
            yield descent.folder, spelled

    def spelled(self, path: str) -> str:
        """The path as the disk spells it, as far as it is there. Raises Refused for a link on the way."""
        with _Descent(self.root) as descent:
            for place, more in descent.along(path):
                place.refuse_link(path)
                if more and not place.is_folder:
                    rest = path.split("/")[place.path.count("/") + 1 :]
                    return "/".join([place.path, *rest])
            return place.path

    def remove_folders(self, paths: Sequence[str]) -> None:
        """Remove these folders, the last one first, as far as they are empty and still there."""
        for path in reversed(paths):
            with suppress(OSError, CommonplaceError), self.place(path) as place:
                os.rmdir(place.name, dir_fd=place.folder)


class _Descent:
    """A walk down from the root that keeps one folder open at a time."""

    def __init__(self, root: Path) -> None:
        try:
            self.folder = os.open(root, FOLDER_FLAGS)
        except OSError as error:
            raise unavailable(error, path=str(root), doing="open the vault") from error

    def __enter__(self) -> "_Descent":
        return self

    def __exit__(self, *error: object) -> None:
        os.close(self.folder)

    def along(self, path: str) -> Iterator[tuple[Place, bool]]:
        """The place of each component, and whether more follow; a folder is entered when the next one is asked for."""
        names, walked = path.split("/"), ""
        for left, name in zip(range(len(names) - 1, -1, -1), names, strict=True):
            found = spell(self.folder, name)
            twin = walked + found.twin if found.twin else None
            yield Place(self.folder, found.name, walked + found.name, found.mode, twin), left > 0
            if left:
                self._enter_unless_swapped(found.name, path, link=walked + found.name)
                walked += f"{found.name}/"

    def enter(self, name: str) -> None:
        """Go on in that folder."""
        below = os.open(name, FOLDER_FLAGS, dir_fd=self.folder)
        os.close(self.folder)
        self.folder = below

    def _enter_unless_swapped(self, name: str, path: str, *, link: str) -> None:
        try:
            self.enter(name)
        except OSError as error:
            found = spell(self.folder, name)
            if found.mode is not None and stat.S_ISLNK(found.mode):
                raise symbolic_link(path, link=link) from error
            raise


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
            f"the vault folder is not there: {root}", path=str(root), hint="Make it, or name another folder."
        ) from error
    except (OSError, RuntimeError) as error:  # a loop of links is a RuntimeError before Python 3.13
        raise VaultUnavailable(
            f"the vault folder cannot be reached: {root}: {error}", path=str(root), hint="Check the path and its links."
        ) from error
    if not real.is_dir():
        raise VaultUnavailable(f"the vault is not a folder: {root}", path=str(root), hint="Name a folder.")
    return real


def _make_folder(place: Place, path: str) -> tuple[str, ...]:
    """Make the folder on the way to that path; its path, or nothing when someone else made it just now."""
    if place.twin:
        raise collision(path, twin=place.twin)
    try:
        os.mkdir(place.name, dir_fd=place.folder)
    except FileExistsError:
        return ()
    flush(place.folder)
    return (place.path,)
