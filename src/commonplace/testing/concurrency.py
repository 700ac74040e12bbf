"""Rules of many at once: readers never wait, writers take turns, and what was acknowledged stays."""

from concurrent.futures import ThreadPoolExecutor
from typing import Final

from commonplace.errors import VaultUnavailable
from commonplace.testing.contract import Check, ContractBroken, MustRaise, Store, checks, contents, put, require
from commonplace.vault.base import Capability, StorageBackend

WRITERS: Final = 4
ROUNDS: Final = 12
_PATIENCE: Final = 60.0
"""Seconds after which a store that should have answered is taken to hang."""


def check_reading_does_not_wait_for_a_transaction(store: Store) -> None:
    """While a transaction is open, others read and list."""
    backend = store.open()
    put(backend, "note.md")
    with ThreadPoolExecutor(max_workers=1) as pool:
        with backend.transaction() as changes:
            changes.write(backend.resolve("other.md"), b"new")
            reading = pool.submit(contents, backend)
            try:
                found = reading.result(timeout=5)
            except TimeoutError as error:
                raise ContractBroken("a reader waits for a transaction to end") from error
        require(found == {"note.md": b"text\n"}, "a reader beside a transaction does not see the store as it was")


def check_what_was_written_is_there_when_opened_again(store: Store) -> None:
    """What a transaction wrote is there when the store is opened anew."""
    put(store.open(), "folder/note.md", b"kept")
    require(contents(store.open()) == {"folder/note.md": b"kept"}, "the store forgot what was written")


def check_two_openers_take_turns(store: Store) -> None:
    """While one opener's transaction is open, another gets VaultUnavailable(locked) after its wait; then its turn."""
    first, second = store.open(), store.open()
    held = MustRaise(VaultUnavailable, reason="locked", when="when another opener holds the lock")
    with ThreadPoolExecutor(max_workers=1) as pool, first.transaction(), held:
        pool.submit(_try_lock, second).result(timeout=_PATIENCE)
    _try_lock(second)


def check_no_update_is_lost(store: Store) -> None:
    """Many openers that read and write back in transactions lose none of each other's updates."""
    backend = store.open()
    put(backend, "count.md", b"0")
    openers = [store.open() for _ in range(WRITERS)]
    with ThreadPoolExecutor(max_workers=WRITERS) as pool:
        for counting in [pool.submit(_count, opener) for opener in openers]:
            counting.result(timeout=_PATIENCE)
    found = int(backend.read(backend.resolve("count.md")).content)
    require(found == WRITERS * ROUNDS, f"of {WRITERS * ROUNDS} updates {WRITERS * ROUNDS - found} were lost")


def _try_lock(backend: StorageBackend) -> None:
    with backend.transaction(wait=0.1):
        pass


def _count(backend: StorageBackend) -> None:
    at = backend.resolve("count.md")
    for _ in range(ROUNDS):
        with backend.transaction(wait=_PATIENCE) as changes:
            changes.write(at, b"%d" % (int(changes.read(at).content) + 1))


CONCURRENCY: tuple[Check, ...] = (
    *checks(check_reading_does_not_wait_for_a_transaction),
    *checks(check_what_was_written_is_there_when_opened_again, needs=Capability.PERSISTENT),
    *checks(check_two_openers_take_turns, check_no_update_is_lost, needs=Capability.SHARED),
)
