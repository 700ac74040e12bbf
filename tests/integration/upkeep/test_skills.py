"""Skills: notes about days and weeks from memory alone, once each, in the person's zone."""

import os
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from commonplace.errors import NotFound, Refused, UsageError
from commonplace.memory import Memory
from commonplace.model import Actor, Message
from commonplace.model.calendar import Attendee, Event
from commonplace.settings.load import load_settings
from tests.llm_server import MODEL, Answer, ModelScript, serving_models
from tests.memories import Calendar, make_memory

DAY = "Reflections/2026-03-01.md"
WEEK = "WeeklyReview/2026-W09.md"


@pytest.fixture
def calendar() -> Calendar:
    """Sunday afternoon in Berlin."""
    return Calendar(datetime(2026, 3, 1, 14, 0, tzinfo=UTC))


def berlin(folder: Path, calendar: Calendar, **settings: object) -> Memory:
    """The person's memory, with the zone of Berlin."""
    given = {name.replace("__", "."): value for name, value in settings.items()}
    return make_memory(folder, clock=calendar, settings={"upkeep.zone": "Europe/Berlin", **given})


@pytest.fixture
def person(tmp_path: Path, calendar: Calendar) -> Memory:
    """A memory in which a day was lived."""
    memory = berlin(tmp_path, calendar)
    live_a_day(memory, tmp_path, calendar)
    return memory


def live_a_day(memory: Memory, folder: Path, calendar: Calendar) -> None:
    """A conversation, a decision, a preference, a changed fact, a note with open tasks."""
    said = [
        Message("user", "Which pump fits the greenhouse?", at=calendar.at),
        Message("assistant", "A small one.", at=calendar.at),
    ]
    memory.conversations.record(said, interface="cli", source_id="s-1", title="Pumps ]] [[Secret\n## x")
    memory.entries.save("Decided to use drip irrigation in the greenhouse", kind="decision")
    memory.entries.save("Ada prefers TypeScript over JavaScript")
    memory.facts.add("Ada", "works_at", "Acme")
    touch(
        memory, folder, calendar, "Projects/Greenhouse.md", "# G\n- [ ] buy pipes\n- [x] done\n```\n- [ ] code\n```\n"
    )
    calendar.pass_(hours=1)
    memory.facts.add("Ada", "works_at", "Globex")


def touch(memory: Memory, folder: Path, calendar: Calendar, path: str, text: str) -> None:
    """A note that was saved now."""
    memory.notes.write(path, text)
    os.utime(folder / "vault" / path, (calendar.at.timestamp(),) * 2)


def text_of(folder: Path, path: str) -> str:
    """The note's text."""
    return (folder / "vault" / path).read_text()


def section(text: str, heading: str) -> list[str]:
    """The lines of a section that are not empty."""
    body = text.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    return [line for line in body.splitlines() if line.strip()]


@pytest.mark.requirement("X-08")
def test_a_day_is_written_from_memory_alone(tmp_path: Path, person: Memory) -> None:
    """What was done, decided, learned and left open, without a model."""
    result = person.templates.run("daily_reflection")
    text = text_of(tmp_path, DAY)

    assert result.path == DAY
    assert "# Sunday, 1 March 2026" in text
    done = section(text, "Done")
    assert done[0].startswith("- 15:00 to 15:00 cli: Pumps Secret # x ^")
    assert done[1:] == ["- Changed [[Projects/Greenhouse]]"]
    assert section(text, "Decided")[0].startswith("- Decided to use drip irrigation in the greenhouse ^e-")
    learned = [line.partition(" ^e-")[0] for line in section(text, "Learned")]
    assert learned == [
        "- Ada prefers TypeScript over JavaScript",
        "- Was: Ada works at Acme. Now: Ada works at Globex.",
    ]
    assert section(text, "Open") == ["- buy pipes ([[Projects/Greenhouse]])"]
    assert section(text, "Reflection") == []


