"""Both histories keep the mirror of calendars by the same contract."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commonplace.errors import UsageError
from commonplace.history.base import History
from commonplace.model.calendar import Attendee, CalendarResource, CalendarState, Event, EventChanges
from tests.contract.twins import HISTORIES

NOW = datetime(2026, 3, 1, 9, 12, 44, tzinfo=UTC)
WINDOW = (NOW - timedelta(days=30), NOW + timedelta(days=30))
EVENT = Event(
    id="u-1/20260301T100000Z",
    uid="u-1",
    calendar="work",
    title="Crête « planning »",
    start=NOW + timedelta(hours=1),
    end=NOW + timedelta(hours=2),
    zone="Europe/Paris",
    status="tentative",
    attendees=(Attendee("Ana Bélanger", "ana@example.org"), Attendee("bo")),
    organizer=Attendee("Ana Bélanger", "ana@example.org"),
    location="Room 4",
    description="Line one\nline two",
    updated=NOW - timedelta(days=3),
    sequence=2,
)


def event(number: int, **fields: object) -> Event:
    """One of many events, an hour apart, each one hour long."""
    start = NOW + timedelta(hours=number)
    plain = Event(id=f"u{number}", uid=f"u{number}", calendar="work", title="", start=start, end=start)
    return replace(plain, **{"end": start + timedelta(hours=1), **fields})  # type: ignore[arg-type]


def save(history: History, *events: Event, calendar: str = "work", now: datetime = NOW) -> EventChanges:
    """What changed when the calendar had exactly these events."""
    return history.save_events(calendar, events, window=WINDOW, now=now)


@pytest.mark.requirement("D-109")
def test_an_event_comes_back_whole(history: History) -> None:
    """With names and addresses of attendees, by id and by time, also after the files were closed."""
    assert save(history, EVENT) == EventChanges(added=(EVENT.id,))
    history.close()

    assert history.event(EVENT.id) == EVENT
    assert history.events(*WINDOW) == (EVENT,)
    assert history.event("other") is None


def test_saving_the_same_events_again_changes_nothing(history: History) -> None:
    """A new time of change alone is stored and is not a change."""
    save(history, EVENT)
    touched = replace(EVENT, updated=NOW)

    assert save(history, EVENT) == EventChanges()
    assert save(history, touched) == EventChanges()
    assert history.event(EVENT.id) == touched


def test_changes_are_told_by_kind_in_order(history: History) -> None:
    """Moved and cancelled ones are changed, missing ones removed, each in the order of their starts."""
    save(history, event(3), event(1), event(2), event(4))
    moved, cancelled = event(3, start=NOW, end=NOW + timedelta(hours=9)), event(2, status="cancelled")

    assert save(history, moved, cancelled, event(9), event(8)) == EventChanges(
        added=("u8", "u9"), changed=("u3", "u2"), removed=("u1", "u4")
    )
    assert history.event("u3") == moved
    assert history.event("u2") == cancelled


def test_a_removed_event_is_marked_and_stays(history: History) -> None:
    """It is left out of lists unless asked for, keeps the time of its removal, and may come back."""
    later = NOW + timedelta(days=1)
    save(history, event(1))
    save(history)
    removed = event(1, removed=NOW)

    assert save(history, now=later) == EventChanges()
    assert history.event("u1") == removed
    assert history.events(*WINDOW) == ()
    assert history.events(*WINDOW, with_removed=True) == (removed,)
    assert not removed.takes_place
    assert save(history, event(1), now=later) == EventChanges(changed=("u1",))
    assert history.event("u1") == event(1)


def test_events_outside_the_window_are_left_alone(history: History) -> None:
    """A window that moves on does not remove what happened."""
    save(history, event(1), event(5))
    history.save_events("work", (), window=(NOW + timedelta(hours=2), NOW + timedelta(days=9)), now=NOW)

    assert history.event("u1") == event(1)
    assert history.event("u5") == event(5, removed=NOW)


def test_calendars_do_not_touch_each_other(history: History) -> None:
    """One id may be in two calendars: each has its own, and a calendar that still has it answers for it."""
    save(history, event(1))
    save(history, event(1, calendar="home"), calendar="home")

    assert [each.calendar for each in history.events(*WINDOW)] == ["home", "work"]
    assert history.events(*WINDOW, calendar="work") == (event(1),)
    save(history, calendar="home")
    assert history.event("u1") == event(1)


def test_an_event_at_the_edge_of_a_time_is_left_out(history: History) -> None:
    """One that ends at its start or begins at its end; one without a length counts at its start."""
    instant = event(2, end=NOW + timedelta(hours=2))
    save(history, event(1), instant, event(3))

    assert history.events(NOW + timedelta(hours=2), NOW + timedelta(hours=3)) == (instant,)
    assert history.events(NOW + timedelta(hours=1, minutes=30), NOW + timedelta(hours=2)) == (event(1),)


def test_events_are_found_by_their_end(history: History) -> None:
    """Later than the first moment, up to the second, in the order of their ends; without removed ones."""
    long = event(0, id="long", end=NOW + timedelta(hours=4))
    save(history, event(1), event(2), event(5), long)
    save(history, event(1), event(2), long)

    found = history.events_ending(NOW + timedelta(hours=2), NOW + timedelta(hours=4))
    assert [each.id for each in found] == ["u2", "long"]


def test_times_are_kept_in_utc(history: History) -> None:
    """To the second, whatever zone they were given in."""
    local = timezone(timedelta(hours=5, minutes=30))
    save(history, replace(EVENT, start=EVENT.start.astimezone(local), end=EVENT.end.astimezone(local)))

    assert history.event(EVENT.id) == EVENT
    assert str(history.events(*WINDOW)[0].start) == str(EVENT.start)


@pytest.mark.parametrize(
    "wrong",
    [
        (event(1), event(1)),
        (event(1, calendar="home"),),
        (event(1, end=NOW),),
        (event(1, start=datetime(2026, 3, 1)),),
    ],
)
def test_impossible_events_are_refused_and_change_nothing(history: History, wrong: tuple[Event, ...]) -> None:
    """An id twice, another calendar, an end before the start, no zone."""
    save(history, event(7))

    with pytest.raises(UsageError):
        save(history, event(2), *wrong)
    assert history.events(*WINDOW, with_removed=True) == (event(7),)


def test_text_that_is_no_text_is_kept_as_question_marks(history: History) -> None:
    """A lone surrogate cannot be stored."""
    save(history, event(1, title="a\ud800b", attendees=(Attendee("\ud800", "x@y"),)))
    stored = history.event("u1")

    assert stored
    assert (stored.title, stored.attendees) == ("a?b", (Attendee("?", "x@y"),))


def test_states_and_texts_are_kept_by_calendar(history: History) -> None:
    """The last state counts; texts are added, replaced and dropped by name."""
    state = CalendarState(
        calendar="work", source="s", mark='"etag"', tried=NOW, read=NOW, window=NOW, failures=2, reason="timeout"
    )
    a, b = CalendarResource("/a.ics", "1", "BEGIN:VCALENDAR é"), CalendarResource("/b.ics", "1", "")
    history.save_calendar_state(CalendarState(calendar="work"), resources=(a, b))
    history.save_calendar_state(CalendarState(calendar="home"))
    history.save_calendar_state(state, resources=(replace(a, etag="2"),), gone=("/b.ics", "/c.ics"))

    assert history.calendar_states() == {"home": CalendarState(calendar="home"), "work": state}
    assert list(history.calendar_states()) == ["home", "work"]
    assert history.calendar_resources("work") == {"/a.ics": replace(a, etag="2")}
    assert history.calendar_resources("home") == {}


def test_a_forgotten_calendar_leaves_nothing(history: History) -> None:
    """Events, texts and state go; other calendars stay."""
    save(history, event(1), event(2))
    save(history, event(3, calendar="home"), calendar="home")
    history.save_calendar_state(CalendarState(calendar="work"), resources=(CalendarResource("", "", "x"),))

    assert history.forget_calendar("work") == 2
    assert history.forget_calendar("work") == 0
    assert history.events(*WINDOW, with_removed=True) == (event(3, calendar="home"),)
    assert (history.calendar_states(), history.calendar_resources("work")) == ({}, {})


hours = st.integers(-5, 5)
readings = st.lists(st.dictionaries(hours, st.tuples(hours, st.integers(0, 3)), max_size=5), max_size=4)


@settings(max_examples=25, deadline=None)
@given(readings, hours, hours)
def test_all_histories_mirror_alike(
    tmp_path_factory: pytest.TempPathFactory, steps: list[dict[int, tuple[int, int]]], first: int, last: int
) -> None:
    """Whatever a calendar had, one after the other, all say the same of it."""
    twins = [make(tmp_path_factory.mktemp("h")) for make in HISTORIES.values()]
    start, end = sorted((NOW + timedelta(hours=first), NOW + timedelta(hours=last)))
    answers = []
    for history in twins:
        changes = [
            history.save_events("work", [_placed(*each) for each in step.items()], window=(start, end), now=NOW)
            for step in steps
        ]
        everything = history.events(*WINDOW, with_removed=True)
        answers.append((changes, everything, history.events(start, end), history.events_ending(start, end)))
        history.close()

    assert all(each == answers[0] for each in answers)


def _placed(number: int, place: tuple[int, int]) -> Event:
    start = NOW + timedelta(hours=place[0])
    return event(number, start=start, end=start + timedelta(hours=place[1]))
