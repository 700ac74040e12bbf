"""Facts at a moment: the state of each, its end, and its importance after its age and use.

A context looks at thousands of facts, and few of them have changed since the last one: `FactSnapshots` keeps each until
something that it depends on is different.
"""

from typing import Final, NamedTuple

from commonplace.facts.relevance import aged_importance
from commonplace.facts.validity import state_until, until_of
from commonplace.model import FactRecord, FactSnapshot

_MOST: Final = 20_000  # facts that are kept: about 10 MB


class FactUse(NamedTuple):
    """How often a fact was recalled on this device, the last day, and on how many recent days."""

    times: int = 0
    last: str = ""
    recent_days: int = 0


UNUSED: Final = FactUse()


class _Kept(NamedTuple):
    """A snapshot that is right from the moment `since` until before `until`, for this record and use."""

    record: FactRecord
    use: FactUse
    since: str
    until: str
    snapshot: FactSnapshot


class FactSnapshots:
    """The snapshots of one vault's facts that were worked out last, by the facts' ids."""

    def __init__(self) -> None:
        self._kept: dict[str, _Kept] = {}

    def at(self, record: FactRecord, at: str, use: FactUse = UNUSED) -> FactSnapshot:
        """The fact at this moment, after this use."""
        fact = record.fact
        kept = self._kept.get(fact.id)
        if (
            kept is not None
            and kept.record.fact is fact
            and kept.since <= at < kept.until
            and kept.record.end == record.end
            and kept.use == use
        ):
            return kept.snapshot
        until, ended_by = until_of(record)
        importance = round(aged_importance(fact, at=at, use_days=use.recent_days), 4)
        snapshot = FactSnapshot(fact, state_until(fact, until, at=at), until, ended_by, importance, use.times, use.last)
        if len(self._kept) >= _MOST:
            self._kept.clear()
        changes = (fact.begins, until, fact.archived_at, *fact.confirmed)
        ends = min((each for each in changes if each > at), default="")
        today = f"{at[:10]}~"  # after every time of the day: importance fades from day to day
        self._kept[fact.id] = _Kept(record, use, at, min(ends or today, today), snapshot)
        return snapshot

    def clear(self) -> None:
        """Forget all of them."""
        self._kept.clear()
