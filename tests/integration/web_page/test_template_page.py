"""The pages of templates and calendars: the list, a preview that writes nothing, a note that is written, reading."""

import pytest
from playwright.sync_api import expect

from commonplace.memory import Memory
from tests.integration.web_page.conftest import Site, Visit


def test_every_template_is_listed_with_its_schedule_in_words(site: Site, memory: Memory) -> None:
    """Each has a page of its own with its text; one that does not exist is not found."""
    text = site.get("/templates").body.decode()
    names = [each.name for each in memory.templates.list()]

    assert [name for name in names if f'href="/templates/{name}"' not in text] == []
    assert "every day at 00:20" in text
    assert [site.get(f"/templates/{name}").status for name in names] == [200] * len(names)
    assert site.get("/templates/nonsense").status == 404


@pytest.mark.needs("chromium")
def test_a_preview_shows_the_note_and_writes_nothing_until_it_is_written(visit: Visit, memory: Memory) -> None:
    """The written note is shown with an Undo button, and stands among the last notes of its template."""
    memory.entries.save("The cellar steps were swept.", kind="event")  # a new day may have begun
    page = visit("/templates/daily_reflection")
    page.get_by_role("button", name="Preview").click()
    page.wait_for_selector("#preview")
    page.wait_for_load_state()
    preview = page.inner_text("section:has(#preview)")
    path = memory.templates.run("daily_reflection", dry_run=True).path
    was_there = path in [note.path for note in memory.notes.list()]
    page.get_by_role("button", name="Write the note").click()
    flash = page.inner_text(".flash")
    latest = next(each for each in memory.templates.list() if each.name == "daily_reflection").latest
    page.get_by_role("button", name="Undo").click()
    expect(page.locator(".flash")).to_contain_text(f"Undone: {path}.")

    assert page.url.endswith("/templates/daily_reflection")
    assert path in preview
    assert not was_there
    assert f"Wrote {path}." in flash
    assert path in [each.path for each in latest]
    assert path not in [note.path for note in memory.notes.list()]


def test_a_profile_asks_whom_it_is_about_and_a_missing_name_is_said(site: Site) -> None:
    """The form has a field for the name, and none for a day."""
    text = site.get("/templates/person_profile").body.decode()
    nobody = site.post("/templates/person_profile", {"preview": "1"})
    somebody = site.post("/templates/person_profile", {"about": "Ada Lindqvist", "preview": "1"})

    assert 'name="about"' in text
    assert 'type="date"' not in text
    assert nobody.status == 400
    assert b"Go back, and type whom it is about." in nobody.body
    assert "People/Ada Lindqvist" in somebody.body.decode()
    assert 'href="/notes/Projects/Greenhouse/Greenhouse.md"' in somebody.body.decode()


@pytest.mark.needs("chromium")
def test_a_calendar_is_read_by_its_button_and_its_events_stand_below(visit: Visit, memory: Memory) -> None:
    """With the time, the people, and when it was last read."""
    page = visit("/templates")
    page.get_by_role("button", name="Read now garden").click()

    expect(page.locator(".flash")).to_contain_text("garden: 4 events")
    expect(page.locator("main")).to_contain_text("Foundation of the greenhouse with Ada Lindqvist")
    assert memory.calendars.list()[0].read is not None


def test_an_unknown_calendar_is_not_found(site: Site) -> None:
    """And reading all of them is one form, too."""
    assert site.post("/calendars/sync", {"name": "nonsense"}).status == 404
    assert site.post("/calendars/sync", {}).headers["location"] == "/templates"


def test_a_template_is_switched_off_and_on_on_its_page(site: Site, memory: Memory) -> None:
    """The button goes by the setting of its skill, and comes back."""
    key = {"key": "skills.weekly_review.enabled", "back": "/templates/weekly_review"}
    off = site.post("/settings/set", {**key, "value": "false"})
    text = site.get("/templates/weekly_review").body.decode()
    site.post("/settings/set", {**key, "value": "true"})

    assert off.headers["location"] == "/templates/weekly_review"
    assert "Switch on" in text
    assert "Switch off" in site.get("/templates/weekly_review").body.decode()


def test_a_preview_shows_the_note_without_its_properties(site: Site, memory: Memory) -> None:
    """They are for programs, and stand in the text as Markdown; the address of a preview shows the template again."""
    memory.entries.save("The awning of the market stall was hung.", kind="event")  # a new day may have begun
    text = site.post("/templates/daily_reflection", {"preview": "1"}).body.decode()
    prose = text.partition('<div class="prose">')[2].partition("<details>")[0]

    assert "<h2>Done</h2>" in prose.replace("h3", "h2")
    assert "idempotency_key" not in prose
    assert "idempotency_key: daily_reflection:" in text
    assert site.get("/templates/daily_reflection").status == 200


def test_what_is_proposed_for_a_note_of_the_person_is_said_in_words(site: Site, memory: Memory) -> None:
    """The sections wait on Review; rejected once, they are not proposed again."""
    memory.notes.write("People/Wilma Fenn.md", "# Wilma Fenn\n\nMet at the seed fair.\n")
    memory.facts.add("Wilma Fenn", "lives_in", "Turku")
    about = {"about": "Wilma Fenn"}
    site.post("/templates/person_profile", about)
    proposed = site.get("/templates/person_profile").body.decode()
    waiting = [each for each in memory.reviews.list().proposals if each.target == "People/Wilma Fenn.md"]
    memory.reviews.reject_proposals(waiting[0].id)
    site.post("/templates/person_profile", about)

    assert "You wrote this note yourself: what would be added waits on Review." in proposed
    assert "You rejected these sections before" in site.get("/templates/person_profile").body.decode()
