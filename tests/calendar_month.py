"""A month of a calendar: fifty events of every kind, and the names of the notes that they make."""

import hashlib
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

BERLIN = ZoneInfo("Europe/Berlin")
PEOPLE = "ATTENDEE;CN=Ada Lovelace:mailto:ada@example.org\nATTENDEE;CN=Marco Bianchi:mailto:marco@example.org"
STANDUP = f"""BEGIN:VEVENT
UID:standup
SUMMARY:Standup
DTSTART;TZID=Europe/Berlin:20260316T090000
DTEND;TZID=Europe/Berlin:20260316T091500
RRULE:FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR;UNTIL=20260410T220000Z
EXDATE;TZID=Europe/Berlin:20260317T090000
{PEOPLE}
END:VEVENT
BEGIN:VEVENT
UID:standup
RECURRENCE-ID;TZID=Europe/Berlin:20260318T090000
SUMMARY:Standup
DTSTART;TZID=Europe/Berlin:20260318T150000
DTEND;TZID=Europe/Berlin:20260318T151500
{PEOPLE}
END:VEVENT
BEGIN:VEVENT
UID:standup
RECURRENCE-ID;TZID=Europe/Berlin:20260319T090000
SUMMARY:Standup
STATUS:CANCELLED
DTSTART;TZID=Europe/Berlin:20260319T090000
DTEND;TZID=Europe/Berlin:20260319T091500
{PEOPLE}
END:VEVENT
"""


FIRST, MOVES, UNTIL = date(2026, 3, 16), date(2026, 3, 25), datetime(2026, 4, 12, tzinfo=UTC)


def single(uid: str, day: date, hour: int, *, title: str = "", more: str = PEOPLE, minutes: int = 60) -> str:
    start = datetime(day.year, day.month, day.day, hour, tzinfo=BERLIN).astimezone(UTC)
    end = start + timedelta(minutes=minutes)
    return (
        f"BEGIN:VEVENT\nUID:{uid}\nSUMMARY:{title or uid}\nDTSTART:{start:%Y%m%dT%H%M%SZ}\n"
        f"DTEND:{end:%Y%m%dT%H%M%SZ}\n{more}\nEND:VEVENT\n"
    )


def month() -> tuple[str, set[str]]:
    """Fifty events of four weeks around the change of the clocks on 29 March, and the names of the notes they make.

    Recurring with an excluded, a moved and a cancelled instance; late at night, overlapping, of one name, cancelled,
    all day, without attendees, declined by everybody. The twins share a path: the name of one has digits of its id.
    """
    first = FIRST
    events, names = [STANDUP], {f"{FIRST}-twin", f"{FIRST}-twin-{_digits('twin-b')}"}
    for number in range(26):  # weekdays and, on the last days of March, the nights before and after the clocks change
        day = first + timedelta(days=number)
        if day.weekday() < 5 and day not in (date(2026, 3, 17), date(2026, 3, 19)):
            names.add(f"{day}-standup")
    for number in range(22):
        day = first + timedelta(days=number)
        events.append(single(f"talk-{number}", day, 11 if number % 2 else 23, title=f"Talk {number}"))
        names.add(f"{day}-talk-{number}")
    events += [single(f"twin-{each}", first, 11, title="Twin") for each in "ab"]  # overlap, and share a path
    events.append(single("off", first, 12, more=f"{PEOPLE}\nSTATUS:CANCELLED"))
    events.append(single("alone", first, 13, more="DESCRIPTION:no attendees"))
    events.append(single("nobody", first, 14, more=PEOPLE.replace(";CN", ";PARTSTAT=DECLINED;CN")))
    events.append(single("moving", MOVES, 10, title="Moving"))
    names.add(f"{MOVES}-moving")
    whole = "BEGIN:VEVENT\nUID:fair\nSUMMARY:Fair\nDTSTART;VALUE=DATE:20260320\nDTEND;VALUE=DATE:20260321\n"
    events.append(f"{whole}{PEOPLE}\nEND:VEVENT\n")
    return "".join(events), names


def _digits(id: str) -> str:
    return hashlib.sha256(id.encode()).hexdigest()[:6]


def calendar_file(events: str) -> str:
    text = f"BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:test\n{events}END:VCALENDAR\n"
    return text.replace("\n", "\r\n")
