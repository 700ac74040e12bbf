"""Scheduled jobs from the command line, and from the system's cron without the daemon."""

from pathlib import Path

import pytest

from tests.command_line import Run, answer, new_vault


@pytest.fixture(autouse=True)
def vault(tmp_path: Path) -> Path:
    """A new vault."""
    return new_vault(tmp_path / "vault")


def test_jobs_are_listed_with_their_next_run(run: Run) -> None:
    """And with what each is for; a schedule of the person's own is shown."""
    shown = run("jobs", "list")
    probe = {
        each["name"]: each
        for each in answer(run("--set", "upkeep.probe.schedule=every 2h", "jobs", "list", "--json"))["jobs"]
    }["probe"]

    assert "Tests that memory writes, finds and deletes" in shown.stdout
    assert "every day at 04:15: next " in shown.stdout
    assert (probe["schedule"], probe["is_enabled"], probe["last"]) == ("every 2h", True, None)


def test_a_job_is_tried_then_run_then_logged(run: Run, vault: Path) -> None:
    """The dry run shows the same steps and leaves no trace."""
    tried = answer(run("jobs", "run", "probe", "--dry-run", "--json"))["runs"][0]
    before = answer(run("jobs", "log", "--json"))["runs"]
    done = run("jobs", "run", "probe")
    logged = answer(run("jobs", "log", "probe", "--since", "yesterday", "--json"))["runs"]

    assert before == []
    assert "probe  done" in done.stdout
    assert [each["step"]["action"] for each in logged[0]["steps"]] == [
        each["step"]["action"] for each in tried["steps"]
    ]
    assert "probe  done" in run("jobs", "log").stdout
    assert "last run: probe, done" in run("doctor").stdout


@pytest.mark.requirement("X-10")
def test_cron_runs_what_is_due(run: Run) -> None:
    """`jobs run --due` needs no daemon; without a due job it is silent with --quiet."""
    first = run("jobs", "run", "--due", "--quiet")
    shown = run("jobs", "run", "--due")

    assert (first.returncode, first.stdout, first.stderr) == (0, "", "")
    assert "no job is due" in shown.stderr
    assert answer(run("jobs", "run", "--due", "--dry-run", "--json"))["runs"] == []


def test_wrong_calls_say_what_is_right(run: Run) -> None:
    """A job that does not exist, neither a job nor --due, both, and a schedule that cannot be."""
    unknown = run("jobs", "run", "prode")
    neither, both = run("jobs", "run"), run("jobs", "run", "probe", "--due")
    schedule = run("--set", "upkeep.probe.schedule=61 * * * *", "jobs", "list")

    assert (unknown.returncode, neither.returncode, both.returncode, schedule.returncode) == (2, 2, 2, 2)
    assert "probe" in unknown.stderr
    assert "upkeep.probe: '61 * * * *' is not a schedule: bad minute" in schedule.stderr
    assert "every 6h" in schedule.stderr
