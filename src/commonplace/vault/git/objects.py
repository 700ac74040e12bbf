"""Git's objects without a git process: trees are read and changed here, and new objects written to the disk.

Loose objects are read as files, packed ones by one `git cat-file --batch`. A few new objects are written as git writes
loose ones, and fsynced in parallel, so that the disk is waited for once and not for each of them; many become a pack.
"""

import errno
import hashlib
import os
import struct
import subprocess
import threading
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import IO, Final, Self

from commonplace.errors import VaultUnavailable
from commonplace.vault.contract_errors import parent_is_a_file
from commonplace.vault.git.location import FILE_MODES, RepositoryLocation
from commonplace.vault.git.own_files import not_followed
from commonplace.vault.git.run import TIMEOUT_S, Git, stop
from commonplace.vault.syscalls import flush, read_regular, unavailable_from

FOLDER_MODE: Final = "40000"
"""The mode of a folder in a tree."""

_MOST_LOOSE: Final = 20  # more become one pack: 30 notes then take 26 ms of system time, not 52 (100 loose)
_MOST_PACKED_BYTES: Final = 1 << 30  # offsets in our pack indexes have 31 bits
_WRITERS: Final = 8
_ATTEMPTS: Final = 5  # to write an object while git removes its folder
_MOST_CACHED: Final = 50_000  # entries of trees, about 200 bytes each
_FASTEST: Final = 1  # of zlib; a note is small
_PACK_KINDS: Final = {"commit": 1, "tree": 2, "blob": 3}
_NEW_FILE: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0)
_NO_REPLACEMENTS: Final = ("core.useReplaceRefs=false",)


@dataclass(frozen=True, slots=True)
class NewObject:
    """An object to be written: its kind, its bytes and the id that they have."""

    kind: str
    body: bytes
    id: str

    @property
    def header(self) -> bytes:
        """What git puts before the bytes of a loose object."""
        return f"{self.kind} {len(self.body)}\0".encode()


@dataclass(frozen=True, slots=True)
class TreeEntry:
    """What a tree has under one name: a mode and the id of a blob, a tree or a submodule's commit."""

    mode: str
    id: str

    @property
    def is_folder(self) -> bool:
        """True for a folder."""
        return self.mode == FOLDER_MODE

    @property
    def is_blob(self) -> bool:
        """True for a file, whatever its permissions, or a symbolic link."""
        return self.mode.startswith("100") or self.mode == "120000"


def new_object(kind: str, body: bytes, object_format: str) -> NewObject:
    """The object of that kind with these bytes."""
    digest = hashlib.new(object_format, f"{kind} {len(body)}\0".encode(), usedforsecurity=False)
    digest.update(body)
    return NewObject(kind, body, digest.hexdigest())


# Reading


