"""Rules of what a transaction tells its caller: once, under the lock, and the truth."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from commonplace.errors import CommonplaceError, Conflict
from commonplace.testing.contract import Check, MustRaise, Store, checks, filled, require
from commonplace.vault.base import Made, StorageBackend, version_of

_BEFORE = {"one.md": b"one"}


class _Interrupted(Exception):
    """Stands for any error of the caller."""


def check_what_was_made_is_told_once(store: Store) -> None:
    """`then` is called once, with changed=True, when the changes are made: whoever reads in it sees them."""
    backend = filled(store, _BEFORE)
    at, told = backend.resolve("one.md"), list[tuple[Made, bytes]]()
    with backend.transaction(then=lambda made: told.append((made, backend.read(at).content))) as changes:
        changes.write(at, b"new")
    require(len(told) == 1, f"`then` was called {len(told)} times")
    made, seen = told[0]
    require(made.changed, "a change is told as none")
    require(seen == b"new", "`then` was called before the change was made")


def check_it_is_told_under_the_lock(store: Store) -> None:
    """While `then` runs, nobody else gets the lock: what it notes down is in the order of the changes."""
    backend = filled(store, _BEFORE)
    refused = MustRaise(CommonplaceError, when="when another transaction begins while `then` runs")

    def try_to_change(made: Made) -> None:
        with ThreadPoolExecutor(max_workers=1) as pool, refused:
            pool.submit(_try_lock, backend).result()

    with backend.transaction(then=try_to_change) as changes:
        changes.write(backend.resolve("one.md"), b"new")
    require(refused.error, "`then` was not called")


def check_what_was_not_made_is_not_told(store: Store) -> None:
    """`then` is not called when the block raises, nor when a change is refused."""
    backend, told = filled(store, _BEFORE), list[Made]()
    try:
        with backend.transaction(then=told.append) as changes:
            changes.write(backend.resolve("one.md"), b"new")
            raise _Interrupted
    except _Interrupted:
        require(not told, "`then` was called although the block raised")
    with (
        MustRaise(Conflict, when="when a write is stale"),
        backend.transaction(then=told.append) as changes,
    ):
        changes.write(backend.resolve("one.md"), b"new", expected=version_of(b"what nobody wrote"))
    require(not told, "`then` was called although nothing was made")


def check_an_identical_write_is_told_as_no_change(store: Store) -> None:
    """When everything was so already, `then` is told changed=False."""
    backend, told = filled(store, _BEFORE), list[Made]()
    _write(backend, b"one", then=told.append)
    require(told and not told[-1].changed, f"an identical write is told as {told}")


def _write(backend: StorageBackend, content: bytes, *, then: Callable[[Made], None]) -> None:
    with backend.transaction(then=then) as changes:
        changes.write(backend.resolve("one.md"), content)


def _try_lock(backend: StorageBackend) -> None:
    with backend.transaction(wait=0.05):
        pass


TELLING: tuple[Check, ...] = checks(
    check_what_was_made_is_told_once,
    check_it_is_told_under_the_lock,
    check_what_was_not_made_is_not_told,
    check_an_identical_write_is_told_as_no_change,
)
