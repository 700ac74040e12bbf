"""`commonplace model`, as people and programs run it."""

import json
import os
import pty
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.components import MODEL_FOLDER

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """The program, with a model folder of its own."""

    def call(*words: str, stderr: int = subprocess.PIPE) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "commonplace", *words],
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
            check=False,
            env={**os.environ, "COMMONPLACE_EMBEDDING__MODEL_FOLDER": str(tmp_path / "minilm")},
        )

    return call


@pytest.mark.needs("model")
def test_the_model_is_installed_and_its_status_says_so(run: Run, tmp_path: Path) -> None:
    """Before: not there, and what to do. After: there. With -v, one event for each stage; without, nothing."""
    before = run("model", "status")
    done = run("model", "install", "-v", "--from", str(MODEL_FOLDER))
    stages = [json.loads(line)["stage"] for line in done.stderr.splitlines()]
    again = run("model", "install", "--json")
    after = json.loads(run("model", "status", "--json").stdout)

    assert "Run `commonplace model install`" in before.stdout
    assert (done.returncode, done.stdout) == (0, f"The model is ready in {tmp_path / 'minilm'} ({MODEL_FOLDER}).\n")
    assert stages == [
        "checking",
        "fetching model.safetensors",
        "fetching tokenizer.json",
        "checking",
        "building the graph",
    ]
    assert (json.loads(again.stdout)["ok"], again.stderr) == (True, "")
    assert after == {
        "ok": True,
        "folder": str(tmp_path / "minilm"),
        "variant": "int8",
        "installed": True,
        "missing": [],
        "graph_built": True,
    }


@pytest.mark.needs("model")
def test_a_terminal_shows_one_line_that_wipes_itself(run: Run) -> None:
    """Progress takes no room: every state replaces the one before, and the last leaves nothing."""
    leader, follower = pty.openpty()
    done = run("model", "install", "--from", str(MODEL_FOLDER), stderr=follower)
    shown = os.read(leader, 100_000).decode()
    os.close(follower)
    os.close(leader)

    assert done.returncode == 0
    assert "fetching model.safetensors 100 % ..." in shown
    assert "\n" not in shown
    assert shown.endswith("\r\033[K")


def test_a_place_without_a_model_is_a_failure_of_the_provider(run: Run, tmp_path: Path) -> None:
    """Exit code 7, what was tried, and what else to do."""
    done = run("model", "install", "--from", str(tmp_path))

    assert done.returncode == 7
    assert f"{tmp_path}: it does not contain model.safetensors" in done.stderr
    assert "model install --from FILE" in done.stderr
