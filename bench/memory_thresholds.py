"""Curves of recall against noise for the thresholds by which entries are judged, one threshold at a time.

Each curve moves one number of `EntryRule` and leaves the others as the product has them: how many of the needed entries
come without the profile, how many prompts that need nothing stay empty, and how many of the entries shown are right.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from bench.memory_sets import Person
from bench.memory_vault import Opener, fold, new_vault, save_entries

from commonplace.context.selection import ENTRY_RULE, EntryRule, fitting_entries
from commonplace.flows.context.entries import EntryCandidates, entry_candidates
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
