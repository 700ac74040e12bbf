"""Rules of derived files: made in one step, without a transaction, under one name, and in no history."""

from typing import cast

from commonplace.errors import Refused, UsageError
from commonplace.testing.contract import Check, MustRaise, Store, checks, contents, filled, put, require
from commonplace.vault.base import Capability, HistoricBackend

_BEFORE = {"note.md": b"note", "Folder/one.md": b"one"}
_INDEX = "Folder/deep/_index.md"


def check_a_derived_file_says_what_it_is_given(store: Store) -> None:
    """A derived file is made with its folders, read and listed like any other, and replaced by the next."""
    backend = filled(store, _BEFORE)
    for content in (b"first\n", b"second\n"):
        backend.derive(backend.resolve(_INDEX), content)
        require(contents(backend) == {**_BEFORE, _INDEX: content}, f"after deriving: {contents(backend)}")


def check_an_identical_derived_file_is_not_touched(store: Store) -> None:
    """Deriving what a file already says leaves it alone, its time included."""
    backend = store.open()
    at = backend.resolve(_INDEX)
    backend.derive(at, b"same\n")
    before = backend.stat(at)
    backend.derive(at, b"same\n")
    require(backend.stat(at) == before, "deriving what a file already says touched it")


def check_no_other_file_is_derived(store: Store) -> None:
    """A path that is not named `_index.md` is Refused, and nothing is written."""
    backend = filled(store, _BEFORE)
    for path in ("note.md", "new.md", "Folder/index.md", "a_index.md", "_index.md.md", "_Index.md", "_index.md/a.md"):
        with MustRaise(Refused, when=f"when {path} is derived"):
            backend.derive(backend.resolve(path), b"derived\n")
    require(contents(backend) == _BEFORE, "a refused file was written all the same")


def check_a_derived_file_takes_its_turn(store: Store) -> None:
    """Deriving takes the lock: inside a transaction of the same thread it is a UsageError, and writes nothing."""
    backend = store.open()
    with backend.transaction() as changes:
        changes.write(backend.resolve("note.md"), b"note")
        with MustRaise(UsageError, when="when a file is derived inside a transaction"):
            backend.derive(backend.resolve(_INDEX), b"derived\n")
    require(contents(backend) == {"note.md": b"note"}, "a refused file was written all the same")


def check_a_derived_file_is_in_no_commit(store: Store) -> None:
    """Deriving makes no commit, and the commits of later transactions do not hold the file."""
    backend = cast(HistoricBackend, filled(store, _BEFORE))
    before = backend.revisions()
    at = backend.resolve(_INDEX)
    backend.derive(at, b"derived\n")
    require(backend.revisions() == before, "deriving made a commit")
    put(backend, "Folder/deep/two.md")
    (newest,) = (each for each in backend.revisions() if each not in before)
    require(dict(newest.paths) == {"Folder/deep/two.md": "added"}, f"the next commit tells {dict(newest.paths)}")
    require(backend.read_at(at, newest.commit) is None, "the next commit holds the derived file")


def check_what_history_holds_is_not_derived_over(store: Store) -> None:
    """Deriving a file that is in the history is Refused, whatever it says, and leaves it as it is."""
    backend = filled(store, {"_index.md": b"a person's words\n"})
    with MustRaise(Refused, when="when a file that history holds is derived"):
        backend.derive(backend.resolve("_index.md"), b"derived\n")
    require(contents(backend) == {"_index.md": b"a person's words\n"}, "a file that history holds was derived over")


DERIVING: tuple[Check, ...] = (
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
