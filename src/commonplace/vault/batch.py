"""The changes of a transaction on a store in a folder: checked together, then made one by one or not at all."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial

from commonplace.errors import CommonplaceError, NotFound, VaultUnavailable
from commonplace.vault import atomic
from commonplace.vault.base import ABSENT, version_of
from commonplace.vault.changes import Change, Delete, Move, Write
from commonplace.vault.files import Present, read_file
from commonplace.vault.rules import collision, compare, taken
from commonplace.vault.tree import Place, Tree
from commonplace.vault.trouble import disk_trouble

TakeBack = Callable[[BaseException], None]
"""Takes back all that was made, because of that error. Raises VaultUnavailable when not all can be."""

_Undo = Callable[[], None]


@dataclass(frozen=True, slots=True)
class Step:
    """A change that fits what is there: its paths as the disk spells them, and the file at its path as it was read."""

    change: Change
    before: Present | None


@dataclass(frozen=True, slots=True)
class Effect:
    """What a step means for one path: the file before, and the bytes after; None where there is no file."""

    path: str
    before: Present | None
    after: bytes | None


def plan_all(tree: Tree, changes: Iterable[Change]) -> tuple[Step, ...]:
    """The steps that these changes take; a write of what is there takes none. The caller holds the lock.

    Raises Conflict or NotFound when what is there is not what a change expects.
    """
    return tuple(step for change in changes if (step := _plan(tree, change)))


def effects(step: Step) -> tuple[Effect, ...]:
    """What the step means for each path that it names."""
    change = step.change
    if isinstance(change, Write):
        return (Effect(change.path, step.before, change.content),)
    gone = Effect(change.path, step.before, None)
    if isinstance(change, Move) and step.before:
        return gone, Effect(change.destination, None, step.before.blob.content)
    return (gone,)


def make_all(tree: Tree, steps: Iterable[Step]) -> TakeBack:
    """Make the steps in order; when one fails, those before it are taken back, and its error is raised."""
    done: list[tuple[str, _Undo]] = []
    try:
        for step in steps:
            with disk_trouble(step.change.path, doing="change"):
                done.append((step.change.path, _make(tree, step)))
    except BaseException as error:
        _take_back(done, error)
        raise
    return partial(_take_back, done)


def _plan(tree: Tree, change: Change) -> Step | None:
    """What to do for this change, None for nothing. Raises when what is there is not what it expects."""
    with disk_trouble(change.path, doing="look at"):
        if isinstance(change, Write):
            return _plan_write(tree, change)
        before = _read(tree, change.path)
        compare(change.path, expected=change.expected, found=before.blob.version)
        spelled = replace(change, path=before.blob.stat.path)
        if isinstance(spelled, Delete):
            return Step(spelled, before)
        if _read_if_there(tree, spelled.destination):
            raise taken(spelled.destination)
        return Step(replace(spelled, destination=tree.spelled(spelled.destination)), before)


def _plan_write(tree: Tree, write: Write) -> Step | None:
    before = _read_if_there(tree, write.path)
    compare(write.path, expected=write.expected, found=before.blob.version if before else ABSENT)
    if before and before.blob.content == write.content:
        return None
    return Step(replace(write, path=before.blob.stat.path if before else tree.spelled(write.path)), before)


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


def _make(tree: Tree, step: Step) -> _Undo:
    change, before = step.change, step.before
    if isinstance(change, Write):
        return _replace(tree, change, before) if before else _create(tree, change.path, change.content)
    if before is None:
        raise AssertionError("a file that is deleted or moved was read before")
    if isinstance(change, Delete):
        return _remove(tree, change.path, before)
    return _move(tree, change, before.blob.version)


def _create(tree: Tree, path: str, content: bytes, mode: int | None = None) -> _Undo:
    with tree.place_made(path) as place:
        _refuse_twin(place)
        atomic.create(place, content, mode=mode)
    return partial(_uncreate, tree, path, version_of(content), place.made)


def _uncreate(tree: Tree, path: str, version: str, made: tuple[str, ...]) -> None:
    with tree.place(path) as place:
        atomic.remove(place, expected=version)
    tree.remove_folders(made)


def _replace(tree: Tree, write: Write, before: Present) -> _Undo:
    _publish(tree, write.path, write.content, version=before.blob.version, mode=before.mode)
    back = version_of(write.content)
    return partial(_publish, tree, write.path, before.blob.content, version=back, mode=before.mode)


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
