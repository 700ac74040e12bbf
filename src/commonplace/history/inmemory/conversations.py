"""The conversations of a history in memory."""

import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from commonplace.history.arrivals import (
    Arrival,
    arrivals_of,
    check_trust,
    checked_turns,
    grown,
    known_thread,
    stamp_of,
    storable,
    thread_id,
)
from commonplace.history.base import checked_limit, utc_second
from commonplace.history.conversations import NewThread
from commonplace.model import Message, Recorded, Thread


@dataclass(slots=True)
class _Kept:
    """One conversation."""

    thread: Thread
    digest: str = ""
    messages: dict[str, Message] = field(default_factory=dict)


class InMemoryConversations:
    """Conversations that are gone with the process."""

    def __init__(self) -> None:
        self._threads: dict[str, _Kept] = {}
        self._turn = threading.Lock()

    def record_conversation(self, thread: NewThread, messages: Sequence[Message], *, now: datetime) -> Recorded:
        """Add the messages that are not known yet."""
        arrivals = arrivals_of(messages, now=now)
        known = known_thread(thread, arrivals)
        id_ = thread_id(known)
        with self._turn:
            kept = self._threads.setdefault(id_, _Kept(_thread(id_, known, at=arrivals[0].at, now=utc_second(now))))
            is_known = all(each.identity in kept.messages for each in arrivals)
            check_trust(known, kept.thread.trust, title=kept.thread.title, adds=not is_known)
            before = kept.thread.count
            kept.thread = replace(kept.thread, title=known.title or kept.thread.title)
            for arrival in arrivals:
                if arrival.identity not in kept.messages:
                    _add(kept, arrival)
            added = kept.thread.count - before
        return Recorded(id_, added, len(arrivals) - added)

    def conversations(
        self, *, interface: str | None = None, since: datetime | None = None, limit: int | None = None
    ) -> tuple[Thread, ...]:
        """Those of that program, with a message from that time on; newest first, at most `limit`."""
        start = utc_second(since) if since else None
        checked_limit(limit)
        with self._turn:
            oldest_first = sorted((kept.thread for kept in self._threads.values()), key=lambda each: each.updated)
        chosen = (
            each
            for each in reversed(oldest_first)
            if (interface is None or each.interface == storable(interface)) and (start is None or each.updated >= start)
        )
        return tuple(chosen)[:limit]

    def conversation(self, id: str) -> Thread | None:
        """The conversation with that id; None when there is none."""
        kept = self._threads.get(id)
        return kept.thread if kept else None

    def messages(self, id: str, *, first: int = 1, last: int | None = None) -> tuple[Message, ...]:
        """The messages from one number to another, both within."""
        first, last = checked_turns(first, last)
        with self._turn:
            kept = self._threads.get(id)
            return tuple(kept.messages.values())[first - 1 : last] if kept else ()

    def conversation_stamps(self, ids: Iterable[str] | None = None) -> Mapping[str, str]:
        """The stamp of each conversation, or of those of these that are there, by id."""
        with self._turn:
            wanted = self._threads if ids is None else [each for each in ids if each in self._threads]
            kept = {id_: self._threads[id_] for id_ in wanted}
        return {
            id_: stamp_of(each.digest, title=each.thread.title, trust=each.thread.trust) for id_, each in kept.items()
        }

    def close_conversation(self, id: str, *, now: datetime) -> bool:
        """Say that it is finished; whether it is there."""
        with self._turn:
            if kept := self._threads.get(id):
                kept.thread = replace(kept.thread, closed=utc_second(now))
            return kept is not None

    def forget_conversation(self, id: str) -> bool:
        """Remove the conversation; whether it was there."""
        with self._turn:
            return self._threads.pop(id, None) is not None


def _thread(id_: str, new: NewThread, *, at: datetime, now: datetime) -> Thread:
    return Thread(
        id_, new.interface, new.source_id, new.title, new.trust, started=at, updated=at, recorded=now, count=0
    )


def _add(kept: _Kept, arrival: Arrival) -> None:
    kept.messages[arrival.identity] = replace(arrival.message, at=arrival.at)
    kept.digest = grown(kept.digest, arrival)
    kept.thread = replace(
        kept.thread,
        count=kept.thread.count + 1,
        closed=None,
        started=min(kept.thread.started, arrival.at),
        updated=max(kept.thread.updated, arrival.at),
    )
