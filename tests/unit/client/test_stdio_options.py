"""The command line of the stdio proxy, which is parsed without loading the command-line program."""

import pytest

from commonplace.__main__ import stdio_options


@pytest.mark.parametrize(
    ("line", "options"),
    [
        ("mcp", {}),
        ("mcp --vault v", {"--vault": "v"}),
        ("--vault v mcp --client=c", {"--vault": "v", "--client": "c"}),
        ("mcp --entry plugin", {"--entry": "plugin"}),
        ("mcp --help", None),
        ("mcp --vault", None),
        ("mcp -v", None),
        ("mcp mcp", None),
        ("search mcp", None),
        ("note list", None),
        ("", None),
    ],
)
def test_a_plain_line_for_the_stdio_door_does_not_load_the_command_line(
    line: str, options: dict[str, str] | None
) -> None:
    """Everything else on it, help and mistakes included, is the command line's to answer."""
    assert stdio_options(line.split()) == options
