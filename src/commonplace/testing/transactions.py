"""Rules of transactions: all or nothing, results reported under the lock, and concurrent readers and writers."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from commonplace.errors import CommonplaceError, Conflict, UsageError, VaultUnavailable
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
from commonplace.vault.base import Capability, StorageBackend, TransactionResult, version_of

_BEFORE = {"one.md": b"one", "two.md": b"two", "three.md": b"three"}
_STALE = version_of(b"what nobody wrote")


class _Interrupted(Exception):
    """Any error of the caller."""


def check_changes_are_made_together(store: Store) -> None:
    """One transaction may write, delete and move, and all of its changes are made."""
    backend = filled(store, _BEFORE)
    with backend.transaction() as changes:
        changes.write(backend.resolve("one.md"), b"new one")
        changes.write(backend.resolve("four.md"), b"four")
        changes.delete(backend.resolve("two.md"))
        changes.move(backend.resolve("three.md"), backend.resolve("moved.md"))
    after = {"one.md": b"new one", "four.md": b"four", "moved.md": b"three"}
    require(contents(backend) == after, f"after the transaction: {contents(backend)}")


def check_nothing_is_made_before_the_block_ends(store: Store) -> None:
    """While the block runs, the store is unchanged, for readers and for the transaction's own `read`."""
    backend = filled(store, _BEFORE)
    at = backend.resolve("one.md")
    with backend.transaction() as changes:
        changes.write(at, b"new")
        require(backend.read(at).content == b"one", "a reader sees a change before the block has ended")
        require(changes.read(at).content == b"one", "the transaction reads its own change before it is made")


def check_an_error_in_the_block_changes_nothing(store: Store) -> None:
    """When the block raises, none of its changes is made, and the error is raised unchanged."""
    backend = filled(store, _BEFORE)
    came_out = False
    try:
        with backend.transaction() as changes:
            changes.write(backend.resolve("one.md"), b"new")
            changes.delete(backend.resolve("two.md"))
            raise _Interrupted
    except _Interrupted:
        came_out = True
    require(came_out, "an error in the block was swallowed")
    require(contents(backend) == _BEFORE, "changes were made although the block raised")
    put(backend, "one.md", b"after")


def check_one_bad_change_undoes_all(store: Store) -> None:
    """When one change of a transaction is refused, none is made: neither those before it nor those after it."""
    backend = filled(store, _BEFORE)
    with MustRaise(Conflict, when="when one of three changes is stale"), backend.transaction() as changes:
        changes.write(backend.resolve("new/first.md"), b"new")
        changes.write(backend.resolve("one.md"), b"new", expected=_STALE)
        changes.delete(backend.resolve("two.md"))
    require(contents(backend) == _BEFORE, "a transaction with a refused change changed the store")


def check_a_change_that_the_batch_itself_spoils_undoes_all(store: Store) -> None:
    """Changes that are valid one by one but not together are a Conflict, and none of them is made."""
    backend = filled(store, _BEFORE)
    for first, second in (("new", "new/below.md"), ("New/first.md", "new/second.md")):
        with MustRaise(Conflict, when=f"when {first} and {second} are made at once"), backend.transaction() as changes:
            changes.write(backend.resolve("one.md"), b"changed")
            changes.delete(backend.resolve("two.md"))
            changes.move(backend.resolve("three.md"), backend.resolve("moved.md"))
            changes.write(backend.resolve(first), b"first")
            changes.write(backend.resolve(second), b"second")
        require(contents(backend) == _BEFORE, f"the failed transaction left {sorted(contents(backend))}")


