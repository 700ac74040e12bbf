"""What a model answers about a day, in three sections: memories, facts and topics. Read with grace, and not believed.

A section that is missing or malformed costs that section alone. A model may give a section as text, with bullets or
JSON in it. A memory is accepted only if its words were said on that day, if it holds no secret, and if it tells nobody
what to do; a fact only with a quote of the person's words, which `extraction.answers` checks.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from commonplace.facts.triples import triple_sentence
from commonplace.facts.words import bare_words, stem_of
from commonplace.model.note_words import plain_words
from commonplace.model.untrusted_text import clean_text
from commonplace.upkeep.day_note import DayMemory, topic_name

MOST_MEMORIES: Final = 12
"""Memories of one part of a day: a prompt gets three days of them, and a person reads them all."""
LONGEST_TOPICS: Final = 2
"""Topics of one memory."""
_GROUNDED: Final = 0.5  # of a memory's words that must have been said: a summary uses some words of its own
_LEAST: Final = 12  # characters of a memory that says something
_MOST_FACTS: Final = 20

SCHEMA: Final[Mapping[str, Any]] = {
    "type": "object",
    "properties": {
        "memories": {
            "type": ["array", "string"],
            "maxItems": 40,
            "description": "short statements about the day, the most useful first",
            "items": {
                "type": ["object", "string"],
                "properties": {"text": {"type": "string"}, "item": {"type": "integer", "minimum": 1}},
            },
        },
        "facts": {
            "type": ["array", "string"],
            "maxItems": 40,
            "items": {
                "type": "object",
                "properties": {
                    "subject": {"type": "string"},
                    "predicate": {"type": "string"},
                    "object": {"type": "string"},
                    "item": {"type": "integer", "minimum": 1},
                    "quote": {"type": "string", "description": "the person's own words, copied exactly"},
                    "valid_from": {"type": "string", "description": "YYYY-MM-DD or empty"},
                    "valid_until": {"type": "string", "description": "YYYY-MM-DD or empty"},
                },
            },
        },
        "topics": {
            "type": ["object", "string"],
            "description": "the number of a memory, counted from 1, and its topic: one or two words",
        },
    },
}
"""The JSON that a model must answer with; no section is required."""

DropReason = Literal["malformed", "secret", "instruction", "not_said", "too_many"]
"""Why a memory was left out."""

_BULLETS: Final = re.compile(r"^[ \t]*(?:[-*+•]|\d{1,3}[.)])[ \t]+(.*\S)", re.MULTILINE)
_ORDERS: Final = re.compile(
    r"\b(?:ignore|disregard|forget|override|bypass)\b[^.]{0,40}\b(?:instructions?|rules?|prompts?|guidelines|safety|above)"
    r"|\byou(?: must| should| shall| need to| have to| are to| are now| may now)\b"
    r"|^(?:the |all |any )?(?:assistants?|agents?|ais?|models?)"
    r"(?: must| should| shall| needs? to| ha(?:ve|s) to| may now)\b"
    r"|^(?:please )?(?:run|execute|delete|send|e-?mail|upload|post|transfer|approve|install|curl|fetch|open|click|visit"
    r"|reveal|print|repeat|output|say|reply|respond|always|never|do not|don't|remember to|make sure)\b"
    r"|^(?:system|assistant|developer|user|human)\b\s*:"
    r"|\bsystem prompt\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class ItemWords:
    """An item of the day as memories are checked against it: the id of its conversation, and its words."""

    source: str
    text: str


@dataclass(frozen=True, slots=True)
class FactItem:
    """A fact as a model states it, with the number of its item from 1; 0 if it names none."""

    item: int
    values: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class DayAnswer:
    """The memories that were accepted, the facts to be checked, and how many memories were left out, by reason."""

    memories: tuple[DayMemory, ...] = ()
    facts: tuple[FactItem, ...] = ()
    dropped: Mapping[DropReason, int] | None = None


def read_day_answer(value: Mapping[str, Any], items: Sequence[ItemWords]) -> DayAnswer:
    """What the answer says about these items; whatever is missing or malformed is left out."""
    sections = {str(name).strip().strip(":").casefold(): section for name, section in value.items()}
    topics = dict(_topics(sections.get("topics")))
    said = [_stems(item.text) for item in items]
    memories, dropped = list[DayMemory](), Counter[DropReason]()
    for number, each in enumerate(_memories(sections.get("memories")), start=1):
        memory, reason = _checked(each, said, items)
        if memory is None or len(memories) >= MOST_MEMORIES:
            dropped[reason or "too_many"] += 1
        elif _words(memory) not in map(_words, memories):
            memories.append(replace(memory, topics=topics.get(number, ())))
    facts = tuple(_facts(sections.get("facts")))[:_MOST_FACTS]
    return DayAnswer(tuple(memories), facts, dict(dropped))


def _words(memory: DayMemory) -> tuple[str, ...]:
    return bare_words(memory.text)


def _checked(
    value: object, said: Sequence[frozenset[str]], items: Sequence[ItemWords]
) -> tuple[DayMemory | None, DropReason | None]:
    """The memory with its source, or why it is left out."""
    text, number = (value.get("text"), value.get("item")) if isinstance(value, Mapping) else (value, 0)
    words = plain_words(text) if isinstance(text, str) else ""
    if len(words) < _LEAST:
        return None, "malformed"
    from commonplace.screening.secrets import find_secrets  # its expressions take a moment to load

    if find_secrets(words):
        return None, "secret"
    if _ORDERS.search(words):
        return None, "instruction"
    place = _place(words, said, named=number if isinstance(number, int) else 0)
    return (None, "not_said") if place is None else (DayMemory(words, source=items[place].source), None)


def _place(words: str, said: Sequence[frozenset[str]], *, named: int) -> int | None:
    """The place of the item that has the most of these words, the one that is named if it has enough; None if none."""
    stems = _stems(words)
    shares = [len(stems & each) / max(1, len(stems)) for each in said]
    if 1 <= named <= len(shares) and shares[named - 1] >= _GROUNDED:
        return named - 1
    best = max(range(len(shares)), key=lambda place: (shares[place], -place), default=None)
    return best if best is not None and shares[best] >= _GROUNDED else None


def _stems(text: str) -> frozenset[str]:
    return frozenset(stem_of(word) for word in bare_words(text) if len(word) > 2)


def _memories(section: object) -> Sequence[object]:
    """The memories in their order: a list, or the bullets or lines of a text."""
    if isinstance(section, str):
        parsed = _json(section)
        lines = [line for line in section.splitlines() if line.strip()]
        return parsed if isinstance(parsed, list) else _BULLETS.findall(section) or lines
    return section if isinstance(section, list | tuple) else ()


def _facts(section: object) -> Iterator[FactItem]:
    """The triples, each as the extractor reads a fact: with a sentence, its quote and its validity."""
    listed = _json(section) if isinstance(section, str) else section
    for each in listed if isinstance(listed, list | tuple) else ():
        if not isinstance(each, Mapping):
            continue
        subject, predicate, object_ = (_text(each.get(name)) for name in ("subject", "predicate", "object"))
        if subject and predicate and object_ and isinstance(each.get("quote"), str):
            item = each.get("item")
            values = {**each, "subject": subject, "predicate": predicate, "object": object_}
            values["text"] = triple_sentence(subject, predicate, object_)
            values.pop("message", None)
            yield FactItem(item if isinstance(item, int) and not isinstance(item, bool) else 0, values)


def _topics(section: object) -> Iterator[tuple[int, tuple[str, ...]]]:
    """The topics of memories by number: a map of numbers to a topic or several."""
    listed = _json(section) if isinstance(section, str) else section
    for number, topics in listed.items() if isinstance(listed, Mapping) else ():
        named = topics if isinstance(topics, list | tuple) else [topics]
        names = [name for each in named if isinstance(each, str) and (name := topic_name(each))]
        if names and str(number).strip().isdecimal() and len(str(number)) < 4:
            yield int(number), tuple(dict.fromkeys(names))[:LONGEST_TOPICS]


def _json(text: str) -> object:
    """The JSON value in a text, also in a code fence; None if there is none."""
    inner = re.sub(r"\A\s*```\w*\s*|\s*```\s*\Z", "", text)
    try:
        return json.loads(inner)
    except (ValueError, RecursionError):
        return None


def _text(value: object) -> str:
    return " ".join(clean_text(value).split()) if isinstance(value, str) else ""
