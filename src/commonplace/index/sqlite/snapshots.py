"""What a process holds in memory of an index: its segments, memory-mapped, and the chunks newer than those.

A snapshot belongs to one state of the index. A chunk never changes under its number, so the snapshot of the next state
takes over what the last one has read.
"""

import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import apsw
import numpy as np

from commonplace.errors import IndexDamaged
from commonplace.index.base import ChunkAttributes, VectorCache
from commonplace.index.segments.quantize import quantize
from commonplace.index.segments.segment import ChunkSelection, Segment, SegmentBuilder
from commonplace.index.segments.segment_file import BadSegment, SegmentFile, open_segment
from commonplace.index.sqlite.documents import split_hashes
from commonplace.model import Filters

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
_MAX_RECENT: Final = 8  # segments in memory of chunks newer than the files; more are read again as one
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
    filters (None: every searchable chunk), `dims` the vector length of each version.
    """

    state: IndexState
    files: tuple[SegmentFile, ...]
    stored: tuple[Segment, ...]
    recent: tuple[Segment, ...]
    selections: dict[Filters | None, ChunkSelection] = field(default_factory=dict)
    versions: dict[str, int] = field(default_factory=dict)
    dims: dict[str, int] = field(default_factory=dict)
    speakers: dict[bool, frozenset[str]] = field(default_factory=dict)
    attributes: dict[int, ChunkAttributes] = field(default_factory=dict)

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


class SnapshotCache:
    """The newest snapshot of one index file, shared by the threads of this process."""

    def __init__(self, cache: VectorCache | None) -> None:
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
        return Snapshot(state, files, stored, self._extended(connection, recent, state))

    def _open(self, connection: apsw.Connection, listed: SegmentFile) -> Segment:
        try:
            return open_segment(open_segment_folder(connection), listed)
        except BadSegment:  # slower, and never wrong; `optimize` writes the file again
            return read_segment(connection, listed.first, listed.last, self._cache)

    def _extended(
        self, connection: apsw.Connection, recent: tuple[Segment, ...], state: IndexState
    ) -> tuple[Segment, ...]:
        """The recent segments, extended to the last chunk."""
        upto = recent[-1].last if recent else state.covered
        if upto >= state.last:
            return recent
        if len(recent) < _MAX_RECENT:
            return (*recent, read_segment(connection, upto + 1, state.last, self._cache))
        return (read_segment(connection, state.covered + 1, state.last, self._cache),)


def segment_folder(file: Path) -> Path:
    """The folder of an index file's segments, next to it."""
    return file.with_name(f"{file.name}.segments")


def open_segment_folder(connection: apsw.Connection) -> Path:
    """The segment folder of the file that is open, which after a rebuild is not the one its name points to."""
    return segment_folder(Path(connection.filename))


def segment_files(connection: apsw.Connection) -> tuple[SegmentFile, ...]:
    """The current segment files."""
    return tuple(SegmentFile(*row) for row in connection.execute(_FILES))


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
        scales, rows = new if new[0] is not None else stored or _cached(cache, version, hashes)
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


def _cached(cache: VectorCache | None, version: str, hashes: bytes) -> tuple[bytes, bytes]:
    """The scales and rows of the texts with these hashes. Raises IndexDamaged if the cache lacks one."""
    keys = split_hashes(hashes)
    found = cache.get(version, keys) if cache else {}
    if any(key not in found for key in keys):
        raise IndexDamaged(
            "a segment of the index is damaged, and the cache does not have its vectors",
            hint="Run `commonplace rebuild`.",
        )
    vectors = quantize(np.array([found[key] for key in keys]))
    return vectors.scales.astype("<f4").tobytes(), vectors.rows.tobytes()


def _state(connection: apsw.Connection) -> IndexState:
    ((identity, generation, covered, last),) = connection.execute(_STATE)
    return IndexState(identity, generation, covered, last)


def _is_older(one: IndexState, other: IndexState) -> bool:
    return one.identity == other.identity and one.generation < other.generation
