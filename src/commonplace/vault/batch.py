"""The changes of a transaction on a folder: planned together, then made one by one, and undone if one fails.

Derived files are generated from notes and written atomically, under one name, outside of a transaction.
"""

import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from typing import Final

from commonplace.errors import CommonplaceError, Conflict, NotFound, Refused, VaultUnavailable
from commonplace.vault import atomic
from commonplace.vault.base import ABSENT, version_of
from commonplace.vault.changes import Change, Delete, Move, Write
from commonplace.vault.contract_errors import already_exists, case_collision, require_version
from commonplace.vault.files import FileSnapshot, read_file
from commonplace.vault.syscalls import ChangeStamp, change_stamp, defer_interrupts, translate_os_errors
from commonplace.vault.temporary_files import UnfinishedFiles, write_temporary
from commonplace.vault.tree import FileLocation, FolderTree

_Undo = Callable[[], None]

_WRITERS: Final = 8  # 64 notes, each fsynced: 160 ms by one thread, 21 ms by 8, 19 ms by 32 (ext4)


@dataclass(frozen=True, slots=True)
class BatchStep:
    """A change that passed its check: its paths as they are on disk, and the file as it was read."""

    change: Change
    before: FileSnapshot | None


@dataclass(frozen=True, slots=True)
class Effect:
    """The effect of a step on one path: the file before, and the bytes after; None where there is no file.

    `mode` is that of the file after, None for a new file or none.
    """

    path: str
    before: FileSnapshot | None
    after: bytes | None
    mode: int | None = None


def plan_all(tree: FolderTree, changes: Iterable[Change]) -> tuple[BatchStep, ...]:
    """The steps for these changes; a write of identical content needs none. The caller holds the lock.

    Raises Conflict or NotFound when a file does not have the version a change expects.
    """
    return tuple(step for change in changes if (step := _plan(tree, change)))


def effects(step: BatchStep) -> tuple[Effect, ...]:
    """The effect of the step on each path it names."""
    change = step.change
    if isinstance(change, Write):
        return (Effect(change.path, step.before, change.content, step.before.mode if step.before else None),)
    gone = Effect(change.path, step.before, None)
    if isinstance(change, Move) and step.before:
        return gone, Effect(change.destination, None, step.before.blob.content, step.before.mode)
    return (gone,)


def try_to_create(tree: FolderTree, path: str, content: bytes) -> None:
    """Write a temporary file where a new file would be, and remove it. Raises VaultUnavailable."""
    folder = str((tree.root / path).parent)
    with translate_os_errors(folder, doing="create a file in"), tree.locate_for_writing(path) as location:
        os.unlink(write_temporary(location.folder, content, None), dir_fd=location.folder)
    tree.remove_folders(location.created)


def make_all(tree: FolderTree, steps: Iterable[BatchStep]) -> None:
    """Make the steps; when one fails, undo the others and raise its error.

    They are made in order, but writes that follow each other at the same time: so the disk is waited for a few times,
    and not twice for each file.
    """
    done: list[tuple[str, _Undo]] = []
    try:
        for are_writes, group in groupby(steps, key=lambda step: isinstance(step.change, Write)):
            some = list(group)
            if are_writes and len(some) > 1:
                _make_together(tree, some, done)
            else:
                done.extend((step.change.path, _make(tree, step)) for step in some)
    except BaseException as error:
        _roll_back(done, error)
        raise


def _make_together(tree: FolderTree, steps: Sequence[BatchStep], done: list[tuple[str, _Undo]]) -> None:
    """Make these writes in threads, and add each that was made to `done`. Raises the first error of them."""
    by_folder = {_folder_of(step.change.path): step.change.path for step in steps}
    done.extend((path, _make_folders(tree, path)) for path in by_folder.values())
    with ThreadPoolExecutor(_WRITERS) as pool:
        running = [(step, pool.submit(_make, tree, step)) for step in steps]
    done += [(step.change.path, each.result()) for step, each in running if each.exception() is None]
    for _, each in running:
        each.result()


