"""Texts of a calendar -> events: recurrences, exceptions, zones and attendees. Nothing is read and no clock is asked.

The events of one UID are parsed and expanded on their own: one that cannot be read is a problem, and the others stay.
A recurrence is expanded by its local time, so that a meeting at 9 stays at 9 when clocks change. What has no zone is in
that of the calendar (X-WR-TIMEZONE), else in the person's.
"""

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from math import prod
from typing import Any, Final
from zoneinfo import ZoneInfo

from commonplace.errors import ProviderFailed, missing_extra
from commonplace.model.calendar import Attendee, Event, EventStatus
from commonplace.model.untrusted_text import clean_text

LONGEST: Final[Mapping[str, int]] = {"title": 500, "location": 1000, "description": 20_000, "name": 200}
"""Characters of each text; what is longer is cut."""
MOST_ATTENDEES: Final = 500
_MOST_A_DAY: Final = 24  # instances that one day's hours and minutes may make
_OLDEST: Final = 1900
_MARGIN: Final = timedelta(days=2)  # no two zones are further apart
_BROKEN: Final = (ValueError, TypeError, AttributeError, LookupError, ArithmeticError, RecursionError, AssertionError)
_FOLD: Final = re.compile(r"\r?\n[ \t]")
_PLAIN_UID: Final = re.compile(r"[A-Za-z0-9._@:+{}=~-]{1,200}")
_PROPERTY: Final = re.compile(r'(?:[^:"]|"[^"]*")*:(.*)')  # a quoted parameter may have a colon
_DAY: Final = re.compile(r"\d{8}")
_STATUSES: Final[Mapping[str, EventStatus]] = {"TENTATIVE": "tentative", "CANCELLED": "cancelled"}
_THINGS: Final = ("RESOURCE", "ROOM")
_LAST_FIRST: Final = re.compile(r"([^\W\d_][\w'’ -]{0,40}), ?([^\W\d_][\w'’.-]{0,30}(?: [^\W\d_][\w'’.-]{0,30})?)")
_TITLES: Final = ("jr", "sr", "ii", "iii", "phd", "ph.d", "md", "m.d", "mba", "inc", "ltd", "llc", "gmbh", "ag", "co")


@dataclass(frozen=True, slots=True)
class Expansion:
    """The events of a calendar within a window, ordered by start and id, and what could not be read."""

    events: tuple[Event, ...]
    problems: tuple[str, ...] = ()


@dataclass(slots=True)
class _Series:
    """What the texts say of one UID: its blocks by recurrence id, empty for the series itself."""

    uid: str
    zone: tzinfo
    is_cancelled: bool = False
    own: frozenset[str] = frozenset()
    zones: list[str] = field(default_factory=list)
    blocks: dict[str, list[str]] = field(default_factory=dict)

    @property
    def is_recurring(self) -> bool:
        """True if it has more than one instance, or an instance of a series that is not here."""
        return any(key or _has(block, "RRULE") or _has(block, "RDATE") for key, block in self.blocks.items())


def expand(
    texts: Iterable[str],
    *,
    calendar: str,
    window: tuple[datetime, datetime],
    zone: tzinfo,
    most: int,
    own: frozenset[str] = frozenset(),
    stops: Callable[[], bool] = lambda: False,
) -> Expansion:
    """The events that overlap the window; `own` are the person's addresses in small letters.

    Raises UsageError if the extra is missing, ProviderFailed if it is too much: more than `most` events, or `stops`
    says so.
    """
    events: dict[str, Event] = {}
    problems: list[str] = []
    for series in _all_series(texts, zone, own).values():
        if stops():
            raise _too_much(calendar, "takes too long to read")
        if _is_far(series, window):
            continue
        try:
            for event in _instances(series, calendar=calendar, window=window):
                events[event.id] = _newer(event, events.get(event.id))
        except _BROKEN as error:
            problems.append(f"the event {_shown(series.uid)} cannot be read: {_said(error)}")
        if len(events) > most:
            raise _too_much(calendar, f"has more than {most:,} events (calendar.most_events)")
    return Expansion(tuple(sorted(events.values(), key=lambda each: (each.start, each.id))), tuple(problems))


