"""What a process holds in memory of an index: its segments, memory-mapped, and the chunks newer than those.

A snapshot belongs to one state of the index. A chunk never changes under its number, so the snapshot of the next state
takes over what the last one has read: `memory_changes` says which documents changed in between.
"""

import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import apsw
import numpy as np
import numpy.typing as npt

from commonplace.errors import IndexDamaged
from commonplace.index.base import ChunkAttributes, FactQuery, VectorCache
from commonplace.index.segments.quantize import quantize, stored_bytes
from commonplace.index.segments.segment import ChunkSelection, Segment, SegmentBuilder, change_selection, select_in
from commonplace.index.segments.segment_file import BadSegment, SegmentFile, is_bad_segment, open_segment
from commonplace.index.tables.documents import split_hashes
from commonplace.model import FactRecord, Filters

_STATE: Final = (
    "SELECT identity, generation, (SELECT coalesce(max(last), 0) FROM memory_segments),"
    " (SELECT coalesce(max(number), 0) FROM memory_chunks) FROM memory_state"
)
_FILES: Final = "SELECT first, last, chunks, name, size, mtime FROM memory_segments ORDER BY first"
_CHUNKS: Final = """
SELECT number, length, voice = 'assistant', words FROM memory_chunks JOIN memory_words USING (number)
WHERE number BETWEEN ? AND ? ORDER BY number
"""
_VECTORS: Final = """
SELECT number, embedding_version, parts, sentences, hashes, scales, vectors
FROM memory_vectors LEFT JOIN memory_new_vectors USING (number) WHERE number BETWEEN ? AND ? ORDER BY number
"""
_CHANGES: Final = "SELECT first, max(chunks) FROM memory_changes WHERE generation > ? GROUP BY first"
KEPT_GENERATIONS: Final = 1000
"""For how many generations `memory_changes` says what changed."""
_MAX_RECENT: Final = 2  # segments in memory of chunks newer than the files: every search goes through each of them
_SMALL: Final = 64  # chunks of the last one up to which it is read again with what is new, in less than a millisecond
_MAX_SELECTIONS: Final = 32  # filters whose selections are cached
_MAX_ATTRIBUTES: Final = 65_536  # cached chunk attributes, about 25 MB


@dataclass(frozen=True, slots=True)
class IndexState:
    """Which index this is, its change count, the last number that segment files cover, and the last number in use."""

    identity: str
    generation: int
    covered: int
    last: int


@dataclass(frozen=True, slots=True, eq=False)
class Snapshot:
    """One state of the index in memory, and a cache of what queries have read of it.

    `stored` are the segments in `files`, `recent` those in memory only. `selections` holds the chunks that pass
    filters (None: every searchable chunk), `passing` how many documents pass them, `dims` the vector length of each
    version. `earlier` are the selections of earlier states, each with its generation; they need to be brought up to
    date.
    """

    state: IndexState
    files: tuple[SegmentFile, ...]
    stored: tuple[Segment, ...]
    recent: tuple[Segment, ...]
    selections: dict[Filters | None, ChunkSelection] = field(default_factory=dict)
    earlier: dict[Filters | None, tuple[int, ChunkSelection]] = field(default_factory=dict)
    versions: dict[str, int] = field(default_factory=dict)
    dims: dict[str, int] = field(default_factory=dict)
    speakers: dict[bool, frozenset[str]] = field(default_factory=dict)
    attributes: dict[int, ChunkAttributes] = field(default_factory=dict)
    facts: dict[FactQuery, tuple[FactRecord, ...]] = field(default_factory=dict)
    passing: dict[Filters, int] = field(default_factory=dict)

    @property
    def segments(self) -> tuple[Segment, ...]:
        """All segments, in the order of the chunks' numbers."""
        return self.stored + self.recent

    def cache_attributes(self, attributes: Mapping[int, ChunkAttributes]) -> None:
        """Cache these attributes; drops all others if there are too many."""
        if len(self.attributes) > _MAX_ATTRIBUTES:
            self.attributes.clear()
        self.attributes.update(attributes)

    def cache_selection(self, filters: Filters | None, selection: ChunkSelection) -> ChunkSelection:
        """Cache and return the selection; drops the oldest if there are too many."""
        for oldest in [*self.selections][: max(0, len(self.selections) - _MAX_SELECTIONS + 1)]:
            self.selections.pop(oldest, None)
        self.selections[filters] = selection
        return selection

    def known_selections(self) -> dict[Filters | None, tuple[int, ChunkSelection]]:
        """The selections of this state and of earlier ones, each with its generation, the last used at the end."""
        current = {key: (self.state.generation, each) for key, each in [*self.selections.items()]}
        return {key: each for key, each in self.earlier.items() if key not in current} | current

    def similar_selection(self, filters: Filters | None) -> tuple[Filters | None, int, ChunkSelection] | None:
        """A selection for these filters of an earlier state or at another moment, with its generation; None if none.

        Filters by entities are left out: what passes them depends on the links of other documents.
        """
        if filters is not None and filters.entities:
            return None
        known = self.known_selections()
        if filters in known:
            return (filters, *known[filters])
        others = ((key, *known[key]) for key in reversed(known) if _is_same_at_another_moment(key, filters))
        return next(others, None)

    def succeed(self, previous: "Snapshot", connection: apsw.Connection) -> None:
        """Take over what queries have read of a previous state, except of the documents that changed since."""
        changed = changes_since(connection, previous.state.generation, self.state)
        if changed is None:
            return
        self.attributes.update(previous.attributes)
        for first, count in changed.tolist():
            for number in range(first, first + count):
                self.attributes.pop(number, None)
        for key, (generation, each) in [*previous.known_selections().items()][-_MAX_SELECTIONS:]:
            if key is None or not key.entities:
                moved = self._moved(each, generation, previous, connection)
                self.earlier.update({key: (generation, moved)} if moved else {})

    def _moved(
        self, selection: ChunkSelection, generation: int, previous: "Snapshot", connection: apsw.Connection
    ) -> ChunkSelection | None:
        """The selection in the segments of this snapshot; None if it is too old.

        A segment that is no longer there may have had chunks of documents that were deleted since: these go first.
        """
        if not {*map(id, previous.segments)} <= {*map(id, self.segments)}:
            changed = changes_since(connection, generation, self.state)
            if changed is None:
                return None
            none = np.empty((0, 2), np.int64)
            selection = change_selection(selection, previous.segments, changed=changed, passing=none)
        return select_in(self.segments, selection, before=previous.segments)


