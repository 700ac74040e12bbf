"""The pages of templates and calendars: what is written by itself and when, a preview, writing a note now; events."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Final

from fastapi import APIRouter, Request, Response

from commonplace.errors import NotFound, UsageError
from commonplace.memory import Memory
from commonplace.memory.calendars import SyncResult
from commonplace.model.calendar import Event
from commonplace.model.template import TemplateStatus, WriteResult
from commonplace.model.text import counted
from commonplace.web.page.job_page import switch_of
from commonplace.web.page.note_html import note_html
from commonplace.web.page.view import (
    NavigationEntry,
    PageForm,
    PageMemory,
    job_title,
    note_path,
    note_resolver,
    redirect,
    render,
)

ENTRY: Final = NavigationEntry("Templates and calendar", "/templates", group="run", key="m")
_ABOUT_A_PERSON: Final = "person_profile"
_WITHOUT_DAY: Final = (_ABOUT_A_PERSON, "commitment_log")
_SKIPPED: Final = {
    "idempotent": "The note is up to date.",
    "unchanged": "The note is up to date.",
    "proposed": "You wrote this note yourself: what would be added waits on Review.",
    "rejected": "You rejected these sections before, so they are not proposed again.",
    "taken_over": "You made this note your own, so it is not written over.",
    "removed": "You removed this note, so it is not written again.",
    "nothing": "There is nothing to write: nothing is known about it.",
}
router = APIRouter()


@dataclass(frozen=True, slots=True)
class ShownEvent:
    """An event on the page: its time of day, and who else comes."""

    event: Event
    time: str
    people: str


@router.get("/templates")
def show_templates(request: Request, memory: PageMemory) -> Response:
    """Every template with its last notes; the calendars, and their events of the next week."""
    jobs = {job.name: job for job in memory.jobs.list()}
    return render(
        request,
        "templates.html",
        title="Templates and calendar",
        templates=[(each, jobs.get(each.name)) for each in memory.templates.list()],
        calendars=memory.calendars.list(),
        days=_by_day(memory.calendars.events()),
    )


@router.get("/templates/{name}")
def show_template(request: Request, memory: PageMemory, name: str) -> Response:
    """One template: its text, its last notes, and the form that previews or writes a note."""
    return _page(request, memory, name)


@router.post("/templates/{name}")
def write_note(request: Request, memory: PageMemory, form: PageForm, name: str) -> Response:
    """Write the note of a template for a day; or show it, which writes nothing, and may ask a language model."""
    day, about = form.text("day"), form.text("about")
    is_preview = form.is_set("preview")
    if name == _ABOUT_A_PERSON and not about:
        raise UsageError("a profile needs the name of a person", hint="Go back, and type whom it is about.")
    result = memory.templates.run(name, day=day or None, about=about, dry_run=is_preview)
    if is_preview:
        return _page(request, memory, name, day=day, about=about, preview=result)
    if result.skipped or not result.sha:
        return redirect(request, f"/templates/{name}", _SKIPPED.get(result.reason, result.reason or "Nothing new."))
    waits = " Parts that you edited wait on Review." if result.review else ""
    said = f"Wrote {result.path}.{waits}"
    return redirect(request, note_path(result.path), said, undo=result.sha, undo_to=f"/templates/{name}")


@router.post("/calendars/sync")
def sync_calendars(request: Request, memory: PageMemory, form: PageForm) -> Response:
    """Read one calendar, or all of them, now."""
    results = memory.calendars.sync(form.text("name") or None)
    return redirect(request, "/templates", " ".join(map(_result_text, results)) or "There is no calendar to read.")


def _page(
    request: Request,
    memory: Memory,
    name: str,
    *,
    day: str = "",
    about: str = "",
    preview: WriteResult | None = None,
) -> Response:
    template, status = memory.templates.show(name), _status(name, memory)
    return render(
        request,
        "template.html",
        title=job_title(name),
        shown=template,
        state=status,
        job=next((each for each in memory.jobs.list() if each.name == name), None),
        switch=switch_of(request, memory, name),
        asks_day=name not in _WITHOUT_DAY,
        asks_person=name == _ABOUT_A_PERSON,
        day=day or f"{datetime.now().astimezone():%Y-%m-%d}",
        about=about,
        preview=preview,
        preview_html=note_html(preview.body, note_resolver(memory)) if preview else "",
        skipped=_SKIPPED.get(preview.reason, preview.reason) if preview and preview.skipped else "",
    )


def _status(name: str, memory: Memory) -> TemplateStatus:
    for each in memory.templates.list():
        if each.name == name:
            return each
    raise NotFound(f"no template is called {name!r}", hint="The page Templates lists all of them.")


def _by_day(events: Sequence[Event]) -> list[tuple[str, list[ShownEvent]]]:
    """The events of each day, by the clock of this machine."""
    days = groupby(events, key=lambda event: event.start.astimezone().date())
    return [(f"{day:%A, %-d %B}", [_shown(event) for event in found]) for day, found in days]


def _shown(event: Event) -> ShownEvent:
    start, end = event.start.astimezone(), event.end.astimezone()
    time = "all day" if event.all_day else f"{start:%H:%M}–{end:%H:%M}"
    return ShownEvent(event, time, ", ".join(each.name for each in event.attendees if not each.is_owner))


def _result_text(result: SyncResult) -> str:
    if result.outcome == "failed":
        return f"{result.calendar} could not be read: {result.reason}"
    changes = result.changes
    counts = {"new": changes.added, "changed": changes.changed, "removed": changes.removed}
    parts = ", ".join(f"{len(ids)} {word}" for word, ids in counts.items() if ids)
    return f"{result.calendar}: {counted(result.events, 'event')}, {parts or 'nothing new'}."
