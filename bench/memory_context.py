"""What stands before the model: for each labelled prompt the start of its session and the prompt's own part.

A session is read as the hook reads it: what is given at its start, then each prompt with what the model has not read.
The prompts do not see each other: each has a session of its own, and only a follow-up has a prompt before it.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from itertools import repeat
from pathlib import Path
from typing import Any

from bench.memory_sets import FOLLOWUP, NONE, SUPERSEDED, UNLIKE, LabelledPrompt, Person
from bench.memory_vault import Needles, Opener, Saved, new_vault, save_entries

from commonplace.memory import Memory


@dataclass(frozen=True, slots=True)
class Given:
    """The texts of one session: at its start, for the prompt before, and for the prompt itself."""

    start: str
    before: str
    own: str


@dataclass(frozen=True, slots=True)
class Judgement:
    """What came for one prompt, by ids. `own` and `own_chars` are those of the prompt's own part.

    `alone` and `alone_chars` are the same in a session whose start was not given.
    """

    person: str
    id: str
    type: str
    gold: tuple[str, ...]
    session: tuple[str, ...]
    own: tuple[str, ...]
    own_chars: int
    alone: tuple[str, ...]
    alone_chars: int
    old_there: tuple[str, ...]
    harmful_own: tuple[str, ...]
    ok: tuple[str, ...]


def read_session(memory: Memory, prompt: LabelledPrompt, *, with_start: bool) -> Given:
    """What a session is given until this prompt: its start, unless that is left out, and what it has not read yet."""
    conversation = f"bench:{prompt.id}:{with_start}"
    memory.context.forget(conversation)
    start = before = ""
    if with_start:
        start = memory.context.start(conversation=conversation, within=None).text
    if prompt.after:
        before = memory.context(prompt.after, conversation=conversation, within=None, profile=with_start).text
    peek = not (with_start or prompt.after)
    own = memory.context(prompt.prompt, conversation=conversation, within=None, profile=with_start, peek=peek)
    return Given(start, before, own.text)


def judge(memory: Memory, person: Person, saved: Saved) -> list[Judgement]:
    """What came for each prompt of a person.

    First without the start of a session, where nothing is counted as use but what comes before a follow-up.
    """
    needles = Needles(person.texts(), saved.stored)
    prompts = sorted(person.prompts, key=lambda each: bool(each.after))
    alone = [read_session(memory, prompt, with_start=False) for prompt in prompts]
    whole = [read_session(memory, prompt, with_start=True) for prompt in prompts]
    return [_judged(person.name, *each) for each in zip(prompts, repeat(needles), whole, alone, strict=False)]


def _judged(name: str, prompt: LabelledPrompt, needles: Needles, whole: Given, alone: Given) -> Judgement:
    session = needles.found("\n".join((whole.start, whole.before, whole.own)))
    own, by_itself = needles.found(whole.own), needles.found(f"{alone.before}\n{alone.own}")
    old = [id for id in prompt.harmful if id.endswith("old")]
    return Judgement(
        person=name,
        id=prompt.id,
        type=prompt.type,
        gold=prompt.gold,
        session=tuple(sorted(session)),
        own=tuple(sorted(own)),
        own_chars=len(whole.own),
        alone=tuple(sorted(by_itself)),
        alone_chars=len(alone.own),
        old_there=tuple(id for id in old if id in session),
        harmful_own=tuple(id for id in prompt.harmful if id not in old and id in by_itself),
        ok=prompt.ok,
    )


def measure_context(
    people: Sequence[Person], opener: Opener, folder: Path, say: Callable[[str], None]
) -> dict[str, Any]:
    """The figures of all people, each with a vault of their own."""
    judged: list[Judgement] = []
    saves: dict[str, Any] = {}
    starts: dict[str, int] = {}
    for person in people:
        place = folder / f"person-{person.name}"
        new_vault(place, person.notes)
        with opener.on_disk(place) as (memory, clock):
            memory.index.sync()
            saved = save_entries(memory, clock, person)
            saves[person.name] = {"entries": len(person.entries), **asdict(saved)}
            del saves[person.name]["stored"]
            starts[person.name] = len(memory.context.start(within=None, peek=True).text)
            say(f"{person.name}: {len(person.prompts)} prompts")
            judged += judge(memory, person, saved)
    return {**figures_of(judged), "start_chars": starts, "saves": saves, "prompts": [asdict(each) for each in judged]}


def figures_of(judged: Sequence[Judgement]) -> dict[str, Any]:
    """The measures, each as a pair of a count and of how many there are."""
    unlike = [each for each in judged if each.type == UNLIKE]
    none = [each for each in judged if each.type == NONE]
    changed = [each for each in judged if each.type == SUPERSEDED]
    after = [each for each in judged if each.type == FOLLOWUP]
    return {
        "session": _share(judged, "session"),
        "session_unlike": _share(unlike, "session"),
        "alone": _share(judged, "alone"),
        "alone_unlike": _share(unlike, "alone"),
        "empty_alone": [sum(not each.alone_chars for each in none), len(none)],
        "empty_own": [sum(not each.own_chars for each in none), len(none)],
        "changed": [sum(_is_changed(each) for each in changed), len(changed)],
        "old_there": [sum(bool(each.old_there) for each in judged), len(judged)],
        "harmful_own": [sum(bool(each.harmful_own) for each in judged), len(judged)],
        "right_alone": _right(judged),
        "followups": [sum(bool({*each.ok} & {*each.session}) for each in after), len(after)],
        "own_chars": _mean(each.own_chars for each in judged),
        "alone_chars": _mean(each.alone_chars for each in judged),
        "types": {type: _of_type([each for each in judged if each.type == type]) for type in _types(judged)},
    }


def _types(judged: Iterable[Judgement]) -> list[str]:
    return [*dict.fromkeys(each.type for each in judged)]


def _of_type(judged: Sequence[Judgement]) -> dict[str, Any]:
    return {
        "prompts": len(judged),
        "session": _share(judged, "session"),
        "alone": _share(judged, "alone"),
        "empty_alone": sum(not each.alone_chars for each in judged),
        "own_chars": _mean(each.own_chars for each in judged),
        "alone_chars": _mean(each.alone_chars for each in judged),
    }


def _is_changed(each: Judgement) -> bool:
    return not each.old_there and set(each.gold) <= set(each.session)


def _share(judged: Sequence[Judgement], where: str) -> list[int]:
    there = sum(id in getattr(each, where) for each in judged for id in each.gold)
    return [there, sum(len(each.gold) for each in judged)]


def _right(judged: Sequence[Judgement]) -> list[int]:
    """Of a person's entries in the own parts, how many are needed or allowed there."""
    right = sum(id in (*each.gold, *each.ok) for each in judged for id in each.alone)
    return [right, sum(len(each.alone) for each in judged)]


def _mean(values: Iterable[int]) -> float:
    held = list(values)
    return round(sum(held) / len(held), 1) if held else 0.0