class SnapshotCache:
    """The newest snapshot of one index file, shared by the threads of this process.

    `damaged` are the names of segment files that were found to be damaged: what they hold is read from the rows.
    """

    def __init__(self, cache: VectorCache | None) -> None:
        self.damaged = set[str]()
        self._cache = cache
        self._lock = threading.Lock()
        self._newest: Snapshot | None = None

    def at(self, connection: apsw.Connection) -> Snapshot | None:
        """The snapshot that the connection sees; None if a segment file was replaced meanwhile: try again."""
        state = _state(connection)
        newest = self._newest
        if newest and newest.state == state:
            return newest
        with self._lock:
            snapshot = self._load(connection, state, after=self._newest)
            if snapshot and not (self._newest and _is_older(state, self._newest.state)):
                self._newest = snapshot
            return snapshot

    def from_rows(self, connection: apsw.Connection) -> Snapshot:
        """The snapshot that the connection sees, with the content of missing files read from the rows."""
        state, files = _state(connection), segment_files(connection)
        stored = []
        for each in files:
            try:
                stored.append(self._open(connection, each))
            except FileNotFoundError:
                stored.append(read_segment(connection, each.first, each.last, self._cache))
        self._newest = Snapshot(state, files, tuple(stored), self._extended(connection, (), state))
        return self._newest

    def without_damaged(self, connection: apsw.Connection, snapshot: Snapshot) -> Snapshot | None:
        """The snapshot with damaged segment files read from the rows instead; None if every file is as it was written.

        Reads all files. Raises IndexDamaged if the vectors of one are not in the cache either.
        """
        folder = open_segment_folder(connection)
        damaged = {each.name for each in snapshot.files if is_bad_segment(folder, each, check=True)}
        if not damaged:
            return None
        self.damaged |= damaged
        stored = tuple(
            self._open(connection, each) if each.name in damaged else segment
            for each, segment in zip(snapshot.files, snapshot.stored, strict=True)
        )
        self._newest = Snapshot(snapshot.state, snapshot.files, stored, snapshot.recent)
        return self._newest

    def clear(self) -> None:
        """Drop the snapshot, and with it what is mapped."""
        self._newest = None

    def _load(self, connection: apsw.Connection, state: IndexState, *, after: Snapshot | None) -> Snapshot | None:
        previous = after if after and after.state.identity == state.identity else None
        files = segment_files(connection)
        opened = (
            {each.name: segment for each, segment in zip(previous.files, previous.stored, strict=True)}
            if previous
            else {}
        )
        try:
            stored = tuple(opened.get(each.name) or self._open(connection, each) for each in files)
        except FileNotFoundError:
            return None
        recent = previous.recent if previous and previous.state.covered == state.covered else ()
        snapshot = Snapshot(state, files, stored, self._extended(connection, recent, state))
        if previous and previous.state.generation <= state.generation:
            snapshot.succeed(previous, connection)
        return snapshot

    def _open(self, connection: apsw.Connection, listed: SegmentFile) -> Segment:
        if listed.name not in self.damaged:
            with suppress(BadSegment):
                return open_segment(open_segment_folder(connection), listed)
            self.damaged.add(listed.name)
        # slower, and never wrong; `optimize` writes the file again
        return read_segment(connection, listed.first, listed.last, self._cache)

    def _extended(
        self, connection: apsw.Connection, recent: tuple[Segment, ...], state: IndexState
    ) -> tuple[Segment, ...]:
        """The recent segments, extended to the last chunk."""
        upto = recent[-1].last if recent else state.covered
        if upto >= state.last:
            return recent
        if recent and len(recent[-1].numbers) < _SMALL:
            recent, upto = recent[:-1], recent[-1].first - 1
        elif len(recent) == _MAX_RECENT:
            recent, upto = (), state.covered
        return (*recent, read_segment(connection, upto + 1, state.last, self._cache))


