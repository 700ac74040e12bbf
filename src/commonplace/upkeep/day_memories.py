"""A part of a day -> its memories and facts: by the model of the task `sleep`, or without one from what is known.

Without a model a day's note tells which conversations there were, what was promised in them, and what was decided,
saved and learned on that day. With one, the model sees the day data, the person's own memory, the facts that were
learned on that day and the predicates to use; all of it in one JSON object, which is data.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, tzinfo
from typing import Any, Final

from commonplace.errors import Conflict, NotFound
from commonplace.extraction.answers import read_answer
from commonplace.facts.cues import is_playbook
from commonplace.facts.entry_paths import id_digits
from commonplace.flows.learn.model_calls import ask_model, prompt_for
from commonplace.flows.notes.write import write_note
from commonplace.flows.read import is_hidden, list_notes, locate, read_note
from commonplace.flows.stores import Session
from commonplace.index.base import FactQuery
from commonplace.llm.base import Prompt
from commonplace.model import Fact, Note, Terms
from commonplace.model.layout import USER_NOTE
from commonplace.model.learning import ExtractedFact, LearnedBatch
from commonplace.model.moment import parse_moment
from commonplace.model.note_words import plain_words
from commonplace.model.text import counted
from commonplace.model.untrusted_text import break_values
from commonplace.upkeep.day_answer import SCHEMA, FactItem, ItemWords, read_day_answer
from commonplace.upkeep.day_data import DayItem, DayPart, cut_parts, day_start
from commonplace.upkeep.day_note import DayMemory, bullets_of, topic_name
from commonplace.upkeep.job import Step, StepResult
from commonplace.vault.base import ABSENT, Blob, version_of

PREDICATE_HINTS: Final[Mapping[str, str]] = {
    "works_at": "employer; one at a time",
    "lives_in": "where someone lives; one at a time",
    "has_role": "job or role; one at a time",
    "has_status": "state of a project or thing; one at a time",
    "staying_in": "for a while; give valid_until",
    "visiting": "for a while; give valid_until",
    "knows": "a person",
    "uses": "a tool, language or program that someone works with",
    "prefers": "a lasting preference",
    "works_on": "a project",
    "owns": "a thing or an animal",
    "decided": "a decision that stands",
    "interested_in": "expires by itself",
    "completed": "something that was finished; expires by itself",
    "acquired": "expires by itself",
    "disposed_of": "expires by itself",
    "traveled_to": "expires by itself",
}
"""The predicates that a model is told to prefer, and when to use each."""

_ATTEMPTS: Final = 3  # at a note that someone saves at the same time
_MOST_PROFILE: Final = 6000  # characters of USER.md that a model is shown
_MOST_KNOWN: Final = 40  # facts and memories that it is told not to repeat
_MOST_TALKS: Final = 8  # conversations that a note without a model names one by one: prompts get three days of it
_MOST_FACTS: Final = 5  # facts of each sort, the newest: all of them are entries, too
_MOST_PROMISES: Final = 5
_QUOTE: Final = 90  # characters of a request
_WORTH_A_LINE: Final = 12  # characters of a request that says something: not "hi" or "thanks"
_THANKS: Final = re.compile(
    r"(?:\W*+\b(?:great|perfect|nice|cool|ok|okay|yes|good|done|thanks|thank you|thx|so much|a lot"
    r"|(?:that|it) (?:worked|works)|now|looks good|well done|bye)\b)+\W*",
    re.IGNORECASE,
)
_EXPLICIT: Final = ("told", "said")


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnedFact:
    """A fact from a day's conversation with its evidence, as it is offered to memory."""

    source: str
    fact: ExtractedFact
    extractor: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DayMemories:
    """What a part of a day comes to: memories for its note, facts for memory, and what was left out, in words."""

    memories: tuple[DayMemory, ...] = ()
    facts: tuple[LearnedFact, ...] = ()
    said: str = ""


