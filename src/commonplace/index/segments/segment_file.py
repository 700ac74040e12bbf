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

_MAGIC: Final = b"CPSEGMT5"
_HEADER_START: Final = 44
_ALIGN: Final = 64
_SEGMENT_ARRAYS: Final = ("numbers", "lengths", "replies", "hashes", "starts", "rows", "codes", "patterns")
_PART_ARRAYS: Final = ("owners", "starts", "scales", "rows")
_SENTENCE_ARRAYS: Final = ("starts", "scales", "rows")
_LARGE: Final = ("rows", "codes", "scales")
"""Arrays, by the last part of their name, that no other array is addressed by. They are nine tenths of a file: checking
them whenever it is opened would take longer than the search."""


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

    The arrays that address others are checked. All are if the file's mtime is another than the listed one, or if
    `check` asks for it.
    """
    mapped, header, start = _mapped(folder, listed)
    large = () if check or _mtime(folder, listed) != listed.mtime else _LARGE
    _check(mapped, header, start, listed.name, without=large)
    return _segment(header, {name: _array(mapped, start, layout) for name, layout in header["arrays"].items()})


def is_bad_segment(folder: Path, listed: SegmentFile, *, check: bool = False) -> bool:
    """True if the file is missing, or is not what was written as far as its size and header show.

    The whole file is checked if its mtime is another than the listed one, or if `check` asks for it.
    """
    try:
        mapped, header, start = _mapped(folder, listed)
        if check or _mtime(folder, listed) != listed.mtime:
            _check(mapped, header, start, listed.name)
    except (BadSegment, FileNotFoundError):
        return True
    return False


def _mapped(folder: Path, listed: SegmentFile) -> tuple[mmap.mmap, dict[str, Any], int]:
    """The file, memory-mapped, its header, and where its arrays begin. Raises BadSegment or FileNotFoundError."""
    with (folder / listed.name).open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        if size != listed.size:
            raise BadSegment(f"{listed.name} has {size} bytes instead of {listed.size}")
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    return mapped, *_header(mapped, listed.name)


def _mtime(folder: Path, listed: SegmentFile) -> int:
    return (folder / listed.name).stat().st_mtime_ns


def _check(mapped: mmap.mmap, header: Mapping[str, Any], start: int, name: str, *, without: Sequence[str] = ()) -> None:
    """Raise BadSegment if an array is not what was written; those whose last name is in `without` are not checked."""
    for array, layout in header["arrays"].items():
        if array.rpartition("/")[2] not in without and _checksum(mapped, start, layout) != layout["crc32"]:
            raise BadSegment(f"{name} was changed in {array}")


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
    """Write the arrays, then the header before them, which holds their checksums."""
    arrays, layouts, offset = _arrays(segment), dict[str, dict[str, Any]](), 0
    for name, array in arrays.items():
        layouts[name] = {"dtype": array.dtype.str, "shape": array.shape, "offset": offset, "crc32": _hex(0)}
        offset += _padded(array.nbytes)
    header = {"first": segment.first, "last": segment.last, "versions": [*segment.vectors], "arrays": layouts}
    start = _body_start(len(json.dumps(header)))
    file.seek(start)
    for name, array in arrays.items():
        content = np.ascontiguousarray(array).view(np.uint8).reshape(-1)
        padding = bytes(_padded(array.nbytes) - array.nbytes)
        layouts[name]["crc32"] = _hex(zlib.crc32(padding, zlib.crc32(content.data)))
        file.write(content)
        file.write(padding)
    encoded = json.dumps(header).encode()
    file.seek(0)
    file.write(_MAGIC + len(encoded).to_bytes(4, "little") + hashlib.sha256(encoded).digest() + encoded)
    file.truncate(start + offset)


def _padded(size: int) -> int:
    return -(-size // _ALIGN) * _ALIGN


def _hex(checksum: int) -> str:
    return f"{checksum:08x}"  # always as long, so that the length of the header is known before


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


def _checksum(mapped: mmap.mmap, start: int, layout: Mapping[str, Any]) -> str:
    """The CRC-32 of an array with its padding."""
    size = int(np.prod(tuple(layout["shape"]))) * np.dtype(layout["dtype"]).itemsize
    with memoryview(mapped) as view:
        return _hex(zlib.crc32(view[start + layout["offset"] :][: _padded(size)]))


def _body_start(header: int) -> int:
    return _padded(_HEADER_START + header)


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
