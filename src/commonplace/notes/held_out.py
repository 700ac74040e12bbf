"""A note without some of its text, to see whether it is found all the same; all else stays as it is."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

from commonplace.errors import Refused
from commonplace.model import Link, Note
from commonplace.notes.edit import remove_key, set_key
from commonplace.notes.lines import Lines
from commonplace.notes.names import key_of
from commonplace.notes.parse import parse

_KEYS: Final = ("aliases", "alias")
_COMMA = re.compile(r"\s*,\s*")


@dataclass(frozen=True, slots=True)
class Cut:
    """A piece of the note at `path`, from `start` to `end` of its text, and what is to stand `instead`.

    Line feeds stay, so that all below keeps its line.
    """

    path: str
    start: int
    end: int
    instead: str = ""


@dataclass(frozen=True, slots=True)
class Unnaming:
    """A name that is taken from the aliases of the note at `path`."""

    path: str
    alias: str


Taking = Cut | Unnaming


def held_out(note: Note, takings: Sequence[Taking]) -> Note | None:
    """The note without these pieces and names; None where more than they would change.

    A note with a Problem is left alone: what stands where in it is not certain.
    """
    cuts = sorted((each for each in takings if isinstance(each, Cut)), key=lambda cut: (cut.start, cut.end))
    if note.problems or any(one.end > other.start for one, other in pairwise(cuts)):
        return None
    raw = _without(note.text, cuts).encode()
    try:
        raw = _unnamed(raw, note, {key_of(each.alias) for each in takings if isinstance(each, Unnaming)})
    except Refused:  # the block is written in a way that cannot be changed line by line
        return None
    again = parse(raw, path=note.path, mtime=note.mtime)
    return again if _is_sound(note, again, cuts) else None


def _without(text: str, cuts: Iterable[Cut]) -> str:
    pieces: list[str] = []
    done = 0
    for cut in cuts:
        pieces += (text[done : cut.start], cut.instead, "\n" * text.count("\n", cut.start, cut.end))
        done = cut.end
    return "".join((*pieces, text[done:]))


def _unnamed(raw: bytes, note: Note, names: set[str]) -> bytes:
    """The note without these aliases, in whatever case they are written. Raises Refused."""
    for key in _KEYS:
        value = note.frontmatter.get(key)
        entries = _COMMA.split(value) if isinstance(value, str) else value if isinstance(value, list) else []
        left = [entry for entry in entries if not (isinstance(entry, str) and key_of(entry.strip()) in names)]
        if len(left) == len(entries):
            continue
        kept: Any = ", ".join(map(str, left)) if isinstance(value, str) else left
        raw = set_key(raw, key, kept, path=note.path) if left else remove_key(raw, key, path=note.path)
    return raw


def _is_sound(note: Note, again: Note, cuts: Sequence[Cut]) -> bool:
    """Whether the note says all that it said but for the cuts: its headings, its links, its own keys."""
    lines = Lines(note.text)
    headings = [each for each in note.headings if not _is_cut(lines.start(each.line), lines.start(each.line) + 1, cuts)]
    links = [link for link in note.links if not _is_cut(link.start, link.end, cuts)]
    return (
        not again.problems
        and [(each.text, each.level) for each in again.headings] == [(each.text, each.level) for each in headings]
        and list(map(_leads, again.links)) == list(map(_leads, links))
        and set(again.tags) <= set(note.tags)
        and _own_keys(again) == _own_keys(note)
    )


def _is_cut(start: int, end: int, cuts: Sequence[Cut]) -> bool:
    """Whether one of the cuts, which are in order, takes all of it."""
    before = bisect_right(cuts, start, key=lambda cut: cut.start) - 1
    return before >= 0 and end <= cuts[before].end


def _leads(link: Link) -> tuple[str | None, ...]:
    return link.target, link.heading, link.block, link.form, link.where


def _own_keys(note: Note) -> dict[str, Any]:
    return {key: value for key, value in note.frontmatter.items() if key not in _KEYS}