class ObjectReader:
    """Reads the commits and trees of a repository; trees are cached. One batch process runs while a block needs it."""

    def __init__(self, git: Git, location: RepositoryLocation) -> None:
        self._git = git
        self._folder = location.common_dir / "objects"
        self._format = location.object_format
        self._trees: dict[str, Mapping[bytes, TreeEntry]] = {}
        self._cached_entries = 0

    def tree_of(self, commit: str, batch: "ObjectBatch") -> str:
        """The id of the commit's tree. Raises VaultUnavailable when the commit is missing."""
        first, _, _ = self._read(commit, "commit", batch).partition(b"\n")
        return first.removeprefix(b"tree ").decode("ascii")

    def entries(self, tree: str | None, batch: "ObjectBatch") -> Mapping[bytes, TreeEntry]:
        """What the tree has, by name; nothing for None. Raises VaultUnavailable when the tree is missing."""
        if tree is None:
            return {}
        entries = batch.new_trees.get(tree, self._trees.get(tree))
        if entries is None:
            try:
                entries = parse_tree(self._read(tree, "tree", batch), id_bytes=_id_bytes(self._format))
            except ValueError as error:
                raise _unreadable(tree, "tree") from error
            self.remember(tree, entries)
        return entries

    def find(self, tree: str | None, path: str, batch: "ObjectBatch") -> TreeEntry | None:
        """What the tree has at that path."""
        *folders, name = os.fsencode(path).split(b"/")
        for folder in folders:
            entry = self.entries(tree, batch).get(folder)
            if entry is None or not entry.is_folder:
                return None
            tree = entry.id
        return self.entries(tree, batch).get(name)

    def read_all(self, tree: str | None, batch: "ObjectBatch") -> None:
        """Read the tree and all trees below it. Raises VaultUnavailable when one is missing or damaged."""
        for entry in self.entries(tree, batch).values():
            if entry.is_folder:
                self.read_all(entry.id, batch)

    def remember(self, tree: str, entries: Mapping[bytes, TreeEntry]) -> None:
        """Cache what a tree has."""
        if self._cached_entries + len(entries) > _MOST_CACHED:
            self._trees, self._cached_entries = {}, 0
        self._trees[tree] = entries
        self._cached_entries += len(entries)

    def batch(self) -> "ObjectBatch":
        """What reads packed objects; starts git at the first one."""
        return ObjectBatch(self._git)

    def _read(self, object_id: str, kind: str, batch: "ObjectBatch") -> bytes:
        try:
            stored = read_regular(self._folder / object_id[:2] / object_id[2:]) or b""
            header, _, body = zlib.decompress(stored).partition(b"\0")
        except (OSError, zlib.error):  # packed, or git's own words say what is wrong with it
            return batch.read(object_id, kind)
        return body if header.startswith(kind.encode() + b" ") else batch.read(object_id, kind)


class ObjectBatch:
    """A `git cat-file --batch` that is started when it is first needed and ends with the block.

    `new_trees` are those that the block has made: they are not on the disk yet, so that a cache must not drop them.
    """

    def __init__(self, git: Git) -> None:
        self._git = git
        self.new_trees: dict[str, Mapping[bytes, TreeEntry]] = {}
        self._process: subprocess.Popen[bytes] | None = None
        self._watchdog: threading.Timer | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process and self._watchdog:
            self._watchdog.cancel()
            if self._process.stdin:
                self._process.stdin.close()
                self._process.wait(TIMEOUT_S)
            stop(self._process)

    def read(self, object_id: str, kind: str) -> bytes:
        """The object's bytes. Raises VaultUnavailable when git does not have it, or it is of another kind."""
        stdin, stdout = self._pipes()
        try:
            stdin.write(f"{object_id}\n".encode())
            stdin.flush()
            fields = stdout.readline().split()
            if len(fields) == 3 and fields[1].decode() == kind:
                body = stdout.read(int(fields[2]) + 1)
                if len(body) == int(fields[2]) + 1:  # git ends in the middle of a damaged one
                    return body[:-1]
        except BrokenPipeError:
            pass
        raise _unreadable(object_id, kind)

    def _pipes(self) -> tuple[IO[bytes], IO[bytes]]:
        if self._process is None:
            self._process = self._git.start("cat-file", "--batch", settings=_NO_REPLACEMENTS)
            self._watchdog = threading.Timer(TIMEOUT_S, self._process.terminate)
            self._watchdog.daemon = True
            self._watchdog.start()
        if not self._process.stdin or not self._process.stdout:
            raise AssertionError("git was started with pipes")
        return self._process.stdin, self._process.stdout


def _unreadable(object_id: str, kind: str) -> VaultUnavailable:
    return VaultUnavailable(
        f"git cannot read the {kind} {object_id} of the vault's repository",
        hint="Run 'git fsck' in the vault; if an object is missing or damaged, restore it from a clone or backup.",
    )


