"""What a new statement does to a known one: confirms it, changes it, or stands beside it; and how that was calibrated.

Pairs of a known and a new statement, each with what the new one should do: pairs that were written for this, and the
labelled sets of a data folder. The rules decide by words and by the cosine of the real encoder, without a vault.

- pairs: how often each label gets what it should;
- one memory: all known statements of a set together, and whether a new one confirms or ends one that it is not about;
- curves: the same two for several values of each threshold, so that the chosen one can be seen among its neighbours.

Run it as `python bench/changes.py`; `--data` names another folder with gate.jsonl and context.jsonl, `--verbose` lists
what was missed, `--save` keeps the figures.
"""

import argparse
import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple
from unittest.mock import patch

sys.path.insert(0, str(Path(__file__).parent.parent))
import numpy as np
from bench import figures
from bench.memory_sets import memory_folder, read_candidates, read_people
from bench.quality_tables import table

from commonplace.encoders.models import MINILM
from commonplace.encoders.onnx_encoder import OnnxEncoder
from commonplace.facts import similarity as similarity_rules
from commonplace.facts import statement_differences
from commonplace.facts.claims import FactRules
from commonplace.facts.integrate import integrate
from commonplace.model import Candidate, Fact, FactRecord, SimilarFact, Verdict
from commonplace.screening.narration import statement_of

OWN_PAIRS: Final = figures.ROOT / "tests/change_examples/pairs.jsonl"
ACTIONS: Final = {"update": ("supersede",), "duplicate": ("confirm",), "keep": ("insert", "extend")}
CURVES: Final[Mapping[str, Sequence[float]]] = {
    "CLOSE": (0.5, 0.6, 0.65, 0.7, 0.75, 0.8),
    "LIKELY": (0.4, 0.45, 0.5, 0.55, 0.6),
    "ABOUT": (0.2, 0.25, 0.3, 0.35, 0.4, 0.5),
    "MANY_SHARED": (0.6, 0.75, 0.9, 1.1),
    "COVERED": (0.45, 0.5, 0.55, 0.6, 0.7, 0.8),
}
_NOW: Final = "2026-06-01T00:00:00Z"
_COMPARED: Final = 48  # known statements nearest to a new one, as many as a save compares at most


class Pair(NamedTuple):
    """A new statement, the known one, and what the new one should do to it."""

    label: str
    text: str
    known: str


@dataclass(frozen=True, slots=True)
class PairSet:
    """Pairs, and other statements that are known beside them."""

    name: str
    pairs: tuple[Pair, ...]
    others: tuple[str, ...] = ()


class Cosines:
    """The cosines of texts; each text is encoded once."""

    def __init__(self, encoder: OnnxEncoder, texts: Iterable[str]) -> None:
        self._rows = {text: row for row, text in enumerate(dict.fromkeys(texts))}
        vectors = encoder.encode([*self._rows])
        unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        self._all = unit @ unit.T

    def of(self, one: str, other: str) -> float:
        """The cosine of two of the texts."""
        return float(self._all[self._rows[one], self._rows[other]])


def read_sets(data: Path | None) -> list[PairSet]:
    """The pairs written for this, then those of the data folder if there is one."""
    lines = [json.loads(line) for line in OWN_PAIRS.read_text(encoding="utf-8").splitlines()]
    sets = [PairSet("own", tuple(_saved(line["label"], line["text"], line["known"]) for line in lines))]
    if data is None:
        return sets
    folder = memory_folder(data)
    pairs = [_saved(each.label, each.text, each.known) for each in read_candidates(folder) if each.known]
    people = read_people(folder)
    entries = [entry for person in people for entry in person.entries]
    pairs += [_saved("update", entry.text, entry.old) for entry in entries if entry.old]
    others = tuple(entry.text for entry in entries if not entry.old)
    return [*sets, PairSet("data", tuple(pair for pair in pairs if pair.label in ACTIONS), others)]


def _saved(label: str, text: str, known: str) -> Pair:
    """The pair as a save has it: without the words around the statements."""
    return Pair(label, statement_of(text), statement_of(known))


def verdict_on(text: str, known: Sequence[str], cosines: Cosines) -> Verdict:
    """What becomes of a new statement beside these known ones; the target is the known text."""
    near = sorted(known, key=lambda each: -cosines.of(text, each))[:_COMPARED]
    facts = [Fact(id=each, path=each, line=0, origin="entry", text=each, recorded="2026-01-01") for each in near]
    similar = [SimilarFact(FactRecord(fact, None), cosines.of(text, fact.text)) for fact in facts]
    return integrate(Candidate(text=text), similar, rules=FactRules(), now=_NOW)


