"""What a question asks for, by rules alone: its words, names, phrases and times, and the kind of answer it needs.

The rules are for English. For a question in another language they find less, and nothing wrong.

A prompt to an agent becomes a question first: `query_of_prompt` drops what was pasted into it, and
`has_nothing_to_search` recognises small talk.

The times that a question mentions, found by rules: "two weeks ago", "from March to May", "since Christmas".
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, tzinfo
from functools import cache
from typing import Final

from commonplace.model import TimeWindow
from commonplace.model.moment import MONTHS, WEEKDAYS, moment_text
from commonplace.questions.names import Mention, capitalised_names, find_speakers, in_first_person, without_speakers
from commonplace.questions.time_grammar import (
    DAY,
    YEAR,
    DateSpan,
    Qualifiers,
    TimeRule,
    months_later,
    qualifiers_before,
)
from commonplace.questions.time_rules import CALENDAR_RULES, RELATIVE_RULES
from commonplace.questions.words import STOP_WORDS, QueryWords, query_words

MAX_WINDOWS: Final = 8
"""How many times of one question count."""

_FIRST, _LAST = "0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z"
_RULES: Final[Mapping[str, TimeRule]] = {rule.name: rule for rule in (*CALENDAR_RULES, *RELATIVE_RULES)}
_HINTS: Final = frozenset(
    {*MONTHS, *WEEKDAYS, *"0123456789", "ago", "last", "this", "next", "past", "previous", "current", "today"}
    | {"yesterday", "tonight", "christmas", "new", "valentine", "valentines", "halloween"}
)
"""A text without any of these words and digits mentions no time."""

_REPEATING: Final = frozenset({"every", "each", "next", "by", "any", "per"})
_SEASONS: Final = frozenset({"spring", "summer", "autumn", "fall", "winter"})
_VAGUE_DISTANCES: Final = frozenset({
    "day", "days", "night", "nights", "week", "weeks", "month", "months", "year", "years", "morning", "evening",
    "shortly", "right", "just", "soon", "immediately", "long", "well", "sometime", "minutes", "hours",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Phrase:
    match: re.Match[str]
    qualifiers: Qualifiers
    span: DateSpan

    def on(self, day: date) -> DateSpan:
        """What the phrase means when said on that day; a phrase with a year always means its own span."""
        return (_resolve(self.match, self.qualifiers, day) if self.span.yearless else None) or self.span

    @property
    def tolerance(self) -> float:
        return self.span.tolerance * (2 if self.qualifiers.approximate else 1)


def time_windows(text: str, *, now: datetime) -> tuple[TimeWindow, ...]:
    """The times that an English text mentions, in order; ambiguous phrases are left out.

    Days are those of the zone of `now`.
    """
    if _HINTS.isdisjoint(re.findall(r"[a-z]+|[0-9]", text.lower(), re.ASCII)):
        return ()
    plain = " ".join(text.replace("’", "'").split())
    windows: dict[TimeWindow, None] = {}
    rest = _phrases(plain, now.date())
    while rest and len(windows) < MAX_WINDOWS:
        count = 2 if len(rest) > 1 and _is_range(plain, *rest[:2]) else 1
        first, past = _range(*rest[:2]) if count == 2 else _bounds(rest[0])
        start, end = _text(first, now.tzinfo, beyond=_FIRST), _text(past, now.tzinfo, beyond=_LAST)
        if start < end:
            tolerance = max(phrase.tolerance for phrase in rest[:count])
            words = plain[rest[0].qualifiers.start : rest[count - 1].match.end()]
            windows[TimeWindow(start, end, tolerance, words)] = None
        rest = rest[count:]
    return tuple(windows)


def _phrases(text: str, today: date) -> list[_Phrase]:
    phrases: list[_Phrase] = []
    for match in _phrase_pattern().finditer(text):
        chained = bool(phrases) and _link(text, phrases[-1].match, match) is not None
        qualifiers = qualifiers_before(text, match.start(), chained=chained)
        span = None if _is_unusable(qualifiers) else _resolve(match, qualifiers, today)
        if span:
            phrases.append(_Phrase(match, qualifiers, span))
    return phrases


@cache
def _phrase_pattern() -> re.Pattern[str]:
    """All rules in one pattern; the name of the group that matched is the name of the rule."""
    return re.compile(
        rf"(?<![\w.,/:$€£-])(?:{'|'.join(f'(?P<{rule.name}>{rule.pattern})' for rule in _RULES.values())})(?!\w)",
        re.IGNORECASE | re.ASCII,
    )


def _resolve(match: re.Match[str], qualifiers: Qualifiers, today: date) -> DateSpan | None:
    """What the phrase means on that day; None outside the years 1 to 9999."""
    try:
        return _RULES[match.lastgroup or ""].resolve(match, qualifiers, today)
    except (ValueError, OverflowError):
        return None


def _is_unusable(qualifiers: Qualifiers) -> bool:
    """True if it is not one time (every March), or only near the one named (two days before Christmas)."""
    if qualifiers.relation in {"before", "after"}:
        return qualifiers.word_before in _VAGUE_DISTANCES
    return qualifiers.relation in _REPEATING | _SEASONS or (
        qualifiers.relation == "of" and qualifiers.word_before in _SEASONS
    )


def _link(text: str, one: re.Match[str], two: re.Match[str]) -> re.Match[str] | None:
    return _link_pattern().fullmatch(text, one.end(), two.start())


@cache
def _link_pattern() -> re.Pattern[str]:
    return re.compile(r"(?:,? (?P<list>and|or)|(?P<comma>,)| (?:to|until|till|through|thru|-|–|—)|[–—])(?: the)? ?")


def _is_range(text: str, one: _Phrase, two: _Phrase) -> bool:
    """True if two phrases are the ends of one time: from March to May, between March and May."""
    link = _link(text, one.match, two.match)
    if link is None or one.qualifiers.relation in {"before", "until", "till"}:
        return False
    return not (link["list"] or link["comma"]) if one.qualifiers.relation != "between" else link["list"] == "and"


def _range(one: _Phrase, two: _Phrase) -> tuple[datetime, datetime]:
    """From the start of one to the end of the other, in the same year or in two consecutive years."""
    if one.span.yearless:
        return one.on((two.span.past - DAY).date()).first, two.span.past
    return one.span.first, two.on(months_later(one.span.first.date(), YEAR) - DAY).past


def _bounds(phrase: _Phrase) -> tuple[datetime | None, datetime | None]:
    """Start and end; None for an open side."""
    span, qualifiers = phrase.span, phrase.qualifiers
    word = f"{qualifiers.word_before} {qualifiers.relation}" if qualifiers.relation == "to" else qualifiers.relation
    if word == "since" or (word == "from" and _has_onward(phrase.match)):
        return span.first, None
    if word == "after":
        return span.past, None
    if word in {"before", "prior to"}:
        return None, span.first
    return None if word in {"until", "till", "up to"} else span.first, span.past


def _has_onward(match: re.Match[str]) -> bool:
    """True if "on" or "onwards" follows the phrase."""
    return bool(re.compile(r" on(?:wards?)?\b", re.IGNORECASE).match(match.string, match.end()))


def _text(at: datetime | None, zone: tzinfo | None, *, beyond: str) -> str:
    """The local time as moment text; `beyond` for None and for a time outside the calendar."""
    try:
        return moment_text(at.replace(tzinfo=zone)) if at else beyond
    except OverflowError:
        return beyond


MAX_READ: Final = 2000
"""How many characters of a question the rules read."""

_SHORT_PROMPT: Final = 600  # characters of a prompt that is searched whole: encoding time grows with the text
_PROMPT_END: Final = 250  # characters taken from the beginning of a longer one, and from its end
_LONGEST_HALVED: Final = 200  # characters of a question that may be halved: each half costs an encoding
_WORDS_OF_HALF: Final = 2
_MAX_ERROR_LINE: Final = 200
_MAX_ERRORS: Final = 3
_SMALL_TALK: Final = """
hello hi hey ok okay yes yeah thanks thank like look looks great good nice fine well right wrong today
"""
"""Words that give nothing to search for in a message that has no others."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question as the rules understood it.

    `words` are those to search for, without the names of speakers while any other word remains; `sense` is the text to
    encode, with the names of speakers changed to the first person.
    `speakers` are the known speakers it names, as the index spells them; `names` are its capitalised names and
    `phrases` its quotations, both in order; `windows` are the times it mentions.
    `asks_reply`: it asks about something an assistant said before. `asks_many`: the answer is in more than one place.
    `halves` are the two things that it asks for, each in its own words; empty if it asks for one.
    `names` and `asks_many` only explain a search to its caller: ranking by them was tried and changed nothing.
    """

    text: str
    words: QueryWords
    sense: str
    speakers: tuple[str, ...]
    names: tuple[str, ...]
    phrases: tuple[str, ...]
    windows: tuple[TimeWindow, ...]
    asks_reply: bool
    asks_many: bool
    halves: tuple[str, ...] = ()


def understand(text: str, *, now: datetime, speakers: frozenset[str] = frozenset()) -> Question:
    """The question as the rules understand it; whatever is ambiguous is left out.

    `now` decides, in its own zone, what "yesterday" is; `speakers` are the names that the index knows. Never raises.
    """
    head = text[:MAX_READ]
    mentions = find_speakers(head, speakers)
    unquoted = _quotation().sub(" … ", head)
    return Question(
        text=text,
        words=_words(text, mentions),
        sense=in_first_person(text, mentions),
        speakers=tuple(dict.fromkeys(each.speaker for each in mentions)),
        names=capitalised_names(head),
        phrases=_quoted_phrases(head),
        windows=time_windows(unquoted, now=now),
        asks_reply=asks_reply(unquoted),
        asks_many=asks_many(unquoted),
        halves=halves_of(text),
    )


def halves_of(text: str) -> tuple[str, ...]:
    """The two things that a short question asks for, as in "the oldest bridge, and who paid for it"; else nothing.

    Both halves need at least two words that say something: a list of three or an afterthought is not halved.
    """
    halves = _between_halves().split(text.strip()) if len(text) <= _LONGEST_HALVED else []
    if len(halves) != 2:
        return ()
    counts = [len({*query_words(half).spelled} - STOP_WORDS) for half in halves]
    return tuple(half.strip() for half in halves) if min(counts) >= _WORDS_OF_HALF else ()


def phrases_in(text: str, phrases: Sequence[str]) -> tuple[str, ...]:
    """The phrases that the text contains, ignoring case and differences in white space."""
    folded = " ".join(text.casefold().split())
    return tuple(phrase for phrase in phrases if " ".join(phrase.casefold().split()) in folded)


def _words(text: str, mentions: tuple[Mention, ...]) -> QueryWords:
    """The words to search for, without speakers' names: people rarely say their own, so these would match others."""
    others = query_words(without_speakers(text, mentions))
    return others if not mentions or not STOP_WORDS.issuperset(others.spelled) else query_words(text)