def read_day_note(path: str, session: Session) -> Note | None:
    """The note at that path; None if there is none, or if programs may not see it."""
    try:
        note = read_note(path, session.stores.vault, skip=session.stores.ignored)
    except NotFound:
        return None
    return None if is_hidden(note, session.stores) else note


def notes_below(folder: str, session: Session, *, recursive: bool = True) -> tuple[str, ...]:
    """The paths of the notes below a folder; none if there is no such folder."""
    stores = session.stores
    try:
        return tuple(stat.path for stat in list_notes(folder, stores.vault, skip=stores.ignored, recursive=recursive))
    except NotFound:
        return ()


def read_existing_note(path: str, session: Session) -> Blob | None:
    """The file of the note; None if there is none."""
    try:
        return session.stores.vault.read(locate(path, session.stores.vault))
    except NotFound:
        return None


def rewrite_note(
    step: Step,
    session: Session,
    content: Callable[[Blob | None], bytes],
    *,
    message: str,
    trailers: Mapping[str, str] | None = None,
) -> StepResult:
    """Write the note as `content` makes it of what is there now; if someone saves it meanwhile, again."""
    for attempt in range(_ATTEMPTS):
        there = read_existing_note(step.subject, session)
        new = content(there)
        if there and new == there.content:
            return StepResult(step=step, outcome="unchanged", reason="The note has it already.")
        terms = Terms(message=message, why=step.said, expected=version_of(there.content) if there else ABSENT)
        try:
            changed = write_note(step.subject, new, session, terms, trailers=trailers)
        except Conflict:
            if attempt == _ATTEMPTS - 1:
                raise
            continue
        return StepResult(step=step, outcome="done" if changed.changed else "unchanged", commit=changed.commit or "")
    raise AssertionError("unreachable")


# ---------------------------------------------------------------- with a model


def remember_by_model(part: DayPart, session: Session, *, channel: str, note: Note | None, zone: tzinfo) -> DayMemories:
    """What the model of the task `sleep` notes of this part. Raises ProviderFailed."""
    prompt = prompt_for("sleep", session)
    items = _numbered(part)
    asked = _question(items, session, part=part, channel=channel, note=note, zone=zone)
    prompts = (Prompt("system", prompt.text), Prompt("user", json.dumps(break_values(asked), ensure_ascii=False)))
    answer = ask_model("sleep", prompts, SCHEMA, session, prompt_version=prompt.version)
    words = [ItemWords(each.thread.id, f"{each.thread.title}\n{each.thread.project}\n{each.text}") for each in items]
    read = read_day_answer(answer.value, words)
    facts = () if channel or not session.stores.learn.enabled else read.facts
    extractor = f"{answer.model} {prompt.version}"
    learned = [
        LearnedFact(source=item.thread.id, fact=fact, extractor=extractor)
        for number, item in enumerate(items, start=1)
        for fact in _checked_facts([each.values for each in facts if _names(each, number, items)], item, session)
    ]
    dropped = Counter(read.dropped)
    said = (
        f"Left out of {part.day}: {', '.join(f'{name} {dropped[name]}' for name in sorted(dropped))}."
        if dropped
        else ""
    )
    return DayMemories(memories=read.memories, facts=tuple(learned[: session.stores.learn.max_facts]), said=said)


def _checked_facts(values: Sequence[Mapping[str, Any]], item: DayItem, session: Session) -> tuple[ExtractedFact, ...]:
    """The facts whose quotes the person said in this conversation, as `learn` checks them; none if it is automated."""
    if not values or item.is_automated:
        return ()
    return read_answer({"facts": values}, item.turns, options=session.stores.learn, first=item.first).facts


def _names(fact: FactItem, number: int, items: Sequence[DayItem]) -> bool:
    """True if the fact is of the item with that number; one that names none is of the only item."""
    return fact.item == number or (len(items) == 1 and not fact.item)


