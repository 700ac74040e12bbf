"""Cut a note into chunks: at its headings first, and within a section only where it is too long.

Split a text into sentences: each is compared with a query on its own.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Final

from commonplace.model import Note
from commonplace.model.text import LazyPattern
from commonplace.notes.note_text import LineIndex, strip_markup
from commonplace.notes.text_splitter import SPECIAL_TOKENS, TextSpan, Tokenizer, TokenOffsets, split_text

MAX_SENTENCES: Final = 24
"""Sentences of one text, at most; the rest counts with the text as a whole."""

_MIN_LENGTH: Final = 25  # characters: a shorter sentence says too little alone, and is joined with its neighbour
_MAX_LENGTH: Final = 1000  # characters of a sentence that an encoder reads; anything longer is not a sentence
_MARKS = r"""["'”’)\]*_]"""
_BOUNDARY = LazyPattern(rf"(?<=[.!?…]){_MARKS}*+\s++|(?<=[。！？]){_MARKS}*+\s*+|\n\s*+")
_SPACE = re.compile(r"\s++")
_BULLET = re.compile(r"(?:[-*+>]|#{1,6}|\d{1,3}[.)])[ \t]++")
_EMPHASIS = re.compile(r"\*\*|__|`")
_ADDRESS = re.compile(
    r"""!?\[(?=[^\[\]]*+\]\()|\]\((?:[^()\s]|\([^()\s]*+\))*+(?:\s++"[^"]*+")?+\)"""  # of a link all but its text
    r"|!?\[\[(?:[^\[\]|]*+\|)?+|\]\]"
    r"|<?https?://[^\s<>]++>?"
)


def sentences_of(text: str) -> tuple[str, ...]:
    """The sentences in order, without bullets, emphasis and addresses; a short one is joined with its neighbour.

    An address says nothing to an encoder that its words do not, and has as many tokens as a sentence.
    """
    sentences: list[str] = []
    pending = ""
    for piece in _pieces(text):
        pending = f"{pending} {piece}" if pending else piece
        if len(pending) >= _MIN_LENGTH:
            sentences.append(pending)
            pending = ""
        if len(sentences) == MAX_SENTENCES:
            return tuple(sentences)
    if pending and sentences:
        sentences[-1] = f"{sentences[-1]} {pending}"
    return tuple(sentences) or ((pending,) if pending else ())


def last_sentences(text: str, *, most: int = 200) -> str:
    """The last sentences of the text on one line, as many as fit into `most` characters.

    If the last sentence alone is longer, its end from the beginning of a word.
    """
    whole = text.strip()
    tail = whole[-most - 1 :]
    start = 0
    if len(whole) > most:
        boundaries = (match.end() for match in (*_BOUNDARY.finditer(tail), *_SPACE.finditer(tail)))
        start = next((end for end in boundaries if end < len(tail)), 1)
    return " ".join(tail[start:].split())


def _pieces(text: str) -> Iterator[str]:
    """The text between two boundaries, as a reader sees it."""
    start = 0
    for end in chain((match.end() for match in _BOUNDARY.finditer(text)), (len(text),)):
        if piece := _without_markup(text[start:end]):
            yield piece
        start = end


def _without_markup(piece: str) -> str:
    piece = piece.strip()[:_MAX_LENGTH]
    bullet = _BULLET.match(piece)
    words = _ADDRESS.sub("", piece[bullet.end() :] if bullet else piece)
    return _EMPHASIS.sub("", words).strip()


HEADING_SEPARATOR = " > "
"""Between a heading and the one below it."""

# A heading with more characters than this for each token that it may have is shortened without tokenizing it.
_CHARACTERS_PER_TOKEN = 16
_BLANK_LINES = re.compile(r"(?:[^\S\n]*+\n)*+")
_ATX = re.compile(r"[ \t]{0,3}#{1,6}(?:\s|\Z)")
_UNDERLINE = re.compile(r"\n[ \t]{0,3}(?:=+|-+)[ \t\r]*+(?:\n|\Z)")

HeadingPath = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TextChunk:
    """Some text of one section, beginning at `line` of the file.

    `heading_path` has the headings from the top down to the section, as a reader sees them.
    `heading_line` is the heading path on one line, as it is encoded above the text, and shortened if it is very long.
    `tokens` is the number of tokens of the text.
    """

    text: str
    heading_path: HeadingPath
    line: int
    tokens: int
    heading_line: str


@dataclass(frozen=True, slots=True)
class BodyRange:
    """A range of the body that is chunked on its own, and the headings above it."""

    path: HeadingPath
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _HeadingRange:
    """A heading from its own start to the next heading; its text begins at `text_start`."""

    start: int
    text_start: int
    end: int
    above: "tuple[_HeadingRange, ...]"
    level: int
    name: str


def chunk_note(note: Note, *, tokens: Tokenizer, max_tokens: int, overlap: int) -> tuple[TextChunk, ...]:
    """The note's chunks in order, at least one.

    Each is from one section. With its headings and an encoder's special tokens it has at most `max_tokens` tokens;
    neighbours in a section share about `overlap` tokens. A heading without text of its own is in the heading path of
    the chunks below it; if there are none, the heading itself is the text of a chunk.
    """
    lines = LineIndex(note.body, first=note.body_line)
    chunker = _Chunker(note.body, tokens, lines=lines, max_tokens=max_tokens, overlap=overlap)
    chunks = [chunk for body_range in body_ranges(note, lines) for chunk in chunker.chunks(body_range)]
    return tuple(chunks) or (TextChunk("", (), note.body_line, 0, ""),)


def chunk_text(
    text: str, *, tokens: Tokenizer, max_tokens: int, overlap: int, heading_path: HeadingPath = ()
) -> tuple[TextChunk, ...]:
    """The chunks of a text that is not a note: it is cut only where it is too long, and has no headings."""
    chunker = _Chunker(text, tokens, lines=LineIndex(text, first=1), max_tokens=max_tokens, overlap=overlap)
    return tuple(chunker.chunks(BodyRange(heading_path, 0, len(text))))


def texts_to_encode(chunk: TextChunk, title: str, *, is_first: bool) -> tuple[str, ...]:
    """The chunk with its headings above it; for the first chunk of a note also the title alone.

    The title is left out if the headings say it already. There is always one text, even if it is empty.
    """
    whole = "\n".join(filter(None, (chunk.heading_line, chunk.text)))
    name = " ".join(title.split())
    present = {_folded(heading) for heading in (*chunk.heading_path, whole)}
    if not (is_first and name) or _folded(name) in present:
        return (whole or name,)
    return (whole, name) if whole else (name,)


def body_ranges(note: Note, lines: LineIndex) -> Iterator[BodyRange]:
    """The ranges with text, in order: the text before the first heading, and that of each heading.

    Runs of headings without text, and without headings below them that have text, form one range.
    """
    first = lines.start(note.headings[0].line) if note.headings else len(note.body)
    if _has_text(note.body, 0, first):
        yield BodyRange((), 0, first)
    bare: list[_HeadingRange] = []
    for heading in _heading_ranges(note, lines):
        if not _has_text(note.body, heading.text_start, heading.end):
            bare.append(heading)
            continue
        yield from _bare_heading_ranges(bare, below=heading)
        bare = []
        yield BodyRange((*_names(heading.above), *_names((heading,))), heading.text_start, heading.end)
    yield from _bare_heading_ranges(bare, below=None)


class _Chunker:
    """One body, its tokenizer, and the size limits of a chunk."""

    def __init__(self, body: str, tokens: Tokenizer, *, lines: LineIndex, max_tokens: int, overlap: int) -> None:
        self._body = body
        self._tokens = tokens
        self._lines = lines
        self._max_tokens = max_tokens
        self._overlap = overlap

    def chunks(self, body_range: BodyRange) -> Iterator[TextChunk]:
        """The chunks of one range; its headings are encoded with each."""
        start, end = self._trimmed(body_range.start, body_range.end)
        heading_line, used = self._heading_line(body_range.path)
        limit = max(self._max_tokens - SPECIAL_TOKENS - used, 1)
        text = self._body[start:end]
        offsets = TokenOffsets(text, self._tokens)
        if offsets.between(0, len(text)) <= limit:
            yield TextChunk(text, body_range.path, self._lines.number(start), offsets.total, heading_line)
            return
        for span in split_text(text, offsets, limit=limit, overlap=self._overlap):
            header = text[slice(*span.header)] if span.header else ""
            in_body = TextSpan(start + span.start, start + span.end)
            for first, piece, count in self._within_limit(header, in_body, limit=limit):
                yield TextChunk(piece, body_range.path, self._lines.number(first), count, heading_line)

    def _within_limit(self, header: str, span: TextSpan, *, limit: int) -> Iterator[tuple[int, str, int]]:
        """The span's offset, text and number of tokens; halved if it has more tokens alone than in its context."""
        start, end = self._trimmed(span.start, span.end)
        if start == end:
            return
        text = header + self._body[start:end]
        count = len(self._tokens(text))
        if count <= limit or end - start == 1:
            yield start, text, count
            return
        middle = (start + end) // 2
        yield from self._within_limit(header, TextSpan(start, middle), limit=limit)
        yield from self._within_limit(header, TextSpan(middle, end), limit=limit)

    def _trimmed(self, start: int, end: int) -> tuple[int, int]:
        """The range without the blank lines around it; the first line keeps its indentation if it is complete."""
        piece = self._body[start:end]
        end = start + len(piece.rstrip())
        if start and self._body[start - 1] != "\n":
            return min(end, start + len(piece) - len(piece.lstrip())), end
        blank = _BLANK_LINES.match(piece)
        return min(end, start + (blank.end() if blank else 0)), end

    def _heading_line(self, path: HeadingPath) -> tuple[str, int]:
        """The headings on one line and their token count: as many of the lowest ones as fit into half of the limit."""
        most = self._max_tokens // 2
        for first in range(len(path)):
            line = HEADING_SEPARATOR.join(path[first:])
            if len(line) <= most * _CHARACTERS_PER_TOKEN and (count := len(self._tokens(line))) <= most:
                return line, count
        line = path[-1][: most * _CHARACTERS_PER_TOKEN] if path else ""
        while (count := len(spans := self._tokens(line))) > most:
            line = line[: min(spans[most][0], len(line) - 1)].rstrip()
        return line, count


def _heading_ranges(note: Note, lines: LineIndex) -> Iterator[_HeadingRange]:
    starts = [lines.start(heading.line) for heading in note.headings]
    above: tuple[_HeadingRange, ...] = ()
    for heading, start, end in zip(note.headings, starts, [*starts[1:], len(note.body)], strict=False):
        above = tuple(each for each in above if each.level < heading.level)
        text_start = _text_start(note.body, start, end)
        heading_range = _HeadingRange(start, text_start, end, above, heading.level, strip_markup(heading.text))
        yield heading_range
        above = (*above, heading_range)


def _text_start(body: str, start: int, end: int) -> int:
    """The offset after the heading's own line, or after its underline."""
    if not _ATX.match(body, start, end):
        underline = _UNDERLINE.search(body, start, end)
        return underline.end() if underline else end
    return body.find("\n", start, end) + 1 or end


def _bare_heading_ranges(bare: list[_HeadingRange], *, below: _HeadingRange | None) -> Iterator[BodyRange]:
    """Runs of headings without text, except those in the heading path of the range below."""
    in_path = {each.start for each in below.above} if below else set()
    run: list[_HeadingRange] = []
    for heading in bare:
        if heading.start not in in_path:
            run.append(heading)
        elif run:
            yield _join_headings(run)
            run = []
    if run:
        yield _join_headings(run)


def _join_headings(run: list[_HeadingRange]) -> BodyRange:
    paths = [each.above for each in run]
    shared = 0
    while all(len(path) > shared and path[shared] is paths[0][shared] for path in paths):
        shared += 1
    return BodyRange(_names(paths[0][:shared]), run[0].start, run[-1].end)


def _names(headings: tuple[_HeadingRange, ...]) -> HeadingPath:
    return tuple(each.name for each in headings if each.name)


def _has_text(body: str, start: int, end: int) -> bool:
    return bool(body[start:end].strip())


def _folded(text: str) -> str:
    return " ".join(text.split()).casefold()
