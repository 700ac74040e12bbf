"""The job `digest`: early in the morning, a note under `Agent/digests` that says what memory did since the last one.

A second digest on one day adds a part to the day's note. Nothing in the note is replaced, so a person may write in it;
a part whose lines the note has already, because a run was killed after it wrote them, is not written again.
"""

from commonplace.flows.digest import (
    JOB_NAME,
    append_to_note,
    digest_path,
    digest_start,
    gather_digest,
    render_lines,
    state_values,
)
from commonplace.upkeep.job import Job, JobRun, Plan, Step, StepResult


def plan(run: JobRun) -> Plan:
    """One step that writes the digest; none if nothing happened."""
    since, seen = digest_start(run.state)
    digest = gather_digest(run.session, since=since, seen=seen)
    if not digest.lines:
        return Plan(said=f"nothing happened since {digest.since}")
    now = run.session.clock()
    head = f"{now.astimezone(run.zone):%H:%M}: {digest.summary or 'nothing changed'}"
    step = Step(
        action="write",
        subject=digest_path(now, run.zone),
        said=f"Write what happened since {digest.since}: {digest.summary or 'nothing changed'}.",
        values={"lines": render_lines(digest), "head": head},
    )
    return Plan(steps=(step,), state=state_values(digest, seen=seen))


def apply(step: Step, run: JobRun) -> StepResult:
    """Add the digest to the day's note."""
    changed = append_to_note(step.subject, step.values["lines"], run.session, head=step.values["head"])
    return StepResult(step=step, outcome="done" if changed.changed else "unchanged", commit=changed.commit or "")


JOB = Job(
    name=JOB_NAME,
    about="Writes the digest: what was learned, changed, archived, proposed, refused and spent",
    schedule="0 6 * * *",
    plan=plan,
    apply=apply,
    most_steps=1,
    seconds=120,
)
