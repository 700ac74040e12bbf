"""The vault's history in SQL: which lines its notes had when, and which of the notes were sensitive or erased later.

Tables: `memory_past_commits`, `memory_past_notes`, `memory_past_moves`, `memory_past_covers`, `memory_past_erasures`,
`memory_past_lines`, `memory_past_topics`.
"""

import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from commonplace.errors import Conflict
from commonplace.index.base import MOST_RELATIVES, FactQuery, PastCommit, PastCover, PastLine, PastStep, Rules
from commonplace.index.document_values import fold_label, line_identity, note_name, valid_unicode
from commonplace.index.tables.facts import fact_json, fact_of
from commonplace.index.tables.sql import SqlConnection, first_free_key, insert_rows, json_text
from commonplace.model import Fact

_IN: Final = "IN (SELECT value FROM json_each(:{name}))"
_NEWEST: Final = "SELECT number, id, form FROM memory_past_commits WHERE done = 1 ORDER BY number DESC LIMIT 1"
_UNFINISHED: Final = "SELECT id FROM memory_past_commits WHERE done = 0"
_DROP_COMMIT: Final = "DELETE FROM memory_past_commits WHERE number = ? OR id = ?"
_ADD_COMMIT: Final = "INSERT INTO memory_past_commits (number, id, at, form, done) VALUES (?, ?, ?, ?, ?)"
_COMMIT: Final = """
SELECT number, id, at FROM memory_past_commits WHERE done = 1 AND (:at = '' OR at <= :at)
{among} ORDER BY number DESC LIMIT 1
"""
_AMONG: Final = "AND id IN (SELECT value FROM json_each(:among))"
_STANDING: Final = "SELECT body, marked FROM memory_past_notes WHERE path = ? AND last = 0"
_END_NOTE: Final = "UPDATE memory_past_notes SET last = :number WHERE path = :path AND last = 0"
_SAME_BODY: Final = """
SELECT path FROM memory_past_notes WHERE body <> '' AND body = :body AND path <> :path
GROUP BY path ORDER BY max(first) DESC, path LIMIT :most
"""
_SAME_NAME: Final = """
SELECT n.path FROM memory_past_notes n WHERE n.name = :name AND n.last > 0 AND n.path <> :path
AND NOT EXISTS (SELECT 1 FROM memory_past_notes o WHERE o.path = n.path AND o.last = 0)
GROUP BY n.path ORDER BY max(n.last) DESC, n.path LIMIT :most
"""
_ADD_MOVE: Final = """
INSERT INTO memory_past_moves (target, source, number, sure) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING
"""
_UNCOVER: Final = "DELETE FROM memory_past_covers WHERE path = :path AND number < :number"
_COVER: Final = "INSERT INTO memory_past_covers (path, number) VALUES (:path, :number) ON CONFLICT DO NOTHING"
_SOURCES: Final = "SELECT DISTINCT source FROM memory_past_moves WHERE target = ? AND number <= ? AND sure >= ?"
_TARGETS: Final = "SELECT DISTINCT target FROM memory_past_moves WHERE source = ?"
_DROP_ERASURE: Final = "DELETE FROM memory_past_erasures WHERE hash = ?"
_ERASE: Final = "INSERT INTO memory_past_erasures (hash, number) VALUES (?, ?)"
_OPEN_LINES: Final = "SELECT key, fact_json FROM memory_past_lines WHERE path = ? AND last = 0"
_END_LINE: Final = "UPDATE memory_past_lines SET last = ?, last_at = ? WHERE key = ?"
_ADD_TOPIC: Final = "INSERT INTO memory_past_topics (topic, line) VALUES (?, ?)"
_FORGET: Final = (
    "DELETE FROM memory_past_lines WHERE path = :path",
    "DELETE FROM memory_past_notes WHERE path = :path",
    "DELETE FROM memory_past_covers WHERE path = :path",
    "DELETE FROM memory_past_moves WHERE source = :path",
    "DELETE FROM memory_past_moves WHERE target = :path",
)
_CUT: Final = (
    "DELETE FROM memory_past_commits WHERE number > :number",
    "DELETE FROM memory_past_lines WHERE first > :number",
    "UPDATE memory_past_lines SET last = 0, last_at = '' WHERE last > :number",
    "DELETE FROM memory_past_notes WHERE first > :number",
    "UPDATE memory_past_notes SET last = 0 WHERE last > :number",
    "DELETE FROM memory_past_moves WHERE number > :number",
    "DELETE FROM memory_past_erasures WHERE number > :number",
    "DELETE FROM memory_past_covers WHERE number >= 0",
)
_MARKED: Final = "SELECT path, first FROM memory_past_notes WHERE marked = 1 ORDER BY first"
_COVERS: Final = f"SELECT path, number FROM memory_past_covers WHERE path {_IN.format(name='paths')}"  # noqa: S608
_STANDING_AMONG: Final = f"SELECT path FROM memory_past_notes WHERE path {_IN.format(name='paths')} AND last = 0"  # noqa: S608
_ERASURE: Final = "SELECT number FROM memory_past_erasures WHERE hash = ?"
_LINES: Final = """
SELECT DISTINCT l.path, l.first, l.id, l.fact_json, l.first_at, l.last_at
FROM memory_past_lines l WHERE {conditions} ORDER BY l.path, l.first, l.id
"""
# Each way walks an index of its own; `OR` between them keeps SQLite from scanning all lines.
_ABOUT: Final = f"""
l.key IN (SELECT key FROM memory_past_lines WHERE subject <> '' AND subject {_IN.format(name="names")}
UNION SELECT key FROM memory_past_lines WHERE object <> '' AND object {_IN.format(name="names")})
"""  # noqa: S608
_CONDITIONS: Final[Mapping[str, str]] = {
    "names": _ABOUT,
    "claims": f"l.claim <> '' AND l.claim {_IN.format(name='claims')}",
    "predicate": "l.predicate <> '' AND l.predicate = :predicate",
    "topics": f"l.key IN (SELECT line FROM memory_past_topics WHERE topic {_IN.format(name='topics')})",  # noqa: S608
}


