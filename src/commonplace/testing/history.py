"""Rules of history: every transaction is a commit that says why, and every file can be read as it was."""

from datetime import UTC, datetime, timedelta
from typing import cast

from commonplace.testing.contract import Check, ContractBroken, Store, checks, require
from commonplace.vault.base import Capability, HistoricBackend, Label, Made

_KIND = ("Commonplace-Kind", "write")


def check_a_transaction_is_one_commit_with_its_label(store: Store) -> None:
    """One commit holds all changes of a transaction, with its message, its trailers, and what it did to each path."""
    backend = _open(store)
    label = Label("a message", (_KIND, ("Commonplace-Actor", "agent")))
    made = _put(backend, {"one.md": b"one", "folder/two.md": b"two"}, label=label)
    newest, *_ = backend.revisions()
    require(made.commit and newest.commit == made.commit, f"the newest commit is {newest.commit}, not {made.commit}")
    require(newest.message.startswith("a message"), f"the message is {newest.message!r}")
    require(label.trailers == tuple((key, newest.trailers.get(key)) for key, _ in label.trailers), "a trailer is lost")
    expected = {"one.md": "added", "folder/two.md": "added"}
    require(dict(newest.paths) == expected, f"the commit tells {dict(newest.paths)}")


def check_revisions_of_a_file_come_newest_first(store: Store) -> None:
    """The commits of a file are those that touched it, the newest first, and as few as are asked for."""
    backend = _open(store)
    first = _put(backend, {"one.md": b"first"})
    _put(backend, {"other.md": b"other"})
    second = _put(backend, {"one.md": b"second"})
    at = backend.resolve("one.md")
    found = [each.commit for each in backend.revisions(at)]
    require(found == [second.commit, first.commit], f"two writes of a file are told as {len(found)} commits: {found}")
    require([each.commit for each in backend.revisions(at, limit=1)] == [second.commit], "the limit is not kept")


def check_a_file_can_be_read_as_it_was(store: Store) -> None:
    """The bytes of a file in any commit of it come back; None where it was not there."""
    backend = _open(store)
    earlier = _put(backend, {"other.md": b"other"})
    first = _put(backend, {"one.md": b"first\r\n"})
    _put(backend, {"one.md": b"second\n"})
    at = backend.resolve("one.md")
    last = list[Made]()
    with backend.transaction(then=last.append) as changes:
        changes.delete(at)
    commits = [made.commit or "" for made in (earlier, first, *last)]
    found = [backend.read_at(at, commit) for commit in commits]
    require(found == [None, b"first\r\n", None], f"before, when written and when deleted the file was {found}")


def check_an_identical_write_is_no_commit(store: Store) -> None:
    """When everything was so already, there is no new commit, and the one that holds it is told."""
    backend = _open(store)
    first = _put(backend, {"one.md": b"one"})
    again = _put(backend, {"one.md": b"one"})
    require(again.commit == first.commit, "an identical write is told with another commit")
    require(len(backend.revisions(backend.resolve("one.md"))) == 1, "an identical write made a commit")


def check_both_changes_of_a_base_are_merged(store: Store) -> None:
    """What two sides did to different lines is joined; where both changed one line, the conflict is told."""
    backend = _open(store)
    base, theirs = b"a\nb\nc\nd\ne\n", b"a\nb\nc\nd\nE\n"
    joined = backend.merge(base=base, ours=b"A\nb\nc\nd\ne\n", theirs=theirs)
    require((joined.content, joined.conflict) == (b"A\nb\nc\nd\nE\n", None), f"two changes were merged to {joined}")
    met = backend.merge(base=base, ours=b"a\nb\nc\nd\nmine\n", theirs=theirs)
    require(met.conflict, "two changes of one line are no conflict")


def check_a_moment_has_the_newest_commit_until_then(store: Store) -> None:
    """The commit of a moment is the newest that is not later: none before history began, the last one from then on."""
    backend = _open(store)
    _put(backend, {"one.md": b"first"})
    last = _put(backend, {"one.md": b"second"})
    times = [each.when for each in backend.revisions()]
    moments = (max(times), datetime.now(UTC) + timedelta(days=1))
    require([backend.commit_at(when) for when in moments] == [last.commit] * 2, "the newest commit is not told")
    before = backend.commit_at(min(*times, backend.history_begins() or min(times)) - timedelta(seconds=1))
    require(before is None, "a moment before the first commit has a commit")


def check_the_beginning_of_history_is_told(store: Store) -> None:
    """History begins with the first commit: not after the oldest revision, and that moment has a commit."""
    backend = _open(store)
    _put(backend, {"one.md": b"one"})
    begins = backend.history_begins()
    if begins is None:
        raise ContractBroken("a store with a commit has no beginning")
    require(begins <= min(each.when for each in backend.revisions()), "history begins after its oldest revision")
    require(backend.commit_at(begins), "the moment at which history begins has no commit")


def check_a_commit_is_listed_as_it_was(store: Store) -> None:
    """A commit's files are told with their sizes, in order of their paths, without those that skip names."""
    backend = _open(store)
    first = _put(backend, {"b ü.md": b"12", "a.md": b"1", "Folder/c.md": b"123"})
    with backend.transaction() as changes:
        changes.delete(backend.resolve("a.md"))
        changes.write(backend.resolve("new.md"), b"new")
    found = backend.list_at(first.commit or "", skip=lambda path: path == "Folder/")
    require([(file.path, file.size) for file in found.files] == [("a.md", 1), ("b ü.md", 2)], f"it told {found.files}")


def check_listed_files_can_be_read(store: Store) -> None:
    """The files of a commit are read at once by their paths there, also where they are gone; None for any other."""
    backend = _open(store)
    first = _put(backend, {"one.md": b"one", "two.md": b"two\r\n"})
    with backend.transaction() as changes:
        changes.delete(backend.resolve("one.md"))
        changes.write(backend.resolve("two.md"), b"new")
    found = list(backend.read_listed_at(first.commit or "", ["two.md", "one.md", "three.md"]))
    require(found == [b"two\r\n", b"one", None], f"the files of a commit were read as {found}")


def _open(store: Store) -> HistoricBackend:
    return cast(HistoricBackend, store.open())


def _put(backend: HistoricBackend, files: dict[str, bytes], *, label: Label | None = None) -> Made:
    told = list[Made]()
    with backend.transaction(label=label, then=told.append) as changes:
        for path, content in files.items():
            changes.write(backend.resolve(path), content)
    return told[-1]


HISTORY: tuple[Check, ...] = checks(
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
)