def _all_series(texts: Iterable[str], zone: tzinfo, own: frozenset[str]) -> dict[str, _Series]:
    """Every series by UID. Of two blocks for one instance the one with the higher sequence counts, else the later."""
    found: dict[str, _Series] = {}
    for text in texts:
        lines = _FOLD.sub("", text).splitlines()
        own_zone, is_cancelled = _zone_in(lines) or zone, "METHOD:CANCEL" in (line.upper().strip() for line in lines)
        zones, people = [*_blocks(lines, "VTIMEZONE")], own | _owner_in(lines)
        for block in _blocks(lines, "VEVENT"):
            uid = _value(block, "UID") or _made_uid(block)
            series = found.setdefault(uid, _Series(uid, own_zone, is_cancelled, people))
            series.zones += [each for each in ("\r\n".join(zone) for zone in zones) if each not in series.zones]
            key = _value(block, "RECURRENCE-ID")
            if key not in series.blocks or _number(block) >= _number(series.blocks[key]):
                series.blocks[key] = block
    return found


def _blocks(lines: list[str], name: str) -> Iterator[list[str]]:
    """The lines of each component of that name; one that never ends is left out."""
    block: list[str] | None = None
    for line in lines:
        word = line.strip().upper()
        if word == f"BEGIN:{name}":
            block = []
        if block is not None:
            block.append(line)
            if word == f"END:{name}":
                yield block
                block = None


def _instances(series: _Series, *, calendar: str, window: tuple[datetime, datetime]) -> Iterator[Event]:
    """The events of one series. Raises one of `_BROKEN` if it cannot be read."""
    try:
        import recurring_ical_events
        from icalendar import Calendar
    except ImportError as error:
        raise missing_extra("calendar", "reading calendars") from error

    for block in series.blocks.values():
        _check_rules(block)
    parts = [*_used_zones(series), *("\r\n".join(block) for block in series.blocks.values())]
    text = "\r\n".join(["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//Commonplace", *parts, "END:VCALENDAR", ""])
    parsed = Calendar.from_ical(text)
    query, shifts = recurring_ical_events.of(parsed), dict(_shifts(parsed))
    start, end = window
    for component in query.between(_earlier(start), _later(end)):
        event = _event(component, series, calendar, shifts)
        if event.start < end and (event.end > start or event.start == event.end == start):
            yield event


def _shifts(calendar: Any) -> Iterator[tuple[str, timedelta]]:
    """By how much instances were moved that stand for all later ones too (RANGE=THISANDFUTURE), by recurrence id."""
    for component in calendar.walk("VEVENT"):
        place = component.get("RECURRENCE-ID")
        if place is not None and str(place.params.get("RANGE", "")).upper() == "THISANDFUTURE":
            with suppress(TypeError):  # a day and a time, or only one of them has a zone
                yield _moment(place.dt), component["DTSTART"].dt - place.dt


def _slot(component: Any, shifts: Mapping[str, timedelta]) -> date:
    """The time for which the series planned this instance.

    Later instances of a moved one have its recurrence id; theirs lie as far before their start as its own does.
    """
    slot: date = component["RECURRENCE-ID"].dt
    shift = shifts.get(_moment(slot))
    return slot if shift is None else component["DTSTART"].dt - shift


def _event(component: Any, series: _Series, calendar: str, shifts: Mapping[str, timedelta]) -> Event:
    start, end = component["DTSTART"].dt, component["DTEND"].dt if "DTEND" in component else None
    all_day = not isinstance(start, datetime)
    if end is None:
        end = start + timedelta(days=1) if all_day else start
    begins, ends = _utc(start, series.zone), _utc(end, series.zone)
    if not all_day and str(component.get("X-MICROSOFT-CDO-ALLDAYEVENT", "")).upper() == "TRUE":
        all_day = True
    recurrence = _slot(component, shifts) if series.is_recurring and "RECURRENCE-ID" in component else None
    uid = _shown(series.uid)
    return Event(
        id=f"{uid}/{_moment(recurrence)}" if recurrence else uid,
        uid=uid,
        calendar=calendar,
        title=_line(component.get("SUMMARY"), "title"),
        start=begins,
        end=max(begins, ends),
        all_day=all_day,
        zone=_zone_name(component["DTSTART"], series.zone),
        status="cancelled" if series.is_cancelled else _status(component),
        attendees=_attendees(component, series.own),
        organizer=_attendee(component["ORGANIZER"], series.own) if "ORGANIZER" in component else None,
        location=_line(component.get("LOCATION"), "location"),
        description=clean_text(_one(component.get("DESCRIPTION")))[: LONGEST["description"]].strip(),
        updated=_updated(component),
        sequence=_sequence(component.get("SEQUENCE")),
    )


