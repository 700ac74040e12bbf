"""What memory costs as it grows: saving, asking about an entity, its timeline, a day in the past, and a rebuild.

A vault of so many entries is generated as the library would have left it, imported in one commit and indexed with the
hashing encoder. Then entries are saved through the library, one commit each, and questions are asked in the same warm
process, some right after a save; the first time that each is asked is told apart. At the smallest size statements are
saved and topics inferred with the real encoder, too.

Run it as `python bench/entries.py`; `--entries 1000 10000 100000` for the largest too, `--save` keeps the figures.
"""

import argparse
import random
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).parent.parent))
from bench.entries_tables import AFTER, tables
from bench.entries_vault import HUB, TOPICS, WORDS, build, subjects
from bench.figures import MODEL, own_home, percentile, save, say, with_model

from commonplace.app import open_memory
from commonplace.memory import Memory
from commonplace.model import EntryResult

MOST_MS: Final = 20.0
MOST_TO_INFER_MS: Final = 50.0
SAVES: Final = 60
ASKED: Final = 200
LEAST_ASKED: Final = 10
LONGEST_S: Final = 20.0  # a question that takes long is asked less often
DAY: Final = "2023-07-01"
Asks = Mapping[str, Callable[[], object]]


def measure(root: Path, count: int, data: Path) -> dict[str, Any]:
    """Everything for one size, with the hashing encoder."""
    with open_memory(root, settings={"data": str(data), "embedding.provider": "hashing"}) as memory:
        say(f"{count} entries: indexing")
        first = _seconds(memory.index.sync)
        imported = _bytes(root / ".git")
        say(f"{count} entries: saving {SAVES} times in each way")
        saves = _saves(memory, root, count)
        say(f"{count} entries: asking")
        told = {
            "usual": {name: _asked(ask, target=MOST_MS) for name, ask in _questions(memory, count).items()},
            "topics": {"topics of a message": _asked(_inference(memory), target=MOST_TO_INFER_MS)},
            "hub": {name: _asked(ask, target=MOST_MS) for name, ask in _hub_questions(memory).items()},
        }
        facts = [len(memory.facts.about(person)) for person in subjects(count)[:50]]
        hub = len(memory.facts.about(HUB))
        say(f"{count} entries: rebuilding")
        rebuild = _seconds(memory.index.rebuild)
    return {
        "entries": count,
        "encoder": "hashing",
        "facts_of_an_entity": round(sum(facts) / len(facts), 1),
        "facts_of_the_hub": hub,
        "first_index_s": round(first, 1),
        "rebuild_s": round(rebuild, 1),
        "saves": saves,
        "asked": told,
        "imported_mb": round(imported / 1e6, 1),
        "repository_mb": round(_bytes(root / ".git") / 1e6, 1),
        "notes_mb": round(_bytes(root / "Agent") / 1e6, 1),
        "data_mb": round(_bytes(data) / 1e6, 1),
    }


def measure_real(root: Path, count: int, data: Path, settings: Mapping[str, object]) -> dict[str, Any]:
    """What the encoder that comes with Commonplace adds to saving a statement, and to the topics of a message."""
    with open_memory(root, settings={"data": str(data), **settings}) as memory:
        say(f"{count} entries: encoding, then saving {SAVES} with the real encoder")
        memory.index.sync()
        memory.entries.save("The first one warms the encoder up.", kind="preference")
        saves = {"a statement": _series(_statements(memory, seed=6), root)}
        inferred = {"topics of a message": _asked(_inference(memory), target=MOST_TO_INFER_MS)}
    return {"entries": count, "encoder": "real", "saves": saves, "asked": {"topics": inferred}}


def _saves(memory: Memory, root: Path, count: int) -> dict[str, dict[str, float]]:
    """Each way to save, with its times and by how much the repository grows."""
    memory.entries.save("The first one warms the process up.", kind="preference")
    statements = list(_statements(memory, seed=5))
    made: list[EntryResult] = []
    return {
        "a statement": _series(statements, root, keep=made),
        "the same again": _series(statements, root, wanted="confirm"),
        "a triple that supersedes": _series(_triples(memory, count), root, wanted="supersede"),
        "evolve": _series(_evolutions(memory, made), root, wanted="supersede"),
        AFTER: _searches_after(memory),
    }


def _searches_after(memory: Memory) -> dict[str, float]:
    """The times of searches each of which comes after a save: what was in memory of the index is brought up to date."""
    source, times = random.Random(7), list[float]()
    for add in list(_statements(memory, seed=8)):
        add()
        message = _message(source)
        times.append(_seconds(lambda message=message: memory.search(message)))  # type: ignore[misc]
    return {"n": len(times), **_times(times), "repository_kb": 0.0}


def _statements(memory: Memory, *, seed: int) -> Iterator[Callable[[], EntryResult]]:
    source = random.Random(seed)
    for number in range(SAVES):
        text = f"Wants {' '.join(source.choices(WORDS, k=6))} at {number} past {source.randrange(10**6)}."
        yield lambda text=text: memory.entries.save(text, kind="preference", topics=["coding"])  # type: ignore[misc]


