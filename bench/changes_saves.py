"""What saves do to what is known: real saves in vaults under git, each measure in a vault of its own."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from bench.changes_sets import Chain, ChangeSet, Pair
from bench.memory_sets import NO_CUES, Cues
from bench.memory_vault import AGENT, BenchClock, Opener, fold, new_vault

from commonplace.errors import Refused
from commonplace.facts.claims import speaker_of
from commonplace.flows.learn.settle import JOB
from commonplace.flows.memory.save import save
from commonplace.memory import Memory
from commonplace.model import Actor, Candidate, EntryResult, Fact, Origins
from commonplace.model.fact import RULES
from commonplace.model.moment import moment_text
from commonplace.model.request import NewEntry

PERSON: Final = Actor("person", "bench")
TRUE_BESIDE: Final = frozenset({"independent", "beside", "more", "restriction", "unrelated"})
"""Labels of pairs of which both statements hold."""

_HELD: Final = ("current", "future")
_MOST: Final = 2_000  # entries that a memory here has at most
_BEFORE: Final = datetime(2025, 6, 1, 8, tzinfo=UTC)
_DAY: Final = datetime(2026, 6, 1, tzinfo=UTC)
_AT_LAST: Final = datetime(2026, 11, 19, 9, tzinfo=UTC)
_WAYS: Final = ("not settled", "in the first call", "in a second call")


@dataclass(slots=True)
class Saver:
    """Saves statements one after the other, a `step` apart, and notes what was refused."""

    memory: Memory
    clock: BenchClock
    step: timedelta = timedelta(seconds=30)
    cues: Mapping[str, Cues] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)

    def save_all(self, texts: Sequence[str], *, begins: datetime) -> dict[str, Fact]:
        """The entries by their texts, as given."""
        saved = {}
        for number, text in enumerate(texts):
            self.clock.set_to = begins + number * self.step
            if result := self.save(NewEntry(text)):
                saved[text] = result.fact
        return saved

    def save(self, new: NewEntry) -> EntryResult | None:
        """The result; None if it is refused. The statement has its cues, if there are some."""
        try:
            return self.memory.entries.add(replace(new, **self.cues.get(new.text, NO_CUES)._asdict()))
        except Refused as error:
            self.refused[new.text] = str(error)
            return None


def held_entries(memory: Memory) -> dict[str, Fact]:
    """The entries that hold, by id."""
    every = memory.facts.about(every=True, limit=_MOST)
    return {each.fact.id: each.fact for each in every if each.state in _HELD}


def measure_losses(told: ChangeSet, opener: Opener, folder: Path, *, actor: Actor) -> dict[str, Any]:
    """Save all that is known, then every new statement: what was lost, taken for known, or shortened, by kind."""
    new_vault(folder)
    with opener.on_disk(folder) as (opened, clock):
        saver = Saver(opened.acting(actor), clock, cues=told.cues)
        known = saver.save_all(told.known, begins=_BEFORE)
        results: dict[str, EntryResult] = {}
        for number, pair in enumerate(told.pairs):
            clock.set_to = _DAY + number * timedelta(seconds=30)
            if pair.new not in known and pair.new not in results and (result := saver.save(NewEntry(pair.new))):
                results[pair.new] = result
        clock.set_to = None
        held = held_entries(opened)
    shown = [pair for pair in told.pairs if pair.known in known and pair.new in results]
    lost = [pair for pair in shown if known[pair.known].id not in held or results[pair.new].fact.id not in held]
    confirmed = [pair for pair in shown if results[pair.new].action == "confirm" and pair.kind != "same"]
    shortened = [pair for pair in shown if fold(results[pair.new].fact.text) != fold(pair.new)]
    return {
        "pairs": Counter(pair.kind for pair in shown),
        "lost": _listed(lost),
        "true_lost": len({text for pair in lost if pair.kind in TRUE_BESIDE for text in (pair.known, pair.new)}),
        "confirmed": _listed(confirmed),
        "same_confirmed": sum(results[each.new].action == "confirm" for each in shown if each.kind == "same"),
        "shortened": [[*pair, results[pair.new].fact.text] for pair in shortened if pair not in confirmed],
        "waiting": sum(results[pair.new].staged for pair in shown),
        "refused": saver.refused,
    }


def _listed(pairs: Sequence[Pair]) -> dict[str, list[Pair]]:
    """The pairs by kind."""
    kinds = dict.fromkeys(pair.kind for pair in pairs)
    return {kind: [pair for pair in pairs if pair.kind == kind] for kind in kinds}


def measure_said_before(told: ChangeSet, opener: Opener, folder: Path) -> dict[str, Any]:
    """What was said in the morning and is learned in the evening of the same day.

    - not settled: the newer value was saved at ten, and nothing says that it replaces the older one;
    - replaced: the older value was known and replaced at ten; its own words are learned again;
    - forgotten: a statement was forgotten at noon; the same in other words is learned.
    """
    changed, same = told.of("changed"), told.of("same")
    counts: dict[str, Any] = {}
    new_vault(folder / "open")
    with opener.on_disk(folder / "open") as (memory, clock):
        newer = Saver(memory, clock, cues=told.cues).save_all(
            [pair.new for pair in changed], begins=_DAY + timedelta(hours=10)
        )
        learned = [_learn(memory, clock, pair.known) for pair in changed]
        held = held_entries(memory)
        counts["not settled"] = _after_learning([*newer.values()], learned, held)
        counts["not settled"]["dated before"] = sum(each.fact.begins < _ten() for each in learned if each)
    new_vault(folder / "settled")
    with opener.on_disk(folder / "settled") as (memory, clock):
        saver = Saver(memory, clock, cues=told.cues)
        older = saver.save_all([pair.known for pair in (*changed, *same)], begins=_DAY + timedelta(hours=8))
        clock.set_to = _DAY + timedelta(hours=10)
        ended = [saver.save(NewEntry(pair.new, replaces=(older[pair.known].id,))) for pair in changed]
        clock.set_to = _DAY + timedelta(hours=12)
        for pair in same:
            memory.acting(PERSON).entries.forget(older[pair.known].id)
        again = [_learn(memory, clock, pair.known) for pair in changed]
        in_other_words = [_learn(memory, clock, pair.new) for pair in same]
        held = held_entries(memory)
        counts["replaced"] = _after_learning([each.fact for each in ended if each], again, held)
        counts["forgotten"] = _after_learning([], in_other_words, held)
    return counts


def _ten() -> str:
    return moment_text(_DAY + timedelta(hours=10))


def _learn(memory: Memory, clock: BenchClock, text: str) -> EntryResult | None:
    """Learn in the evening what the person said before ten o'clock; None if it is refused."""
    clock.set_to = _DAY + timedelta(hours=18)
    said = moment_text(_DAY + timedelta(hours=9, minutes=45))
    origins = Origins(trust="mined", interface="bench", extractor=RULES, quote=text)
    session = memory.entries._session.as_actor(JOB)  # noqa: SLF001 (learning saves below the library)
    try:
        return save(Candidate(text=text, said=said, origins=origins, is_spoken=True), session)
    except Refused:
        return None


