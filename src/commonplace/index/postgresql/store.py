"""`Index` in PostgreSQL: every change is one transaction, on one build of a tenant's rows."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final, cast

from commonplace.database.postgresql import PostgresqlServer, TenantDatabase
from commonplace.index.base import Linker, Rules
from commonplace.index.options import VectorSearch
from commonplace.index.postgresql.approximate import APPROXIMATE_FROM, index_vectors
from commonplace.index.postgresql.builds import VAULT_BUILD, BuildState, replacing, require_build, state_of
from commonplace.index.postgresql.postings import (
    MAX_CHUNKS,
    MIN_CHUNKS,
    due_range,
    segments_with_deleted,
    write_postings,
)
from commonplace.index.postgresql.queries import BuildSnapshot, PostgresqlReader
from commonplace.index.postgresql.schema import AREA
from commonplace.index.postgresql.statements import BuildConnection
from commonplace.index.postgresql.vectors import store_vectors
from commonplace.index.segments.segment import body_length
from commonplace.index.tables.changes import DocumentChanges, SqlIndex
from commonplace.index.tables.documents import PlacedDocument
from commonplace.index.tables.facts import fact_of
from commonplace.index.tables.sql import SqlConnection
from commonplace.model import Document

_NEXT_NUMBER: Final = "SELECT next_number FROM memory_state"
_TAKE_NUMBERS: Final = "UPDATE memory_state SET next_number = next_number + ? WHERE next_number >= 0"
_CHANGED: Final = "UPDATE memory_state SET generation = generation + 1 WHERE generation >= 0"
_SEGMENTS: Final = "segments"  # the lock of those who write segments


class PostgresqlIndex(SqlIndex):
    """The index of one tenant, created at first use; any number of processes on any number of machines may share it.

    `name` is that of its build. `min_chunks` and `max_chunks` bound the size of a segment of postings. With approximate
    `search`, a build of at least `approximate_from` parts is searched by an HNSW index.
    """

    def __init__(
        self,
        server: PostgresqlServer,
        *,
        tenant: str,
        user: str,
        linker: Linker,
        rules: Rules,
        name: str = VAULT_BUILD,
        search: VectorSearch = "exact",
        approximate_from: int = APPROXIMATE_FROM,
        min_chunks: int = MIN_CHUNKS,
        max_chunks: int = MAX_CHUNKS,
    ) -> None:
        super().__init__(DocumentChanges(user=user, linker=linker, rules=rules, engine=_PostgresqlRows()))
        self._server, self._name, self._search = server, name, search
        self._database = TenantDatabase(server, AREA, tenant=tenant)
        self._min_chunks, self._max_chunks = min_chunks, max_chunks
        self._approximate_from = approximate_from
        self._newest: BuildSnapshot | None = None

    def erase(self, source_type: str, source_id: str) -> bool:
        """Delete every trace of the document from the rows of the index; False if there was none.

        When PostgreSQL overwrites what its files had of deleted rows is its own affair: docs/guide/postgresql.md.
        """
        self.remove(source_type, source_id, now=0.0)
        with self._database.exclusive(f"{_SEGMENTS}/{self._name}"), self._change() as connection:
            row = self._changes.row(connection, source_type, source_id)
            if row:
                self._changes.delete(connection, row.key)
            build = cast(BuildConnection, connection)
            for first, last in segments_with_deleted(build):  # a purged document may still be in a segment
                write_postings(build, first, last)
        self.close()
        fact_of.cache_clear()
        return row is not None

    def optimize(self, *, check: bool = False) -> None:
        """Write the words of recent chunks to segments, if it is worth the work; nothing if another process does.

        In approximate search, also create the index of the vectors once there are enough of them.
        """
        is_due = check
        while self._write_segment():
            is_due = True
        if is_due and self._search == "approximate":
            with self._database.read_transaction() as plain:
                build = state_of(plain, tenant=self._database.tenant, name=self._name).build
            index_vectors(self._database, build=build, least=self._approximate_from)

    def damaged_files(self) -> tuple[str, ...]:
        """Nothing: there are no files. Raises VaultUnavailable if nothing can be written."""
        with self._writing():
            return ()

    @contextmanager
    def reader(self) -> Iterator[PostgresqlReader]:
        """A reader of the index at this moment."""
        with self._database.read_transaction() as plain:
            state = state_of(plain, tenant=self._database.tenant, name=self._name)
            connection = BuildConnection(plain, tenant=self._database.tenant, build=state.build)
            yield PostgresqlReader(
                connection,
                self._snapshot(state),
                links=self._changes.links,
                facts=self._changes.facts,
                search=self._search,
            )

    @contextmanager
    def replacement(self) -> Iterator["PostgresqlIndex"]:
        """A new, empty index. If the block succeeds it replaces this one, for every process."""
        with replacing(self._database, self._name) as name:
            fresh = self.named(name)
            yield fresh
            fresh.optimize()
        self.close()

    def close(self) -> None:
        """Drop what is kept in memory; connections are shared and stay open."""
        self._newest = None

    def named(self, name: str) -> "PostgresqlIndex":
        """Another build of the same tenant, with the settings of this index."""
        changes = self._changes
        return PostgresqlIndex(
            self._server,
            tenant=self._database.tenant,
            user=changes.user,
            linker=changes.links.linker,
            rules=changes.facts.rules,
            name=name,
            search=self._search,
            approximate_from=self._approximate_from,
            min_chunks=self._min_chunks,
            max_chunks=self._max_chunks,
        )

    def _snapshot(self, state: BuildState) -> BuildSnapshot:
        newest = self._newest
        if newest is None or newest.state != state:
            newest = self._newest = BuildSnapshot(state)
        return newest

    @contextmanager
    def _reading(self) -> Iterator[BuildConnection]:
        with self._database.read_transaction() as plain:
            build = state_of(plain, tenant=self._database.tenant, name=self._name).build
            yield BuildConnection(plain, tenant=self._database.tenant, build=build)

    @contextmanager
    def _writing(self) -> Iterator[BuildConnection]:
        with self._database.write_transaction() as plain:
            build = require_build(plain, tenant=self._database.tenant, name=self._name)
            with plain.pipeline():  # what has no answer to wait for is sent with what comes after it
                yield BuildConnection(plain, tenant=self._database.tenant, build=build)

    def _record_change(self, connection: SqlConnection) -> None:
        connection.execute(_CHANGED)

    def _write_segment(self) -> bool:
        """Write the segment that is due; False if none is, or another process writes one. Writers need not wait."""
        with self._database.read_transaction() as plain:
            state = state_of(plain, tenant=self._database.tenant, name=self._name)
        if state.next_number - 1 - state.covered < self._min_chunks:
            return False
        with self._database.try_exclusive(f"{_SEGMENTS}/{self._name}") as plain_or_none:
            if plain_or_none is None:
                return False
            state = state_of(plain_or_none, tenant=self._database.tenant, name=self._name)
            connection = BuildConnection(plain_or_none, tenant=self._database.tenant, build=state.build)
            due = due_range(
                connection,
                next_number=state.next_number,
                min_chunks=self._min_chunks,
                max_chunks=self._max_chunks,
            )
            if due:
                write_postings(connection, *due)
                self._record_change(connection)
            return due is not None


class _PostgresqlRows:
    """What only PostgreSQL has."""

    def next_number(self, connection: SqlConnection, count: int) -> int:
        """The first of so many new numbers."""
        number: int = connection.execute(_NEXT_NUMBER).fetchone()[0]
        connection.execute(_TAKE_NUMBERS, (count,))
        return number

    def document_columns(self, document: Document) -> Mapping[str, Any]:
        """The words of its chunks, and how many of them a program says."""
        lengths = [(body_length(chunk.words), chunk.voice) for chunk in document.chunks]
        replied = sum(length for length, voice in lengths if voice == "assistant")
        return {"body_words": sum(length for length, _ in lengths), "reply_words": replied}

    def store_vectors(self, connection: SqlConnection, placed: Sequence[PlacedDocument]) -> None:
        """Store vectors as pgvector compares them, and those of sentences as bytes."""
        store_vectors(cast(BuildConnection, connection), [each for each in placed if each.vectors])
