"""Git's index file without a git process: what is staged, and an index with other entries.

Only the formats that git writes by default are handled (versions 2 and 3, with a cached tree); `parse_index` says None
to others, and the caller asks git. An entry that we set has no file times, so that git compares the file's content when
it next looks.
"""

import hashlib
import os
import struct
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from commonplace.errors import VaultUnavailable
from commonplace.vault.git.objects import TreeEntry
from commonplace.vault.syscalls import ChangeStamp, change_stamp, read_regular, translate_os_errors

_HEADER: Final = struct.Struct(">4sII")
_EXTENSION: Final = struct.Struct(">4sI")
_TIMES_BYTES: Final = 24  # of an entry: times, device and inode come before its mode
_STAT_BYTES: Final = 40
_NAME_LENGTH: Final = 0xFFF
_STAGE: Final = 0x3000
_EXTENDED: Final = 0x4000
_KEPT: Final = frozenset({b"TREE", b"REUC"})
_DROPPED: Final = frozenset({b"EOIE", b"IEOT"})  # they speed up reading, and git writes them again
_SUBMODULE: Final = "160000"


@dataclass(frozen=True, slots=True)
class ParsedIndex:
    """An index: its bytes, the names of its entries in order, where each begins, and where the extensions begin."""

    data: bytes
    names: Sequence[bytes]
    starts: Sequence[int]
    end: int
    object_format: str

    def staged(self, path: bytes) -> TreeEntry | None:
        """What is staged at that path; None when nothing is, or only the sides of a conflict."""
        for number in self._numbers(path):
            if not self._flags(number) & _STAGE:
                return self._entry(number)
        return None

    def mode(self, path: bytes) -> str | None:
        """The mode of what is tracked at that path, in whatever state; None when nothing is."""
        numbers = self._numbers(path)
        return self._entry(numbers[0]).mode if numbers else None

    def submodule_above(self, path: bytes) -> bytes | None:
        """The submodule that the path is in, if it is in one."""
        for at, character in enumerate(path):
            if character == ord("/") and (entry := self.staged(path[:at])) and entry.mode == _SUBMODULE:
                return path[:at]
        return None

    def with_entries(self, changes: Mapping[bytes, TreeEntry | None]) -> "ParsedIndex | None":
        """This index with these entries set, or removed where they are None.

        None when a path has a conflict, or would be a file and a folder at once.
        """
        gone = {path for path, entry in changes.items() if entry is None}
        if any(self._collides(path, gone) for path, entry in changes.items() if entry):
            return None
        before = memoryview(self.data)  # at 100,000 entries, each copy of the index is 15 MB
        pieces: list[bytes | memoryview] = [b""]
        names: list[bytes] = []
        starts: list[int] = []
        kept, at, shift = 0, _HEADER.size, 0
        for path, entry in sorted(changes.items()):
            numbers = self._numbers(path)
            if any(self._flags(number) & _STAGE for number in numbers):
                return None
            names += self.names[kept : numbers.start]
            starts += [start + shift for start in self.starts[kept : numbers.start]]
            first, kept = self._start(numbers.start), numbers.stop
            pieces.append(before[at:first])
            if entry:
                names.append(path)
                starts.append(first + shift)
                pieces.append(_entry_bytes(path, entry))
            at = self._start(kept)
            shift += (len(pieces[-1]) if entry else 0) - (at - first)
        names += self.names[kept:]
        starts += [start + shift for start in self.starts[kept:]]
        pieces += [before[at : self.end], *self._extensions(changes)]
        pieces[0] = _HEADER.pack(b"DIRC", struct.unpack_from(">I", self.data, 4)[0], len(names))
        return ParsedIndex(self._with_checksum(pieces), names, starts, self.end + shift, self.object_format)

    def _with_checksum(self, pieces: Sequence[bytes | memoryview]) -> bytes:
        digest = hashlib.new(self.object_format, usedforsecurity=False)
        for piece in pieces:
            digest.update(piece)
        return b"".join((*pieces, digest.digest()))

    def _collides(self, path: bytes, gone: set[bytes]) -> bool:
        """True if a parent of the path is a file here, or the path is a folder here, after the removals."""
        parents = [path[:at] for at, character in enumerate(path) if character == ord("/")]
        if any(self._numbers(parent) and parent not in gone for parent in parents):
            return True
        number = bisect_left(self.names, path + b"/")
        while number < len(self.names) and self.names[number].startswith(path + b"/"):
            if self.names[number] not in gone:
                return True
            number += 1
        return False

    def _extensions(self, changes: Mapping[bytes, TreeEntry | None]) -> list[bytes]:
        kept = []
        for name, body in _extensions(self.data, self.end, self._id_bytes):
            if name == b"TREE":
                body = invalidated(body, changes, id_bytes=self._id_bytes)
            if name in _KEPT:
                kept.append(_EXTENSION.pack(name, len(body)) + body)
        return kept

    def _numbers(self, path: bytes) -> range:
        first = last = bisect_left(self.names, path)
        while last < len(self.names) and self.names[last] == path:
            last += 1
        return range(first, last)

    def _start(self, number: int) -> int:
        return self.starts[number] if number < len(self.starts) else self.end

    def _flags(self, number: int) -> int:
        at = self.starts[number] + _STAT_BYTES + self._id_bytes
        return self.data[at] << 8 | self.data[at + 1]

    def _entry(self, number: int) -> TreeEntry:
        start = self.starts[number]
        (mode,) = struct.unpack_from(">I", self.data, start + _TIMES_BYTES)
        return TreeEntry(f"{mode:o}", self.data[start + _STAT_BYTES : start + _STAT_BYTES + self._id_bytes].hex())

    @property
    def _id_bytes(self) -> int:
        return hashlib.new(self.object_format, usedforsecurity=False).digest_size


