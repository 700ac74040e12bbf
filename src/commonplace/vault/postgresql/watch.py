"""Events for the changes in a vault: the server notifies every process when a commit is made.

One connection of a process listens for all of its vaults. Where notifications do not arrive, as behind a pooler of
transactions, the number of the newest commit is compared every few seconds.
"""

import hashlib
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Final

from commonplace.database.postgresql import Connection, PostgresqlServer, TenantDatabase, translated
from commonplace.errors import CommonplaceError
from commonplace.events import emit
from commonplace.vault.base import Skip, WatchEvent
from commonplace.vault.paths import skip_filter
from commonplace.vault.postgresql.commits import head_number
from commonplace.vault.postgresql.schema import AREA, rows_of
from commonplace.vault.watch import MANY, POLL_INTERVAL_S

_CHANNEL: Final = "commonplace_vault"
_POLL_WHILE_LISTENING_S: Final = 30.0  # in case a notification was lost
_LISTEN_STEP_S: Final = 1.0  # how soon the listener ends after the last watcher
_RETRY_S: Final = 30.0
_EVERYTHING: Final = (WatchEvent("", "folder"),)
_CHANGED: Final = """
SELECT DISTINCT d.path, EXISTS (SELECT FROM vault_notes n WHERE n.tenant = d.tenant AND n.path = d.path),
  c.kind = 'erase'
FROM vault_changes d JOIN vault_commits c ON c.tenant = d.tenant AND c.number = d.number
WHERE d.tenant = %(tenant)s AND d.number > %(after)s LIMIT %(most)s
"""


def notify(connection: Connection, tenant: str) -> None:
    """Tell every process that watches this vault that it has changed, once the transaction is committed."""
    connection.execute("SELECT pg_notify(%s, %s)", (_CHANNEL, _topic(tenant)))


def watch_vault(
    server: PostgresqlServer, database: TenantDatabase, *, stop: threading.Event, skip: Skip | None, step: float
) -> Iterator[tuple[WatchEvent, ...]]:
    """The events from this call on, until `stop` is set; () every `step` seconds while there are none.

    Raises VaultUnavailable, at once or later, when the server does not answer.
    """
    with database.read_transaction() as connection:
        head = head_number(connection, database.tenant)
    return _events(_listener_of(server), database, head, stop=stop, skip=skip, step=step)


class ChangeListener:
    """Wakes the watchers of this process when their vault has changed; a thread listens while there is a watcher."""

    def __init__(self, server: PostgresqlServer) -> None:
        self._server = server
        self._lock = threading.Lock()
        self._woken: dict[threading.Event, str] = {}
        self._thread: threading.Thread | None = None
        self.is_listening = False

    @contextmanager
    def subscribed(self, tenant: str) -> Iterator[threading.Event]:
        """An event that is set when that vault has changed, and when listening has begun."""
        woken = threading.Event()
        woken.set()
        with self._lock:
            self._woken[woken] = _topic(tenant)
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._listen, name="vault changes", daemon=True)
                self._thread.start()
        try:
            yield woken
        finally:
            with self._lock:
                self._woken.pop(woken)

    def _listen(self) -> None:
        while self._has_watchers():
            try:
                with translated(AREA.wording), self._server.connection() as connection:
                    connection.execute(f"LISTEN {_CHANNEL}".encode())
                    self.is_listening = True
                    self._wake("")  # what was committed until now was not heard
                    while self._has_watchers():
                        for each in connection.notifies(timeout=_LISTEN_STEP_S):
                            self._wake(each.payload)
                    connection.execute(f"UNLISTEN {_CHANNEL}".encode())
            except CommonplaceError as error:
                emit("vault_changes_not_heard", level="warning", said=error.message)
                self.is_listening = False
                self._wait(_RETRY_S)

    def _wait(self, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while self._has_watchers() and time.monotonic() < deadline:
            time.sleep(_LISTEN_STEP_S)

    def _has_watchers(self) -> bool:
        """True if there is a watcher; without one the thread ends, and the next watcher starts another."""
        with self._lock:
            if not self._woken:
                self._thread, self.is_listening = None, False
            return bool(self._woken)

    def _wake(self, topic: str) -> None:
        with self._lock:
            for woken, own in self._woken.items():
                if topic in ("", own):
                    woken.set()


@lru_cache(maxsize=16)
def _listener_of(server: PostgresqlServer) -> ChangeListener:
    return ChangeListener(server)


def _events(
    listener: ChangeListener,
    database: TenantDatabase,
    head: int,
    *,
    stop: threading.Event,
    skip: Skip | None,
    step: float,
) -> Iterator[tuple[WatchEvent, ...]]:
    is_skipped, compared = skip_filter(skip), 0.0
    with listener.subscribed(database.tenant) as woken:
        while not stop.is_set():
            pause = _POLL_WHILE_LISTENING_S if listener.is_listening else POLL_INTERVAL_S
            events: tuple[WatchEvent, ...] = ()
            if woken.wait(step) or time.monotonic() - compared >= pause:
                woken.clear()
                events, head = _read_events(database, head)
                compared = time.monotonic()
            yield tuple(each for each in events if not each.path or not is_skipped(each.path))


def _read_events(database: TenantDatabase, after: int) -> tuple[tuple[WatchEvent, ...], int]:
    """What happened since that commit, and the newest one. An erased file has no name left: all may have changed."""
    tenant = database.tenant
    with database.read_transaction() as connection:
        head = head_number(connection, tenant)
        values = {"tenant": tenant, "after": after, "most": MANY}
        rows = rows_of(connection, _CHANGED, values) if head != after else []
    if head < after or len(rows) >= MANY or any(is_erasure for *_, is_erasure in rows):
        return _EVERYTHING, head
    events = [WatchEvent(path, "saved" if is_there else "gone") for path, is_there, _ in rows]
    return tuple(sorted(events, key=lambda event: (event.kind != "gone", event.path))), head


def _topic(tenant: str) -> str:
    """What names the vault in a notification: others may read those."""
    return hashlib.sha256(tenant.encode()).hexdigest()[:32]
