"""Sample probes for an evaluation, and hold their text out of the notes.

A sample has as many probes as requested, spread over kinds and notes, and is the same for the same vault and seed.
"""

import hashlib
import json
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Final

from commonplace.errors import Refused
from commonplace.model import PROBE_KINDS, Link, Note, ProbeKind
from commonplace.model.text import lower_name
from commonplace.notes.frontmatter_edit import remove_key, set_key
from commonplace.notes.note_text import LineIndex
from commonplace.notes.parse import parse

_ALIAS_KEYS: Final = ("aliases", "alias")
_COMMA = re.compile(r"\s*,\s*")


@dataclass(frozen=True, slots=True)
class TextRemoval:
    """Text to remove from the note at `path`, from `start` to `end`, and the text to put there `instead`.

    Line feeds stay, so that everything below keeps its line number.
    """

    path: str
    start: int
    end: int
    instead: str = ""


@dataclass(frozen=True, slots=True)
class AliasRemoval:
    """An alias to remove from the note at `path`."""

    path: str
    alias: str


Removal = TextRemoval | AliasRemoval


@dataclass(frozen=True, slots=True)
class Probe:
    """A question, the path of the note that answers it, and what must be held out to make it a fair test."""

    kind: ProbeKind
    question: str
    path: str
    removals: tuple[Removal, ...]


@dataclass(slots=True)
class ProbeSample:
    """The probes chosen so far, and the notes without their text (`without`), by path.

    `is_large` decides whether enough of a note is left for it to be found at all.
    """

    notes: Mapping[str, Note]
    is_large: Callable[[Note], bool]
    probes: list[Probe] = field(default_factory=list)
    without: dict[str, Note] = field(default_factory=dict)
    _removals: dict[str, tuple[Removal, ...]] = field(default_factory=dict)
    _chosen: set[tuple[ProbeKind, str]] = field(default_factory=set)

    def try_add(self, probe: Probe) -> bool:
        """Add the probe if it is compatible with the others; True if it was added."""
        if (probe.kind, probe.path) in self._chosen or not self.is_large(self._current(probe.path)):
            return False
        removals = dict(self._removals)
        for removal in probe.removals:
            removals[removal.path] = (*removals.get(removal.path, ()), removal)
        without: dict[str, Note] = {}
        for path in {removal.path for removal in probe.removals}:
            note = hold_out(self.notes[path], removals[path])
            if note is None or (self._is_target(path, probe) and not self.is_large(note)):
                return False
            without[path] = note
        self.probes.append(probe)
        self._chosen.add((probe.kind, probe.path))
        self._removals = removals
        self.without.update(without)
        return True

    def _current(self, path: str) -> Note:
        return self.without.get(path, self.notes[path])

    def _is_target(self, path: str, probe: Probe) -> bool:
        return path == probe.path or any((kind, path) in self._chosen for kind in PROBE_KINDS)


def sample_probes(
    probes: Iterable[Probe], notes: Mapping[str, Note], *, count: int, seed: int, is_large: Callable[[Note], bool]
) -> ProbeSample:
    """Up to `count` of the probes, taking the kinds in turn, with at most one of a kind for each note."""
    sample = ProbeSample(notes, is_large)
    # A note may define a word twice: equal questions keep the order of their texts, however the probes come.
    shuffled = sorted(probes, key=lambda probe: (_shuffle_key(probe, seed), repr(probe.removals)))
    by_kind = [iter([probe for probe in shuffled if probe.kind == kind]) for kind in PROBE_KINDS]
    while by_kind:
        for remaining in tuple(by_kind):
            if len(sample.probes) >= count:
                return sample
            if not any(sample.try_add(probe) for probe in remaining):  # adds the next compatible one, if any
                by_kind.remove(remaining)
    return sample


def hold_out(note: Note, removals: Sequence[Removal]) -> Note | None:
    """The note without these texts and aliases; None if anything else would change.

    A note with a Problem is not changed: the offsets in it are not certain.
    """
    texts = sorted(
        (each for each in removals if isinstance(each, TextRemoval)), key=lambda each: (each.start, each.end)
    )
    if note.problems or any(one.end > other.start for one, other in pairwise(texts)):
        return None
    raw = _without_texts(note.text, texts).encode()
    try:
        raw = _without_aliases(
            raw, note, {lower_name(each.alias) for each in removals if isinstance(each, AliasRemoval)}
        )
    except Refused:  # the block is written in a way that cannot be edited line by line
        return None
    again = parse(raw, path=note.path, mtime=note.mtime)
    return again if _is_otherwise_unchanged(note, again, texts) else None


def _shuffle_key(probe: Probe, seed: int) -> str:
    """A pseudo-random sort key that is the same on every run."""
    text = json.dumps([seed, probe.kind, probe.path, probe.question])
    return hashlib.sha256(text.encode()).hexdigest()


def _without_texts(text: str, removals: Iterable[TextRemoval]) -> str:
    pieces: list[str] = []
    done = 0
    for each in removals:
        pieces += (text[done : each.start], each.instead, "\n" * text.count("\n", each.start, each.end))
        done = each.end
    return "".join((*pieces, text[done:]))


def _without_aliases(raw: bytes, note: Note, names: set[str]) -> bytes:
    """The note without these aliases, ignoring their case. Raises Refused."""
    for key in _ALIAS_KEYS:
        value = note.frontmatter.get(key)
        entries = _COMMA.split(value) if isinstance(value, str) else value if isinstance(value, list) else []
        left = [entry for entry in entries if not (isinstance(entry, str) and lower_name(entry.strip()) in names)]
        if len(left) == len(entries):
            continue
        new_value: Any = ", ".join(map(str, left)) if isinstance(value, str) else left
        raw = set_key(raw, key, new_value, path=note.path) if left else remove_key(raw, key, path=note.path)
    return raw


def _is_otherwise_unchanged(note: Note, again: Note, removals: Sequence[TextRemoval]) -> bool:
    """True if everything outside the removed text is the same: headings, links, the other keys."""
    lines = LineIndex(note.text)
    headings = [
        each for each in note.headings if not _is_removed(lines.start(each.line), lines.start(each.line) + 1, removals)
    ]
    links = [link for link in note.links if not _is_removed(link.start, link.end, removals)]
    return (
        not again.problems
        and [(each.text, each.level) for each in again.headings] == [(each.text, each.level) for each in headings]
        and list(map(_link_fields, again.links)) == list(map(_link_fields, links))
        and set(again.tags) <= set(note.tags)
        and _other_keys(again) == _other_keys(note)
    )


def _is_removed(start: int, end: int, removals: Sequence[TextRemoval]) -> bool:
    """True if one of the removals, which are in order, covers the whole range."""
    before = bisect_right(removals, start, key=lambda each: each.start) - 1
    return before >= 0 and end <= removals[before].end


def _link_fields(link: Link) -> tuple[str | None, ...]:
    return link.target, link.heading, link.block, link.form, link.where


def _other_keys(note: Note) -> dict[str, Any]:
    return {key: value for key, value in note.frontmatter.items() if key not in _ALIAS_KEYS}
