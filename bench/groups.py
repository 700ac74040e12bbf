"""Which entries are near enough to be of one group, and how that was chosen.

A group orders its entries, gives each its day and lets the older ones give way; so it must find the values that changed
and leave alone what is independent. Of more entries, more are near by chance, so the floor rises with their number.

- independent: memories of 14 to 1,300 statements that have nothing to do with each other, their days at random: how
  many entries are in a group, and in how many contexts for a prompt a group changes what has room, its order or days;
- pairs: how many of the labelled pairs are near at the floor of each size, by label.

Each is printed for several floors, so that the chosen one can be seen among its neighbours. Everything is measured on
development data. Run it as `python bench/groups.py`; `--data` names another folder with judgement/ and memory2/.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, Final, NamedTuple

sys.path.insert(0, str(Path(__file__).parent.parent))
import numpy as np
import numpy.typing as npt
from bench import figures
from bench.quality_tables import table

from commonplace.context.selection import EntryMatch, fitting_entries
from commonplace.encoders.models import MINILM
from commonplace.encoders.onnx_encoder import OnnxEncoder
from commonplace.facts.claims import FactRules
from commonplace.facts.groups import Group, groups_of, near_from, near_words_from, newest_of
from commonplace.facts.words import claim_stems
from commonplace.model import Fact
from commonplace.questions.prompt_needs import need_of

SIZES: Final[Mapping[int, int]] = {14: 93, 35: 40, 100: 20, 300: 8, 670: 4, 1300: 2}
"""How many statements a memory has, and how many such memories are made."""
SHIFTS: Final = (-0.08, -0.04, 0.0, 0.04, 0.08)
"""What is added to the chosen floor."""
_POOL: Final = 48  # entries nearest to a prompt that are looked at, as many as a context looks at
_PROMPTS: Final = 600  # prompts of one size at most

Floats = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Holder:
    """A person with statements that are independent of each other, and prompts."""

    statements: tuple[str, ...]
    prompts: tuple[str, ...]


class LabelledPair(NamedTuple):
    """A known statement, a newer one, and what the newer one does to it."""

    label: str
    known: str
    new: str


class Texts:
    """Texts as unit vectors, and as the stems of their claim words; each text is encoded once."""

    def __init__(self, encoder: OnnxEncoder, texts: Sequence[str]) -> None:
        unique = [*dict.fromkeys(texts)]
        vectors = np.asarray(encoder.encode(unique), dtype=np.float32)
        self._rows: Floats = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        self._places = {text: place for place, text in enumerate(unique)}
        self._stems = {text: claim_stems(text) for text in unique}

    def cosines(self, one: Sequence[str], other: Sequence[str]) -> Floats:
        """The cosine of each of these texts with each of the others."""
        rows = (self._rows[[self._places[text] for text in texts]] for texts in (one, other))
        first, second = rows
        return np.asarray(first @ second.T)

    def shares(self, one: Sequence[str], other: Sequence[str]) -> Floats:
        """The share of common claim words of each of these texts with each of the others."""
        return np.array([[self._share(left, right) for right in other] for left in one], dtype=np.float32)

    def _share(self, one: str, other: str) -> float:
        left, right = self._stems[one], self._stems[other]
        return len(left & right) / len(left | right) if left | right else 0.0


def read_holders(folder: Path) -> list[Holder]:
    """The people of the judgement set."""
    lines = [line for name in ("needs_a", "needs_b") for line in _lines(folder / f"{name}.jsonl")]
    return [Holder(tuple(line["memories"]), tuple(each["p"] for each in line["prompts"])) for line in lines]


def read_pairs(data: Path) -> list[LabelledPair]:
    """The labelled pairs of the judgement set in English, and the replaced entries and updates of memory2."""
    lines = [line for name in ("pairs_a", "pairs_b") for line in _lines(data / f"judgement/{name}.jsonl")]
    pairs = [LabelledPair(line["label"], line["known"], line["new"]) for line in lines if line["lang"] == "en"]
    entries = [entry for line in _lines(data / "memory2/context.jsonl") for entry in line["entries"] if entry["old"]]
    pairs += [LabelledPair("update (memory2)", entry["old"], entry["text"]) for entry in entries]
    updates = [line for line in _lines(data / "memory2/gate.jsonl") if line["label"] == "update"]
    return pairs + [LabelledPair("update (memory2)", line["known"], line["text"]) for line in updates]


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def memories(holders: Sequence[Holder], size: int, count: int) -> Iterator[tuple[list[str], list[str]]]:
    """Memories of that size, each with prompts of the people whose statements are in it: whole people at first."""
    random = Random(size)
    for number in range(count):
        order = [holders[number % len(holders)], *random.sample(holders, len(holders))]
        whole = list(dict.fromkeys(order))[: max(1, size // 14)]
        statements = [text for each in whole for text in each.statements]
        others = [text for each in holders if each not in whole for text in each.statements]
        statements += random.sample(others, max(0, min(size - len(statements), len(others))))
        yield [*dict.fromkeys(statements)], [text for each in whole for text in each.prompts]


def grouped(statements: Sequence[str], likeness: Floats, floor: float, random: Random) -> tuple[Group, ...]:
    """The groups among the statements, each said on a day of its own, at random."""
    days = random.sample(range(len(statements)), len(statements))
    facts = [
        Fact(id=text, path=text, line=0, origin="entry", text=text, recorded=f"2026-01-01T{day:06d}")
        for text, day in zip(statements, days, strict=True)
    ]
    near = ((statements[one], statements[other]) for one, other in np.argwhere(np.triu(likeness, 1) >= floor))
    return groups_of(facts, near, rules=FactRules())


def independent(holders: Sequence[Holder], texts: Texts, *, by_words: bool) -> dict[str, Any]:
    """For each size and shift, the share of entries in a group and of contexts that a group changes."""
    told: dict[str, Any] = {}
    for size, count in SIZES.items():
        made = [*memories(holders, size, count)]
        counts = {shift: [0, 0, 0, 0] for shift in SHIFTS}
        for number, (statements, prompts) in enumerate(made):
            likeness = (texts.shares if by_words else texts.cosines)(statements, statements)
            asked = Random(number).sample(prompts, min(len(prompts), max(1, _PROMPTS // count)))
            for shift in SHIFTS:
                floor = (near_words_from if by_words else near_from)(size) + shift
                groups = grouped(statements, likeness, floor, Random(number))
                changed, shown = _contexts_changed(asked, statements, groups, texts)
                members = sum(len(group.entries) for group in groups)
                for place, more in enumerate((members, len(statements), changed, shown)):
                    counts[shift][place] += more
        told[str(size)] = {str(shift): each for shift, each in counts.items()}
    return told


def _contexts_changed(
    prompts: Sequence[str], statements: Sequence[str], groups: Sequence[Group], texts: Texts
) -> tuple[int, int]:
    """How many contexts a group changes, and how many have an entry at all."""
    newest, group_of = (
        newest_of(groups),
        {each.id: place for place, group in enumerate(groups) for each in group.entries},
    )
    changed = shown = 0
    for prompt, cosines in zip(prompts, texts.cosines(prompts, statements), strict=True):
        nearest = np.argsort(-cosines)[:_POOL]
        near = {statements[place]: EntryMatch(float(cosines[place]), 0.0) for place in nearest}
        present = {older: newer for older, newer in newest.items() if older in near and newer in near}
        plain = fitting_entries(near, need=need_of(prompt), count=len(statements))
        ours = fitting_entries(near, need=need_of(prompt), count=len(statements), newest=present)
        places = [group_of[each] for each in ours if each in group_of]
        shown += bool(plain)
        changed += bool(plain) and (plain != ours or len({*places}) < len(places))
    return changed, shown


def near_pairs(pairs: Sequence[LabelledPair], texts: Texts, *, by_words: bool) -> dict[str, Any]:
    """For each label, how many pairs there are and how many are near in a memory of each size."""
    measure = texts.shares if by_words else texts.cosines
    told: dict[str, Any] = {}
    for pair in pairs:
        row = told.setdefault(pair.label, {"pairs": 0} | {str(size): 0 for size in SIZES})
        row["pairs"] += 1
        likeness = float(measure([pair.known], [pair.new])[0, 0])
        for size in SIZES:
            row[str(size)] += likeness >= (near_words_from if by_words else near_from)(size)
    return told


def tables(told: Mapping[str, Any]) -> Iterator[str]:
    """The figures in Markdown."""
    for name, each in told.items():
        yield from [
            "",
            f"### Groups by {name}",
            "",
            "Independent statements: entries in a group | contexts changed:",
            "",
        ]
        heads = [
            "statements",
            *(f"floor {float(shift):+.2f}" if float(shift) else "**chosen**" for shift in map(str, SHIFTS)),
        ]
        rows = [
            [size, *(_shares(counts) for counts in shifts.values())] for size, shifts in each["independent"].items()
        ]
        yield from table(heads, rows)
        yield from ["", "Labelled pairs that are near, in a memory of so many:", ""]
        labels = [
            [label, row["pairs"], *(f"{row[str(size)] / row['pairs']:.0%}" for size in SIZES)]
            for label, row in each["pairs"].items()
        ]
        yield from table(["label", "pairs", *map(str, SIZES)], labels)


def _shares(counts: Sequence[int]) -> str:
    members, entries, changed, shown = counts
    return f"{members / max(entries, 1):.1%} \\| {changed / max(shown, 1):.1%}"


def main() -> None:
    """Measure, print the tables, and keep the figures if so told."""
    chosen = _options().parse_args()
    figures.with_model(chosen.model)
    holders, pairs = read_holders(chosen.data / "judgement"), read_pairs(chosen.data)
    every = [text for each in holders for text in (*each.statements, *each.prompts)]
    every += [text for pair in pairs for text in (pair.known, pair.new)]
    texts = Texts(OnnxEncoder(chosen.model, MINILM, variant="int8", tag="bench"), every)
    told = {
        name: {
            "independent": independent(holders, texts, by_words=by_words),
            "pairs": near_pairs(pairs, texts, by_words=by_words),
        }
        for name, by_words in (("meaning", False), ("words alone", True))
    }
    print("\n".join(tables(told)))
    if chosen.save:
        print(f"saved in {figures.save('groups', told)}")


def _options() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--data", type=Path, default=figures.DATA, help="folder with the labelled sets")
    options.add_argument("--model", type=Path, default=figures.MODEL, help="folder with the encoder's weights")
    options.add_argument("--save", action="store_true", help="keep the figures in bench/results/groups-<commit>.json")
    return options


if __name__ == "__main__":
    main()
