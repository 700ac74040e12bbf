"""Notes from templates: eight steps in order, once each, never over a person's words, never in part."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from commonplace.errors import Conflict, NotFound, Refused, UsageError
from commonplace.events import listen, pass_to
from commonplace.flows.stores import Session
from commonplace.flows.templates import write
from commonplace.flows.templates.library import DEFAULT_FOLDER, TemplateLibrary
from commonplace.flows.templates.write import is_due, write_from_template
from commonplace.memory import Memory
from commonplace.model import Actor, Terms
from commonplace.model.template import NoteDraft, TemplateRequest, WriteResult
from tests.llm_server import MODEL, Answer, Failure, ModelScript, serving_models
from tests.memories import Calendar, make_memory

TEMPLATE = """---
type: meeting
title: {{ title | yaml }}
idempotency_key: {{ idempotency_key | yaml }}
autowritten_at: {{ now_iso | yaml }}
---
# {{ title }}

## Summary
{{ llm.summary or "Nothing yet." }}

## Related
{% for each in related %}
- {{ each.path | link }}
{% endfor %}
"""
SCHEMA = {"type": "object", "properties": {"summary": {"type": "string"}}, "required": ["summary"]}
DRAFT = NoteDraft(task="Summarize {{ title }}.", schema=SCHEMA, most_tokens=20_000)
REQUEST = TemplateRequest(
    template="meeting",
    target_path="Meetings/2026-03-01-review.md",
    idempotency_key="event-1",
    values={"title": "Review"},
    draft=DRAFT,
)


def gathered() -> Mapping[str, Any]:
    """What memory knows."""
    return {"related": [{"path": "Projects/Greenhouse.md"}]}


def never() -> Mapping[str, Any]:
    """A gather that must not be called."""
    raise AssertionError("gathered in vain")


@pytest.fixture
def calendar() -> Calendar:
    """A clock that stands still."""
    return Calendar()


@pytest.fixture
def person(tmp_path: Path, calendar: Calendar) -> Memory:
    """The person's memory, with a template in the vault."""
    memory = make_memory(tmp_path, clock=calendar)
    save_template(tmp_path, TEMPLATE)
    return memory


@pytest.fixture
def session(person: Memory) -> Session:
    """The session of the job."""
    return person.acting(Actor("job", "meeting"))._session


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


def save_template(folder: Path, text: str, *, name: str = "meeting") -> None:
    """A template of the vault."""
    path = folder / "vault" / DEFAULT_FOLDER / f"{name}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def note(folder: Path, path: str = REQUEST.target_path) -> Path:
    """The file of a note."""
    return folder / "vault" / path


def named(events: list[dict[str, Any]], prefix: str = "vault_autowrite") -> list[dict[str, Any]]:
    """The events of templates."""
    return [each for each in events if str(each["event"]).startswith(prefix)]


@pytest.mark.requirement("D-104", "D-105", "D-107")
def test_a_note_is_written_in_one_commit_and_told_by_an_event(
    tmp_path: Path, person: Memory, session: Session, events: list[dict[str, Any]]
) -> None:
    """The result has path and commit; the event has everything that a log needs."""
    result = write_from_template(REQUEST, gathered, session)
    (change,) = person.notes.log(path=REQUEST.target_path)

    assert result == WriteResult(REQUEST.target_path, change.commit, text=note(tmp_path).read_text())
    assert change.reason == "autowrite: meeting event-1"
    assert (change.actor, change.origin) == ("job", "meeting")
    (event,) = named(events)
    assert event["event"] == "vault_autowrite_written"
    assert {key: event[key] for key in ("path", "template", "idempotency_key", "autonomy_level", "sha")} == {
        "path": REQUEST.target_path,
        "template": "meeting",
        "idempotency_key": "event-1",
        "autonomy_level": "medium",
        "sha": change.commit,
    }
    assert event["redirected_to_inbox"] is False


@pytest.mark.requirement("D-97", "D-99")
def test_the_frontmatter_is_the_templates_own_first_block(person: Memory, session: Session) -> None:
    """The caller passes none; the library gives body and keys apart."""
    rendered = TemplateLibrary(session.stores).render("meeting", {**REQUEST.values, **gathered(), **extras()})

    assert rendered.body.startswith("# Review\n")
    assert rendered.frontmatter["type"] == "meeting"
    assert rendered.frontmatter["title"] == "Review"


