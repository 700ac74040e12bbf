"""The contract of a scheduled job.

A job has two functions. `plan` reads and decides: it may ask a model, and it changes nothing. `apply` does one of the
planned steps. So a dry run is the plan alone, and equals what a run does; a second run plans nothing; a run that was
killed plans the rest. `apply` may be called again for a step that was done: it looks, and answers `unchanged`.

    def plan(run: JobRun) -> Plan:
        days = run.options.archive.days                  # settings: the block `upkeep.archive`, declared in options.py
        cold = cold_entries(run.session, days=days, now=run.session.clock())
        return Plan(steps=tuple(_step(entry) for entry in cold))

    def apply(step: Step, run: JobRun) -> StepResult:
        changed = archive_entry(step.subject, run.session)
        return StepResult(step=step, outcome="done", commit=changed.commit or "")

    JOB = Job(name="archive", about="Archives entries that went cold", schedule="30 3 * * *", plan=plan, apply=apply)

What the runner does: it takes the job's lease, calls `plan`, cuts the steps to the cap, calls `apply` for each until
the time limit, and logs every result. What a step raises is its outcome: Refused is `refused`, any other error is
`failed`; the other steps go on. `ProviderFailed` from `plan` means that the model is away: the run waits and is tried
again. A job that can work without its model catches it and does so; the runner tells the person once in either case.

`Plan.state` is stored when every step was tried and none failed, or when steps failed in three runs in a row, so that
one bad step does not hold the job up for ever. If steps are cut off by the cap, or the run is stopped, the old state
stays: the next run plans the rest from it. Put paths, ids and times into it, no words of notes.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import tzinfo
from typing import Any

from commonplace.flows.stores import Session
from commonplace.model.upkeep import Step, StepOutcome, StepResult
from commonplace.upkeep.options import SkillsOptions, UpkeepOptions

__all__ = ["Job", "JobRun", "Plan", "Step", "StepOutcome", "StepResult"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a job would do now.

    `state` replaces the job's state after the run; None keeps the old one. `said` is a word for the log, such as why
    there is nothing to do. `left` counts steps that the job itself left for the next run; the runner adds those beyond
    the cap.
    """

    steps: tuple[Step, ...] = ()
    state: Mapping[str, Any] | None = None
    said: str = ""
    left: int = 0


@dataclass(frozen=True, slots=True)
class JobRun:
    """What a job is given.

    `session` acts as `Actor("job", NAME)` with its clock stopped at the moment of the run. `state` is what the last run
    stored. `zone` is the person's. `options` are all settings of `upkeep`, `skills` those of skills; a job reads its
    own block. `stops` is True when the time limit is over or the daemon ends: a long plan looks at it between its
    parts, and returns what it has.
    """

    session: Session
    state: Mapping[str, Any]
    zone: tzinfo
    is_dry: bool
    stops: Callable[[], bool]
    options: UpkeepOptions = field(default_factory=UpkeepOptions)
    skills: SkillsOptions = field(default_factory=SkillsOptions)


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A job: its name, which is also its settings block, one line about it, when it runs, and its two functions.

    `schedule` counts if the settings have none. `most_steps` is the cap of one run, `seconds` its time limit.
    `is_wanted` is False where there is nothing to do for it: then it is off. A job that `retries_steps` plans failed
    steps again by itself: they neither hold up its state nor park it. A job that `keeps_words` changes neither what
    entries say nor whether they hold: one run may do that to any share of them.
    """

    name: str
    about: str
    schedule: str
    plan: Callable[[JobRun], Plan]
    apply: Callable[[Step, JobRun], StepResult]
    most_steps: int = 50
    seconds: float = 600
    is_wanted: Callable[[Session], bool] = lambda session: True
    retries_steps: bool = False
    keeps_words: bool = False
