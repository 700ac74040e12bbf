"""Maintenance of an index's files: writing and merging segments, erasing chunks from them, replacing the whole index.

A rebuilt index replaces the old one for every process at once: the name of the index becomes a symbolic link to the new
file. SQLite keeps its log next to the file to which a link points, so the logs of both files never share a name.
"""

import shutil
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from uuid import uuid4

import apsw

from commonplace.database import Database, translate_errors
from commonplace.database.connection import exclusive_lock
from commonplace.database.errors import locked_error
from commonplace.errors import IndexDamaged
from commonplace.index.base import VectorCache
from commonplace.index.segments.segment_file import (
    SegmentFile,
    UnsegmentedChunks,
    is_bad_segment,
    next_range,
    write_segment,
)
from commonplace.index.sqlite.snapshots import KEPT_GENERATIONS, open_segment_folder, read_segment, segment_files
from commonplace.index.tables.sql import INDEX_ERRORS

# Documents do not overlap: of those that begin before the range, only the last can reach into it.
_LIVING: Final = """
SELECT coalesce(sum(max(0, min(first_chunk + chunk_count - 1, :last) - max(first_chunk, :first) + 1)), 0)
FROM memory_documents INDEXED BY memory_documents_by_chunk
WHERE first_chunk <= :last AND chunk_count > 0 AND first_chunk >= coalesce(
  (SELECT max(first_chunk) FROM memory_documents WHERE first_chunk < :first AND chunk_count > 0), 0)
"""
_LIVING_LISTED: Final = "SELECT name, living FROM memory_segments"
_DELETE: Final = "DELETE FROM memory_documents WHERE key = ?"
_LAST_NUMBER: Final = "SELECT coalesce(max(number), 0) FROM memory_chunks"
_IDENTITY: Final = "SELECT identity FROM memory_state"
_UNLIST: Final = "DELETE FROM memory_segments WHERE first <= :last AND last >= :first"
_LIST: Final = (
    "INSERT INTO memory_segments (first, last, chunks, living, name, size, mtime) VALUES (?, ?, ?, ?, ?, ?, ?)"
)
_DROP_NEW_VECTORS: Final = "DELETE FROM memory_new_vectors WHERE number BETWEEN :first AND :last"
BUMP_GENERATION: Final = f"""
UPDATE memory_state SET generation = generation + 1;
DELETE FROM memory_changes WHERE generation <= (SELECT generation FROM memory_state) - {KEPT_GENERATIONS};
"""  # noqa: S608
"""Part of every change, so that a snapshot of an earlier state is recognized as such."""


# ---------------------------------------------------------------- segments


@dataclass(frozen=True, slots=True)
class SegmentMaintenance:
    """Writes the segment files of the index in `file`, of `min_chunks` to `max_chunks` each.

    `damaged` are the names of files that were found to be damaged, by a search too; `checked` those that were read
    whole and are not.
    """

    file: Path
    database: Database
    cache: VectorCache | None
    min_chunks: int
    max_chunks: int
    wait: float
    damaged: set[str]
    checked: set[str] = field(default_factory=set)

    def optimize(self, *, check: bool = False) -> None:
        """Write segments until none is due; does nothing if another process is doing it. Writers need not wait.

        With `check`, all files that this process did not check before are read; damaged ones are written again.
        """
        with translate_errors(self.file, INDEX_ERRORS), self._lock(wait=0) as is_locked:
            if not is_locked:
                return
            if check:
                self.find_damaged(without=frozenset(self.checked))
            if self._write_next():
                while self._write_next():
                    pass
                self.database.shrink()
            with self.database.read_transaction() as connection:
                _delete_unlisted_files(connection)

    def find_damaged(self, *, without: frozenset[str] = frozenset()) -> tuple[str, ...]:
        """The names of the segment files that are missing or not as they were written; reads all but `without`."""
        with self.database.read_transaction() as connection:
            folder = open_segment_folder(connection)
            files = [each for each in segment_files(connection) if each.name not in without]
        bad = {each.name for each in files if is_bad_segment(folder, each, check=True)}
        with self.database.read_transaction() as connection:  # another process may have replaced some meanwhile
            bad &= {each.name for each in segment_files(connection)}
        self.damaged.update(bad)
        self.checked.update({each.name for each in files} - bad)
        return tuple(sorted(bad))

    def erase(self, key: int | None) -> None:
        """Delete the document with that key, and rewrite every segment that holds a chunk which no longer exists.

        Chunks of the document's earlier versions may be in any segment, and nothing says whose a deleted chunk was.
        """
        with translate_errors(self.file, INDEX_ERRORS), self._lock(wait=self.wait) as is_locked:
            if not is_locked:
                raise locked_error(self.file, INDEX_ERRORS)
            with self.database.write_transaction() as connection:
                connection.execute(_DELETE, (key,))
                connection.execute(BUMP_GENERATION)
                living = _living_listed(connection)
                for each in segment_files(connection):
                    if each.chunks > living[each.name]:
                        segment = read_segment(connection, each.first, each.last, self.cache)
                        _list_segment(connection, write_segment(open_segment_folder(connection), segment))
            with self.database.read_transaction() as connection:
                _delete_unlisted_files(connection)

    def _lock(self, *, wait: float) -> AbstractContextManager[bool]:
        return exclusive_lock(self.file.with_name(f"{self.file.name}.lock-segments"), wait=wait)

    def _write_next(self) -> bool:
        """Write the segment that is due; False if none is."""
        with self.database.read_transaction() as connection:
            identity: str = connection.execute(_IDENTITY).get
            folder, due = open_segment_folder(connection), self._next_range(connection)
            if due is None:
                return False
            try:
                written = write_segment(folder, read_segment(connection, *due, self.cache))
            except FileNotFoundError:  # a rebuild deleted the folder: this index is no longer the current one
                return False
        with self.database.write_transaction() as connection:
            if connection.execute(_IDENTITY).get == identity:
                _list_segment(connection, written)
                connection.execute(BUMP_GENERATION)
                return True
            if open_segment_folder(connection) != folder:  # that of the replaced index, which we may have re-created
                shutil.rmtree(folder, ignore_errors=True)
        return False

    def _next_range(self, connection: apsw.Connection) -> tuple[int, int] | None:
        files = segment_files(connection)
        covered = max((each.last for each in files), default=0)
        last: int = connection.execute(_LAST_NUMBER).get
        return next_range(
            files,
            living=_living_listed(connection),
            bad=self._bad_files(open_segment_folder(connection), files),
            newer=UnsegmentedChunks(covered + 1, last, _living(connection, covered + 1, last)),
            min_chunks=self.min_chunks,
            max_chunks=self.max_chunks,
        )

    def _bad_files(self, folder: Path, files: Sequence[SegmentFile]) -> frozenset[str]:
        return frozenset(each.name for each in files if each.name in self.damaged or is_bad_segment(folder, each))


