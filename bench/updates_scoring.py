"""Of what has changed, whether the current value is found before the old one; and what weighing by age costs."""

import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any, Final

from bench.metrics import any_at, interval, strict_at
from bench.questions import Question
from bench.stores import Ask, Found, Way

from commonplace.questions.question import understand

Answers = Mapping[Ask, Found]
Dates = Mapping[str, Mapping[str, datetime]]
"""When each session was held, by store."""

KNOWLEDGE_UPDATE: Final = "knowledge-update"
OFF: Final = 0
HALF_LIVES: Final = (OFF, 30, 90, 180, 365)
MEASURES: Final[Mapping[str, Callable[..., float]]] = {"strict@5": partial(strict_at, 5), "any@5": partial(any_at, 5)}


@dataclass(frozen=True, slots=True)
class Pair:
    """The session that tells the current value, and the one that tells the first value it had."""

    question: Question
    current: str
    old: str


def pairs_of(questions: Iterable[Question], dates: Dates) -> list[Pair]:
    """One for each question about something that has changed, if its evidence was given at several times."""
    pairs = []
    for question in questions:
        if question.type != KNOWLEDGE_UPDATE:
            continue
        held = sorted((dates[question.store][session], session) for session in question.gold)
        (first, old), (last, current) = held[0], held[-1]
        if first < last:
            pairs.append(Pair(question, current, old))
    return pairs


def is_above(pair: Pair, found: Sequence[str]) -> bool:
    """Whether the current session comes before the old one; one that was not found comes after all that were."""
    if pair.current not in found:
        return False
    return pair.old not in found or found.index(pair.current) < found.index(pair.old)


def figures_of(questions: Sequence[Question], dates: Dates, answers: Answers) -> dict[str, Any]:
    """All figures: by half-life how often the current value comes first, and by type what that does to recall."""
    pairs = pairs_of(questions, dates)
    return {
        "order": [_order(pairs, answers, half_life=days) for days in HALF_LIVES] if pairs else [],
        "types": [_recall(name, inside, answers) for name, inside in _by_type(questions).items()],
    }


def _order(pairs: Sequence[Pair], answers: Answers, *, half_life: int) -> dict[str, Any]:
    lists = [_documents(pair.question, answers, half_life) for pair in pairs]
    above = [float(is_above(pair, found)) for pair, found in zip(pairs, lists, strict=True)]
    both = [{pair.current, pair.old} <= set(found) for pair, found in zip(pairs, lists, strict=True)]
    return {
        "half_life": half_life,
        "n": len(pairs),
        "both": sum(both),
        "above_of_both": int(sum(each for each, found in zip(above, both, strict=True) if found)),
        "above": int(sum(above)),
        "share": round(statistics.fmean(above), 4),
        "interval": [round(end, 4) for end in interval(above)],
    }


def _recall(name: str, questions: Sequence[Question], answers: Answers) -> dict[str, Any]:
    """By measure and half-life; age is not weighed for the questions that name a time."""
    return {
        "type": name,
        "n": len(questions),
        "timed": sum(bool(understand(each.text, now=each.now).windows) for each in questions),
        **{
            measure: {
                str(days): round(statistics.fmean(of(_documents(q, answers, days), q.gold) for q in questions), 4)
                for days in HALF_LIVES
            }
            for measure, of in MEASURES.items()
        },
    }


def _by_type(questions: Sequence[Question]) -> dict[str, list[Question]]:
    names = sorted({question.type for question in questions})
    groups = {name: [each for each in questions if each.type == name] for name in names}
    return {"all": list(questions), **groups}


def _documents(question: Question, answers: Answers, half_life: int) -> tuple[str, ...]:
    return answers[Ask(question.store, question.id, Way(half_life=half_life))].documents
