"""A text in sentences: what each says is compared with a question on its own."""

import re
from collections.abc import Iterator
from itertools import chain
from typing import Final

MOST: Final = 24
"""Sentences of one text, at most; what comes behind them counts with the text as a whole."""

_SHORTEST: Final = 25  # characters: a shorter one says too little alone, and goes with its neighbour
_LONGEST: Final = 1000  # characters of a sentence that an encoder reads; more is no sentence
_MARKS = r"""["'”’)\]*_]"""
_BORDER = re.compile(rf"(?<=[.!?…]){_MARKS}*+\s++|(?<=[。！？]){_MARKS}*+\s*+|\n\s*+")
_SPACE = re.compile(r"\s++")
_BULLET = re.compile(r"(?:[-*+>]|#{1,6}|\d{1,3}[.)])[ \t]++")
_EMPHASIS = re.compile(r"\*\*|__|`")


def sentences_of(text: str) -> tuple[str, ...]:
    """The sentences in order, without bullets and emphasis; a short one is one with its neighbour."""
    merged: list[str] = []
    pending = ""
    for piece in _pieces(text):
        pending = f"{pending} {piece}" if pending else piece
        if len(pending) >= _SHORTEST:
            merged.append(pending)
            pending = ""
        if len(merged) == MOST:
            return tuple(merged)
    if pending and merged:
        merged[-1] = f"{merged[-1]} {pending}"
    return tuple(merged) or ((pending,) if pending else ())


def closing_of(text: str, *, most: int = 200) -> str:
    """The last sentences of the text in one line, as many as fit into so many characters.

    Of a last sentence that is longer, its end from the beginning of a word.
    """
    whole = text.strip()
    tail = whole[-most - 1 :]
    start = 0
    if len(whole) > most:
        borders = (border.end() for border in (*_BORDER.finditer(tail), *_SPACE.finditer(tail)))
        start = next((end for end in borders if end < len(tail)), 1)
    return " ".join(tail[start:].split())


def _pieces(text: str) -> Iterator[str]:
    """What stands between two borders, as a reader sees it."""
    start = 0
    for end in chain((border.end() for border in _BORDER.finditer(text)), (len(text),)):
        if piece := _plain(text[start:end]):
            yield piece
        start = end


def _plain(piece: str) -> str:
    piece = piece.strip()[:_LONGEST]
    bullet = _BULLET.match(piece)
    return _EMPHASIS.sub("", piece[bullet.end() :] if bullet else piece).strip()