def _quoted_phrases(text: str) -> tuple[str, ...]:
    quoted = ("".join(groups).strip() for groups in _quotation().findall(text))
    return tuple(dict.fromkeys(phrase for phrase in quoted if phrase))


@cache
def _between_halves() -> re.Pattern[str]:
    """Between two halves of a question, in English or German."""
    return re.compile(r"\s*;\s+|,\s+(?:and|or|und|oder)\s+|\s+(?:versus|vs\.?|as well as|sowie)\s+", re.IGNORECASE)


@cache
def _quotation() -> re.Pattern[str]:
    return re.compile(
        r"\"([^\"\n]{2,200})\"|“([^”\n]{2,200})”|„([^“”\n]{2,200})[“”]|«([^»\n]{2,200})»"
        r"|(?<!\w)'(?! )((?:[^'\n]|(?<=\w)'(?=\w)){2,200})(?<! )'(?!\w)"
        r"|(?<!\w)‘((?:[^‘’\n]|(?<=\w)’(?=\w)){2,200})’(?!\w)"
    )


def asks_reply(text: str) -> bool:
    """True if it asks about something an assistant said before; "can you suggest" asks for something new."""
    plain = text.replace("’", "'")
    if _earlier_reply().search(plain):
        return True
    reminder = _reminder().search(plain)
    return reminder is not None and not _first_person().search(plain, reminder.end())


