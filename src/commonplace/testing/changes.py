"""Rules of single changes (write, delete and move, each based on a version), of derived files and of history."""

from datetime import UTC, datetime, timedelta
from typing import cast

from commonplace.errors import Conflict, NotFound, Refused, UsageError
from commonplace.testing.contract import (
    ContractBroken,
    ContractCheck,
    MustRaise,
    Store,
    checks,
    contents,
    filled,
    put,
    require,
)
from commonplace.vault.base import (
    ABSENT,
    ERASED_PATH,
    Capability,
    ErasableBackend,
    HistoricBackend,
    Label,
    TransactionResult,
    version_of,
)

_KIND = ("Commonplace-Kind", "write")


def check_a_transaction_is_one_commit_with_its_label(store: Store) -> None:
    """One commit has all changes of a transaction, with its message, its trailers and the change to each path."""
    backend = _open(store)
    label = Label("a message", (_KIND, ("Commonplace-Actor", "agent")))
    result = _put(backend, {"one.md": b"one", "folder/two.md": b"two"}, label=label)
    newest, *_ = backend.revisions()
    require(
        result.commit and newest.commit == result.commit, f"the newest commit is {newest.commit}, not {result.commit}"
    )
    require(newest.message.startswith("a message"), f"the message is {newest.message!r}")
    require(
        label.trailers == tuple((key, newest.trailers.get(key)) for key, _ in label.trailers), "a trailer is missing"
    )
    expected = {"one.md": "added", "folder/two.md": "added"}
    require(dict(newest.paths) == expected, f"the commit lists {dict(newest.paths)}")


def check_revisions_of_a_file_come_newest_first(store: Store) -> None:
    """The revisions of a file are the commits that touched it, newest first, and at most `limit`."""
    backend = _open(store)
    first = _put(backend, {"one.md": b"first"})
    _put(backend, {"other.md": b"other"})
    second = _put(backend, {"one.md": b"second"})
    at = backend.resolve("one.md")
    commits = [each.commit for each in backend.revisions(at)]
    message = f"two writes of a file are listed as {len(commits)} commits: {commits}"
    require(commits == [second.commit, first.commit], message)
    require([each.commit for each in backend.revisions(at, limit=1)] == [second.commit], "the limit is ignored")


def check_a_file_can_be_read_as_it_was(store: Store) -> None:
    """The bytes of a file can be read in any of its commits; None where it was not there."""
    backend = _open(store)
    earlier = _put(backend, {"other.md": b"other"})
    first = _put(backend, {"one.md": b"first\r\n"})
    _put(backend, {"one.md": b"second\n"})
    at = backend.resolve("one.md")
    results = list[TransactionResult]()
    with backend.transaction(then=results.append) as changes:
        changes.delete(at)
    commits = [result.commit or "" for result in (earlier, first, *results)]
    contents = [backend.read_at(at, commit) for commit in commits]
    require(contents == [None, b"first\r\n", None], f"before, when written and when deleted the file was {contents}")


def check_an_identical_write_is_no_commit(store: Store) -> None:
    """When every file already had its content, there is no new commit, and the result has the existing one."""
    backend = _open(store)
    first = _put(backend, {"one.md": b"one"})
    again = _put(backend, {"one.md": b"one"})
    require(again.commit == first.commit, "an identical write is reported with another commit")
    require(len(backend.revisions(backend.resolve("one.md"))) == 1, "an identical write made a commit")


def check_both_changes_of_a_base_are_merged(store: Store) -> None:
    """Changes to different lines are merged; when both sides changed one line, the conflict is returned."""
    backend = _open(store)
    base, theirs = b"a\nb\nc\nd\ne\n", b"a\nb\nc\nd\nE\n"
    merged = backend.merge(base=base, ours=b"A\nb\nc\nd\ne\n", theirs=theirs)
    require((merged.content, merged.conflict) == (b"A\nb\nc\nd\nE\n", None), f"two changes were merged to {merged}")
    clash = backend.merge(base=base, ours=b"a\nb\nc\nd\nmine\n", theirs=theirs)
    require(clash.conflict, "two changes of one line are not reported as a conflict")


def check_a_moment_has_the_newest_commit_until_then(store: Store) -> None:
    """The commit at a time is the newest that is not later: None before history began, the last one from then on."""
    backend = _open(store)
    _put(backend, {"one.md": b"first"})
    last = _put(backend, {"one.md": b"second"})
    times = [each.when for each in backend.revisions()]
    moments = (max(times), datetime.now(UTC) + timedelta(days=1))
    require([backend.commit_at(when) for when in moments] == [last.commit] * 2, "the newest commit is not returned")
    before = backend.commit_at(min(*times, backend.history_begins() or min(times)) - timedelta(seconds=1))
    require(before is None, "there is a commit at a time before the first one")


