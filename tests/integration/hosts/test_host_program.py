"""The program and the files that an install finds on this machine."""

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from commonplace.hosts.host import InstallOptions, program_command
from commonplace.hosts.registry import HOSTS
from tests.unit.hosts.test_host_registry import AROUND


def test_an_older_file_of_claude_code_goes_first(tmp_path: Path) -> None:
    """As it does for the program itself."""
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude" / ".config.json").write_text("{}")
    first = HOSTS["claude-code"].files(InstallOptions(), replace(AROUND, home=tmp_path))[0]

    assert first.path == tmp_path / ".claude" / ".config.json"


def test_no_module_in_a_project_is_run_in_the_place_of_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hosts run us in the folder of the project, which may hold a `commonplace` or a `json` of somebody else's."""
    for name in ("json.py", "commonplace.py"):
        (tmp_path / name).write_text("raise SystemExit('theirs')\n")
    monkeypatch.setattr("os.access", lambda *_: False)
    words = (*program_command(), "hook", "nothing", "--host", "x")
    ran = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)

    assert ran.returncode == 0
    assert "no such event: 'nothing'" in ran.stderr