def check_a_file_is_named_once(store: Store) -> None:
    """A transaction that names a file twice, even in another case or form, is a UsageError and changes nothing."""
    backend = filled(store, _BEFORE)
    for again in ("one.md", "ONE.md"):
        with MustRaise(UsageError, when=f"when one.md and {again} are named"), backend.transaction() as changes:
            changes.write(backend.resolve("one.md"), b"new")
            changes.delete(backend.resolve(again))
    with MustRaise(UsageError, when="when a file is moved onto itself"), backend.transaction() as changes:
        changes.move(backend.resolve("one.md"), backend.resolve("one.md"))
    require(contents(backend) == _BEFORE, "a transaction that names a file twice changed the store")


def check_an_ended_transaction_is_unusable(store: Store) -> None:
    """A transaction used after its block raises UsageError from every method, and changes nothing."""
    backend = filled(store, _BEFORE)
    at, other = backend.resolve("one.md"), backend.resolve("other.md")
    with backend.transaction() as changes:
        changes.write(at, b"new")
    with MustRaise(UsageError, when="when write is called on an ended transaction"):
        changes.write(at, b"late")
    with MustRaise(UsageError, when="when delete is called on an ended transaction"):
        changes.delete(at)
    with MustRaise(UsageError, when="when move is called on an ended transaction"):
        changes.move(at, other)
    with MustRaise(UsageError, when="when read is called on an ended transaction"):
        changes.read(at)
    require(contents(backend) == {**_BEFORE, "one.md": b"new"}, "an ended transaction changed the store")


def check_an_empty_transaction_is_nothing(store: Store) -> None:
    """A transaction without changes succeeds and changes nothing."""
    backend = filled(store, _BEFORE)
    with backend.transaction():
        pass
    require(contents(backend) == _BEFORE, "an empty transaction changed the store")


def check_a_transaction_inside_another_is_refused(store: Store) -> None:
    """A second transaction of the same thread inside the first is a UsageError at once: it would wait forever."""
    backend = filled(store, _BEFORE)
    with backend.transaction() as changes:
        changes.write(backend.resolve("one.md"), b"outer")
        with MustRaise(UsageError, when="when a transaction begins inside another"), backend.transaction(wait=1):
            pass
    require(contents(backend)["one.md"] == b"outer", "the outer transaction was lost")


