"""What was learned, in SQL: the tables `learning_sources`, `learning_batches` and `learned_items`.

A batch is stored in one transaction with how far its source was read, so that no crash loses or repeats a part of it.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from datetime import datetime
from typing import Any, Final

import apsw

from commonplace.history.base import check_limit, stored_moment
from commonplace.history.normalize import valid_utf8
from commonplace.history.sqlite.conversations import SqliteUsage, forget_named
from commonplace.model.learning import (
    ExtractedFact,
    Extraction,
    LearnedBatch,
    LearnedItem,
    LearningState,
    SpokenCommitment,
)

_DUE: Final = """
SELECT id FROM conversation_threads LEFT JOIN learning_sources ON source = id
WHERE memory = 'on' AND count > coalesce(turns, 0) AND (closed IS NOT NULL OR updated <= :silent_since)
AND coalesce(is_parked, 0) = 0 AND coalesce(retry_at, '') <= :now
AND (kind = 'chat' OR (kind = 'correction' AND parent = ''))
ORDER BY updated, number
"""
_STATES: Final = """
SELECT source, turns, stamp, paragraphs, failures, reason, retry_at, is_parked FROM learning_sources
WHERE :sources IS NULL OR source IN (SELECT value FROM json_each(:sources)) ORDER BY source
"""
_SAVE_STATE: Final = """
INSERT INTO learning_sources (source, turns, stamp, paragraphs, failures, reason, retry_at, is_parked)
VALUES (:source, :turns, :stamp, :paragraphs, :failures, :reason, :retry_at, :is_parked)
ON CONFLICT (source) DO UPDATE SET turns = excluded.turns, stamp = excluded.stamp, paragraphs = excluded.paragraphs,
  failures = excluded.failures, reason = excluded.reason, retry_at = excluded.retry_at, is_parked = excluded.is_parked