def extras() -> dict[str, Any]:
    """The values that the writer adds."""
    return {"llm": {"summary": ""}, "now_iso": "2026-03-01T09:00:00Z", "idempotency_key": "event-1"}


@pytest.mark.requirement("D-98")
def test_a_missing_template_and_a_missing_folder_are_different_errors(session: Session) -> None:
    """The folder is missed when the library is made, the template when it is used."""
    with pytest.raises(UsageError, match="no templates folder Nowhere"):
        TemplateLibrary(session.stores, "Nowhere")
    with pytest.raises(NotFound, match="no template 'nope'"):
        TemplateLibrary(session.stores).render("nope", {})


@pytest.mark.parametrize(
    "text", ["# no frontmatter\n", "---\na: [\n---\nx\n", "---\ntitle: {{ title }}\nx: : y\n---\n"]
)
def test_a_template_with_bad_frontmatter_writes_nothing(
    tmp_path: Path, session: Session, text: str, person: Memory
) -> None:
    """The reason names the template."""
    save_template(tmp_path, text)
    result = write_from_template(REQUEST, gathered, session)

    assert result.skipped
    assert "meeting" in result.reason
    assert not note(tmp_path).exists()


@pytest.mark.parametrize("key", ["always_load: true", "id: 0199f3c2", "source: {trust: told}"])
def test_a_template_makes_nothing_trusted(tmp_path: Path, session: Session, key: str) -> None:
    """A vault's template is not the person's word."""
    save_template(tmp_path, f"---\ntype: x\n{key}\n---\nx\n")
    result = write_from_template(REQUEST, gathered, session)

    assert isinstance(result.error, Refused)
    assert not note(tmp_path).exists()


@pytest.mark.requirement("D-96", "D-100")
def test_low_autonomy_writes_to_the_inbox_under_a_name_of_its_own(tmp_path: Path, session: Session) -> None:
    """The template's own value counts, and two notes of one name do not meet in the Inbox."""
    low = replace(REQUEST, autonomy="low")
    first = write_from_template(low, gathered, session)
    other = write_from_template(
        replace(low, target_path="Reviews/2026-03-01-review.md", idempotency_key="event-2"), gathered, session
    )

    assert first.path.startswith("Inbox/")
    assert other.path.startswith("Inbox/")
    assert first.path != other.path
    assert first.redirected_to_inbox
    assert write_from_template(low, never, session).reason == "idempotent"


def test_the_templates_autonomy_counts_where_that_of_agents_is_low(tmp_path: Path, calendar: Calendar) -> None:
    """The person set it for this template."""
    memory = make_memory(tmp_path, clock=calendar, settings={"safety.autonomy": "low"})
    save_template(tmp_path, TEMPLATE)
    session = memory.acting(Actor("job", "meeting"))._session

    assert write_from_template(replace(REQUEST, autonomy="high"), gathered, session).path == REQUEST.target_path


