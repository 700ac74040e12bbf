"""A look at the index at one moment: every answer comes from one read transaction."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import apsw

from commonplace.index.base import LINKED, Counts, Edge, Found, SenseMatch, Standing, Weighing, WordMatches
from commonplace.index.shrinking import Fixed, shrink_question
from commonplace.index.sqlite.bm25 import best_by_words, weigh_words
from commonplace.index.sqlite.documents import check_dim, known_dims
from commonplace.index.sqlite.edges import edges_of
from commonplace.index.sqlite.fact_reading import FactReading
from commonplace.index.sqlite.facts import Facts
from commonplace.index.sqlite.filters import Entities, Live, all_live, at_last_change, documents_under, live_under
from commonplace.index.sqlite.likeness import score_likeness
from commonplace.index.sqlite.links import Links
from commonplace.index.sqlite.rows import FOUND_COLUMNS, found_of, problems_of
from commonplace.index.sqlite.sense import nearest, sense_of
from commonplace.index.sqlite.views import View, folder_of
from commonplace.index.sqlite.whole import score_whole
from commonplace.model import Filters, Problem

# A CROSS JOIN keeps the order: from the few chunks to their documents, and not from all documents to their chunks.
_FOUND: Final = f"""
SELECT {FOUND_COLUMNS} FROM memory_chunks c CROSS JOIN memory_documents d ON d.id = c.document_id
WHERE c.number IN (SELECT value FROM json_each(:numbers)) AND d.user_id = :user AND d.deleted_at IS NULL
"""  # noqa: S608
_STANDINGS: Final = """
SELECT c.number, c.chunk_id, d.id, d.first_chunk, d.first_chunk + d.chunk_count - 1,
  iif(d.source_type = :linked, d.source_id, ''), c.line, d.place, c.voice, c.speaker, c.at,
  d.updated_at, d.importance
FROM memory_chunks c CROSS JOIN memory_documents d ON d.id = c.document_id
WHERE c.number IN (SELECT value FROM json_each(:numbers)) AND d.user_id = :user AND d.deleted_at IS NULL
"""
_SPEAKERS: Final = """
SELECT DISTINCT l.label FROM memory_labels l CROSS JOIN memory_documents d ON d.key = l.document
WHERE l.field = 'speaker' AND d.user_id = :user AND d.deleted_at IS NULL AND d.sensitive <= :sensitive
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
_LINK_COUNTS: Final = (
    "SELECT count(*), count(*) - count(l.path) FROM memory_links l JOIN memory_documents d ON d.key = l.document"
    " WHERE d.user_id = :user AND d.deleted_at IS NULL"
)
_SYNCED: Final = "SELECT at FROM memory_syncs WHERE user_id = :user"


class SqliteReading(FactReading):
    """The index as one connection sees it inside its transaction."""

    def __init__(self, connection: apsw.Connection, view: View, *, links: Links, facts: Facts) -> None:
        super().__init__(connection, facts)
        self._view = view
        self._links = links

    def match_words(
        self, words: Sequence[str], filters: Filters, *, limit: int, weighing: Weighing, also: Sequence[int] = ()
    ) -> WordMatches:
        """The best chunks that have one of the words, and those of `also`; of equal ones the lower number is first."""
        segments, live = self._view.segments, self._live(filters)
        query = weigh_words(words, segments, self._every(), weighing=weighing)
        return best_by_words(query, segments, live, limit=limit, also=also)

    def match_sense(self, vector: Fixed, filters: Filters, *, version: str, limit: int) -> tuple[SenseMatch, ...]:
        """The chunks nearest to the vector; of equal ones the lower number is first. Raises UsageError."""
        check_dim(self._dims(), version, len(vector))
        return nearest(shrink_question(vector), version, self._view.segments, self._live(filters), limit=limit)

    def sense_of(self, vector: Fixed, numbers: Sequence[int], *, version: str) -> tuple[SenseMatch, ...]:
        """How near these chunks are to the vector, in this order. Raises UsageError."""
        check_dim(self._dims(), version, len(vector))
        question = shrink_question(vector)
        return sense_of(question, numbers, version, segments=self._view.segments, live=self._every())

    def standings(self, numbers: Sequence[int]) -> Mapping[int, Standing]:
        """What is to be known of each of these chunks, in this order; those that are not there are left out."""
        known = self._view.standings
        found = {number: each for number in numbers if (each := known.get(number))}
        unknown = [int(number) for number in numbers if number not in found]
        if unknown:
            rows = self._select(_STANDINGS, numbers=json.dumps(unknown), linked=LINKED)
            read = {row[0]: Standing._make(row) for row in rows}
            self._view.keep_standings(read)
            found |= read
        return {number: found[number] for number in numbers if number in found}

    def match_whole(self, words: Sequence[str], documents: Sequence[Standing], *, weighing: Weighing) -> list[float]:
        """The score of each of these documents by words, all its chunks taken as one text."""
        segments, every = self._view.segments, self._every()
        return score_whole(weigh_words(words, segments, every, weighing=weighing), documents, segments, every)

    def likeness(self, documents: Sequence[Standing], *, version: str, top: int) -> list[list[float]]:
        """For each of these documents, how alike in meaning it is to each of the first `top`."""
        return score_likeness(documents, version, self._view.segments, top=top)

    def speakers(self, *, sensitive: bool) -> frozenset[str]:
        """The names of all who speak in what the index holds; with or without those of sensitive documents."""
        known = self._view.speakers
        if sensitive not in known:
            known[sensitive] = frozenset(name for (name,) in self._select(_SPEAKERS, sensitive=sensitive))
        return known[sensitive]

    def passing(self, filters: Filters) -> int:
        """How many documents pass the filters."""
        entities = self._meant(filters.entities)
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
        """The links from or to these documents, or all links; then the bonds between the facts that stand in them."""
        return edges_of(self._connection, self._links.user, paths)

    def _size(self) -> int:
        file, folder = Path(self._connection.filename), folder_of(self._connection)
        held = [file, file.with_name(f"{file.name}-wal"), *(folder / each.name for each in self._view.named)]
        return sum(each.stat().st_size for each in held if each.is_file())

    def _select(self, query: str, **values: Any) -> list[Any]:
        used = {name: value for name, value in values.items() if f":{name}" in query}
        return self._connection.execute(query, {"user": self._links.user, **used}).fetchall()

    def _dims(self) -> Mapping[str, int]:
        if not self._view.dims:
            self._view.dims.update(known_dims(self._connection))
        return self._view.dims

    def _every(self, *, at: str = "") -> Live:
        known = self._view.live.get(None)
        if known:
            return known
        every, unfiltered = all_live(self._connection, self._links.user, self._view.segments, at=at)
        self._view.keep_live(Filters(at=at), unfiltered)
        return self._view.keep_live(None, every)

    def _live(self, asked: Filters) -> Live:
        filters = at_last_change(self._connection, self._links.user, asked)
        self._every(at=filters.at)
        known = self._view.live.get(filters)
        if known:
            return known
        entities = self._meant(filters.entities)
        live = live_under(self._connection, self._links.user, filters, entities=entities, segments=self._view.segments)
        return self._view.keep_live(filters, live)

    def _meant(self, names: Sequence[str]) -> Entities:
        """The documents that the entities of a filter mean, and the names under which facts may speak of them."""
        if not names:
            return Entities()
        called = frozenset[str]().union(*map(self.entities, names))
        return replace(self._links.entities(self._connection, names), names=tuple(sorted(called)))
