"""Split a text that is too long for one chunk at the best boundaries: between blocks, lines, sentences, words.

Lengths are in tokens. They are measured anywhere in the text from a few calls of the tokenizer.
"""

from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from commonplace.model.text import LazyPattern
from commonplace.notes.markdown import LeafBlock, leaf_blocks
from commonplace.notes.note_text import LineIndex

Tokenizer = Callable[[str], Sequence[tuple[int, int]]]
"""Returns where each token of a text begins and ends."""

SPECIAL_TOKENS = 2
"""Tokens that an encoder adds: one before a text and one after it."""

# The list of a whole book's tokens would fill the memory: longer texts are tokenized in windows.
_WINDOW = 16_384
# A tokenizer may take a word of any length for one token. Beyond 64 characters every 16 count as one more token,
# so that no chunk is a megabyte long.
_MAX_TOKEN_LENGTH = 64
_EXTRA_TOKEN_LENGTH = 16
_SENTENCE_END = LazyPattern(r"""(?<=[.!?…])["'”’)\]*_]*+\s++|(?<=[。！？])""")
_LINE_FEED = LazyPattern(r"\n")
_SPACE = LazyPattern(r"\s++")
_TABLE_HEADER_LINES = 2


@dataclass(frozen=True, slots=True)
class TextSpan:
    """A part of the text; `header` is a part to repeat above it, the header of a table."""

    start: int
    end: int
    header: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class _Piece:
    """A part that is not split any further. A rigid one, of code or a table, is never in two chunks."""

    start: int
    end: int
    rigid: bool


