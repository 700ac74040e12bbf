"""Live events: what happens in a vault, as server-sent events for its page and for programs.

Everything is in one bounded ring of events with numbers. A listener reads on from the number it has seen, so that a
slow one costs no memory: what the ring no longer has is answered with `missed`, and the listener asks for all anew.

    hello      the stream begins
    write      a change through Commonplace, by any process: verb, path, destination, actor, commit
    file       a file of the vault changed on disk, whoever did it: change, path; one with `count` stands for many
    job        a run of a job: job, number, state (started, running, finished), steps, outcome, left, seconds
    review     how many entries and notes wait for the person: waiting
    progress   how far long work is: work, what, done, total
    missed     events were lost: read what you show again

No event holds text of a note, and the names of entries come without their words if they are sensitive.
"""

import asyncio
import json
import secrets
import threading
import time
from collections import deque
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final, Literal

from commonplace.errors import Refused
from commonplace.model.progress import Progress

EventKind = Literal["hello", "write", "file", "job", "review", "progress", "missed"]
RING: Final = 1_000
MOST_OF_PERSON: Final = 32
"""Pages and programs of one person that listen at once; the user who runs the daemon is one, too."""
MOST_LISTENERS: Final = 256  # each has one of the daemon's 400 connections
HEARTBEAT_SECONDS: Final = 15.0
RETRY_MS: Final = 2_000  # after which a browser connects again
_REMEMBERED_SECONDS: Final = 600.0  # a vault counts as listened to for so long after its last listener left
_PROGRESS_SECONDS: Final = 0.25


class TooManyListeners(Refused):
    """As many listen as may."""


@dataclass(frozen=True, slots=True)
class LiveEvent:
    """One event of one vault."""

    number: int
    vault: str
    kind: EventKind
    fields: dict[str, Any]


