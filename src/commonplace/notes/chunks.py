"""A note cut into passages: by its headings first, and within a section only where it is too long."""

import re
from collections.abc import Iterator

from commonplace.model import Note
from commonplace.notes.cutting import Cut, cuts_of
from commonplace.notes.lines import Lines
from commonplace.notes.measure import MARKS, Ruler, Tokens
from commonplace.notes.passages import STEP, Passage
from commonplace.notes.stretches import Path, Stretch, stretches_of

# A heading of more characters than these for each token that it may have is no heading to be read.
_CHARACTERS_A_TOKEN = 16
_BLANK_LINES = re.compile(r"(?:[^\S\n]*+\n)*+")


def chunks_of(note: Note, *, tokens: Tokens, max_tokens: int, overlap: int) -> tuple[Passage, ...]:
    """The note's passages in order, at least one.

    Each is of one section. With its headings above it and the marks of an encoder it has at most `max_tokens`
    tokens; those of one section share about `overlap` tokens with their neighbour. A heading without text of its
    own is named by the passages below it; where there are none, it is itself a text that can be found.
    """
    lines = Lines(note.body, first=note.body_line)
    chunker = _Chunker(note.body, tokens, lines=lines, max_tokens=max_tokens, overlap=overlap)
    found = [passage for stretch in stretches_of(note, lines) for passage in chunker.passages(stretch)]
    return tuple(found) or (Passage("", (), note.body_line, 0, ""),)


def plain_chunks_of(
    text: str, *, tokens: Tokens, max_tokens: int, overlap: int, heading_path: Path = ()
) -> tuple[Passage, ...]:
    """The passages of a text that is no note: it is cut only where it is too long, whatever its lines look like."""
    chunker = _Chunker(text, tokens, lines=Lines(text, first=1), max_tokens=max_tokens, overlap=overlap)
    return tuple(chunker.passages(Stretch(heading_path, 0, len(text))))


class _Chunker:
    """One body, and how long a passage of it may be."""

    def __init__(self, body: str, tokens: Tokens, *, lines: Lines, max_tokens: int, overlap: int) -> None:
        self._body = body
        self._tokens = tokens
        self._lines = lines
        self._max_tokens = max_tokens
        self._overlap = overlap

    def passages(self, stretch: Stretch) -> Iterator[Passage]:
        """The passages of one stretch; its headings are encoded with each."""
        start, end = self._trimmed(stretch.start, stretch.end)
        under, used = self._under(stretch.path)
        limit = max(self._max_tokens - MARKS - used, 1)
        text = self._body[start:end]
        ruler = Ruler(text, self._tokens)
        if ruler.between(0, len(text)) <= limit:
            yield Passage(text, stretch.path, self._lines.number(start), ruler.total, under)
            return
        for cut in cuts_of(text, ruler, limit=limit, overlap=self._overlap):
            header = text[slice(*cut.header)] if cut.header else ""
            moved = Cut(start + cut.start, start + cut.end)
            for first, piece, count in self._exact(header, moved, limit=limit):
                yield Passage(piece, stretch.path, self._lines.number(first), count, under)

    def _exact(self, header: str, cut: Cut, *, limit: int) -> Iterator[tuple[int, str, int]]:
        """The text of a cut with its offset and number of tokens, in two if its tokens alone are more than in place."""
        start, end = self._trimmed(cut.start, cut.end)
        if start == end:
            return
        text = header + self._body[start:end]
        count = len(self._tokens(text))
        if count <= limit or end - start == 1:
            yield start, text, count
            return
        middle = (start + end) // 2
        yield from self._exact(header, Cut(start, middle), limit=limit)
        yield from self._exact(header, Cut(middle, end), limit=limit)

    def _trimmed(self, start: int, end: int) -> tuple[int, int]:
        """The range without blank lines around it; the first line keeps its indent, if it is there from its start."""
        piece = self._body[start:end]
        end = start + len(piece.rstrip())
        if start and self._body[start - 1] != "\n":
            return min(end, start + len(piece) - len(piece.lstrip())), end
        blank = _BLANK_LINES.match(piece)
        return min(end, start + (blank.end() if blank else 0)), end

    def _under(self, path: Path) -> tuple[str, int]:
        """The headings in one line and how many tokens they are: the lowest ones that take half of the room at most."""
        most = self._max_tokens // 2
        for first in range(len(path)):
            line = STEP.join(path[first:])
            if len(line) <= most * _CHARACTERS_A_TOKEN and (count := len(self._tokens(line))) <= most:
                return line, count
        line = path[-1][: most * _CHARACTERS_A_TOKEN] if path else ""
        while (count := len(spans := self._tokens(line))) > most:
            line = line[: min(spans[most][0], len(line) - 1)].rstrip()
        return line, count
