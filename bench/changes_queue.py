"""What waits for one person in four weeks in which an agent saves all that is known of them."""

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from bench.changes_saves import PERSON, Saver
from bench.memory_sets import CONTEXT
from bench.memory_vault import AGENT, BenchClock, Opener, new_vault

from commonplace.memory import Memory
from commonplace.model.request import NewEntry

WEEKS: Final = 4
WAYS: Final = ("the agent settles nothing", "the agent settles what changed")
_SAID: Final = datetime(2026, 6, 1, 9, tzinfo=UTC)
_FIRST: Final = datetime(2026, 10, 5, 9, tzinfo=UTC)


def measure_queue(data: Path, opener: Opener, folder: Path) -> dict[str, Any]:
    """For each person and way, what waits at the end of each week."""
    told = {}
    lines = (data / "memory2" / CONTEXT).read_text(encoding="utf-8").splitlines()
    for number, entries in enumerate(json.loads(line)["entries"] for line in lines):
        for way in WAYS:
            place = folder / f"{number}-{WAYS.index(way)}"
            new_vault(place)
            with opener.on_disk(place) as (memory, clock):
                weeks = [*_weeks(entries, memory, clock, settles=way == WAYS[1])]
            told[f"person {number + 1}, {len(entries)} saves, {way}"] = weeks
    return told


def _weeks(
    entries: Sequence[Mapping[str, str]], memory: Memory, clock: BenchClock, *, settles: bool
) -> Iterator[dict[str, int]]:
    """The person has said what changed since; then the agent saves everything, as much each week."""
    own = Saver(memory.acting(PERSON), clock, step=timedelta(days=1))
    olds = own.save_all([each["old"] for each in entries if each["old"]], begins=_SAID)
    agent = Saver(memory.acting(AGENT), clock)
    for week in range(WEEKS):
        for place, each in enumerate(entries[week::WEEKS]):
            clock.set_to = _FIRST + timedelta(weeks=week, hours=place)
            replaces = (olds[each["old"]].id,) if settles and each["old"] in olds else ()
            agent.save(NewEntry(each["text"], kind=each["kind"], replaces=replaces))
        clock.set_to = _FIRST + timedelta(weeks=week + 1) - timedelta(hours=12)
        queue = memory.acting(PERSON).reviews.list()
        yield {"entries": len(queue.entries), "endings": len(queue.endings), "groups": len(queue.groups)}
