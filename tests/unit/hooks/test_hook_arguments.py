"""The command line of a hook."""

import pytest

from commonplace.hooks.arguments import EVENTS, parse_hook_arguments


@pytest.mark.parametrize("event", EVENTS)
def test_a_line_for_a_hook_does_not_load_the_command_line(event: str) -> None:
    """Options may stand anywhere, with a blank or an equals sign, as the command line has it."""
    line = parse_hook_arguments(["--vault", "/v", "-q", "hook", event, "--host=codex", "--phase", "plan"])

    assert line
    assert (line.event, line.host, line.phase, line.vault, line.error) == (event, "codex", "plan", "/v", "")


@pytest.mark.parametrize("line", ["hook --help", "hook prompt -h", "search hook", "--vault hook", "mcp", ""])
def test_help_and_every_other_command_are_the_command_lines(line: str) -> None:
    """`hook` is a word that people search for, too."""
    assert parse_hook_arguments(line.split()) is None


@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        ("hook", "no such event: ''"),
        ("hook promt", "no such event: 'promt'"),
        ("hook prompt --fast", "unknown argument --fast"),
        ("hook prompt twice", "unknown argument twice"),
        ("hook prompt --host ö", "not a valid host name: 'ö'"),
        ("hook prompt --host=a/b", "not a valid host name: 'a/b'"),
        (f"hook prompt --host={'a' * 65}", "not a valid host name: 'aaa"),
    ],
)
def test_a_line_that_is_not_understood_is_still_a_hooks(line: str, wrong: str) -> None:
    """The command line would end with exit code 2, which a host takes for the wish to keep the prompt from it."""
    found = parse_hook_arguments(line.split())

    assert found
    assert found.error.startswith(wrong)
