"""The contract of a skill: a job that writes notes by a template, each once.

A skill says which notes are due (`tasks`) and which one a person means (`on_demand`); a task is a request and a
function that gathers its values. The writer does the rest (`flows/templates/write.py`): redirect, idempotency, draft,
rendering, write and event. `skill_job` makes it a job of the runner; its settings are the block `skills.NAME`.

    def tasks(run: SkillRun) -> Sequence[SkillTask]:
        return [_task(day, run) for day in missed_days(run)]

    SKILL = Skill(name="daily_reflection", about="...", schedule="20 0 * * *", tasks=tasks, on_demand=on_demand)
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, tzinfo
from functools import partial
from typing import Final, Protocol

from commonplace.flows.stores import Session
from commonplace.flows.templates.library import TemplateLibrary
from commonplace.flows.templates.write import Gather, is_due, write_from_template
from commonplace.model import Actor
from commonplace.model.template import NoteDraft, TemplateRequest, WriteResult
from commonplace.upkeep.job import Job, JobRun, Plan, Step, StepOutcome, StepResult
from commonplace.upkeep.options import SkillOptions, SkillsOptions

_SECONDS: Final = 300


class Writer(Protocol):
    """How a note is written by a template."""

    def __call__(
        self, request: TemplateRequest, gather: Gather, session: Session, /, *, library: TemplateLibrary
    ) -> WriteResult:
        """Write the note, once. Raises as `write_from_template`."""


@dataclass(frozen=True, slots=True)
class SkillRun:
    """What a skill is given: the session of its job with a stopped clock, the person's zone, and its settings.

    `about` is whom or what the person asks for; empty for a scheduled run.
    """

    session: Session
    zone: tzinfo
    options: SkillOptions
    about: str = ""

    @property
    def now(self) -> datetime:
        """This moment."""
        return self.session.clock()

    @property
    def today(self) -> date:
        """The day in the person's zone."""
        return self.now.astimezone(self.zone).date()


@dataclass(frozen=True, slots=True)
class SkillTask:
    """One note: what is asked for, what gathers its values, and one sentence about it for the person.

    `write` is how it is written, if not as every note of a template.
    """

    request: TemplateRequest
    gather: Gather
    said: str
    write: Writer = write_from_template


@dataclass(frozen=True, slots=True, kw_only=True)
class Skill:
    """A skill: its name, which is also that of its template and of its settings block, and when it runs.

    `tasks` gives the notes that may be due; those that are written are passed over. `on_demand` gives the note of a
    day that a person names, also one that is not over. A skill that follows something else than days has a `job` of its
    own. `takes_about`: a person can name whom or what the note is about.
    """

    name: str
    about: str
    schedule: str
    tasks: Callable[[SkillRun], Sequence[SkillTask]]
    on_demand: Callable[[SkillRun, date], SkillTask]
    job: Job | None = None
    takes_about: bool = False


def skill_job(skill: Skill) -> Job:
    """The job that writes the notes of a skill which are due."""
    return skill.job or Job(
        name=skill.name,
        about=skill.about,
        schedule=skill.schedule,
        plan=partial(_plan, skill),
        apply=_apply,
        most_steps=20,
        seconds=_SECONDS,
    )


def run_skill(
    skill: Skill,
    day: date | None,
    session: Session,
    *,
    zone: tzinfo,
    skills: SkillsOptions,
    about: str = "",
    dry_run: bool = False,
) -> WriteResult:
    """Write the note of that day, by default of today, as the skill's job does. Raises Refused, and as the writer."""
    here = session.as_actor(Actor("job", skill.name)).at(session.clock())
    run = SkillRun(here, zone, skills.of(skill.name) or SkillOptions(), about)
    task = skill.on_demand(run, day or run.today)
    request = replace(completed(task.request, run.options), is_asked=True, dry_run=dry_run)
    return task.write(request, task.gather, here, library=TemplateLibrary(here.stores, skills.templates_dir))


def completed(request: TemplateRequest, options: SkillOptions) -> TemplateRequest:
    """The request with the skill's settings: its autonomy, and a draft within its budget or none."""
    draft: NoteDraft | None = request.draft
    if draft is not None:
        draft = replace(draft, most_tokens=options.most_tokens if options.draft else 0)
    return replace(request, autonomy=options.autonomy_level, draft=draft)


def _plan(skill: Skill, run: JobRun) -> Plan:
    options = run.skills.of(skill.name) or SkillOptions()
    tasks = skill.tasks(SkillRun(run.session, run.zone, options))
    requests = [(completed(task.request, options), task) for task in tasks]
    due = [(request, task) for request, task in requests if is_due(request, run.session)]
    steps = (
        Step(
            action="write",
            subject=request.target_path,
            said=task.said,
            values={} if run.is_dry else {"request": request, "gather": task.gather},
        )
        for request, task in due
    )
    return Plan(steps=tuple(steps))


def _apply(step: Step, run: JobRun) -> StepResult:
    """Write one note; what went wrong is raised, so that the runner waits, tries again or reports it."""
    library = TemplateLibrary(run.session.stores, run.skills.templates_dir)
    result = write_from_template(step.values["request"], step.values["gather"], run.session, library=library)
    if result.error:
        raise result.error
    if result.skipped:
        return StepResult(step=step, outcome="unchanged", reason=result.reason)
    outcome: StepOutcome = "proposed" if result.review and not result.sha else "done"
    return StepResult(step=step, outcome=outcome, commit=result.sha or "", review=result.review)
