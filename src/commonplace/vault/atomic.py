"""The atomic publish: a reader sees the file as it was or as it will be, and a person's edit is never lost.

Our lock keeps our own programs apart; a person's editor does not know it and may save at any moment.
So what a change displaces is looked at before it is thrown away: when it is not the version that was compared under
the lock, it is put back and the change is refused. Bytes that are neither ours nor expected are never unlinked.
"""

import os

from commonplace.errors import Conflict
from commonplace.vault.base import ABSENT, version_of
from commonplace.vault.beside import keep_beside, new_name, unlink, write_temporary
from commonplace.vault.files import version_at
from commonplace.vault.likeness import take_after
from commonplace.vault.rules import taken
from commonplace.vault.syscalls import exchange, flush, rename_new
from commonplace.vault.tree import Place


def create(place: Place, content: bytes, *, mode: int | None = None) -> None:
    """Make a file where none is. Raises Conflict when one is; then, and on any failure, nothing has changed."""
    temporary = write_temporary(place.folder, content, mode)
    try:
        rename_new(place.folder, temporary, place.folder, place.name)
    except FileExistsError as error:
        unlink(place, temporary)
        raise taken(place.path) from error
    except BaseException:
        unlink(place, temporary)
        raise
    try:
        flush(place.folder)
    except BaseException:
        unlink(place, _take_out(place, expected=version_of(content)))
        raise


def replace(place: Place, content: bytes, *, expected: str, mode: int) -> None:
    """Put new content in the place of the expected version. Raises Conflict when the file has another."""
    temporary = write_temporary(place.folder, content, mode)
    take_after(place.folder, place.name, temporary)
    try:
        exchanged = exchange(place.folder, temporary, place.name)
        if not exchanged:
            _replace_by_rename(place, temporary, expected)
    except FileNotFoundError as error:
        unlink(place, temporary)
        raise _changed(place.path, expected, ABSENT) from error
    except (OSError, Conflict):
        unlink(place, temporary)
        raise
    if exchanged:
        _check_displaced(place, temporary, ours=version_of(content), expected=expected)


def remove(place: Place, *, expected: str) -> None:
    """Take away the expected version of a file. Raises Conflict when the file has another, and leaves it."""
    temporary = _take_out(place, expected=expected)
    try:
        flush(place.folder)
    except BaseException:
        _put_back(place, temporary)
        raise
    unlink(place, temporary)


def move(source: Place, destination: Place, *, expected: str) -> None:
    """Give the expected version of a file another path. Raises Conflict when that is taken, or the file has changed."""
    try:
        rename_new(source.folder, source.name, destination.folder, destination.name)
    except FileExistsError as error:
        raise taken(destination.path) from error
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


def _take_out(place: Place, *, expected: str) -> str:
    """Rename the expected version of a file to a temporary name, and say which. Any other is put back: Conflict."""
    temporary = new_name()
    try:
        rename_new(place.folder, place.name, place.folder, temporary)
    except FileNotFoundError as error:
        raise _changed(place.path, expected, ABSENT) from error
    try:
        found = version_at(place.folder, temporary, final=True)
        if found != expected:
            raise _changed(place.path, expected, found)
    except BaseException:
        _put_back(place, temporary)
        raise
    return temporary


def _move_back(source: Place, destination: Place) -> None:
    try:
        rename_new(destination.folder, destination.name, source.folder, source.name)
    except FileExistsError as error:
        raise Conflict(
            f"{source.path} was made anew while it was being moved; what it was before is now {destination.path}",
            path=source.path,
            hint="Compare the two and keep what you want.",
        ) from error


def _replace_by_rename(place: Place, temporary: str, expected: str) -> None:
    """Where files cannot be exchanged: compare once more, then rename at once. A moment stays open in between."""
    found = version_at(place.folder, place.name)
    if found != expected:
        raise _changed(place.path, expected, found)
    os.rename(temporary, place.name, src_dir_fd=place.folder, dst_dir_fd=place.folder)
    flush(place.folder)


def _check_displaced(place: Place, temporary: str, *, ours: str, expected: str) -> None:
    """Throw away what the exchange brought out, if it is what was expected; else exchange again."""
    try:
        found = version_at(place.folder, temporary, final=True)
        if found != expected:
            raise _changed(place.path, expected, found)
        flush(place.folder)
    except BaseException:
        _exchange_back(place, temporary, ours)
        raise
    unlink(place, temporary)


def _exchange_back(place: Place, temporary: str, ours: str) -> None:
    """Let the displaced file stand in its place again. Raises Conflict when someone saved a second time meanwhile."""
    try:
        exchange(place.folder, temporary, place.name)
    except FileNotFoundError:
        _put_back(place, temporary)
        return
    if version_at(place.folder, temporary, final=True) == ours:
        unlink(place, temporary)
    else:
        keep_beside(place, temporary)


def _put_back(place: Place, temporary: str) -> None:
    """Give the file its name again. Raises Conflict when someone made another file of that name meanwhile."""
    try:
        rename_new(place.folder, temporary, place.folder, place.name)
    except FileExistsError:
        keep_beside(place, temporary)


def _changed(path: str, expected: str, found: str | None) -> Conflict:
    return Conflict(
        f"{path} was changed by someone else at this very moment",
        path=path,
        expected=expected,
        found=found,
        hint="Read it again and repeat the change on what it says now.",
    )
