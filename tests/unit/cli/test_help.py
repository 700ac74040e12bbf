"""The help of every command."""

from collections.abc import Iterator
from typing import Any

import pytest
import typer

from commonplace.cli.main import app


def leaves(command: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    children = getattr(command, "commands", None)
    if not children:
        yield name, command
    for word, child in (children or {}).items():
        yield from leaves(child, f"{name} {word}".strip())


@pytest.mark.parametrize(("name", "command"), list(leaves(typer.main.get_command(app))))
def test_the_help_of_every_command_has_an_example_of_it(name: str, command: Any) -> None:
    """An example that begins with the command's own words."""
    assert f"commonplace {name}" in command.help or f" {name} " in command.help