def _numbered(part: DayPart) -> tuple[DayItem, ...]:
    """The items in the order of their numbers: first what people typed."""
    return (
        *(each for each in part.items if not each.is_automated),
        *(each for each in part.items if each.is_automated),
    )


def _question(
    items: Sequence[DayItem], session: Session, *, part: DayPart, channel: str, note: Note | None, zone: tzinfo
) -> dict[str, Any]:
    typed, ran = cut_parts(items)
    shown = [
        {
            "item": number,
            "program": item.thread.interface,
            **({"project": item.thread.project} if item.thread.project else {}),
            **({"title": item.thread.title} if item.thread.title else {}),
            "text": text,
        }
        for number, (item, text) in enumerate(zip(items, (*typed, *ran), strict=True), start=1)
    ]
    noted = [words for words, _ in bullets_of(note.body)] if note else []
    facts = [] if channel else [fact.text for fact in facts_of_day(part.day, session, since="", zone=zone)]
    return {
        "day": part.day,
        "place": f"the channel {channel}" if channel else "the person's own memory",
        "interactive": shown[: len(typed)],
        "automated": shown[len(typed) :],
        "profile": _profile(session, channel=channel),
        "known": facts[:_MOST_KNOWN],
        "noted": noted[-_MOST_KNOWN:],
        "predicates": suggested_predicates(session),
    }


def _profile(session: Session, *, channel: str) -> str:
    """The person's own memory, for the person's own cycle alone: a channel is shared with others."""
    note = None if channel else read_day_note(USER_NOTE, session)
    return note.body.strip()[:_MOST_PROFILE] if note else ""


def suggested_predicates(session: Session) -> dict[str, str]:
    """The predicates that a model should use, with hints; those of the settings among them."""
    rules = session.stores.rules.predicates
    own = {
        **dict.fromkeys(sorted(rules.single), "one at a time"),
        **dict.fromkeys(sorted(rules.temporary), "for a while; give valid_until"),
        **dict.fromkeys(sorted(rules.expiring), "expires by itself"),
    }
    return {**own, **PREDICATE_HINTS}


# ---------------------------------------------------------------- without a model


def remember_by_rules(
    part: DayPart, session: Session, *, channel: str, since: str, zone: tzinfo, is_last: bool = True
) -> DayMemories:
    """What is known of this part without asking a model: conversations, promises, and what was decided and saved.

    What ran by itself is left out: without a model nobody can tell what of it matters. Facts are those recorded after
    the moment `since`; they come with the last part of a day.
    """
    batches = _batches(part, session, zone=zone)
    typed = [each for each in part.items if not each.is_automated]
    talks = [memory for item in typed if (memory := _talk(item, batches, names=bool(channel)))]
    promises = [memory for item in typed for memory in _promises(item, batches)]
    facts = (
        [*_fact_memories(facts_of_day(part.day, session, since=since, zone=zone))] if is_last and not channel else []
    )
    more = (
        [DayMemory(f"And {counted(len(talks) - _MOST_TALKS, 'other conversation')}.")]
        if len(talks) > _MOST_TALKS
        else []
    )
    memories = (*talks[:_MOST_TALKS], *more, *promises[:_MOST_PROMISES], *facts)
    return DayMemories(memories=memories)


def _batches(part: DayPart, session: Session, *, zone: tzinfo) -> Mapping[str, list[LearnedBatch]]:
    """What was extracted from the conversations of this part since the day began, by conversation."""
    ids = {item.thread.id for item in part.items}
    found: dict[str, list[LearnedBatch]] = {}
    for batch in session.stores.history.learned_batches(since=parse_moment(day_start(part.day, zone))):
        if batch.source in ids:
            found.setdefault(batch.source, []).append(batch)
    return found