def asks_many(text: str) -> bool:
    """True if the answer is in more than one place: a count, a list, an order, a comparison, the time between two."""
    return bool(_several_places().search(text)) or _compares(text) or _asks_between(text)


def _compares(text: str) -> bool:
    """True if two things are compared: which was first, one or the other."""
    position = text.rfind(" or ")
    return position > 0 and bool(_comparison().search(text, 0, position))


def _asks_between(text: str) -> bool:
    position = text.find("between ")
    return position >= 0 and text.find(" and ", position) > position


@cache
def _earlier_reply() -> re.Pattern[str]:
    past = (
        "said|told|suggested|recommended|mentioned|gave|listed|explained|wrote|provided|proposed|described|advised"
        "|showed|shared|answered|replied|named|generated|created|drafted|made|referred|pointed|quoted|outlined"
        "|came up with"
    )
    present = (
        "say|tell|suggest|recommend|mention|give|list|explain|write|provide|propose|describe|advise|show|share|answer"
        "|reply|name|generate|create|draft|make|refer|point|quote|outline|come up with"
    )
    talk = (
        "chat|conversation|discussion|session|exchange|talk"
        "|answer|reply|response|suggestion|recommendation|message|list|advice"
    )
    return re.compile(
        rf"\b(?:you(?:'ve|'d| have| had)?(?: (?:\w+ly|just|also|once|already|ever))? (?:{past})"
        rf"|did you(?: (?:\w+ly|just|also|once|already|ever))? (?:{present})"
        rf"|(?:our|your|an?) (?:previous|earlier|last|past|prior|former) (?:{talk})s?"
        r"|we (?:discussed|(?:talked|spoke|chatted) about|went over|covered) (?:earlier|before|previously|last time)"
        r"|you were (?:saying|telling me|suggesting|recommending|explaining))\b",
        re.IGNORECASE,
    )


