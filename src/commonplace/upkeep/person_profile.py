"""The skill `person_profile`: at night, what memory knows about each person, in their note in `People`.

Its contract is in docs/guide/templates.md. A note that we wrote, such as a stub, gets the whole profile. To a note that
the person wrote, sections are proposed, once by itself; sections that they accepted are kept up to date.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from functools import partial
from typing import Any, Final

from commonplace.errors import UsageError
from commonplace.flows.templates.library import TemplateLibrary
from commonplace.flows.templates.people import PROFILE, person_name, profile_key
from commonplace.flows.templates.profiles import (
    PersonNote,
    ProfileLimits,
    gather_profile,
    is_empty,
    person_note,
    profile_version,
    write_profile_sections,
)
from commonplace.flows.templates.write import write_from_template
from commonplace.model.layout import PEOPLE, is_below
from commonplace.model.template import TemplateRequest
from commonplace.model.text import fold_phrase
from commonplace.upkeep.day_memories import notes_below
from commonplace.upkeep.job import Job, JobRun, Plan, Step, StepOutcome, StepResult
from commonplace.upkeep.options import ProfileOptions
from commonplace.upkeep.skill import Skill, SkillRun, SkillTask, completed

_PROPOSED: Final = "proposed"  # the key of the job's state with the notes to which sections were proposed


def plan(run: JobRun) -> Plan:
    """A step for each profile that is made from something older, and for some notes of the person without one."""
    skill_run = SkillRun(run.session, run.zone, run.skills.person_profile)
    notes = [note for path in notes_below(PEOPLE, run.session) if (note := person_note(path, run.session))]
    known = {path for path in run.state.get(_PROPOSED, ()) if path in {note.path for note in notes}}
    steps, proposals = list[Step](), list[Step]()
    for note in notes:
        if run.stops():
            break
        if note.is_ours or note.is_accepted:
            steps += _steps(note, skill_run)
        elif note.path not in known and len(proposals) < _options(skill_run).most_proposals:
            proposals += _steps(note, skill_run)
    state = {_PROPOSED: sorted(known | {step.subject for step in proposals})}
    return Plan(steps=(*steps, *proposals), state=state)


def _steps(note: PersonNote, run: SkillRun) -> Iterator[Step]:
    task = _task(note.name, note.path, note, run)
    if task.request.source_version != note.version and task.gather() is not None:
        yield Step(action="write", subject=note.path, said=task.said, values={"name": note.name})


def apply(step: Step, run: JobRun) -> StepResult:
    """Write one profile, or propose its sections; what went wrong is raised."""
    skill_run = SkillRun(run.session, run.zone, run.skills.person_profile)
    task = _task(str(step.values["name"]), step.subject, person_note(step.subject, run.session), skill_run)
    library = TemplateLibrary(run.session.stores, run.skills.templates_dir)
    result = task.write(completed(task.request, skill_run.options), task.gather, run.session, library=library)
    if result.error:
        raise result.error
    if result.skipped and not result.review:
        return StepResult(step=step, outcome="unchanged", reason=result.reason)
    outcome: StepOutcome = "proposed" if result.review and not result.sha else "done"
    return StepResult(step=step, outcome=outcome, commit=result.sha or "", review=result.review)


def tasks(run: SkillRun) -> Sequence[SkillTask]:
    """The profiles of the people whose notes are ours; the job also looks after those in notes of the person."""
    notes = (person_note(path, run.session) for path in notes_below(PEOPLE, run.session))
    return [_task(note.name, note.path, note, run) for note in notes if note and note.is_ours]


def on_demand(run: SkillRun, day: date) -> SkillTask:
    """The profile of the person who is asked for. Raises UsageError if that is nobody."""
    name = person_name(run.about)
    if not name:
        raise UsageError("person_profile needs the name of a person", hint='Give it: --about "Ada Lovelace".')
    stores = run.session.stores
    with stores.index.reader() as reader:
        paths = reader.notes_named(stores.rules.entity(name))
    there = sorted(paths, key=lambda path: (not is_below(path, PEOPLE), path))
    note = next((note for path in there if (note := person_note(path, run.session))), None) or _called(name, run)
    if note is None:
        return _task(name, f"{PEOPLE}/{name}.md", None, run)
    return _task(note.name, note.path, note, run)


def _called(name: str, run: SkillRun) -> PersonNote | None:
    """The note of the one person whose name has these words. Raises UsageError if there are several."""
    words = {*fold_phrase(name).split()}
    paths = [path for path in notes_below(PEOPLE, run.session) if words <= {*fold_phrase(_name_in(path)).split()}]
    if len(paths) > 1:
        names = ", ".join(map(_name_in, paths))
        raise UsageError(f"several people are called {name}: {names}", hint="Give the whole name.")
    return person_note(paths[0], run.session) if paths else None


def _name_in(path: str) -> str:
    return path.rpartition("/")[2].removesuffix(".md")


def _task(name: str, path: str, note: PersonNote | None, run: SkillRun) -> SkillTask:
    options = _options(run)
    limits = ProfileLimits(options.most_items, options.most_notes)
    values = gather_profile(name, path, run.session, limits=limits)
    request = TemplateRequest(
        template=PROFILE,
        target_path=path,
        idempotency_key=(note.key if note else "") or profile_key(name),
        source_version=profile_version(values),
    )
    is_theirs = note is not None and not note.is_ours
    return SkillTask(
        request,
        partial(_known, values),
        f"Write what is known about {name}.",
        write=write_profile_sections if is_theirs else write_from_template,
    )


def _known(values: Mapping[str, Any]) -> Mapping[str, Any] | None:
    return None if is_empty(values) else values


def _options(run: SkillRun) -> ProfileOptions:
    return run.options if isinstance(run.options, ProfileOptions) else ProfileOptions()


JOB = Job(
    name=PROFILE,
    about="Writes what is known about each person into their note: facts, meetings, what is open, mentions",
    schedule="40 0 * * *",
    plan=plan,
    apply=apply,
    most_steps=50,
    seconds=300,
)
SKILL = Skill(
    name=PROFILE,
    about=JOB.about,
    schedule=JOB.schedule,
    tasks=tasks,
    on_demand=on_demand,
    job=JOB,
    takes_about=True,
)
