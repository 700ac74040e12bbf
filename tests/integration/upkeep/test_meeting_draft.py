"""The skill meeting_note with a model: one structured call, within its budget and the day's; no partial write."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from commonplace.errors import ProviderFailed
from commonplace.events import listen, pass_to
from commonplace.memory import Memory
from commonplace.model.calendar import Attendee, Event
from tests.llm_server import MODEL, Answer, Failure, ModelScript, serving_models
from tests.memories import Calendar, make_memory

NOTE = "Meetings/2026-03-10-offer-sync.md"
DRAFT = {
    "summary": "Ada owes the offer.",
    "action_item_candidates": ["Ada: send the offer"],
    "open_questions": ["Who signs?"],
    "links_suggested": ["Pricing"],
}


@pytest.fixture
def events() -> Iterator[list[dict[str, Any]]]:
    """What is emitted."""
    seen: list[dict[str, Any]] = []
    listen("info")
    pass_to(lambda level, event, fields: seen.append({"event": event, **fields}))
    try:
        yield seen
    finally:
        pass_to(None)
        listen("warning")


def held(folder: Path, server: ModelScript, **settings: object) -> Memory:
    """A memory with that model and a meeting that is over."""
    clock = Calendar(datetime(2026, 3, 10, 9, 32, tzinfo=UTC))
    model = {"provider": "openai", "base_url": server.openai, "model": MODEL, "price_in": 1.0, "price_out": 2.0}
    given = {f"llm.{name}": value for name, value in model.items()} | {"upkeep.zone": "UTC"}
    given |= {name.replace("__", "."): value for name, value in settings.items()}
    memory = make_memory(folder, clock=clock, settings=given)
    start = datetime(2026, 3, 10, 9, 0, tzinfo=UTC)
    event = Event(
        id="offer/10",
        uid="offer",
        calendar="work",
        title="Offer sync",
        start=start,
        end=start + timedelta(minutes=30),
        attendees=(Attendee("Ada", "ada@example.org"),),
    )
    window = (start - timedelta(days=1), start + timedelta(days=1))
    memory._session.stores.history.save_events("work", [event], window=window, now=start)
    return memory


@pytest.mark.requirement("D-114", "D-116", "D-121")
def test_the_draft_is_one_structured_call_that_is_logged_with_its_cost(
    tmp_path: Path, events: list[dict[str, Any]]
) -> None:
    """Summary, candidates, questions and links; a candidate is no commitment until the person makes it a box."""
    with serving_models(default=Answer(DRAFT)) as server:
        memory = held(tmp_path, server)
        first, second = memory.templates.run("meeting_note"), memory.templates.run("meeting_note")
    (request,) = server.requests
    (call,) = memory._session.stores.history.calls(task_type="draft")
    told = {each["event"]: each for each in events if each["event"].startswith("vault_autowrite_")}

    assert "Ada owes the offer." in first.text
    assert "- Proposed: Ada: send the offer" in first.text
    assert "- Who signs?" in first.text
    assert "[[Pricing]]" in first.text
    assert json.dumps(request.body).count("action_item_candidates") >= 1
    assert (call.cost > 0, second.reason) == (True, "idempotent")
    assert {name: each["template"] for name, each in told.items()} == {
        "vault_autowrite_written": "meeting_note",
        "vault_autowrite_skipped": "meeting_note",
    }
    assert memory.commitments.list() == ()
    (status,) = (each for each in memory.templates.list() if each.name == "meeting_note")
    assert (status.written, status.failed) == (1, 0)


@pytest.mark.requirement("D-106", "D-121")
def test_a_model_that_fails_leaves_no_part_of_the_note(tmp_path: Path, events: list[dict[str, Any]]) -> None:
    """Neither the note nor a stub of its people; the event says why, and once the model answers it is written."""
    with serving_models(default=Failure(500)) as server:
        memory = held(tmp_path, server)
        with pytest.raises(ProviderFailed):
            memory.templates.run("meeting_note")
        server.default = Answer(DRAFT)
        nothing = not (tmp_path / "vault" / "Meetings").exists() and not (tmp_path / "vault" / "People").exists()
        memory.templates.run("meeting_note")
    failed = [each for each in events if each["event"] == "vault_autowrite_failed"]

    assert nothing
    assert (failed[0]["template"], failed[0]["exc_type"]) == ("meeting_note", "ProviderFailed")
    assert (tmp_path / "vault" / NOTE).exists()


def test_beyond_its_budget_or_the_days_no_call_is_made(tmp_path: Path) -> None:
    """The note is written without a draft, and nothing is sent."""
    with serving_models(default=Answer(DRAFT)) as server:
        cheap = held(tmp_path / "a", server, skills__meeting_note__most_tokens=100)
        poor = held(tmp_path / "b", server, llm__daily_tokens=100)
        texts = [memory.templates.run("meeting_note").text for memory in (cheap, poor)]

    assert ["## Action items" in text and "Ada owes the offer." not in text for text in texts] == [True, True]
    assert server.requests == []


@pytest.mark.requirement("D-95")
def test_the_settings_of_meeting_note_have_their_defaults_and_take_effect(tmp_path: Path) -> None:
    """Every minute, five minutes back, five of each source; with its own autonomy the note goes to the Inbox."""
    with serving_models(default=Answer(DRAFT)) as server:
        memory = held(tmp_path, server, skills__meeting_note__autonomy_level="low", skills__meeting_note__draft=False)
        path = memory.templates.run("meeting_note").path
    (job,) = (each for each in memory.jobs.list() if each.name == "meeting_note")

    assert path.startswith("Inbox/")
    assert job.schedule == "every 1m"
    assert server.requests == []
    assert not (tmp_path / "vault" / "People").exists()


@pytest.mark.requirement("D-116")
def test_a_run_that_fails_is_told_and_counted(tmp_path: Path, events: list[dict[str, Any]]) -> None:
    """The event of the meeting, the end of the run with its outcome, and the count in the list of templates."""
    with serving_models(default=Failure(500)) as server:
        memory = held(tmp_path, server)
        run = memory.jobs.run("meeting_note")
    (status,) = (each for each in memory.templates.list() if each.name == "meeting_note")
    ended = [each for each in events if each["event"] == "job_run"]

    assert [each.outcome for each in run.steps] == ["failed"]
    assert "meeting_end_dispatch_failed" in {each["event"] for each in events}
    assert [(each["job"], each["outcome"]) for each in ended] == [("meeting_note", run.outcome)]
    assert (status.written, status.failed) == (0, 1)
