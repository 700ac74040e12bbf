"""What memory costs as it grows: saving, asking about an entity, its timeline, a day in the past, and a rebuild.

A vault of so many entries is generated, a third of them triples with their history, committed in one step and indexed
with the hashing encoder. Then entries are saved through the library, one commit each, and questions are asked in the
same warm process. As-of asks the two clocks of the entries; the lines of notes are not looked up in git here.

Run it as `python bench/entries.py`; `--entries 1000 10000 100000` for the largest too, `--save` keeps the figures.
"""

import argparse
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final
from uuid import UUID

sys.path.insert(0, str(Path(__file__).parent.parent))
from bench.figures import own_home, percentile, save, say

from commonplace.app import open_memory, put_under_git
from commonplace.memory import Memory

MOST_MS: Final = 20.0
SAVES: Final = 60
ASKED: Final = 200
BEGINS: Final = datetime(2021, 1, 1, tzinfo=UTC)
PEOPLE: Final = 2000
SINGLE: Final = ("works_at", "lives_in", "has_role")
MANY: Final = ("likes", "knows", "uses", "owns")
TOPICS: Final = ("coding", "garden", "travel", "music", "health", "money", "family", "books")
WORDS: Final = (
    "prefers",
    "tabs",
    "spaces",
    "concise",
    "reviews",
    "morning",
    "evening",
    "meetings",
    "quiet",
    "trains",
    "coffee",
    "tea",
    "winter",
    "river",
    "stone",
    "letter",
    "signal",
    "paper",
    "green",
    "blue",
    "small",
    "large",
    "early",
    "late",
    "never",
    "always",
)