"""
_HAS_THREAD: Final = "SELECT 1 FROM conversation_threads WHERE id = :source AND count >= :until"
_READ_UNTIL: Final = "SELECT turns FROM learning_sources WHERE source = :source"
_ADD_BATCH: Final = """
INSERT INTO learning_batches (source, at, extractor, after, until, summary, details)
VALUES (:source, :at, :extractor, :after, :until, :summary, :details) RETURNING number
"""
_ADD_ITEM: Final = """
INSERT INTO learned_items (batch, at, turn, text, quote, candidate, outcome, reason, fact, old)
VALUES (:batch, :at, :turn, :text, :quote, :candidate, :outcome, :reason, :fact, :old)
"""
_ITEMS: Final = """
SELECT source, text, outcome, reason, quote, turn, fact, old, extractor, item.at, item.number, candidate
FROM learned_items AS item JOIN learning_batches AS batch ON batch.number = item.batch
"""
_PENDING: Final = f"{_ITEMS} WHERE outcome = 'pending' ORDER BY item.number"
_NEWEST_FIRST: Final = f"""
{_ITEMS} WHERE (:source IS NULL OR source = :source) AND (:since IS NULL OR item.at >= :since)
ORDER BY item.number DESC LIMIT :limit
"""
_SETTLE: Final = """
UPDATE learned_items SET outcome = :outcome, reason = :reason, fact = :fact, old = :old, at = :at, candidate = ''
WHERE number = :number
"""
_LAST_BATCH: Final = "SELECT max(number) FROM learning_batches WHERE source = :source"
_BATCHES: Final = """
SELECT source, extractor, after, until, summary, details FROM learning_batches
WHERE (:source IS NULL OR source = :source) AND (:since IS NULL OR at >= :since) ORDER BY number
"""
_FORGET_FACTS: Final = """
DELETE FROM learned_items WHERE fact IN (SELECT value FROM json_each(:facts))
OR old IN (SELECT value FROM json_each(:facts))
"""


class SqliteLearning(SqliteUsage):
    """What was learned, beside the conversations it was learned from."""

    def due_conversations(self, *, now: datetime, silent_since: datetime) -> tuple[str, ...]:
        """Ids of conversations with messages that were not read, closed or silent since then; oldest first."""
        values = {"now": stored_moment(now), "silent_since": stored_moment(silent_since)}
        with self._database.read_transaction() as connection:
            return tuple(id_ for (id_,) in connection.execute(_DUE, values))

    def learning_states(self, sources: Iterable[str] | None = None) -> Mapping[str, LearningState]:
        """How far these sources were learned, or all that were tried."""
        names = None if sources is None else json.dumps([*map(valid_utf8, sources)])
        with self._database.read_transaction() as connection:
            rows: list[Any] = connection.execute(_STATES, {"sources": names}).fetchall()
        return {row[0]: _state(*row) for row in rows}

    def save_learning_state(self, state: LearningState) -> None:
        """Store the state of a source, replacing the earlier one."""
        with self._database.write_transaction() as connection:
            connection.execute(_SAVE_STATE, _state_row(state))

    def begin_learning(self, batch: LearnedBatch, *, now: datetime) -> bool:
        """Store what was extracted and how far the source was read; False if that is no longer as the batch says."""
        state = LearningState(source=batch.source, turns=batch.until, stamp=batch.stamp, paragraphs=batch.paragraphs)
        with self._database.write_transaction() as connection:
            if not state.is_note and not _begins_there(connection, batch):
                return False
            connection.execute(_SAVE_STATE, _state_row(state))
            number: int = connection.execute(_ADD_BATCH, _batch_row(batch, at=stored_moment(now))).get
            for row in _item_rows(batch, at=stored_moment(now)):
                connection.execute(_ADD_ITEM, {**row, "batch": number})
        return True

    def pending_items(self) -> tuple[tuple[LearnedItem, ExtractedFact], ...]:
        """The items that were extracted and not settled, oldest first."""
        with self._database.read_transaction() as connection:
            rows: list[Any] = connection.execute(_PENDING).fetchall()
        return tuple((_item(*row), _candidate(row[-1])) for row in rows)

    def settle_item(self, item: LearnedItem, *, now: datetime) -> None:
        """Store the outcome of the item with that number; its candidate is no longer needed."""
        values = {"outcome": item.outcome, "reason": valid_utf8(item.reason), "fact": item.fact, "old": item.old}
        with self._database.write_transaction() as connection:
            connection.execute(_SETTLE, {**values, "number": item.number, "at": stored_moment(now)})

    def add_learned_item(self, item: LearnedItem, *, now: datetime) -> None:
        """Store an item that was settled at once, as a part of the source's last batch."""
        row = _item_row(item, at=stored_moment(now))
        with self._database.write_transaction() as connection:
            batch: int | None = connection.execute(_LAST_BATCH, {"source": valid_utf8(item.source)}).get
            if batch is not None:
                connection.execute(_ADD_ITEM, {**row, "batch": batch})

    def learned_items(
        self, *, source: str | None = None, since: datetime | None = None, limit: int | None = None
    ) -> tuple[LearnedItem, ...]:
        """Items of that source since that time; newest first, at most `limit`."""
        values = {
            "source": None if source is None else valid_utf8(source),
            "since": stored_moment(since) if since else None,
            "limit": -1 if check_limit(limit) is None else limit,
        }
        with self._database.read_transaction() as connection:
            rows: list[Any] = connection.execute(_NEWEST_FIRST, values).fetchall()
        return tuple(_item(*row) for row in rows)

    def learned_batches(self, source: str | None = None, *, since: datetime | None = None) -> tuple[LearnedBatch, ...]:
        """What was extracted from that source, or from all, since that time; oldest first."""
        values = {
            "source": None if source is None else valid_utf8(source),
            "since": stored_moment(since) if since else None,
        }
        with self._database.read_transaction() as connection:
            rows: list[Any] = connection.execute(_BATCHES, values).fetchall()
        return tuple(_batch(*row) for row in rows)

    def forget_learned(self, facts: Iterable[str]) -> int:
        """Remove the items about these facts, also from free pages and the log; returns how many."""
        with self._database.write_transaction() as connection:
            connection.execute(_FORGET_FACTS, {"facts": json.dumps([*map(valid_utf8, facts)])})
            removed = connection.changes()
        self._database.vacuum()
        return removed

    def forget_learning(self, source: str) -> None:
        """Remove everything about that source, also from free pages and the log."""
        with self._database.write_transaction() as connection:
            forget_named(connection, [source])
        self._database.vacuum()


