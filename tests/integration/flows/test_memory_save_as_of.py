"""Histories: whatever the order in which values are told, each day has the one value that was told for it."""

import random
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from commonplace.errors import Conflict, UsageError
from commonplace.memory import Memory
from tests.memories import Calendar, make_memory

PLACES = ("Berlin", "Munich", "Hamburg", "Kiel", "Bonn", "Ulm")


def lived(memory: Memory, day: str, *, known: str = "") -> list[str]:
    return [held.fact.object for held in memory.facts.about("me", predicate="lives_in", as_of=day, known=known)]


@pytest.mark.parametrize("seed", range(4))
def test_each_day_has_the_value_whose_beginning_was_last_before_it(tmp_path: Path, seed: int) -> None:
    """Values of the past, of now and of the future, told in any order while time passes: no hole, no second value."""
    chance, calendar = random.Random(seed), Calendar(datetime(2026, 1, 1, 9, tzinfo=UTC))
    begins: dict[date, str] = {}
    with make_memory(tmp_path, clock=calendar) as memory:
        for place in chance.sample(PLACES, k=6):
            calendar.pass_(days=chance.randrange(1, 40))
            day = (calendar.at + timedelta(days=chance.randrange(-300, 300))).date()
            memory.facts.add("me", "lives_in", place, valid_from=day.isoformat())
            begins[day] = place
        asked = [calendar.at.date() + timedelta(days=each) for each in range(-400, 400, 23)]
        told = {day: lived(memory, day.isoformat()) for day in asked}

    expected = {day: [begins[max(each)]] if (each := [b for b in begins if b <= day]) else [] for day in asked}
    assert told == expected


def test_a_planned_value_and_then_another_now_leave_no_hole(tmp_path: Path) -> None:
    """Berlin, then Munich announced, then Hamburg at once: each has its time, as it was known and as it is."""
    calendar = Calendar(datetime(2026, 1, 1, 9, tzinfo=UTC))
    with make_memory(tmp_path, clock=calendar) as memory:
        memory.facts.add("me", "lives_in", "Berlin", valid_from="2020-01-01")
        memory.facts.add("me", "lives_in", "Munich", valid_from="2027-01-01")
        calendar.pass_(days=150)
        memory.facts.add("me", "lives_in", "Hamburg")
        told = [lived(memory, day) for day in ("2019-12-31", "2026-03-01", "2026-06-15", "2027-06-01")]
        known_then = lived(memory, "2026-03-01", known="2026-03-01")
        problems = memory.lint().problems

    assert told == [[], ["Berlin"], ["Hamburg"], ["Munich"]]
    assert known_then == ["Berlin"]
    assert problems == ()


def test_evolving_what_is_over_corrects_it_and_leaves_today_alone(tmp_path: Path) -> None:
    """The new version takes over the window of the old, which never held then."""
    with make_memory(tmp_path, clock=Calendar()) as memory:
        old = memory.facts.add("me", "lives_in", "Berlin", valid_from="2018-01-01", valid_until="2022-01-01").fact
        memory.facts.add("me", "lives_in", "Munich", valid_from="2022-01-01")
        memory.entries.evolve(old.id, "Hamburg", reason="it was Hamburg")
        told = [lived(memory, day) for day in ("2019-06-01", "2023-06-01", "2026-03-01")]

    assert told == [["Hamburg"], ["Munich"], ["Munich"]]


def test_evolving_takes_over_what_is_not_said_and_changes_what_is(tmp_path: Path) -> None:
    """Tags, topics, importance and end; the same words with another importance are a new version."""
    with make_memory(tmp_path, clock=Calendar()) as memory:
        first = memory.entries.save(
            "Rents a boat.",
            kind="preference",
            topics=["water"],
            tags=["summer"],
            importance=0.9,
            valid_until="2027-01-01",
        ).fact
        second = memory.entries.evolve(first.id, "Rents a small boat.", reason="cheaper").fact
        text = memory.notes.read(second.path).text
        third = memory.entries.evolve(second.id, "Rents a small boat.", reason="it matters less", importance=0.2)
        same = memory.entries.evolve(third.fact.id, "Rents a small boat.", reason="nothing")

    assert (second.topics, second.importance, second.valid_until) == (("water",), 0.9, "2027-01-01T00:00:00Z")
    assert "tags: [summer]\n" in text
    assert (third.action, third.fact.importance) == ("supersede", 0.2)
    assert same.action == "confirm"


def test_words_that_another_entry_has_are_not_written_twice_by_evolving(tmp_path: Path) -> None:
    """The other stands: it is named, and nothing changes."""
    with make_memory(tmp_path) as memory:
        one = memory.entries.save("Walks to work.", kind="preference").fact
        other = memory.entries.save("Sails at weekends.", kind="preference").fact
        with pytest.raises(Conflict, match=other.id):
            memory.entries.evolve(one.id, "Sails at weekends.", reason="why not")


def test_an_end_is_never_put_off_by_ending(tmp_path: Path) -> None:
    """What is over stays over; a later end wants another verb, and what is over is not confirmed."""
    calendar = Calendar()
    with make_memory(tmp_path, clock=calendar) as memory:
        fact = memory.facts.add("me", "plays", "chess", valid_until="2026-04-01").fact
        calendar.pass_(days=90)
        ended = memory.facts.end(fact.id)
        with pytest.raises(UsageError):
            memory.facts.end(fact.id, at="2026-12-01")
        with pytest.raises(Conflict):
            memory.entries.confirm(fact.id)
        told = memory.facts.about("me", as_of="2026-05-01")

    assert not ended.changed
    assert told == ()


def test_a_bond_that_is_stated_with_known_words_is_kept(tmp_path: Path) -> None:
    """The known entry is confirmed, and has it."""
    with make_memory(tmp_path) as memory:
        one = memory.entries.save("Walks to work.", kind="preference").fact
        other = memory.entries.save("Lives near the office.", kind="identity").fact
        again = memory.entries.save("Walks to work.", kind="preference", derived_from=[other.id])
        edges = memory.entries.show(one.id).edges

    assert again.action == "confirm"
    assert [(edge.bond, edge.target) for edge in edges] == [("derive", other.id)]


@pytest.mark.requirement("V-28")
def test_every_verb_leaves_an_audit_row_with_the_version_before_and_after(tmp_path: Path) -> None:
    """Who, what, why, and which note became which."""
    with make_memory(tmp_path) as memory:
        fact = memory.entries.save("Walks to work.", kind="preference").fact
        memory.entries.confirm(fact.id)
        other = memory.entries.evolve(fact.id, "Cycles to work.", reason="bought a bicycle").fact
        memory.facts.end(other.id)
        third = memory.entries.save("Reads on trains.", kind="preference").fact
        memory.entries.forget(third.id)
        rows = memory.notes.log()

    told = [(row.verb, row.before is not None, row.after is not None) for row in reversed(rows)]
    assert told == [
        ("remember", False, True),
        ("confirm", True, True),
        ("remember", False, True),
        ("remember", True, True),
        ("remember", True, True),
        ("remember", False, True),
        ("forget", True, True),
    ]
    assert all(row.commit and row.actor == "person" for row in rows)
