"""The skill `commitment_log`: one note with what is open, overdue and was closed lately.

Its contract is in docs/guide/templates.md. The note is rendered again when a commitment changes, and not written
otherwise. A box that the person ticks in it closes the commitment: its line is ticked where a job may write, else an
entry says that it is done. Every line ends in an id, by which it is no commitment of its own. Ticks in a note that an
agent wrote to since we did are left alone: they may not be the person's.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date, timedelta
from functools import partial
from itertools import takewhile
from typing import Any, Final

from commonplace.errors import Conflict, NotFound, Refused
from commonplace.events import emit
from commonplace.facts.commitments import Commitment, commitment_id
from commonplace.facts.triples import ME, strip_links
from commonplace.flows.memory.commitments import close_commitment, complete_commitment, list_commitments, told
from commonplace.flows.templates.library import TemplateLibrary
from commonplace.flows.templates.people import person_target
from commonplace.flows.templates.write import is_due, note_place, write_from_template
from commonplace.model.layout import COMMITMENTS
from commonplace.model.template import TemplateRequest
from commonplace.upkeep.job import Job, JobRun, Plan, Step, StepOutcome, StepResult
from commonplace.upkeep.options import CommitmentLogOptions
from commonplace.upkeep.skill import Skill, SkillRun, SkillTask, completed

NAME: Final = "commitment_log"
PATH: Final = f"{COMMITMENTS}/Commitment log.md"
_TICKED: Final = re.compile(r"^[ \t]*[-*+] \[([xX-])\] .*\^([te]-[0-9a-f]{6,16})[ \t]*\r?$", re.MULTILINE)
_LOGGED: Final = re.compile(
    r"^[ \t]*[-*+] (?P<box>\[.\] )?(?P<day>\d{4}-\d{2}-\d{2} )?.*\^(?P<id>[te]-[0-9a-f]{6,16})[ \t]*\r?$", re.MULTILINE
)
_CANCEL: Final = "cancel"


def plan(run: JobRun) -> Plan:
    """A step for each commitment that was ticked in the note, and one for the note if it would change."""
    skill_run = _skill_run(run)
    task = _task(skill_run)
    request = completed(task.request, skill_run.options)
    closing = [
        Step(action=action, subject=each.fact, said=f"Close what was ticked: {strip_links(each.what)}")
        for action, each in _ticked(request, skill_run)
    ]
    written = Step(action="write", subject=request.target_path, said=task.said)
    return Plan(steps=(*closing, *((written,) if closing or is_due(request, run.session) else ())))


def apply(step: Step, run: JobRun) -> StepResult:
    """Close one commitment, or write the note as commitments are now."""
    if step.action in ("close", _CANCEL):
        return _close(step, run)
    skill_run = _skill_run(run)
    task = _task(skill_run)
    library = TemplateLibrary(run.session.stores, run.skills.templates_dir)
    result = write_from_template(completed(task.request, skill_run.options), task.gather, run.session, library=library)
    if result.error:
        raise result.error
    if result.skipped:
        return StepResult(step=step, outcome="unchanged", reason=result.reason)
    outcome: StepOutcome = "proposed" if result.review and not result.sha else "done"
    return StepResult(step=step, outcome=outcome, commit=result.sha or "", review=result.review)


def _close(step: Step, run: JobRun) -> StepResult:
    """Tick the line where a job may write it, or end the entry; elsewhere an entry says that it is done."""
    session, is_cancelled = run.session, step.action == _CANCEL
    try:
        if session.stores.safety.autonomy == "low":
            raise Refused("low autonomy", path=step.subject, hint="Write to the Inbox.")
        result = close_commitment(step.subject, session, is_cancelled=is_cancelled)
    except NotFound:
        return StepResult(step=step, outcome="unchanged", reason="the commitment is gone")
    except (Refused, Conflict):  # the line is in a note that only the person changes, or was edited
        saved = complete_commitment(step.subject, session, is_cancelled=is_cancelled)
        return StepResult(step=step, outcome="done" if saved.changed else "unchanged", commit=saved.commit or "")
    return StepResult(step=step, outcome="done" if result.changed else "unchanged", commit=result.commit or "")


def _ticked(request: TemplateRequest, run: SkillRun) -> Iterator[tuple[str, Commitment]]:
    """The open commitments that the person ticked or cancelled (`[-]`) in the note, each with the action for it.

    None if an agent wrote to the note since we did.
    """
    path, text = note_place(request, run.session)
    ids = {match[2]: _CANCEL if match[1] == "-" else "close" for match in _TICKED.finditer(text)}
    if not ids:
        return
    rows = run.session.stores.history.entries(path=path)
    since = takewhile(lambda row: row.actor != "job", rows)
    if any(row.actor == "agent" for row in since):
        emit("commitment_ticks_ignored", path=path, reason="an agent wrote to the note")
        return
    standing = list_commitments(run.session, states=("open", "overdue"))
    found = ((commitment_id(each), each) for each in standing if not each.repeats)
    yield from ((ids[id], each) for id, each in found if id in ids)


def on_demand(run: SkillRun, day: date) -> SkillTask:
    """The note as it is on that day."""
    return _task(run, day)


def _task(run: SkillRun, day: date | None = None) -> SkillTask:
    request = TemplateRequest(template=NAME, target_path=PATH, idempotency_key=NAME, resets_boxes=True)
    text = note_place(request, run.session)[1]
    values = gather(run, day or run.today, text)
    version = hashlib.sha256(json.dumps(values, sort_keys=True).encode(errors="surrogatepass")).hexdigest()[:16]
    is_empty = not values["closed"] and not any(part["commitments"] for part in values["parts"])
    return SkillTask(
        replace(request, source_version=version),
        partial(_or_nothing, values, is_none=is_empty and not text),
        "Write who has to do what.",
    )


def _or_nothing(values: Mapping[str, Any], *, is_none: bool) -> Mapping[str, Any] | None:
    return None if is_none else values


def gather(run: SkillRun, day: date, log: str) -> dict[str, Any]:
    """The commitments by when they are due on that day, and those that were closed lately; `log` is the note as it is.

    A line that does not say when it was ticked was closed on the day on which the log showed it as open for the last
    time.
    """
    every = [each for each in told(list_commitments(run.session)) if each.path != PATH]
    today, sunday = day.isoformat(), (day + timedelta(days=6 - day.weekday())).isoformat()
    standing = [each for each in every if each.is_open]
    parts = {
        "Overdue": [each for each in standing if each.due and each.due < today],
        "Due this week": [each for each in standing if today <= each.due <= sunday],
        "Later": [each for each in standing if each.due > sunday],
        "Without a day": [each for each in standing if not each.due],
    }
    most = run.options.most_items
    since = (day - timedelta(days=_options(run).closed_days)).isoformat()
    days = _logged_days(log, today)
    over = (each for each in every if not each.is_open)
    dated = [replace(each, closed_on=each.closed_on or days.get(commitment_id(each), "")) for each in over]
    recent = [each for each in dated if since <= (each.closed_on or each.since) <= today]
    recent.sort(key=lambda each: (each.closed_on or each.since, each.fact), reverse=True)
    return {
        "parts": [
            {
                "name": name,
                "commitments": [*_shown(commitments[:most], run)],
                "left_out": max(0, len(commitments) - most),
            }
            for name, commitments in parts.items()
        ],
        "closed": [*_shown(_once(recent)[:most], run)],
    }


def _logged_days(log: str, today: str) -> dict[str, str]:
    """By id, when the log says that a commitment was closed; today for one that it shows as open."""
    return {each["id"]: today if each["box"] else (each["day"] or "").strip() for each in _LOGGED.finditer(log)}


def _once(commitments: Iterable[Commitment]) -> Sequence[Commitment]:
    """Each deed once: the same line may be closed in several notes."""
    return [*{(each.who.casefold(), each.what.casefold()): each for each in commitments}.values()]


def _shown(commitments: Iterable[Commitment], run: SkillRun) -> Iterator[dict[str, Any]]:
    for each in commitments:
        who = strip_links(each.who)
        yield {
            "who": who,
            "target": "" if each.who == ME else person_target(who, run.session),
            "what": strip_links(each.what),
            "due": each.due,
            "day": each.closed_on,
            "path": each.path.removesuffix(".md"),
            "id": commitment_id(each),
            "repeats": each.repeats,
        }


def _skill_run(run: JobRun) -> SkillRun:
    return SkillRun(run.session, run.zone, run.skills.commitment_log)


def _options(run: SkillRun) -> CommitmentLogOptions:
    return run.options if isinstance(run.options, CommitmentLogOptions) else CommitmentLogOptions()


JOB = Job(
    name=NAME,
    about="Writes one note with who has to do what by when; a box that you tick there closes the commitment",
    schedule="every 10m",
    plan=plan,
    apply=apply,
    most_steps=50,
    seconds=300,
)
SKILL = Skill(
    name=NAME,
    about=JOB.about,
    schedule=JOB.schedule,
    tasks=lambda run: [_task(run)],
    on_demand=on_demand,
    job=JOB,
)
