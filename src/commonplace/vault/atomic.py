"""Atomic publishing: a reader sees the file as it was or as it will be, and a person's edit is never lost.

Our lock keeps our own programs apart; a person's editor ignores it and may save at any moment.
So the file that a change displaces is checked before it is deleted: if it is not the version that was compared under
the lock, it is put back and the change is refused. Bytes that are neither ours nor expected are never deleted.
"""

import os

from commonplace.errors import Conflict
from commonplace.vault.base import ABSENT, version_of
from commonplace.vault.contract_errors import already_exists
from commonplace.vault.files import version_at
from commonplace.vault.syscalls import exchange, flush, rename_new
from commonplace.vault.temporary_files import (
    copy_attributes,
    keep_conflict_copy,
    new_temporary_name,
    remove_temporary,
    write_temporary,
)
from commonplace.vault.tree import FileLocation


def create(location: FileLocation, content: bytes, *, mode: int | None = None) -> None:
    """Create a file. Raises Conflict when it already exists; then, and on any failure, nothing has changed."""
    temporary = write_temporary(location.folder, content, mode)
    try:
        rename_new(location.folder, temporary, location.folder, location.name)
    except FileExistsError as error:
        remove_temporary(location, temporary)
        raise already_exists(location.path) from error
    except BaseException:
        remove_temporary(location, temporary)
        raise
    try:
        flush(location.folder)
    except BaseException:
        remove_temporary(location, _set_aside(location, expected=version_of(content)))
        raise


def replace(location: FileLocation, content: bytes, *, expected: str, mode: int) -> None:
    """Replace the expected version of a file. Raises Conflict when the file has another version."""
    temporary = write_temporary(location.folder, content, mode)
    copy_attributes(location.folder, location.name, temporary)
    try:
        exchanged = exchange(location.folder, temporary, location.name)
        if not exchanged:
            _replace_by_rename(location, temporary, expected)
    except FileNotFoundError as error:
        remove_temporary(location, temporary)
        raise _changed(location.path, expected, ABSENT) from error
    except (OSError, Conflict):
        remove_temporary(location, temporary)
        raise
    if exchanged:
        _check_displaced(location, temporary, ours=version_of(content), expected=expected)


def remove(location: FileLocation, *, expected: str) -> None:
    """Delete the expected version of a file. Raises Conflict when the file has another version, which stays."""
    temporary = _set_aside(location, expected=expected)
    try:
        flush(location.folder)
    except BaseException:
        _put_back(location, temporary)
        raise
    remove_temporary(location, temporary)


def move(source: FileLocation, destination: FileLocation, *, expected: str) -> None:
    """Move the expected version of a file. Raises Conflict when the destination exists or the file has changed."""
    try:
        rename_new(source.folder, source.name, destination.folder, destination.name)
    except FileExistsError as error:
        raise already_exists(destination.path) from error
    except FileNotFoundError as error:
        raise _changed(source.path, expected, ABSENT) from error
    try:
        found = version_at(destination.folder, destination.name)
        if found != expected:
            raise _changed(source.path, expected, found)
        flush(destination.folder)
        flush(source.folder)
    except BaseException:
        _move_back(source, destination)
        raise


def _set_aside(location: FileLocation, *, expected: str) -> str:
    """Rename the expected version to a temporary name and return it. Another version is put back: Conflict."""
    temporary = new_temporary_name()
    try:
        rename_new(location.folder, location.name, location.folder, temporary)
    except FileNotFoundError as error:
        raise _changed(location.path, expected, ABSENT) from error
    try:
        found = version_at(location.folder, temporary, final=True)
        if found != expected:
            raise _changed(location.path, expected, found)
    except BaseException:
        _put_back(location, temporary)
        raise
    return temporary


def _move_back(source: FileLocation, destination: FileLocation) -> None:
    try:
        rename_new(destination.folder, destination.name, source.folder, source.name)
    except FileExistsError as error:
        raise Conflict(
            f"{source.path} was created again while it was being moved; its earlier content is now {destination.path}",
            path=source.path,
            hint="Compare the two and keep what you want.",
        ) from error


def _replace_by_rename(location: FileLocation, temporary: str, expected: str) -> None:
    """Where files cannot be exchanged: compare once more, then rename. A short window stays open in between."""
    found = version_at(location.folder, location.name)
    if found != expected:
        raise _changed(location.path, expected, found)
    os.rename(temporary, location.name, src_dir_fd=location.folder, dst_dir_fd=location.folder)
    flush(location.folder)


def _check_displaced(location: FileLocation, temporary: str, *, ours: str, expected: str) -> None:
    """Delete the displaced file if it is the expected version; otherwise exchange the two again."""
    try:
        found = version_at(location.folder, temporary, final=True)
        if found != expected:
            raise _changed(location.path, expected, found)
        flush(location.folder)
    except BaseException:
        _exchange_back(location, temporary, ours)
        raise
    remove_temporary(location, temporary)


def _exchange_back(location: FileLocation, temporary: str, ours: str) -> None:
    """Put the displaced file back. Raises Conflict when someone saved a second time meanwhile."""
    try:
        exchange(location.folder, temporary, location.name)
    except FileNotFoundError:
        _put_back(location, temporary)
        return
    if version_at(location.folder, temporary, final=True) == ours:
        remove_temporary(location, temporary)
    else:
        keep_conflict_copy(location, temporary)


def _put_back(location: FileLocation, temporary: str) -> None:
    """Give the file its name back. Raises Conflict when someone created another file with that name meanwhile."""
    try:
        rename_new(location.folder, temporary, location.folder, location.name)
    except FileExistsError:
        keep_conflict_copy(location, temporary)


def _changed(path: str, expected: str, found: str | None) -> Conflict:
    return Conflict(
        f"{path} was changed by someone else at the same moment",
        path=path,
        expected=expected,
        found=found,
        hint="Read it again and repeat the change on its current content.",
    )
