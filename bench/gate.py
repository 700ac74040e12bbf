"""How well the gate at the door of memory tells what to keep from secrets, junk and duplicates.

Two sets of labelled examples: one that was written before the code, and one to develop with. What the gate missed in
the first was read once, in November 2026, and some of it was put right: since then its figures are no longer blind.
Texts of the first that stand verbatim in the second are left out; what the gate misses is listed for the second alone.

Whether something is staged is not measured here: trust and actor alone decide that, whatever the text says, and tests
hold it. A duplicate, and what only looks like one, meets one known text each, not a whole memory; the rest meet none.

Run it as `python bench/gate.py`; `--save` keeps the figures.
"""

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

sys.path.insert(0, str(Path(__file__).parent.parent))
from bench import figures
from bench.proportions import wilson
from bench.quality_tables import table

from commonplace.facts.claims import FactRules
from commonplace.facts.integrate import integrate
from commonplace.model import Candidate, Fact, FactRecord
from commonplace.screening.gate import gate
from commonplace.screening.narration import statement_of

EXAMPLES: Final = figures.ROOT / "tests/gate_examples"
SETS: Final = {"blind": "the set that counts", "development": "the set used for tuning"}
LABELS: Final = ("keep", "secret", "junk", "duplicate")
ABOUT: Final = """## Screening of new entries

Each example is a text with a label: keep, secret, junk or duplicate.
The gate judges it first; then the integrator decides whether it says the same words as something known.
Most of the duplicates say it in other words, which are kept beside the known ones until somebody has read both.
The blind set was written before the code; texts that are also in the development set, word for word, are left out.
Its eleven misses were read in November 2026 and some were put right, so figures since then are no longer blind.
Recall is the share of the texts with a label that get it, with Wilson's 95 % interval; precision is the share of the
texts given a label that have it.

**What this does not show**

- The sets are small and were written for this project: their proportions are not those of a real conversation, and
  precision depends on them.
- Each duplicate, and each text that only looks like one, is compared with one known text; in a vault it is compared
  with whatever is near.
- Staging: only trust and actor decide that, whatever the text says, and tests cover it.
- Nearly everything is English.
"""
_NOW: Final = "2026-06-01T00:00:00Z"


class Example(NamedTuple):
    """A text, what the gate should say to it, and the text that is known already, if any."""

    text: str
    label: str
    known: str | None


class Judged(NamedTuple):
    """An example and what the gate says to it."""

    example: Example
    found: str


def read(file: Path) -> list[Example]:
    """The examples of a file, in its order."""
    lines = [json.loads(line) for line in file.read_text().splitlines() if line.strip()]
    return [Example(line["text"], line["label"], line.get("known")) for line in lines]


def judge(examples: Sequence[Example]) -> list[Judged]:
    """What the gate, and after it the integrator, says to each."""
    return [Judged(example, _found(example)) for example in examples]


def apart_from(examples: Sequence[Example], others: Sequence[Example]) -> list[Example]:
    """The examples whose text stands in none of the others, letter by letter."""
    texts = {each.text for each in others}
    return [each for each in examples if each.text not in texts]


def figures_of(judged: Sequence[Judged]) -> dict[str, Any]:
    """Recall with its 95 % interval and precision of each label that occurs, and how often it was taken for each."""
    confusion = Counter((each.example.label, each.found) for each in judged)
    labels = [label for label in LABELS if any(label in pair for pair in confusion)]
    told: dict[str, Any] = {"examples": len(judged), "labels": {}, "confusion": {}}
    for label in labels:
        right = confusion[label, label]
        actual = sum(confusion[label, other] for other in LABELS)
        claimed = sum(confusion[other, label] for other in LABELS)
        told["labels"][label] = {
            "examples": actual,
            "recall": round(right / actual, 4) if actual else None,
            "interval": [round(end, 4) for end in wilson(right, actual)] if actual else None,
            "precision": round(right / claimed, 4) if claimed else None,
        }
        told["confusion"][label] = {other: confusion[label, other] for other in labels}
    return told


def tables(told: Mapping[str, Any]) -> Iterator[str]:
    """The sets of a run, in Markdown."""
    for name, title in SETS.items():
        if name in told:
            yield from [f"### {name}: {title}", "", *_set(told[name]), ""]


def _set(told: Mapping[str, Any]) -> Iterator[str]:
    labels = list(told["labels"])
    rows = [
        [
            label,
            row["examples"],
            _percent(row["recall"]),
            " to ".join(map(_percent, row["interval"])) if row["interval"] else "-",
            _percent(row["precision"]),
            *told["confusion"][label].values(),
        ]
        for label, row in told["labels"].items()
    ]
    heads = ["label", "n", "recall, %", "95 % interval", "precision, %", *(f"taken for {label}" for label in labels)]
    yield from table(heads, rows)
    yield ""
    if told["left_out"]:
        yield f"{told['left_out']} texts that are also in the development set are left out."
    yield f"{told['examples']} examples; {told['ms_per_2000_characters']} ms for a text of 2,000 characters."


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{share * 100:.1f}"


def speed_of(examples: Sequence[Example]) -> float:
    """Milliseconds for a text of 2,000 characters, the median of the kept examples put together."""
    kept = " ".join(example.text for example in examples if example.label == "keep")
    texts = [kept[at : at + 2_000] for at in range(0, max(1, len(kept) - 2_000), 500)]
    times = []
    for text in texts:
        begun = time.perf_counter()
        _gated(text)
        times.append(time.perf_counter() - begun)
    return round(figures.percentile(times, 0.5) * 1000, 2)


def main() -> None:
    """Judge both sets, print the tables, and keep them if so told."""
    chosen = _options().parse_args()
    found = {name: read(EXAMPLES / f"{name}.jsonl") for name in SETS}
    told: dict[str, Any] = {}
    judged: dict[str, list[Judged]] = {}
    for name, examples in found.items():
        counted = apart_from(examples, found["development"]) if name == "blind" else examples
        judged[name] = judge(counted)
        told[name] = {
            "left_out": len(examples) - len(counted),
            **figures_of(judged[name]),
            "ms_per_2000_characters": speed_of(counted),
        }
    print("\n".join([*tables(told), *_misses(judged["development"])]))
    if chosen.save:
        print(f"saved in {figures.save('gate', told)}")


def _gated(text: str) -> str:
    return gate(text, trust="told", always_load=False, actor="agent", staged_trusts=()).reason


def _found(example: Example) -> str:
    text = statement_of(example.text)
    if reason := _gated(text):
        return reason
    return "duplicate" if example.known is not None and _is_known(text, example.known) else "keep"


def _is_known(text: str, known: str) -> bool:
    """Whether the integrator confirms the known statement, with nothing known but that one."""
    fact = Fact(id="known", path="Agent/Memory/known.md", line=1, origin="entry", text=known, recorded=_NOW)
    return integrate(Candidate(text=text), [FactRecord(fact, None)], rules=FactRules(), now=_NOW).action == "confirm"


def _misses(judged: Sequence[Judged]) -> list[str]:
    missed = [each for each in judged if each.found != each.example.label]
    return [f"  {each.example.label} taken for {each.found}: {each.example.text[:100]!r}" for each in missed]


def _options() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--save", action="store_true", help="keep the figures in bench/results/gate-<commit>.json")
    return options


if __name__ == "__main__":
    main()
