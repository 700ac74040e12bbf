"""Facts in the file: which of them counts for its id, and when each ends, kept true whenever a document changes."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import apsw

from commonplace.index.base import Rules
from commonplace.index.facts import bonds_of, ends_at, entity_names, keeping
from commonplace.index.sqlite.fact_rows import fact_columns, fact_of, topics_of
from commonplace.index.sqlite.rows import insertion, json_text, storable
from commonplace.model import Document

_IDS: Final = "SELECT id FROM memory_facts WHERE document = ?"
# Left to itself SQLite takes all facts of a user to be few, and walks them.
_CLAIMS: Final = """
SELECT DISTINCT claim FROM memory_facts INDEXED BY memory_facts_by_id
WHERE user_id = :user AND id IN (SELECT value FROM json_each(:ids)) AND claim <> ''
"""
_ADD_NAME: Final = "INSERT INTO memory_entities (name, document) VALUES (?, ?)"
_ADD_TOPIC: Final = "INSERT INTO memory_fact_topics (topic, fact) VALUES (?, ?)"
_ADD_BOND: Final = "INSERT INTO memory_bonds (fact, bond, target) VALUES (?, ?, ?)"
_OF_IDS: Final = """
SELECT id, key, path, position, keeps FROM memory_facts INDEXED BY memory_facts_by_id
WHERE user_id = :user AND id IN (SELECT value FROM json_each(:ids))
"""
_KEEP: Final = "UPDATE memory_facts SET keeps = ? WHERE key = ?"
_OF_CLAIMS: Final = """
SELECT f.claim, f.key, f.document, f.keeps, f.origin, f.fact_json, f.end_at, f.end_by, d.valid_until
FROM memory_facts f INDEXED BY memory_facts_by_claim CROSS JOIN memory_documents d ON d.key = f.document
WHERE f.user_id = :user AND f.claim <> '' AND f.claim IN (SELECT value FROM json_each(:claims))
ORDER BY f.claim, f.id, f.path
"""
_END: Final = "UPDATE memory_facts SET end_at = ?, end_by = ? WHERE key = ?"
_END_DOCUMENT: Final = "UPDATE memory_documents SET ends_at = ? WHERE key = ? AND ends_at <> ?"


class Touched(NamedTuple):
    """The ids of the facts that a change is about, and what they claimed before it."""

    ids: frozenset[str]
    claims: frozenset[str]


class _Row(NamedTuple):
    claim: str
    key: int
    document: int
    keeps: int
    origin: str
    text: str
    end_at: str
    end_by: str
    valid_until: str


@dataclass(frozen=True, slots=True)
class Facts:
    """The facts of one user's documents. All methods work inside the caller's transaction."""

    user: str
    rules: Rules

    def touched(self, connection: apsw.Connection, key: int | None, document: Document | None) -> Touched:
        """What is about to change when this document takes the place of the one with that key."""
        ids = {identity for (identity,) in connection.execute(_IDS, (key,))} if key is not None else set()
        ids |= {storable(fact.id) for fact in document.facts} if document else set()
        return Touched(frozenset(ids), self._claims(connection, ids))

    def write(self, connection: apsw.Connection, key: int, document: Document) -> None:
        """Keep the document's facts and the names of the note, in the place of earlier ones."""
        self.drop(connection, key)
        names = entity_names(document, self.rules)
        connection.executemany(_ADD_NAME, ((storable(name), key) for name in names))
        for position, fact in enumerate(document.facts):
            place = {"document": key, "position": position, "keeps": 1, "end_at": "", "end_by": ""}
            columns = fact_columns(fact, document, rules=self.rules) | place
            row: int = connection.execute(f"{insertion('memory_facts', columns)} RETURNING key", columns).get
            connection.executemany(_ADD_TOPIC, ((topic, row) for topic in topics_of(fact)))
            bonds = {(bond, storable(target)) for bond, target in bonds_of(fact)}
            connection.executemany(_ADD_BOND, ((row, bond, target) for bond, target in bonds))

    def drop(self, connection: apsw.Connection, key: int) -> None:
        """Forget the facts and names of the document: it is there no longer, or others come."""
        connection.execute("DELETE FROM memory_facts WHERE document = ?", (key,))
        connection.execute("DELETE FROM memory_entities WHERE document = ?", (key,))

    def settle(self, connection: apsw.Connection, touched: Touched) -> None:
        """Let one fact count for each id that was touched, and end those whose claim another has now."""
        if touched.ids:
            self._keep(connection, touched.ids)
            self._end(connection, touched.claims | self._claims(connection, touched.ids))

    def _claims(self, connection: apsw.Connection, ids: Iterable[str]) -> frozenset[str]:
        values = {"user": self.user, "ids": json_text([*ids])}
        return frozenset(claim for (claim,) in connection.execute(_CLAIMS, values))

    def _keep(self, connection: apsw.Connection, ids: Iterable[str]) -> None:
        values = {"user": self.user, "ids": json_text([*ids])}
        alike: defaultdict[str, list[Any]] = defaultdict(list)
        found: list[Any] = connection.execute(_OF_IDS, values).fetchall()
        for identity, *row in found:
            alike[identity].append(row)
        for identity, rows in alike.items():
            first, *_ = min(rows, key=lambda row: (*keeping(identity, row[1]), row[2]))
            changed = [(int(key == first), key) for key, _, _, keeps in rows if keeps != (key == first)]
            connection.executemany(_KEEP, changed)

    def _end(self, connection: apsw.Connection, claims: Iterable[str]) -> None:
        values = {"user": self.user, "claims": json_text([*claims])}
        by_claim: defaultdict[str, list[_Row]] = defaultdict(list)
        for row in map(_Row._make, connection.execute(_OF_CLAIMS, values).fetchall()):
            by_claim[row.claim].append(row)
        for rows in by_claim.values():
            self._end_each(connection, rows)

    def _end_each(self, connection: apsw.Connection, rows: Iterable[_Row]) -> None:
        """Write down when each of these facts ends, which have one claim, and with it the document of an entry."""
        facts = [(row, fact_of(row.text)) for row in rows]
        ends = self.rules.ends([fact for row, fact in facts if row.keeps])
        for row, fact in facts:
            end = ends.get(fact.id) if row.keeps else None
            if (end or ("", "")) != (row.end_at, row.end_by):
                connection.execute(_END, (*(end or ("", "")), row.key))
            if row.origin == "entry":
                until = ends_at(row.valid_until, fact, end)
                connection.execute(_END_DOCUMENT, (until, row.document, until))
