"""What was learned, in SQL: the tables `learning_sources`, `learning_batches` and `learned_items`.

A batch is stored in one transaction with how far its source was read, so that no crash loses or repeats a part of it.
How far a conversation was read is a part of its record, so that it lasts as long as the conversation does.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from datetime import datetime
from typing import Any, Final

from commonplace.history.base import check_limit, stored_moment
from commonplace.history.normalize import valid_utf8
from commonplace.history.sql.conversations import ConversationRecord, SqlUsage, forget_named
from commonplace.history.sql.transaction import ALL_ROWS, SqlTransaction, first_row
from commonplace.model.learning import (
    ExtractedFact,
    Extraction,
    LearnedBatch,
    LearnedItem,
    LearningState,
    SpokenCommitment,
)

_DUE: Final = """
SELECT id FROM conversation_threads AS thread
LEFT JOIN learning_sources AS learned ON {mine learned} AND source = id
WHERE {mine thread} AND memory = 'on' AND count > coalesce(turns, 0)
AND (closed IS NOT NULL OR updated <= :silent_since)
AND coalesce(is_parked, 0) = 0 AND coalesce(retry_at, '') <= :now
AND (kind = 'chat' OR (kind = 'correction' AND parent = ''))
ORDER BY updated, number
"""
_STATES: Final = """
SELECT source, turns, stamp, paragraphs, failures, reason, retry_at, is_parked FROM learning_sources
WHERE {mine} AND (:all = 1 OR source IN (SELECT value FROM json_each(:sources))) ORDER BY source
"""
_SAVE_STATE: Final = """
INSERT INTO learning_sources ({tenant} source, turns, stamp, paragraphs, failures, reason, retry_at, is_parked)
VALUES ({:tenant} :source, :turns, :stamp, :paragraphs, :failures, :reason, :retry_at, :is_parked)
ON CONFLICT ({tenant} source) DO UPDATE SET turns = excluded.turns, stamp = excluded.stamp,
  paragraphs = excluded.paragraphs, failures = excluded.failures, reason = excluded.reason,
  retry_at = excluded.retry_at, is_parked = excluded.is_parked
