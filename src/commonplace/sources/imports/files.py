"""What a person names as files to import: one file, a folder or a zip, all read the same way.

A zip comes from elsewhere: entries that are links or lead outside are left out, and one that unpacks to far more than
it should is refused while it is read, since its own headers may lie about its size.
"""

import io
import os
import posixpath
import re
import shutil
import stat
import tempfile
import weakref
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, BinaryIO, Final

from commonplace.errors import UsageError
from commonplace.sources.imports.base import ImportFiles, ImportSkip

MAX_FILES: Final = 200_000
"""Files in a folder or a zip. The largest vaults we know of have some 50,000."""
MAX_UNPACKED: Final = 16 * 1024**3
"""Bytes that are unpacked from one zip. Exports of many years with pictures have a few GB, their texts under 2 GB."""
MAX_RATIO: Final = 200
"""Unpacked bytes for each packed one; the JSON of conversations packs 5 to 20 times, a zip bomb about 1,000 times."""
_ENCRYPTED: Final = 0x1  # the bit of an entry that needs a password
_SMALL: Final = 16 * 1024 * 1024  # bytes up to which no ratio is suspicious: an empty template packs well
_BUFFER: Final = 1024 * 1024
_HIDDEN_FOLDERS: Final = frozenset(("__MACOSX", "node_modules"))
_DRIVE: Final = re.compile(r"[A-Za-z]:")
_UNPACK_HINT: Final = "Unpack it yourself, and import the folder."


def open_files(path: str | os.PathLike[str]) -> "OneFile | FolderFiles | ZipFiles | MergedFiles":
    """The files at that path. Raises UsageError if there are none, or if it is a damaged or encrypted zip."""
    given = Path(path).expanduser()
    if given.is_dir():
        return FolderFiles(given)
    if not given.is_file():
        raise UsageError("no such file or folder", path=str(path), hint="Name an export that you have downloaded.")
    return _open_zip(given) if _is_zip(given) else OneFile(given)


def _open_zip(path: Path) -> "ZipFiles | MergedFiles":
    """The files in a zip; of one that holds nothing but zips, as large exports are split, the files in those."""
    files = ZipFiles(path, name=str(path))
    inner = [each for each in files.paths() if each.lower().endswith(".zip")]
    if not inner or len(inner) < len(files.paths()):
        return files
    return MergedFiles(str(path), [ZipFiles(_copied(files, each), name=f"{path}/{each}") for each in inner])


def _copied(files: "ZipFiles", path: str) -> IO[bytes]:
    """A file of a zip in a temporary file: an inner zip is read back and forth."""
    copy = tempfile.TemporaryFile()  # noqa: SIM115 (it is closed with the zip that is read from it)
    with files.open(path) as stream:
        shutil.copyfileobj(stream, copy, _BUFFER)
    return copy