def _check_rules(block: list[str]) -> None:
    """Raises ValueError for a rule that would take hours to expand: no calendar of a person has one."""
    rules = [line.partition(":")[2].upper() for line in block if _is_line(line, "RRULE")]
    for rule in rules:
        parts = dict(part.partition("=")[::2] for part in rule.split(";"))
        if parts.get("FREQ") not in ("DAILY", "WEEKLY", "MONTHLY", "YEARLY"):
            raise ValueError("it repeats more often than daily")
        if int(parts.get("INTERVAL") or 1) < 1:
            raise ValueError("its interval is not a number of days, weeks, months or years")
        if prod(len(parts.get(name, "").split(",")) for name in ("BYHOUR", "BYMINUTE", "BYSECOND")) > _MOST_A_DAY:
            raise ValueError(f"it repeats more than {_MOST_A_DAY} times on a day")
        if parts["FREQ"] in ("DAILY", "WEEKLY") and not _may_match(parts):
            raise ValueError("its rule never matches a day")
        if int((_DAY.search(_value(block, "DTSTART")) or ["0"])[0]) < _OLDEST * 10_000:
            raise ValueError(f"it repeats since before {_OLDEST}")
    if len(rules) > 1:
        raise ValueError("it has several rules")


def _may_match(rule: Mapping[str, str]) -> bool:
    """False if a daily or weekly rule names days that no month has, or parts that such a rule must not have."""
    if any(name in rule for name in ("BYSETPOS", "BYWEEKNO", "BYYEARDAY")):
        return False
    months = [int(each) for each in rule.get("BYMONTH", "").split(",") if each] or [*range(1, 13)]
    days = [abs(int(each)) for each in rule.get("BYMONTHDAY", "").split(",") if each] or [1]
    longest = max(29 if month == 2 else 30 if month in (4, 6, 9, 11) else 31 for month in months)
    return min(days) <= longest


def _is_far(series: _Series, window: tuple[datetime, datetime]) -> bool:
    """True if it surely does not overlap the window, by the digits of its days: most of a calendar is long over."""
    if series.is_recurring or len(series.blocks) != 1:
        return False
    block = next(iter(series.blocks.values()))
    start = _DAY.match(_value(block, "DTSTART"))
    end = start if _has(block, "DURATION") else _DAY.match(_value(block, "DTEND") or _value(block, "DTSTART"))
    if not start or not end or _has(block, "DURATION"):
        return False
    return start[0] > f"{_later(window[1]):%Y%m%d}" or max(start[0], end[0]) < f"{_earlier(window[0]):%Y%m%d}"


def _used_zones(series: _Series) -> Iterator[str]:
    """The definitions of zones that the series names."""
    text = "\n".join(line for block in series.blocks.values() for line in block if "TZID" in line.upper())
    for zone in series.zones:
        name = _value(zone.split("\r\n"), "TZID")
        if name and name in text:
            yield zone


def _attendees(component: Any, own: frozenset[str]) -> tuple[Attendee, ...]:
    """People who were invited, each once; rooms and devices are left out."""
    listed = component.get("ATTENDEE", [])
    listed = listed if isinstance(listed, list) else [listed]
    people = [
        _attendee(each, own) for each in listed if str(each.params.get("CUTYPE", "")).upper() not in _THINGS
    ]  # fmt: skip
    return tuple(dict.fromkeys(each for each in people if each.name))[:MOST_ATTENDEES]


def _attendee(value: Any, own: frozenset[str]) -> Attendee:
    """The name that the calendar has for a person, else the part of their address before the @."""
    address = re.sub(r"(?i)^mailto:", "", clean_text(str(value)).strip())
    if "@" not in address:  # with Apple it is a path on the server
        address = clean_text(_one(value.params.get("EMAIL")))
    email = " ".join(address.split())[: LONGEST["name"]] if "@" in address else ""
    name = _in_order(_line(value.params.get("CN"), "name").strip("'\" "))
    if not name or name.casefold() == email.casefold() or "@" in name:
        name = (name if "@" in name and not email else email).partition("@")[0]
    has_declined = str(value.params.get("PARTSTAT", "")).upper() == "DECLINED"
    return Attendee(name, email, has_declined=has_declined, is_owner=email.casefold() in own)


def _in_order(name: str) -> str:
    """`Weber, Jonas`, as Outlook writes it, as Jonas Weber; any other name as it is."""
    match = _LAST_FIRST.fullmatch(name)
    return f"{match[2]} {match[1]}" if match and match[2].casefold().rstrip(".") not in _TITLES else name


def _status(component: Any) -> EventStatus:
    return _STATUSES.get(str(component.get("STATUS", "")).strip().upper(), "confirmed")


def _updated(component: Any) -> datetime | None:
    """When it was last changed. DTSTAMP does not say: with Google it is the time of the request."""
    value = component.get("LAST-MODIFIED")
    return _utc(value.dt, UTC) if value is not None and isinstance(value.dt, datetime) else None


