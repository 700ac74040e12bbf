"""What a model answers about a conversation: the schema it is asked for, and which of its items are refused, and why.

A model is not believed. An item is accepted only if its quote stands in a message of the person, if the words around
the quote are the person's own plain statement (`speech`), and if its text names nothing that was not said.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import Any, Final, NamedTuple

from commonplace.extraction.options import LearnOptions
from commonplace.extraction.speech import SpokenClause, clauses_of, is_played, is_relative
from commonplace.model import FACT_CLASSES, FactClass
from commonplace.model.learning import (
    ExtractedFact,
    Extraction,
    FactRelation,
    Rejection,
    RejectReason,
    SpokenCommitment,
    Turn,
)
from commonplace.model.untrusted_text import clean_text

_DEFAULTS: Final = LearnOptions()
_KINDS: Final = ("fact", "preference", "identity", "event", "decision", "constraint", "workflow", "feedback")
_CLASSES: Final = FACT_CLASSES[1:]
_RELATIONS: Final[tuple[FactRelation, ...]] = ("new", "update", "extend", "derive", "end")
_LONGEST_TEXT: Final = 400  # characters of a fact: one statement
_LONGEST_QUOTE: Final = 600  # characters: more is a pasted block
_LONGEST_SUMMARY: Final = 1200
_MOST_NAMES: Final = 30  # mentions, questions and commitments that are kept of one conversation
_OWN_NAMES: Final = frozenset({"me", "i", "myself", "the person", "the user", "user"})
_LEAST_QUOTE: Final = 2  # words: one word stands anywhere

SCHEMA: Final[Mapping[str, Any]] = {
    "type": "object",
    "required": ["facts"],
    "properties": {
        "facts": {
            "type": "array",
            "maxItems": 40,
            "items": {
                "type": "object",
                "required": ["text", "quote", "message"],
                "properties": {
                    "text": {"type": "string", "description": "one statement, with absolute dates"},
                    "quote": {"type": "string", "description": "the person's own words, copied exactly"},
                    "message": {"type": "integer", "minimum": 1, "description": "number of the quoted message"},
                    "kind": {"type": "string", "enum": [*_KINDS]},
                    "class": {"type": "string", "enum": [*_CLASSES]},
                    "importance": {"type": "number", "minimum": 0, "maximum": 1},
                    "about": {"type": "string", "description": "the question that it answers, 2 to 6 words"},
                    "when": {"type": "string", "description": "situations in which it matters, in other words"},
                    "topics": {"type": "array", "maxItems": 5, "items": {"type": "string"}},
                    "relation": {"type": "string", "enum": [*_RELATIONS]},
                    "ends": {"type": "string", "description": "the words of the known fact that is over"},
                    "subject": {"type": "string"},
                    "predicate": {"type": "string"},
                    "object": {"type": "string"},
                    "valid_from": {"type": "string", "description": "YYYY-MM-DD or empty"},
                    "valid_until": {"type": "string", "description": "YYYY-MM-DD or empty"},
                },
            },
        },
        "summary": {"type": "string"},
        "mentions": {"type": "array", "items": {"type": "string"}},
        "questions": {"type": "array", "items": {"type": "string"}},
        "commitments": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["who", "what", "message"],
                "properties": {
                    "who": {"type": "string"},
                    "what": {"type": "string"},
                    "by": {"type": "string", "description": "YYYY-MM-DD or empty"},
                    "message": {"type": "integer", "minimum": 1},
                },
            },
        },
        "drift": {"type": "string"},
    },
}
"""The JSON that a model must answer with."""


class Quotation(NamedTuple):
    """The words of a quote as their message has them."""

    turn: Turn
    text: str


def read_answer(
    value: Mapping[str, Any],
    turns: Sequence[Turn],
    *,
    options: LearnOptions = _DEFAULTS,
    first: int = 1,
) -> Extraction:
    """What the answer says, checked against the messages: facts that may be offered to memory, and what was refused.

    Turns before number `first` are context: their facts were learned before, so that they are left out.
    """
    items = [_checked(each, turns, floor=options.importance_floor) for each in _list(value.get("facts"))]
    if is_played(turns):
        items = [Rejection(each.text, "hypothetical", each.turn) for each in items]
    rejections = [each for each in items if isinstance(each, Rejection)]
    facts = _each_once(each for each in items if isinstance(each, ExtractedFact) and each.turn >= first)
    best = sorted(facts, key=lambda each: -(each.importance or 0.0))[: options.max_facts]
    rejections += [Rejection(each.text, "too_many", each.turn) for each in facts if each not in best]
    commitments = tuple(_commitments(value.get("commitments"), turns, first=first))[:_MOST_NAMES]
    promised = () if is_played(turns) else tuple(_promised(commitments, turns))
    return Extraction(
        facts=(*(each for each in facts if each in best), *promised),
        rejections=tuple(rejections),
        summary=_text(value.get("summary"))[:_LONGEST_SUMMARY],
        mentions=_names(value.get("mentions")),
        questions=_names(value.get("questions")),
        commitments=commitments,
        drift=_text(value.get("drift"))[:_LONGEST_TEXT],
    )


def find_quote(quote: str, turns: Sequence[Turn], *, near: int = 0) -> Quotation | None:
    """The message that has these words, and the words as they stand there; None if no message has them.

    Blanks, dashes and quotation marks may differ. A message of the person comes first, then the one numbered `near`.
    """
    pattern = _quote_pattern(quote)
    if pattern is None:
        return None
    for turn in sorted(turns, key=lambda each: (each.role != "user", each.number != near, each.number)):
        if match := pattern.search(turn.text):
            return Quotation(turn, match[0])
    return None


def _checked(item: object, turns: Sequence[Turn], *, floor: float) -> ExtractedFact | Rejection:
    """The item as a fact with its literal quote, or why it is refused."""
    values = item if isinstance(item, Mapping) else {}
    text, quote = _text(values.get("text")), str(values.get("quote") or "")
    said = values.get("message")
    number = said if isinstance(said, int) and not isinstance(said, bool) else 0
    if not text or len(text) > _LONGEST_TEXT or not quote.strip():
        return Rejection(text[:_LONGEST_TEXT], "malformed", number)
    found = find_quote(quote, turns, near=number)
    if found is None or len(found.text) > _LONGEST_QUOTE or len(found.text.split()) < _LEAST_QUOTE:
        return Rejection(text, "no_quote", number)
    fact = _fact(values, text, found)
    reason = _flaw(fact, found, turns, floor=floor)
    return Rejection(text, reason, found.turn.number) if reason else fact


def _flaw(fact: ExtractedFact, found: Quotation, turns: Sequence[Turn], *, floor: float) -> RejectReason | None:
    """Why the fact is refused; None if it is not."""
    if found.turn.role != "user":
        return "not_the_person"
    if flaw := _spoken_flaw(found):
        return flaw
    if not _is_grounded(fact.text, _said_by(found.turn, turns), day=found.turn.day):
        return "invented"
    if fact.importance is not None and fact.importance < floor:
        return "unimportant"
    return None


def _spoken_flaw(found: Quotation) -> RejectReason | None:
    """Why the words are not the person's own plain statement, if most of them are not; None if they are one.

    Words such as "today" do not count against it: a model was asked for what lasts, and for absolute dates. A clause
    that tells more of the one before it ("..., which explains the rain") counts as that one does.
    """
    start = found.turn.text.find(found.text)
    end = start + len(found.text)
    letters: Counter[RejectReason | None] = Counter()
    before: SpokenClause | None = None
    for clause in clauses_of(found.turn.text):
        if before and is_relative(clause, before):
            clause = replace(clause, reason=before.reason)
        before = clause
        reason = None if clause.reason == "passing" else clause.reason
        letters[reason] += max(0, min(end, clause.end) - max(start, clause.start))
    plain = letters.pop(None, 0)
    if plain >= max(letters.total(), 1):
        return None
    return letters.most_common(1)[0][0] if letters else "quotation"  # what no clause has is pasted


def _fact(values: Mapping[str, Any], text: str, found: Quotation) -> ExtractedFact:
    begins, until = _day(values.get("valid_from")), _day(values.get("valid_until"))
    triple = tuple(_text(values.get(name)) for name in ("subject", "predicate", "object"))
    subject, predicate, object = triple if all(triple) else ("", "", "")
    return ExtractedFact(
        text=text,
        quote=found.text,
        turn=found.turn.number,
        kind=_one_of(values.get("kind"), _KINDS, "fact"),
        fact=_class(values.get("class")),
        relation=next((each for each in _RELATIONS if each == values.get("relation")), "new"),
        ends=_text(values.get("ends"))[:_LONGEST_TEXT],
        subject=subject,
        predicate=predicate,
        object=object,
        topics=_names(values.get("topics"))[:5],
        about=_text(values.get("about"))[:_LONGEST_TEXT],
        when=_text(values.get("when"))[:_LONGEST_TEXT],
        importance=_fraction(values.get("importance")),
        valid_from=begins,
        valid_until=until if until > begins else "",
    )


# ---------------------------------------------------------------- what a statement may name


_WORD: Final = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_STEM: Final = 4  # letters by which two forms of a word are recognised as one
_MONTHS: Final = "january february march april may june july august september october november december"
_DATES: Final = re.compile(
    rf"\b\d{{4}}(?:-\d{{2}}){{0,2}}\b|\b\d{{1,2}}(?:st|nd|rd|th)?\b(?=\s+(?:of\s+)?(?:{_MONTHS.replace(' ', '|')})\b)"
    rf"|\b(?:{_MONTHS.replace(' ', '|')})\b(?:\s+\d{{1,2}}\b)?",
    re.IGNORECASE,
)
_COMMON: Final = frozenset(
    [
        "that",
        "this",
        "with",
        "from",
        "have",
        "been",
        "were",
        "will",
        "they",
        "them",
        "their",
        "there",
        "about",
        "since",
        "until",
        "after",
        "before",
        "every",
        "which",
        "would",
        "user",
        "person",
    ]
)


def _said_by(turn: Turn, turns: Sequence[Turn]) -> str:
    """What a fact of this turn may speak of: the person's words so far, and the message that the turn answers."""
    before = [each for each in turns if each.number < turn.number]
    answered = [each.text for each in before[-1:] if each.role == "assistant"]
    return "\n".join([*(each.text for each in before if each.role == "user"), *answered, turn.text])