def segment_folder(file: Path) -> Path:
    """The folder of an index file's segments, next to it."""
    return file.with_name(f"{file.name}.segments")


def open_segment_folder(connection: apsw.Connection) -> Path:
    """The segment folder of the file that is open, which after a rebuild is not the one its name points to."""
    return segment_folder(Path(connection.filename))


def segment_files(connection: apsw.Connection) -> tuple[SegmentFile, ...]:
    """The current segment files."""
    return tuple(SegmentFile(*row) for row in connection.execute(_FILES))


def changes_since(connection: apsw.Connection, generation: int, state: IndexState) -> npt.NDArray[np.int64] | None:
    """The first chunk and the number of chunks of each document that changed after that generation.

    None if it is too long ago.
    """
    if generation < state.generation - KEPT_GENERATIONS:
        return None
    rows: list[Any] = connection.execute(_CHANGES, (generation,)).fetchall()
    return np.array(rows, np.int64).reshape(-1, 2)


def read_segment(connection: apsw.Connection, first: int, last: int, cache: VectorCache | None) -> Segment:
    """The segment of these numbers, built from the rows; vectors that are in files already come from the files.

    Those of a bad or missing file come from the cache. Raises IndexDamaged if they are not there either.
    """
    builder = SegmentBuilder()
    for number, length, is_reply, words in connection.execute(_CHUNKS, (first, last)):
        builder.add_chunk(number, length, is_reply=bool(is_reply), words=words)
    files = _good_segments(connection, first, last)
    for number, version, parts, sentences, hashes, *new in connection.execute(_VECTORS, (first, last)):
        stored = next((found for each in files if (found := each.vectors_of(number, version))), None)
        scales, rows = new if new[0] is not None else stored or _cached(cache, version, hashes, parts=parts)
        builder.add_vectors(number, version, (parts, sentences), scales=scales, rows=rows)
    return builder.build(first, last)


def _good_segments(connection: apsw.Connection, first: int, last: int) -> list[Segment]:
    """The segments in files that hold some of these numbers; bad and missing files are left out.

    What is copied from them is checked first, so that damage does not spread.
    """
    good = []
    for each in segment_files(connection):
        if each.first <= last and each.last >= first:
            with suppress(BadSegment, FileNotFoundError):
                good.append(open_segment(open_segment_folder(connection), each, check=True))
    return good


def _cached(cache: VectorCache | None, version: str, hashes: bytes, *, parts: int) -> tuple[bytes, bytes]:
    """The scales and rows of the texts with these hashes, parts first. Raises IndexDamaged if the cache lacks one."""
    keys = split_hashes(hashes)
    found = cache.get(version, keys) if cache else {}
    if any(key not in found for key in keys):
        raise IndexDamaged(
            "a segment of the index is damaged, and the cache does not have its vectors",
            hint="Run `commonplace rebuild`.",
        )
    return stored_bytes(quantize(np.array([found[key] for key in keys])), parts=parts)


def _state(connection: apsw.Connection) -> IndexState:
    ((identity, generation, covered, last),) = connection.execute(_STATE)
    return IndexState(identity, generation, covered, last)


def _is_same_at_another_moment(one: Filters | None, other: Filters | None) -> bool:
    """True if the filters differ in their moment alone, and both have one."""
    if one is None or other is None or not one.at or not other.at:
        return False
    return replace(one, at=other.at) == other


def _is_older(one: IndexState, other: IndexState) -> bool:
    return one.identity == other.identity and one.generation < other.generation
