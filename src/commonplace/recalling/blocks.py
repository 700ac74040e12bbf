"""A piece of context as a model reads it: where it is from, whether it is sure, and what it says."""

from dataclasses import dataclass
from typing import Final

from commonplace.model import Piece
from commonplace.recalling.fence import Fence
from commonplace.recalling.shorten import CUT

_LONGEST_TITLE: Final = 120
_LONGEST_DOUBT: Final = 160


@dataclass(frozen=True, slots=True)
class Block:
    """Some text, what stands before it, and what stands after it on the same line."""

    before: str
    text: str
    after: str = ""
    is_cut: bool = False

    def __str__(self) -> str:
        return f"{self.before}{self.text}{self.after}"

    def cut_to(self, text: str) -> "Block":
        """The same with no more than the beginning of its text."""
        return Block(self.before, text, CUT, is_cut=True)


def block_of(piece: Piece, fence: Fence) -> Block:
    """A fact is one line with its source behind it; anything else has a line with its source above it."""
    doubt = _short(fence.defused_line(piece.doubt), _LONGEST_DOUBT)
    unsure = f"(not sure: {doubt.rstrip('.')}. Ask before relying on it.)" if doubt else ""
    source = fence.defused_line(piece.source)
    if piece.section == "facts":
        line = fence.defused_line(piece.text)
        return Block("- ", line, f" [{source}] {unsure}".rstrip())
    day = "" if piece.day in source else f", {fence.defused_line(piece.day)}"
    title = _short(fence.defused_line(piece.title), _LONGEST_TITLE)
    head = f"[{source}{day}] {title}".rstrip()
    return Block("".join(f"{line}\n" for line in (head, unsure) if line), fence.defused(piece.text).strip())


def _short(line: str, length: int) -> str:
    return line if len(line) <= length else f"{line[: length - 1].rstrip()}…"
