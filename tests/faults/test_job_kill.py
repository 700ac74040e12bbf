"""Jobs are killed at any step, again and again: the next run takes over at once, does what is left, nothing twice."""

import random
from pathlib import Path

import pytest

from commonplace import open_memory
from commonplace.flows.notes.write import write_note
from commonplace.memory import Memory
from commonplace.memory.jobs import Jobs
from commonplace.model import Terms
from commonplace.model.layout import PROBE_NOTE
from commonplace.upkeep.job import Job, JobRun, Plan, Step, StepResult
from commonplace.upkeep.options import UpkeepOptions
from commonplace.upkeep.probe import JOB as PROBE
from tests.faults.figures import Figures
from tests.faults.killing import killed_after
from tests.gitvault import git, new_vault
from tests.run_length import rounds

KILLS = rounds(6, long=150)
ROOMS = ("flows/", "history/sqlite", "index/sqlite", "index/tables", "database", "vault", "upkeep")
OPTIONS = {"embedding.provider": "none", "upkeep.zone": "UTC"}
DAYS = tuple(f"Agent/days/{number}.md" for number in range(4))


def plan(run: JobRun) -> Plan:
    """A note for each day that has none."""
    vault = run.session.stores.vault
    missing = [path for path in DAYS if not vault.exists(vault.resolve(path))]
    steps = tuple(Step(action="write", subject=path, said=f"Write {path}.") for path in missing)
    return Plan(steps=steps, state={"runs": run.state.get("runs", 0) + 1})


def apply(step: Step, run: JobRun) -> StepResult:
    """Write the note of that day."""
    changed = write_note(step.subject, b"A day.\n", run.session, Terms())
    return StepResult(step=step, outcome="done", commit=changed.commit or "")


DIARY = Job(name="diary", about="Writes a note for each day", schedule="@daily", plan=plan, apply=apply)


def run_job(root: Path, job: Job, *, steps: int | None) -> int:
    """Run the job in another process, killed after that many calls of our functions; returns the calls, 0 if killed."""

    def work(memory: Memory) -> bool:
        jobs = Jobs(memory._session, UpkeepOptions(zone="UTC"), jobs=(job,))
        return jobs.run(job.name).outcome == "done"

    return killed_after(steps, work, root, rooms=ROOMS, settings=OPTIONS)


@pytest.mark.parametrize("job", [DIARY, PROBE], ids=["diary", "probe"])
def test_no_kill_leaves_a_job_half_done_or_does_a_step_twice(tmp_path: Path, home: Path, job: Job) -> None:
    """The lease of the killed run does not hinder the next; each note is written in one commit, no probe is left."""
    new_vault(tmp_path / "whole", note="# A note\n")
    total = run_job(tmp_path / "whole", job, steps=None)
    chance = random.Random(19)
    assert total > 100
    with Figures(f"job {job.name}") as figures:
        figures.more = "restored: vaults in which a later run finished the work"
        while figures.kills < KILLS:
            root = tmp_path / f"vault{figures.kills}"
            new_vault(root, note="# A note\n")
            while figures.kills < KILLS and not run_job(root, job, steps=chance.randrange(1, total)):
                figures.kills += 1

            assert run_job(root, job, steps=None) > 0, f"after {figures.kills} kills"
            assert_whole(root, job)
            figures.restored += 1


def assert_whole(root: Path, job: Job) -> None:
    """The vault is as one run leaves it, and the log has no run that is still going on."""
    written = [path for path in DAYS if (root / path).exists()]
    commits = [len(git(root, "log", "--format=%h", "--", path).split()) for path in written]
    with open_memory(root, settings=OPTIONS) as memory:
        history = memory._session.stores.history
        outcomes = {each.outcome for each in history.job_runs(name=job.name)}
        lease = history.job_lease(job.name)

    assert (written, commits) == (([*DAYS], [1] * len(DAYS)) if job is DIARY else ([], []))
    assert not (root / PROBE_NOTE).exists()
    assert git(root, "status", "--porcelain") == ""
    assert "done" in outcomes <= {"done", "killed"}
    assert lease is None