def parse_index(data: bytes, object_format: str) -> ParsedIndex | None:
    """The index with these bytes, empty for none; None when only git can read it."""
    id_bytes = hashlib.new(object_format, usedforsecurity=False).digest_size
    if not data:
        data = _HEADER.pack(b"DIRC", 2, 0) + bytes(id_bytes)
    try:
        return _parse(data, object_format, id_bytes)
    except (IndexError, ValueError, struct.error):
        return None


def _parse(data: bytes, object_format: str, id_bytes: int) -> ParsedIndex | None:
    signature, version, count = _HEADER.unpack_from(data)
    if signature != b"DIRC" or version not in (2, 3):
        return None
    names, starts, at = [], [], _HEADER.size
    fixed = _STAT_BYTES + id_bytes
    for _ in range(count):
        flags = data[at + fixed] << 8 | data[at + fixed + 1]
        first = at + fixed + (4 if flags & _EXTENDED else 2)
        length = flags & _NAME_LENGTH
        end = first + length if length < _NAME_LENGTH else data.index(b"\0", first)
        names.append(data[first:end])
        starts.append(at)
        at += (end - at + 8) & ~7
    if at > len(data) - id_bytes:
        return None
    if any(name not in _KEPT | _DROPPED for name, _ in _extensions(data, at, id_bytes)):
        return None
    return ParsedIndex(data, names, starts, at, object_format)


def _extensions(data: bytes, at: int, id_bytes: int) -> list[tuple[bytes, bytes]]:
    found = []
    while at < len(data) - id_bytes:
        name, size = _EXTENSION.unpack_from(data, at)
        found.append((name, data[at + _EXTENSION.size : at + _EXTENSION.size + size]))
        at += _EXTENSION.size + size
    return found


def _entry_bytes(path: bytes, entry: TreeEntry) -> bytes:
    """An entry without file times."""
    stat = bytes(_TIMES_BYTES) + struct.pack(">I", int(entry.mode, 8)) + bytes(_STAT_BYTES - _TIMES_BYTES - 4)
    text = stat + bytes.fromhex(entry.id) + struct.pack(">H", min(len(path), _NAME_LENGTH)) + path
    return text + bytes(8 - len(text) % 8)