def _after_learning(
    newer: Sequence[Fact], learned: Sequence[EntryResult | None], held: Mapping[str, Fact]
) -> dict[str, int]:
    return {
        "learned": len(learned),
        "newer ended": sum(each.id not in held for each in newer),
        "current": sum(each.action != "confirm" and each.fact.id in held for each in learned if each),
        "known already": sum(each.action == "confirm" for each in learned if each),
        "waiting": sum(each.staged for each in learned if each),
        "refused": sum(each is None for each in learned),
    }


def measure_contradictions(told: ChangeSet, opener: Opener, folder: Path) -> dict[str, Any]:
    """An agent saves another value than the person's own, and settles it at once, later, or not at all."""
    new_vault(folder)
    changed, ways = told.of("changed"), {way: Counter[str]() for way in _WAYS}
    with opener.on_disk(folder) as (opened, clock):
        own = Saver(opened.acting(PERSON), clock, cues=told.cues).save_all(told.known, begins=_BEFORE)
        agent = opened.acting(AGENT)
        for number, pair in enumerate(changed):
            way, known = _WAYS[number % len(_WAYS)], own[pair.known]
            clock.set_to = _DAY + number * timedelta(minutes=1)
            result = agent.entries.add(told.entry(pair.new, replaces=(known.id,) if way == _WAYS[1] else ()))
            was_shown = known.id in {each.fact.id for each in result.neighbours}
            if way == _WAYS[2]:
                result = agent.entries.settle(result.fact.id, replaces=(known.id,))
            clock.set_to = _AT_LAST
            held = held_entries(opened)
            lines = context_lines(agent, pair.known)
            signs = [_is_signed(lines.get(fold(each.text), ""), each) for each in (known, result.fact)]
            ways[way] += Counter(
                pairs=1,
                stands=known.id in held and result.fact.id in held,
                named=was_shown or known.id in {each.id for each in result.waiting},
                signed=all(signs),
            )
    return {way: dict(counts) for way, counts in ways.items()}


