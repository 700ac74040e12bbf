"""The pages of jobs: their state, a dry run that changes nothing, and a run in the background with its log."""

import re
from datetime import UTC, datetime, timedelta

import pytest

from commonplace.memory import Memory
from commonplace.web.page.view import ahead
from tests.integration.web_page.conftest import Site, Visit


def test_every_job_is_listed_with_its_schedule_and_its_next_run(site: Site, memory: Memory) -> None:
    """Each has a page of its own; one that does not exist is not found."""
    text = site.get("/jobs").body.decode()
    jobs = memory.jobs.list()

    assert [each.name for each in jobs if f'href="/jobs/{each.name}"' not in text] == []
    assert [each.name for each in jobs if f'title="{each.schedule}"' not in text] == []
    assert site.get(f"/jobs/{jobs[0].name}").status == 200
    assert site.get("/jobs/nonsense").status == 404
    assert site.post("/jobs/run", {"name": "nonsense"}).status == 404


def test_a_dry_run_says_what_a_job_would_do_and_does_nothing(site: Site, memory: Memory) -> None:
    """Nothing is added to the log of its runs."""
    before = memory.jobs.log("links")
    text = site.get("/jobs/links/plan").body.decode()

    assert "What it would do now" in text
    assert memory.jobs.log("links") == before


@pytest.mark.needs("chromium")
def test_a_job_runs_in_the_background_and_its_page_follows_it(visit: Visit, memory: Memory) -> None:
    """The page is there at once; when the run has ended, it shows how, without being loaded again."""
    page = visit("/jobs/probe")
    page.get_by_role("button", name="Run now").click()
    page.wait_for_selector(".flash:has-text('in the background')")
    page.wait_for_selector("#job-now:not([data-refresh]) .list .badge.good")

    assert memory.jobs.log("probe", limit=1)[0].outcome == "done"
    assert "just now" in page.inner_text("#job-now .list")


def test_a_job_is_switched_off_and_on_by_its_button(site: Site) -> None:
    """It takes effect without a restart."""
    key = {"key": "upkeep.dream.enabled", "back": "/jobs/dream"}
    off = site.post("/settings/set", {**key, "value": "false"})
    switched_off = site.get("/jobs/dream").body.decode()
    site.post("/settings/set", {**key, "value": "true"})

    assert off.headers["location"] == "/jobs/dream"
    assert "Switch on" in switched_off
    assert "Switch off" in site.get("/jobs/dream").body.decode()


def test_a_step_of_a_run_leads_to_its_change_and_can_be_taken_back(site: Site, memory: Memory) -> None:
    """The Undo button goes by the commit of the step."""
    ended = memory.entries.save("The old pump was rented from Otto.", kind="fact", valid_from="2024-01-01")
    memory.facts.end(ended.fact.id, at="2024-06-01")
    memory.jobs.run("archive")
    step = next(each for each in memory.jobs.log("archive", limit=1)[0].steps if each.step.subject == ended.fact.id)
    text = site.get("/jobs/archive").body.decode()

    assert step.commit
    assert f'href="/activity/{step.commit}"' in text
    assert site.post("/undo", {"commit": step.commit, "back": "/jobs/archive"}).headers["location"] == "/jobs/archive"
    assert "archive" not in memory.entries.show(ended.fact.id).fact.path.lower()


def test_a_run_within_a_minute_is_ahead(site: Site) -> None:
    """What is to come is never `just now`."""
    page = site.get("/jobs").body.decode()

    assert not re.search(r"next (?:<[^>]*>)?just now", page)
    assert ">Sleep channels</a>" in page
    assert str(ahead(datetime.now(UTC) + timedelta(seconds=59))) == "in a moment"
