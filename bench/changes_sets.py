"""The labelled sets of `bench/changes.py` and `bench/readers.py`: those that decide, and those for development.

Those that decide lie in `bench/sets/changes`; their README says who wrote them. Those for development are in the data
folder, under `judgement`, with the memories of `needs_*.jsonl` as what else is known.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, NamedTuple

from bench import figures
from bench.memory_sets import CUES, NO_CUES, Cues, read_cues

from commonplace.model.request import NewEntry

DECIDING: Final = figures.HERE / "sets/changes"
MEMORY: Final = 670
"""Statements of the development memory, as many as the two deciding sets have together."""


class Pair(NamedTuple):
    """A known statement, a new one, and what the new one does to it."""

    kind: str
    known: str
    new: str


class Chain(NamedTuple):
    """Values of one property, the oldest first, each with the day on which it was said."""

    values: tuple[str, ...]
    days: tuple[str, ...]


class Correction(NamedTuple):
    """What is known of somebody, what the person then says, the places of the facts that are over, and what is new."""

    facts: tuple[str, ...]
    said: str
    ends: tuple[int, ...]
    new: str


@dataclass(frozen=True, slots=True)
class ChangeSet:
    """Labelled pairs, chains and corrections, and what else is known in the same memory.

    `cues` are what statements are about and when they matter, by whoever saw the statements alone.
    """

    name: str
    pairs: tuple[Pair, ...]
    chains: tuple[Chain, ...] = ()
    corrections: tuple[Correction, ...] = ()
    others: tuple[str, ...] = ()
    cues: Mapping[str, Cues] = field(default_factory=dict)

    def entry(self, text: str, **fields: Any) -> NewEntry:
        """The statement as it is saved, with its cues if the set has some."""
        return NewEntry(text, **self.cues.get(text, NO_CUES)._asdict(), **fields)

    @property
    def known(self) -> tuple[str, ...]:
        """All known statements, each once."""
        return tuple(dict.fromkeys((*(pair.known for pair in self.pairs), *self.others)))

    def of(self, *kinds: str) -> tuple[Pair, ...]:
        """The pairs of these kinds."""
        return tuple(pair for pair in self.pairs if pair.kind in kinds)


def deciding_set(authors: str = "ab", *, cues: bool = False) -> ChangeSet:
    """The deciding sets of these authors in one memory, filled up with what the other authors' memories hold.

    With `cues`, statements have theirs, where somebody has written them.
    """
    files = sorted(DECIDING.glob("author_*.jsonl"), key=lambda file: (file.stem[-1] not in authors, file.stem))
    lines = [line for file in files if file.stem[-1] in authors for line in _lines(file)]
    rest = [line["known"] for file in files if file.stem[-1] not in authors for line in _lines(file) if "known" in line]
    told = _deciding(lines)
    room = max(0, MEMORY - len(told.known))
    told = replace(told, others=(*told.others, *[text for text in rest if text not in told.known][:room]))
    if not cues:
        return told
    known = [read_cues(file, key="statement") for each in authors if (file := CUES / f"changes_{each}.jsonl").is_file()]
    return replace(told, cues={text: own for each in known for text, own in each.items()})


def _deciding(lines: Sequence[Mapping[str, Any]]) -> ChangeSet:
    chains = (line for line in lines if line["kind"] == "chain")
    corrections = (line for line in lines if line["kind"] == "correction")
    return ChangeSet(
        "deciding",
        tuple(Pair(line["kind"], line["known"], line["new"]) for line in lines if "known" in line and "new" in line),
        tuple(Chain(tuple(line["values"]), tuple(line["days"])) for line in chains),
        tuple(Correction(tuple(each["facts"]), each["said"], tuple(each["ends"]), each["new"]) for each in corrections),
        tuple(line["known"] for line in lines if line["kind"] == "filler"),
    )


def development_sets(data: Path) -> tuple[ChangeSet, ...]:
    """The pairs of each file, a set for each; none, with a message, if the data folder has no such files."""
    files = sorted((data / "judgement").glob("pairs_*.jsonl"))
    if not files:
        figures.say(f"no pairs_*.jsonl in {data / 'judgement'}: the rows of the development sets are left out")
    return tuple(
        ChangeSet(file.stem, tuple(Pair(each["label"], each["known"], each["new"]) for each in _lines(file)))
        for file in files
    )


def development_memory(sets: tuple[ChangeSet, ...], data: Path) -> ChangeSet:
    """All pairs for development in one memory of MEMORY statements."""
    pairs = tuple(pair for each in sets for pair in each.pairs)
    needs = [line for file in sorted((data / "judgement").glob("needs_*.jsonl")) for line in _lines(file)]
    others = dict.fromkeys(text for line in needs for text in line["memories"])
    known = {pair.known for pair in pairs}
    return ChangeSet("development", pairs, others=(*others,)[: MEMORY - len(known)])


def _lines(file: Path) -> Iterator[dict[str, Any]]:
    with file.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)
