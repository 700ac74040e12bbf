"""A text that is too long for one chunk, cut where it hurts least: between blocks, lines, sentences, words."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from commonplace.notes.blocks import Leaf, leaves_of
from commonplace.notes.lines import Lines
from commonplace.notes.measure import Ruler

_SENTENCE_END = re.compile(r"""(?<=[.!?…])["'”’)\]*_]*+\s++|(?<=[。！？])""")
_LINE_FEED = re.compile(r"\n")
_SPACE = re.compile(r"\s++")
_HEADER_LINES = 2


@dataclass(frozen=True, slots=True)
class Cut:
    """A part of the text; `header` is the part to be repeated above it, the head of a table."""

    start: int
    end: int
    header: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class _Piece:
    """What is not cut any further. A rigid one, of code or a table, is never shared by two chunks."""

    start: int
    end: int
    rigid: bool


def cuts_of(text: str, ruler: Ruler, *, limit: int, overlap: int) -> Iterator[Cut]:
    """Parts of at most `limit` tokens that cover the text in order; neighbours share about `overlap` tokens."""
    cutter = _Cutter(text, ruler, limit=limit, overlap=min(overlap, limit // 2))
    pieces: list[_Piece] = []
    for leaf, start, end in _ranges(text, leaves_of(text)):
        header = cutter.header(leaf, start, end)
        if header is None:
            pieces += cutter.pieces(start, end, rigid=leaf.kind != "text")
            continue
        yield from cutter.packed(pieces)
        yield from cutter.table(header, start, end)
        pieces = []
    yield from cutter.packed(pieces)


class _Cutter:
    """One text with the ruler that measures it."""

    def __init__(self, text: str, ruler: Ruler, *, limit: int, overlap: int) -> None:
        self._text = text
        self._ruler = ruler
        self._limit = limit
        self._overlap = overlap

    def header(self, leaf: Leaf, start: int, end: int) -> tuple[int, int] | None:
        """The head of a table that must be cut, unless it takes so much room that rows would suffer."""
        if leaf.kind != "table" or self._ruler.between(start, end) <= self._limit:
            return None
        past = start
        for _ in range(_HEADER_LINES):
            past = self._text.find("\n", past, end) + 1 or end
        return (start, past) if self._ruler.between(start, past) * 2 <= self._limit else None

    def table(self, header: tuple[int, int], start: int, end: int) -> Iterator[Cut]:
        """The table in several, each under the same head."""
        room = self._limit - self._ruler.between(*header)
        rows = _Cutter(self._text, self._ruler, limit=room, overlap=0)
        first, *others = rows.packed(rows.pieces(header[1], end, rigid=True))
        yield Cut(start, first.end)
        for cut in others:
            yield Cut(cut.start, cut.end, header)

    def pieces(self, start: int, end: int, *, rigid: bool) -> Iterator[_Piece]:
        """The part whole if it fits, else its lines; a line that does not fit by sentences, then by words."""
        for line in self._parts(start, end, (_LINE_FEED, _SENTENCE_END)):
            if self._fits(*line):
                yield _Piece(*line, rigid=rigid)
            else:
                yield from (_Piece(*run, rigid=rigid) for run in self._runs(*line))

    def packed(self, pieces: Iterable[_Piece]) -> Iterator[Cut]:
        """As many pieces together as fit, each lot beginning with the end of the one before."""
        start = end = floor = -1
        for piece in pieces:
            if start < 0:
                start = floor = piece.start
            elif not self._fits(start, piece.end):
                yield Cut(start, end)
                room = min(self._overlap, self._limit - self._ruler.between(piece.start, piece.end))
                start = self._shared_from(floor, end, room=room)
                floor = start
            end = piece.end
            floor = end if piece.rigid else floor
        if start >= 0:
            yield Cut(start, end)

    def _fits(self, start: int, end: int) -> bool:
        return self._ruler.between(start, end) <= self._limit

    def _parts(self, start: int, end: int, borders: tuple[re.Pattern[str], ...]) -> Iterator[tuple[int, int]]:
        if self._fits(start, end) or not borders:
            yield start, end
            return
        for part in _divided(self._text, borders[0], start, end):
            yield from self._parts(*part, borders[1:])

    def _runs(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """Runs of tokens that fit, ending with a word where one ends in their second half."""
        while start < end:
            past = min(self._ruler.reach(start, self._limit), end)
            if past < end:
                half = self._ruler.reach(start, self._limit // 2)
                past = _last_word_end(self._text, half, past)
            yield start, past
            start = past

    def _shared_from(self, floor: int, end: int, *, room: int) -> int:
        """Where the next lot begins so that it shares up to `room` tokens: a line, a sentence, else a word."""
        begin = self._ruler.back(end, room)
        if begin <= floor:
            return floor if self._ruler.between(floor, end) <= room else end
        for border in (_LINE_FEED, _SENTENCE_END, _SPACE):
            for match in border.finditer(self._text, begin - 1, end):
                if begin <= match.end() < end and not self._text[match.end() : end].isspace():
                    return match.end()
        return end


def _ranges(text: str, leaves: tuple[Leaf, ...]) -> Iterator[tuple[Leaf, int, int]]:
    lines = Lines(text, first=0)
    starts = [lines.start(leaf.line) for leaf in leaves]
    for leaf, (start, end) in zip(leaves, pairwise([*starts, len(text)]), strict=True):
        yield leaf, start, end


def _divided(text: str, border: re.Pattern[str], start: int, end: int) -> Iterator[tuple[int, int]]:
    """The part between two offsets, divided after each border."""
    for match in border.finditer(text, start, end):
        if start < match.end() < end:
            yield start, match.end()
            start = match.end()
    yield start, end


def _last_word_end(text: str, start: int, end: int) -> int:
    """Past the last space in this range; its end if there is none."""
    for offset in range(end, start, -1):
        if text[offset - 1].isspace():
            return offset
    return end
