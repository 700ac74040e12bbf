"""From what was found to the figures: by set, mode and type, with n; spread, rejection and ablation."""

import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from typing import Any, Final

from bench.metrics import (
    any_at,
    auc,
    calibration,
    calibration_error,
    first_distinct,
    fraction_at,
    interval,
    ndcg_at,
    spread,
    strict_at,
)
from bench.plan import ADVERSARIAL, Plan, store_of, ways
from bench.questions import UNANSWERABLE, Question
from bench.stores import Ask, Found, Way

Answers = Mapping[Ask, Found]
Values = Mapping[str, Mapping[str, float]]
"""By question, then by measure."""

DOCUMENTS: Final[Mapping[str, Callable[..., float]]] = {
    "any@5": partial(any_at, 5),
    "any@10": partial(any_at, 10),
    "strict@5": partial(strict_at, 5),
    "strict@10": partial(strict_at, 10),
    "fractional@5": partial(fraction_at, 5),
    "fractional@10": partial(fraction_at, 10),
    "nDCG@10": partial(ndcg_at, 10),
}
TURNS: Final[Mapping[str, Callable[..., float]]] = {
    "fraction@5": partial(fraction_at, 5),
    "fraction@10": partial(fraction_at, 10),
    "any@5": partial(any_at, 5),
}
LEVELS: Final = ("documents", "turns")
HEADLINES: Final = (
    ("longmemeval", "documents", "all", ("any@5", "strict@5", "strict@10")),
    ("longmemeval", "turns", "all", ("fraction@5",)),
    ("4x", "documents", "all", ("strict@5", "strict@10")),
    ("locomo", "documents", "1-4", ("strict@5", "strict@10", "fractional@10")),
    ("locomo", "turns", "1-4", ("fraction@5",)),
    ("scifact", "documents", "test", ("nDCG@10",)),
)


def figures_of(plan: Plan, answers: Answers) -> dict[str, Any]:
    """All figures of a run."""
    measured = [name for name in plan.sets if name != "rejection"]
    told: dict[str, Any] = {"sets": {name: _tables(name, plan, answers) for name in measured}}
    if "locomo" in measured:
        told["sets"]["locomo"]["dropped"] = plan.locomo.dropped
    told["headlines"] = list(_headlines(plan, answers)) if "hybrid" in plan.modes else []
    if "rejection" in plan.sets:
        told["rejection"] = _rejection(plan, answers)
    if plan.parts:
        told["ablation"] = list(_ablation(plan, answers))
    return told


def _tables(name: str, plan: Plan, answers: Answers) -> dict[str, Any]:
    """By level and mode: a row for each type with n, and one for all."""
    tables: dict[str, Any] = {}
    for mode in plan.modes:
        for level, way in zip(LEVELS, ways(mode), strict=True):
            if values := _values(name, plan.questions(name), way, answers):
                tables.setdefault(level, {})[mode] = _rows(name, plan.questions(name), values)
    return tables


def _values(name: str, questions: Sequence[Question], way: Way, answers: Answers) -> Values:
    """What each question is worth by each measure; those without gold at this level are left out."""
    values = {}
    for question in questions:
        found = answers.get(Ask(store_of(name, question), question.id, way))
        if found and way.by == "document":
            values[question.id] = {key: of(found.documents, question.gold) for key, of in DOCUMENTS.items()}
        elif found and question.gold_turns:
            places = first_distinct(found.places)
            values[question.id] = {key: of(places, question.gold_turns) for key, of in TURNS.items()}
    return values


def _rows(name: str, questions: Sequence[Question], values: Values) -> dict[str, dict[str, float]]:
    groups: dict[str, list[Mapping[str, float]]] = {}
    for question in questions:
        for group in _groups(name, question) if question.id in values else ():
            groups.setdefault(group, []).append(values[question.id])
    return {group: {"n": len(inside), **_means(inside)} for group, inside in sorted(groups.items())}