TRANSACTIONS: tuple[ContractCheck, ...] = checks(
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


_ONE_FILE = {"one.md": b"one"}


def check_what_was_made_is_told_once(store: Store) -> None:
    """`then` is called once, with changed=True, after the changes are made: a read inside it sees them."""
    backend = filled(store, _ONE_FILE)
    at, calls = backend.resolve("one.md"), list[tuple[TransactionResult, bytes]]()
    with backend.transaction(then=lambda result: calls.append((result, backend.read(at).content))) as changes:
        changes.write(at, b"new")
    require(len(calls) == 1, f"`then` was called {len(calls)} times")
    result, content = calls[0]
    require(result.changed, "a change is reported with changed=False")
    require(content == b"new", "`then` was called before the change was made")


def check_it_is_told_under_the_lock(store: Store) -> None:
    """While `then` runs, nobody else gets the lock: what it records is in the order of the changes."""
    backend = filled(store, _ONE_FILE)
    refused = MustRaise(CommonplaceError, when="when another transaction begins while `then` runs")

    def try_to_change(result: TransactionResult) -> None:
        with ThreadPoolExecutor(max_workers=1) as pool, refused:
            pool.submit(_try_lock, backend).result()

    with backend.transaction(then=try_to_change) as changes:
        changes.write(backend.resolve("one.md"), b"new")
    require(refused.error, "`then` was not called")


def check_what_was_not_made_is_not_told(store: Store) -> None:
    """`then` is not called when the block raises, nor when a change is refused."""
    backend, results = filled(store, _ONE_FILE), list[TransactionResult]()
    try:
        with backend.transaction(then=results.append) as changes:
            changes.write(backend.resolve("one.md"), b"new")
            raise _Interrupted
    except _Interrupted:
        require(not results, "`then` was called although the block raised")
    with (
        MustRaise(Conflict, when="when a write is stale"),
        backend.transaction(then=results.append) as changes,
    ):
        changes.write(backend.resolve("one.md"), b"new", expected=version_of(b"what nobody wrote"))
    require(not results, "`then` was called although nothing was changed")


def check_an_identical_write_is_told_as_no_change(store: Store) -> None:
    """When every file already had its content, `then` is called with changed=False."""
    backend, results = filled(store, _ONE_FILE), list[TransactionResult]()
    _write(backend, b"one", then=results.append)
    require(results and not results[-1].changed, f"an identical write is reported as {results}")


def _write(backend: StorageBackend, content: bytes, *, then: Callable[[TransactionResult], None]) -> None:
    with backend.transaction(then=then) as changes:
        changes.write(backend.resolve("one.md"), content)


def _try_lock(backend: StorageBackend) -> None:
    with backend.transaction(wait=0.1):
        pass


RESULTS: tuple[ContractCheck, ...] = checks(
    check_what_was_made_is_told_once,
    check_it_is_told_under_the_lock,
    check_what_was_not_made_is_not_told,
    check_an_identical_write_is_told_as_no_change,
)


WRITERS: Final = 4
ROUNDS: Final = 12
_TIMEOUT_S: Final = 60.0
"""After this time a store that has not answered is considered hung."""


def check_reading_does_not_wait_for_a_transaction(store: Store) -> None:
    """While a transaction is open, others can read and list."""
    backend = store.open()
    put(backend, "note.md")
    with ThreadPoolExecutor(max_workers=1) as pool:
        with backend.transaction() as changes:
            changes.write(backend.resolve("other.md"), b"new")
            reading = pool.submit(contents, backend)
            try:
                files = reading.result(timeout=5)
            except TimeoutError as error:
                raise ContractBroken("a reader waits for a transaction to end") from error
        require(files == {"note.md": b"text\n"}, "a reader during a transaction does not see the store as it was")


def check_what_was_written_is_there_when_opened_again(store: Store) -> None:
    """What a transaction wrote is there when the store is opened again."""
    put(store.open(), "folder/note.md", b"kept")
    require(contents(store.open()) == {"folder/note.md": b"kept"}, "the store forgot what was written")


def check_two_openers_take_turns(store: Store) -> None:
    """While one opener's transaction is open, another gets VaultUnavailable(locked) after its wait; then its turn."""
    first, second = store.open(), store.open()
    is_locked = MustRaise(VaultUnavailable, reason="locked", when="when another opener holds the lock")
    with ThreadPoolExecutor(max_workers=1) as pool, first.transaction(), is_locked:
        pool.submit(_try_lock, second).result(timeout=_TIMEOUT_S)
    _try_lock(second)


def check_no_update_is_lost(store: Store) -> None:
    """Several openers that read and write back in transactions lose none of each other's updates."""
    backend = store.open()
    put(backend, "count.md", b"0")
    openers = [store.open() for _ in range(WRITERS)]
    with ThreadPoolExecutor(max_workers=WRITERS) as pool:
        for counting in [pool.submit(_count, opener) for opener in openers]:
            counting.result(timeout=_TIMEOUT_S)
    count = int(backend.read(backend.resolve("count.md")).content)
    require(count == WRITERS * ROUNDS, f"of {WRITERS * ROUNDS} updates {WRITERS * ROUNDS - count} were lost")


def _count(backend: StorageBackend) -> None:
    at = backend.resolve("count.md")
    for _ in range(ROUNDS):
        with backend.transaction(wait=_TIMEOUT_S) as changes:
            changes.write(at, b"%d" % (int(changes.read(at).content) + 1))


CONCURRENCY: tuple[ContractCheck, ...] = (
    *checks(check_reading_does_not_wait_for_a_transaction),
    *checks(check_what_was_written_is_there_when_opened_again, needs=Capability.PERSISTENT),
    *checks(check_two_openers_take_turns, check_no_update_is_lost, needs=Capability.SHARED),
)
