"""What a history in memory knows of use."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from commonplace.history.arrivals import storable
from commonplace.history.base import utc_second
from commonplace.history.inmemory.conversations import InMemoryConversations
from commonplace.history.locks import storable_lock
from commonplace.history.uses import Use
from commonplace.model import TopicLock


class InMemoryUses(InMemoryConversations):
    """Uses and locks that are gone with the process."""

    def __init__(self) -> None:
        super().__init__()
        self._days: defaultdict[str, Counter[str]] = defaultdict(Counter)  # fact -> day -> times
        self._locks: dict[str, TopicLock] = {}

    def record_use(self, ids: Sequence[str], *, now: datetime) -> None:
        """Count one use of each of these facts, on the day of that moment in UTC."""
        day = _day(now)
        with self._turn:
            for fact in {storable(each) for each in ids}:
                self._days[fact][day] += 1

    def uses(self, ids: Iterable[str], *, since: datetime | None = None) -> Mapping[str, Use]:
        """The uses of these facts, from the day of that moment on; those that were never used are left out."""
        start = _day(since) if since else ""
        wanted = {storable(each) for each in ids}
        with self._turn:
            found = {
                fact: {day: times for day, times in self._days[fact].items() if day >= start}
                for fact in wanted
                if fact in self._days
            }
        return {fact: Use(sum(days.values()), len(days), max(days)) for fact, days in found.items() if days}

    def forget_uses(self, ids: Iterable[str]) -> int:
        """Remove what is known of the use of these facts; how many rows went, one for each day."""
        facts = {storable(each) for each in ids}
        with self._turn:
            return sum(len(self._days.pop(fact, ())) for fact in facts)

    def lock_topics(self, lock: TopicLock) -> None:
        """Keep what a conversation is about, in the place of what was kept before."""
        kept = storable_lock(lock)
        with self._turn:
            self._locks[kept.conversation] = kept

    def topic_lock(self, conversation: str) -> TopicLock | None:
        """What that conversation is about; None when nothing was kept."""
        return self._locks.get(storable(conversation))

    def forget_conversation(self, id: str) -> bool:
        """Remove the conversation, with what it was found to be about; whether it was there."""
        thread = self.conversation(id)
        with self._turn:
            for name in (id, thread.source_id if thread else id):
                self._locks.pop(storable(name), None)
        return super().forget_conversation(id)


def _day(when: datetime) -> str:
    return utc_second(when).date().isoformat()
