"""Segments as files, and the policy that decides which ones to write.

    magic (8 bytes) | header length (4) | header sha256 (32) | header (JSON) | arrays, each at a multiple of 64

A file is written under a temporary name, fsynced and renamed, and never changed after that.
The whole format: docs/formats/segments.md.
"""

import hashlib
import json
import mmap
import os
import zlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

import numpy as np
import numpy.typing as npt

from commonplace.index.segments.segment import PartVectors, Segment, SentenceVectors

_MAGIC: Final = b"CPSEGMT4"
_HEADER_START: Final = 44
_ALIGN: Final = 64
_SEGMENT_ARRAYS: Final = ("numbers", "lengths", "replies", "hashes", "starts", "rows", "codes", "patterns")
_PART_ARRAYS: Final = ("owners", "starts", "scales", "rows")
_SENTENCE_ARRAYS: Final = ("starts", "scales", "rows")
_BLOCK: Final = 1 << 24  # bytes


class BadSegment(Exception):
    """The file is not what was written. Never leaves the index, which then reads the rows instead."""


@dataclass(frozen=True, slots=True)
class SegmentFile:
    """A segment file as `index.db` lists it; `size` and `mtime` (in nanoseconds) show if it was changed since."""

    first: int
    last: int
    chunks: int
    name: str
    size: int
    mtime: int