def _sequence(value: Any) -> int:
    return min(max(int(value), 0), 2**31) if str(value or "").strip().isdigit() else 0


def _line(value: Any, name: str) -> str:
    return " ".join(clean_text(_one(value)).split())[: LONGEST[name]]


def _one(value: Any) -> str:
    """The text of a property; the first one if there are several."""
    if isinstance(value, list):
        value = value[0] if value else ""
    return str(value) if value is not None else ""


def _utc(value: date, zone: tzinfo) -> datetime:
    """The moment in UTC: a day is its midnight in that zone, and a time without a zone is in it."""
    if not isinstance(value, datetime):
        value = datetime.combine(value, time())
    return (value if value.tzinfo else value.replace(tzinfo=zone)).astimezone(UTC)


def _moment(value: date) -> str:
    """A recurrence id as text; in UTC if it has a zone, so that every spelling of it is one."""
    if not isinstance(value, datetime):
        return f"{value:%Y%m%d}"
    return f"{value.astimezone(UTC):%Y%m%dT%H%M%SZ}" if value.tzinfo else f"{value:%Y%m%dT%H%M%S}"


def _zone_name(start: Any, zone: tzinfo) -> str:
    """The IANA name of the zone in which the start was meant; that of the calendar for a time in UTC."""
    from icalendar.timezone.windows_to_olson import WINDOWS_TO_OLSON

    named = str(start.params.get("TZID", ""))
    own = WINDOWS_TO_OLSON.get(named, named)
    return own if own and own != "UTC" and known_zone(own) else str(getattr(zone, "key", "") or "UTC")


def known_zone(name: str) -> ZoneInfo | None:
    """The zone of that IANA name, or None."""
    try:
        return ZoneInfo(name)
    except (LookupError, ValueError, OSError):
        return None


def _zone_in(lines: list[str]) -> ZoneInfo | None:
    name = next((line.partition(":")[2] for line in lines if _is_line(line, "X-WR-TIMEZONE")), "")
    return known_zone(name.strip()) if name.strip() else None


def _owner_in(lines: list[str]) -> frozenset[str]:
    """The address by which the calendar is named: with Google it is that of the person."""
    name = next((line.partition(":")[2] for line in lines if _is_line(line, "X-WR-CALNAME")), "").strip()
    return frozenset({name.casefold()} if "@" in name and " " not in name else ())


def _newer(event: Event, present: Event | None) -> Event:
    return present if present and present.sequence > event.sequence else event


def _shown(uid: str) -> str:
    """The UID if it is plain and short; else its plain characters and a hash, so that no two are alike."""
    if _PLAIN_UID.fullmatch(uid):
        return uid
    plain = re.sub(r"[^A-Za-z0-9._@-]+", "-", uid)[:60].strip("-")
    return f"{plain}-{hashlib.sha256(uid.encode(errors='replace')).hexdigest()[:16]}"


def _made_uid(block: list[str]) -> str:
    """An id for an event without a UID: by what it is called and when it is."""
    values = [_value(block, name) for name in ("DTSTART", "SUMMARY")]
    return f"no-uid-{hashlib.sha256(chr(10).join(values).encode(errors='replace')).hexdigest()[:24]}"


def _is_line(line: str, name: str) -> bool:
    return line[: len(name)].upper() == name and line[len(name) : len(name) + 1] in (":", ";")


def _has(block: list[str], name: str) -> bool:
    return any(_is_line(line, name) for line in block)


def _value(block: list[str], name: str) -> str:
    """The value of the first property of that name, outside of alarms; empty without one."""
    is_inside = False
    for line in block[1:]:
        word = line.strip().upper()
        is_inside = word.startswith("BEGIN:") or (is_inside and not word.startswith("END:"))
        if not is_inside and _is_line(line, name):
            parts = _PROPERTY.match(line)
            return parts[1].strip() if parts else ""
    return ""


def _number(block: list[str]) -> int:
    return _sequence(_value(block, "SEQUENCE"))


def _earlier(at: datetime) -> datetime:
    return at - _MARGIN if at.year > 1 else at


def _later(at: datetime) -> datetime:
    return at + _MARGIN if at.year < 9999 else at


def _said(error: BaseException) -> str:
    return " ".join(clean_text(str(error)).split())[:160] or type(error).__name__


def _too_much(calendar: str, what: str) -> ProviderFailed:
    hint = "Mirror fewer days (calendar.past_days, calendar.future_days), or raise the limit."
    return ProviderFailed(f"the calendar {calendar} {what}", reason="too_long", hint=hint)