@pytest.mark.requirement("D-118")
def test_a_week_is_reviewed_from_memory_alone(tmp_path: Path, person: Memory) -> None:
    """Sessions, decisions, changed facts, what waits and what may be outdated."""
    agent = person.acting(Actor("agent", "claude-code"))
    agent.entries.save("Ada lives in Bern now", always_load=True)
    person.templates.run("weekly_review")
    text = text_of(tmp_path, WEEK)

    assert "2026-02-23 to 2026-03-01" in text
    assert len(section(text, "Sessions")) == 1
    assert len(section(text, "Decisions")) == 1
    assert section(text, "Changed facts")[0].startswith("- Was: Ada works at Acme.")
    assert section(text, "Notes") == ["- [[Projects/Greenhouse]]"]
    assert section(text, "Waiting for review") == ["1 waiting: run commonplace review."]


def test_a_week_names_the_events_of_the_next(person: Memory) -> None:
    """Of the calendars, in the person's zone, without cancelled ones and with plain titles."""
    monday = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)
    kept = Event(
        id="a", uid="a", calendar="work", title="Review\n## [[x]]", start=monday, end=monday + timedelta(hours=1)
    )
    others = [
        replace(kept, id="b", uid="b", title="Cancelled", status="cancelled"),
        replace(kept, id="c", uid="c", title="Later", start=monday + timedelta(days=7), end=monday + timedelta(days=8)),
    ]
    window = (monday - timedelta(days=9), monday + timedelta(days=30))
    person._session.stores.history.save_events("work", [kept, *others], window=window, now=monday)
    text = person.templates.run("weekly_review", dry_run=True).text

    assert section(text, "Next week") == ["- Mon 2026-03-02 09:00 Review # x"]


def test_a_day_and_a_week_name_the_meetings_that_took_place(tmp_path: Path, calendar: Calendar) -> None:
    """With whom, linked to the note about it; a day with nothing else is no empty one. Declined ones are left out."""
    noon = calendar.at.replace(hour=8)
    ada = Attendee("Ada Lovelace", "ada@example.org")
    met = Event(
        id="a",
        uid="a",
        calendar="work",
        title="Offer sync",
        start=noon - timedelta(days=1),
        end=noon - timedelta(hours=23),
        attendees=(ada,),
    )
    me = Attendee("Me", "me@example.org", has_declined=True, is_owner=True)
    others = [
        replace(met, id="b", uid="b", title="Alone", attendees=()),
        replace(met, id="c", uid="c", title="Declined", attendees=(ada, me)),
        replace(met, id="d", uid="d", title="Budget"),
    ]
    memory = make_memory(tmp_path, clock=calendar, settings={"upkeep.zone": "UTC"})
    window = (noon - timedelta(days=9), noon + timedelta(days=30))
    memory._session.stores.history.save_events("work", [met, *others], window=window, now=noon)
    memory.notes.write("Meetings/x.md", "---\ntype: meeting\nidempotency_key: a\n---\n# Offer sync\n")
    os.utime(tmp_path / "vault" / "Meetings" / "x.md", (0, 0))
    memory.index.sync()
    day = memory.templates.run("daily_reflection", day="yesterday", dry_run=True).text
    week = memory.templates.run("weekly_review", day="yesterday", dry_run=True).text

    lines = ["[[Meetings/x|Offer sync]]", "Budget"]
    assert section(day, "Done") == [f"- 08:00 met Ada Lovelace: {each}" for each in lines]
    assert section(week, "Meetings") == [f"- {met.start:%Y-%m-%d} Ada Lovelace: {each}" for each in lines]


def test_a_day_is_written_once_and_brought_up_to_date_when_it_is_over(
    tmp_path: Path, person: Memory, calendar: Calendar
) -> None:
    """The run after midnight completes what was written in the afternoon, and leaves the person's words alone."""
    person.templates.run("daily_reflection")
    path = tmp_path / "vault" / DAY
    path.write_text(path.read_text() + "A good day.\n")
    calendar.pass_(hours=1)
    person.entries.save("Bought a pump at the market", kind="event")
    calendar.pass_(hours=14)

    first, second = person.jobs.run("daily_reflection"), person.jobs.run("daily_reflection")
    text = text_of(tmp_path, DAY)

    assert [each.outcome for each in first.steps] == ["done"]
    assert second.steps == ()
    assert "Bought a pump at the market" in text
    assert section(text, "Reflection") == ["A good day."]
    assert person.templates.run("daily_reflection", day="2026-03-01").reason == "idempotent"