def write_segment(folder: Path, segment: Segment) -> SegmentFile:
    """Write the segment to a new file in the folder, fsynced when this returns."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    name = f"{uuid4().hex}.segment"
    temporary = folder / f"{name}.new"
    try:
        with os.fdopen(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600), "w+b") as file:
            _write(file, segment)
            file.flush()
            os.fsync(file.fileno())
            written = os.fstat(file.fileno())
        temporary.rename(folder / name)
    except BaseException:
        with suppress(FileNotFoundError):
            temporary.unlink()
        raise
    _flush_folder(folder)
    return SegmentFile(
        first=segment.first,
        last=segment.last,
        chunks=len(segment.numbers),
        name=name,
        size=written.st_size,
        mtime=written.st_mtime_ns,
    )


def open_segment(folder: Path, listed: SegmentFile, *, check: bool = False) -> Segment:
    """The segment, memory-mapped: pages are read on access. Raises BadSegment or FileNotFoundError.

    The whole file is checked if its mtime is another than the listed one, or if `check` asks for it.
    """
    with (folder / listed.name).open("rb") as file:
        stat = os.fstat(file.fileno())
        if stat.st_size != listed.size:
            raise BadSegment(f"{listed.name} has {stat.st_size} bytes instead of {listed.size}")
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    header, start = _header(mapped, listed.name)
    if (check or stat.st_mtime_ns != listed.mtime) and _checksum(mapped, start) != header["checksum"]:
        raise BadSegment(f"{listed.name} was changed")
    arrays = {name: _array(mapped, start, layout) for name, layout in header["arrays"].items()}
    return _segment(header, arrays)


def _arrays(segment: Segment) -> dict[str, npt.NDArray[Any]]:
    arrays: dict[str, npt.NDArray[Any]] = {name: getattr(segment, name) for name in _SEGMENT_ARRAYS}
    for place, version in enumerate(segment.vectors):
        arrays |= {f"{place}/{name}": getattr(segment.vectors[version], name) for name in _PART_ARRAYS}
    for place, version in enumerate(segment.vectors):  # last, so that the arrays that are scanned are adjacent
        arrays |= {f"{place}/fine/{name}": getattr(segment.sentences[version], name) for name in _SENTENCE_ARRAYS}
    return arrays


def _segment(header: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> Segment:
    vectors = {
        version: PartVectors(**{name: arrays[f"{place}/{name}"] for name in _PART_ARRAYS})
        for place, version in enumerate(header["versions"])
    }
    sentences = {
        version: SentenceVectors(**{name: arrays[f"{place}/fine/{name}"] for name in _SENTENCE_ARRAYS})
        for place, version in enumerate(header["versions"])
    }
    plain = {name: arrays[name] for name in _SEGMENT_ARRAYS}
    return Segment(first=header["first"], last=header["last"], **plain, vectors=vectors, sentences=sentences)


def _write(file: Any, segment: Segment) -> None:
    """Write the arrays, then the header before them, which holds their checksum."""
    arrays, layouts, offset = _arrays(segment), {}, 0
    for name, array in arrays.items():
        layouts[name] = {"dtype": array.dtype.str, "shape": array.shape, "offset": offset}
        offset += -(-array.nbytes // _ALIGN) * _ALIGN
    header = {"first": segment.first, "last": segment.last, "versions": [*segment.vectors], "arrays": layouts}
    start = _body_start(len(_encoded(header, checksum=0)))
    file.seek(start)
    checksum = 0
    for array in arrays.values():
        content = np.ascontiguousarray(array).view(np.uint8).reshape(-1)
        padding = bytes(-array.nbytes % _ALIGN)
        checksum = zlib.crc32(padding, zlib.crc32(content.data, checksum))
        file.write(content)
        file.write(padding)
    encoded = _encoded(header, checksum=checksum)
    file.seek(0)
    file.write(_MAGIC + len(encoded).to_bytes(4, "little") + hashlib.sha256(encoded).digest() + encoded)
    file.truncate(start + offset)


def _encoded(header: Mapping[str, Any], *, checksum: int) -> bytes:
    return json.dumps({**header, "checksum": f"{checksum:08x}"}).encode()


def _header(mapped: mmap.mmap, name: str) -> tuple[dict[str, Any], int]:
    length = int.from_bytes(mapped[8:12], "little")
    encoded = mapped[_HEADER_START : _HEADER_START + length]
    if mapped[:8] != _MAGIC or hashlib.sha256(encoded).digest() != mapped[12:_HEADER_START]:
        raise BadSegment(f"{name} has no valid header")
    return json.loads(encoded), _body_start(length)


def _array(mapped: mmap.mmap, start: int, layout: Mapping[str, Any]) -> npt.NDArray[Any]:
    shape = tuple(layout["shape"])
    count = int(np.prod(shape))
    return (
        np.frombuffer(mapped, layout["dtype"], count, start + layout["offset"]).reshape(shape)
        if count
        else np.empty(shape, layout["dtype"])
    )


def _checksum(mapped: mmap.mmap, start: int) -> str:
    checksum = 0
    for offset in range(start, len(mapped), _BLOCK):
        checksum = zlib.crc32(mapped[offset : offset + _BLOCK], checksum)
    return f"{checksum:08x}"


def _body_start(header: int) -> int:
    return -(-(_HEADER_START + header) // _ALIGN) * _ALIGN


def _flush_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


MIN_SEGMENT_CHUNKS: Final = 1000
"""Chunks newer than all segments that are worth a new segment."""

MAX_SEGMENT_CHUNKS: Final = 65_536
"""Chunks in a segment. All are in memory while it is built: about 6 kB for a chunk with ten sentences."""


@dataclass(frozen=True, slots=True)
class UnsegmentedChunks:
    """What no segment holds yet: the numbers from `first` to `last`, and how many chunks exist among them."""

    first: int
    last: int
    chunks: int


def next_range(
    files: Sequence[SegmentFile],
    *,
    living: Mapping[str, int],
    bad: frozenset[str],
    newer: UnsegmentedChunks,
    min_chunks: int,
    max_chunks: int,
) -> tuple[int, int] | None:
    """The range of numbers for the next segment, which replaces those it overlaps; None if nothing is to be done.

    Keeps segments few and large, while the number of times a chunk is rewritten grows slowly. `living` counts the
    chunks of each segment that still exist, `bad` are the files that cannot be used.
    """
    for each in files:
        if each.name in bad or living[each.name] * 2 < each.chunks:
            return each.first, each.last
    if newer.chunks < min_chunks:
        return None
    if newer.last - newer.first >= max_chunks:
        return newer.first, newer.first + max_chunks - 1
    first, total = newer.first, newer.chunks
    for each in reversed(files):
        if each.chunks >= 2 * total or each.chunks + total > max_chunks:
            break
        first, total = each.first, total + each.chunks
    return first, newer.last
