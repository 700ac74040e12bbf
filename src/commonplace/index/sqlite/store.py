"""`Index` in SQL: what is written, each change in one transaction."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import apsw

from commonplace.database import Database
from commonplace.errors import Conflict, NotFound
from commonplace.index.base import Linker, Rules
from commonplace.index.shrinking import Fixed
from commonplace.index.sqlite.documents import (
    has_same_chunks,
    insert_document,
    stored_hashes,
    update_chunks,
    update_document,
)
from commonplace.index.sqlite.facts import Facts, Touched
from commonplace.index.sqlite.links import Links
from commonplace.index.sqlite.reading import SqliteReading
from commonplace.index.sqlite.rows import STAMP_COLUMNS, json_text, stamp_of, storable, text_of_time
from commonplace.index.sqlite.schema import MIGRATIONS, WORDING
from commonplace.index.sqlite.segments import BUMP, Segments
from commonplace.index.sqlite.settling import LEAST, MOST
from commonplace.index.sqlite.swap import replacing
from commonplace.index.sqlite.topics import Share, Topics
from commonplace.index.sqlite.views import View, Views
from commonplace.model import Document, Stamp

_OF_SOURCE: Final = " FROM memory_documents WHERE user_id = ? AND source_type = ?"
_STAMPS: Final = f"SELECT {STAMP_COLUMNS}{_OF_SOURCE}"
_KNOWN: Final = (
    "SELECT key, source_id, deleted_at IS NOT NULL, first_chunk, chunk_count, embedding_version, aliases_json,"
    f" made_from{_OF_SOURCE} AND source_id = ?"
)
_REMOVE: Final = "UPDATE memory_documents SET deleted_at = ? WHERE key = ?"
_DELETE: Final = "DELETE FROM memory_documents WHERE key = ?"
_PURGE: Final = "DELETE FROM memory_documents WHERE user_id = ? AND deleted_at < ?"
_SYNC: Final = "INSERT INTO memory_syncs (user_id, at) VALUES (?, ?) ON CONFLICT DO UPDATE SET at = excluded.at"
_TRIES: Final = 5


@dataclass(frozen=True, slots=True)
class _Known:
    key: int
    source_id: str
    deleted: int
    first_chunk: int
    chunk_count: int
    version: str
    aliases: str
    made_from: str


@dataclass(frozen=True, slots=True)
class _Before:
    touched: Touched
    share: Share | None


class SqliteIndex:
    """The index of one user in that file, made at first use; any number of processes may use it at once.

    `wait` is how many seconds a change waits for its turn before it raises VaultUnavailable(locked).
    `least` and `most` are how many chunks make a segment.
    """

    def __init__(
        self,
        file: Path,
        *,
        user: str,
        linker: Linker,
        rules: Rules,
        wait: float = 10.0,
        least: int = LEAST,
        most: int = MOST,
    ) -> None:
        self._file = file
        self._user = user
        self._database = Database(file, migrations=MIGRATIONS, wording=WORDING, wait=wait)
        self._links = Links(user=user, linker=linker)
        self._facts = Facts(user=user, rules=rules)
        self._topics = Topics(user=user)
        self._segments = Segments(file, self._database, least=least, most=most, wait=wait)
        self._views = Views()

    def stamps(self, source_type: str) -> Mapping[str, Stamp]:
        """What is remembered of every document of a source, the removed ones too, by its `source_id`."""
        with self._database.reading() as connection:
            rows: list[Any] = connection.execute(_STAMPS, (self._user, source_type)).fetchall()
        return {source_id: stamp_of(row) for source_id, *row in rows}

    def stamp(self, source_type: str, source_id: str) -> Stamp | None:
        """The same for one document."""
        with self._database.reading() as connection:
            asked = (self._user, source_type, storable(source_id))
            row = connection.execute(f"{_STAMPS} AND source_id = ?", asked).fetchone()
        return stamp_of(row[1:]) if row else None

    def part_hashes(self, source_type: str, source_id: str) -> tuple[str, ...]:
        """The sha256 of each text of which the document has a vector, a removed one too; () when it is not there."""
        with self._database.reading() as connection:
            known = self._known(connection, source_type, source_id)
            return stored_hashes(connection, first=known.first_chunk, count=known.chunk_count) if known else ()

    def put(self, document: Document, vectors: Sequence[Fixed], *, now: float) -> None:
        """Add a document that is not there yet, nor was removed. Raises Conflict, UsageError."""
        with self._changing() as connection:
            if self._known(connection, document.source_type, document.source_id):
                raise _taken(document.source_id)
            self._replace(connection, None, document, vectors, now=now)

    def upsert(self, document: Document, vectors: Sequence[Fixed], *, now: float) -> None:
        """Add a document or replace it with its chunks and vectors. Raises UsageError."""
        with self._changing() as connection:
            known = self._known(connection, document.source_type, document.source_id)
            self._replace(connection, known, document, vectors, now=now)

    def touch(self, document: Document, *, now: float) -> None:
        """Bring a document up to date in everything but its chunks and their version.

        Raises NotFound, and Conflict when the chunks that are there were made from something else.
        """
        with self._changing() as connection:
            known = self._known(connection, document.source_type, document.source_id)
            if not known:
                raise _missing(document.source_id)
            if known.made_from != document.made_from:
                raise _changed(known.source_id, document.source_id)
            self._update(connection, known, document, now=now)

    def rename(self, source_id: str, document: Document, *, now: float) -> None:
        """Give the document at `source_id` the id, path and particulars of this one, and its chunks their new ids.

        Raises NotFound, and Conflict when the path is taken or the chunks are others.
        """
        with self._changing() as connection:
            known = self._known(connection, document.source_type, source_id)
            if not known:
                raise _missing(source_id)
            self._make_way(connection, known, document)
            has_same = has_same_chunks(
                connection, document, first=known.first_chunk, count=known.chunk_count, version=known.version
            )
            if not has_same:
                raise _changed(source_id, document.source_id)
            self._update(connection, known, document, now=now)
            update_chunks(connection, known.key, document.chunks, first=known.first_chunk)

    def remove(self, source_type: str, source_id: str, *, now: float) -> bool:
        """Let nothing find the document any more; whether it was there."""
        with self._changing() as connection:
            known = self._known(connection, source_type, source_id)
            if not known or known.deleted:
                return False
            names = self._links.names(connection, known.key)
            before = self._before(connection, known, None)
            connection.execute(_REMOVE, (text_of_time(now), known.key))
            connection.execute("DELETE FROM memory_names WHERE document = ?", (known.key,))
            self._facts.drop(connection, known.key)
            self._after(connection, known.key, before)
            self._links.resolve(connection, None, names)
        return True

    def erase(self, source_type: str, source_id: str) -> bool:
        """Leave no trace of the document in any file of the index; whether it was there."""
        self.remove(source_type, source_id, now=0.0)
        with self._database.reading() as connection:
            known = self._known(connection, source_type, source_id)
        self._segments.erase(_DELETE, known.key if known else None)  # what was purged may still be in a segment
        self._views.forget()
        self._database.scrub()
        return known is not None

    def purge(self, *, before: float) -> int:
        """Drop the documents that were removed before that moment; how many."""
        with self._database.changing() as connection:
            connection.execute(_PURGE, (self._user, text_of_time(before)))
            gone = connection.changes()
            if gone:
                connection.execute(BUMP)
        return gone

    def mark_synced(self, at: str) -> None:
        """Remember when a whole source was compared with the index."""
        with self._database.changing() as connection:
            connection.execute(_SYNC, (self._user, at))

    def settle(self) -> None:
        """Make segments of what was written lately, if it is worth it; write bad ones anew."""
        self._segments.settle()

    @contextmanager
    def reading(self) -> Iterator[SqliteReading]:
        """A look at the index at this moment."""
        with self._database.reading() as connection:
            view = self._view(connection)
            yield SqliteReading(connection, view, links=self._links, facts=self._facts)

    @contextmanager
    def rebuilding(self) -> Iterator["SqliteIndex"]:
        """A new, empty index that takes the place of this one, for all its users, when the block ends well."""
        with replacing(self._file, self._database, wait=self._segments.wait) as path:
            fresh = self._like(path)
            yield fresh
            fresh.settle()
            fresh.close()
        self.close()

    def close(self) -> None:
        """Close the file and let go of the segments; the next call opens them again."""
        self._views.forget()
        self._database.close()

    def _like(self, path: Path) -> "SqliteIndex":
        of, linker, rules = self._segments, self._links.linker, self._facts.rules
        return SqliteIndex(
            path, user=self._user, linker=linker, rules=rules, wait=of.wait, least=of.least, most=of.most
        )

    def _view(self, connection: apsw.Connection) -> View:
        """The view that belongs to the connection's transaction, which begins anew when segments were just switched."""
        for _ in range(_TRIES):
            view = self._views.at(connection)
            if view:
                return view
            connection.execute("COMMIT; BEGIN")
        return self._views.from_rows(connection)

    @contextmanager
    def _changing(self) -> Iterator[apsw.Connection]:
        with self._database.changing() as connection:
            yield connection
            connection.execute(BUMP)

    def _known(self, connection: apsw.Connection, source_type: str, source_id: str) -> _Known | None:
        row = connection.execute(_KNOWN, (self._user, source_type, storable(source_id))).fetchone()
        return _Known(*row) if row else None

    def _replace(
        self,
        connection: apsw.Connection,
        known: _Known | None,
        document: Document,
        vectors: Sequence[Fixed],
        *,
        now: float,
    ) -> None:
        names = self._links.names(connection, known.key) if known else frozenset()
        before, own = self._before(connection, known, document), replace(document, user=self._user)
        if known:
            connection.execute(_DELETE, (known.key,))
        key = insert_document(connection, own, vectors, now=now)
        self._facts.write(connection, key, own)
        self._after(connection, key, before)
        self._link(connection, key, document, known=known, before=names)

    def _update(self, connection: apsw.Connection, known: _Known, document: Document, *, now: float) -> None:
        names = self._links.names(connection, known.key)
        before, own = self._before(connection, known, document), replace(document, user=self._user)
        update_document(connection, known.key, own, now=now)
        self._facts.write(connection, known.key, own)
        self._after(connection, known.key, before)
        self._link(connection, known.key, document, known=known, before=names)

    def _before(self, connection: apsw.Connection, known: _Known | None, document: Document | None) -> _Before:
        """What facts and topics must know of a document before another takes its place."""
        key = known.key if known else None
        return _Before(self._facts.touched(connection, key, document), self._topics.share(connection, key))

    def _after(self, connection: apsw.Connection, key: int, before: _Before) -> None:
        """Bring facts and topics to what they would be if the document with that key had always been as it is now."""
        self._facts.settle(connection, before.touched)
        self._topics.exchange(connection, before.share, self._topics.share(connection, key))

    def _link(
        self, connection: apsw.Connection, key: int, document: Document, *, known: _Known | None, before: frozenset[str]
    ) -> None:
        """Resolve the document's links, and others that may mean another note now than before."""
        names = self._links.write(connection, key, document)
        is_the_same = known and known.source_id == document.source_id and known.aliases == json_text(document.aliases)
        self._links.resolve(connection, key, before ^ names if is_the_same else before | names)

    def _make_way(self, connection: apsw.Connection, known: _Known, document: Document) -> None:
        """Free the path that the document will have, if a removed one holds it. Raises Conflict if a live one does."""
        other = self._known(connection, document.source_type, document.source_id)
        if other is None or other.key == known.key:
            return
        if not other.deleted:
            raise _taken(document.source_id)
        connection.execute(_DELETE, (other.key,))


def _taken(path: str) -> Conflict:
    return Conflict(f"{path} is in the index already", path=path, hint="Read it again and replace it instead.")


def _changed(old: str, path: str) -> Conflict:
    return Conflict(f"{path} has other chunks than {old}", path=path, hint="Replace it instead.")


def _missing(path: str) -> NotFound:
    return NotFound(f"{path} is not in the index", path=path, hint="Add it instead.")
