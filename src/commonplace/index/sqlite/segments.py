"""The segments of an index file: made of what was written lately, kept few, and written anew when they are bad."""

import shutil
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import apsw

from commonplace.database import Database, database_trouble
from commonplace.database.trouble import locked
from commonplace.index.sqlite.folder import clear, only_one
from commonplace.index.sqlite.schema import WORDING
from commonplace.index.sqlite.segment_file import BadSegment, Named, open_segment, write_segment
from commonplace.index.sqlite.segment_rows import read_segment
from commonplace.index.sqlite.settling import Newer, next_range
from commonplace.index.sqlite.views import folder_of, named_segments

_LIVING: Final = """
SELECT coalesce(sum(min(first_chunk + chunk_count - 1, :last) - max(first_chunk, :first) + 1), 0)
FROM memory_documents WHERE first_chunk <= :last AND first_chunk + chunk_count > :first AND chunk_count > 0
"""
_LAST: Final = "SELECT coalesce(max(number), 0) FROM memory_chunks"
_IDENTITY: Final = "SELECT identity FROM memory_state"
_DROP: Final = "DELETE FROM memory_segments WHERE first <= :last AND last >= :first"
_NAME: Final = "INSERT INTO memory_segments (first, last, chunks, name, size, mtime) VALUES (?, ?, ?, ?, ?, ?)"
BUMP: Final = "UPDATE memory_state SET generation = generation + 1"
"""What every change does, so that a view of an earlier state is known as such."""


@dataclass(frozen=True, slots=True)
class Segments:
    """The segments of the index in `file`, in a folder beside it."""

    file: Path
    database: Database
    least: int
    most: int
    wait: float

    def settle(self) -> None:
        """Make segments until all is well; nothing when another process is at it. Writers do not wait for this."""
        with database_trouble(self.file, WORDING), self._alone(wait=0) as is_mine:
            if not is_mine:
                return
            while self._make_next():
                pass
            with self.database.reading() as connection:
                _clear(connection)

    def erase(self, deletion: str, key: int | None) -> None:
        """Run the deletion of a document, and write every segment anew that holds a chunk which is no longer there.

        Those of the document's earlier versions may lie anywhere, and nothing tells whose a chunk was that is gone.
        """
        with database_trouble(self.file, WORDING), self._alone(wait=self.wait) as is_mine:
            if not is_mine:
                raise locked(self.file, WORDING)
            with self.database.changing() as connection:
                connection.execute(deletion, (key,))
                connection.execute(BUMP)
                for each in named_segments(connection):
                    if each.chunks > _living(connection, each.first, each.last):
                        segment = read_segment(connection, each.first, each.last)
                        _switch(connection, write_segment(folder_of(connection), segment))
            with self.database.reading() as connection:
                _clear(connection)

    def _alone(self, *, wait: float) -> AbstractContextManager[bool]:
        return only_one(self.file.with_name(f"{self.file.name}.lock-segments"), wait=wait)

    def _make_next(self) -> bool:
        """Make the segment that is due; whether there was one."""
        with self.database.reading() as connection:
            identity: str = connection.execute(_IDENTITY).get
            folder, due = folder_of(connection), self._due(connection)
            if due is None:
                return False
            try:
                written = write_segment(folder, read_segment(connection, *due))
            except FileNotFoundError:  # a rebuild took the folder away: this index is no longer the one that counts
                return False
        with self.database.changing() as connection:
            if connection.execute(_IDENTITY).get == identity:
                _switch(connection, written)
                connection.execute(BUMP)
                return True
            if folder_of(connection) != folder:  # of the index that was replaced; writing may have made it again
                shutil.rmtree(folder, ignore_errors=True)
        return False

    def _due(self, connection: apsw.Connection) -> tuple[int, int] | None:
        named = named_segments(connection)
        covered = max((each.last for each in named), default=0)
        last: int = connection.execute(_LAST).get
        newer = Newer(covered + 1, last, _living(connection, covered + 1, last))
        return next_range(
            named,
            living={each.name: _living(connection, each.first, each.last) for each in named},
            bad=_bad(folder_of(connection), named),
            newer=newer,
            least=self.least,
            most=self.most,
        )


def _bad(folder: Path, named: Sequence[Named]) -> frozenset[str]:
    bad = set()
    for each in named:
        try:
            open_segment(folder, each)
        except (BadSegment, FileNotFoundError):
            bad.add(each.name)
    return frozenset(bad)


def _clear(connection: apsw.Connection) -> None:
    """Take away the files that no longer count, and those of a process that was killed while it wrote one."""
    clear(folder_of(connection), keep=frozenset(each.name for each in named_segments(connection)))


def _living(connection: apsw.Connection, first: int, last: int) -> int:
    """How many chunks of that range are there, told by the documents: their rows are few and small."""
    living: int = connection.execute(_LIVING, {"first": first, "last": last}).get
    return living


def _switch(connection: apsw.Connection, written: Named) -> None:
    """Let this segment count in the place of those that it overlaps."""
    connection.execute(_DROP, {"first": written.first, "last": written.last})
    row = (written.first, written.last, written.chunks, written.name, written.size, written.mtime)
    connection.execute(_NAME, row)
