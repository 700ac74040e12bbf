"""The command line on the sample vault under git; a test module that wants another vault overrides `vault`."""

from pathlib import Path

import pytest

from commonplace.cli import progress
from tests.command_line import Run, calling
from tests.vaults import sample_vault


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, which is in no repository: what is saved there belongs to no project."""
    working = tmp_path / "working"
    working.mkdir()
    monkeypatch.chdir(working)
    return working


@pytest.fixture(autouse=True)
def _no_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    """A command shows its progress when it takes seconds, which it does where other tests keep the machine busy."""
    monkeypatch.setattr(progress, "_PLAIN_S", 600.0)


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    """The vault that `run` is about."""
    return sample_vault(tmp_path / "vault")


@pytest.fixture
def run(vault: Path) -> Run:
    """Call `commonplace` on the vault."""
    return calling(vault)
