"""The git that these tests run: the system's, or the program that COMMONPLACE_TEST_GIT names."""

import os
from pathlib import Path

import pytest

CHOSEN = os.environ.get("COMMONPLACE_TEST_GIT", "")


@pytest.fixture(autouse=True, scope="session")
def _chosen_git() -> None:
    """Put the folder of the named git first on the PATH, for us and for the person whom the tests play."""
    if CHOSEN:
        os.environ["PATH"] = f"{Path(CHOSEN).resolve().parent}{os.pathsep}{os.environ['PATH']}"