def entries(count: int) -> Iterator[tuple[str, str]]:
    """So many entries with their paths, always the same: two thirds statements, a third triples about people.

    Of the triples with one value at a time each person's older ones are superseded, as the library leaves them.
    """
    source = random.Random(count)
    held: dict[tuple[int, str], str] = {}
    for number in range(count):
        at = BEGINS + timedelta(minutes=number * 30)
        id_ = _id(source, at)
        if number % 3:
            words = " ".join(source.choices(WORDS, k=9)).capitalize()
            yield _entry(id_, at, "preference", f"{words} {number}.", topic=source.choice(TOPICS))
            continue
        person = source.randrange(min(PEOPLE, max(1, count // 20)))
        predicate = source.choice((*SINGLE, *MANY))
        value = f"{source.choice(WORDS)} {source.choice(WORDS)} {number}"
        older = held.get((person, predicate), "") if predicate in SINGLE else ""
        held[person, predicate] = id_
        text = f"Person {person} {predicate.replace('_', ' ')} {value}."
        triple = {"subject": f"Person {person}", "predicate": predicate, "object": value, "supersedes": older}
        yield _entry(id_, at, "fact", text, topic=source.choice(TOPICS), **triple)


def _id(source: random.Random, at: datetime) -> str:
    value = int(at.timestamp() * 1000) << 80 | 0x7 << 76 | source.getrandbits(12) << 64
    return str(UUID(int=value | 0b10 << 62 | source.getrandbits(62)))


def _entry(id_: str, at: datetime, kind: str, text: str, *, topic: str, **keys: str) -> tuple[str, str]:
    moment, slug = f"{at:%Y-%m-%dT%H:%M:%SZ}", "-".join(text.lower().rstrip(".").split()[:5])
    named = "".join(f"{key}: {value}\n" for key, value in keys.items() if value and key != "supersedes")
    older = f"supersedes: {keys['supersedes']}\n" if keys.get("supersedes") else ""
    head = (
        f"id: {id_}\nkind: {kind}\nfact: {kind}\nstatus: active\nimportance: 0.5\ntopics:\n- {topic}\n{named}"
        f"valid_from: {at:%Y-%m-%d}\nrecorded: {moment}\n{older}source: {{interface: bench, trust: told}}\n"
        f"slug: {slug}\ncreated: {moment}\nupdated: {moment}\n"
    )
    return f"Agent/Memory/{kind}/{at:%Y-%m}/{slug}-{id_[-6:]}.md", f"---\n{head}---\n{text}\n"


def build(root: Path, count: int) -> None:
    """A vault of so many entries, committed and checked out."""
    root.mkdir()
    put_under_git(root)
    branch = _git(root, "symbolic-ref", "HEAD").strip()
    with tempfile.TemporaryFile() as script:
        script.write(f"commit {branch}\ncommitter B <b@localhost> 1767225600 +0000\ndata 5\nnotes\n".encode())
        script.write(f"from {branch}^0\n".encode())
        for path, text in entries(count):
            content = text.encode()
            script.write(b"M 100644 inline %s\ndata %d\n%s\n" % (path.encode(), len(content), content))
        script.seek(0)
        subprocess.run(["git", "fast-import", "--quiet"], cwd=root, stdin=script, check=True)
    _git(root, "reset", "--quiet", "--hard")


def _git(root: Path, *arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True, check=True).stdout


def measure(root: Path, count: int, data: Path) -> dict[str, Any]:
    """Everything for one size."""
    settings: dict[str, object] = {"data": str(data), "embedding.provider": "hashing"}
    with open_memory(root, settings=settings) as memory:
        say(f"{count} entries: indexing")
        first = _seconds(memory.index.sync)
        say(f"{count} entries: saving {SAVES}")
        saves, confirms = _saves(memory)
        asked = {name: _asked(ask) for name, ask in _questions(memory, count).items()}
        say(f"{count} entries: rebuilding")
        rebuild = _seconds(memory.index.rebuild)
        facts = len(memory.facts.about("Person 1", every=True))
    return {
        "entries": count,
        "first_index_s": round(first, 1),
        "rebuild_s": round(rebuild, 1),
        "save_p50_ms": _ms(percentile(saves, 0.5)),
        "save_p95_ms": _ms(percentile(saves, 0.95)),
        "confirm_p50_ms": _ms(percentile(confirms, 0.5)),
        "facts_of_an_entity": facts,
        "asked_ms": asked,
        "repository_mb": round(_size(root / ".git") / 1e6, 1),
        "notes_mb": round(_size(root / "Agent") / 1e6, 1),
        "data_mb": round(_size(data) / 1e6, 1),
    }


def _saves(memory: Memory) -> tuple[list[float], list[float]]:
    """Seconds of each save of something new, and of each save of the same again."""
    source, saves, confirms = random.Random(5), [], []
    memory.entries.save("The first one warms the process up.", kind="preference")
    for number in range(SAVES):
        text = f"Wants {' '.join(source.choices(WORDS, k=6))} at {number} past {source.randrange(10**6)}."
        saves.append(_seconds(lambda text=text: memory.entries.save(text, kind="preference", topics=["coding"])))  # type: ignore[misc]
        if number % 6 == 0:
            confirms.append(_seconds(lambda text=text: memory.entries.save(text, kind="preference")))  # type: ignore[misc]
    return saves, confirms


def _questions(memory: Memory, count: int) -> dict[str, Callable[[], object]]:
    source, facts = random.Random(9), memory.facts
    people = min(PEOPLE, max(1, count // 20))

    def person() -> str:
        return f"Person {source.randrange(people)}"

    return {
        "facts about an entity": lambda: facts.about(person()),
        "timeline": lambda: _timeline(memory, person()),
        "as of a day": lambda: facts.about(person(), as_of="2021-03-01", lines=False),
        "known today of a day": lambda: facts.about(person(), as_of="2021-03-01", known="now"),
        "facts of a topic, 50": lambda: facts.about(topic=source.choice(TOPICS), limit=50),
        "topics": lambda: memory.topics.list(),
        "search": lambda: memory.search(" ".join(source.choices(WORDS, k=4))),
    }


def _timeline(memory: Memory, person: str) -> int:
    return len(memory.facts.timeline(person)) if memory.facts.about(person, every=True, limit=1) else 0


def _asked(ask: Callable[[], object]) -> dict[str, float]:
    ask()
    times = [_seconds(ask) for _ in range(ASKED)]
    return {"p50": _ms(percentile(times, 0.5)), "p95": _ms(percentile(times, 0.95)), "max": _ms(max(times))}


def _seconds(call: Callable[[], object]) -> float:
    begun = time.perf_counter()
    call()
    return time.perf_counter() - begun


def _ms(seconds: float) -> float:
    return round(seconds * 1000, 2)


def _size(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def show(told: dict[str, Any], first: dict[str, Any]) -> None:
    """Print one size."""
    growth = told["save_p50_ms"] / first["save_p50_ms"]
    print(
        f"{told['entries']} entries: first index {told['first_index_s']} s, rebuild {told['rebuild_s']} s\n"
        f"  save p50 {told['save_p50_ms']} ms, p95 {told['save_p95_ms']} ms ({growth:.2f}x that of "
        f"{first['entries']}), the same again {told['confirm_p50_ms']} ms\n"
        f"  repository {told['repository_mb']} MB, notes {told['notes_mb']} MB, derived data {told['data_mb']} MB"
    )
    for name, times in told["asked_ms"].items():
        print(f"  {name}: p50 {times['p50']} ms, p95 {times['p95']} ms, longest {times['max']} ms")
    worst = max(times["p95"] for times in told["asked_ms"].values())
    print(f"  target {'met' if worst <= MOST_MS else 'MISSED'}: no question over {MOST_MS:g} ms (p95; worst {worst})")


def main() -> None:
    """Measure each size."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--entries", type=int, nargs="+", default=[1000, 10_000], help="how many")
    options.add_argument("--save", action="store_true", help="keep the figures in bench/results/entries-<commit>.json")
    chosen = options.parse_args()
    told: list[dict[str, Any]] = []
    with own_home() as home:
        for count in chosen.entries:
            say(f"{count} entries: writing")
            build(home / str(count), count)
            told.append(measure(home / str(count), count, home / f"data-{count}"))
            show(told[-1], told[0])
    if chosen.save:
        print(f"saved in {save('entries', {'sizes': told})}")


if __name__ == "__main__":
    main()
