"""The job `mend`: fixes what `commonplace lint` finds in the agent's entries, where no one has to know what they mean.

One step and one commit for each kind of problem, undone by `commonplace undo --commit`. Entries that are the person's
own word or always loaded, and all other notes, stay as they are: `commonplace lint --mend` is for the person.
"""

from collections import defaultdict
from typing import Final

from commonplace.flows.ingest.sync import sync
from commonplace.flows.memory.lint import find_fixes, write_fixes
from commonplace.upkeep.job import Job, JobRun, Plan, Step, StepResult

_SHOWN: Final = 3  # entries that a step names


def plan(run: JobRun) -> Plan:
    """A step for each kind of problem that can be fixed."""
    sync(run.session.stores)
    paths: defaultdict[str, set[str]] = defaultdict(set)
    for fix in find_fixes(run.session):
        paths[fix.problem.code].add(fix.problem.path)
    return Plan(steps=tuple(_step(code, sorted(found)) for code, found in sorted(paths.items())))


def apply(step: Step, run: JobRun) -> StepResult:
    """Fix every problem of the kind, in one commit."""
    fixed, commit = write_fixes(step.subject, run.session)
    if not fixed:
        return StepResult(step=step, outcome="unchanged", reason="Nothing of this kind is left.")
    return StepResult(step=step, outcome="done", commit=commit)


def _step(code: str, paths: list[str]) -> Step:
    shown = ", ".join(paths[:_SHOWN]) + (f" and {len(paths) - _SHOWN} more" if len(paths) > _SHOWN else "")
    return Step(action="mend", subject=code, said=f"Fix {code} in {shown}.")


JOB: Final = Job(
    name="mend",
    about="Fixes what lint finds in the agent's entries, where that is safe",
    schedule="45 3 * * *",
    plan=plan,
    apply=apply,
)
