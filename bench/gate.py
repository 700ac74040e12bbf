"""How well the gate at the door of memory tells what to keep from secrets, junk and duplicates.

Two sets of labelled examples: one that was written before the code and that nobody tuned by, and one to develop with.
Only the first, blind one counts; what the gate misses is listed for the second alone.

Run it as `python bench/gate.py`; `--save` keeps the figures.
"""

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

sys.path.insert(0, str(Path(__file__).parent.parent))
from bench import figures

from commonplace.encoders.base import EncoderProvider
from commonplace.encoders.minilm import MiniLM
from commonplace.facts.claims import FactRules
from commonplace.facts.integrate import integrate
from commonplace.model import Candidate, Fact, Known, Near
from commonplace.policy.gate import gate

EXAMPLES: Final = figures.ROOT / "tests/gate_examples"
SETS: Final = {"blind": "the half that counts", "development": "the half the gate was tuned by"}
LABELS: Final = ("keep", "secret", "junk", "duplicate")
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


def judge(examples: Sequence[Example], encoder: EncoderProvider) -> list[Judged]:
    """What the gate, and after it the integrator, says to each."""
    return [Judged(example, _found(example, encoder)) for example in examples]


def figures_of(judged: Sequence[Judged]) -> dict[str, Any]:
    """Recall and precision of each label that occurs, and the confusion: how often each label was taken for each."""
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
            "precision": round(right / claimed, 4) if claimed else None,
        }
        told["confusion"][label] = {other: confusion[label, other] for other in labels}
    return told


def table(name: str, told: dict[str, Any]) -> list[str]:
    """The figures of a set as lines."""
    lines = [f"\n{name}, {SETS[name]}: {told['examples']} examples"]
    lines.append(f"{'':<12}{'examples':>9}{'recall':>9}{'precision':>11}   taken for " + ", ".join(told["labels"]))
    for label, row in told["labels"].items():
        shares = "".join(f"{'-' if row[key] is None else format(row[key], '.1%'):>{wide}}" for key, wide in _SHARES)
        taken = ", ".join(str(count) for count in told["confusion"][label].values())
        lines.append(f"{label:<12}{row['examples']:>9}{shares}   {taken}")
    return lines


_SHARES: Final = (("recall", 9), ("precision", 11))


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
    figures.with_model(chosen.model)
    encoder = MiniLM(chosen.model, variant="int8", tag="bench")
    told: dict[str, Any] = {}
    for name in SETS:
        file = EXAMPLES / f"{name}.jsonl"
        if not file.is_file():
            print(f"no {file.relative_to(figures.ROOT)}: that set is left out")
            continue
        examples = read(file)
        judged = judge(examples, encoder)
        told[name] = {**figures_of(judged), "ms_per_2000_characters": speed_of(examples)}
        print("\n".join(table(name, told[name])))
        print(f"{told[name]['ms_per_2000_characters']} ms for 2,000 characters")
        if name == "development":
            print("\n".join(_misses(judged)))
    print("\nOnly the blind half counts: the gate was tuned by the other.")
    if chosen.save:
        print(f"saved in {figures.save('gate', told)}")


def _gated(text: str) -> str:
    return gate(text, trust="told", always_load=False, actor="agent", staged_trusts=()).reason


def _found(example: Example, encoder: EncoderProvider) -> str:
    if reason := _gated(example.text):
        return reason
    return "duplicate" if example.known is not None and _is_known(example.text, example.known, encoder) else "keep"


def _is_known(text: str, known: str, encoder: EncoderProvider) -> bool:
    """Whether the integrator confirms the known statement, with nothing known but that one."""
    one, other = encoder.encode([text, known])
    fact = Fact(id="known", path="Agent/Memory/known.md", line=1, origin="entry", text=known, recorded=_NOW)
    near = [Near(Known(fact, None), float(one @ other))]
    return integrate(Candidate(text=text), near, rules=FactRules(), now=_NOW).action == "confirm"


def _misses(judged: Sequence[Judged]) -> list[str]:
    missed = [each for each in judged if each.found != each.example.label]
    return [f"  {each.example.label} taken for {each.found}: {each.example.text[:100]!r}" for each in missed]


def _options() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--model", type=Path, default=figures.MODEL, help="folder with the encoder's weights")
    options.add_argument("--save", action="store_true", help="keep the figures in bench/results/gate-<commit>.json")
    return options


if __name__ == "__main__":
    main()
