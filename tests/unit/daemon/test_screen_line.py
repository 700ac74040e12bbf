"""The line on a host's own screen: how many memories a prompt recalled, and their first words."""

import pytest

from commonplace.daemon.server.hook_routes import screen_line
from commonplace.model.context import ContextSection, Piece


def piece(text: str, section: ContextSection = "facts", title: str = "") -> Piece:
    return Piece(section=section, key=text, document="n.md", source="n.md", text=text, why="", title=title)


def test_nothing_recalled_is_no_line() -> None:
    """Nobody wants to read that."""
    assert screen_line([]) == ""


@pytest.mark.parametrize(
    ("pieces", "line"),
    [
        ([piece("Uses tabs.")], 'Commonplace: 1 memory recalled: "Uses tabs."'),
        ([piece("Uses tabs."), piece("No jars.")], 'Commonplace: 2 memories recalled: "Uses tabs.", "No jars."'),
        ([piece("# Plan\nlong", "recalled", title="Plan")], 'Commonplace: 1 passage recalled: "Plan"'),
        (
            [piece("x", "recalled", title="Plan"), piece("No jars.")],
            'Commonplace: 1 memory, 1 passage recalled: "Plan", "No jars."',
        ),
        (
            [piece("Is Robin.", "profile"), piece("No jars.")],
            'Commonplace: 2 memories recalled: "No jars.", "Is Robin."',
        ),
    ],
)
def test_the_line_counts_and_quotes(pieces: list[Piece], line: str) -> None:
    """Memories apart from passages; what is for the prompt comes before what is for the session."""
    assert screen_line(pieces) == line


def test_a_line_is_short_whatever_was_recalled() -> None:
    """A long text is cut between words, and what does not fit is not quoted."""
    long = "Waters the tomatoes before breakfast, on every second day of the week. "
    pieces = [piece(f"{number} {long * 50}") for number in range(12)]
    line = screen_line(pieces)

    assert line == 'Commonplace: 12 memories recalled: "0 Waters the tomatoes before breakfast, ..." ...'
    assert len(screen_line([piece("w" * 500)] * 3)) <= 104


def test_no_text_can_command_the_terminal_or_end_its_quote() -> None:
    """Control characters, line ends and the marks of a quote are replaced."""
    assert screen_line([piece('red\x1b[31m "now"\nand \u202ethen')]) == (
        "Commonplace: 1 memory recalled: \"red 'now' and \ufffdthen\""
    )
