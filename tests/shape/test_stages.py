"""What import-linter cannot see: stages call no clock and open no file, and `now` is an argument everywhere."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src/commonplace"
CLOCKS = {"now", "utcnow", "today"}


def calls_in(folder: str) -> Iterator[tuple[str, ast.Call]]:
    for path in sorted((SOURCE / folder).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call):
                yield f"{path.relative_to(SOURCE)}:{node.lineno}", node


@pytest.mark.parametrize("folder", ["notes", "policy", "questions", "ranking", "context", "model", "flows"])
def test_time_is_an_argument_never_a_call(folder: str) -> None:
    """`now` is handed in, so that the same input gives the same output tomorrow."""
    found = [
        where for where, call in calls_in(folder) if isinstance(call.func, ast.Attribute) and call.func.attr in CLOCKS
    ]

    assert found == []


@pytest.mark.parametrize("folder", ["notes", "policy", "questions", "ranking", "context", "model"])
def test_stages_open_no_file(folder: str) -> None:
    """Values in, values out."""
    found = [
        where
        for where, call in calls_in(folder)
        if isinstance(call.func, ast.Name) and call.func.id in ("open", "print", "input")
    ]

    assert found == []
