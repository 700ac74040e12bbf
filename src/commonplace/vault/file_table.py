"""Files by path in a mapping: which file a path means, and what the files are after a transaction.

Pure functions that a backend without a file system shares with every other: it hands over the files that the paths
could mean, and stores what comes back.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from commonplace.vault.base import ABSENT, version_of
from commonplace.vault.changes import Change, Delete, Move, Write
from commonplace.vault.contract_errors import (
    already_exists,
    case_collision,
    file_not_found,
    folder_not_found,
    not_a_file,
    parent_is_a_file,
    require_version,
)
from commonplace.vault.paths import spelling


class VersionedFile(Protocol):
    """A file of the mapping: only its version matters here."""

    @property
    def version(self) -> str:
        """The version of the file's bytes."""


_File = TypeVar("_File", bound=VersionedFile)


@dataclass(frozen=True, slots=True)
class PathLookup:
    """The result of looking up a path: its spelling, a twin in another case, a file above it, is it a folder."""

    path: str
    twin: str | None = None
    blocked_by: str | None = None
    is_folder: bool = False


def apply_changes(
    files: Mapping[str, _File], changes: Sequence[Change], *, create: Callable[[bytes], _File]
) -> dict[str, _File]:
    """The files after the changes; every expected version is checked against the files before any change.

    A file whose content stays the same is the same object. Raises Conflict, NotFound and Refused.
    """
    for change in changes:
        check_change(files, change)
    after = dict(files)
    for change in changes:
        _apply_change(after, change, create)
    return after


def find_file(files: Mapping[str, _File], path: str) -> tuple[str, _File]:
    """The file and its path as it is spelled there. Raises NotFound, and Refused for a folder."""
    lookup = look_up(files, path)
    if lookup.is_folder:
        raise not_a_file(lookup.path, kind="a folder")
    if lookup.path not in files:
        raise file_not_found(path, twin=lookup.twin)
    return lookup.path, files[lookup.path]


def find_folder(files: Mapping[str, object], path: str) -> str:
    """The folder's path as it is spelled there. Raises NotFound."""
    lookup = look_up(files, path)
    if not lookup.is_folder:
        raise folder_not_found(path, twin=lookup.twin)
    return lookup.path


def look_up(files: Mapping[str, object], path: str) -> PathLookup:
    """What the path means among these files."""
    if path in files:
        return PathLookup(path)
    names, walked = path.split("/"), ""
    for depth, name in enumerate(names, start=1):
        entry = spelling(name, _names_in(files, walked))
        here, rest = walked + entry.name, names[depth:]
        whole = "/".join([here, *rest])
        if entry.twin:
            return PathLookup(whole, twin="/".join([walked + entry.twin, *rest]))
        if rest and here in files:
            return PathLookup(whole, blocked_by=here)
        walked = f"{here}/"
    return PathLookup(whole, is_folder=whole not in files and any(file.startswith(walked) for file in files))


def check_change(files: Mapping[str, _File], change: Change) -> None:
    """Raise what stops this change on these files: Conflict, NotFound, Refused."""
    if isinstance(change, Write):
        file = files.get(_path_to_write(files, change.path))
        found = file.version if file else ABSENT
    else:
        found = find_file(files, change.path)[1].version
    require_version(change.path, expected=change.expected, found=found)
    if isinstance(change, Move) and _path_to_write(files, change.destination) in files:
        raise already_exists(change.destination)


def _apply_change(files: dict[str, _File], change: Change, create: Callable[[bytes], _File]) -> None:
    if isinstance(change, Write):
        path = _path_to_write(files, change.path)
        if path not in files or files[path].version != version_of(change.content):
            files[path] = create(change.content)
        return
    path, file = find_file(files, change.path)
    if isinstance(change, Delete):
        del files[path]
        return
    files[_path_to_write(files, change.destination)] = file
    del files[path]


def _path_to_write(files: Mapping[str, object], path: str) -> str:
    lookup = look_up(files, path)
    if lookup.is_folder:
        raise not_a_file(lookup.path, kind="a folder")
    if lookup.blocked_by:
        raise parent_is_a_file(path, by=lookup.blocked_by)
    if lookup.twin:
        raise case_collision(path, twin=lookup.twin)
    return lookup.path


def _names_in(files: Mapping[str, object], prefix: str) -> set[str]:
    return {path.removeprefix(prefix).partition("/")[0] for path in files if path.startswith(prefix)}