def context_lines(memory: Memory, prompt: str) -> dict[str, str]:
    """The lines of the context of a prompt, in order, by the letters of the entry's text that they hold."""
    text = memory.context(prompt, within=None, peek=True).text
    held = {fold(each.text): each.text for each in held_entries(memory).values()}
    lines = {}
    for line in text.splitlines():
        found = [letters for letters in held if letters in fold(line)]
        if found:
            lines[max(found, key=len)] = line
    return lines


def _is_signed(line: str, fact: Fact) -> bool:
    """True if the line says who said it, by name or by kind, and on which day."""
    speakers = (speaker_of(fact), *(("an agent",) if fact.origins.trust == "said" else ()))
    return is_dated(line, fact.begins) and any(each in line for each in speakers)


def is_dated(line: str, moment: str) -> bool:
    """True if the line has the day, in figures or with the month's name."""
    day = date.fromisoformat(moment[:10])
    return day.isoformat() in line or bool(re.search(rf"\b{day.day} {day:%b}", line))


def measure_chains(told: ChangeSet, opener: Opener, folder: Path) -> dict[str, Any]:
    """Chains of values that nobody settles: whether each save shows the older ones, and how a context shows them."""
    new_vault(folder)
    days = sorted(
        (day, number, place) for number, each in enumerate(told.chains) for place, day in enumerate(each.days)
    )
    saved: dict[tuple[int, int], EntryResult] = {}
    with opener.on_disk(folder) as (memory, clock):
        saver = Saver(memory, clock, cues=told.cues)
        saver.save_all(told.known, begins=_BEFORE)
        for day, number, place in days:
            clock.set_to = datetime.fromisoformat(f"{day}T12:00:00+00:00")
            if result := saver.save(NewEntry(told.chains[number].values[place])):
                saved[number, place] = result
        clock.set_to = _AT_LAST
        contexts = [_chain_in_context(memory, each) for each in told.chains]
        sessions = [_chain_in_session(memory, each) for each in told.chains]
    shown = [_chain_shown(number, each, saved) for number, each in enumerate(told.chains)]
    return {
        "chains": len(told.chains),
        "second shows first": sum(second for second, _, _ in shown),
        "third shows second": sum(third for _, third, _ in shown),
        "third shows both": sum(both for _, _, both in shown),
        **{name: sum(each[name] for each in contexts) for name in ("newest there", "newest first", "with its day")},
        "oldest in a session": sum(is_there for is_there, _ in sessions),
        "newest first in a session": sum(is_first for _, is_first in sessions),
        "refused": saver.refused,
    }


def _chain_shown(number: int, chain: Chain, saved: Mapping[tuple[int, int], EntryResult]) -> tuple[bool, bool, bool]:
    def shows(place: int, older: int) -> bool:
        newer, old = saved.get((number, place)), saved.get((number, older))
        return bool(newer and old and old.fact.id in {each.fact.id for each in newer.neighbours})

    return shows(1, 0), shows(2, 1), shows(2, 1) and shows(2, 0)


def _chain_in_session(memory: Memory, chain: Chain) -> tuple[bool, bool]:
    """Whether a prompt brings the oldest value in a session that has the profile; and the newest before it, dated."""
    conversation = f"bench:{chain.values[0]}"
    memory.context.start(conversation=conversation, within=None)
    text = memory.context(chain.values[0], conversation=conversation, within=None).text
    lines = [line for line in text.splitlines() if line.startswith("- ")]
    old, new = (
        next((place for place, line in enumerate(lines) if fold(value) in fold(line)), -1)
        for value in (chain.values[0], chain.values[-1])
    )
    return old >= 0, 0 <= new < old and is_dated(lines[new], chain.days[-1])


def _chain_in_context(memory: Memory, chain: Chain) -> dict[str, bool]:
    """Whether a prompt that names the oldest value brings the newest one, before the older ones, with its day."""
    lines = context_lines(memory, chain.values[0])
    order, newest = [*lines], fold(chain.values[-1])
    there = newest in lines
    older = [order.index(letters) for value in chain.values[:-1] if (letters := fold(value)) in lines]
    is_first = there and all(order.index(newest) < place for place in older)
    return {
        "newest there": there,
        "newest first": is_first,
        "with its day": is_first and is_dated(lines[newest], chain.days[-1]),
    }