def check_the_beginning_of_history_is_told(store: Store) -> None:
    """History begins with the first commit: not after the oldest revision, and there is a commit at that time."""
    backend = _open(store)
    _put(backend, {"one.md": b"one"})
    begins = backend.history_begins()
    if begins is None:
        raise ContractBroken("history_begins is None for a store with a commit")
    require(begins <= min(each.when for each in backend.revisions()), "history begins after its oldest revision")
    require(backend.commit_at(begins), "there is no commit at the time when history begins")


def check_a_commit_is_listed_as_it_was(store: Store) -> None:
    """The files of a commit are listed with their sizes, sorted by path, without those that skip names."""
    backend = _open(store)
    first = _put(backend, {"b ü.md": b"12", "a.md": b"1", "Folder/c.md": b"123"})
    with backend.transaction() as changes:
        changes.delete(backend.resolve("a.md"))
        changes.write(backend.resolve("new.md"), b"new")
    listing = backend.list_at(first.commit or "", skip=lambda path: path == "Folder/")
    require(
        [(file.path, file.size) for file in listing.files] == [("a.md", 1), ("b ü.md", 2)],
        f"the listing is {listing.files}",
    )


def check_listed_files_can_be_read(store: Store) -> None:
    """The files of a commit are read by their paths there, even if deleted since; None for any other path."""
    backend = _open(store)
    first = _put(backend, {"one.md": b"one", "two.md": b"two\r\n"})
    with backend.transaction() as changes:
        changes.delete(backend.resolve("one.md"))
        changes.write(backend.resolve("two.md"), b"new")
    contents = list(backend.read_listed_at(first.commit or "", ["two.md", "one.md", "three.md"]))
    require(contents == [b"two\r\n", b"one", None], f"the files of a commit were read as {contents}")


def check_an_erased_file_is_in_no_commit(store: Store) -> None:
    """An erased file is in no commit and no message; other files of the same commits stay. One that exists stays."""
    backend = cast(ErasableBackend, store.open())
    label = Label("write Secret/name.md", (_KIND,))
    commits = [_put(backend, {"Secret/name.md": b"one", "other.md": b"other"}, label=label).commit or ""]
    commits.append(_put(backend, {"Secret/name.md": b"two"}, label=label).commit or "")
    at, other = backend.resolve("Secret/name.md"), backend.resolve("other.md")
    with MustRaise(Conflict, when="when a file that exists is erased from the history"):
        backend.erase_history([at])
    require(backend.read_at(at, commits[0]) == b"one", "a refused erasure removed a version")
    with backend.transaction(label=Label("erase Secret/name.md", (("Commonplace-Kind", "erase"),))) as changes:
        changes.delete(at)
    backend.erase_history([at])
    left = [backend.read_at(at, commit) for commit in commits]
    require(left == [None, None], f"of the versions of an erased file these are left: {left}")
    require((backend.revisions(at), backend.held_by(at)[0]) == ((), 0), "a commit of the erased file is left")
    named = [each.message for each in backend.revisions() if "name.md" in f"{each.message} {[*each.paths]}"]
    require(not named, f"the erased file is named: {named}")
    erasures = [[*each.paths.items()] for each in backend.revisions() if each.trailers.get(_KIND[0]) == "erase"]
    require(erasures == [[(ERASED_PATH, "removed")]], f"the erasure is listed as {erasures}")
    require(backend.read_at(other, commits[0]) == b"other", "another file of the same commit was erased, too")


def _open(store: Store) -> HistoricBackend:
    return cast(HistoricBackend, store.open())


def _put(backend: HistoricBackend, files: dict[str, bytes], *, label: Label | None = None) -> TransactionResult:
    results = list[TransactionResult]()
    with backend.transaction(label=label, then=results.append) as changes:
        for path, content in files.items():
            changes.write(backend.resolve(path), content)
    return results[-1]


HISTORY: tuple[ContractCheck, ...] = checks(
    check_a_transaction_is_one_commit_with_its_label,
    check_revisions_of_a_file_come_newest_first,
    check_a_file_can_be_read_as_it_was,
    check_an_identical_write_is_no_commit,
    check_both_changes_of_a_base_are_merged,
    check_a_moment_has_the_newest_commit_until_then,
    check_the_beginning_of_history_is_told,
    check_a_commit_is_listed_as_it_was,
    check_listed_files_can_be_read,
    needs=Capability.HISTORY,
) + checks(check_an_erased_file_is_in_no_commit, needs=Capability.ERASABLE)