@dataclass(frozen=True, slots=True)
class PastTables:
    """The history of one vault. All methods work inside the caller's transaction."""

    rules: Rules

    def add(self, connection: SqlConnection, steps: Iterable[PastStep], *, form: str, after: str) -> None:
        """Add commits, oldest first. Raises Conflict unless `after` is the newest, with the same form."""
        number, id_, stored = connection.execute(_NEWEST).fetchone() or (0, "", form)
        if (id_, stored) != (after, form):
            raise Conflict("another process has read the vault's history meanwhile", hint="Try again.")
        for step in steps:
            unfinished = connection.execute(_UNFINISHED).fetchone()
            if unfinished and unfinished[0] != step.id:  # the history was rewritten before all of it was here
                self.cut(connection, number)
            self._add_step(connection, step, number + 1, form)
            number += step.is_complete

    def cut(self, connection: SqlConnection, number: int) -> None:
        """Forget the commits after that one; everything if one of them erased a note."""
        erased = connection.execute("SELECT 1 FROM memory_past_erasures WHERE number > ?", (number,)).fetchone()
        for statement in _CUT:
            connection.execute(statement, {"number": 0 if erased else number} if ":number" in statement else ())
        marked: list[Any] = connection.execute(_MARKED).fetchall()
        for path, first in marked:
            _cover(connection, path, first)

    def _add_step(self, connection: SqlConnection, step: PastStep, number: int, form: str) -> None:
        connection.execute(_DROP_COMMIT, (number, step.id))
        connection.execute(_ADD_COMMIT, (number, step.id, step.at, form, int(step.is_complete)))
        for path in step.removed:
            connection.execute(_END_NOTE, {"number": number, "path": valid_unicode(path)})
            self._update_lines(connection, path, (), step, number)
        moves = [
            (valid_unicode(each.target), valid_unicode(each.source), number, int(each.is_sure)) for each in step.moves
        ]
        connection.executemany(_ADD_MOVE, moves)
        new = [path for path, body in step.notes.items() if self._update_note(connection, path, body, step, number)]
        for path, facts in step.facts.items():
            self._update_lines(connection, path, facts, step, number)
        for path in step.marked.intersection(new):
            _cover(connection, valid_unicode(path), number)
        _erase(connection, [valid_unicode(path) for path in sorted(step.erased)], number)

    def _update_note(self, connection: SqlConnection, path: str, body: str, step: PastStep, number: int) -> bool:
        """True if the note is new, or its text or its mark is another than before."""
        path, marked = valid_unicode(path), path in step.marked
        there = connection.execute(_STANDING, (path,)).fetchone()
        if there == (body, marked):
            return False
        row = {"path": path, "first": number, "last": 0, "name": note_name(path), "body": body, "marked": int(marked)}
        if there is None:
            values = {**row, "most": MOST_RELATIVES}
            for sql in (_SAME_BODY, _SAME_NAME):
                sources = connection.execute(sql, {each: values[each] for each in _names_in(sql)}).fetchall()
                connection.executemany(_ADD_MOVE, [(path, source, number, 0) for (source,) in sources])
        connection.execute(_END_NOTE, {"number": number, "path": path})
        insert_rows(connection, "memory_past_notes", [row])
        return True

    def _update_lines(
        self, connection: SqlConnection, path: str, facts: Sequence[Fact], step: PastStep, number: int
    ) -> None:
        """End the lines of the note that are gone, and add the new ones."""
        there = {
            line_identity(fact_of(text)): key for key, text in connection.execute(_OPEN_LINES, (valid_unicode(path),))
        }
        new = {line_identity(fact): fact for fact in facts}
        gone = [(number, step.at, key) for same, key in there.items() if same not in new]
        connection.executemany(_END_LINE, gone)
        added = [fact for same, fact in new.items() if same not in there]
        if added:
            key = first_free_key(connection, "memory_past_lines")
            lines = [self._line(fact, step, number) | {"key": key + at} for at, fact in enumerate(added)]
            insert_rows(connection, "memory_past_lines", lines)
            topics = [{(fold_label(topic), key + at) for topic in fact.topics} for at, fact in enumerate(added)]
            connection.executemany(_ADD_TOPIC, [row for rows in topics for row in sorted(rows)])

    def _line(self, fact: Fact, step: PastStep, number: int) -> dict[str, Any]:
        """The row of a new line, without its key."""
        texts = {
            "path": fact.path,
            "id": fact.id,
            "place": fact.place,
            "claim": self.rules.claim(fact),
            "subject": self.rules.entity(fact.subject),
            "predicate": fact.predicate,
            "object": self.rules.entity(fact.object),
        }
        columns: dict[str, Any] = {name: valid_unicode(text) for name, text in texts.items()}
        return columns | {
            "first": number,
            "first_at": step.at,
            "last": 0,
            "last_at": "",
            "fact_json": fact_json(fact),
        }


