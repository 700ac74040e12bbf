"""A look at the index at one moment: every answer comes from one read transaction."""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import apsw

from commonplace.index.base import Counts, Edge, Found, SenseMatch, Weighing, WordMatches
from commonplace.index.sqlite.bm25 import best_by_words, weigh_words
from commonplace.index.sqlite.documents import check_dim
from commonplace.index.sqlite.filters import Live, all_live, countable, documents_under, live_under
from commonplace.index.sqlite.links import Links
from commonplace.index.sqlite.rows import FOUND_COLUMNS, found_of, json_text, problems_of
from commonplace.index.sqlite.segment import Fixed
from commonplace.index.sqlite.sense import nearest, nearness, pool_by_sense
from commonplace.index.sqlite.views import View, folder_of
from commonplace.model import Filters, Place, Problem

# A CROSS JOIN keeps the order: from the few chunks to their documents, and not from all documents to their chunks.
_FOUND: Final = f"""
SELECT {FOUND_COLUMNS} FROM memory_chunks c CROSS JOIN memory_documents d ON d.id = c.document_id
WHERE c.number IN (SELECT value FROM json_each(:numbers)) AND d.user_id = :user AND d.deleted_at IS NULL
"""  # noqa: S608
_PLACES: Final = """
SELECT c.number, c.chunk_id, d.place FROM memory_chunks c CROSS JOIN memory_documents d ON d.id = c.document_id
WHERE c.number IN (SELECT value FROM json_each(:numbers)) AND d.user_id = :user AND d.deleted_at IS NULL
"""
_VECTORS: Final = """
SELECT number, parts, vectors FROM memory_vectors
WHERE number IN (SELECT value FROM json_each(:numbers)) AND embedding_version = :version
"""
_OF_USER: Final = " FROM memory_documents WHERE user_id = :user AND deleted_at IS NULL"
_VERSIONS: Final = f"SELECT embedding_version, sum(encoded_count){_OF_USER} GROUP BY 1 HAVING sum(encoded_count) > 0"
_VECTOR_COUNTS: Final = f"SELECT embedding_version, sum(vector_count){_OF_USER} GROUP BY 1 HAVING sum(vector_count) > 0"
_WAITING: Final = f"SELECT coalesce(sum(chunk_count), 0){_OF_USER} AND embedding_version = ''"
_SOURCES: Final = f"SELECT source_type, count(*){_OF_USER} GROUP BY 1"
_TOTALS: Final = (
    "SELECT coalesce(sum(chunk_count), 0), coalesce(sum(sensitive), 0),"
    f" coalesce(sum(json_array_length(problems_json)), 0){_OF_USER}"
)
_REMOVED: Final = "SELECT count(*) FROM memory_documents WHERE user_id = :user AND deleted_at IS NOT NULL"
_LINKS: Final = """
SELECT d.source_id, l.target, l.path, l.line FROM memory_links l JOIN memory_documents d ON d.key = l.document
WHERE d.user_id = :user AND d.deleted_at IS NULL
"""
_LINKS_OF: Final = (
    " AND (d.source_id IN (SELECT value FROM json_each(:paths)) OR l.path IN (SELECT value FROM json_each(:paths)))"
)
_IN_ORDER: Final = " ORDER BY d.source_id, d.source_type, l.position"
_LINK_COUNTS: Final = (
    "SELECT count(*), count(*) - count(l.path) FROM memory_links l JOIN memory_documents d ON d.key = l.document"
    " WHERE d.user_id = :user AND d.deleted_at IS NULL"
)
_SYNCED: Final = "SELECT at FROM memory_syncs WHERE user_id = :user"