def _is_grounded(text: str, said: str, *, day: str) -> bool:
    """True if every name and number of the statement was said, and one of its words at least.

    Dates may be worked out from the day of the message: they are not looked for.
    """
    stated = _DATES.sub(" ", text) if day else text
    known = {*_stems(said)}
    words = [*_WORD.finditer(stated)]
    names = [each[0] for place, each in enumerate(words) if _is_name(each[0], is_first=place == 0)]
    content = [each[0] for each in words if len(each[0]) >= _STEM and each[0].casefold() not in _COMMON]
    return known.issuperset(_stems(" ".join(names))) and (not content or bool(known & {*_stems(" ".join(content))}))


def _is_name(word: str, *, is_first: bool) -> bool:
    """True for a number, and for a word with a capital letter that does not begin the statement."""
    if any(letter.isdigit() for letter in word):
        return True
    return word[0].isupper() and not is_first and len(word) > 1


def _stems(text: str) -> Iterator[str]:
    for word in _WORD.findall(text.casefold()):
        yield word if any(letter.isdigit() for letter in word) else word.replace("’", "'").partition("'")[0][:_STEM]


# ---------------------------------------------------------------- values of an answer


_QUOTE_MARKS: Final = "\"'`´“”„‟«»‘’‚‛"
_DASHES: Final = "\u2010\u2011\u2012\u2013\u2014\u2212-"
_PIECES: Final = re.compile(rf"\s+|[{_QUOTE_MARKS}]|[{_DASHES}]|…|[^\s{_QUOTE_MARKS}…{_DASHES}]+")