def parse_tree(body: bytes, *, id_bytes: int) -> dict[bytes, TreeEntry]:
    """The entries of a tree by name. Raises ValueError for what is no tree.

    Modes are octal numbers: other programs write `040000` for a folder.
    """
    entries, at = {}, 0
    while at < len(body):
        space = body.index(b" ", at)
        end = body.index(b"\0", space)
        after = end + 1 + id_bytes
        if after > len(body):
            raise ValueError("the tree ends in the middle of an id")
        entries[body[space + 1 : end]] = TreeEntry(f"{int(body[at:space], 8):o}", body[end + 1 : after].hex())
        at = after
    return entries


def tree_body(entries: Mapping[bytes, TreeEntry]) -> bytes:
    """The bytes of a tree with these entries. Git sorts a folder as if its name ended in a slash."""
    ordered = sorted(entries.items(), key=lambda each: each[0] + b"/" if each[1].is_folder else each[0])
    return b"".join(b"%s %s\0%s" % (entry.mode.encode(), name, bytes.fromhex(entry.id)) for name, entry in ordered)


# Changing trees

_Nested = dict[bytes, "TreeEntry | _Nested | None"]


class TreeEditor:
    """Changes trees in memory: `objects` are the new ones, `before` is what each path had before its last change."""

    def __init__(self, reader: ObjectReader, batch: ObjectBatch, object_format: str) -> None:
        self._reader = reader
        self._batch = batch
        self._format = object_format
        self.objects: list[NewObject] = []
        self.before: dict[str, TreeEntry | None] = {}

    def edit(self, tree: str | None, files: Mapping[str, TreeEntry | None]) -> str:
        """The id of the tree with these files set, or removed where they are None.

        A file keeps its mode. Removals come first, because a file can become a folder; a folder with the name of a
        removed file stays, because it has files of its own.
        """
        for path in files:
            self.before[path] = self._reader.find(tree, path, self._batch)
        kept = {path: _with_mode(entry, self.before[path]) for path, entry in files.items() if entry}
        gone = {path: None for path, entry in files.items() if entry is None and _is_file(self.before[path])}
        for changes in (gone, kept):
            tree = self._edit(tree, _nested(changes)) if changes else tree
        return tree or self._store({})

    def _edit(self, tree: str | None, changes: _Nested) -> str | None:
        entries = dict(self._reader.entries(tree, self._batch))
        for name, change in changes.items():
            if isinstance(change, dict):
                previous = entries.get(name)
                below = self._edit(previous.id if previous and previous.is_folder else None, change)
                entry = TreeEntry(FOLDER_MODE, below) if below else None
            else:
                entry = change
            if entry:
                entries[name] = entry
            else:
                entries.pop(name, None)
        return self._store(entries) if entries else None

    def _store(self, entries: Mapping[bytes, TreeEntry]) -> str:
        new = new_object("tree", tree_body(entries), self._format)
        self._batch.new_trees[new.id] = entries
        self._reader.remember(new.id, entries)
        self.objects.append(new)
        return new.id


def _with_mode(entry: TreeEntry, before: TreeEntry | None) -> TreeEntry:
    return TreeEntry(before.mode, entry.id) if before and before.mode in FILE_MODES else entry


def _is_file(before: TreeEntry | None) -> bool:
    return before is not None and not before.is_folder


def _nested(changes: Mapping[str, TreeEntry | None]) -> _Nested:
    """The changes by folder. Raises Conflict when one of them is below another, which is a file."""
    top: _Nested = {}
    for path, entry in changes.items():
        *folders, name = os.fsencode(path).split(b"/")
        at = top
        for folder in folders:
            below = at.setdefault(folder, {})
            if not isinstance(below, dict):
                raise parent_is_a_file(path, by=os.fsdecode(folder))
            at = below
        if isinstance(at.get(name), dict):
            raise parent_is_a_file(path, by=path)
        at[name] = entry
    return top


# Writing