class PastReader:
    """The vault's history as one connection sees it inside its transaction."""

    _connection: SqlConnection

    def past_form(self) -> str:
        """The form under which the history was added; empty if there is none."""
        newest = self._connection.execute(_NEWEST).fetchone()
        return str(newest[2]) if newest else ""

    def past_commit(self, *, at: str = "", among: Sequence[str] = ()) -> PastCommit | None:
        """The newest commit that is not later than `at` and is one of `among`."""
        values = {"at": at} | ({"among": json_text([*among])} if among else {})
        row = self._connection.execute(_COMMIT.format(among=_AMONG if among else ""), values).fetchone()
        return PastCommit(*row) if row else None

    def past_lines(self, query: FactQuery) -> tuple[PastLine, ...]:
        """The lines that the notes have or had, by path, first commit and id."""
        available: dict[str, Any] = {
            "names": json_text([*filter(None, map(valid_unicode, query.names))]),
            "claims": json_text([*query.claims]),
            "predicate": valid_unicode(query.predicate),
            "topics": json_text([fold_label(topic) for topic in query.topics]),
        }
        used = [name for name in _CONDITIONS if getattr(query, name)]
        conditions = [_CONDITIONS[name] for name in used] + ([] if query.staged else ["l.place <> 'staging'"])
        sql = _LINES.format(conditions=" AND ".join(conditions or ["1 = 1"]))
        rows: list[Any] = self._connection.execute(sql, {name: available[name] for name in used}).fetchall()
        return tuple(PastLine(fact_of(text), first, *rest) for _, first, _, text, *rest in rows)

    def past_covers(self, paths: Iterable[str]) -> Mapping[str, PastCover]:
        """For each of these notes, in which commit it was sensitive or erased last."""
        wanted, covers = {valid_unicode(path): path for path in paths}, {}
        values = {"paths": json_text([*wanted])}
        rows: list[Any] = self._connection.execute(_COVERS, values).fetchall()
        marked: dict[str, int] = dict(rows)
        standing = {path for (path,) in self._connection.execute(_STANDING_AMONG, values)}
        has_erasures = bool(self.past_erasures())
        for stored, path in wanted.items():
            erased = self._connection.execute(_ERASURE, (path_hash(stored),)).fetchone() if has_erasures else None
            covers[path] = PastCover(marked.get(stored, 0), erased[0] if erased else 0, stored in standing)
        return covers

    def past_erasures(self) -> int:
        """The newest commit that erased a note, or 0."""
        return int(self._connection.execute("SELECT coalesce(max(number), 0) FROM memory_past_erasures").fetchone()[0])

    def past_successors(self, path: str) -> frozenset[str]:
        """The paths of all notes that the note at this path became, without the path itself."""
        found, waiting = {valid_unicode(path)}, [valid_unicode(path)]
        while waiting:
            targets = {target for (target,) in self._connection.execute(_TARGETS, (waiting.pop(),))} - found
            found |= targets
            waiting += targets
        return frozenset(found - {valid_unicode(path)})


