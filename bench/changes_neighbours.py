"""Whether the entry that a new statement is about is among those that a save shows; by meaning and words, and by each.

All that is known lies in one memory; each new statement is saved as a dry run, so that none is known to the next one.
The curves come from the scores of the same comparisons, ranked again with other floors and weights.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from statistics import mean
from typing import Any, Final, NamedTuple
from unittest.mock import patch

from bench.changes_saves import Saver
from bench.changes_sets import ChangeSet
from bench.memory_vault import Opener, new_vault

from commonplace.flows.memory import neighbours as product
from commonplace.flows.memory import save as saving
from commonplace.memory import Memory
from commonplace.model import Candidate, Fact
from commonplace.model.entry_field import made_from
from commonplace.model.request import NewEntry

FLOORS: Final = (0.0, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5)
WEIGHTS: Final = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.75, 1.0)
OVER: Final = (0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.8, 0.9)
ALONE: Final = (0.0, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4)


class Score(NamedTuple):
    """How near an entry is: the cosine, None if it was not compared, and the score of shared words."""

    id: str
    cosine: float | None
    words: float


class Compared(NamedTuple):
    """A new statement of a pair, the known entry's id, what the save shows, and all scores."""

    kind: str
    known: str
    shown: tuple[str, ...]
    scores: tuple[Score, ...]


def compare_all(told: ChangeSet, opener: Opener, folder: Path) -> list[Compared]:
    """Every new statement compared with the memory of all that is known."""
    new_vault(folder)
    compared = []
    with opener.on_disk(folder) as (memory, clock):
        saver = Saver(memory, clock, cues=told.cues)
        known = saver.save_all(told.known, begins=datetime(2026, 5, 1, 8, tzinfo=UTC))
        clock.set_to = datetime(2026, 6, 1, tzinfo=UTC)
        for pair in told.pairs:
            result = saver.save(NewEntry(pair.new, dry_run=True)) if pair.known in known else None
            if result and result.action != "confirm":
                shown = tuple(each.fact.id for each in result.neighbours)
                compared.append(Compared(pair.kind, known[pair.known].id, shown, _scores(memory, result.fact)))
    return compared


def _scores(memory: Memory, fact: Fact) -> tuple[Score, ...]:
    session = memory.entries._session  # noqa: SLF001 (the flow is measured below the library)
    with patch.object(product, "_SHARED_WORDS", 1.0):
        found = product.nearest(made_from(Candidate, fact), session)
    return tuple(Score(each.fact.id, cosine, score - (cosine or 0.0)) for each, score, cosine in found.entries)


def by_meaning_and_words(scores: Sequence[Score], *, weight: float, floor: float) -> list[str]:
    """The ids that are nearest if shared words add this much to the cosine; with no weight, by cosine alone."""
    counted = [each for each in scores if weight or each.cosine is not None]
    return _first([((each.cosine or 0.0) + weight * each.words, each.id) for each in counted], floor)


def by_words(scores: Sequence[Score], *, floor: float) -> list[str]:
    """The ids that are shown where there is no encoder."""
    return _first([(each.words, each.id) for each in scores if each.words > 0], floor)


def _first(scored: Sequence[tuple[float, str]], floor: float) -> list[str]:
    ranked = sorted((each for each in scored if each[0] >= floor), key=lambda each: (-each[0], each[1]))
    return [id for _, id in ranked[: product.MOST]]


def neighbour_figures(compared: Sequence[Compared]) -> dict[str, Any]:
    """How often the known entry is shown, by kind, and how many an unrelated save lists: as built and otherwise."""
    weight, floor = product._SHARED_WORDS, product.FLOOR  # noqa: SLF001 (the constants that are measured)
    alone = product.WORDS_ALONE
    ways: dict[str, list[Sequence[str]]] = {
        "as built": [each.shown for each in compared],
        "by cosine alone": [by_meaning_and_words(each.scores, weight=0.0, floor=floor) for each in compared],
        "by cosine alone, no floor": [by_meaning_and_words(each.scores, weight=0.0, floor=-1.0) for each in compared],
        "by words alone": [by_words(each.scores, floor=alone) for each in compared],
    }
    return {
        "constants": {"FLOOR": floor, "_SHARED_WORDS": weight, "WORDS_ALONE": alone, "_OVER": saving._OVER},  # noqa: SLF001
        "pairs": {
            kind: sum(each.kind == kind for each in compared) for kind in sorted({each.kind for each in compared})
        },
        "ways": {way: _shown(compared, lists) for way, lists in ways.items()},
        "floors": [
            {
                "floor": each,
                "built": _shown(
                    compared, [by_meaning_and_words(one.scores, weight=weight, floor=each) for one in compared]
                ),
                "cosine": _shown(
                    compared, [by_meaning_and_words(one.scores, weight=0.0, floor=each) for one in compared]
                ),
            }
            for each in FLOORS
        ],
        "weights": [
            {
                "weight": each,
                **_shown(compared, [by_meaning_and_words(one.scores, weight=each, floor=-1.0) for one in compared]),
            }
            for each in WEIGHTS
        ],
        "alone": [
            {"floor": each, **_shown(compared, [by_words(one.scores, floor=each) for one in compared])}
            for each in ALONE
        ],
        "over": [{"floor": each, **_over(compared, weight=weight, floor=each)} for each in OVER],
        "over_cosine": [{"floor": each, **_over(compared, weight=0.0, floor=each)} for each in OVER],
    }


def _shown(compared: Sequence[Compared], lists: Sequence[Sequence[str]]) -> dict[str, Any]:
    """By kind, in how many lists the known entry is; and how long the lists of unrelated saves are."""
    kinds = sorted({each.kind for each in compared})
    hits = {
        kind: sum(each.known in ids for each, ids in zip(compared, lists, strict=True) if each.kind == kind)
        for kind in kinds
    }
    apart = [len(ids) for each, ids in zip(compared, lists, strict=True) if each.kind in ("independent", "unrelated")]
    return {"shown": hits, "listed": round(mean(apart), 2) if apart else None}


def _over(compared: Sequence[Compared], *, weight: float, floor: float) -> dict[str, int]:
    """By kind, how many would wait if they were said before the known entry ended, and are learned later."""
    near = [
        each.kind
        for each in compared
        if any(one.id == each.known and (one.cosine or 0.0) + weight * one.words >= floor for one in each.scores)
    ]
    return {kind: near.count(kind) for kind in sorted({each.kind for each in compared})}