def _quote_pattern(quote: str) -> re.Pattern[str] | None:
    """An expression for the words of the quote; None if there are none, or too many."""
    stripped = quote.strip().strip(_QUOTE_MARKS).strip()
    if not stripped or len(stripped) > 2 * _LONGEST_QUOTE:
        return None
    return re.compile("".join(_piece_pattern(piece) for piece in _PIECES.findall(stripped)), re.IGNORECASE)


def _piece_pattern(piece: str) -> str:
    if piece.isspace():
        return r"\s+"
    if piece in _QUOTE_MARKS:
        return f"[{_QUOTE_MARKS}]"
    if piece in _DASHES:
        return f"[{_DASHES}]"
    return r"(?:…|\.\.\.)" if piece == "…" else re.escape(piece)


def _commitments(value: object, turns: Sequence[Turn], *, first: int) -> Iterator[SpokenCommitment]:
    """The commitments made in the messages that are read now."""
    numbers = {each.number for each in turns if each.number >= first}
    for item in _list(value):
        values = item if isinstance(item, Mapping) else {}
        who, what, turn = _text(values.get("who")), _text(values.get("what")), values.get("message")
        if who and what and isinstance(turn, int) and turn in numbers:
            yield SpokenCommitment(who[:_LONGEST_TEXT], what[:_LONGEST_TEXT], _day(values.get("by")), turn)