def repeat(tree: FolderTree, made: Iterable[Effect]) -> None:
    """Make these effects again where the file is as it was before: a git command took them back."""
    for effect in made:
        put_version(tree, effect.path, effect.after, expected=_version_before(effect), mode=effect.mode)


def take_back(tree: FolderTree, made: Sequence[Effect]) -> None:
    """Undo these effects; a file that someone changed since stays as it is."""
    for effect in reversed(made):
        expected = ABSENT if effect.after is None else version_of(effect.after)
        content, mode = (effect.before.blob.content, effect.before.mode) if effect.before else (None, None)
        put_version(tree, effect.path, content, expected=expected, mode=mode)


def put_version(tree: FolderTree, path: str, content: bytes | None, *, expected: str, mode: int | None) -> None:
    """Give the file these bytes, None for no file, if it has the expected version; otherwise it stays as it is."""
    with suppress(Conflict, NotFound), translate_os_errors(path, doing="restore"):
        if content is None:
            with tree.locate(path) as location:
                atomic.remove(location, expected=expected)
        elif expected == ABSENT:
            with tree.locate_for_writing(path) as location:
                atomic.create(location, content, mode=mode)
        else:
            with tree.locate(path) as location:
                atomic.replace(location, content, expected=expected, mode=read_file(location).mode)


class PublishedFiles:
    """The files of effects that were made: whether they are still on the disk."""

    def __init__(self, tree: FolderTree, made: Sequence[Effect]) -> None:
        self._tree = tree
        self._made = made
        self._stands: dict[str, tuple[ChangeStamp, bool]] = {}

    def look(self) -> list[Effect]:
        """The effects that a git command took back: the file is as it was before. What someone saved since stays."""
        return [effect for effect in self._made if not self._look_at(effect)]

    def stand(self) -> bool:
        """True if no effect was taken back. A file is read only if it has changed since the last look at it."""
        return not self.look()

    def _look_at(self, effect: Effect) -> bool:
        stamp = change_stamp(self._tree.root / effect.path)
        known = self._stands.get(effect.path)
        if known is None or known[0] != stamp:
            self._stands[effect.path] = known = stamp, self._version(effect.path) != _version_before(effect)
        return known[1]

    def _version(self, path: str) -> str | None:
        try:
            with translate_os_errors(path, doing="examine"), self._tree.locate(path) as location:
                return read_file(location).blob.version
        except NotFound:
            return ABSENT
        except Refused:
            return None


def _version_before(effect: Effect) -> str:
    return effect.before.blob.version if effect.before else ABSENT


def _plan(tree: FolderTree, change: Change) -> BatchStep | None:
    """The step for this change, None for nothing to do. Raises when the file is not what the change expects."""
    with translate_os_errors(change.path, doing="examine"):
        if isinstance(change, Write):
            return _plan_write(tree, change)
        before = _read(tree, change.path)
        require_version(change.path, expected=change.expected, found=before.blob.version)
        on_disk = replace(change, path=before.blob.stat.path)
        if isinstance(on_disk, Delete):
            return BatchStep(on_disk, before)
        if _read_if_exists(tree, on_disk.destination):
            raise already_exists(on_disk.destination)
        return BatchStep(replace(on_disk, destination=tree.path_on_disk(on_disk.destination)), before)


def _plan_write(tree: FolderTree, write: Write) -> BatchStep | None:
    before = _read_if_exists(tree, write.path)
    require_version(write.path, expected=write.expected, found=before.blob.version if before else ABSENT)
    if before and before.blob.content == write.content:
        return None
    return BatchStep(replace(write, path=before.blob.stat.path if before else tree.path_on_disk(write.path)), before)


def _read(tree: FolderTree, path: str) -> FileSnapshot:
    with tree.locate(path) as location:
        return read_file(location)


def _read_if_exists(tree: FolderTree, path: str) -> FileSnapshot | None:
    try:
        with tree.locate(path) as location:
            _refuse_twin(location)
            return read_file(location)
    except NotFound:
        return None