_BEFORE = {"one.md": b"one", "two.md": b"two"}
_STALE = version_of(b"what nobody wrote")


def check_a_write_with_the_right_version_is_made(store: Store) -> None:
    """A write that expects the file's version, or ABSENT for a new file, succeeds."""
    backend = store.open()
    put(backend, "note.md", b"first", expected=ABSENT)
    put(backend, "note.md", b"second", expected=version_of(b"first"))
    require(contents(backend) == {"note.md": b"second"}, "the write was not made")


def check_folders_come_with_their_first_file(store: Store) -> None:
    """A file may be written into folders that do not exist yet."""
    backend = store.open()
    put(backend, "a/b/c/d/e/note.md")
    require(list(contents(backend)) == ["a/b/c/d/e/note.md"], "the file is not in its new folders")


def check_a_stale_write_is_refused_and_changes_nothing(store: Store) -> None:
    """A write that expects another version is a Conflict with both versions, and changes nothing."""
    backend = filled(store, _BEFORE)
    with MustRaise(Conflict, when="when a write expects a version the file does not have") as refused:
        put(backend, "one.md", b"new", expected=_STALE)
    versions = refused.error and (refused.error.expected, refused.error.found)
    require(versions == (_STALE, version_of(b"one")), "the Conflict does not have the expected and the found version")
    require(contents(backend) == _BEFORE, "a refused write changed the store")


def check_a_write_to_a_vanished_file_is_refused(store: Store) -> None:
    """A write that expects a version of a deleted file is a Conflict, and creates no file."""
    backend = filled(store, _BEFORE)
    with MustRaise(Conflict, when="when a write expects a version of a missing file"):
        put(backend, "gone.md", expected=_STALE)
    require(contents(backend) == _BEFORE, "a refused write changed the store")


def check_a_new_file_replaces_none(store: Store) -> None:
    """A write that expects ABSENT is a Conflict when the file exists, even with the same content."""
    backend = filled(store, _BEFORE)
    for content in (b"new", b"one"):
        with MustRaise(Conflict, when="when a write expects ABSENT and the file is there"):
            put(backend, "one.md", content, expected=ABSENT)
    require(contents(backend) == _BEFORE, "a refused write changed the store")


def check_a_file_is_not_used_as_a_folder(store: Store) -> None:
    """A file cannot be created below another file: Conflict."""
    backend = filled(store, _BEFORE)
    with MustRaise(Conflict, when="when a file is written below one.md, which is a file"):
        put(backend, "one.md/below.md")
    require(contents(backend) == _BEFORE, "a refused write changed the store")


def check_an_identical_write_touches_nothing(store: Store) -> None:
    """Writing the content a file already has does not touch it, not even its modification time."""
    backend = filled(store, _BEFORE)
    at = backend.resolve("one.md")
    before = backend.stat(at)
    put(backend, "one.md", b"one")
    put(backend, "one.md", b"one", expected=version_of(b"one"))
    require(backend.stat(at) == before, "an identical write touched the file")


def check_a_deleted_file_is_gone(store: Store) -> None:
    """A deleted file can no longer be read and is not listed."""
    backend = filled(store, _BEFORE)
    with backend.transaction() as changes:
        changes.delete(backend.resolve("one.md"), expected=version_of(b"one"))
    require(contents(backend) == {"two.md": b"two"}, "a deleted file is still there")


def check_a_stale_delete_is_refused(store: Store) -> None:
    """A delete that expects another version is a Conflict, and deletes nothing."""
    backend = filled(store, _BEFORE)
    with MustRaise(Conflict, when="when a delete expects another version"), backend.transaction() as changes:
        changes.delete(backend.resolve("one.md"), expected=_STALE)
    require(contents(backend) == _BEFORE, "a refused delete changed the store")


def check_a_moved_file_has_its_new_path_alone(store: Store) -> None:
    """A moved file is at its new path, even in a new folder, with the same bytes, and not at the old one."""
    backend = filled(store, _BEFORE)
    with backend.transaction() as changes:
        changes.move(backend.resolve("one.md"), backend.resolve("new/moved.md"), expected=version_of(b"one"))
    require(contents(backend) == {"new/moved.md": b"one", "two.md": b"two"}, f"after a move: {contents(backend)}")


def check_a_move_onto_a_file_is_a_conflict(store: Store) -> None:
    """A move to an existing path is a Conflict, and both files stay as they are."""
    backend = filled(store, _BEFORE)
    with MustRaise(Conflict, when="when a file is moved onto another"), backend.transaction() as changes:
        changes.move(backend.resolve("one.md"), backend.resolve("two.md"))
    require(contents(backend) == _BEFORE, "a refused move changed the store")


