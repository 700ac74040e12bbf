"""How long a text is in tokens, anywhere in it, from a few calls of a tokenizer."""

from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence

Tokens = Callable[[str], Sequence[tuple[int, int]]]
"""Where each token of a text begins and ends."""

MARKS = 2
"""Tokens that an encoder adds: one mark before a text and one behind it."""

# The list of a whole book's tokens would fill the memory: longer texts are measured piece by piece.
_WINDOW = 16_384
# A tokenizer may take a word of any length for one token. Beyond 64 characters each 16 count as one more,
# so that no chunk is a megabyte long.
_LONGEST = 64
_STEP = 16


def beginning_of(text: str, *, tokens: Tokens, limit: int) -> str:
    """As much of the text's beginning as has at most so many tokens."""
    spans = tokens(text)
    return text if len(spans) <= limit else text[: spans[limit][0]].rstrip()


class Ruler:
    """The beginnings of a text's tokens."""

    __slots__ = ("_starts", "_text", "total")

    def __init__(self, text: str, tokens: Tokens) -> None:
        self._text = text
        self._starts = array("q")
        self.total = 0
        before = 0
        for offset, window in _windows(text):
            spans = tokens(window)
            self.total += len(spans)
            for start, _ in spans:
                before = self._add(offset + start, before)
        self._fill(before, len(text))

    def between(self, start: int, end: int) -> int:
        """How many tokens begin in this part of the text."""
        return bisect_left(self._starts, end) - bisect_left(self._starts, start)

    def reach(self, start: int, limit: int) -> int:
        """The end of the longest part from `start` that has at most so many tokens."""
        index = bisect_left(self._starts, start) + limit
        return self._starts[index] if index < len(self._starts) else len(self._text)

    def back(self, end: int, limit: int) -> int:
        """The beginning of the longest part before `end` that has at most so many tokens and begins with one."""
        index = bisect_left(self._starts, end)
        return self._starts[max(index - limit, 0)] if limit and index else end

    def _add(self, start: int, before: int) -> int:
        self._fill(before, start)
        self._starts.append(start)
        return start

    def _fill(self, before: int, until: int) -> None:
        if until - before > _LONGEST:
            self._starts.extend(range(before + _STEP, until, _STEP))


def _windows(text: str) -> Iterator[tuple[int, str]]:
    """The text in pieces that end with a line or a word if they can, each with its offset."""
    start = 0
    while len(text) - start > _WINDOW:
        end = start + _WINDOW
        cut = max(text.rfind("\n", start, end), text.rfind(" ", end - _WINDOW // 8, end))
        end = cut + 1 if cut > start else end
        yield start, text[start:end]
        start = end
    yield start, text[start:]
