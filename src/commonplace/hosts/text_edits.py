"""An edited text and how to undo the edit, so that the file is again, byte for byte, what it was before.

Also adds a block of lines at the end of a text: a TOML table, or the marked block of a Markdown file, whose lines
between two comments are ours while all others are the person's.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from commonplace.hosts.jsonc import BOM, InvalidSyntax, Keys

BEGIN: Final = "<!-- commonplace:begin -->"
END: Final = "<!-- commonplace:end -->"
_LINE_START: Final = r"(?:\A|(?<=\n)|(?<=\A\ufeff))"
_BLOCK: Final = re.compile(
    rf"{_LINE_START}{re.escape(BEGIN)}\r?\n(?:.*?\n)??{re.escape(END)}(?=\r?$)", re.MULTILINE | re.DOTALL
)
_MARK: Final = re.compile(rf"{_LINE_START}(?:{re.escape(BEGIN)}|{re.escape(END)})\r?$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class UndoInfo:
    """How a file was before an edit.

    `made` are the objects and arrays that did not exist, `holes` what stood in those that were empty. `blank` is the
    whole text of a file that held nothing; None for a file with content, or without a file. `gap` and `tail` are the
    line ends that were added before and after a block at the end of the file.
    """

    made: frozenset[Keys] = frozenset()
    holes: Mapping[Keys, str] = field(default_factory=dict)
    blank: str | None = None
    gap: str = ""
    tail: str = ""

    def followed_by(self, later: "UndoInfo") -> "UndoInfo":
        """The undo information of both edits; where both speak of the same thing, the earlier one counts."""
        return replace(
            self,
            made=self.made | later.made,
            holes={**later.holes, **self.holes},
            blank=later.blank if self.blank is None else self.blank,
            gap=self.gap or later.gap,
            tail=self.tail or later.tail,
        )


@dataclass(frozen=True, slots=True)
class EditedText:
    """A text after an edit, and how to undo the edit."""

    text: str
    undo: UndoInfo = field(default_factory=UndoInfo)


def is_blank(text: str) -> bool:
    """True if the text holds nothing but blanks."""
    return not text.strip(f"{BOM} \t\r\n")


def line_end_of(text: str) -> str:
    """The line end that the text uses."""
    first = text.find("\n")
    return "\r\n" if first > 0 and text[first - 1] == "\r" else "\n"


def append_block(text: str, block: str) -> EditedText:
    """The text followed by an empty line and this block; the last line ends as the text's did."""
    line_end = line_end_of(text)
    block = block.replace("\n", line_end)
    if is_blank(text):
        start = "" if text in ("", BOM) or text.endswith("\n") else line_end
        return EditedText(f"{text}{start}{block}{line_end}", UndoInfo(tail=line_end, blank=text))
    if not text.endswith("\n"):
        return EditedText(f"{text}{line_end}{line_end}{block}", UndoInfo(gap=line_end * 2))
    gap = "" if text.endswith(line_end * 2) else line_end
    return EditedText(f"{text}{gap}{block}{line_end}", UndoInfo(gap=gap, tail=line_end))


def cut_block(text: str, start: int, end: int, *, undo: UndoInfo) -> str:
    """The text without the lines from `start` to `end`, and without the line ends that were added around them."""
    if undo.gap and text.endswith(undo.gap, 0, start):
        start -= len(undo.gap)
    if not undo.gap or undo.tail:  # otherwise the block was added after a line without an end
        for line_end in ("\r\n", "\n"):
            if text.startswith(line_end, end):
                end += len(line_end)
                break
    return text[:start] + text[end:]


def put_block(text: str, lines: str) -> EditedText:
    """The text with these lines in the marked block, which is appended if it is missing. Raises InvalidSyntax."""
    block = f"{BEGIN}\n{lines}\n{END}"
    match = _find_block(text)
    if match is None:
        return append_block(text, block)
    return EditedText(text[: match.start()] + block.replace("\n", line_end_of(text)) + text[match.end() :])


def remove_block(text: str, undo: UndoInfo) -> str:
    """The text without the marked block. Raises InvalidSyntax if only one of the two marks is there."""
    match = _find_block(text)
    if match is None:
        return text
    text = cut_block(text, match.start(), match.end(), undo=undo)
    return undo.blank if undo.blank is not None and is_blank(text) else text


def block_in(text: str) -> str | None:
    """The lines between the marks, with plain line ends; None without marks.

    Raises InvalidSyntax if only one of the two marks is there.
    """
    match = _find_block(text)
    return None if match is None else match.group().replace("\r\n", "\n")[len(BEGIN) + 1 : -len(END) - 1]


def _find_block(text: str) -> re.Match[str] | None:
    match = _BLOCK.search(text)
    if match is None and (mark := _MARK.search(text)):
        line = text.count("\n", 0, mark.start()) + 1
        raise InvalidSyntax("one of the two marks of our block is missing", line=line)
    return match
