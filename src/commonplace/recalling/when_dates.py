"""Times that the calendar names: 2023-05-08, May 5th, in March, in 2022, at Christmas."""

import re
from collections.abc import Mapping
from datetime import date
from typing import Final

from commonplace.recalling.lead import Lead, Rule
from commonplace.recalling.spans import DAY, MONTHS, WEEKDAYS, YEAR, Span, a_day, a_month, a_year
from commonplace.recalling.times import months_later

_MONTH = "|".join(sorted(MONTHS, key=len, reverse=True))
_WEEKDAY = rf"(?:(?:on )?(?:{'|'.join(WEEKDAYS)}),? )?"
_DAY_NUMBER = r"[0-3]?[0-9]"
_ORDINAL = r"(?:st|nd|rd|th)"
_NUMBER_ENDS = r"(?![0-9:%/]|[.,][0-9])"
_A_YEAR = r"[12][0-9]{3}(?![0-9])|(?:last|this) year"


def _in_year(name: str) -> str:
    return rf"(?:,? (?:of |in )?(?P<{name}>{_A_YEAR}))?"


_HOLIDAYS: Final[Mapping[str, tuple[int, int]]] = {
    "christmas": (12, 25),
    "christmas day": (12, 25),
    "christmas eve": (12, 24),
    "halloween": (10, 31),
    "new years day": (1, 1),
    "new years eve": (12, 31),
    "valentines day": (2, 14),
    "fourth of july": (7, 4),
    "4th of july": (7, 4),
    "july 4th": (7, 4),
    "july fourth": (7, 4),
}
_CLEAR = frozenset({"january", "february", "july", "september", "october", "november", "december"})
_VERBS = frozenset({"may", "march", "mar"})
_WITHIN = frozenset({"in", "during", "since", "until", "till", "throughout"})
_BESIDE = frozenset({"before", "after", "between", "from", "for", "of", "through"})
_FESTIVE = _WITHIN | _BESIDE | {"on", "at", "over"}
_CLAUSE_ENDS = re.compile(r"(?:$|[,.;:?!)–—]| (?:and|or|to|until|till|through|thru|on|onwards?)\b)")
_COUNTED = "words|people|steps|miles|km|dollars|euros|pounds|calories|characters|tokens|hours|days|times|feet|pages"
_FIRST_YEAR, _LAST_YEAR = 1900, 2100
_LEAP_CYCLE = 8


def _iso(found: re.Match[str], _lead: Lead, _today: date) -> Span | None:
    year, month, day = found["iso_year"], found["iso_month"], found["iso_day"]
    first = _date(int(year), int(month), int(day or 1))
    if first is None:
        return None
    return a_day(first, tolerance=1.0) if day else a_month(first)


def _slashed(found: re.Match[str], _lead: Lead, _today: date) -> Span | None:
    """Nothing where it is open which number is the month."""
    one, two, year = int(found["one"]), int(found["two"]), int(found["slashed_year"])
    if one != two and max(one, two) <= YEAR:
        return None
    day = _date(year, min(one, two), max(one, two))
    return a_day(day, tolerance=1.0) if day else None


def _day_month(found: re.Match[str], lead: Lead, today: date) -> Span | None:
    sure = bool(found["dm_ordinal"] or found["dm_year"] or lead.word in {"on", "since", "until"})
    if not sure and found["dm_month"] in _VERBS:
        return None
    return _named_day(MONTHS[found["dm_month"].lower()], int(found["dm_day"]), found["dm_year"], lead=lead, today=today)


def _month_day(found: re.Match[str], lead: Lead, today: date) -> Span | None:
    """Nothing for "may 5 people come" and "May 5 people come"."""
    name = found["md_month"]
    opens = found.start() == 0 and not _CLAUSE_ENDS.match(found.string, found.end())
    sure = bool(found["md_ordinal"] or found["md_year"] or lead.word in {"on", "since", "until"})
    if not sure and name.lower() in _VERBS and (name.islower() or opens):
        return None
    return _named_day(MONTHS[name.lower()], int(found["md_day"]), found["md_year"], lead=lead, today=today)


def _month_year(found: re.Match[str], lead: Lead, today: date) -> Span | None:
    name, year = found["my_month"], found["my_year"]
    if name in _VERBS and not year.isdigit() and lead.word not in _WITHIN:
        return None
    return a_month(date(_year(year, today), MONTHS[name.lower()], 1))


def _month(found: re.Match[str], lead: Lead, today: date) -> Span | None:
    """The last such month that is not still to come; nothing where it may be a name or a verb."""
    name = found["month_name"]
    middle = found.start("month_name") > found.start()
    if not middle and not _is_month(name, lead, rest=found.string[found.end() :][:16]):
        return None
    number = MONTHS[name.lower()]
    if lead.which == "this":
        return a_month(date(today.year, number, 1))
    latest = today.replace(day=1) - DAY if lead.which == "last" else today
    return a_month(date(latest.year - (number > latest.month), number, 1), yearless=True)