def _is_zip(path: Path) -> bool:
    """True if the file begins as a zip does, whatever its name; Raises UsageError if it cannot be read."""
    with _open_file(path) as stream:
        beginning = stream.read(4)
    return beginning in (b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")


def _open_file(path: Path) -> BinaryIO:
    try:
        return path.open("rb", buffering=_BUFFER)
    except OSError as error:
        message = f"cannot read the file: {error.strerror}"
        raise UsageError(message, path=str(path), hint="Name a file that exists and that you may read.") from error


class InMemoryFiles:
    """Files in a dictionary, for content that was read already and for tests."""

    def __init__(self, contents: Mapping[str, bytes], *, name: str = "files") -> None:
        self.name = name
        self._contents = dict(contents)

    def paths(self) -> Sequence[str]:
        """All paths, sorted."""
        return sorted(self._contents)

    def size(self, path: str) -> int:
        """The bytes of a file."""
        return len(self._contents[path])

    def open(self, path: str) -> BinaryIO:
        """The bytes of a file, as a stream."""
        return io.BytesIO(self._contents[path])

    def skips(self) -> Sequence[ImportSkip]:
        """Return nothing: every file can be read."""
        return ()


class OneFile:
    """One file on its own; its path is its name."""

    def __init__(self, path: Path) -> None:
        self.name = str(path)
        self._path = path

    def paths(self) -> Sequence[str]:
        """The name of the file."""
        return (self._path.name,)

    def size(self, path: str) -> int:
        """The bytes of the file."""
        return self._path.stat().st_size

    def open(self, path: str) -> BinaryIO:
        """The bytes of the file, as a stream."""
        return _open_file(self._path)

    def skips(self) -> Sequence[ImportSkip]:
        """Return nothing: the file is the only one."""
        return ()


class FolderFiles:
    """The files below a folder, without links and hidden ones."""

    def __init__(self, folder: Path) -> None:
        self.name = str(folder)
        self._folder = folder
        self._sizes: dict[str, int] = {}
        self._skips: list[ImportSkip] = []
        for path, entry in _walk(str(folder), self._skips):
            self._sizes[path] = entry.stat(follow_symlinks=False).st_size
            if len(self._sizes) > MAX_FILES:
                raise UsageError(f"more than {MAX_FILES} files", path=self.name, hint="Name a folder further down.")

    def paths(self) -> Sequence[str]:
        """The paths below the folder, sorted."""
        return sorted(self._sizes)

    def size(self, path: str) -> int:
        """The bytes of a file."""
        return self._sizes[path]

    def open(self, path: str) -> BinaryIO:
        """The bytes of a file, as a stream."""
        return _open_file(self._folder / path)

    def skips(self) -> Sequence[ImportSkip]:
        """The links, and folders that cannot be read."""
        return self._skips


def _walk(folder: str, skips: list[ImportSkip]) -> Iterator[tuple[str, "os.DirEntry[str]"]]:
    """Every plain file below the folder with its relative path; adds to the skips what is left out."""
    waiting = [""]
    while waiting:
        below = waiting.pop()
        try:
            entries = sorted(os.scandir(os.path.join(folder, below)), key=lambda each: each.name)
        except OSError as error:
            skips.append(ImportSkip(below or folder, f"the folder cannot be read: {error.strerror}"))
            continue
        for entry in entries:
            path = posixpath.join(below, entry.name)
            if _is_hidden(entry.name):
                continue
            if entry.is_symlink():
                skips.append(ImportSkip(path, "a link; links are not followed"))
            elif entry.is_dir(follow_symlinks=False):
                waiting.append(path)
            elif entry.is_file(follow_symlinks=False):
                yield path, entry


def _is_hidden(name: str) -> bool:
    return name.startswith(".") or name in _HIDDEN_FOLDERS


class ZipFiles:
    """The files in a zip. Raises UsageError if it is damaged, or unpacks to more than it should."""

    def __init__(self, file: Path | IO[bytes], *, name: str) -> None:
        self.name = name
        self._skips: list[ImportSkip] = []
        try:
            self._zip = zipfile.ZipFile(file)
        except (zipfile.BadZipFile, OSError, NotImplementedError, ValueError) as error:
            raise self._damaged(error) from error
        if not isinstance(file, Path):
            weakref.finalize(self, file.close)
        entries = self._zip.infolist()
        if len(entries) > MAX_FILES:
            raise UsageError(f"the zip has more than {MAX_FILES} files", path=self.name, hint=_UNPACK_HINT)
        self._entries = dict(self._readable(entries))
        if any(entry.flag_bits & _ENCRYPTED for entry in self._entries.values()):
            raise UsageError("the zip is encrypted", path=self.name, hint=_UNPACK_HINT)
        self._unpacked = 0

    def _readable(self, entries: Sequence[zipfile.ZipInfo]) -> Iterator[tuple[str, zipfile.ZipInfo]]:
        for entry in entries:
            path = entry.filename.replace("\\", "/")
            parts = path.split("/")
            if entry.is_dir() or any(_is_hidden(part) and part != ".." for part in parts):
                continue
            if ".." in parts or path.startswith("/") or _DRIVE.match(path) or not path.isprintable():
                self._skips.append(ImportSkip(path[:200], "its path leads outside of the zip"))
            elif stat.S_ISLNK(entry.external_attr >> 16):
                self._skips.append(ImportSkip(path, "a link; links are not followed"))
            else:
                yield path, entry

    def paths(self) -> Sequence[str]:
        """The paths in the zip, sorted."""
        return sorted(self._entries)

    def size(self, path: str) -> int:
        """The bytes of a file, as the zip says."""
        return self._entries[path].file_size

    def open(self, path: str) -> BinaryIO:
        """The bytes of a file, as a stream that raises UsageError where the zip is damaged or a bomb."""
        entry = self._entries[path]
        try:
            stream = self._zip.open(entry)
        except (zipfile.BadZipFile, OSError, NotImplementedError, RuntimeError) as error:
            raise self._damaged(error) from error
        limit = max(_SMALL, entry.compress_size * MAX_RATIO)
        return io.BufferedReader(_UnpackedStream(stream, self._admit(limit), self._damaged), _BUFFER)

    def skips(self) -> Sequence[ImportSkip]:
        """The links, and the entries whose paths lead outside of the zip."""
        return self._skips

    def _admit(self, limit: int) -> Callable[[int], None]:
        """A function that counts the unpacked bytes of one entry, and raises UsageError beyond the limits."""
        unpacked = 0

        def admit(count: int) -> None:
            nonlocal unpacked
            unpacked += count
            self._unpacked += count
            if unpacked > limit or self._unpacked > MAX_UNPACKED:
                raise UsageError("the zip unpacks to far more than its size", path=self.name, hint=_UNPACK_HINT)

        return admit

    def _damaged(self, error: Exception) -> UsageError:
        hint = f"Download it again. {_UNPACK_HINT}"
        return UsageError(f"the zip is damaged or of an unknown kind: {error}", path=self.name, hint=hint)


class MergedFiles:
    """The files of several zips as one; of files with the same path, the first one counts."""

    def __init__(self, name: str, parts: Sequence[ZipFiles]) -> None:
        self.name = name
        self._parts = {path: part for part in reversed(parts) for path in part.paths()}
        self._skips = [skip for part in parts for skip in part.skips()]

    def paths(self) -> Sequence[str]:
        """The paths in all of them, sorted."""
        return sorted(self._parts)

    def size(self, path: str) -> int:
        """The bytes of a file, as its zip says."""
        return self._parts[path].size(path)

    def open(self, path: str) -> BinaryIO:
        """The bytes of a file, as a stream."""
        return self._parts[path].open(path)

    def skips(self) -> Sequence[ImportSkip]:
        """What cannot be read in any of them."""
        return self._skips


_Damage = Callable[[Exception], UsageError]


class _UnpackedStream(io.RawIOBase):
    """An entry of a zip; every byte is counted, and damage is a UsageError."""

    def __init__(self, stream: IO[bytes], admit: Callable[[int], None], damaged: _Damage) -> None:
        self._stream, self._admit, self._damaged = stream, admit, damaged

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "bytearray | memoryview") -> int:  # type: ignore[override]
        try:
            content = self._stream.read(len(buffer))
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError) as error:
            raise self._damaged(error) from error
        self._admit(len(content))
        buffer[: len(content)] = content
        return len(content)

    def close(self) -> None:
        self._stream.close()
        super().close()


class CountedFiles:
    """Other files, whose bytes are counted as they are read: `done` of `total`, for progress."""

    def __init__(self, files: ImportFiles) -> None:
        self._files = files
        self.done = 0

    @property
    def name(self) -> str:
        """What the person named."""
        return self._files.name

    def paths(self) -> Sequence[str]:
        """All files, sorted."""
        return self._files.paths()

    def size(self, path: str) -> int:
        """The bytes of a file."""
        return self._files.size(path)

    def open(self, path: str) -> BinaryIO:
        """The bytes of a file, as a stream that counts them."""
        return io.BufferedReader(_CountedStream(self._files.open(path), self), _BUFFER)

    def skips(self) -> Sequence[ImportSkip]:
        """What is among the files and cannot be read."""
        return self._files.skips()


class _CountedStream(io.RawIOBase):
    """A stream that adds what is read to the count of its files."""

    def __init__(self, stream: BinaryIO, files: CountedFiles) -> None:
        self._stream, self._files = stream, files

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "bytearray | memoryview") -> int:  # type: ignore[override]
        content = self._stream.read(len(buffer))
        self._files.done += len(content)
        buffer[: len(content)] = content
        return len(content)

    def close(self) -> None:
        self._stream.close()
        super().close()
