"""The page of text put before a prompt: formats pieces as blocks, counts the space left, and truncates text."""

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final
from unicodedata import combining

from commonplace.context.fence import Fence
from commonplace.model.context import CONTEXT_SECTIONS, ContextSection, IncludedPiece, Piece

TRUNCATION_MARK: Final = " [... cut]"
"""Follows a text that was truncated."""

MIN_USEFUL: Final = 80
"""Characters below which the beginning of a text says too little to be shown."""

LINE_SECTIONS: Final[frozenset[ContextSection]] = frozenset({"profile", "session", "facts"})
"""Sections whose pieces are one line each."""

_MAX_TITLE: Final = 120
_FOLLOWED: Final[frozenset[ContextSection]] = frozenset({"user", "channel"})  # the person's own instructions
_MAX_DOUBT: Final = 160
_MIN_SHARE: Final = 0.6  # of the space, that a cut at a sentence or word must fill
_SENTENCE_ENDS: Final = re.compile(r"\n|[.!?…](?=\s)|[。！？]")
_JOINERS: Final = frozenset("\u200c\u200d") | {chr(code) for code in range(0xFE00, 0xFE10)}

Measure = Callable[[str], int]
"""Counts the tokens of a text."""


@dataclass(frozen=True, slots=True)
class ContextBlock:
    """The text of a piece, and what comes before and after it."""

    before: str
    text: str
    after: str = ""
    is_cut: bool = False

    def __str__(self) -> str:
        return f"{self.before}{self.text}{self.after}"

    def cut_to(self, text: str) -> "ContextBlock":
        """The block with only this beginning of its text, and the truncation mark."""
        return ContextBlock(self.before, text, TRUNCATION_MARK, is_cut=True)


def format_piece(piece: Piece, fence: Fence) -> ContextBlock:
    """A fact is one line that ends with its source, if it has one; another piece has its source on a line above it."""
    doubt = _shorten(fence.sanitize_line(piece.doubt), _MAX_DOUBT)
    warning = f"(not sure: {doubt.rstrip('.')}. Ask before relying on it.)" if doubt else ""
    source = fence.sanitize_source(piece.source)
    if piece.section in LINE_SECTIONS:
        said = f" ({fence.sanitize_line(piece.said)})" if piece.said else ""
        line = f"{fence.sanitize_line(piece.text)}{said}"
        return ContextBlock("- ", line, (f" [{source}] {warning}" if source else f" {warning}").rstrip())
    when = piece.said or piece.day
    day = "" if when in source else f", {fence.sanitize_source(when)}"
    title = _shorten(fence.sanitize_line(piece.title), _MAX_TITLE)
    head = f"[{source}{day}] {title}".rstrip()
    return ContextBlock("".join(f"{line}\n" for line in (head, warning) if line), fence.sanitize(piece.text).strip())


@dataclass(frozen=True, slots=True)
class RemainingSpace:
    """Characters, and tokens if they are counted; below 0 on a page that exceeds its limits."""

    measure: Measure
    chars: int
    tokens: int | None = None

    def holds(self, block: ContextBlock) -> bool:
        """True if the block fits, line end included."""
        line = f"{block}\n"
        return len(line) <= self.chars and (self.tokens is None or self.measure(line) <= self.tokens)

    def beginning_of(self, block: ContextBlock) -> ContextBlock | None:
        """The block truncated to fit; None if too little of it would be left."""
        longest = min(len(block.text) - 1, self.chars - len(f"{block.cut_to('')}\n"))
        if self.tokens is not None and longest > 0:
            longest = bisect_right(
                range(1, longest + 1),
                self.tokens,
                key=lambda size: self.measure(f"{block.cut_to(block.text[:size])}\n"),
            )
        beginning = block.cut_to(truncate(block.text, longest))
        return beginning if beginning.text and self.holds(beginning) else None

    def without(self, *lines: str) -> "RemainingSpace":
        """The space left after these lines."""
        chars = self.chars - sum(len(line) + 1 for line in lines)
        tokens = None if self.tokens is None else self.tokens - sum(self.measure(f"{line}\n") for line in lines)
        return RemainingSpace(self.measure, chars, tokens)


