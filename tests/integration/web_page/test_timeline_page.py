"""The page of a day, and the verb behind it."""

import os
import time
from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import expect

from commonplace.errors import Refused
from commonplace.memory import Memory
from tests.gitvault import git
from tests.integration.web_page.conftest import Site, Visit
from tests.page_vault import AGENT

pytestmark = [pytest.mark.needs("chromium"), pytest.mark.usefixtures("one_day")]


def test_a_day_has_what_was_said_learned_written_and_edited_in_order(visit: Visit, site: Site, memory: Memory) -> None:
    """Each leads to its own page; the days beside it are one click away."""
    memory.acting(AGENT).conversations.record(
        [{"role": "user", "content": "The plum tree blossoms."}],
        interface="claude-code",
        source_id="plums",
        title="Plums",
    )
    memory.entries.save("The plum tree blossoms in April.", kind="fact")
    memory.notes.write("Inbox/Plums.md", "Ripe in August.\n")
    jam = site.vault / "Inbox" / "Plum jam.md"
    jam.write_text("Two kilos.\n")
    os.utime(jam, (time.time(), time.time()))  # by the clock of the tests, which may be shifted, and not the kernel's
    page = visit("/timeline")
    text = page.inner_text("main")

    assert [
        each for each in ("Plums", "The plum tree blossoms in April.", "write Inbox/Plums.md") if each not in text
    ] == []
    assert "Inbox/Plum jam" in text
    times = page.locator(".happening > span:first-child").all_text_contents()
    assert times == sorted(times)
    page.get_by_role("link", name="The plum tree blossoms in April.").click()
    expect(page.locator("h1")).to_have_text("The plum tree blossoms in April.")


def test_a_day_without_anything_says_so_and_a_program_sees_no_day(site: Site, memory: Memory) -> None:
    """And what is no day is refused with a hint."""
    assert b"Nothing is known of this day." in site.get("/timeline?day=1999-01-01").body
    assert site.get("/timeline?day=someday").status == 400
    assert site.get("/timeline?day=0001-01-01").status == 400
    with pytest.raises(Refused):
        memory.acting(AGENT).days.show()


def test_a_day_ends_at_midnight_of_the_zone(memory: Memory) -> None:
    """What was learned a moment ago is of today, and of no other day."""
    memory.entries.save("The plums of the neighbour are yellow.", kind="fact")
    now = datetime.now(UTC)
    days = [memory.days.show((now + timedelta(days=shift)).date().isoformat()) for shift in (-1, 0, 1)]

    assert [any("neighbour" in each.title for each in day) for day in days] == [False, True, False]


def test_many_edits_in_a_row_stand_behind_the_first_ones(visit: Visit, site: Site) -> None:
    """As of a folder that was copied: what else happened on the day is not pages further down."""
    day = git(site.vault, "log", "--format=%cs").splitlines()[-1]  # other tests may have begun on the day before
    page = visit(f"/timeline?day={day}")
    edits = page.locator("li", has=page.locator("details", has_text="more edits")).first

    assert page.locator("[data-keys] > li").count() < 1000
    edits.locator("summary").click()
    assert edits.locator("details li").count() > 400
