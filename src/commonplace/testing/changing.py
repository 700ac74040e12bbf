"""Rules of single changes: write, delete and move, each against the version it was based on."""

from commonplace.errors import Conflict, NotFound
from commonplace.testing.contract import Check, MustRaise, Store, checks, contents, filled, put, require
from commonplace.vault.base import ABSENT, version_of

_BEFORE = {"one.md": b"one", "two.md": b"two"}
_STALE = version_of(b"what nobody wrote")


def check_a_write_with_the_right_version_is_made(store: Store) -> None:
    """A write whose expected version is the file's own, or ABSENT for a new file, is made."""
    backend = store.open()
    put(backend, "note.md", b"first", expected=ABSENT)
    put(backend, "note.md", b"second", expected=version_of(b"first"))
    require(contents(backend) == {"note.md": b"second"}, "the write was not made")


def check_folders_come_with_their_first_file(store: Store) -> None:
    """A file may be written into folders that are not there yet."""
    backend = store.open()
    put(backend, "a/b/c/d/e/note.md")
    require(list(contents(backend)) == ["a/b/c/d/e/note.md"], "the file is not in its new folders")


def check_a_stale_write_is_refused_and_changes_nothing(store: Store) -> None:
    """A write based on another version than the file has is a Conflict that tells both, and changes nothing."""
    backend = filled(store, _BEFORE)
    with MustRaise(Conflict, when="when a write expects a version the file does not have") as refused:
        put(backend, "one.md", b"new", expected=_STALE)
    told = refused.error and (refused.error.expected, refused.error.found)
    require(told == (_STALE, version_of(b"one")), "the Conflict does not carry the expected and the found version")
    require(contents(backend) == _BEFORE, "a refused write changed the store")


def check_a_write_to_a_vanished_file_is_refused(store: Store) -> None:
    """A write that expects a version of a file that is no longer there is a Conflict, and makes no file."""
    backend = filled(store, _BEFORE)
    with MustRaise(Conflict, when="when a write expects a version of a missing file"):
        put(backend, "gone.md", expected=_STALE)
    require(contents(backend) == _BEFORE, "a refused write changed the store")


def check_a_new_file_replaces_none(store: Store) -> None:
    """A write that expects ABSENT is a Conflict when the file is there, even if it says the same."""
    backend = filled(store, _BEFORE)
    for content in (b"new", b"one"):
        with MustRaise(Conflict, when="when a write expects ABSENT and the file is there"):
            put(backend, "one.md", content, expected=ABSENT)
    require(contents(backend) == _BEFORE, "a refused write changed the store")


def check_a_file_is_not_used_as_a_folder(store: Store) -> None:
    """A file cannot be made below another file: Conflict."""
    backend = filled(store, _BEFORE)
    with MustRaise(Conflict, when="when a file is written below one.md, which is a file"):
        put(backend, "one.md/below.md")
    require(contents(backend) == _BEFORE, "a refused write changed the store")


def check_an_identical_write_touches_nothing(store: Store) -> None:
    """Writing what a file already says leaves the file alone, its time included."""
    backend = filled(store, _BEFORE)
    at = backend.resolve("one.md")
    before = backend.stat(at)
    put(backend, "one.md", b"one")
    put(backend, "one.md", b"one", expected=version_of(b"one"))
    require(backend.stat(at) == before, "an identical write touched the file")


def check_a_deleted_file_is_gone(store: Store) -> None:
    """A deleted file is no longer read or listed."""
    backend = filled(store, _BEFORE)
    with backend.transaction() as changes:
        changes.delete(backend.resolve("one.md"), expected=version_of(b"one"))
    require(contents(backend) == {"two.md": b"two"}, "a deleted file is still there")


def check_a_stale_delete_is_refused(store: Store) -> None:
    """A delete based on another version than the file has is a Conflict, and deletes nothing."""
    backend = filled(store, _BEFORE)
    with MustRaise(Conflict, when="when a delete expects another version"), backend.transaction() as changes:
        changes.delete(backend.resolve("one.md"), expected=_STALE)
    require(contents(backend) == _BEFORE, "a refused delete changed the store")


def check_a_moved_file_has_its_new_path_alone(store: Store) -> None:
    """A moved file is at its new path, also in a new folder, with the same bytes, and no longer at the old one."""
    backend = filled(store, _BEFORE)
    with backend.transaction() as changes:
        changes.move(backend.resolve("one.md"), backend.resolve("new/moved.md"), expected=version_of(b"one"))
    require(contents(backend) == {"new/moved.md": b"one", "two.md": b"two"}, f"after a move: {contents(backend)}")


def check_a_move_onto_a_file_is_a_conflict(store: Store) -> None:
    """A move to a path that is taken is a Conflict, and both files stay as they are."""
    backend = filled(store, _BEFORE)
    with MustRaise(Conflict, when="when a file is moved onto another"), backend.transaction() as changes:
        changes.move(backend.resolve("one.md"), backend.resolve("two.md"))
    require(contents(backend) == _BEFORE, "a refused move changed the store")


def check_a_stale_move_is_refused(store: Store) -> None:
    """A move based on another version than the file has is a Conflict, and moves nothing."""
    backend = filled(store, _BEFORE)
    with MustRaise(Conflict, when="when a move expects another version"), backend.transaction() as changes:
        changes.move(backend.resolve("one.md"), backend.resolve("new.md"), expected=_STALE)
    require(contents(backend) == _BEFORE, "a refused move changed the store")


def check_what_is_missing_cannot_be_deleted_or_moved(store: Store) -> None:
    """Deleting or moving a file that is not there is NotFound."""
    backend = filled(store, _BEFORE)
    with MustRaise(NotFound, when="when a missing file is deleted"), backend.transaction() as changes:
        changes.delete(backend.resolve("gone.md"))
    with MustRaise(NotFound, when="when a missing file is moved"), backend.transaction() as changes:
        changes.move(backend.resolve("gone.md"), backend.resolve("new.md"))
    require(contents(backend) == _BEFORE, "a refused change changed the store")


CHANGING: tuple[Check, ...] = checks(
    check_a_write_with_the_right_version_is_made,
    check_folders_come_with_their_first_file,
    check_a_stale_write_is_refused_and_changes_nothing,
    check_a_write_to_a_vanished_file_is_refused,
    check_a_new_file_replaces_none,
    check_a_file_is_not_used_as_a_folder,
    check_an_identical_write_touches_nothing,
    check_a_deleted_file_is_gone,
    check_a_stale_delete_is_refused,
    check_a_moved_file_has_its_new_path_alone,
    check_a_move_onto_a_file_is_a_conflict,
    check_a_stale_move_is_refused,
    check_what_is_missing_cannot_be_deleted_or_moved,
)