def invalidated(body: bytes, paths: Mapping[bytes, object], *, id_bytes: int) -> bytes:
    """The extension `TREE`, which holds the ids of trees that git need not compute, without those of these paths."""
    stale = {b""} | {path[:at] for path in paths for at, character in enumerate(path) if character == ord("/")}
    pieces: list[bytes] = []
    stack: list[tuple[bytes, int]] = []  # the folders above, each with the number of its folders that are still to come
    at = 0
    while at < len(body):
        end, line = body.index(b"\0", at), body.index(b"\n", at)
        name = body[at:end]
        count, folders = (int(number) for number in body[end + 1 : line].split(b" "))
        at = line + 1 + (id_bytes if count >= 0 else 0)
        above = stack[-1][0] if stack else b""
        path = above + b"/" + name if above else name
        is_stale = path in stale
        pieces.append(b"%s\0%d %d\n" % (name, -1 if is_stale else count, folders))
        pieces.append(b"" if is_stale or count < 0 else body[line + 1 : at])
        if stack:
            stack[-1] = (above, stack[-1][1] - 1)
        stack.append((path, folders))
        while stack and not stack[-1][1]:
            stack.pop()
    return b"".join(pieces)


@dataclass(frozen=True, slots=True)
class IndexFileState:
    """The index file as it was read: its stamp, its bytes, its permissions and time, and its entries if we can."""

    stamp: ChangeStamp
    data: bytes
    mode: int | None
    modified_ns: int
    parsed: ParsedIndex | None


class IndexFile:
    """Reads the index of a working tree; it is parsed again only when it has changed."""

    def __init__(self, git_dir: Path, object_format: str) -> None:
        self.file = git_dir / "index"
        self._format = object_format
        self._last: IndexFileState | None = None

    def read(self) -> IndexFileState:
        """The index as it is now. Raises VaultUnavailable when the file cannot be read."""
        last = self._last
        if last is None or last.stamp != change_stamp(self.file):
            with translate_os_errors(str(self.file), doing="read"):
                self._last = last = self._read()
        return last

    def adopt(self, parsed: ParsedIndex, inode: int) -> None:
        """Remember the entries of the index that this process has just put in place, unless it is another by now."""
        status, stamp = os.stat(self.file), change_stamp(self.file)
        if status.st_ino == inode and stamp and stamp[1] == inode:
            self._last = IndexFileState(stamp, parsed.data, status.st_mode & 0o777, status.st_mtime_ns, parsed)

    def _read(self) -> IndexFileState:
        while True:
            stamp = change_stamp(self.file)
            try:
                data, status = read_regular(self.file), self.file.stat()
            except FileNotFoundError:
                return IndexFileState((), b"", None, 0, parse_index(b"", self._format))
            if stamp == change_stamp(self.file):
                if data is None or is_damaged(data, self._format):
                    raise _damaged(self.file)
                parsed = parse_index(data, self._format)
                return IndexFileState(stamp, data, status.st_mode & 0o777, status.st_mtime_ns, parsed)


def is_damaged(data: bytes, object_format: str) -> bool:
    """True if the bytes do not have the checksum that they end in; git may leave that out and write zeros."""
    digest = hashlib.new(object_format, usedforsecurity=False)
    body, checksum = data[: -digest.digest_size], data[-digest.digest_size :]
    digest.update(body)
    return not data.startswith(b"DIRC") or (any(checksum) and digest.digest() != checksum)


def _damaged(file: Path) -> VaultUnavailable:
    return VaultUnavailable(
        f"git's index of the vault is damaged: {file}",
        path=str(file),
        hint="Notes and history are not affected. Remove this file and run 'git reset' in the vault: it is made again.",
    )