def _make(tree: FolderTree, step: BatchStep) -> _Undo:
    change, before = step.change, step.before
    with translate_os_errors(change.path, doing="change"):
        if isinstance(change, Write):
            return _replace(tree, change, before) if before else _create(tree, change.path, change.content)
        if before is None:
            raise AssertionError("a file to delete or move was read when it was planned")
        if isinstance(change, Delete):
            return _remove(tree, change.path, before)
        return _move(tree, change, before.blob.version)


def _make_folders(tree: FolderTree, path: str) -> _Undo:
    """Make the folders above a file one after the other: two that differ in case only are noticed."""
    with translate_os_errors(path, doing="change"), tree.locate_for_writing(path) as location:
        return partial(tree.remove_folders, location.created)


def _folder_of(path: str) -> str:
    return path.rpartition("/")[0]


def _create(tree: FolderTree, path: str, content: bytes, mode: int | None = None) -> _Undo:
    with tree.locate_for_writing(path) as location:
        _refuse_twin(location)
        atomic.create(location, content, mode=mode)
    return partial(_undo_create, tree, path, version_of(content), location.created)


def _undo_create(tree: FolderTree, path: str, version: str, created: tuple[str, ...]) -> None:
    with tree.locate(path) as location:
        atomic.remove(location, expected=version)
    tree.remove_folders(created)


def _replace(tree: FolderTree, write: Write, before: FileSnapshot) -> _Undo:
    _publish(tree, write.path, write.content, version=before.blob.version, mode=before.mode)
    back = version_of(write.content)
    return partial(_publish, tree, write.path, before.blob.content, version=back, mode=before.mode)


def _publish(tree: FolderTree, path: str, content: bytes, *, version: str, mode: int) -> None:
    with tree.locate(path) as location:
        atomic.replace(location, content, expected=version, mode=mode)


def _remove(tree: FolderTree, path: str, before: FileSnapshot) -> _Undo:
    with tree.locate(path) as location:
        atomic.remove(location, expected=before.blob.version)
    return partial(_undo_remove, tree, path, before)


def _undo_remove(tree: FolderTree, path: str, before: FileSnapshot) -> None:
    _create(tree, path, before.blob.content, before.mode)


def _move(tree: FolderTree, move: Move, version: str) -> _Undo:
    with tree.locate(move.path) as source, tree.locate_for_writing(move.destination) as target:
        _refuse_twin(target)
        atomic.move(source, target, expected=version)
    return partial(_undo_move, tree, move, version, target.created)


def _undo_move(tree: FolderTree, move: Move, version: str, created: tuple[str, ...]) -> None:
    with tree.locate(move.path) as source, tree.locate(move.destination) as target:
        atomic.move(target, source, expected=version)
    tree.remove_folders(created)


def _refuse_twin(location: FileLocation) -> None:
    if location.twin:
        raise case_collision(location.path, twin=location.twin)


def _roll_back(done: list[tuple[str, _Undo]], error: BaseException) -> None:
    failures = []
    for path, undo in reversed(done):
        try:
            with translate_os_errors(path, doing="restore"):
                undo()
        except CommonplaceError as failure:
            failures.append(failure.message)
    if failures:
        raise VaultUnavailable(
            f"a change failed ({error}), and not all changes before it could be undone: {'; '.join(failures)}",
            hint="Check these files: they hold what the failed transaction wrote, or what someone saved meanwhile.",
        ) from error


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


def write_derived(tree: FolderTree, path: str, content: bytes, *, unfinished: UnfinishedFiles) -> None:
    """Write the file unless it has this content already. The caller holds the lock. Raises as a write does."""
    make_noted(tree, plan_all(tree, [Write(path, content, None)]), unfinished=unfinished)


def make_noted(tree: FolderTree, steps: Sequence[BatchStep], *, unfinished: UnfinishedFiles) -> None:
    """Make the steps, all or none, and note them meanwhile: what a killed process leaves is removed by the next."""
    if not steps:
        return
    made = [effect for step in steps for effect in effects(step)]
    with defer_interrupts(), unfinished.during({effect.path: _versions(effect) for effect in made}):
        make_all(tree, steps)


def _versions(effect: Effect) -> tuple[str, ...]:
    return (_version_before(effect), ABSENT if effect.after is None else version_of(effect.after))