def split_text(text: str, offsets: "TokenOffsets", *, limit: int, overlap: int) -> Iterator[TextSpan]:
    """Spans of at most `limit` tokens that cover the text in order; neighbours share about `overlap` tokens."""
    splitter = _Splitter(text, offsets, limit=limit, overlap=min(overlap, limit // 2))
    pieces: list[_Piece] = []
    for leaf, start, end in _block_ranges(text, leaf_blocks(text)):
        header = splitter.table_header(leaf, start, end)
        if header is None:
            pieces += splitter.pieces(start, end, rigid=leaf.kind != "text")
            continue
        yield from splitter.packed(pieces)
        yield from splitter.table(header, start, end)
        pieces = []
    yield from splitter.packed(pieces)


def truncate_to_tokens(text: str, *, tokens: Tokenizer, limit: int) -> str:
    """The beginning of the text, with at most `limit` tokens."""
    spans = tokens(text)
    return text if len(spans) <= limit else text[: spans[limit][0]].rstrip()


class TokenOffsets:
    """The offsets at which a text's tokens begin."""

    __slots__ = ("_starts", "_text", "total")

    def __init__(self, text: str, tokens: Tokenizer) -> None:
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
        """The end of the longest part from `start` with at most `limit` tokens."""
        index = bisect_left(self._starts, start) + limit
        return self._starts[index] if index < len(self._starts) else len(self._text)

    def back(self, end: int, limit: int) -> int:
        """The beginning of the longest part before `end` that has at most `limit` tokens and begins with one."""
        index = bisect_left(self._starts, end)
        return self._starts[max(index - limit, 0)] if limit and index else end

    def _add(self, start: int, before: int) -> int:
        self._fill(before, start)
        self._starts.append(start)
        return start

    def _fill(self, before: int, until: int) -> None:
        if until - before > _MAX_TOKEN_LENGTH:
            self._starts.extend(range(before + _EXTRA_TOKEN_LENGTH, until, _EXTRA_TOKEN_LENGTH))


def _windows(text: str) -> Iterator[tuple[int, str]]:
    """The text in windows that end with a line or a word if possible, each with its offset."""
    start = 0
    while len(text) - start > _WINDOW:
        end = start + _WINDOW
        cut = max(text.rfind("\n", start, end), text.rfind(" ", end - _WINDOW // 8, end))
        end = cut + 1 if cut > start else end
        yield start, text[start:end]
        start = end
    yield start, text[start:]


class _Splitter:
    """One text with its token offsets and limits."""

    def __init__(self, text: str, offsets: TokenOffsets, *, limit: int, overlap: int) -> None:
        self._text = text
        self._offsets = offsets
        self._limit = limit
        self._overlap = overlap

    def table_header(self, leaf: LeafBlock, start: int, end: int) -> tuple[int, int] | None:
        """The header of a table that must be split; None if it would take more than half of the limit."""
        if leaf.kind != "table" or self._offsets.between(start, end) <= self._limit:
            return None
        past = start
        for _ in range(_TABLE_HEADER_LINES):
            past = self._text.find("\n", past, end) + 1 or end
        return (start, past) if self._offsets.between(start, past) * 2 <= self._limit else None

    def table(self, header: tuple[int, int], start: int, end: int) -> Iterator[TextSpan]:
        """The table in several spans, each under the same header."""
        room = self._limit - self._offsets.between(*header)
        rows = _Splitter(self._text, self._offsets, limit=room, overlap=0)
        first, *others = rows.packed(rows.pieces(header[1], end, rigid=True))
        yield TextSpan(start, first.end)
        for span in others:
            yield TextSpan(span.start, span.end, header)

    def pieces(self, start: int, end: int, *, rigid: bool) -> Iterator[_Piece]:
        """The part as a whole if it fits, else its lines; a line that does not fit by sentences, then by words."""
        for line in self._parts(start, end, (_LINE_FEED, _SENTENCE_END)):
            if self._fits(*line):
                yield _Piece(*line, rigid=rigid)
            else:
                yield from (_Piece(*run, rigid=rigid) for run in self._runs(*line))

    def packed(self, pieces: Iterable[_Piece]) -> Iterator[TextSpan]:
        """Spans of as many pieces as fit, each beginning with the end of the one before."""
        start = end = floor = -1
        for piece in pieces:
            if start < 0:
                start = floor = piece.start
            elif not self._fits(start, piece.end):
                yield TextSpan(start, end)
                room = min(self._overlap, self._limit - self._offsets.between(piece.start, piece.end))
                start = self._overlap_start(floor, end, room=room)
                floor = start
            end = piece.end
            floor = end if piece.rigid else floor
        if start >= 0:
            yield TextSpan(start, end)

    def _fits(self, start: int, end: int) -> bool:
        return self._offsets.between(start, end) <= self._limit

    def _parts(self, start: int, end: int, boundaries: tuple[LazyPattern, ...]) -> Iterator[tuple[int, int]]:
        if self._fits(start, end) or not boundaries:
            yield start, end
            return
        for part in _divided(self._text, boundaries[0], start, end):
            yield from self._parts(*part, boundaries[1:])

    def _runs(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """Runs of tokens that fit; each ends with a word if one ends in its second half."""
        while start < end:
            past = min(self._offsets.reach(start, self._limit), end)
            if past < end:
                half = self._offsets.reach(start, self._limit // 2)
                past = _last_word_end(self._text, half, past)
            yield start, past
            start = past

    def _overlap_start(self, floor: int, end: int, *, room: int) -> int:
        """Where the next span begins so that it shares up to `room` tokens: at a line, a sentence, else a word."""
        begin = self._offsets.back(end, room)
        if begin <= floor:
            return floor if self._offsets.between(floor, end) <= room else end
        for boundary in (_LINE_FEED, _SENTENCE_END, _SPACE):
            for match in boundary.finditer(self._text, begin - 1, end):
                if begin <= match.end() < end and not self._text[match.end() : end].isspace():
                    return match.end()
        return end


def _block_ranges(text: str, leaves: tuple[LeafBlock, ...]) -> Iterator[tuple[LeafBlock, int, int]]:
    lines = LineIndex(text, first=0)
    starts = [lines.start(leaf.line) for leaf in leaves]
    for leaf, (start, end) in zip(leaves, pairwise([*starts, len(text)]), strict=True):
        yield leaf, start, end


def _divided(text: str, boundary: LazyPattern, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The parts between two offsets, divided after each boundary."""
    for match in boundary.finditer(text, start, end):
        if start < match.end() < end:
            yield start, match.end()
            start = match.end()
    yield start, end


def _last_word_end(text: str, start: int, end: int) -> int:
    """The offset after the last space in this range; its end if there is none."""
    for offset in range(end, start, -1):
        if text[offset - 1].isspace():
            return offset
    return end