def _promised(commitments: Iterable[SpokenCommitment], turns: Sequence[Turn]) -> Iterator[ExtractedFact]:
    """The commitments that may be offered to memory: those that the person's own plain words state.

    The evidence is the sentence of the message that has most of the words of what is to be done.
    """
    by_number = {each.number: each for each in turns if each.role == "user"}
    for each in commitments:
        turn = by_number.get(each.turn)
        quote = _evidence(each.what, turn.text) if turn else ""
        if not turn or not quote or _spoken_flaw(Quotation(turn, quote)):
            continue
        is_own = each.who.casefold() in _OWN_NAMES
        who = "me" if is_own else each.who
        by = f" by {each.by}" if each.by else ""
        text = f"{'Committed' if is_own else f'{who} committed'} to {each.what.rstrip('. ')}{by}."
        if not is_own and not _is_grounded(who, _said_by(turn, turns), day=turn.day):
            continue
        yield ExtractedFact(
            text=text,
            quote=quote,
            turn=turn.number,
            kind="event",
            fact="event",
            subject=who,
            predicate="committed_to",
            object=each.what.rstrip(". "),
            due=each.by,
        )


def _evidence(what: str, text: str) -> str:
    """The clause of the text with at least half of the words of `what`, the most of all; empty if none has."""
    words = frozenset(_stems(what))
    clauses = [text[clause.start : clause.end] for clause in clauses_of(text)]
    shares = [(len(words & frozenset(_stems(clause))), clause) for clause in clauses]
    best = max(shares, key=lambda share: share[0], default=(0, ""))
    return best[1].strip() if words and best[0] * 2 >= len(words) else ""


def _each_once(facts: Iterable[ExtractedFact]) -> list[ExtractedFact]:
    """The facts without repetitions of the same words."""
    first: dict[str, ExtractedFact] = {}
    for each in facts:
        first.setdefault(" ".join(_WORD.findall(each.text.casefold())), each)
    return [*first.values()]


def _list(value: object) -> Sequence[object]:
    return value if isinstance(value, list | tuple) else ()


def _text(value: object) -> str:
    """The text on one line, without characters that cannot be seen; empty for anything else."""
    return " ".join(clean_text(value).split()) if isinstance(value, str) else ""


def _names(value: object) -> tuple[str, ...]:
    names = (_text(each)[:_LONGEST_TEXT] for each in _list(value))
    return tuple(dict.fromkeys(filter(None, names)))[:_MOST_NAMES]


def _one_of(value: object, words: Sequence[str], otherwise: str) -> str:
    return next((each for each in words if each == value), otherwise)


def _fraction(value: object) -> float | None:
    """The number within 0 and 1; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float) or math.isnan(value):
        return None
    return float(min(1.0, max(0.0, value)))


def _class(value: object) -> FactClass:
    return next((each for each in _CLASSES if each == value), "fact")


def _day(value: object) -> str:
    """The day if the value is one, such as 2026-03-01; empty for anything else."""
    text = _text(value)[:10]
    try:
        return date.fromisoformat(text).isoformat() if len(text) == 10 else ""
    except ValueError:
        return ""