class LiveEvents:
    """The ring, and who listens. Everything but `stream` may be called from any thread."""

    def __init__(
        self,
        *,
        ring: int = RING,
        most_of_person: int = MOST_OF_PERSON,
        most_listeners: int = MOST_LISTENERS,
        heartbeat: float = HEARTBEAT_SECONDS,
    ) -> None:
        self._lock = threading.Lock()
        self._ring: deque[LiveEvent] = deque(maxlen=ring)
        self._number = 0
        self._run = secrets.token_hex(4)  # the numbers of another run of the daemon mean nothing here
        self._most_of_person, self._most, self._heartbeat = most_of_person, most_listeners, heartbeat
        self._listeners: set[_Listener] = set()
        self._left: dict[str, float] = {}
        self._is_closed = False
        self._prepare: Callable[[str], None] = lambda vault: None

    @property
    def listeners(self) -> int:
        """How many listen now."""
        return len(self._listeners)

    def vaults(self) -> frozenset[str]:
        """The folders of the vaults to which somebody listens, or did a moment ago and may connect again."""
        if not (self._listeners or self._left):
            return frozenset()
        with self._lock:
            since = time.monotonic() - _REMEMBERED_SECONDS
            self._left = {vault: at for vault, at in self._left.items() if at > since}
            return frozenset(self._left).union(each.vault for each in self._listeners)

    def before_listening(self, prepare: Callable[[str], None]) -> None:
        """Call this with the folder of the vault, in a thread, before somebody begins to listen to it."""
        self._prepare = prepare

    def publish(self, vault: str, kind: EventKind, **fields: Any) -> None:
        """Add an event, and wake those who listen to that vault."""
        with self._lock:
            self._number += 1
            self._ring.append(LiveEvent(self._number, vault, kind, fields))
            listeners = [each for each in self._listeners if each.vault == vault]
        for each in listeners:
            each.wake()

    def progress(self, vault: str, work: str) -> Progress:
        """A progress that is published, a few times in a second at most; the end always is."""
        last = 0.0

        def publish(what: str, done: int, total: int) -> None:
            nonlocal last
            now = time.monotonic()
            if now - last >= _PROGRESS_SECONDS or done >= total:
                last = now
                self.publish(vault, "progress", work=work, what=what, done=done, total=total)

        return publish

    def stream(
        self, vault: str, last_id: str, *, person: str = "", is_admitted: Callable[[], bool] = lambda: True
    ) -> AsyncGenerator[str, None]:
        """The events of a vault as text, from the one after `last_id` on, until `close`. Raises TooManyListeners.

        `person` is the id of the person who listens; empty for the user who runs the daemon.
        Whoever is not admitted any more is told nothing further: that is asked each time before something is told.
        """
        with self._lock:
            of_person = sum(each.person == person for each in self._listeners)
        if of_person >= self._most_of_person:
            hint = "Close another page or program that listens, or wait a moment."
            raise TooManyListeners(f"{of_person} of your programs are listening, which is the limit", hint=hint)
        if self.listeners >= self._most:
            hint = "Wait a moment until another program stops listening."
            raise TooManyListeners(f"{self._most} programs are listening, which is the limit", hint=hint)
        return self._texts(_Listener(vault, self._seen_by(last_id), person), is_admitted)

    def close(self) -> None:
        """End every stream, and each that begins from now on."""
        with self._lock:
            self._is_closed = True
            listeners = [*self._listeners]
        for each in listeners:
            each.wake()

    async def _texts(self, listener: "_Listener", is_admitted: Callable[[], bool]) -> AsyncGenerator[str, None]:
        with self._listening(listener):
            await asyncio.to_thread(self._prepare, listener.vault)
            yield f"retry: {RETRY_MS}\n{self._text(LiveEvent(self._start(listener), listener.vault, 'hello', {}))}"
            while not self._is_closed:
                texts = "".join(self._new_texts(listener))
                if not texts and not await listener.is_woken(within=self._heartbeat):
                    texts = ": still here\n\n"
                if texts and not await asyncio.to_thread(is_admitted):
                    return
                if texts:
                    yield texts

    @contextmanager
    def _listening(self, listener: "_Listener") -> Iterator[None]:
        with self._lock:
            self._listeners.add(listener)
        try:
            yield
        finally:
            with self._lock:
                self._listeners.discard(listener)
                self._left[listener.vault] = time.monotonic()

    def _seen_by(self, last_id: str) -> int | None:
        """The number of the last event that the listener has seen; -1 if we cannot tell, None for a new one."""
        run, _, number = last_id.partition("-")
        if not last_id:
            return None
        return int(number) if run == self._run and number.isascii() and number.isdigit() else -1

    def _start(self, listener: "_Listener") -> int:
        """The number from which the listener goes on: for a new one, the newest."""
        with self._lock:
            if listener.seen is None:
                listener.seen = self._number
            return max(0, min(listener.seen, self._number))

    def _new_texts(self, listener: "_Listener") -> Iterator[str]:
        with self._lock:
            seen = listener.seen if listener.seen is not None else self._number
            oldest = self._ring[0].number if self._ring else self._number + 1
            is_lost = seen < 0 or seen > self._number or seen + 1 < oldest
            new = [each for each in self._ring if each.number > seen and each.vault == listener.vault]
            listener.seen = self._number
        if is_lost:
            yield self._text(LiveEvent(oldest - 1, listener.vault, "missed", {}))
            new = new if 0 <= seen <= self._number else []
        yield from map(self._text, new)

    def _text(self, event: LiveEvent) -> str:
        return f"id: {self._run}-{event.number}\nevent: {event.kind}\ndata: {json.dumps(event.fields)}\n\n"


class _Listener:
    """One open stream: its vault, the number of the last event that it was sent, and the person who listens."""

    def __init__(self, vault: str, seen: int | None, person: str) -> None:
        self.vault, self.seen, self.person = vault, seen, person
        self._loop = asyncio.get_running_loop()
        self._woken = asyncio.Event()

    def wake(self) -> None:
        """Let the stream look at the ring; from any thread."""
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._woken.set)

    async def is_woken(self, *, within: float) -> bool:
        """True as soon as it is woken; False if it was not for so many seconds."""
        try:
            async with asyncio.timeout(within):
                await self._woken.wait()
        except TimeoutError:
            return False
        self._woken.clear()
        return True
