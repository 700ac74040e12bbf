"""How long a context may take, by the program's own deadlines."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from commonplace.flows.context import build
from commonplace.flows.context.build import GatherResult
from tests.memories import make_memory


@pytest.fixture
def patient_recall() -> None:
    """The deadlines are those of the program."""


def test_a_prompt_and_the_start_of_a_session_have_time_budgets_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """300 and 500 milliseconds unless the request names another number; None waits for everything."""
    given: list[float | None] = []

    def gather(parts: Mapping[str, Callable[[], Any]], *, within: float | None) -> GatherResult[Any]:
        given.append(within)
        return GatherResult({}, tuple(parts), {})

    monkeypatch.setattr(build, "gather", gather)
    with make_memory(tmp_path) as memory:
        prompt = memory.context("the greenhouse roof")
        start = memory.context.start()
        briefing = memory.context("the greenhouse roof", phase="briefing", within=None)

    assert given == [0.3, 0.5, None]
    assert prompt.late == ("notes", "marked", "facts", "recall", "profile", "session")
    assert start.late == ("notes", "marked", "profile", "session")
    assert (prompt.text, start.text) == ("", "")
    assert [each.section for each in start.left_out] == ["user", "channel", "dated", "profile", "session"]
    assert [each.section for each in briefing.left_out] == ["channel", "playbooks", "recalled"]
