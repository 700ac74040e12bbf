"""The state of a project from the command line, in the folder of its repository."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.command_line import Run, answer, new_vault


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    """A new vault."""
    return new_vault(tmp_path / "vault")


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The repository in which the person works."""
    folder = tmp_path / "atlas"
    folder.mkdir()
    subprocess.run(["git", "init", "-q", str(folder)], check=True, env={**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null"})
    monkeypatch.chdir(folder)
    return folder


def test_plan_progress_and_features_are_saved_shown_and_taken_back(run: Run, vault: Path, repository: Path) -> None:
    """The project is that of the repository; a plan needs its version to be replaced; undo takes back one change."""
    (repository / "plan.md").write_text("# Atlas 2\n\n- [ ] export\n")
    assert run("project", "plan", "--file", "-", given=(repository / "plan.md").read_text()).returncode == 0
    run("project", "feature", "Export", "doing", "--remark", "CSV first")
    run("project", "progress", "the export writes CSV", "--phase", "work", "--end")
    state = answer(run("project", "show", "--json"))["state"]
    shown = run("project", "show").stdout

    assert (state["project"], state["plan"]) == ("atlas", "# Atlas 2\n\n- [ ] export")
    assert state["features"] == [{"name": "Export", "status": "doing", "remark": "CSV first"}]
    assert [(each["text"], each["ends_phase"]) for each in state["progress"]] == [("the export writes CSV", True)]
    assert "doing    Export (CSV first)" in shown
    (repository / "plan.md").write_text("# Atlas 3\n")
    assert run("project", "plan", "--file", "plan.md").returncode == 4
    assert run("project", "plan", "--file", "plan.md", "--expect", state["plan_version"]).returncode == 0
    run("undo")
    assert answer(run("project", "show", "--json"))["state"]["plan"] == state["plan"]


def test_a_dry_run_and_an_unknown_status_change_nothing(run: Run, vault: Path) -> None:
    """A difference is printed, an error names the known statuses."""
    assert "+- [x] Export" in run("project", "feature", "Export", "done", "--project", "atlas", "--dry-run").stdout
    assert run("project", "feature", "Export", "ready", "--project", "atlas").returncode == 2
    assert not (vault / "Agent/projects/atlas").exists()
