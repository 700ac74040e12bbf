"""Times as people say them, made absolute: "since August" said in November 2026 is "since August 2026".

A phrase without a year means the nearest one: before the day on which it was said if the sentence is about the past,
otherwise after it; but a day that is weeks away on one side and most of a year on the other is the near one, whatever
the tense: "signed up for 14 November", said in August. A week becomes its month, because no statement that is worth
keeping depends on the week.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final

from commonplace.model.moment import MONTHS, WEEKDAYS, long_day
from commonplace.model.text import LazyPattern

_NAMES: Final = "|".join(sorted((name for name in MONTHS if name != "mar"), key=len, reverse=True))
_DAY: Final = r"(?:[12][0-9]|3[01]|0?[1-9])(?:st|nd|rd|th)?"
_NO_YEAR: Final = r"(?!,?\ (?:of\ )?[12][0-9]{3}\b)(?![\w'-])"
_COUNTS: Final = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "ten": 10}
_ORDINALS: Final = {"first": 1, "second": 2, "third": 3, "tenth": 10, "fifteenth": 15, "last": 31}
_SEASONS: Final = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
_FAR: Final = timedelta(days=240)
_CLOSE: Final = timedelta(days=100)
_ENDS: Final = frozenset({"until", "till", "through"})
_STARTS: Final = frozenset({"since", "from", "starting", "as of", "effective"})

_PHRASES: Final = LazyPattern(
    rf"""(?<![\w'-])(?:(?P<word>since|from|starting|as\ of|effective|until|till|through|in|on|by|during|of)\ )??(?:
    (?P<range_first>{_DAY})\ ?(?:to|until|till|-|–|—|and)\ ?(?:the\ )?(?P<range_last>{_DAY})\ (?:of\ )?
        (?P<range_month>{_NAMES})
    |(?:the\ )?(?P<day>{_DAY}|first|second|third|tenth|fifteenth|last)\ of\ (?P<which_month>this|last|next)\ month
    |(?:the\ )?(?P<month_day>{_DAY})\ (?:of\ )?(?P<day_month>{_NAMES})
    |(?P<month_first>{_NAMES})\ (?P<day_second>{_DAY})(?!:)
    |the\ (?P<bare_day>(?:[12][0-9]|3[01]|[1-9])(?:st|nd|rd|th))(?!\ (?!(?:and|of|to|or|at|is|as)\b)[a-z])
    |(?P<ago_count>\d{{1,2}}|{"|".join(_COUNTS)})\ (?P<ago_unit>day|week|month|year)s?\ ago
    |(?P<which>last|next|this)\ (?P<unit>week|month|year|{"|".join(_SEASONS)}|{"|".join(WEEKDAYS)}|{_NAMES})
    |(?<=on\ )(?P<past_weekday>{"|".join(WEEKDAYS)})
    |(?P<day_word>yesterday|today|tomorrow)
    ){_NO_YEAR}
    |(?<![\w'-])(?P<before>since|from|starting|until|till|through|in|by|during|of|early|late|mid|every)\ (?:the\ )?
        (?P<month>{_NAMES}|{"|".join(_SEASONS)}){_NO_YEAR}(?!\ \d{{1,2}}(?:st|nd|rd|th)?\b)""",
    re.IGNORECASE | re.VERBOSE,
)
_FUTURE: Final = LazyPattern(
    r"\b(?:booked|scheduled|planned|moved (?:from|to)(?= (?:the )?\d)|postponed|pushed|due|"
    r"valid|expires?|runs out|until|till|next|will|'ll|going|goes|starts|begins|by)\b",
    re.IGNORECASE,
)
_PAST: Final = LazyPattern(
    r"\b(?:since|ago|last|was|were|did|had|got|took|went|left|sold|quit|became|been|gave|bought|met"
    r"|began|born|\w+ed)\b"
    r"|'ve\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class DatedText:
    """A text with absolute times. The days are those that it says it holds from and until; `has_date`: it has one."""

    text: str
    valid_from: str = ""
    valid_until: str = ""
    has_date: bool = False


@dataclass(frozen=True, slots=True)
class _Said:
    """The day on which a sentence was said, whether it is about the past, and a day to come that was named before.

    `sure`: the words leave no choice, as "since" does.
    """

    day: date
    past: bool
    near: date | None = None
    sure: bool = False


@dataclass(frozen=True, slots=True)
class _Moment:
    """A time of the calendar: how it is written, with the preposition that it needs, and its first day."""

    text: str
    preposition: str
    first: date


def absolute_dates(text: str, day: date, *, starts: bool = False, near: date | None = None) -> DatedText:
    """The text with every time that needs the day on which it was said made absolute.

    `starts` says that the sentence is about the beginning of something: its time then counts as `valid_from`. `near` is
    a day that was named before: "until the 26th" then means the next 26th after it.
    """
    past = bool(_PAST.search(text)) and not _FUTURE.search(text)
    parts: list[str] = []
    days = {"from": "", "until": ""}
    position = 0
    for match in _PHRASES.finditer(text):
        word = (match["word"] or match["before"] or "").lower()
        is_sure = word in _ENDS or word in ("since", "by")
        is_past = word == "since" or (past and word not in _ENDS)
        moment = None if word == "every" else _resolve(match, _Said(day, is_past, near, is_sure))
        if moment is None:
            continue
        near = max(near or moment.first, moment.first)
        parts += [text[position : match.start()], _phrase(word, match, moment)]
        position = match.end()
        if word in _ENDS:
            days["until"] = moment.first.isoformat()
        elif word in _STARTS or (starts and not days["from"]):
            days["from"] = moment.first.isoformat()
    return DatedText("".join((*parts, text[position:])), days["from"], days["until"], has_date=bool(parts))


def _phrase(word: str, match: re.Match[str], moment: _Moment) -> str:
    """The time with the word before it; the preposition that it needs where it had none."""
    if word == "starting":
        return f"starting {moment.preposition} {moment.text}"
    if match["range_month"]:
        return f"{word} {moment.text}".strip() if word else moment.text
    if match["past_weekday"] and not word:
        return moment.text
    if not word and (match["month_day"] or match["month_first"] or match["bare_day"] or match["day"]):
        return moment.text
    return f"{word or moment.preposition} {moment.text}"


def _resolve(match: re.Match[str], said: _Said) -> _Moment | None:
    for group, resolver in _RESOLVERS.items():
        if match[group]:
            try:
                return resolver(match, said)
            except (ValueError, OverflowError):
                return None
    return None


def _range(match: re.Match[str], said: _Said) -> _Moment:
    month = MONTHS[match["range_month"].lower()]
    first = _nearest(said, month, _number(match["range_first"]))
    last = first.replace(day=_number(match["range_last"]))
    return _Moment(f"{first.day} to {long_day(last.isoformat())}", "from", first)


def _day_of_named_month(match: re.Match[str], said: _Said) -> _Moment:
    name, number = match["day_month"] or match["month_first"], match["month_day"] or match["day_second"]
    return _on(_nearest(said, MONTHS[name.lower()], _number(number)))


def _day_of_this_month(match: re.Match[str], said: _Said) -> _Moment:
    shift = {"this": 0, "last": -1, "next": 1}[match["which_month"].lower()]
    first = _months_later(said.day.replace(day=1), shift)
    text = match["day"].lower()
    return _on(first.replace(day=_ORDINALS.get(text) or _number(text)))


def _bare_day(match: re.Match[str], said: _Said) -> _Moment:
    number = _number(match["bare_day"])
    if said.near and said.near > said.day and not said.past:
        said = _Said(said.near, past=False)
    month = said.day.replace(day=1)
    for _ in range(12):
        try:
            candidate = month.replace(day=number)
        except ValueError:
            candidate = None
        if candidate and (candidate <= said.day if said.past else candidate > said.day):
            return _on(candidate)
        month = _months_later(month, -1 if said.past else 1)
    raise ValueError(number)


def _ago(match: re.Match[str], said: _Said) -> _Moment:
    text = match["ago_count"].lower()
    count = _COUNTS.get(text) or int(text)
    unit = match["ago_unit"].lower()
    if unit == "year":
        return _in_year(said.day.year - count)
    if unit == "month":
        return _in_month(_months_later(said.day.replace(day=1), -count))
    then = said.day - timedelta(days=count * (7 if unit == "week" else 1))
    return _in_month(then) if unit == "week" else _on(then)


def _relative(match: re.Match[str], said: _Said) -> _Moment | None:
    which, unit = match["which"].lower(), match["unit"].lower()
    shift = {"this": 0, "last": -1, "next": 1}[which]
    if unit in WEEKDAYS:
        return _weekday(said.day, WEEKDAYS[unit], shift)
    if unit in MONTHS:
        return _named_month(said.day, MONTHS[unit], past=which == "last" or (which == "this" and said.past))
    if unit in _SEASONS:
        return _season(said.day, unit, past=which == "last" or (which == "this" and said.past))
    if unit == "year":
        return _in_year(said.day.year + shift)
    return _in_month(
        _months_later(said.day.replace(day=1), shift) if unit == "month" else said.day + timedelta(days=7 * shift)
    )


def _weekday(day: date, weekday: int, shift: int) -> _Moment | None:
    if shift == 0:
        return None
    back = (day.weekday() - weekday - 1) % 7 + 1
    return _on(day - timedelta(days=back) if shift < 0 else day + timedelta(days=8 - back if back < 7 else 7))


def _past_weekday(match: re.Match[str], said: _Said) -> _Moment | None:
    """The last such day; None if it is one to come, which no statement that lasts depends on."""
    return _weekday(said.day, WEEKDAYS[match["past_weekday"].lower()], -1) if said.past else None


def _day_word(match: re.Match[str], said: _Said) -> _Moment:
    shift = {"yesterday": -1, "today": 0, "tomorrow": 1}[match["day_word"].lower()]
    return _on(said.day + timedelta(days=shift))


def _month(match: re.Match[str], said: _Said) -> _Moment:
    name = match["month"].lower()
    if name in _SEASONS:
        return _season(said.day, name, past=said.past)
    return _named_month(said.day, MONTHS[name], past=said.past)


def _named_month(day: date, month: int, *, past: bool) -> _Moment:
    year = day.year
    if past and month > day.month:
        year -= 1
    if not past and month < day.month:
        year += 1
    return _in_month(date(year, month, 1))


def _season(day: date, season: str, *, past: bool) -> _Moment:
    first = date(day.year, _SEASONS[season], 1)
    if past and first > day:
        first = first.replace(year=day.year - 1)
    if not past and _months_later(first, 3) <= day:
        first = first.replace(year=day.year + 1)
    return _Moment(f"{season} {first.year}", "in", first)


_RESOLVERS: Final[Mapping[str, Callable[[re.Match[str], _Said], _Moment | None]]] = {
    "range_month": _range,
    "which_month": _day_of_this_month,
    "day_month": _day_of_named_month,
    "month_first": _day_of_named_month,
    "bare_day": _bare_day,
    "ago_unit": _ago,
    "unit": _relative,
    "past_weekday": _past_weekday,
    "day_word": _day_word,
    "month": _month,
}


def _nearest(said: _Said, month: int, number: int) -> date:
    """That day of the month, the last one up to the day of the words or the next one from it on."""
    then = date(said.day.year, month, number)
    if then == said.day:
        return then
    last = then if then < said.day else then.replace(year=then.year - 1)
    following = then if then > said.day else then.replace(year=then.year + 1)
    meant, other = (last, following) if said.past else (following, last)
    is_odd = abs(meant - said.day) > _FAR and abs(other - said.day) < _CLOSE
    return other if is_odd and not said.sure else meant


def _number(text: str) -> int:
    return int(text.rstrip("stndrhSTNDRH"))


def _on(day: date) -> _Moment:
    return _Moment(long_day(day.isoformat()), "on", day)


def _in_month(day: date) -> _Moment:
    return _Moment(f"{day:%B %Y}", "in", day.replace(day=1))


def _in_year(year: int) -> _Moment:
    return _Moment(str(year), "in", date(year, 1, 1))


def _months_later(first: date, months: int) -> date:
    """The first day of the month that is so many months later."""
    year, month = divmod(first.year * 12 + first.month - 1 + months, 12)
    return date(year, month + 1, 1)
