"""The command line on the sample vault under git; a test module that wants another vault overrides `vault`."""

from pathlib import Path

import pytest

from commonplace.app import put_under_git
from tests.command_line import Run, calling


@pytest.fixture
def vault(sample: Path) -> Path:
    """The vault that `run` is about."""
    put_under_git(sample)
    return sample


@pytest.fixture
def run(vault: Path) -> Run:
    """Call `commonplace` on the vault."""
    return calling(vault)