def path_hash(path: str) -> bytes:
    """What is kept of the path of an erased note: paths are words."""
    return hashlib.sha256(path.encode()).digest()


def _cover(connection: SqlConnection, path: str, number: int) -> None:
    """Cover the note, and every note that became it until then, up to that commit."""
    waiting, seen = [path], {path}
    while waiting:
        each = waiting.pop()
        connection.execute(_UNCOVER, {"path": each, "number": number})
        connection.execute(_COVER, {"path": each, "number": number})
        sources = {source for (source,) in connection.execute(_SOURCES, (each, number, 0))} - seen
        seen |= sources
        waiting += sorted(sources)


def _erase(connection: SqlConnection, paths: Collection[str], number: int) -> None:
    """Forget these notes and what they were before under other names; only the hashes of their paths are kept."""
    waiting, seen = [*paths], {*paths}
    while waiting:
        each = waiting.pop()
        sources = {source for (source,) in connection.execute(_SOURCES, (each, number, 1))} - seen
        seen |= {source for source in sources if not connection.execute(_STANDING, (source,)).fetchone()}
        waiting += sorted(sources & seen)
    for path in seen:
        connection.execute(_DROP_ERASURE, (path_hash(path),))
        connection.execute(_ERASE, (path_hash(path), number))
        for statement in _FORGET:
            connection.execute(statement, {"path": path})


def _names_in(sql: str) -> list[str]:
    return [name for name in ("body", "name", "path", "most") if f":{name}" in sql]