class Page:
    """Blocks by section, within `budget` characters and `tokens`; 0 tokens means that tokens are not counted."""

    def __init__(self, fence: Fence, measure: Measure, *, budget: int, tokens: int) -> None:
        self._fence = fence
        self._limit = RemainingSpace(measure, budget, tokens or None)
        # The last line of a page has no line end, which leaves one character more for the others.
        self._space = RemainingSpace(measure, budget + 1, tokens or None)
        self._blocks: list[tuple[Piece, ContextBlock]] = []
        self._counts: Counter[ContextSection] = Counter()
        self._groups: Counter[tuple[ContextSection, str]] = Counter()

    @property
    def text(self) -> str:
        """The page; empty without blocks."""
        lines = [self._intro] if self._blocks else []
        for section in CONTEXT_SECTIONS:
            blocks = _in_order([each for each in self._blocks if each[0].section == section])
            if blocks:
                lines += [self._fence.opening(section), *_under_headings(blocks), self._fence.closing]
        return "\n".join(lines)

    @property
    def _intro(self) -> str:
        return self._fence.intro(is_followed=any(piece.section in _FOLLOWED for piece, _ in self._blocks))

    @property
    def included(self) -> tuple[IncludedPiece, ...]:
        """The pieces on the page, in the order of its text."""
        ordered = sorted(_in_order(self._blocks), key=lambda pair: CONTEXT_SECTIONS.index(pair[0].section))
        return tuple(IncludedPiece(piece, len(block.text), is_cut=block.is_cut) for piece, block in ordered)

    @property
    def is_over(self) -> bool:
        """True if the text exceeds its limits; never for an empty page."""
        text, limit = self.text, self._limit
        if not text:
            return False
        return len(text) > limit.chars or (limit.tokens is not None and limit.measure(text) > limit.tokens)

    @property
    def last(self) -> Piece:
        """The piece that was put on the page last."""
        return self._blocks[-1][0]

    def count(self, section: ContextSection) -> int:
        """The number of pieces of a section on the page."""
        return self._counts[section]

    def space_for(self, piece: Piece) -> RemainingSpace:
        """The space left for one more piece, after the marks of its section and the heading of its group."""
        return self._space.without(*self._missing_lines(piece))

    def put(self, piece: Piece, block: ContextBlock) -> None:
        """Put a block on the page, even if there is no space for it."""
        self._space = self.space_for(piece).without(str(block))
        self._blocks.append((piece, block))
        self._counts[piece.section] += 1
        self._groups[piece.section, piece.group] += 1

    def take_back(self) -> Piece:
        """Take the last piece off the page; its space is not used again."""
        piece, _ = self._blocks.pop()
        self._counts[piece.section] -= 1
        self._groups[piece.section, piece.group] -= 1
        return piece

    def _missing_lines(self, piece: Piece) -> tuple[str, ...]:
        """The lines that this piece would add besides its own; pieces that are to be followed come first of all."""
        section = piece.section
        heading = (_heading(piece.group),) if piece.group and not self._groups[section, piece.group] else ()
        marks = () if self.count(section) else (self._fence.opening(section), self._fence.closing)
        return (*heading, *marks, *(() if self._blocks else (self._fence.intro(is_followed=section in _FOLLOWED),)))


def _under_headings(blocks: Sequence[tuple[Piece, ContextBlock]]) -> Iterator[str]:
    """The blocks of a section; those of a group together, in the order of the groups' first blocks."""
    for group in dict.fromkeys(piece.group for piece, _ in blocks):
        yield from (_heading(group),) if group else ()
        yield from (str(block) for piece, block in blocks if piece.group == group)


def _in_order(blocks: Sequence[tuple[Piece, ContextBlock]]) -> list[tuple[Piece, ContextBlock]]:
    """The blocks of a section in their order, those that have a place by their places."""
    ordered = _newest_first(blocks)
    placed = iter(sorted((each for each in ordered if each[0].place), key=lambda each: each[0].place))
    return [next(placed) if each[0].place else each for each in ordered]


def _newest_first(blocks: Sequence[tuple[Piece, ContextBlock]]) -> list[tuple[Piece, ContextBlock]]:
    """The blocks of a section in their order, an older one directly behind the newest of its group."""
    heads = {piece.key for piece, _ in blocks if not piece.newest} - {""}
    older = defaultdict[str, list[tuple[Piece, ContextBlock]]](list)
    for each in blocks:
        if each[0].newest in heads:
            older[each[0].newest].append(each)
    first = [each for each in blocks if each[0].newest not in heads]
    return [each for block in first for each in (block, *older.pop(block[0].key, ()))]


def _heading(group: str) -> str:
    return f"{group}:"


def truncate(text: str, length: int) -> str:
    """At most `length` characters from the beginning of a longer text, without the mark; empty if that is too little.

    Ends after the last sentence or line unless that is far back, else after a word, else after a character.
    """
    if length < MIN_USEFUL:
        return ""
    beginning = text[: _sentence_end(text, length) or _word_end(text, length)].rstrip()
    return beginning if len(beginning) >= MIN_USEFUL else ""


def _sentence_end(text: str, length: int) -> int:
    """The end of the last sentence or line that fits; 0 if that would lose too much."""
    ends = [match.end() for match in _SENTENCE_ENDS.finditer(text, 0, length + 1) if match.end() <= length]
    return ends[-1] if ends and ends[-1] >= max(MIN_USEFUL, length * _MIN_SHARE) else 0


def _word_end(text: str, length: int) -> int:
    for end in range(length, int(length * _MIN_SHARE), -1):
        if text[end : end + 1].isspace():
            return end
    end = length
    while end > 0 and (combining(text[end : end + 1] or " ") or {text[end : end + 1], text[end - 1]} & _JOINERS):
        end -= 1
    return end


def _shorten(line: str, length: int) -> str:
    return line if len(line) <= length else f"{line[: length - 1].rstrip()}…"
