"""What a process keeps in memory of an index: its segments, mapped, and the chunks that are newer than those.

A view belongs to one state of the index. A chunk never changes under its number, so the next state's view takes over
whatever the last one had read already.
"""

import threading
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import apsw
import numpy as np

from commonplace.index.sqlite.filters import Live
from commonplace.index.sqlite.segment import Chunks, Segment, Vectors, build_segment, shrink
from commonplace.index.sqlite.segment_file import BadSegment, Named, open_segment
from commonplace.index.sqlite.swap import segment_folder
from commonplace.index.sqlite.words import ENTRY
from commonplace.model import Filters

_STATE: Final = (
    "SELECT identity, generation, (SELECT coalesce(max(last), 0) FROM memory_segments),"
    " (SELECT coalesce(max(number), 0) FROM memory_chunks) FROM memory_state"
)
_NAMED: Final = "SELECT first, last, chunks, name, size, mtime FROM memory_segments ORDER BY first"
_WORDS: Final = "SELECT number, length, words FROM memory_chunks WHERE number BETWEEN ? AND ? ORDER BY number"
_VECTORS: Final = (
    "SELECT number, parts, embedding_version, vectors FROM memory_vectors WHERE number BETWEEN ? AND ? ORDER BY number"
)
_AT_ONCE: Final = 2048  # chunks whose vectors are made small together
_PIECES: Final = 8  # of what is newer than the segments; more are read anew as one
_MASKS: Final = 32  # filters whose masks are kept


@dataclass(frozen=True, slots=True)
class State:
    """Which index this is, how many changes it has seen, up to which number segments reach, and the last number."""

    identity: str
    generation: int
    covered: int
    last: int


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """One state of the index in memory, and what was asked of it before: the masks of filters, the versions."""

    state: State
    named: tuple[Named, ...]
    settled: tuple[Segment, ...]
    recent: tuple[Segment, ...]
    live: dict[Filters | None, Live] = field(default_factory=dict)
    versions: dict[str, int] = field(default_factory=dict)

    @property
    def segments(self) -> tuple[Segment, ...]:
        """All of it, in the order of the chunks' numbers."""
        return self.settled + self.recent

    def keep_live(self, filters: Filters | None, live: Live) -> Live:
        """Remember what passes the filters, and forget the oldest when there are many."""
        for oldest in [*self.live][: max(0, len(self.live) - _MASKS + 1)]:
            self.live.pop(oldest, None)
        self.live[filters] = live
        return live


class Views:
    """The newest view of one index file, shared by the threads of this process."""

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._newest: View | None = None

    def at(self, connection: apsw.Connection) -> View | None:
        """The index as this connection sees it; None when a segment was put elsewhere since: look again."""
        state = _state(connection)
        newest = self._newest
        if newest and newest.state == state:
            return newest
        with self._turn:
            view = self._made(connection, state, after=self._newest)
            if view and not (self._newest and _is_older(state, self._newest.state)):
                self._newest = view
            return view

    def forget(self) -> None:
        """Let go of what is mapped."""
        self._newest = None

    def _made(self, connection: apsw.Connection, state: State, *, after: View | None) -> View | None:
        known = after if after and after.state.identity == state.identity else None
        named = named_segments(connection)
        opened = {each.name: segment for each, segment in zip(known.named, known.settled, strict=True)} if known else {}
        try:
            settled = tuple(opened.get(each.name) or self._open(connection, each) for each in named)
        except FileNotFoundError:
            return None
        recent = known.recent if known and known.state.covered == state.covered else ()
        return View(state, named, settled, _extended(connection, recent, state))

    def _open(self, connection: apsw.Connection, named: Named) -> Segment:
        try:
            return open_segment(folder_of(connection), named)
        except BadSegment:  # the rows are the record: slower, and never wrong; `settle` writes the file anew
            return read_segment(connection, named.first, named.last)

    def from_rows(self, connection: apsw.Connection) -> View:
        """The index as this connection sees it, though files are missing: what they held is read from the rows."""
        state, named = _state(connection), named_segments(connection)
        settled = []
        for each in named:
            try:
                settled.append(self._open(connection, each))
            except FileNotFoundError:
                settled.append(read_segment(connection, each.first, each.last))
        self._newest = View(state, named, tuple(settled), _extended(connection, (), state))
        return self._newest


def folder_of(connection: apsw.Connection) -> Path:
    """The folder of the segments of the file that is open, which is not where its name points after a rebuild."""
    return segment_folder(Path(connection.filename))


def named_segments(connection: apsw.Connection) -> tuple[Named, ...]:
    """The segment files that count."""
    return tuple(Named(*row) for row in connection.execute(_NAMED))


def read_segment(connection: apsw.Connection, first: int, last: int) -> Segment:
    """The segment of these numbers, made from the rows."""
    chunks = _chunks(connection, first, last)
    vectors: dict[str, list[Vectors]] = {}
    for version, owners, fixed in _batches(connection, first, last):
        vectors.setdefault(version, []).append(shrink(fixed, np.searchsorted(chunks.numbers, owners)))
    return build_segment(first, last, chunks=chunks, vectors=vectors)


def _chunks(connection: apsw.Connection, first: int, last: int) -> Chunks:
    numbers, lengths, entries, together = array("q"), array("i"), array("i"), bytearray()
    for number, length, words in connection.execute(_WORDS, (first, last)):
        numbers.append(number)
        lengths.append(length)
        entries.append(len(words) // ENTRY.itemsize)
        together += words
    return Chunks(
        numbers=np.array(numbers, np.int64),
        lengths=np.array(lengths, np.int32),
        entries=np.array(entries, np.int32),
        words=together,
    )


def _batches(connection: apsw.Connection, first: int, last: int) -> Iterator[tuple[str, list[int], np.ndarray]]:
    """The vectors of the chunks, some thousand at a time, each batch of one version."""
    for start in range(first, last + 1, _AT_ONCE):
        owners: dict[str, list[int]] = {}
        blobs: dict[str, list[bytes]] = {}
        for number, parts, version, blob in connection.execute(_VECTORS, (start, min(start + _AT_ONCE - 1, last))):
            owners.setdefault(version, []).extend([number] * parts)
            blobs.setdefault(version, []).append(blob)
        for version, held in owners.items():
            yield version, held, np.frombuffer(b"".join(blobs[version]), "<i2").reshape(len(held), -1)


def _extended(connection: apsw.Connection, recent: tuple[Segment, ...], state: State) -> tuple[Segment, ...]:
    """The recent chunks up to the last one."""
    upto = recent[-1].last if recent else state.covered
    if upto >= state.last:
        return recent
    if len(recent) < _PIECES:
        return (*recent, read_segment(connection, upto + 1, state.last))
    return (read_segment(connection, state.covered + 1, state.last),)


def _state(connection: apsw.Connection) -> State:
    ((identity, generation, covered, last),) = connection.execute(_STATE)
    return State(identity, generation, covered, last)


def _is_older(one: State, other: State) -> bool:
    return one.identity == other.identity and one.generation < other.generation