class ParallelWriter:
    """Runs functions that write and fsync files in threads; `wait` raises the first error of them."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(_WRITERS)
        self._running: list[Callable[[], None]] = []

    def run(self, function: Callable[[], None]) -> None:
        """Start this function."""
        self._running.append(self._pool.submit(function).result)

    def wait(self) -> None:
        """Wait until all have ended. Raises VaultUnavailable when a file could not be written."""
        try:
            for result in self._running:
                result()
        except OSError as error:
            place = error.filename2 or error.filename or "the vault's repository"
            raise unavailable_from(error, path=str(place), doing="write") from error

    def close(self) -> None:
        """End the threads."""
        self._pool.shutdown(wait=True)


@dataclass(frozen=True, slots=True)
class WrittenObjects:
    """Objects that were written: those in files of their own, and the pack that the others are in, if there is one."""

    objects: Sequence[NewObject]
    pack: Path | None


@dataclass(frozen=True, slots=True)
class ObjectFolder:
    """Git's object folder, the beginning of the names of files that are still being written, and whose packs are ours.

    A pack is kept (`.keep`) from `git repack`, which removes one that no branch names, until `release` is called.
    """

    folder: Path
    unfinished: Path
    object_format: str
    owner: str

    def write(self, objects: Iterable[NewObject], *, writer: ParallelWriter, in_pack: bool = False) -> WrittenObjects:
        """Write the objects; `writer.wait` returns when they are on the disk. Many become a pack; with `in_pack`, all.

        Git never prunes a pack.
        """
        new = list({each.id: each for each in objects}.values())
        is_small = len(new) <= _MOST_LOOSE and not in_pack
        if is_small or sum(len(each.body) for each in new) > _MOST_PACKED_BYTES:
            for each in new:
                writer.run(partial(self._write_loose, each))
            return WrittenObjects(new, None)
        content, offsets, sums = _pack(new)
        checksum = hashlib.new(self.object_format, content, usedforsecurity=False).digest()
        pack = self.folder / "pack" / f"pack-{checksum.hex()}.pack"
        index = _pack_index(new, offsets, sums) + checksum
        writer.run(partial(self._write_pack, pack, content + checksum, index))
        return WrittenObjects(new, pack)

    def missing(self, written: WrittenObjects) -> list[NewObject]:
        """Those of the objects that are not there any more: `git prune` and `git repack` remove what nothing names."""
        if written.pack:
            return [] if written.pack.exists() else list(written.objects)
        return [each for each in written.objects if not self._place(each).exists()]

    def release(self, written: WrittenObjects) -> None:
        """Let git put the pack and others together: a branch names its objects now, or never will."""
        if written.pack:
            _remove_keep(written.pack.with_suffix(".keep"), self._keep_mark)

    def release_all(self) -> None:
        """Release the packs that killed processes of ours have left; call it with the vault's lock."""
        for keep in (self.folder / "pack").glob("pack-*.keep"):
            _remove_keep(keep, self._keep_mark)

    def remove(self, objects: Iterable[NewObject]) -> None:
        """Remove these objects, of which there are few, and the folders that are empty then."""
        for each in objects:
            with suppress(OSError):
                self._place(each).unlink(missing_ok=True)
                self._place(each).parent.rmdir()

    @property
    def _keep_mark(self) -> bytes:
        return f"commonplace {self.owner}\n".encode()

    def _place(self, new: NewObject) -> Path:
        return self.folder / new.id[:2] / new.id[2:]

    def _write_loose(self, new: NewObject) -> None:
        place = self._place(new)
        if _freshen(place, new):
            return
        if place.parent.is_symlink():
            raise not_followed(place.parent)
        content = zlib.compress(new.header + new.body, _FASTEST)
        for left in reversed(range(_ATTEMPTS)):
            try:
                with suppress(FileExistsError):
                    place.parent.mkdir()
                    place.parent.chmod(self.folder.stat().st_mode & 0o7777)  # a group's has permissions of its own
                self._write_new(place, content)
                return
            except FileNotFoundError:  # `git gc` removes folders that are empty
                if not left:
                    raise

    def _write_pack(self, pack: Path, content: bytes, index: bytes) -> None:
        pack.parent.mkdir(exist_ok=True)
        self._write_new(pack.with_suffix(".keep"), self._keep_mark)  # first, so that no git sees the pack without it
        self._write_new(pack, content)
        index += hashlib.new(self.object_format, index, usedforsecurity=False).digest()
        self._write_new(pack.with_suffix(".idx"), index)  # last: git looks for this one

    def _write_new(self, place: Path, content: bytes) -> None:
        """Write and fsync the file under another name, and rename it."""
        token = os.urandom(6).hex()
        try:
            self._write_by_way_of(self.unfinished.with_name(f"{self.unfinished.name}{token}"), place, content)
        except OSError as error:
            if error.errno != errno.EXDEV:  # the objects are on another disk than `.git`
                raise
            self._write_by_way_of(self.folder / f"tmp_obj_{token}", place, content)

    def _write_by_way_of(self, temporary: Path, place: Path, content: bytes) -> None:
        mode = self.folder.stat().st_mode & 0o444
        opened = os.open(temporary, _NEW_FILE, mode)
        try:
            with open(opened, "wb") as file:
                os.fchmod(opened, mode)  # whatever the umask: a group may share the repository
                file.write(content)
                file.flush()
                flush(opened)
            os.rename(temporary, place)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise


