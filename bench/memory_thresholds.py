"""Curves of recall against noise for the thresholds by which entries and passages are judged, one at a time.

Each curve moves one number of `EntryRule` or `PassageRule` and leaves the others as the product has them. For entries:
how many of the needed ones come without the profile, how many prompts that need nothing stay empty, and how many of the
entries shown are right. For passages, in the garden: for how many questions to it the best passage is of the right note
and is shown, and how many prompts of the people, who have nothing to do with it, bring no passage.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from bench.memory_sets import GardenQuestion, Person
from bench.memory_vault import Opener, fold, new_vault, save_entries

from commonplace.context.selection import ENTRY_RULE, PASSAGE_RULE, EntryRule, fitting_entries
from commonplace.flows.context.facts import EntryCandidates, entry_candidates
from commonplace.flows.context.passages import noise_level
from commonplace.memory import Memory
from commonplace.model.context import Need
from commonplace.questions.prompt_needs import need_of
from commonplace.questions.question import has_nothing_to_search
from commonplace.screening.junk import courtesy_reason

CURVES: Final[dict[str, tuple[float, ...]]] = {
    "idle": (0.45, 0.55, 0.65, 0.75, 0.85, 0.95),
    "general": (0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7),
    "task": (0.2, 0.25, 0.3, 0.33, 0.36, 0.4, 0.45),
    "personal": (0.1, 0.15, 0.2, 0.25, 0.3, 0.35),
    "words": (0.0, 0.2, 0.4, 0.6, 0.76, 0.9, 1.2),
    "most": (1, 2, 3, 4, 5, 6),
    "beside_best": (0.3, 0.4, 0.5, 0.6, 0.7, 0.8),
}


@dataclass(frozen=True, slots=True)
class JudgedPrompt:
    """A prompt with the entries near to it; `gold` and `allowed` are ids of entries that must and may come."""

    type: str
    need: Need
    candidates: EntryCandidates
    gold: frozenset[str]
    allowed: frozenset[str]
    is_silent: bool


def measure_thresholds(
    people: Sequence[Person], opener: Opener, folder: Path, say: Callable[[str], None]
) -> dict[str, Any]:
    """The points of each curve, and the point at which the product stands."""
    prompts: list[JudgedPrompt] = []
    for person in people:
        place = folder / f"thresholds-{person.name}"
        new_vault(place, person.notes)
        say(f"thresholds: {person.name}")
        with opener.on_disk(place) as (memory, clock):
            save_entries(memory, clock, person)
            memory.index.sync()
            prompts += _judged(memory, person)
    curves = {
        name: [{"at": value, **_point(prompts, _moved(name, value))} for value in values]
        for name, values in CURVES.items()
    }
    return {"product": _point(prompts, ENTRY_RULE), "curves": curves}


def _moved(name: str, value: float) -> EntryRule:
    """The product's rule with one number moved."""
    number: Any = int(value) if name == "most" else value
    return replace(ENTRY_RULE, **{name: number})


def _judged(memory: Memory, person: Person) -> Iterator[JudgedPrompt]:
    session = memory.context._session  # noqa: SLF001 (the flow is measured below the library)
    texts = {each.id: fold(each.text) for each in person.entries}
    for prompt in person.prompts:
        if prompt.after:
            continue
        candidates = entry_candidates(prompt.prompt, session)
        ids = {fold(each.fact.text): id for id, each in candidates.snapshots.items()}
        gold = [ids.get(texts.get(id, ""), f"not near: {id}") for id in prompt.gold]
        allowed = [ids.get(texts.get(id, ""), "") for id in prompt.ok]
        is_silent = bool(courtesy_reason(prompt.prompt)) or has_nothing_to_search(prompt.prompt)
        need = need_of(prompt.prompt)
        yield JudgedPrompt(prompt.type, need, candidates, frozenset(gold), frozenset(allowed), is_silent)


PASSAGE_CURVES: Final[dict[str, tuple[float, ...]]] = {
    "near": (0.2, 0.3, 0.33, 0.4, 0.5, 0.6),
    "above_noise": (-0.2, -0.1, 0.0, 0.04, 0.08, 0.12, 0.16),
    "general": (0.0, 0.05, 0.1, 0.15, 0.2),
}


