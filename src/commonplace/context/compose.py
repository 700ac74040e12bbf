"""Composes the context of a prompt from pieces, within limits.

Pieces get space in the order of their protection: pinned pieces first, which are never cut; then the rest of user and
channel memory, then playbooks, dated memories, facts, the profile, the last session and recalled passages; within each
the highest score first. So a context over its budget is cut in the order recalled, session, profile, facts, dated,
playbooks. A piece that yields gets space with the last session. No section has a reserved share.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import Final

from commonplace.context.fence import Fence
from commonplace.context.options import BRIEFING
from commonplace.context.page import LINE_SECTIONS, ContextBlock, Page, RemainingSpace, format_piece
from commonplace.model.context import (
    CONTEXT_SECTIONS,
    ContextSection,
    IncludedPiece,
    OmissionReason,
    OmittedPiece,
    Piece,
)

_PROTECTION: Final[dict[ContextSection, int]] = {
    "user": 1,
    "channel": 2,
    "playbooks": 3,
    "dated": 4,
    "facts": 5,
    "profile": 6,
    "session": 7,
    "recalled": 8,
}

_MAX_FACT_LINE: Final = 400
"""Characters up to which a fact counts as a line: a longer one that does not fit does not end the context."""

_RECALLED: Final[tuple[ContextSection, ...]] = ("facts", "recalled")
_FEW_WORDS: Final = 3  # by which the wording of a fact may differ from that of its entry


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextLimits:
    """The size of a context: characters and tokens of all its text, and the most pieces of two sections.

    `recalled_chars` limits facts and recalled passages together, sources included. 0 tokens or recalled characters mean
    no such limit.
    """

    budget: int
    tokens: int = 0
    recalled_chars: int = 0
    recalled: int
    playbooks: int


@dataclass(frozen=True, slots=True)
class ComposedContext:
    """The text, the pieces in it and the pieces left out; `is_over`: the pinned pieces alone exceed the limits."""

    text: str
    included: tuple[IncludedPiece, ...]
    left_out: tuple[OmittedPiece, ...]
    tokens: int
    is_over: bool


def skipped_sections(phase: str) -> frozenset[ContextSection]:
    """The sections that a briefing does without; none for any other phase."""
    return frozenset({"user", "profile", "facts", "dated", "session"}) if phase.casefold() == BRIEFING else frozenset()


def compose(
    pieces: Sequence[Piece],
    limits: ContextLimits,
    *,
    nonce: str,
    measure: Callable[[str], int],
    now: str,
    skips: Collection[ContextSection] = (),
    seen_marks: Collection[str] = (),
) -> ComposedContext:
    """The pieces that fit, in the order of their sections, between marks with this nonce.

    Pieces whose marks are in `seen_marks` are skipped, and so are their duplicates: the model has already read them.

    The text never exceeds its limits, in characters or by `measure`, unless pinned pieces alone do. Each piece is
    reported once, as included or as left out. The order of `pieces` makes no difference.
    """
    fence = Fence(nonce)
    page = Page(fence, measure, budget=limits.budget, tokens=limits.tokens)
    composer = _Composer(page, fence, limits, seen_marks=seen_marks)
    left_out: list[OmittedPiece] = []
    for piece in sorted(pieces, key=_by_protection):
        omitted = _not_applicable(piece, now=now, skips=skips) or composer.add(piece)
        left_out += [omitted] if omitted else []
    left_out = [*composer.remove_excess(), *left_out]
    text = page.text
    return ComposedContext(
        text,
        page.included,
        tuple(sorted(left_out, key=lambda each: CONTEXT_SECTIONS.index(each.section))),
        measure(text) if text else 0,
        page.is_over,
    )


def _by_protection(piece: Piece) -> tuple[int, float, tuple[str, ...]]:
    """Sort key: the most protected first, then the highest score, then all visible fields, so that no tie is left."""
    fields = (
        piece.key,
        piece.source,
        piece.text,
        piece.title,
        piece.doubt,
        piece.day,
        piece.valid_until,
        piece.document,
    )
    protection = 0 if piece.is_pinned else _protection(piece)
    return (protection, -piece.score, (piece.section, *fields, piece.fact))


def _protection(piece: Piece) -> int:
    return _PROTECTION["session" if piece.yields else _space_of(piece)]


def _space_of(piece: Piece) -> ContextSection:
    """The section with which the piece gets space."""
    return piece.protected_as or piece.section


def _not_applicable(piece: Piece, *, now: str, skips: Collection[ContextSection]) -> OmittedPiece | None:
    if piece.section in skips:
        return OmittedPiece(piece.section, piece.source, "scope", f"this phase leaves out {piece.section}")
    if piece.valid_until and piece.valid_until <= now:
        return OmittedPiece(piece.section, piece.source, "over", f"it was valid until {piece.valid_until}")
    return None


class _Composer:
    """Puts pieces on a page, the most protected first."""

    def __init__(self, page: Page, fence: Fence, limits: ContextLimits, *, seen_marks: Collection[str]) -> None:
        self._page = page
        self._fence = fence
        self._limits = limits
        self._seen_marks = seen_marks
        self._duplicates = Duplicates()
        self._max_pieces = {"recalled": limits.recalled, "playbooks": limits.playbooks}
        self._recalled_chars = 0
        self._full: tuple[int, OmissionReason] | None = None

    def add(self, piece: Piece) -> OmittedPiece | None:
        """Put a piece on the page, truncated if necessary; or give the reason why not."""
        if duplicate := self._duplicates.find(piece):
            return duplicate
        if self._seen_marks and piece.mark in self._seen_marks:
            self._duplicates.add(piece, piece.text, is_cut=False)
            return OmittedPiece(piece.section, piece.source, "known", "the model has already read it in this session")
        if piece.is_pinned:
            self._put(piece, format_piece(piece, self._fence))
            return None
        most = self._max_pieces.get(piece.section)
        if most is not None and self._page.count(piece.section) >= most:
            return OmittedPiece(piece.section, piece.source, "section", f"{piece.section} is limited to {most}")
        if self._full and _protection(piece) >= self._full[0]:
            return self._no_space(piece, self._full[1])
        return self._fit(piece)

    def remove_excess(self) -> list[OmittedPiece]:
        """Take pieces off a page that is too large, the least protected first; gives them in order of protection."""
        # The tokens of a whole may be more than those of its lines together.
        removed: list[OmittedPiece] = []
        while self._page.is_over and not self._page.last.is_pinned:
            piece = self._page.take_back()
            removed.insert(0, self._no_space(piece, "budget"))
        return removed

    def _fit(self, piece: Piece) -> OmittedPiece | None:
        """Put as much of a piece on the page as there is space for.

        If that is not all of it, nothing comes after it. Facts are lines and are never truncated: if one does not fit,
        a shorter one may, but nothing less protected.
        """
        block = format_piece(piece, self._fence)
        space = self._page.space_for(piece)
        within = self._within_phase(space, _space_of(piece))
        if within.holds(block):
            self._put(piece, block)
            return None
        why: OmissionReason = "section" if space.holds(block) else "budget"
        if piece.section in LINE_SECTIONS:
            if len(block.text) <= _MAX_FACT_LINE:
                self._full = (_protection(piece) + 1, why)
            return self._no_space(piece, why)
        self._full = (_protection(piece), why)
        beginning = within.beginning_of(block)
        if beginning is None:
            return self._no_space(piece, why)
        self._put(piece, beginning)
        return None

    def _no_space(self, piece: Piece, why: OmissionReason) -> OmittedPiece:
        message = (
            f"this phase recalls at most {self._limits.recalled_chars} characters"
            if why == "section"
            else f"no room was left for its {len(piece.text)} characters"
        )
        return OmittedPiece(piece.section, piece.source, why, message)

    def _within_phase(self, space: RemainingSpace, section: ContextSection) -> RemainingSpace:
        """The space that the phase leaves for what is recalled; all of it for any other section."""
        if section not in _RECALLED or not self._limits.recalled_chars:
            return space
        return replace(space, chars=min(space.chars, self._limits.recalled_chars - self._recalled_chars))

    def _put(self, piece: Piece, block: ContextBlock) -> None:
        self._page.put(piece, block)
        self._duplicates.add(piece, block.text, is_cut=block.is_cut)
        if _space_of(piece) in _RECALLED:
            self._recalled_chars += len(str(block)) + 1


class Duplicates:
    """The pieces of a context so far, by key, fact, text and note, to recognise what would repeat one of them."""

    def __init__(self) -> None:
        self._by_key: dict[str, Piece] = {}
        self._by_fact: dict[str, Piece] = {}
        self._by_text: dict[str, Piece] = {}
        self._whole_notes: dict[str, Piece] = {}
        self._parts: defaultdict[str, list[tuple[str, Piece]]] = defaultdict(list)

    def add(self, piece: Piece, shown: str, *, is_cut: bool) -> None:
        """Add a piece; of a truncated one, only the text shown."""
        text = _folded(shown if is_cut else piece.text)
        self._by_key.setdefault(piece.key, piece)
        if piece.fact:
            self._by_fact.setdefault(piece.fact, piece)
        if text and not is_cut:
            self._by_text.setdefault(text, piece)
        if piece.document:
            self._parts[piece.document].append((text, piece))
            if not is_cut and _is_whole(piece):
                self._whole_notes.setdefault(piece.document, piece)

    def find(self, piece: Piece) -> OmittedPiece | None:
        """Why the piece would be a repetition; None if it says something new."""
        text = _folded(piece.text)
        if origin := self._container(piece, text):
            return OmittedPiece(piece.section, piece.source, "known", f"already included, from {origin.source}")
        if same := self._by_text.get(text):
            return OmittedPiece(piece.section, piece.source, "doubled", f"{same.source} says the same")
        return None

    def _container(self, piece: Piece, text: str) -> Piece | None:
        same = self._by_key.get(piece.key)
        if same and not _adds_to(same, piece):
            return same
        fact = self._by_fact.get(piece.fact)
        if fact and fact.section != piece.section and not _adds_to(fact, piece):
            return fact  # within one section a long entry may come in several parts
        # A fact may be worded differently, or come from the properties of a note, which its text does not show.
        if piece.section not in LINE_SECTIONS and piece.document in self._whole_notes:
            return self._whole_notes[piece.document]
        return next((part for shown, part in self._parts.get(piece.document, ()) if text and text in shown), None)


def _adds_to(fact: Piece, piece: Piece) -> bool:
    """True if an entry says more than the line that stands for it among the facts."""
    new = {*_folded(piece.text).split()} - {*_folded(fact.text).split()}
    return fact.section in LINE_SECTIONS and len(new) > _FEW_WORDS


def _is_whole(piece: Piece) -> bool:
    """True for a whole note or entry, as opposed to a fact in it or a passage of it."""
    return piece.section not in (*LINE_SECTIONS, "recalled") and not piece.key.startswith(f"{piece.document}#")


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())