def test_a_day_belongs_to_the_persons_zone(tmp_path: Path, calendar: Calendar) -> None:
    """Half past eleven at night in UTC is the next day in Berlin."""
    memory = berlin(tmp_path, calendar)
    calendar.at = datetime(2026, 3, 1, 23, 30, tzinfo=UTC)
    memory.entries.save("Ada has a cat called Tom")

    assert memory.templates.run("daily_reflection").path == "Reflections/2026-03-02.md"
    assert memory.templates.run("daily_reflection", day="2026-03-01").reason == "nothing"


def test_days_that_were_missed_are_written_and_empty_ones_are_not(
    tmp_path: Path, person: Memory, calendar: Calendar
) -> None:
    """The machine slept for two days; on one of them nothing happened."""
    calendar.pass_(days=2, hours=12)
    record = person.jobs.run("daily_reflection", dry_run=True)

    assert [each.step.subject for each in record.steps] == [DAY]
    assert person.jobs.run("daily_reflection").outcome == "done"
    assert (tmp_path / "vault" / DAY).exists()


def test_sensitive_notes_and_entries_stay_out(tmp_path: Path, person: Memory, calendar: Calendar) -> None:
    """So do those that wait, and what templates wrote."""
    touch(person, tmp_path, calendar, "Daily/diary.md", "---\nsensitive: true\n---\n- [ ] call the doctor\n")
    person.templates.run("daily_reflection")
    person.templates.run("weekly_review")
    text = text_of(tmp_path, WEEK)

    assert "diary" not in text
    assert "doctor" not in text
    assert "Reflections" not in text


def test_a_template_of_the_vault_replaces_the_packaged_one(tmp_path: Path, person: Memory) -> None:
    """The list says so, and says what is wrong with it."""
    own = tmp_path / "vault/Templates/commonplace/daily_reflection.md"
    own.parent.mkdir(parents=True)
    own.write_text("---\ntype: mine\n---\n# My {{ title }}\n")
    assert "# My Sunday, 1 March 2026" in person.templates.run("daily_reflection", dry_run=True).text

    own.write_text("{% include '/etc/passwd' %}")
    status = next(each for each in person.templates.list() if each.name == "daily_reflection")
    assert (status.origin, status.path) == ("vault", "Templates/commonplace/daily_reflection.md")
    assert "may not include other files" in status.problem
    with pytest.raises(Refused, match="may not include other files"):
        person.templates.run("daily_reflection")
    assert not (tmp_path / "vault" / DAY).exists()


@pytest.mark.requirement("D-05")
def test_the_folder_of_templates_is_a_setting(tmp_path: Path, calendar: Calendar) -> None:
    """One that does not exist is an error; one that does is used."""
    with pytest.raises(UsageError, match="no templates folder prompts/vault"):
        berlin(tmp_path, calendar, skills__templates_dir="prompts/vault").templates.list()
    folder = tmp_path / "vault/prompts/vault"
    folder.mkdir(parents=True)
    (folder / "own.md").write_text("---\na: 1\n---\n")
    names = [each.name for each in berlin(tmp_path, calendar, skills__templates_dir="prompts/vault").templates.list()]

    assert names == ["commitment_log", "daily_reflection", "meeting_note", "own", "person_profile", "weekly_review"]


@pytest.mark.requirement("D-95")
def test_each_skill_has_its_own_settings(tmp_path: Path, calendar: Calendar) -> None:
    """Its autonomy redirects its notes, its limits cut its sections, and it can be switched off."""
    settings = {"autonomy_level": "low", "most_items": 1, "enabled": False, "schedule": "0 5 * * *"}
    given = {f"skills__daily_reflection__{name}": value for name, value in settings.items()}
    memory = berlin(tmp_path, calendar, **given)
    live_a_day(memory, tmp_path, calendar)
    memory.entries.save("Ada has a cat called Tom")
    result = memory.templates.run("daily_reflection")
    job = next(each for each in memory.jobs.list() if each.name == "daily_reflection")

    assert result.path.startswith("Inbox/")
    assert section(result.text, "Learned")[1] == "- and 1 more"
    assert (job.is_enabled, job.schedule) == (False, "0 5 * * *")
    assert memory.templates.run("weekly_review").path == WEEK


