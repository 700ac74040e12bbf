"""Rules of transactions: changes are made together when the block ends, or not at all."""

from commonplace.errors import Conflict, UsageError
from commonplace.testing.contract import Check, MustRaise, Store, checks, contents, filled, put, require
from commonplace.vault.base import version_of

_BEFORE = {"one.md": b"one", "two.md": b"two", "three.md": b"three"}
_STALE = version_of(b"what nobody wrote")


class _Interrupted(Exception):
    """Stands for any error of the caller."""


def check_changes_are_made_together(store: Store) -> None:
    """One transaction may write, delete and move, and all of it is made."""
    backend = filled(store, _BEFORE)
    with backend.transaction() as changes:
        changes.write(backend.resolve("one.md"), b"new one")
        changes.write(backend.resolve("four.md"), b"four")
        changes.delete(backend.resolve("two.md"))
        changes.move(backend.resolve("three.md"), backend.resolve("moved.md"))
    after = {"one.md": b"new one", "four.md": b"four", "moved.md": b"three"}
    require(contents(backend) == after, f"after the transaction: {contents(backend)}")


def check_nothing_is_made_before_the_block_ends(store: Store) -> None:
    """While the block runs, the store is as it was, for readers and for the transaction's own `read`."""
    backend = filled(store, _BEFORE)
    at = backend.resolve("one.md")
    with backend.transaction() as changes:
        changes.write(at, b"new")
        require(backend.read(at).content == b"one", "a reader sees a change before the block has ended")
        require(changes.read(at).content == b"one", "the transaction reads its own change before it is made")


def check_an_error_in_the_block_changes_nothing(store: Store) -> None:
    """When the block raises, none of its changes is made, and the error comes out as it is."""
    backend = filled(store, _BEFORE)
    came_out = False
    try:
        with backend.transaction() as changes:
            changes.write(backend.resolve("one.md"), b"new")
            changes.delete(backend.resolve("two.md"))
            raise _Interrupted
    except _Interrupted:
        came_out = True
    require(came_out, "an error in the block did not come out")
    require(contents(backend) == _BEFORE, "changes were made although the block raised")
    put(backend, "one.md", b"after")


def check_one_bad_change_undoes_all(store: Store) -> None:
    """When one change of a transaction is refused, none is made: neither those before it nor those after."""
    backend = filled(store, _BEFORE)
    with MustRaise(Conflict, when="when one of three changes is stale"), backend.transaction() as changes:
        changes.write(backend.resolve("new/first.md"), b"new")
        changes.write(backend.resolve("one.md"), b"new", expected=_STALE)
        changes.delete(backend.resolve("two.md"))
    require(contents(backend) == _BEFORE, "a transaction with a refused change changed the store")


def check_a_change_that_the_batch_itself_spoils_undoes_all(store: Store) -> None:
    """Changes that are right one by one but not together are a Conflict, and none of them is made."""
    backend = filled(store, _BEFORE)
    for first, second in (("new", "new/below.md"), ("New/first.md", "new/second.md")):
        with MustRaise(Conflict, when=f"when {first} and {second} are made at once"), backend.transaction() as changes:
            changes.write(backend.resolve("one.md"), b"changed")
            changes.delete(backend.resolve("two.md"))
            changes.move(backend.resolve("three.md"), backend.resolve("moved.md"))
            changes.write(backend.resolve(first), b"first")
            changes.write(backend.resolve(second), b"second")
        require(contents(backend) == _BEFORE, f"the spoilt transaction left {sorted(contents(backend))}")


def check_a_file_is_named_once(store: Store) -> None:
    """A transaction that names a file twice, be it in another case or form, is a UsageError and changes nothing."""
    backend = filled(store, _BEFORE)
    for again in ("one.md", "ONE.md"):
        with MustRaise(UsageError, when=f"when one.md and {again} are named"), backend.transaction() as changes:
            changes.write(backend.resolve("one.md"), b"new")
            changes.delete(backend.resolve(again))
    with MustRaise(UsageError, when="when a file is moved onto itself"), backend.transaction() as changes:
        changes.move(backend.resolve("one.md"), backend.resolve("one.md"))
    require(contents(backend) == _BEFORE, "a transaction that names a file twice changed the store")


def check_an_ended_transaction_is_unusable(store: Store) -> None:
    """A transaction kept beyond its block refuses every verb with a UsageError, and changes nothing."""
    backend = filled(store, _BEFORE)
    at, other = backend.resolve("one.md"), backend.resolve("other.md")
    with backend.transaction() as changes:
        changes.write(at, b"new")
    with MustRaise(UsageError, when="when an ended transaction is asked to write"):
        changes.write(at, b"late")
    with MustRaise(UsageError, when="when an ended transaction is asked to delete"):
        changes.delete(at)
    with MustRaise(UsageError, when="when an ended transaction is asked to move"):
        changes.move(at, other)
    with MustRaise(UsageError, when="when an ended transaction is asked to read"):
        changes.read(at)
    require(contents(backend) == {**_BEFORE, "one.md": b"new"}, "an ended transaction changed the store")


def check_an_empty_transaction_is_nothing(store: Store) -> None:
    """A transaction without changes ends well and changes nothing."""
    backend = filled(store, _BEFORE)
    with backend.transaction():
        pass
    require(contents(backend) == _BEFORE, "an empty transaction changed the store")


def check_a_transaction_inside_another_is_refused(store: Store) -> None:
    """A second transaction of the same thread inside the first is a UsageError at once: it would wait for ever."""
    backend = filled(store, _BEFORE)
    with backend.transaction() as changes:
        changes.write(backend.resolve("one.md"), b"outer")
        with MustRaise(UsageError, when="when a transaction begins inside another"), backend.transaction(wait=1):
            pass
    require(contents(backend)["one.md"] == b"outer", "the outer transaction was lost")


TOGETHER: tuple[Check, ...] = checks(
    check_changes_are_made_together,
    check_nothing_is_made_before_the_block_ends,
    check_an_error_in_the_block_changes_nothing,
    check_one_bad_change_undoes_all,
    check_a_change_that_the_batch_itself_spoils_undoes_all,
    check_a_file_is_named_once,
    check_an_ended_transaction_is_unusable,
    check_an_empty_transaction_is_nothing,
    check_a_transaction_inside_another_is_refused,
)