"""
_HAS_THREAD: Final = "SELECT 1 FROM conversation_threads WHERE {mine} AND id = :source AND count >= :until"
_READ_UNTIL: Final = "SELECT turns FROM learning_sources WHERE {mine} AND source = :source"
_ADD_BATCH: Final = """
INSERT INTO learning_batches ({tenant} source, at, extractor, after, until, summary, details)
VALUES ({:tenant} :source, :at, :extractor, :after, :until, :summary, :details) RETURNING number
"""
_ADD_ITEM: Final = """
INSERT INTO learned_items ({tenant} batch, at, turn, text, quote, candidate, outcome, reason, fact, old)
VALUES ({:tenant} :batch, :at, :turn, :text, :quote, :candidate, :outcome, :reason, :fact, :old)
"""
_ITEMS: Final = """
SELECT source, text, outcome, reason, quote, turn, fact, old, extractor, item.at, item.number, candidate
FROM learned_items AS item JOIN learning_batches AS batch ON {mine batch} AND batch.number = item.batch
WHERE {mine item}
"""
_PENDING: Final = f"{_ITEMS} AND outcome = 'pending' ORDER BY item.number"
_NEWEST_FIRST: Final = f"""
{_ITEMS} AND (CAST(:source AS text) IS NULL OR source = :source)
AND (CAST(:since AS text) IS NULL OR item.at >= :since)
ORDER BY item.number DESC LIMIT :limit
"""
_SETTLE: Final = """
UPDATE learned_items SET outcome = :outcome, reason = :reason, fact = :fact, old = :old, at = :at, candidate = ''
WHERE {mine} AND number = :number
"""
_LAST_BATCH: Final = "SELECT max(number) FROM learning_batches WHERE {mine} AND source = :source"
_BATCHES: Final = """
SELECT source, extractor, after, until, summary, details FROM learning_batches
WHERE {mine} AND (CAST(:source AS text) IS NULL OR source = :source) AND (CAST(:since AS text) IS NULL OR at >= :since)
ORDER BY number
"""
_FORGET_FACTS: Final = """
DELETE FROM learned_items WHERE {mine}
AND (fact IN (SELECT value FROM json_each(:facts)) OR old IN (SELECT value FROM json_each(:facts)))
"""


class SqlLearning(SqlUsage):
    """What was learned, beside the conversations it was learned from."""

    def due_conversations(self, *, now: datetime, silent_since: datetime) -> tuple[str, ...]:
        """Ids of conversations with messages that were not read, closed or silent since then; oldest first."""
        values = {"now": stored_moment(now), "silent_since": stored_moment(silent_since)}
        with self._database.read_transaction() as transaction:
            return tuple(id_ for (id_,) in transaction.rows(_DUE, values))

    def learning_states(self, sources: Iterable[str] | None = None) -> Mapping[str, LearningState]:
        """How far these sources were learned, or all that were tried."""
        values = {"all": int(sources is None), "sources": [*map(valid_utf8, sources or ())]}
        with self._database.read_transaction() as transaction:
            rows = transaction.rows(_STATES, values)
        return {row[0]: _state(*row) for row in rows}

    def save_learning_state(self, state: LearningState) -> None:
        """Store the state of a source, replacing the earlier one."""
        with self._database.write_transaction() as transaction:
            transaction.change(_SAVE_STATE, _state_row(state))

    def begin_learning(self, batch: LearnedBatch, *, now: datetime) -> bool:
        """Store what was extracted and how far the source was read; False if that is no longer as the batch says."""
        state = LearningState(source=batch.source, turns=batch.until, stamp=batch.stamp, paragraphs=batch.paragraphs)
        with self._changing() as change:
            transaction = change.transaction
            if not state.is_note:
                if not _begins_there(transaction, batch):
                    return False
                read = ConversationRecord(batch.source, stored_moment(now), learned=batch.until)
                change.keep(read, now=now, is_forced=False)
            transaction.change(_SAVE_STATE, _state_row(state))
            number: int = first_row(transaction, _ADD_BATCH, _batch_row(batch, at=stored_moment(now)))[0]
            rows = _item_rows(batch, at=stored_moment(now))
            transaction.change_many(_ADD_ITEM, ({**row, "batch": number} for row in rows))
        return True

    def pending_items(self) -> tuple[tuple[LearnedItem, ExtractedFact], ...]:
        """The items that were extracted and not settled, oldest first."""
        with self._database.read_transaction() as transaction:
            rows = transaction.rows(_PENDING)
        return tuple((_item(*row), _candidate(row[-1])) for row in rows)

    def settle_item(self, item: LearnedItem, *, now: datetime) -> None:
        """Store the outcome of the item with that number; its candidate is no longer needed."""
        values = {"outcome": item.outcome, "reason": valid_utf8(item.reason), "fact": item.fact, "old": item.old}
        with self._database.write_transaction() as transaction:
            transaction.change(_SETTLE, {**values, "number": item.number, "at": stored_moment(now)})

    def add_learned_item(self, item: LearnedItem, *, now: datetime) -> None:
        """Store an item that was settled at once, as a part of the source's last batch."""
        row = _item_row(item, at=stored_moment(now))
        with self._database.write_transaction() as transaction:
            batch: int | None = first_row(transaction, _LAST_BATCH, {"source": valid_utf8(item.source)})[0]
            if batch is not None:
                transaction.change(_ADD_ITEM, {**row, "batch": batch})

    def learned_items(
        self, *, source: str | None = None, since: datetime | None = None, limit: int | None = None
    ) -> tuple[LearnedItem, ...]:
        """Items of that source since that time; newest first, at most `limit`."""
        values = {
            "source": None if source is None else valid_utf8(source),
            "since": stored_moment(since) if since else None,
            "limit": ALL_ROWS if check_limit(limit) is None else limit,
        }
        with self._database.read_transaction() as transaction:
            rows = transaction.rows(_NEWEST_FIRST, values)
        return tuple(_item(*row) for row in rows)

    def learned_batches(self, source: str | None = None, *, since: datetime | None = None) -> tuple[LearnedBatch, ...]:
        """What was extracted from that source, or from all, since that time; oldest first."""
        values = {
            "source": None if source is None else valid_utf8(source),
            "since": stored_moment(since) if since else None,
        }
        with self._database.read_transaction() as transaction:
            rows = transaction.rows(_BATCHES, values)
        return tuple(_batch(*row) for row in rows)

    def forget_learned(self, facts: Iterable[str]) -> int:
        """Remove the items about these facts, also from free pages and the log; returns how many."""
        with self._database.write_transaction() as transaction:
            removed = transaction.change(_FORGET_FACTS, {"facts": [*map(valid_utf8, facts)]})
        self._database.drop_deleted()
        return removed

    def forget_learning(self, source: str) -> None:
        """Remove everything about that source, also from free pages and the log."""
        with self._database.write_transaction() as transaction:
            forget_named(transaction, [source])
        self._database.drop_deleted()


def _begins_there(transaction: SqlTransaction, batch: LearnedBatch) -> bool:
    """True if the conversation exists and was read up to where the batch begins."""
    values = {"source": batch.source, "until": batch.until}
    if first_row(transaction, _HAS_THREAD, values) is None:
        return False
    row = first_row(transaction, _READ_UNTIL, {"source": batch.source})
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
