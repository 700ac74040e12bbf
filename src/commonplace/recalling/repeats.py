"""Pieces that say again what stands before the prompt already."""

from collections import defaultdict
from typing import Final

from commonplace.model import LeftOut, Piece

_FEW: Final = 3  # words by which the wording of a fact may differ from that of its entry


class Repeats:
    """What stands there: by its names, by its words, and by the note it is from."""

    def __init__(self) -> None:
        self._keys: dict[str, Piece] = {}
        self._facts: dict[str, Piece] = {}
        self._said: dict[str, Piece] = {}
        self._whole: dict[str, Piece] = {}
        self._parts: defaultdict[str, list[tuple[str, Piece]]] = defaultdict(list)

    def add(self, piece: Piece, shown: str, *, is_cut: bool) -> None:
        """Counts a piece among what stands there; of one that is cut, what is shown."""
        said = _folded(shown if is_cut else piece.text)
        self._keys.setdefault(piece.key, piece)
        if piece.fact:
            self._facts.setdefault(piece.fact, piece)
        if said and not is_cut:
            self._said.setdefault(said, piece)
        if piece.document:
            self._parts[piece.document].append((said, piece))
            if not is_cut and _is_whole(piece):
                self._whole.setdefault(piece.document, piece)

    def of(self, piece: Piece) -> LeftOut | None:
        """Why a piece need not stand there again; None when it says something new."""
        said = _folded(piece.text)
        if known := self._known(piece, said):
            return LeftOut(piece.section, piece.source, "known", f"it stands there already, from {known.source}")
        if same := self._said.get(said):
            return LeftOut(piece.section, piece.source, "doubled", f"{same.source} says the same")
        return None

    def _known(self, piece: Piece, said: str) -> Piece | None:
        if piece.key in self._keys:
            return self._keys[piece.key]
        fact = self._facts.get(piece.fact)
        if fact and fact.section != piece.section and not _adds_to(fact, piece):
            return fact  # in one section a long entry may stand in several parts
        # A fact may be worded anew, or come from the properties of a note, which its text does not show.
        if piece.section != "facts" and piece.document in self._whole:
            return self._whole[piece.document]
        return next((part for text, part in self._parts.get(piece.document, ()) if said and said in text), None)


def _adds_to(fact: Piece, piece: Piece) -> bool:
    """Whether an entry says more than the line that stands for it among the facts."""
    new = {*_folded(piece.text).split()} - {*_folded(fact.text).split()}
    return fact.section == "facts" and len(new) > _FEW


def _is_whole(piece: Piece) -> bool:
    """Whether it is a whole note or entry: not a fact in it, and not a passage of it."""
    return piece.section not in ("facts", "recalled") and not piece.key.startswith(f"{piece.document}#")


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())