@dataclass(frozen=True, slots=True)
class BestPassage:
    """The score of a prompt's best passage, and whether that is of a note that answers it."""

    need: Need
    score: float
    is_question: bool
    is_right: bool


def measure_passages(
    people: Sequence[Person], questions: Sequence[GardenQuestion], opener: Opener, garden: Path, folder: Path
) -> dict[str, Any]:
    """The points of each curve in the garden, and its noise."""
    place = folder / "thresholds-garden"
    new_vault(place, garden=garden)
    with opener.on_disk(place) as (memory, _):
        memory.index.sync()
        noise = noise_level(memory.context._session.stores)  # noqa: SLF001 (the flow is measured below the library)
        best = [_best_passage(memory, each.query, gold=tuple(path for path, _ in each.gold)) for each in questions]
        best += [_best_passage(memory, prompt.prompt) for person in people for prompt in person.prompts]
    curves = {
        name: [{"at": value, **_passage_point(best, noise, name, value)} for value in values]
        for name, values in PASSAGE_CURVES.items()
    }
    return {"noise": noise, "curves": curves}


def _best_passage(memory: Memory, prompt: str, *, gold: tuple[str, ...] = ()) -> BestPassage:
    hits = memory.search(prompt, k=1, min_score=0.0).hits
    score, path = (hits[0].score, hits[0].path) if hits else (0.0, "")
    return BestPassage(need_of(prompt), score, bool(gold), path in gold)


def _passage_point(best: Sequence[BestPassage], noise: float, name: str, value: float) -> dict[str, int]:
    rule = replace(PASSAGE_RULE, **{name: value})
    shown = [each for each in best if each.score >= rule.threshold(noise=noise, need=each.need)]
    idle = [each for each in best if not each.is_question]
    return {
        "right": sum(each.is_right for each in shown),
        "questions": len(best) - len(idle),
        "empty": len(idle) - sum(not each.is_question for each in shown),
        "idle": len(idle),
    }


def passage_table(told: dict[str, Any]) -> str:
    """The curves as a table; the product's own value is marked."""
    heads = "| threshold | value | questions whose note is shown first | prompts of others without a passage |"
    lines = [f"Noise of the garden: {told['noise']:.2f}", "", heads, "|" + " --- |" * 4]
    for name, points in told["curves"].items():
        for point in points:
            own = " (product)" if point["at"] == getattr(PASSAGE_RULE, name) else ""
            right, empty = f"{point['right']}/{point['questions']}", f"{point['empty']}/{point['idle']}"
            lines.append(f"| {name} | {point['at']}{own} | {right} | {empty} |")
    return "\n".join(lines)


def _point(prompts: Sequence[JudgedPrompt], rule: EntryRule) -> dict[str, Any]:
    came = needed = empty = idle = shown = right = 0
    for prompt in prompts:
        candidates = prompt.candidates
        chosen = fitting_entries(candidates.matches, need=prompt.need, count=candidates.count, rule=rule)
        chosen = [] if prompt.is_silent else chosen
        came, needed = came + len(prompt.gold & {*chosen}), needed + len(prompt.gold)
        if prompt.type == "none":
            idle, empty = idle + 1, empty + (not chosen)
        shown, right = shown + len(chosen), right + len({*chosen} & (prompt.gold | prompt.allowed))
    return {"came": came, "needed": needed, "empty": empty, "idle": idle, "shown": shown, "right": right}


def threshold_table(told: dict[str, Any]) -> str:
    """The curves as a table; the product's own value is marked."""
    lines = ["| threshold | value | needed entries | no-need prompts empty | shown | right |", "|" + " --- |" * 6]
    for name, points in told["curves"].items():
        for point in points:
            own = " (product)" if point["at"] == getattr(ENTRY_RULE, name) else ""
            lines.append(
                f"| {name} | {point['at']}{own} | {point['came']}/{point['needed']} | {point['empty']}/{point['idle']} "
                f"| {point['shown']} | {point['right']} |"
            )
    return "\n".join(lines)
