"""The help of every command."""

import re
from collections.abc import Iterator
from typing import Any, get_args

import typer

from commonplace.cli.main import COMMANDS, CommandGroup, Group, app, load_command


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


def help_page() -> str:
    """What `commonplace --help` prints; no command is loaded for it."""
    group = typer.main.get_command(app)
    assert isinstance(group, CommandGroup)
    with group.make_context("commonplace", [], resilient_parsing=True) as context:
        return context.get_help()


def test_the_help_lists_commands_by_task_with_those_of_every_day_first() -> None:
    """Under headings, in the order of the table; `search` is the first of all."""
    page = help_page()
    headings = re.findall(r"^([A-Z][^:\n]*):$", page, re.MULTILINE)
    listed = re.findall(r"^  ([a-z]+) {2,}\S", page, re.MULTILINE)

    assert headings == ["Options", *get_args(Group)]
    assert listed == [*COMMANDS]
    assert listed[0] == "search"
    assert [name for name, each in COMMANDS.items() if each.group == "Every day"] == listed[:14]
    assert [each.group for each in COMMANDS.values()] == sorted(
        (each.group for each in COMMANDS.values()), key=get_args(Group).index
    )
    assert 'commonplace search "' in page


def test_one_word_for_each_way_of_taking_back() -> None:
    """Notes are deleted, entries and facts forgotten, facts ended, changes undone; what is erased is gone for good."""
    commands = dict(leaves(typer.main.get_command(app)))
    taking_back = r"delete|forget|undo|erase|end|reject|remove|uninstall|revoke|unset"
    names = {name for name in commands if re.fullmatch(rf"(?:\w+ )?(?:{taking_back})", name)}

    assert names == {
        *("note delete", "forget", "fact end", "review reject", "undo"),
        *("note erase", "erase", "conversation erase", "settings unset", "token revoke", "vault remove", "uninstall"),
        *("task erase", "correction erase", "calendar remove", "user remove", "person remove"),
    }
    for name in ("note erase", "erase", "conversation erase", "task erase", "correction erase"):
        assert "cannot be undone" in commands[name].help, name
    for name in ("note delete", "forget", "review reject"):
        assert "undo" in commands[name].help, name
