"""Scheduled jobs as values: the steps that a job plans, what became of each, and what the history keeps of a run.

Times are text such as 2026-03-01T09:12:44Z in UTC; empty if there is none.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

StepOutcome = Literal["done", "proposed", "unchanged", "refused", "failed"]
"""What became of a step: it changed something, it waits for the person, there was nothing to do any more, a rule
forbids it, or it raised an error."""

RunOutcome = Literal["running", "done", "partial", "stopped", "failed", "waiting", "skipped", "killed"]
"""How a run ended.

running   it has not ended
done      every step was tried, and none failed; also a run with nothing to do
partial   every step was tried, and some failed
stopped   the time limit, the end of the daemon or the loss of the lease came first; the next run does the rest
failed    planning failed, or too many steps in a row did
waiting   a model that it needs did not answer
skipped   the vault could not be used
killed    its process ended in the middle; the next run does the rest
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One thing that a job does: `plan` decides it, `apply` does it.

    `action` is a verb such as archive, promote, consolidate, propose, repair or write; `subject` an entry's id or a
    note's path. `said` is one plain sentence for the person: what and why. `values` is what `apply` needs besides; it
    is not stored.
    """

    action: str
    subject: str
    said: str
    values: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class StepResult:
    """What became of a step.

    `commit` is undone by `commonplace undo --commit COMMIT`; `review` is the id under which it waits in `commonplace
    review`; `reason` says why it was refused, unchanged or failed.
    """

    step: Step
    outcome: StepOutcome
    commit: str = ""
    review: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobLease:
    """The right to run a job: one owner at a time, until `until` at the latest.

    `owner` is unique to the run; `boot` and `process` identify the process, so that the lease of a dead one is taken
    over at once.
    """

    job: str
    owner: str
    boot: str
    process: str
    until: str


@dataclass(frozen=True, slots=True, kw_only=True)
class JobState:
    """What is kept of a job between its runs.

    `values` is the job's own, such as a cursor. `since` is from when its next run is counted: its last run, or when it
    was first seen. `failures` is how many runs in a row had one, `reason` the last one, `retry_at` when it is tried
    again. One that `is_parked` failed too often and waits for a person.
    """

    job: str
    values: Mapping[str, Any] = field(default_factory=dict)
    since: str = ""
    failures: int = 0
    reason: str = ""
    retry_at: str = ""
    is_parked: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRecord:
    """One run of a job in the log: when, how it ended, its steps with their outcomes, and a word about it.

    `planned` is how many steps were planned, `left` how many of them are left for the next run.
    """

    job: str
    began: str
    outcome: RunOutcome = "running"
    ended: str = ""
    said: str = ""
    planned: int = 0
    left: int = 0
    seconds: float = 0.0
    steps: tuple[StepResult, ...] = ()
    number: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class JobNotice:
    """Something that a person should know until it is over, told once: a parked job, a model that is away."""

    key: str
    said: str
    at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class JobStatus:
    """A job as `jobs list` shows it: when it runs, when next, how its last run ended, and what hinders it.

    `next` is empty for one that is disabled or parked; `reason` says why its last run failed. `last` has no steps.
    """

    name: str
    about: str
    schedule: str
    is_enabled: bool
    is_due: bool
    is_running: bool
    is_parked: bool
    next: str
    failures: int
    reason: str
    last: JobRecord | None