@pytest.mark.requirement("D-101")
def test_what_has_the_key_is_not_written_again_and_nothing_is_spent(
    session: Session, events: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """No gathering, no model, no rendering."""
    write_from_template(REQUEST, gathered, session)
    monkeypatch.setattr(write, "_drafted", never)
    monkeypatch.setattr(TemplateLibrary, "render", never)
    again = write_from_template(REQUEST, never, session)

    assert (again.skipped, again.reason, again.sha) == (True, "idempotent", None)
    assert [each["event"] for each in named(events)] == ["vault_autowrite_written", "vault_autowrite_skipped"]
    assert not is_due(REQUEST, session)


def test_what_has_nothing_to_say_is_told_as_skipped(session: Session, events: list[dict[str, Any]]) -> None:
    """So that the share of notes that were skipped counts every one of them; a dry run is none."""
    write_from_template(replace(REQUEST, dry_run=True), lambda: None, session)
    result = write_from_template(REQUEST, lambda: None, session)

    assert (result.skipped, result.reason) == (True, "nothing")
    assert [(each["event"], each["reason"]) for each in named(events)] == [("vault_autowrite_skipped", "nothing")]


@pytest.mark.requirement("D-102")
def test_a_target_that_cannot_be_read_is_raised(tmp_path: Path, session: Session) -> None:
    """Only that it is missing is no error."""
    note(tmp_path).parent.mkdir(parents=True, exist_ok=True)
    note(tmp_path).symlink_to(tmp_path)
    with pytest.raises(Refused):
        write_from_template(REQUEST, never, session)


def raising(error: Exception) -> Callable[..., Any]:
    """A step that fails."""

    def step(*args: object, **named: object) -> Any:
        raise error

    return step


STEPS: list[tuple[str, Callable[[pytest.MonkeyPatch], None]]] = [
    ("prompt", lambda patch: patch.setattr(write, "_drafted", raising(UsageError("prompt")))),
    ("render", lambda patch: patch.setattr(TemplateLibrary, "render", raising(UsageError("render")))),
    ("write", lambda patch: patch.setattr(write, "change", raising(Conflict("write")))),
]


@pytest.mark.requirement("D-103", "D-106")
@pytest.mark.parametrize("first", range(4))
def test_the_earliest_failure_wins_and_nothing_is_written(
    tmp_path: Path, session: Session, events: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch, first: int
) -> None:
    """Gather, prompt, render and write fail from some step on: the first of them is the reason."""
    names = ["gather", *(name for name, _ in STEPS)]
    for _, fail in STEPS[max(0, first - 1) :]:
        fail(monkeypatch)
    result = write_from_template(REQUEST, raising(KeyError("gather")) if first == 0 else gathered, session)

    assert result.skipped
    assert names[first] in result.reason
    (event,) = named(events)
    assert event["event"] == "vault_autowrite_failed"
    assert event["exc_type"] == ("KeyError" if first == 0 else "Conflict" if first == 3 else "UsageError")
    assert event["template"] == "meeting"
    assert not note(tmp_path).exists()


def test_a_path_that_policy_forbids_fails_before_everything(tmp_path: Path, calendar: Calendar) -> None:
    """Step 1 raises, whatever would fail later."""
    memory = make_memory(tmp_path, clock=calendar, settings={"safety.path_allowlist": ["Projects"]})
    session = memory.acting(Actor("job", "meeting"))._session
    with pytest.raises(Refused, match="outside the folders"):
        write_from_template(replace(REQUEST, target_path="Diary/x.md"), never, session)


def test_a_template_whose_folder_is_not_on_the_allowlist_writes_to_the_inbox(session: Session) -> None:
    """A vault with other folders gets its notes all the same, where programs may write."""
    elsewhere = replace(REQUEST, target_path="Diary/x.md")
    result = write_from_template(elsewhere, gathered, session)

    assert result.path.startswith("Inbox/Diary-x"), result.reason
    assert result.redirected_to_inbox
    assert write_from_template(elsewhere, never, session).reason == "idempotent"


@pytest.mark.requirement("D-101")
def test_a_note_that_the_person_moved_is_found_by_its_key(tmp_path: Path, person: Memory, session: Session) -> None:
    """Nothing is written twice; a changed source is rendered where the note is now."""
    write_from_template(REQUEST, gathered, session)
    moved = note(tmp_path, "Projects/Review of Ada.md")
    moved.parent.mkdir(exist_ok=True)
    note(tmp_path).rename(moved)
    person.index.sync()
    again = write_from_template(REQUEST, never, session)
    changed = replace(REQUEST, values={"title": "Review, moved"}, source_version="2")
    result = write_from_template(changed, gathered, session)

    assert (again.reason, again.path) == ("idempotent", "Projects/Review of Ada.md")
    assert (result.path, result.skipped) == ("Projects/Review of Ada.md", False), result.reason
    assert "# Review, moved" in moved.read_text()
    assert not note(tmp_path).exists()


def test_a_note_that_the_person_moved_out_of_reach_is_theirs(tmp_path: Path, person: Memory, session: Session) -> None:
    """Outside of the allowlist, and out of the Inbox where autonomy is low."""
    low = replace(REQUEST, autonomy="low", idempotency_key="event-2", target_path="Meetings/low.md")
    write_from_template(REQUEST, gathered, session)
    inbox = write_from_template(low, gathered, session).path
    for old, new in ((REQUEST.target_path, "Archive/review.md"), (inbox, "Meetings/low.md")):
        note(tmp_path, new).parent.mkdir(exist_ok=True)
        note(tmp_path, old).rename(note(tmp_path, new))
    person.index.sync()
    results = [write_from_template(replace(each, source_version="2"), never, session) for each in (REQUEST, low)]

    assert [(each.path, each.reason) for each in results] == [
        ("Archive/review.md", "taken_over"),
        ("Meetings/low.md", "taken_over"),
    ]


@pytest.mark.parametrize("by", ["hand", "undo"])
def test_a_note_that_the_person_removed_comes_back_only_if_they_ask(
    tmp_path: Path, person: Memory, session: Session, by: str
) -> None:
    """Neither the same request nor a changed source brings it back, also before the index knows that it is gone."""
    write_from_template(REQUEST, gathered, session)
    if by == "hand":
        note(tmp_path).unlink()
    else:
        person.notes.undo()
    later = replace(REQUEST, source_version="2")

    assert [write_from_template(each, never, session).reason for each in (REQUEST, later)] == ["removed"] * 2
    assert not is_due(later, session)
    assert write_from_template(replace(later, is_asked=True), gathered, session).skipped is False


@pytest.mark.requirement("D-104")
def test_a_note_that_changes_meanwhile_is_not_overwritten(tmp_path: Path, session: Session) -> None:
    """The write is based on the version that was read."""

    def saves_meanwhile() -> Mapping[str, Any]:
        note(tmp_path).parent.mkdir(parents=True, exist_ok=True)
        note(tmp_path).write_text("the person was faster\n")
        return gathered()

    result = write_from_template(REQUEST, saves_meanwhile, session)

    assert isinstance(result.error, Conflict)
    assert note(tmp_path).read_text() == "the person was faster\n"


def test_a_note_of_the_person_is_left_alone(tmp_path: Path, person: Memory, session: Session) -> None:
    """One that they wrote, and one that they took over."""
    person.notes.write(REQUEST.target_path, "# Mine\n")
    other = replace(REQUEST, target_path="Meetings/other.md")
    write_from_template(other, gathered, session)
    taken = note(tmp_path, other.target_path)
    taken.write_text(taken.read_text().replace("autowritten_by: commonplace\n", ""))

    assert write_from_template(REQUEST, never, session).reason == "taken_over"
    assert write_from_template(replace(other, source_version="2"), never, session).reason == "taken_over"
    assert note(tmp_path).read_text() == "# Mine\n"


def test_two_notes_for_one_path_both_exist(tmp_path: Path, session: Session) -> None:
    """Two meetings of one name on one day."""
    first = write_from_template(REQUEST, gathered, session)
    second = write_from_template(replace(REQUEST, idempotency_key="event-2"), gathered, session)

    assert second.path != first.path
    assert not second.redirected_to_inbox
    assert write_from_template(replace(REQUEST, idempotency_key="event-2"), never, session).reason == "idempotent"


def test_a_sensitive_note_is_not_touched(person: Memory, session: Session) -> None:
    """The person marked it."""
    write_from_template(REQUEST, gathered, session)
    person.notes.write(REQUEST.target_path, "---\nsensitive: true\n---\n# x\n", Terms())
    with pytest.raises(Refused, match="sensitive"):
        write_from_template(replace(REQUEST, source_version="2"), never, session)


def test_a_dry_run_shows_the_note_and_writes_nothing(tmp_path: Path, session: Session) -> None:
    """No file, no commit, no event."""
    result = write_from_template(replace(REQUEST, dry_run=True), gathered, session)

    assert "# Review" in result.text
    assert result.sha is None
    assert not note(tmp_path).exists()


@pytest.mark.requirement("D-123")
def test_a_changed_source_is_rendered_again_where_nobody_wrote(
    tmp_path: Path, person: Memory, session: Session
) -> None:
    """The title moves on; what the person edited waits in review, and their own section stays."""
    write_from_template(REQUEST, gathered, session)
    moved = replace(REQUEST, values={"title": "Review, moved"}, source_version="2")
    assert is_due(moved, session)
    first = write_from_template(moved, gathered, session)
    assert "# Review, moved" in first.text
    assert first.review == ""

    edited = note(tmp_path).read_text().replace("Nothing yet.", "We chose drip irrigation.") + "\n## Mine\nmy words\n"
    note(tmp_path).write_text(edited)
    again = replace(moved, values={"title": "Review, again"}, source_version="3")
    save_template(tmp_path, TEMPLATE.replace("Nothing yet.", "No summary."))
    second = write_from_template(again, gathered, session)

    assert "# Review, again" in second.text
    assert "We chose drip irrigation." in second.text
    assert "my words" in second.text
    (proposal,) = person.reviews.list().proposals
    assert (second.review, proposal.target) == (proposal.id, REQUEST.target_path)
    assert "+No summary." in proposal.difference
    assert write_from_template(again, never, session).reason == "idempotent"


@pytest.mark.requirement("D-123")
def test_a_property_that_the_person_changed_is_only_proposed(tmp_path: Path, person: Memory, session: Session) -> None:
    """Their value stays until they approve ours."""
    write_from_template(REQUEST, gathered, session)
    note(tmp_path).write_text(note(tmp_path).read_text().replace("title: Review", "title: My title"))
    result = write_from_template(replace(REQUEST, values={"title": "Other"}, source_version="2"), gathered, session)

    assert "title: My title" in result.text
    assert result.review
    person.reviews.approve_proposals(result.review)
    assert "title: Other" in note(tmp_path).read_text()


@pytest.fixture
def server() -> Iterator[ModelScript]:
    """A server that drafts a summary."""
    with serving_models(default=Answer({"summary": "Chose drip.\n## Injected [[Secret]]", "more": "x"})) as script:
        yield script


def with_model(folder: Path, server: ModelScript, calendar: Calendar, **more: object) -> Session:
    """The session of a memory with a model."""
    model = {"provider": "openai", "base_url": server.openai, "model": MODEL, "price_in": 1.0, "price_out": 2.0, **more}
    memory = make_memory(folder, clock=calendar, settings={f"llm.{name}": value for name, value in model.items()})
    save_template(folder, TEMPLATE)
    return memory.acting(Actor("job", "meeting"))._session


@pytest.mark.requirement("D-103")
def test_a_model_drafts_in_one_call_and_its_words_are_plain(
    tmp_path: Path, server: ModelScript, calendar: Calendar
) -> None:
    """One structured call, logged with its cost; no heading and no link comes of the answer."""
    session = with_model(tmp_path, server, calendar)
    result = write_from_template(REQUEST, gathered, session)

    assert "Chose drip. # Injected Secret" in result.text
    assert result.text.count("\n## ") == 2
    (call,) = session.stores.history.calls(task_type="draft")
    assert call.cost > 0


def test_beyond_the_days_budget_or_without_an_answer_for_long_a_note_has_no_draft(
    tmp_path: Path, server: ModelScript, calendar: Calendar, events: list[dict[str, Any]]
) -> None:
    """The global cost guard: nothing is sent, the note is there at once, and an event says why it has no summary."""
    session = with_model(tmp_path, server, calendar, daily_tokens=100)
    result = write_from_template(REQUEST, gathered, session)

    assert "Nothing yet." in result.text
    assert [each["reason"] for each in named(events) if "without_draft" in each["event"]] == ["budget"]
    with serving_models(default=Failure(500)) as broken:
        session = with_model(tmp_path / "other", broken, calendar)
        outcomes = [write_from_template(REQUEST, gathered, session).skipped for _ in range(4)]
    assert outcomes == [True, True, True, False]


def test_a_draft_beyond_the_skills_budget_is_left_out(tmp_path: Path, server: ModelScript, calendar: Calendar) -> None:
    """The note is written without it, and nothing is sent."""
    session = with_model(tmp_path, server, calendar)
    result = write_from_template(replace(REQUEST, draft=replace(DRAFT, most_tokens=100)), gathered, session)

    assert "Nothing yet." in result.text
    assert session.stores.history.calls(task_type="draft") == ()


@pytest.mark.requirement("D-106")
def test_a_model_that_fails_writes_nothing(tmp_path: Path, calendar: Calendar) -> None:
    """The next run tries again."""
    with serving_models(default=Failure(500)) as broken:
        session = with_model(tmp_path, broken, calendar)
        result = write_from_template(REQUEST, gathered, session)

    assert result.skipped
    assert type(result.error).__name__ == "ProviderFailed"
    assert not note(tmp_path).exists()
