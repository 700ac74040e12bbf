"""The job `retention`: conversations that are older than the person wants to keep are forgotten everywhere.

It is off until `upkeep.retention.days` or `.sources` is set. Times are in UTC; a conversation whose last message is
exactly so many days old stays. What a step forgets cannot be undone; a run that was killed is finished by the next.
"""

from datetime import datetime, timedelta
from typing import Final

from commonplace.flows.learn.retention import expired_threads, forget_thread
from commonplace.model import Thread
from commonplace.model.layout import DATED_NOTES
from commonplace.model.moment import moment_text
from commonplace.upkeep.erasures import are_quoted, forget_erased
from commonplace.upkeep.job import Job, JobRun, Plan, Step, StepResult

_MOST: Final = 500  # steps of one run: conversations, and the last one
_CLEANING: Final = Step(
    action="clean", subject=DATED_NOTES, said="Remove what they said from the notes that jobs wrote about those days."
)


def plan(run: JobRun) -> Plan:
    """A step for each conversation that is too old, the oldest first; then one for the notes that quote them."""
    options = run.options.retention
    if not options.days and not any(options.days_by_source().values()):
        return Plan(said="All conversations are kept: upkeep.retention.days is 0.")
    expired = _expired(run)
    steps = [_step(thread) for thread in expired[: _MOST - 1]]
    last = (_CLEANING,) if are_quoted({each.subject for each in steps}, run.session) else ()
    return Plan(steps=(*steps, *last), left=len(expired) - len(steps))


def apply(step: Step, run: JobRun) -> StepResult:
    """Forget one conversation, if it is still there and still too old; at the end, what jobs wrote of them."""
    if step.action == _CLEANING.action:
        forget_erased(run.session)
        return StepResult(step=step, outcome="done")
    thread = next((each for each in _expired(run) if each.id == step.subject), None)
    if thread is None:
        return StepResult(step=step, outcome="unchanged", reason="It is gone, or it goes on.")
    forget_thread(thread, run.session, facts=run.options.retention.facts)
    return StepResult(step=step, outcome="done")


def _expired(run: JobRun) -> tuple[Thread, ...]:
    options, now = run.options.retention, run.session.clock()
    own = {name: _cutoff(now, days) for name, days in options.days_by_source().items()}
    return expired_threads(run.session, cutoff=_cutoff(now, options.days), by_source=own)


def _cutoff(now: datetime, days: int) -> datetime | None:
    return now - timedelta(days=days) if days else None


def _step(thread: Thread) -> Step:
    """Names the conversation by its id: the log outlives its words."""
    said = f"Forget the {thread.kind} {thread.id} of {thread.interface}, last message {moment_text(thread.updated)}."
    return Step(action="forget", subject=thread.id, said=said)


JOB: Final = Job(
    name="retention",
    about="Forgets conversations that are older than you want to keep; it keeps all until you set how long",
    schedule="15 3 * * *",
    plan=plan,
    apply=apply,
    most_steps=_MOST,
    seconds=1800,
)
