"""The changes of a transaction on a device-local store: checked together, then made one by one or not at all."""

from collections.abc import Callable, Iterable
from functools import partial

from commonplace.errors import CommonplaceError, NotFound, VaultUnavailable
from commonplace.vault import atomic
from commonplace.vault.base import ABSENT, version_of
from commonplace.vault.changes import Change, Delete, Move, Write
from commonplace.vault.files import Present, read_file
from commonplace.vault.rules import collision, compare, taken
from commonplace.vault.tree import Place, Tree
from commonplace.vault.trouble import disk_trouble

_Undo = Callable[[], None]
_Step = Callable[[], _Undo]


def make_all(tree: Tree, changes: Iterable[Change]) -> None:
    """Check every change, then make them in order; when one fails, those before it are taken back.

    The caller holds the lock. Raises what the check or the change raised.
    """
    steps = [(change.path, step) for change in changes if (step := _plan(tree, change))]
    done: list[tuple[str, _Undo]] = []
    try:
        for path, step in steps:
            with disk_trouble(path, doing="change"):
                done.append((path, step()))
    except BaseException as error:
        _take_back(done, error)
        raise


def _plan(tree: Tree, change: Change) -> _Step | None:
    """What to do for this change, None for nothing. Raises when what is there is not what it expects."""
    with disk_trouble(change.path, doing="look at"):
        if isinstance(change, Write):
            return _plan_write(tree, change)
        before = _read(tree, change.path)
        compare(change.path, expected=change.expected, found=before.blob.version)
        if isinstance(change, Delete):
            return partial(_remove, tree, change.path, before)
        if _read_if_there(tree, change.destination):
            raise taken(change.destination)
        return partial(_move, tree, change, before.blob.version)


def _plan_write(tree: Tree, write: Write) -> _Step | None:
    before = _read_if_there(tree, write.path)
    compare(write.path, expected=write.expected, found=before.blob.version if before else ABSENT)
    if before is None:
        return partial(_create, tree, write.path, write.content)
    if before.blob.content == write.content:
        return None
    return partial(_replace, tree, write.path, write.content, before)


def _read(tree: Tree, path: str) -> Present:
    with tree.place(path) as place:
        return read_file(place)


def _read_if_there(tree: Tree, path: str) -> Present | None:
    try:
        with tree.place(path) as place:
            _refuse_twin(place)
            return read_file(place)
    except NotFound:
        return None


def _create(tree: Tree, path: str, content: bytes, mode: int | None = None) -> _Undo:
    with tree.place_made(path) as place:
        _refuse_twin(place)
        atomic.create(place, content, mode=mode)
    return partial(_uncreate, tree, path, version_of(content), place.made)


def _uncreate(tree: Tree, path: str, version: str, made: tuple[str, ...]) -> None:
    with tree.place(path) as place:
        atomic.remove(place, expected=version)
    tree.remove_folders(made)


def _replace(tree: Tree, path: str, content: bytes, before: Present) -> _Undo:
    _publish(tree, path, content, version=before.blob.version, mode=before.mode)
    return partial(_publish, tree, path, before.blob.content, version=version_of(content), mode=before.mode)


def _publish(tree: Tree, path: str, content: bytes, *, version: str, mode: int) -> None:
    with tree.place(path) as place:
        atomic.replace(place, content, expected=version, mode=mode)


def _remove(tree: Tree, path: str, before: Present) -> _Undo:
    with tree.place(path) as place:
        atomic.remove(place, expected=before.blob.version)
    return partial(_bring_back, tree, path, before)


def _bring_back(tree: Tree, path: str, before: Present) -> None:
    _create(tree, path, before.blob.content, before.mode)


def _move(tree: Tree, move: Move, version: str) -> _Undo:
    with tree.place(move.path) as source, tree.place_made(move.destination) as target:
        _refuse_twin(target)
        atomic.move(source, target, expected=version)
    return partial(_move_back, tree, move, version, target.made)


def _move_back(tree: Tree, move: Move, version: str, made: tuple[str, ...]) -> None:
    with tree.place(move.path) as source, tree.place(move.destination) as target:
        atomic.move(target, source, expected=version)
    tree.remove_folders(made)


def _refuse_twin(place: Place) -> None:
    if place.twin:
        raise collision(place.path, twin=place.twin)


def _take_back(done: list[tuple[str, _Undo]], error: BaseException) -> None:
    kept = []
    for path, undo in reversed(done):
        try:
            with disk_trouble(path, doing="put back"):
                undo()
        except CommonplaceError as trouble:
            kept.append(trouble.message)
    if kept:
        raise VaultUnavailable(
            f"a change failed ({error}), and not all before it could be taken back: {'; '.join(kept)}",
            hint="Look at these files: they hold what the failed transaction wrote, or what someone saved meanwhile.",
        ) from error