def check_a_stale_move_is_refused(store: Store) -> None:
    """A move that expects another version is a Conflict, and moves nothing."""
    backend = filled(store, _BEFORE)
    with MustRaise(Conflict, when="when a move expects another version"), backend.transaction() as changes:
        changes.move(backend.resolve("one.md"), backend.resolve("new.md"), expected=_STALE)
    require(contents(backend) == _BEFORE, "a refused move changed the store")


def check_what_is_missing_cannot_be_deleted_or_moved(store: Store) -> None:
    """Deleting or moving a file that does not exist is NotFound."""
    backend = filled(store, _BEFORE)
    with MustRaise(NotFound, when="when a missing file is deleted"), backend.transaction() as changes:
        changes.delete(backend.resolve("gone.md"))
    with MustRaise(NotFound, when="when a missing file is moved"), backend.transaction() as changes:
        changes.move(backend.resolve("gone.md"), backend.resolve("new.md"))
    require(contents(backend) == _BEFORE, "a refused change changed the store")


CHANGES: tuple[ContractCheck, ...] = checks(
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


_NOTES = {"note.md": b"note", "Folder/one.md": b"one"}
_INDEX = "Folder/deep/_index.md"


def check_a_derived_file_says_what_it_is_given(store: Store) -> None:
    """A derived file is created with its folders, read and listed like any other, and replaced by the next one."""
    backend = filled(store, _NOTES)
    for content in (b"first\n", b"second\n"):
        backend.derive(backend.resolve(_INDEX), content)
        require(contents(backend) == {**_NOTES, _INDEX: content}, f"after deriving: {contents(backend)}")


def check_an_identical_derived_file_is_not_touched(store: Store) -> None:
    """Deriving the content a file already has does not touch it, not even its modification time."""
    backend = store.open()
    at = backend.resolve(_INDEX)
    backend.derive(at, b"same\n")
    before = backend.stat(at)
    backend.derive(at, b"same\n")
    require(backend.stat(at) == before, "deriving the content a file already has touched it")


def check_no_other_file_is_derived(store: Store) -> None:
    """A path that is not named `_index.md` is Refused, and nothing is written."""
    backend = filled(store, _NOTES)
    for path in ("note.md", "new.md", "Folder/index.md", "a_index.md", "_index.md.md", "_Index.md", "_index.md/a.md"):
        with MustRaise(Refused, when=f"when {path} is derived"):
            backend.derive(backend.resolve(path), b"derived\n")
    require(contents(backend) == _NOTES, "a refused file was written anyway")


def check_a_derived_file_takes_its_turn(store: Store) -> None:
    """Deriving takes the lock: inside a transaction of the same thread it is a UsageError, and writes nothing."""
    backend = store.open()
    with backend.transaction() as changes:
        changes.write(backend.resolve("note.md"), b"note")
        with MustRaise(UsageError, when="when a file is derived inside a transaction"):
            backend.derive(backend.resolve(_INDEX), b"derived\n")
    require(contents(backend) == {"note.md": b"note"}, "a refused file was written anyway")


def check_a_derived_file_is_in_no_commit(store: Store) -> None:
    """Deriving makes no commit, and the commits of later transactions do not contain the file."""
    backend = cast(HistoricBackend, filled(store, _NOTES))
    before = backend.revisions()
    at = backend.resolve(_INDEX)
    backend.derive(at, b"derived\n")
    require(backend.revisions() == before, "deriving made a commit")
    put(backend, "Folder/deep/two.md")
    (newest,) = (each for each in backend.revisions() if each not in before)
    require(dict(newest.paths) == {"Folder/deep/two.md": "added"}, f"the next commit lists {dict(newest.paths)}")
    require(backend.read_at(at, newest.commit) is None, "the next commit contains the derived file")


def check_what_history_holds_is_not_derived_over(store: Store) -> None:
    """Deriving a file that is in the history is Refused, whatever its content, and leaves it unchanged."""
    backend = filled(store, {"_index.md": b"a person's words\n"})
    with MustRaise(Refused, when="when a file that is in the history is derived"):
        backend.derive(backend.resolve("_index.md"), b"derived\n")
    require(contents(backend) == {"_index.md": b"a person's words\n"}, "a file that is in the history was overwritten")


DERIVED_FILES: tuple[ContractCheck, ...] = (
    *checks(
        check_a_derived_file_says_what_it_is_given,
        check_an_identical_derived_file_is_not_touched,
        check_no_other_file_is_derived,
        check_a_derived_file_takes_its_turn,
    ),
    *checks(
        check_a_derived_file_is_in_no_commit,
        check_what_history_holds_is_not_derived_over,
        needs=Capability.HISTORY,
    ),
)