def score(pairs: PairSet, cosines: Cosines) -> dict[str, Any]:
    """How often each label gets what it should, with what was missed; and the mistakes in one memory."""
    missed = []
    counts = {label: [0, 0] for label in ACTIONS}
    for pair in pairs.pairs:
        action = verdict_on(pair.text, [pair.known], cosines).action
        counts[pair.label][1] += 1
        counts[pair.label][0] += action in ACTIONS[pair.label]
        if action not in ACTIONS[pair.label]:
            missed.append([pair.label, action, round(cosines.of(pair.text, pair.known), 2), pair.text, pair.known])
    return {"labels": counts, "missed": missed, **_in_one_memory(pairs, cosines)}


def _in_one_memory(pairs: PairSet, cosines: Cosines) -> dict[str, Any]:
    """How many new statements confirm or end a known one that they are not about, of all known ones together."""
    known = [*dict.fromkeys((*(pair.known for pair in pairs.pairs), *pairs.others))]
    wrong = []
    for pair in pairs.pairs:
        verdict = verdict_on(pair.text, [each for each in known if each != pair.text], cosines)
        is_wrong = verdict.action in ("supersede", "confirm") and (pair.label == "keep" or verdict.target != pair.known)
        if is_wrong:
            wrong.append([verdict.action, pair.text, verdict.target])
    return {"known": len(known), "statements": len(pairs.pairs), "wrong": wrong}


def curves(sets: Sequence[PairSet], cosines: Cosines) -> dict[str, Any]:
    """The scores of each set for each value of each threshold."""
    return {
        name: {str(value): [_with_threshold(name, value, each, cosines) for each in sets] for value in values}
        for name, values in CURVES.items()
    }


def _with_threshold(name: str, value: float, pairs: PairSet, cosines: Cosines) -> dict[str, Any]:
    with ExitStack() as stack:
        for module in (similarity_rules, statement_differences):
            if hasattr(module, name):
                stack.enter_context(patch.object(module, name, value))
        scored = score(pairs, cosines)
    return {"labels": scored["labels"], "wrong": len(scored["wrong"])}


def tables(told: Mapping[str, Any], *, verbose: bool) -> Iterator[str]:
    """The scores of each set, then a curve for each threshold, in Markdown."""
    yield from ["### Changed values, paraphrases and what stands beside", ""]
    heads = ["set", *(f"{label} right" for label in ACTIONS), "wrong target in one memory"]
    yield from table(heads, [[name, *_cells(each)] for name, each in told["sets"].items()])
    for name, values in told["curves"].items():
        chosen = getattr(statement_differences, name, None) or getattr(similarity_rules, name)
        yield from ["", f"`{name}`, chosen {chosen}:", ""]
        rows = [[value, *(cell for each in scored for cell in _cells(each))] for value, scored in values.items()]
        yield from table(["value", *(f"{each}: {head}" for each in told["sets"] for head in heads[1:])], rows)
    if verbose:
        for name, each in told["sets"].items():
            rows = [*each["missed"], *(["one memory", action, "", *rest] for action, *rest in each["wrong"])]
            yield from ["", f"Missed in {name}:", "", *table(["label", "got", "cosine", "new", "known"], rows)]


def _cells(scored: Mapping[str, Any]) -> Iterator[str]:
    for right, count in scored["labels"].values():
        yield f"{right}/{count}"
    wrong = scored["wrong"]
    yield f"{len(wrong)} of {scored['statements']}, {scored['known']} known" if isinstance(wrong, list) else str(wrong)


def main() -> None:
    """Score the sets, print the tables and the curves, and keep them if so told."""
    chosen = _options().parse_args()
    figures.with_model(chosen.model)
    sets = read_sets(chosen.data if chosen.data.is_dir() else None)
    texts = (text for each in sets for text in (*each.others, *(part for pair in each.pairs for part in pair[1:])))
    cosines = Cosines(OnnxEncoder(chosen.model, MINILM, variant="int8", tag="bench"), texts)
    told = {"sets": {each.name: score(each, cosines) for each in sets}, "curves": curves(sets, cosines)}
    print("\n".join(tables(told, verbose=chosen.verbose)))
    if chosen.save:
        print(f"saved in {figures.save('changes', told)}")


def _options() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--data", type=Path, default=figures.DATA, help="folder with the labelled sets of memory")
    options.add_argument("--model", type=Path, default=figures.MODEL, help="folder with the encoder's weights")
    options.add_argument("--verbose", action="store_true", help="list what was missed")
    options.add_argument("--save", action="store_true", help="keep the figures in bench/results/changes-<commit>.json")
    return options


if __name__ == "__main__":
    main()