def _living_listed(connection: apsw.Connection) -> dict[str, int]:
    """How many chunks of each listed segment still exist, by its name."""
    return dict(connection.execute(_LIVING_LISTED))


def _living(connection: apsw.Connection, first: int, last: int) -> int:
    """How many chunks of that range exist, computed from the documents: their rows are few and small."""
    living: int = connection.execute(_LIVING, {"first": first, "last": last}).get
    return living


def _list_segment(connection: apsw.Connection, written: SegmentFile) -> None:
    """List the segment in place of those that it overlaps. Its vectors need no row any more."""
    connection.execute(_UNLIST, {"first": written.first, "last": written.last})
    living = _living(connection, written.first, written.last)
    row = (written.first, written.last, written.chunks, living, written.name, written.size, written.mtime)
    connection.execute(_LIST, row)
    connection.execute(_DROP_NEW_VECTORS, {"first": written.first, "last": written.last})


def _delete_unlisted_files(connection: apsw.Connection) -> None:
    """Delete replaced segment files, and those that a killed process left unfinished."""
    listed = {each.name for each in segment_files(connection)}
    with suppress(FileNotFoundError):  # another process may delete the folder meanwhile
        for file in open_segment_folder(connection).iterdir():
            if file.name not in listed:
                file.unlink(missing_ok=True)


# ---------------------------------------------------------------- the whole index


@contextmanager
def replace_index(file: Path, database: Database, *, wait: float) -> Iterator[Path]:
    """A path for a new index, which replaces the one in `file` if the block succeeds.

    Raises VaultUnavailable(locked) if another process is replacing it.
    """
    with ExitStack() as stack:
        with translate_errors(file, INDEX_ERRORS):
            if not stack.enter_context(exclusive_lock(file.with_name(f"{file.name}.lock"), wait=wait)):
                raise locked_error(file, INDEX_ERRORS)
            _delete_other_indexes(file)
        fresh = file.with_name(f"{file.name}.new-{uuid4().hex}")
        try:
            yield fresh
            with translate_errors(file, INDEX_ERRORS):
                _switch(file, fresh, database)
        finally:
            with translate_errors(file, INDEX_ERRORS):
                _delete_other_indexes(file)


def _switch(file: Path, fresh: Path, database: Database) -> None:
    """Switch to the new file while no process writes to the old one, whose changes would be lost.

    No process can write to a damaged one.
    """
    try:
        with database.write_transaction():
            _point(file, fresh)
    except IndexDamaged:
        _point(file, fresh)


def _point(file: Path, fresh: Path) -> None:
    link = fresh.with_name(f"{fresh.name}.link")
    link.symlink_to(fresh.name)
    link.replace(file)


def _delete_other_indexes(file: Path) -> None:
    """Delete the files of replaced indexes, and those of a rebuild that was killed."""
    current = file.resolve().name
    if current != file.name:
        prefixes = (current, f"{file.name}.lock")
        for each in file.parent.glob(f"{file.name}?*"):
            if not each.name.startswith(prefixes) or each.name == f"{current}.lock-segments":
                _delete(each)
    else:
        for each in file.parent.glob(f"{file.name}.new-*"):
            _delete(each)


def _delete(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