@pytest.mark.requirement("D-96")
@pytest.mark.parametrize(("key", "value"), [("autonomy_level", "hgih"), ("schedule", "noon"), ("enabld", "true")])
def test_a_typo_in_a_skills_settings_fails_when_they_are_loaded(key: str, value: str) -> None:
    """Before anything is opened."""
    with pytest.raises(UsageError, match=key):
        load_settings(flags={f"skills.daily_reflection.{key}": value})


def test_an_agent_may_look_and_not_run(person: Memory) -> None:
    """What is written by itself is the person's choice."""
    agent = person.acting(Actor("agent", "claude-code"))
    assert agent.templates.show("daily_reflection").origin == "packaged"
    with pytest.raises(Refused):
        agent.templates.run("daily_reflection")
    with pytest.raises(NotFound, match="daily_reflection"):
        person.templates.run("nope")


@pytest.fixture
def server() -> Iterator[ModelScript]:
    """A model that summarizes."""
    answer = Answer({"summary": "A day of pumps.", "open_questions": ["Which pump?"]})
    with serving_models(default=answer) as script:
        yield script


def test_with_a_model_the_day_has_a_summary(tmp_path: Path, calendar: Calendar, server: ModelScript) -> None:
    """One call; switched off, or beyond its budget, none."""
    model = {"llm__provider": "openai", "llm__base_url": server.openai, "llm__model": MODEL}
    memory = berlin(tmp_path, calendar, **model)
    live_a_day(memory, tmp_path, calendar)
    text = memory.templates.run("daily_reflection", dry_run=True).text
    without = berlin(tmp_path, calendar, **model, skills__daily_reflection__draft=False)

    assert "A day of pumps." in text
    assert section(text, "Open")[-1] == "- Which pump?"
    assert "A day of pumps." not in without.templates.run("daily_reflection", dry_run=True).text
    assert len(server.requests) == 1


def test_what_is_erased_leaves_the_notes_about_its_day(tmp_path: Path, person: Memory, calendar: Calendar) -> None:
    """The night removes the lines that were made from it."""
    saved = person.entries.save("Ada has a cat called Tom")
    person.templates.run("daily_reflection")
    assert "Tom" in text_of(tmp_path, DAY)
    person.entries.erase(saved.fact.id)
    person.jobs.run("sleep")

    assert "Tom" not in text_of(tmp_path, DAY)
    assert "TypeScript" in text_of(tmp_path, DAY)


def test_a_week_names_what_is_owed_wherever_it_was_said(tmp_path: Path, calendar: Calendar, person: Memory) -> None:
    """Open commitments come from notes that did not change and from entries; a line of a note is named once."""
    old = calendar.at - timedelta(days=60)
    person.notes.write(
        "Projects/Roof.md", "- [ ] @Ben order slates by 2026-02-20\n- [ ] @Ben sweep 📅 2026-05-01 #roof\n"
    )
    os.utime(tmp_path / "vault/Projects/Roof.md", (old.timestamp(),) * 2)
    touch(person, tmp_path, calendar, "Projects/Shed.md", "- [ ] @Eva paint it\n- [ ] oil the hinge #diy\n- [?] why?\n")
    person.facts.add("Ada", "committed_to", "send the plan")
    person.index.sync()
    text = person.templates.run("weekly_review").text

    lines = [line.partition(" ^")[0] for line in section(text, "Open")]
    assert lines == [
        "- Ben: order slates (due 2026-02-20, overdue) [[Projects/Roof]]",
        "- Ben: sweep (due 2026-05-01) [[Projects/Roof]]",
        *(line for line in lines if line.startswith("- Ada: send the plan [[Agent/Memory/")),
        "- Eva: paint it [[Projects/Shed]]",
        "- buy pipes ([[Projects/Greenhouse]])",
        "- oil the hinge ([[Projects/Shed]])",
    ]
    assert len(lines) == 6


def test_a_note_of_a_day_that_is_not_over_is_written_only_if_something_is_new(
    tmp_path: Path, calendar: Calendar, person: Memory
) -> None:
    """Running a skill again makes no commit, unless something happened since."""
    first = person.templates.run("daily_reflection")
    calendar.pass_(minutes=5)
    second = person.templates.run("daily_reflection")
    person.entries.save("Decided to paint the shed", kind="decision")
    third = person.templates.run("daily_reflection")

    assert (first.skipped, second.skipped, second.reason, third.skipped) == (False, True, "unchanged", False)
    assert "paint the shed" in text_of(tmp_path, DAY)