def _year_alone(found: re.Match[str], lead: Lead, _today: date) -> Span | None:
    year = int(found["year"])
    meant = lead.chained or lead.partial or lead.word in _WITHIN | _BESIDE - {"of", "for"}
    return a_year(date(year, 1, 1)) if meant and _FIRST_YEAR <= year <= _LAST_YEAR else None


def _holiday(found: re.Match[str], lead: Lead, today: date) -> Span | None:
    """The last such day; nothing for a Christmas tree."""
    name = found["holiday_name"].lower().replace("'", "")
    meant = lead.chained or lead.rough or lead.which or lead.word in _FESTIVE or found["holiday_year"] or "july" in name
    month, day = _HOLIDAYS[name]
    return _named_day(month, day, found["holiday_year"], lead=lead, today=today, tolerance=2.0) if meant else None


def _is_month(name: str, lead: Lead, *, rest: str) -> bool:
    """Whether the name of a month is one: April and June are also people, may and march also verbs."""
    if lead.chained or lead.partial:
        return True
    if name.lower() in _CLEAR and (name[0].isupper() or lead.word in _WITHIN | _BESIDE):
        return True
    if rest.startswith("'"):
        return False
    if lead.word in _WITHIN or (lead.which and name not in _VERBS):
        return True
    return lead.word in _BESIDE and name not in _VERBS and bool(_CLAUSE_ENDS.match(rest))


def _named_day(
    month: int, day: int, year: str | None, *, lead: Lead, today: date, tolerance: float = 1.0
) -> Span | None:
    """A day of that year, else of the last year that has had it."""
    if year or lead.which == "this":
        said = _date(_year(year or "this year", today), month, day)
        return a_day(said, tolerance=tolerance) if said else None
    latest = today - DAY if lead.which == "last" else today
    tried = (_date(latest.year - back, month, day) for back in range(_LEAP_CYCLE + 1))
    last = next((each for each in tried if each and each <= latest), None)
    return a_day(last, tolerance=tolerance, yearless=True) if last else None


def _year(said: str, today: date) -> int:
    return int(said) if said.isdigit() else today.year - (said.lower() == "last year")


def _date(year: int, month: int, day: int) -> date | None:
    """The day, if there is one."""
    if day < 1 or not 1 <= month <= YEAR:
        return None
    first = date(year, month, 1)
    return first.replace(day=day) if day <= (months_later(first, 1) - DAY).day else None


DATES: Final = (
    Rule(
        "iso",
        r"(?P<iso_year>[12][0-9]{3})[-/](?P<iso_month>[0-9]{1,2})(?:[-/](?P<iso_day>[0-9]{1,2}))?"
        r"(?:T[0-9:.]{1,15}Z?)?(?![0-9/-])",
        _iso,
    ),
    Rule(
        "slashed",
        rf"(?P<one>{_DAY_NUMBER})[/.-](?P<two>{_DAY_NUMBER})[/.-](?P<slashed_year>[12][0-9]{{3}})(?![0-9/-])",
        _slashed,
    ),
    Rule(
        "holiday",
        r"(?P<holiday_name>christmas(?: eve| day)?|new year'?s (?:eve|day)|valentine'?s day|halloween"
        rf"|(?:fourth|4th) of july|july (?:fourth|4th))(?![\w-]){_in_year('holiday_year')}",
        _holiday,
    ),
    Rule(
        "day_month",
        rf"{_WEEKDAY}(?:the )?(?P<dm_day>{_DAY_NUMBER})(?P<dm_ordinal>{_ORDINAL}?(?: day)?(?: of)?)"
        rf" (?P<dm_month>{_MONTH})(?![\w-])\.?{_in_year('dm_year')}",
        _day_month,
    ),
    Rule(
        "month_day",
        rf"{_WEEKDAY}(?P<md_month>{_MONTH})\.? (?:the )?(?P<md_day>{_DAY_NUMBER})(?P<md_ordinal>{_ORDINAL})?"
        rf"(?![a-z-]){_NUMBER_ENDS}{_in_year('md_year')}",
        _month_day,
    ),
    Rule("month_year", rf"(?:mid-)?(?P<my_month>{_MONTH})\.?,? (?:of |in )?(?P<my_year>{_A_YEAR})", _month_year),
    Rule("month", rf"(?:mid-)?(?P<month_name>{_MONTH})(?![\w-])", _month),
    Rule("year", rf"[12][0-9]{{3}}(?![\w-]){_NUMBER_ENDS}(?! (?:{_COUNTED})\b)", _year_alone),
)
"""The kinds of such phrases, the longer before the shorter."""
