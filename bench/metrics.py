"""The measures of recall, exactly: pure functions of what was found, best first, and what should have been."""

import hashlib
import math
import random
import statistics
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

T = TypeVar("T")

FOLDS: Final = 5
BINS: Final = 10
RESAMPLES: Final = 2_000


def any_at(k: int, found: Sequence[T], gold: Collection[T]) -> float:
    """1 when at least one of the gold is among the first k, else 0."""
    return float(any(each in gold for each in found[:k]))


def strict_at(k: int, found: Sequence[T], gold: Collection[T]) -> float:
    """1 when all of the gold is among the first k, else 0; so 0 where there is more gold than k."""
    return float(set(gold) <= set(found[:k]))


def fraction_at(k: int, found: Sequence[T], gold: Collection[T]) -> float:
    """The share of the gold that is among the first k."""
    return len(set(gold) & set(found[:k])) / len(set(gold))


def ndcg_at(k: int, found: Sequence[T], gold: Collection[T]) -> float:
    """Gain of the first k, 1 / log2(rank + 1) for each of the gold, over that of all gold (of the corpus) put first."""
    gain = sum(1 / math.log2(rank + 1) for rank, each in enumerate(found[:k], start=1) if each in gold)
    return gain / sum(1 / math.log2(rank + 1) for rank in range(1, min(k, len(set(gold))) + 1))


def first_distinct(found: Sequence[T]) -> tuple[T, ...]:
    """Each of them once, where it stands first."""
    return tuple(dict.fromkeys(found))


def auc(higher: Sequence[float], lower: Sequence[float]) -> float:
    """How often a score of the first kind is above one of the second; a tie is half."""
    above = sum((one > other) + (one == other) / 2 for one in higher for other in lower)
    return above / (len(higher) * len(lower))


@dataclass(frozen=True, slots=True)
class Bin:
    """The questions whose confidence lies from `start` to below `end`: how many, their mean, and the share found."""

    start: float
    end: float
    n: int
    confidence: float
    found: float


def calibration(pairs: Sequence[tuple[float, bool]]) -> tuple[Bin, ...]:
    """Ten bins of confidence beside what came of it; those without a question are left out."""
    bins = []
    for number in range(BINS):
        inside = [pair for pair in pairs if min(int(pair[0] * BINS), BINS - 1) == number]
        if inside:
            means = (statistics.fmean(pair[part] for pair in inside) for part in (0, 1))
            bins.append(Bin(number / BINS, (number + 1) / BINS, len(inside), *means))
    return tuple(bins)


def calibration_error(bins: Sequence[Bin]) -> float:
    """How far confidence is from the share found, averaged over all questions (expected calibration error)."""
    return sum(each.n * abs(each.confidence - each.found) for each in bins) / sum(each.n for each in bins)


def spread(values: Mapping[str, float]) -> tuple[float, float]:
    """Mean and standard deviation of the means of five folds; a question's fold is a hash of its id."""
    folds: dict[int, list[float]] = {}
    for id_, value in values.items():
        folds.setdefault(int(hashlib.sha256(id_.encode()).hexdigest(), 16) % FOLDS, []).append(value)
    means = [statistics.fmean(fold) for fold in folds.values()]
    return statistics.fmean(means), statistics.stdev(means) if len(means) > 1 else 0.0


def interval(values: Sequence[float]) -> tuple[float, float]:
    """Between what the mean lies in 95 of 100 draws of as many questions, with repetition; always the same."""
    draw = random.Random(5)
    means = sorted(statistics.fmean(draw.choices(values, k=len(values))) for _ in range(RESAMPLES))
    return means[int(RESAMPLES * 0.025)], means[int(RESAMPLES * 0.975)]
