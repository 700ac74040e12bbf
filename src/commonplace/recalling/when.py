"""When a question speaks of: stretches of time by rules alone, and how near to them something lies."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, tzinfo
from math import exp
from typing import Final

from commonplace.recalling.lead import Lead, Rule, lead_of
from commonplace.recalling.spans import DAY, MONTHS, WEEKDAYS, YEAR, Span
from commonplace.recalling.times import in_utc, months_later
from commonplace.recalling.when_dates import DATES
from commonplace.recalling.when_relative import RELATIVE

MOST_WINDOWS: Final = 8
"""How many times of one question count."""

_FIRST, _LAST = "0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z"
_RULES: Final[Mapping[str, Rule]] = {rule.name: rule for rule in (*DATES, *RELATIVE)}
_PHRASE = re.compile(
    rf"(?<![\w.,/:$€£-])(?:{'|'.join(f'(?P<{rule.name}>{rule.pattern})' for rule in _RULES.values())})(?!\w)",
    re.IGNORECASE | re.ASCII,
)
_WORD = re.compile(r"[a-z]+|[0-9]", re.ASCII)
_HINTS = frozenset(
    {*MONTHS, *WEEKDAYS, *"0123456789", "ago", "last", "this", "next", "past", "previous", "current", "today"}
    | {"yesterday", "tonight", "christmas", "new", "valentine", "valentines", "halloween"}
)
"""A text without any of these words and digits names no time."""

_LINK = re.compile(r"(?:,? (?P<list>and|or)|(?P<comma>,)| (?:to|until|till|through|thru|-|–|—)|[–—])(?: the)? ?")
_ONWARD = re.compile(r" on(?:wards?)?\b", re.IGNORECASE)
_REFUSED = frozenset({"every", "each", "next", "by", "any", "per"})
_SEASONS = frozenset({"spring", "summer", "autumn", "fall", "winter"})
_VAGUE = frozenset(
    {
        "day",
        "days",
        "night",
        "nights",
        "week",
        "weeks",
        "month",
        "months",
        "year",
        "years",
        "morning",
        "evening",
        "shortly",
        "right",
        "just",
        "soon",
        "immediately",
        "long",
        "well",
        "sometime",
        "minutes",
        "hours",
    }
)


@dataclass(frozen=True, slots=True)
class Window:
    """A stretch of time that a question speaks of.

    `start` and `end` are text in UTC, half open, as the times of documents are; `tolerance` says how many days beside
    it something may lie and still be meant; `said` is the phrase.
    """

    start: str
    end: str
    tolerance: float
    said: str


@dataclass(frozen=True, slots=True)
class _Phrase:
    found: re.Match[str]
    lead: Lead
    span: Span

    def on(self, day: date) -> Span:
        """What it means if it is said on that day; the same, if its year was said."""
        return (_resolved(self.found, self.lead, day) if self.span.yearless else None) or self.span

    @property
    def tolerance(self) -> float:
        return self.span.tolerance * (2 if self.lead.rough else 1)


def windows_in(text: str, *, now: datetime) -> tuple[Window, ...]:
    """The times that an English text speaks of, in order; what is ambiguous is left out.

    Days are those of the zone of `now`.
    """
    if _HINTS.isdisjoint(_WORD.findall(text.lower())):
        return ()
    plain = " ".join(text.replace("’", "'").split())
    windows: dict[Window, None] = {}
    rest = _phrases(plain, now.date())
    while rest and len(windows) < MOST_WINDOWS:
        taken = 2 if len(rest) > 1 and _is_range(plain, *rest[:2]) else 1
        first, past = _range(*rest[:2]) if taken == 2 else _bounds(rest[0])
        start, end = _text(first, now.tzinfo, beyond=_FIRST), _text(past, now.tzinfo, beyond=_LAST)
        if start < end:
            tolerance = max(each.tolerance for each in rest[:taken])
            windows[Window(start, end, tolerance, plain[rest[0].lead.start : rest[taken - 1].found.end()])] = None
        rest = rest[taken:]
    return tuple(windows)


def nearness(at: str, windows: Sequence[Window]) -> float:
    """How well a time in UTC fits the windows, from 0 to 1: 1 inside the best of them, less the farther beside it.

    0 where nothing is known of the time, and where there is no window.
    """
    if not at:
        return 0.0
    return max((_nearness(at, window) for window in windows), default=0.0)


def _nearness(at: str, window: Window) -> float:
    if window.start <= at < window.end:
        return 1.0
    edge = window.start if at < window.start else window.end
    days = (datetime.fromisoformat(at) - datetime.fromisoformat(edge)) / DAY
    return exp(-0.5 * (days / window.tolerance) ** 2)


def _phrases(text: str, today: date) -> list[_Phrase]:
    phrases: list[_Phrase] = []
    for found in _PHRASE.finditer(text):
        chained = bool(phrases) and _link(text, phrases[-1].found, found) is not None
        lead = lead_of(text, found.start(), chained=chained)
        span = None if _is_refused(lead) else _resolved(found, lead, today)
        if span:
            phrases.append(_Phrase(found, lead, span))
    return phrases


def _resolved(found: re.Match[str], lead: Lead, today: date) -> Span | None:
    """What the phrase means on that day; nothing outside of the years that a calendar has."""
    try:
        return _RULES[found.lastgroup or ""].resolve(found, lead, today)
    except (ValueError, OverflowError):
        return None


def _is_refused(lead: Lead) -> bool:
    """Whether it is no one time (every March), or one that is only near it (two days before Christmas)."""
    if lead.word in {"before", "after"}:
        return lead.before in _VAGUE
    return lead.word in _REFUSED | _SEASONS or (lead.word == "of" and lead.before in _SEASONS)


def _link(text: str, one: re.Match[str], two: re.Match[str]) -> re.Match[str] | None:
    return _LINK.fullmatch(text, one.end(), two.start())


def _is_range(text: str, one: _Phrase, two: _Phrase) -> bool:
    """Whether two phrases are the ends of one time: from March to May, between March and May."""
    link = _link(text, one.found, two.found)
    if link is None or one.lead.word in {"before", "until", "till"}:
        return False
    return not (link["list"] or link["comma"]) if one.lead.word != "between" else link["list"] == "and"


def _range(one: _Phrase, two: _Phrase) -> tuple[datetime, datetime]:
    """From the beginning of one to the end of the other, in the same year or in two that follow each other."""
    if one.span.yearless:
        return one.on((two.span.past - DAY).date()).first, two.span.past
    return one.span.first, two.on(months_later(one.span.first.date(), YEAR) - DAY).past


def _bounds(phrase: _Phrase) -> tuple[datetime | None, datetime | None]:
    """From when to when; nothing for a side that is open."""
    span, lead = phrase.span, phrase.lead
    word = f"{lead.before} {lead.word}" if lead.word == "to" else lead.word
    if word == "since" or (word == "from" and _ONWARD.match(phrase.found.string, phrase.found.end())):
        return span.first, None
    if word == "after":
        return span.past, None
    if word in {"before", "prior to"}:
        return None, span.first
    return None if word in {"until", "till", "up to"} else span.first, span.past


def _text(at: datetime | None, zone: tzinfo | None, *, beyond: str) -> str:
    """The local moment as text in UTC; `beyond` where there is none, and where it is outside of the calendar."""
    try:
        return in_utc(at.replace(tzinfo=zone)) if at else beyond
    except OverflowError:
        return beyond