class SqliteReading:
    """The index as one connection sees it inside its transaction."""

    def __init__(self, connection: apsw.Connection, view: View, *, links: Links) -> None:
        self._connection = connection
        self._view = view
        self._links = links

    def match_words(
        self, words: Sequence[str], filters: Filters, *, limit: int, weighing: Weighing, also: Sequence[int] = ()
    ) -> WordMatches:
        """The best chunks that have one of the words, and those of `also`; of equal ones the lower number is first."""
        segments, every = self._view.segments, self._every()
        query = weigh_words(words, segments, every, weighing=weighing)
        return best_by_words(query, segments, self._live(filters), limit=limit, also=also)

    def match_sense(self, vector: Fixed, filters: Filters, *, version: str, limit: int) -> tuple[SenseMatch, ...]:
        """The chunks nearest to the vector; of equal ones the lower number is first. Raises UsageError."""
        check_dim(self._connection, version, len(vector))
        pool = pool_by_sense(vector, version, self._view.segments, self._live(filters), limit=limit)
        return nearest(self.sense_of(vector, pool, version=version), limit)

    def sense_of(self, vector: Fixed, numbers: Sequence[int], *, version: str) -> tuple[SenseMatch, ...]:
        """How near these chunks are to the vector, in this order. Raises UsageError."""
        check_dim(self._connection, version, len(vector))
        asked = countable(numbers, self._view.segments, self._every())
        values = {"numbers": json.dumps(asked), "version": version}
        rows = {number: row for number, *row in self._connection.execute(_VECTORS, values)}
        return nearness(vector, [(number, *rows[number]) for number in asked if number in rows])

    def places(self, numbers: Sequence[int]) -> Mapping[int, tuple[str, Place]]:
        """The id of each of these chunks, and where its document stands."""
        rows = self._select(_PLACES, numbers=json.dumps([*map(int, numbers)]))
        return {number: (chunk_id, place) for number, chunk_id, place in rows}

    def passing(self, filters: Filters) -> int:
        """How many documents pass the filters."""
        entities = self._links.entities(self._connection, filters.entities)
        return documents_under(self._connection, self._links.user, filters, entities=entities)

    def found(self, numbers: Sequence[int]) -> tuple[Found, ...]:
        """The chunks with these numbers, in this order; those that are not there are left out."""
        rows = self._select(_FOUND, numbers=json.dumps([*map(int, numbers)]))
        found = {each.number: each for each in map(found_of, rows)}
        return tuple(found[number] for number in numbers if number in found)

    def versions(self) -> Mapping[str, int]:
        """How many chunks have vectors of each version; "" counts those that wait for theirs."""
        if not self._view.versions:
            ((waiting,),) = self._select(_WAITING)
            self._view.versions.update(dict(self._select(_VERSIONS)) | ({"": waiting} if waiting else {}))
        return self._view.versions

    def counts(self) -> Counts:
        """What the index holds."""
        ((chunks, sensitive, problems),) = self._select(_TOTALS)
        ((links, unresolved),) = self._select(_LINK_COUNTS)
        return Counts(
            documents=dict(self._select(_SOURCES)),
            chunks=chunks,
            removed=self._select(_REMOVED)[0][0],
            vectors=dict(self._select(_VECTOR_COUNTS)),
            waiting=self._select(_WAITING)[0][0],
            links=links,
            unresolved=unresolved,
            sensitive=sensitive,
            problems=problems,
            size=self._size(),
            synced=self.synced(),
        )

    def synced(self) -> str | None:
        """When a whole source was last compared with the index."""
        rows = self._select(_SYNCED)
        return rows[0][0] if rows else None

    def problems(self) -> tuple[Problem, ...]:
        """Every Problem of every document, in order."""
        rows = self._select(f"SELECT problems_json{_OF_USER} AND problems_json <> '[]'")
        return tuple(sorted(problem for (text,) in rows for problem in problems_of(text)))

    def edges(self, paths: Iterable[str] = ()) -> tuple[Edge, ...]:
        """The links from or to these documents, or all links, by document and place."""
        asked = [*paths]
        rows = self._select(_LINKS + (_LINKS_OF if asked else "") + _IN_ORDER, paths=json_text(asked))
        return tuple(Edge(*row) for row in rows)

    def _size(self) -> int:
        file, folder = Path(self._connection.filename), folder_of(self._connection)
        held = [file, file.with_name(f"{file.name}-wal"), *(folder / each.name for each in self._view.named)]
        return sum(each.stat().st_size for each in held if each.is_file())

    def _select(self, query: str, **values: Any) -> list[Any]:
        used = {name: value for name, value in values.items() if f":{name}" in query}
        return self._connection.execute(query, {"user": self._links.user, **used}).fetchall()

    def _every(self) -> Live:
        known = self._view.live.get(None)
        if known:
            return known
        every, unfiltered = all_live(self._connection, self._links.user, self._view.segments)
        self._view.keep_live(Filters(), unfiltered)
        return self._view.keep_live(None, every)

    def _live(self, filters: Filters) -> Live:
        self._every()
        known = self._view.live.get(filters)
        if known:
            return known
        entities = self._links.entities(self._connection, filters.entities)
        live = live_under(self._connection, self._links.user, filters, entities=entities, segments=self._view.segments)
        return self._view.keep_live(filters, live)
