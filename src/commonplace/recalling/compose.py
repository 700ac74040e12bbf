"""The context of a prompt, put together from pieces within its bounds.

Room is given by protection: first what is pinned, which is never cut, then the rest of user and channel memory, then
playbooks, dated memories, facts and what was recalled; within each the highest score first. So what is over the budget
is cut in the order recalled, facts, dated, playbooks, and no section has a share of its own.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import Final

from commonplace.model import CONTEXT_SECTIONS, ContextSection, Included, LeftOut, Piece, Why
from commonplace.recalling.blocks import Block, block_of
from commonplace.recalling.fence import Fence
from commonplace.recalling.page import Page, Room
from commonplace.recalling.phases import BRIEFING
from commonplace.recalling.repeats import Repeats

_PROTECTION: Final[dict[ContextSection, int]] = {
    "user": 1,
    "channel": 2,
    "playbooks": 3,
    "dated": 4,
    "facts": 5,
    "recalled": 6,
}

_LONGEST_LINE: Final = 400
"""Characters above which a fact is no line: one that does not fit then holds up nothing that comes after it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """How large a context may be: characters of all its text, tokens of the same, and the most pieces of two sections.

    `recalled_chars` bounds what is recalled, sources included. 0 tokens or recalled characters mean no such bound.
    """

    budget: int
    tokens: int = 0
    recalled_chars: int = 0
    recalled: int
    playbooks: int


@dataclass(frozen=True, slots=True)
class Composed:
    """The text, which pieces stand in it and which do not; `is_over` says that what is never cut is too large."""

    text: str
    included: tuple[Included, ...]
    left_out: tuple[LeftOut, ...]
    tokens: int
    is_over: bool


def briefing_skips(phase: str) -> frozenset[ContextSection]:
    """The sections that a briefing goes without; none for any other phase."""
    return frozenset({"user", "facts", "dated"}) if phase.casefold() == BRIEFING else frozenset()


def compose(
    pieces: Sequence[Piece],
    bounds: Bounds,
    *,
    nonce: str,
    measure: Callable[[str], int],
    now: str,
    skips: Collection[ContextSection] = (),
    known: Collection[str] = (),
) -> Composed:
    """The pieces that may stand before a prompt and fit, in the order of their sections, between marks of this nonce.

    Those whose marks are `known` the model has read before: neither they nor what repeats them stand there.

    The text is never longer than its bounds, in characters or by `measure`, unless pinned pieces alone are. Each piece
    is told of once, as included or as left out. The order in which pieces are given makes no difference.
    """
    fence = Fence(nonce)
    page = Page(fence, measure, budget=bounds.budget, tokens=bounds.tokens)
    filling = _Filling(page, fence, bounds, known=known)
    left_out: list[LeftOut] = []
    for piece in sorted(pieces, key=_by_protection):
        refused = _unwanted(piece, now=now, skips=skips) or filling.add(piece)
        left_out += [refused] if refused else []
    left_out = [*filling.give_way(), *left_out]
    text = page.text
    return Composed(
        text,
        page.included,
        tuple(sorted(left_out, key=lambda each: CONTEXT_SECTIONS.index(each.section))),
        measure(text) if text else 0,
        page.is_over,
    )


def _by_protection(piece: Piece) -> tuple[int, float, tuple[str, ...]]:
    """The most protected first, then the highest score. Of equals all that can be seen decides: there is one order."""
    seen = (piece.key, piece.source, piece.text, piece.title, piece.doubt, piece.day, piece.valid_until, piece.document)
    return (0 if piece.is_pinned else _PROTECTION[piece.section], -piece.score, (piece.section, *seen, piece.fact))


def _unwanted(piece: Piece, *, now: str, skips: Collection[ContextSection]) -> LeftOut | None:
    if piece.section in skips:
        return LeftOut(piece.section, piece.source, "scope", f"this phase goes without {piece.section}")
    if piece.valid_until and piece.valid_until <= now:
        return LeftOut(piece.section, piece.source, "over", f"its time was over at {piece.valid_until}")
    return None


class _Filling:
    """Pieces going onto a page, the most protected first."""

    def __init__(self, page: Page, fence: Fence, bounds: Bounds, *, known: Collection[str]) -> None:
        self._page = page
        self._fence = fence
        self._bounds = bounds
        self._known = known
        self._repeats = Repeats()
        self._most = {"recalled": bounds.recalled, "playbooks": bounds.playbooks}
        self._recalled_chars = 0
        self._full: tuple[int, Why] | None = None

    def add(self, piece: Piece) -> LeftOut | None:
        """Puts a piece on the page, cut if it must be; else says why not."""
        if repeated := self._repeats.of(piece):
            return repeated
        if self._known and piece.mark in self._known:
            self._repeats.add(piece, piece.text, is_cut=False)
            return LeftOut(piece.section, piece.source, "known", "the model has read it earlier in this session")
        if piece.is_pinned:
            self._put(piece, block_of(piece, self._fence))
            return None
        most = self._most.get(piece.section)
        if most is not None and self._page.count(piece.section) >= most:
            return LeftOut(piece.section, piece.source, "section", f"{piece.section} are {most} at most")
        if self._full and _PROTECTION[piece.section] >= self._full[0]:
            return self._no_room(piece, self._full[1])
        return self._fit(piece)

    def give_way(self) -> list[LeftOut]:
        """Takes off the page what is too much of it, the least protected first; tells of it in their order."""
        # The tokens of a whole may be more than those of its lines together.
        gone: list[LeftOut] = []
        while self._page.is_over and not self._page.last.is_pinned:
            piece = self._page.take_back()
            gone.insert(0, self._no_room(piece, "budget"))
        return gone

    def _fit(self, piece: Piece) -> LeftOut | None:
        """Puts as much of a piece on the page as there is room for.

        When that is not all of it, nothing comes after it. Facts are lines and stand whole or not at all: where one
        does not fit, a shorter one may, but nothing less protected.
        """
        block = block_of(piece, self._fence)
        room = self._page.room_for(piece.section)
        within = self._within_phase(room, piece.section)
        if within.holds(block):
            self._put(piece, block)
            return None
        why: Why = "section" if room.holds(block) else "budget"
        if piece.section == "facts":
            if len(block.text) <= _LONGEST_LINE:
                self._full = (_PROTECTION["facts"] + 1, why)
            return self._no_room(piece, why)
        self._full = (_PROTECTION[piece.section], why)
        beginning = within.beginning_of(block)
        if beginning is None:
            return self._no_room(piece, why)
        self._put(piece, beginning)
        return None

    def _no_room(self, piece: Piece, why: Why) -> LeftOut:
        said = (
            f"this phase recalls {self._bounds.recalled_chars} characters at most"
            if why == "section"
            else f"no room was left for its {len(piece.text)} characters"
        )
        return LeftOut(piece.section, piece.source, why, said)

    def _within_phase(self, room: Room, section: ContextSection) -> Room:
        """The room that the phase leaves to what is recalled; all of it for any other section."""
        if section != "recalled" or not self._bounds.recalled_chars:
            return room
        return replace(room, chars=min(room.chars, self._bounds.recalled_chars - self._recalled_chars))

    def _put(self, piece: Piece, block: Block) -> None:
        self._page.put(piece, block)
        self._repeats.add(piece, block.text, is_cut=block.is_cut)
        if piece.section == "recalled":
            self._recalled_chars += len(str(block)) + 1