def _talk(item: DayItem, batches: Mapping[str, list[LearnedBatch]], *, names: bool) -> DayMemory | None:
    """What a conversation was about: its summary, or the first and the last request; None if it says nothing."""
    summaries = [each.extraction.summary for each in _own(item, batches) if each.extraction.summary]
    head = _head(item)
    if summaries:
        return DayMemory(f"{head}: {' '.join(summaries)}", source=item.thread.id)
    role = ("user", "tool") if names else ("user",)
    requests = [each.text for each in item.turns if each.role in role and _says_something(each.text)]
    if not requests:
        return None
    last = f', and ended with "{_short(requests[-1])}"' if len(requests) > 1 else ""
    return DayMemory(f'{head} began with "{_short(requests[0])}"{last}', source=item.thread.id)


def _says_something(text: str) -> bool:
    return len(text) > _WORTH_A_LINE and not (len(text) <= _QUOTE and _THANKS.fullmatch(text))


def _head(item: DayItem) -> str:
    """The project and the program, and when: `garden (claude-code, 14:05 to 15:20)`."""
    times = item.began if item.began == item.ended else f"{item.began} to {item.ended}"
    program = f"{item.thread.interface}, unverified" if item.thread.is_claim else item.thread.interface
    named = f"{program}, {times}" if times else program
    return f"{item.thread.project} ({named})" if item.thread.project else f"Conversation ({named})"


def _short(text: str) -> str:
    return plain_words(text, most=_QUOTE).replace('"', "'")


def _own(item: DayItem, batches: Mapping[str, list[LearnedBatch]]) -> list[LearnedBatch]:
    return [each for each in batches.get(item.thread.id, ()) if each.after < item.last and each.until >= item.first]


def _promises(item: DayItem, batches: Mapping[str, list[LearnedBatch]]) -> Iterator[DayMemory]:
    for batch in _own(item, batches):
        for each in batch.extraction.commitments:
            if item.first <= each.turn <= item.last:
                by = f" by {each.by}" if each.by else ""
                yield DayMemory(f"Promised ({each.who}): {each.what}{by}.", source=item.thread.id)


def facts_of_day(day: str, session: Session, *, since: str, zone: tzinfo) -> tuple[Fact, ...]:
    """The entries that were recorded on that day after the moment `since`, in order; none that is sensitive or waits.

    Entries that jobs made of other entries, and imported ones, are not what happened on that day.
    """
    start = max(day_start(day, zone), since)
    end = day_start(date.fromordinal(date.fromisoformat(day).toordinal() + 1).isoformat(), zone)
    with session.stores.index.reader() as reader:
        records = reader.facts(FactQuery(statuses=("active",), origins=("entry",), sensitive=False))
    facts = [each.fact for each in records if start <= each.fact.recorded < end and each.fact.recorded > since]
    return tuple(sorted(filter(_is_of_day, facts), key=lambda fact: (fact.recorded, fact.id)))


def _is_of_day(fact: Fact) -> bool:
    return fact.origins.trust in _EXPLICIT or (fact.origins.trust == "mined" and bool(fact.origins.conversation))


def _fact_memories(facts: Iterable[Fact]) -> Iterator[DayMemory]:
    """A line for each decision, explicit save and learned fact, so many of each sort at most."""
    given = [*facts]
    sorts: tuple[tuple[str, Callable[[Fact], bool]], ...] = (
        ("Decided", lambda fact: fact.kind == "decision"),
        ("Saved", lambda fact: fact.kind != "decision" and fact.origins.trust in _EXPLICIT),
        ("Learned", lambda fact: fact.kind != "decision" and fact.origins.trust not in _EXPLICIT),
    )
    for word, fits in sorts:
        own = [fact for fact in given if fits(fact)]
        for fact in own[-_MOST_FACTS:]:
            text = (
                fact.text.partition("\n")[0].rstrip(":") if is_playbook(fact) else fact.text
            )  # of a playbook, the task
            said = text if text.startswith(word) else f"{word}: {text}"
            yield DayMemory(said, topics=_topics(fact), source=f"e-{id_digits(fact.id)}")


def _topics(fact: Fact) -> tuple[str, ...]:
    return tuple(name for each in fact.topics[:2] if (name := topic_name(each)))