def _triples(memory: Memory, count: int) -> Iterator[Callable[[], EntryResult]]:
    """New employers of people who have one; where they are too few, of the same people again."""
    employed = subjects(count, predicate="works_at")
    for number in range(SAVES):
        who, where = employed[number % len(employed)], f"{WORDS[number % len(WORDS)]} works {number}"
        yield lambda who=who, where=where: memory.facts.add(who, "works_at", where)  # type: ignore[misc]


def _evolutions(memory: Memory, made: Sequence[EntryResult]) -> Iterator[Callable[[], EntryResult]]:
    for number, each in enumerate(made):
        id_, text = each.fact.id, f"{each.fact.text.rstrip('.')}, and since lately also {number} more."
        yield lambda id_=id_, text=text: memory.entries.evolve(id_, text, reason="It has changed.")  # type: ignore[misc]


def _series(
    calls: Iterator[Callable[[], EntryResult]] | Sequence[Callable[[], EntryResult]],
    root: Path,
    *,
    wanted: str = "",
    keep: list[EntryResult] | None = None,
) -> dict[str, float]:
    """The times of these calls, and what each adds to the repository. Ends the program when one does another thing."""
    calls, told = list(calls), [] if keep is None else keep
    before, times = _bytes(root / ".git"), []
    for call in calls:
        begun = time.perf_counter()
        remembered = call()
        times.append(time.perf_counter() - begun)
        told.append(remembered)
        if remembered.action != wanted if wanted else remembered.action == "confirm":
            sys.exit(f"a save that should {wanted or 'be new'} was taken as {remembered.action}: {remembered.reason}")
    grown = (_bytes(root / ".git") - before) / len(calls) / 1000
    return {"n": len(calls), **_times(times), "repository_kb": round(grown, 1)}


def _questions(memory: Memory, count: int) -> Asks:
    """What is asked about entities with a usual number of facts."""
    source, facts, known = random.Random(9), memory.facts, subjects(count)
    return {
        "facts about an entity": lambda: facts.about(source.choice(known)),
        "timeline": lambda: facts.timeline(source.choice(known)),
        "true on a day": lambda: facts.about(source.choice(known), as_of=DAY),
        "known on a day": lambda: facts.about(source.choice(known), known=DAY),
        "facts of a topic, 50": lambda: facts.about(topic=source.choice(TOPICS), limit=50),
        "topics": lambda: memory.topics.list(),
        "search": lambda: memory.search(_message(source)),
    }


def _hub_questions(memory: Memory) -> Asks:
    """What is asked about the one entity of which much is known."""
    return {
        "facts about the hub": lambda: memory.facts.about(HUB),
        "its 50 most important": lambda: memory.facts.about(HUB, limit=50),
        "its timeline": lambda: memory.facts.timeline(HUB),
        "the hub on a day": lambda: memory.facts.about(HUB, as_of=DAY),
        "the hub as known on a day": lambda: memory.facts.about(HUB, known=DAY),
        "facts before a prompt": lambda: memory.facts.relevant("What does Person 1 like?"),
    }


def _inference(memory: Memory) -> Callable[[], object]:
    source = random.Random(11)
    return lambda: memory.topics.infer(_message(source))


def _message(source: random.Random) -> str:
    return " ".join(source.choices(WORDS, k=4))


def _asked(ask: Callable[[], object], *, target: float) -> dict[str, float]:
    """The first time, which may have to prepare something, and the times after it."""
    first, times = _seconds(ask), [_seconds(ask)]
    while len(times) < LEAST_ASKED or (len(times) < ASKED and sum(times) < LONGEST_S):
        times.append(_seconds(ask))
    return {"n": len(times), "first": _ms(first), **_times(times), "target": target}


def _times(seconds: Sequence[float]) -> dict[str, float]:
    return {
        "p50": _ms(percentile(seconds, 0.5)),
        "p95": _ms(percentile(seconds, 0.95)),
        "max": _ms(max(seconds)),
    }


def _seconds(call: Callable[[], object]) -> float:
    begun = time.perf_counter()
    call()
    return time.perf_counter() - begun


def _ms(seconds: float) -> float:
    return round(seconds * 1000, 2)


def _bytes(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def main() -> None:
    """Measure each size, print the tables, and keep them if so told."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--entries", type=int, nargs="+", default=[1000, 10_000], help="how many")
    options.add_argument("--model", type=Path, default=MODEL, help="folder with the encoder's weights")
    options.add_argument("--save", action="store_true", help="keep the figures in bench/results/entries-<commit>.json")
    chosen = options.parse_args()
    real = with_model(chosen.model)
    told: dict[str, Any] = {"sizes": []}
    with own_home() as home:
        for count in sorted(chosen.entries):
            say(f"{count} entries: writing")
            build(home / str(count), count)
            told["sizes"].append(measure(home / str(count), count, home / f"data-{count}"))
            if "real" not in told:
                told["real"] = measure_real(home / str(count), count, home / "data-real", real)
    print("\n".join(tables(told)))
    if chosen.save:
        print(f"saved in {save('entries', told)}")


if __name__ == "__main__":
    main()