@cache
def _reminder() -> re.Pattern[str]:
    return re.compile(r"\bremind me(?: again)? (?:of|about|what|which|who|where|when|how|why|the)\b", re.IGNORECASE)


@cache
def _first_person() -> re.Pattern[str]:
    return re.compile(r"\b(?:i|i'm|i've|i'd|my|mine|we|our)\b", re.IGNORECASE)


@cache
def _several_places() -> re.Pattern[str]:
    times = "day|night|week|weekend|month|year|morning|evening|time|hour|minute|" + "|".join(WEEKDAYS)
    extremes = "earliest|oldest|first|latest|newest|last|most recent"
    return re.compile(
        r"\b(?:how (?:many|often)|in total|altogether|total (?:number|amount|cost|of|time)|combined|across|on average"
        r"|average|both|compare[ds]?|chronological\w*|most (?:often|frequently)|so far"
        r"|(?:what|which|right|correct) order|order (?:in which|of (?:the|these|those|my|our|events))"
        rf"|(?:{extremes}) to (?:the )?(?:{extremes})|every (?:single )?time|(?:every|each)(?! (?:other|{times})\b)"
        r"|(?<!at )(?<!after )(?<!above )(?<!of )all(?! (?:right|day|night|week|year|along|over|about|set|the time)\b)"
        r"|(?:^|(?<=[.,?!:] )|(?<=please )|(?<=you )|(?<=to )|(?<=and ))(?:list|enumerate|count)(?= \w)"
        r"|(?:what|which)(?: (?:kinds?|types?|sorts?) of)?(?: \w+){0,2} \w+[^\W_suai]s"
        r" (?:have|has|had|did|do|does|are|were)"
        r"|(?:what|which) (?:\w+ ){0,4}(?:have|has) (?:i|we|you|he|she|they))\b",
        re.IGNORECASE,
    )


@cache
def _comparison() -> re.Pattern[str]:
    return re.compile(
        r"\b(?:first|last|earlier|later|sooner|before|more|most|less|longer|shorter|older|newer|bigger|better"
        r"|cheaper)\b",
        re.IGNORECASE,
    )


def query_of_prompt(prompt: str) -> str:
    """What to search for: a short prompt whole; of a long one the beginning, the first error lines, and the end.

    A long prompt is mostly pasted (a log, a mail, a file), with the question before or after it. Quoted lines of a mail
    are left out unless there are no others.
    """
    if len(prompt) <= _SHORT_PROMPT:
        return prompt
    lines = [line.strip() for line in prompt.splitlines() if line.strip()]
    own_lines = [line for line in lines if not line.startswith((">", "|"))] or lines
    beginning, end = _first_lines(own_lines), _first_lines(own_lines[::-1])[::-1]
    return "\n".join(dict.fromkeys([*beginning, *_error_lines(own_lines), *end]))


def has_nothing_to_search(prompt: str) -> bool:
    """True if a prompt is only stop words and small talk: `what can you do?`, `no, not like that`."""
    words = [word.replace("'", "") for word in re.findall(r"\w+", prompt.casefold().replace("’", "'"))]
    return all(word in STOP_WORDS or word in _small_talk() for word in words)


@cache
def _small_talk() -> frozenset[str]:
    return frozenset(_SMALL_TALK.split())


def _first_lines(lines: list[str]) -> list[str]:
    """The first lines that fit, and at least one, cut if necessary."""
    taken: list[str] = []
    for line in lines:
        if taken and sum(map(len, taken)) + len(line) > _PROMPT_END:
            break
        taken.append(line[:_PROMPT_END])
    return taken


def _error_lines(lines: list[str]) -> Iterator[str]:
    """The first lines that report an error; lines that differ only in their times count once."""
    seen: set[str] = set()
    for line in lines:
        if not _error().search(line):
            continue
        kind = re.sub(r"[\d:.,TZ/+-]*\d[\d:.,TZ/+-]*", "", line)
        if kind not in seen:
            seen.add(kind)
            yield line[:_MAX_ERROR_LINE]
        if len(seen) == _MAX_ERRORS:
            return


@cache
def _error() -> re.Pattern[str]:
    return re.compile(
        r"error|exception|fail|fatal|refused|denied|cannot|timeout|timed out|panic|traceback", re.IGNORECASE
    )
