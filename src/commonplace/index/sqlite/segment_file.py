"""A segment as a file: a short header with a checksum, then the arrays, to be mapped into memory.

    magic (8 bytes) | length of the header (4) | its sha256 (32) | header (JSON) | arrays, each at a multiple of 64

A file is written under another name, flushed and renamed, and never changed after that.
"""

import hashlib
import json
import mmap
import os
import zlib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

import numpy as np
import numpy.typing as npt

from commonplace.index.sqlite.segment import Fine, Segment, Vectors

_MAGIC: Final = b"CPSEGMT3"
_START: Final = 44
_ALIGN: Final = 64
_PLAIN: Final = ("numbers", "lengths", "replies", "hashes", "starts", "rows", "counts")
_OF_VECTORS: Final = ("owners", "starts", "scales", "rows")
_OF_FINE: Final = ("starts", "scales", "rows")
_BLOCK: Final = 1 << 24


class BadSegment(Exception):
    """The file is not what was written. It never leaves the index: the rows answer in its place."""


@dataclass(frozen=True, slots=True)
class Named:
    """A segment file as `index.db` names it; `size` and `mtime` (in nanoseconds) tell whether it was touched since."""

    first: int
    last: int
    chunks: int
    name: str
    size: int
    mtime: int


def write_segment(folder: Path, segment: Segment) -> Named:
    """Write the segment into the folder, safely on the disk when this returns."""
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
    return Named(
        first=segment.first,
        last=segment.last,
        chunks=len(segment.numbers),
        name=name,
        size=written.st_size,
        mtime=written.st_mtime_ns,
    )


def open_segment(folder: Path, named: Named) -> Segment:
    """The segment, mapped: pages are read when they are touched. Raises BadSegment, FileNotFoundError."""
    with (folder / named.name).open("rb") as file:
        found = os.fstat(file.fileno())
        if found.st_size != named.size:
            raise BadSegment(f"{named.name} has {found.st_size} bytes instead of {named.size}")
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    header, start = _header(mapped, named.name)
    if found.st_mtime_ns != named.mtime and _checksum(mapped, start) != header["checksum"]:
        raise BadSegment(f"{named.name} was changed")
    arrays = {name: _array(mapped, start, where) for name, where in header["arrays"].items()}
    return _segment(header, arrays)


def _arrays(segment: Segment) -> dict[str, npt.NDArray[Any]]:
    arrays: dict[str, npt.NDArray[Any]] = {name: getattr(segment, name) for name in _PLAIN}
    for place, version in enumerate(segment.vectors):
        arrays |= {f"{place}/{name}": getattr(segment.vectors[version], name) for name in _OF_VECTORS}
    for place, version in enumerate(segment.vectors):  # last, so that what is scanned lies together
        arrays |= {f"{place}/fine/{name}": getattr(segment.fine[version], name) for name in _OF_FINE}
    return arrays


def _segment(header: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> Segment:
    vectors = {
        version: Vectors(**{name: arrays[f"{place}/{name}"] for name in _OF_VECTORS})
        for place, version in enumerate(header["versions"])
    }
    fine = {
        version: Fine(**{name: arrays[f"{place}/fine/{name}"] for name in _OF_FINE})
        for place, version in enumerate(header["versions"])
    }
    plain = {name: arrays[name] for name in _PLAIN}
    return Segment(first=header["first"], last=header["last"], **plain, vectors=vectors, fine=fine)


def _write(file: Any, segment: Segment) -> None:
    """The header holds the checksum of what follows it, so its place is kept free and filled at the end."""
    arrays, places, offset = _arrays(segment), {}, 0
    for name, array in arrays.items():
        places[name] = {"dtype": array.dtype.str, "shape": array.shape, "offset": offset}
        offset += -(-array.nbytes // _ALIGN) * _ALIGN
    header = {"first": segment.first, "last": segment.last, "versions": [*segment.vectors], "arrays": places}
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
    encoded = mapped[_START : _START + length]
    if mapped[:8] != _MAGIC or hashlib.sha256(encoded).digest() != mapped[12:_START]:
        raise BadSegment(f"{name} has no header that can be trusted")
    return json.loads(encoded), _body_start(length)


def _array(mapped: mmap.mmap, start: int, where: Mapping[str, Any]) -> npt.NDArray[Any]:
    shape = tuple(where["shape"])
    count = int(np.prod(shape))
    return (
        np.frombuffer(mapped, where["dtype"], count, start + where["offset"]).reshape(shape)
        if count
        else np.empty(shape, where["dtype"])
    )


def _checksum(mapped: mmap.mmap, start: int) -> str:
    checksum = 0
    for place in range(start, len(mapped), _BLOCK):
        checksum = zlib.crc32(mapped[place : place + _BLOCK], checksum)
    return f"{checksum:08x}"


def _body_start(header: int) -> int:
    return -(-(_START + header) // _ALIGN) * _ALIGN


def _flush_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