def _groups(name: str, question: Question) -> tuple[str, ...]:
    """The rows in which a question counts."""
    if name == "scifact":
        return (question.type,)
    if name == "locomo":
        return (question.type,) if question.type == ADVERSARIAL else (question.type, "1-4")
    return (question.type, "all")


def _means(values: Sequence[Mapping[str, float]]) -> dict[str, float]:
    return {measure: round(statistics.fmean(each[measure] for each in values), 4) for measure in values[0]}


def _headlines(plan: Plan, answers: Answers) -> Iterator[dict[str, Any]]:
    """The measures that have a target, with their spread over folds and their interval."""
    for name, level, group, measures in HEADLINES:
        if name not in plan.sets:
            continue
        inside = [question for question in plan.questions(name) if group in _groups(name, question)]
        values = _values(name, inside, ways("hybrid")[LEVELS.index(level)], answers)
        for measure in measures:
            single = {id_: each[measure] for id_, each in values.items()}
            mean, deviation = spread(single)
            low, high = interval(list(single.values()))
            yield {
                "set": name,
                "level": level,
                "group": group,
                "measure": measure,
                "n": len(single),
                "value": round(statistics.fmean(single.values()), 4),
                "folds": [round(mean, 4), round(deviation, 4)],
                "interval": [round(low, 4), round(high, 4)],
            }


def _rejection(plan: Plan, answers: Answers) -> dict[str, Any]:
    """How well confidence tells what can be answered from what cannot."""

    def sure(questions: Sequence[Question], *, away: bool = False) -> list[float]:
        stores = (plan.elsewhere(each) if away else each.store for each in questions)
        return [_confidence(answers, store, each) for store, each in zip(stores, questions, strict=True)]

    without = [each for each in plan.with_unanswerable() if each.type == UNANSWERABLE]
    answerable = plan.questions("longmemeval")
    locomo = [each for each in plan.questions("locomo") if each.type != ADVERSARIAL]
    pairs = [
        ("LongMemEval, answerable or not, own haystack", sure(answerable), sure(without)),
        ("LongMemEval, own haystack or another's", sure(answerable), sure(answerable, away=True)),
        ("LoCoMo 1-4, own conversation or another", sure(locomo), sure(locomo, away=True)),
    ]
    bins = calibration(
        [
            *zip(sure(answerable), (_is_found(each, answers) for each in answerable), strict=True),
            *((confidence, False) for confidence in sure(answerable, away=True)),
        ]
    )
    return {
        "auc": [
            {"what": what, "answerable": len(own), "not": len(other), "auc": round(auc(own, other), 4)}
            for what, own, other in pairs
            if own and other
        ],
        "calibration": [{key: round(value, 4) for key, value in asdict(each).items()} for each in bins],
        "calibration_error": round(calibration_error(bins), 4),
    }


def _confidence(answers: Answers, store: str, question: Question) -> float:
    """How sure the answer is; not at all where nothing was found."""
    found = answers[Ask(store, question.id, Way())]
    if found.confidence is None and found.places:
        raise ValueError(f"hits and no confidence: {question.id} in {store}")
    return found.confidence or 0.0


def _is_found(question: Question, answers: Answers) -> bool:
    found = answers[Ask(question.store, question.id, Way())]
    return any_at(5, found.documents, question.gold) > 0


def _ablation(plan: Plan, answers: Answers) -> Iterator[dict[str, Any]]:
    """What each measure with a target loses without each part, on the same questions."""
    for name, level, group, measures in HEADLINES:
        if name not in plan.sets or name == "4x":
            continue
        inside = [each for each in plan.ablated_questions(name) if group in _groups(name, each)]
        means = {
            part: _means(list(_values(name, inside, _way(level, part), answers).values())) for part in ("", *plan.parts)
        }
        for measure in measures:
            yield {
                "set": name,
                "level": level,
                "group": group,
                "measure": measure,
                "n": len(inside),
                "value": means[""][measure],
                "without": {part: round(means[part][measure] - means[""][measure], 4) for part in plan.parts},
            }


def _way(level: str, part: str) -> Way:
    return ways("hybrid", *([part] if part else []))[LEVELS.index(level)]
