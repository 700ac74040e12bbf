"""The page that is put before a model: what stands on it, and how much room is left."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from commonplace.model import CONTEXT_SECTIONS, ContextSection, Included, Piece
from commonplace.recalling.blocks import Block
from commonplace.recalling.fence import Fence
from commonplace.recalling.shorten import shortened

Measure = Callable[[str], int]
"""How many tokens a text has."""


@dataclass(frozen=True, slots=True)
class Room:
    """Characters, and tokens where they are counted; below 0 on a page that is over its bounds."""

    measure: Measure
    chars: int
    tokens: int | None = None

    def holds(self, block: Block) -> bool:
        """Whether the block fits, with the end of its line."""
        line = f"{block}\n"
        return len(line) <= self.chars and (self.tokens is None or self.measure(line) <= self.tokens)

    def beginning_of(self, block: Block) -> Block | None:
        """As much of a block's beginning as fits; None when that is too little to be of use."""
        longest = min(len(block.text) - 1, self.chars - len(f"{block.cut_to('')}\n"))
        if self.tokens is not None and longest > 0:
            longest = bisect_right(
                range(1, longest + 1),
                self.tokens,
                key=lambda size: self.measure(f"{block.cut_to(block.text[:size])}\n"),
            )
        beginning = block.cut_to(shortened(block.text, longest))
        return beginning if beginning.text and self.holds(beginning) else None

    def without(self, *lines: str) -> "Room":
        """What is left when these lines have been written."""
        chars = self.chars - sum(len(line) + 1 for line in lines)
        tokens = None if self.tokens is None else self.tokens - sum(self.measure(f"{line}\n") for line in lines)
        return Room(self.measure, chars, tokens)


class Page:
    """Blocks by section, within so many characters and tokens; 0 tokens mean that they are not counted."""

    def __init__(self, fence: Fence, measure: Measure, *, budget: int, tokens: int) -> None:
        self._fence = fence
        self._whole = Room(measure, budget, tokens or None)
        # The last line of a page has no end: that is one character for the others.
        self._room = Room(measure, budget + 1, tokens or None)
        self._standing: list[tuple[Piece, Block]] = []
        self._counts: Counter[ContextSection] = Counter()

    @property
    def text(self) -> str:
        """The page; empty where nothing stands on it."""
        lines = [self._fence.intro] if self._standing else []
        for section in CONTEXT_SECTIONS:
            blocks = [str(block) for piece, block in self._standing if piece.section == section]
            if blocks:
                lines += [self._fence.opening(section), *blocks, self._fence.closing]
        return "\n".join(lines)

    @property
    def included(self) -> tuple[Included, ...]:
        """What stands on the page, in the order of its text."""
        ordered = sorted(self._standing, key=lambda pair: CONTEXT_SECTIONS.index(pair[0].section))
        return tuple(Included(piece, len(block.text), is_cut=block.is_cut) for piece, block in ordered)

    @property
    def is_over(self) -> bool:
        """Whether the text is larger than it may be; an empty one never is."""
        text, whole = self.text, self._whole
        if not text:
            return False
        return len(text) > whole.chars or (whole.tokens is not None and whole.measure(text) > whole.tokens)

    @property
    def last(self) -> Piece:
        """What came onto the page last."""
        return self._standing[-1][0]

    def count(self, section: ContextSection) -> int:
        """How many pieces of a section stand on the page."""
        return self._counts[section]

    def room_for(self, section: ContextSection) -> Room:
        """What is left for one more piece of a section, once the section has its marks."""
        return self._room.without(*self._marks_wanted(section))

    def put(self, piece: Piece, block: Block) -> None:
        """Sets a block on the page, whether there is room or not."""
        self._room = self.room_for(piece.section).without(str(block))
        self._standing.append((piece, block))
        self._counts[piece.section] += 1

    def take_back(self) -> Piece:
        """Takes what came last off the page; the room it had stays empty."""
        piece, _ = self._standing.pop()
        self._counts[piece.section] -= 1
        return piece

    def _marks_wanted(self, section: ContextSection) -> tuple[str, ...]:
        if self.count(section):
            return ()
        marks = (self._fence.opening(section), self._fence.closing)
        return marks if self._standing else (self._fence.intro, *marks)
