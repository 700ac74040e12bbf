"""The first measures again with a person's entries among generated ones: how they fall as memory grows."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from bench.memory_context import figures_of, judge
from bench.memory_crowd import write_crowd
from bench.memory_sets import Person
from bench.memory_vault import Opener, new_vault, save_entries


def measure_sizes(
    people: Sequence[Person],
    sizes: Sequence[int],
    opener: Opener,
    folder: Path,
    say: Callable[[str], None],
    *,
    cues: bool,
) -> list[dict[str, Any]]:
    """The figures at each size: so many entries together, the person's own and generated ones."""
    told = []
    for size in sizes:
        judged = []
        missing = 0
        for person in people:
            place = folder / f"size-{size}-{person.name}"
            new_vault(place, person.notes)
            write_crowd(place / "vault", max(0, size - len(person.entries)), cues=cues)
            say(f"{person.name} among {size} entries")
            with opener.on_disk(place) as (memory, clock):
                memory.index.sync()
                saved = save_entries(memory, clock, person)
                missing += len(saved.missing)
                judged += judge(memory, person, saved)
        told.append({"entries": size, "missing": missing, **figures_of(judged)})
    return told
