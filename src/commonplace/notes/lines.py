"""Where the lines of a text begin. Only a line feed ends a line."""

import re
from bisect import bisect_right

_LINE_FEED = re.compile("\n")


class Lines:
    """The beginnings of a text's lines, numbered from `first`."""

    __slots__ = ("_first", "_length", "_starts")

    def __init__(self, text: str, *, first: int = 1) -> None:
        self._first = first
        self._length = len(text)
        self._starts = [0, *(match.end() for match in _LINE_FEED.finditer(text))]

    def number(self, offset: int) -> int:
        """The number of the line that holds this character."""
        return bisect_right(self._starts, offset) - 1 + self._first

    def start(self, number: int) -> int:
        """The offset where this line begins; the text's length for a line past its end."""
        index = number - self._first
        return self._starts[index] if index < len(self._starts) else self._length
