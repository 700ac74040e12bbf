"""Contexts wait for all of their parts, unless a test is about their deadlines."""

import pytest

from commonplace.memory.context import Contexts
from tests.patience import RECALL_SECONDS


@pytest.fixture(autouse=True)
def patient_recall(monkeypatch: pytest.MonkeyPatch) -> None:
    """A context that names no deadline is given time; a module about deadlines overrides this with nothing."""
    for build in (Contexts.__call__, Contexts.start):
        assert build.__kwdefaults__
        monkeypatch.setitem(build.__kwdefaults__, "within", RECALL_SECONDS)