def _begins_there(connection: apsw.Connection, batch: LearnedBatch) -> bool:
    """True if the conversation exists and was read up to where the batch begins."""
    values = {"source": batch.source, "until": batch.until}
    if connection.execute(_HAS_THREAD, values).fetchone() is None:
        return False
    row = connection.execute(_READ_UNTIL, {"source": batch.source}).fetchone()
    return (row[0] if row else 0) == batch.after


def _state_row(state: LearningState) -> dict[str, Any]:
    return {
        **asdict(state),
        "source": valid_utf8(state.source),
        "reason": valid_utf8(state.reason),
        "paragraphs": json.dumps(state.paragraphs),
        "is_parked": int(state.is_parked),
    }


def _state(*row: Any) -> LearningState:
    """The state in a row of `_STATES`."""
    source, turns, stamp, paragraphs, failures, reason, retry_at, is_parked = row
    return LearningState(
        source=source,
        turns=turns,
        stamp=stamp,
        paragraphs=tuple(json.loads(paragraphs)),
        failures=failures,
        reason=reason,
        retry_at=retry_at,
        is_parked=bool(is_parked),
    )


def _batch_row(batch: LearnedBatch, *, at: str) -> dict[str, Any]:
    extraction = batch.extraction
    details = {
        "mentions": extraction.mentions,
        "questions": extraction.questions,
        "commitments": [asdict(each) for each in extraction.commitments],
        "drift": extraction.drift,
    }
    return {
        "source": valid_utf8(batch.source),
        "at": at,
        "extractor": valid_utf8(batch.extractor),
        "after": batch.after,
        "until": batch.until,
        "summary": valid_utf8(extraction.summary),
        "details": json.dumps(details),
    }


def _batch(*row: Any) -> LearnedBatch:
    """The batch in a row of `_BATCHES`."""
    source, extractor, after, until, summary, details = row
    values = json.loads(details)
    extraction = Extraction(
        summary=summary,
        mentions=tuple(values["mentions"]),
        questions=tuple(values["questions"]),
        commitments=tuple(SpokenCommitment(**each) for each in values["commitments"]),
        drift=values["drift"],
    )
    return LearnedBatch(source=source, extraction=extraction, extractor=extractor, after=after, until=until)


def _item_rows(batch: LearnedBatch, *, at: str) -> list[dict[str, Any]]:
    """Rows of the batch's facts, which are pending, and of its rejections, which are settled."""
    source, extraction = batch.source, batch.extraction
    facts = [
        _item_row(
            LearnedItem(source=source, text=each.text, outcome="pending", quote=each.quote, turn=each.turn), at=at
        )
        | {"candidate": json.dumps(asdict(each))}
        for each in extraction.facts
    ]
    rejected = [
        LearnedItem(source=source, text=each.text, outcome="rejected", reason=each.reason, turn=each.turn)
        for each in extraction.rejections
    ]
    return [*facts, *(_item_row(each, at=at) for each in rejected)]


def _item_row(item: LearnedItem, *, at: str) -> dict[str, Any]:
    texts = {"text": item.text, "quote": item.quote, "reason": item.reason, "fact": item.fact, "old": item.old}
    return {
        **{name: valid_utf8(text) for name, text in texts.items()},
        "at": at,
        "turn": item.turn,
        "outcome": item.outcome,
        "candidate": "",
    }


def _item(*row: Any) -> LearnedItem:
    """The item in a row of `_ITEMS`."""
    source, text, outcome, reason, quote, turn, fact, old, extractor, at, number, _ = row
    return LearnedItem(
        source=source,
        text=text,
        outcome=outcome,
        reason=reason,
        quote=quote,
        turn=turn,
        fact=fact,
        old=old,
        extractor=extractor,
        at=at,
        number=number,
    )


def _candidate(text: str) -> ExtractedFact:
    values: dict[str, Any] = json.loads(text)
    return ExtractedFact(**{**values, "topics": tuple(values["topics"])})