def _freshen(place: Path, new: NewObject) -> bool:
    """True if the object exists: it is fsynced, and gets a new time, because git prunes old ones that nothing names.

    A file that is empty or damaged, as after a power loss, is no object.
    """
    try:
        os.utime(place)
        opened = os.open(place, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))  # a pipe is not waited for
    except OSError:
        return False
    with open(opened, "rb") as file:
        try:
            is_whole = zlib.decompress(file.read()) == new.header + new.body
        except zlib.error:
            return False
        if is_whole:
            flush(opened)
        return is_whole


def _remove_keep(keep: Path, mark: bytes) -> None:
    with suppress(OSError):
        if not keep.is_symlink() and read_regular(keep) == mark:
            keep.unlink()


def _pack(objects: Sequence[NewObject]) -> tuple[bytes, list[int], list[int]]:
    """A pack without its checksum, and the offset and CRC-32 of each object in it."""
    parts = [b"PACK" + struct.pack(">II", 2, len(objects))]
    offsets, sums, at = [], [], len(parts[0])
    for each in objects:
        part = _pack_header(each) + zlib.compress(each.body, _FASTEST)
        offsets.append(at)
        sums.append(zlib.crc32(part))
        parts.append(part)
        at += len(part)
    return b"".join(parts), offsets, sums


def _pack_header(new: NewObject) -> bytes:
    """Kind and size: four bits of the size with the kind, then seven in each byte, the lowest first."""
    size = len(new.body)
    current, size = _PACK_KINDS[new.kind] << 4 | size & 0xF, size >> 4
    header = bytearray()
    while size:
        header.append(current | 0x80)
        current, size = size & 0x7F, size >> 7
    return bytes([*header, current])


def _pack_index(objects: Sequence[NewObject], offsets: Sequence[int], sums: Sequence[int]) -> bytes:
    """Version 2 of git's pack index, without its two checksums."""
    ordered = sorted(range(len(objects)), key=lambda number: objects[number].id)
    firsts = [int(objects[number].id[:2], 16) for number in ordered]
    fanout = [sum(first <= byte for first in firsts) for byte in range(256)]
    return b"".join(
        (
            b"\377tOc",
            struct.pack(">I", 2),
            struct.pack(">256I", *fanout),
            *(bytes.fromhex(objects[number].id) for number in ordered),
            *(struct.pack(">I", sums[number]) for number in ordered),
            *(struct.pack(">I", offsets[number]) for number in ordered),
        )
    )


def _id_bytes(object_format: str) -> int:
    return hashlib.new(object_format, usedforsecurity=False).digest_size
