"""Long texts, cut at a line, with a word on how to read on."""

from typing import Final, NamedTuple

LONGEST: Final = 24_000
"""Characters of a note in one answer; hosts cut longer ones themselves, and say less about it."""


class Part(NamedTuple):
    """Some lines of a text: what they say, and the line at which the rest begins; None where there is no rest."""

    text: str
    next_line: int | None


def part_of(text: str, *, line: int, first_line: int = 1, longest: int = LONGEST) -> Part:
    """The text from `first_line` on, as many whole lines as fit; `line` is the number of its first line.

    A line that does not fit by itself is cut within. What is cut ends with a marker that names the next line.
    """
    lines = text.splitlines(keepends=True)[max(0, first_line - line) :]
    start, taken, size = max(line, first_line), 0, 0
    while taken < len(lines) and size + len(lines[taken]) <= longest:
        size += len(lines[taken])
        taken += 1
    if taken == len(lines):
        return Part("".join(lines), None)
    taken = max(taken, 1)
    shown, following = "".join(lines[:taken])[:longest], start + taken
    if taken == len(lines):
        return Part(f"{shown}\n[cut: the rest of this line is left out]", None)
    marker = f"[cut: {len(lines) - taken} more lines; read on with first_line={following}, or one heading by section]"
    return Part(f"{shown.rstrip()}\n{marker}", following)
