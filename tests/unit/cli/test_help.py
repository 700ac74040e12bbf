"""The help of every command."""

from collections.abc import Iterator
from typing import Any

import typer

from commonplace.cli.main import COMMANDS, app, load_command


def leaves(command: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Every command that is not a group, with its full name."""
    children = getattr(command, "commands", None)
    if not children:
        yield name, command
    for word, child in (children or {}).items():
        yield from leaves(child, f"{name} {word}".strip())


def test_the_help_of_every_command_has_an_example_of_it() -> None:
    """An example that begins with the command's own words."""
    commands = dict(leaves(typer.main.get_command(app)))
    without = [
        name
        for name, each in commands.items()
        if f"commonplace {name}" not in each.help and f" {name} " not in each.help
    ]

    assert len(commands) > len(COMMANDS)
    assert without == []


def test_the_list_of_commands_shows_each_commands_own_help() -> None:
    """The table that saves loading every command says what the commands themselves say."""
    own = {name: (load_command(name).help or "").splitlines()[0] for name in COMMANDS}

    assert own == {name: each.help for name, each in COMMANDS.items()}
