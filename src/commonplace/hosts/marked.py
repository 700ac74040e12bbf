"""A marked block in a Markdown text: the lines between two comments are ours, all others are the person's."""

import re
from typing import Final

from commonplace.hosts.appended import append_block, cut_block
from commonplace.hosts.jsonc import NotParsed
from commonplace.hosts.trace import Edited, Trace, is_blank, line_end_of

BEGIN: Final = "<!-- commonplace:begin -->"
END: Final = "<!-- commonplace:end -->"
_LINE: Final = r"(?:\A|(?<=\n)|(?<=\A\ufeff))"
_BLOCK: Final = re.compile(
    rf"{_LINE}{re.escape(BEGIN)}\r?\n(?:.*?\n)??{re.escape(END)}(?=\r?$)", re.MULTILINE | re.DOTALL
)
_MARK: Final = re.compile(rf"{_LINE}(?:{re.escape(BEGIN)}|{re.escape(END)})\r?$", re.MULTILINE)


def put_block(text: str, lines: str) -> Edited:
    """The text with these lines in the marked block, which is put at the end if there is none. Raises NotParsed."""
    block = f"{BEGIN}\n{lines}\n{END}"
    found = _find(text)
    if found is None:
        return append_block(text, block)
    return Edited(text[: found.start()] + block.replace("\n", line_end_of(text)) + text[found.end() :])


def remove_block(text: str, trace: Trace) -> str:
    """The text without the marked block. Raises NotParsed when only one of its marks is there."""
    found = _find(text)
    if found is None:
        return text
    text = cut_block(text, found.start(), found.end(), trace=trace)
    return trace.blank if trace.blank is not None and is_blank(text) else text


def block_in(text: str) -> str | None:
    """What stands between the marks, with plain line ends; None without them. Raises NotParsed as `remove_block`."""
    found = _find(text)
    return None if found is None else found.group().replace("\r\n", "\n")[len(BEGIN) + 1 : -len(END) - 1]


def _find(text: str) -> re.Match[str] | None:
    found = _BLOCK.search(text)
    if found is None and (mark := _MARK.search(text)):
        raise NotParsed("one mark of our block is there without the other", line=text.count("\n", 0, mark.start()) + 1)
    return found
