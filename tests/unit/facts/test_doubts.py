"""Why an agent should ask before it relies on something."""

from typing import Any

import pytest

from commonplace.facts.doubts import doubt_of
from commonplace.model import Fact, Held, Origins, Trust


def held(*, importance: float = 0.5, **fields: Any) -> Held:
    made = {"id": "1", "path": "Agent/Memory/a.md", "line": 0, "origin": "entry", "text": "x"}
    return Held(Fact(**{**made, "recorded": "2026-01-02T00:00:00Z", **fields}), "current", "", "", importance)


@pytest.mark.parametrize(
    ("trust", "doubt"),
    [
        ("told", ""),
        ("said", ""),
        ("mined", "mined by a program, never confirmed"),
        ("imported", "imported, never confirmed"),
        ("read", "read in a note, never confirmed"),
    ],
)
def test_what_nobody_told_is_doubted_until_it_is_confirmed(trust: Trust, doubt: str) -> None:
    """One confirmation is enough."""
    by = Origins(trust=trust)

    assert doubt_of(held(origins=by), below=0.2, is_contested=False) == doubt
    assert not doubt_of(held(origins=by, confirmed=("2026-02-01",)), below=0.2, is_contested=False)


def test_what_has_faded_is_doubted_and_a_line_of_a_note_never_is() -> None:
    """A line is the person's own, for as long as it stands there."""
    assert doubt_of(held(importance=0.1), below=0.2, is_contested=False) == "not confirmed since 2026-01-02"
    line = held(importance=0.1, origin="line", origins=Origins(trust="read"))
    assert not doubt_of(line, below=0.2, is_contested=False)


def test_what_is_contested_is_doubted_whoever_said_it() -> None:
    """Even a line."""
    assert "speaks against it" in doubt_of(held(origin="line"), below=0.2, is_contested=True)
