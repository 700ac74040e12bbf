"""Audit, grants and model calls in SQL: the tables `commits`, `audit`, `grants`, and those of model calls.

Below them are the numbered migrations of `history.db`: `user_version` says how many a file has applied. A released
migration is never changed; new tables and columns come in a new one. Times are text such as 2026-03-01T09:12:44Z, so
that text order is time order.
"""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any, Final

import apsw

from commonplace.database import Database, ErrorWording
from commonplace.errors import VaultUnavailable
from commonplace.history.base import (
    ERASED,
    STATE_DAYS,
    AuditEntry,
    ModelCall,
    ModelState,
    Spending,
    UnfinishedErasure,
    check_limit,
    day_bounds,
    expiry,
    new_token,
    stored_moment,
    token_hash,
)
from commonplace.history.sqlite.calendars import SqliteCalendars
from commonplace.history.sqlite.conversation_files import FOLDER, ConversationFiles
from commonplace.history.sqlite.conversations import forget_named
from commonplace.history.sqlite.jobs import forget_steps

# `commits` outlives the audit rows: of an erased note only the commit hashes stay.
_1_AUDIT_AND_GRANTS = """
CREATE TABLE commits (
  number INTEGER PRIMARY KEY,
  hash   TEXT NOT NULL UNIQUE,
  at     TEXT NOT NULL CHECK (at GLOB '????-??-??T??:??:??Z')
) STRICT;
CREATE INDEX commits_by_time ON commits (at);

CREATE TABLE audit (
  number        INTEGER PRIMARY KEY,
  mutation      TEXT NOT NULL,
  at            TEXT NOT NULL CHECK (at GLOB '????-??-??T??:??:??Z'),
  verb          TEXT NOT NULL,
  path          TEXT NOT NULL,
  actor         TEXT NOT NULL,
  origin        TEXT NOT NULL,
  reason        TEXT NOT NULL,
  destination   TEXT,
  before        TEXT,
  after         TEXT,
  commit_number INTEGER REFERENCES commits (number),
  in_digest     INTEGER NOT NULL CHECK (in_digest IN (0, 1))
) STRICT;
CREATE INDEX audit_by_time ON audit (at);
CREATE INDEX audit_by_path ON audit (path);
CREATE INDEX audit_by_destination ON audit (destination) WHERE destination IS NOT NULL;

CREATE TRIGGER audit_is_append_only
BEFORE UPDATE OF mutation, at, verb, path, actor, origin, destination, before, after, commit_number, in_digest ON audit
BEGIN
  SELECT raise(ABORT, 'the audit is append-only');
END;

CREATE TABLE grants (
  token_hash TEXT PRIMARY KEY,
  path       TEXT NOT NULL,
  expires    TEXT NOT NULL CHECK (expires GLOB '????-??-??T??:??:??Z')
) STRICT, WITHOUT ROWID;
"""

# A text is known by its hash alone. Rows arrive in time order, so the indexes grow at their ends.
_2_MODEL_CALLS = """
CREATE TABLE invocation_log (
  number      INTEGER PRIMARY KEY,
  at          TEXT NOT NULL CHECK (at GLOB '????-??-??T??:??:??Z'),
  task_type   TEXT NOT NULL,
  model_alias TEXT NOT NULL,
  input_hash  TEXT NOT NULL,
  version     TEXT NOT NULL,
  duration_ms REAL NOT NULL,
  tokens      INTEGER NOT NULL,
  cost        REAL NOT NULL
) STRICT;
CREATE INDEX invocation_log_by_time ON invocation_log (at);
CREATE INDEX invocation_log_by_task ON invocation_log (task_type, at);
"""

# A message is never changed, and deleted only with its thread, whose row goes first.
_3_CONVERSATIONS = """
CREATE TABLE conversation_threads (
  number    INTEGER PRIMARY KEY,
  id        TEXT NOT NULL UNIQUE,
  interface TEXT NOT NULL,
  source_id TEXT NOT NULL,
  title     TEXT NOT NULL,
  trust     TEXT NOT NULL CHECK (trust IN ('told', 'said', 'read', 'mined', 'imported')),
  started   TEXT NOT NULL CHECK (started GLOB '????-??-??T??:??:??Z'),
  updated   TEXT NOT NULL CHECK (updated GLOB '????-??-??T??:??:??Z'),
  recorded  TEXT NOT NULL CHECK (recorded GLOB '????-??-??T??:??:??Z'),
  count     INTEGER NOT NULL,
  digest    TEXT NOT NULL,
  UNIQUE (interface, source_id)
) STRICT;
CREATE INDEX conversation_threads_by_time ON conversation_threads (updated);

CREATE TABLE conversation_messages (
  number    INTEGER PRIMARY KEY,
  thread    INTEGER NOT NULL REFERENCES conversation_threads (number) ON DELETE CASCADE,
  turn      INTEGER NOT NULL CHECK (turn > 0),
  identity  TEXT NOT NULL,
  role      TEXT NOT NULL CHECK (role IN ('user', 'assistant', 'system', 'tool')),
  author    TEXT NOT NULL,
  at        TEXT NOT NULL CHECK (at GLOB '????-??-??T??:??:??Z'),
  source_id TEXT NOT NULL,
  text      TEXT NOT NULL,
  UNIQUE (thread, turn),
  UNIQUE (thread, identity)
) STRICT;

CREATE TRIGGER messages_are_append_only BEFORE UPDATE ON conversation_messages
BEGIN
  SELECT raise(ABORT, 'messages are append-only');
END;
CREATE TRIGGER messages_go_with_their_thread BEFORE DELETE ON conversation_messages
WHEN EXISTS (SELECT 1 FROM conversation_threads WHERE number = OLD.thread)
BEGIN
  SELECT raise(ABORT, 'messages go only with their conversation');
END;
"""

# One row per fact and day of recall. Both tables are queried by primary key only.
_4_USES_AND_TOPICS = """
CREATE TABLE fact_uses (
  fact  TEXT NOT NULL,
  day   TEXT NOT NULL CHECK (day GLOB '????-??-??'),
  times INTEGER NOT NULL CHECK (times > 0),
  PRIMARY KEY (fact, day)
) STRICT, WITHOUT ROWID;

CREATE TABLE topic_locks (
  conversation TEXT PRIMARY KEY,
  topics       TEXT NOT NULL,
  at           TEXT NOT NULL CHECK (at GLOB '????-??-??T??:??:??Z')
) STRICT, WITHOUT ROWID;
"""

# When the conversation was marked as finished; NULL while it goes on.
_5_CLOSED_CONVERSATIONS = """
ALTER TABLE conversation_threads ADD COLUMN closed TEXT CHECK (closed GLOB '????-??-??T??:??:??Z');
"""

# What the model of a conversation has been given: `given` and `prompts` are lists in JSON. `number` orders the rows of
# one second.
_6_CONTEXT_STATES = """
CREATE TABLE context_states (
  number       INTEGER PRIMARY KEY,
  conversation TEXT NOT NULL UNIQUE,
  given        TEXT NOT NULL,
  prompts      TEXT NOT NULL,
  missed       TEXT NOT NULL,
  at           TEXT NOT NULL CHECK (at GLOB '????-??-??T??:??:??Z')
) STRICT;
CREATE INDEX context_states_by_time ON context_states (at);
"""

# The name of the project in which a conversation was held.
_7_PROJECTS = """
ALTER TABLE conversation_threads ADD COLUMN project TEXT NOT NULL DEFAULT '';
CREATE INDEX conversation_threads_by_project ON conversation_threads (project, updated);
"""

# A row for each text that was given to a model; what the texts of one call have in common is in `invocation_batches`.
# `input_hash` is the sha256 in 32 bytes. A row takes 49 bytes; with all columns in it and two indexes it took 245.
_8_BATCHES_OF_CALLS = """
CREATE TABLE invocation_batches (
  number      INTEGER PRIMARY KEY,
  at          TEXT NOT NULL CHECK (at GLOB '????-??-??T??:??:??Z'),
  task_type   TEXT NOT NULL,
  model_alias TEXT NOT NULL,
  version     TEXT NOT NULL,
  duration_ms REAL NOT NULL,
  tokens      INTEGER NOT NULL,
  cost        REAL NOT NULL
) STRICT;
ALTER TABLE invocation_log RENAME TO older_log;
CREATE TABLE invocation_log (
  number     INTEGER PRIMARY KEY,
  batch      INTEGER NOT NULL REFERENCES invocation_batches (number),
  input_hash BLOB NOT NULL
) STRICT;
INSERT INTO invocation_batches
SELECT min(number), at, task_type, model_alias, version, duration_ms, tokens, cost FROM older_log
GROUP BY at, task_type, model_alias, version, duration_ms, tokens, cost;
INSERT INTO invocation_log
SELECT number,
  min(number) OVER (PARTITION BY at, task_type, model_alias, version, duration_ms, tokens, cost),
  coalesce(unhex(input_hash), CAST(input_hash AS BLOB))
FROM older_log ORDER BY number;
DROP TABLE older_log;
"""

# Conversations are kept in files, of which these tables are made: `conversation_files` says how much of each they have.
# A captured session may have the names of what a caller recorded. Until now only captures had the trust `said` and the
# name of a program whose transcripts are read, or what a program recorded in the name of one: it is closed to callers.
_9_CONVERSATION_FILES = """
CREATE TABLE threads_9 (
  number    INTEGER PRIMARY KEY,
  id        TEXT NOT NULL UNIQUE,
  interface TEXT NOT NULL,
  source_id TEXT NOT NULL,
  title     TEXT NOT NULL,
  trust     TEXT NOT NULL CHECK (trust IN ('told', 'said', 'read', 'mined', 'imported')),
  started   TEXT NOT NULL CHECK (started GLOB '????-??-??T??:??:??Z'),
  updated   TEXT NOT NULL CHECK (updated GLOB '????-??-??T??:??:??Z'),
  recorded  TEXT NOT NULL CHECK (recorded GLOB '????-??-??T??:??:??Z'),
  count     INTEGER NOT NULL,
  digest    TEXT NOT NULL,
  closed    TEXT CHECK (closed GLOB '????-??-??T??:??:??Z'),
  project   TEXT NOT NULL DEFAULT '',
  captured  INTEGER NOT NULL DEFAULT 0 CHECK (captured IN (0, 1)),
  UNIQUE (interface, source_id, captured)
) STRICT;
INSERT INTO threads_9
SELECT number, id, interface, source_id, title, trust, started, updated, recorded, count, digest, closed, project,
  trust = 'said' AND interface IN ('claude-code', 'codex', 'gemini')
FROM conversation_threads;
CREATE TABLE messages_9 (
  number    INTEGER PRIMARY KEY,
  thread    INTEGER NOT NULL REFERENCES threads_9 (number) ON DELETE CASCADE,
  turn      INTEGER NOT NULL CHECK (turn > 0),
  identity  TEXT NOT NULL,
  role      TEXT NOT NULL CHECK (role IN ('user', 'assistant', 'system', 'tool')),
  author    TEXT NOT NULL,
  at        TEXT NOT NULL CHECK (at GLOB '????-??-??T??:??:??Z'),
  source_id TEXT NOT NULL,
  text      TEXT NOT NULL,
  UNIQUE (thread, turn),
  UNIQUE (thread, identity)
) STRICT;
INSERT INTO messages_9 SELECT number, thread, turn, identity, role, author, at, source_id, text
FROM conversation_messages;
DROP TABLE conversation_messages;
DROP TABLE conversation_threads;
ALTER TABLE threads_9 RENAME TO conversation_threads;
ALTER TABLE messages_9 RENAME TO conversation_messages;
CREATE INDEX conversation_threads_by_time ON conversation_threads (updated);
CREATE INDEX conversation_threads_by_project ON conversation_threads (project, updated);
CREATE TRIGGER messages_are_append_only BEFORE UPDATE ON conversation_messages
BEGIN
  SELECT raise(ABORT, 'messages are append-only');
END;
CREATE TRIGGER messages_go_with_their_thread BEFORE DELETE ON conversation_messages
WHEN EXISTS (SELECT 1 FROM conversation_threads WHERE number = OLD.thread)
BEGIN
  SELECT raise(ABORT, 'messages go only with their conversation');
END;

CREATE TABLE conversation_files (
  name TEXT PRIMARY KEY,
  size INTEGER NOT NULL,
  last INTEGER NOT NULL,
  sum  TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE capture_cursors (
  session TEXT PRIMARY KEY,
  offset  INTEGER NOT NULL,
  tail    TEXT NOT NULL,
  file    TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE erased_conversations (mark TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
CREATE TABLE history_losses (
  number   INTEGER PRIMARY KEY,
  at       TEXT NOT NULL CHECK (at GLOB '????-??-??T??:??:??Z'),
  said     TEXT NOT NULL UNIQUE,
  remedy   TEXT NOT NULL,
  restored INTEGER NOT NULL CHECK (restored IN (0, 1))
) STRICT;
CREATE TABLE unfinished_erasures (
  path   TEXT PRIMARY KEY,
  former TEXT NOT NULL,
  entry  TEXT NOT NULL,
  begun  TEXT NOT NULL CHECK (begun GLOB '????-??-??T??:??:??Z')
) STRICT, WITHOUT ROWID;
"""

# What a thread is, the conversation in which a correction was made, and what the thread may be used for.
_10_THREAD_KINDS = """
ALTER TABLE conversation_threads ADD COLUMN kind TEXT NOT NULL DEFAULT 'chat'
  CHECK (kind IN ('chat', 'task', 'correction'));
ALTER TABLE conversation_threads ADD COLUMN parent TEXT NOT NULL DEFAULT '';
ALTER TABLE conversation_threads ADD COLUMN memory TEXT NOT NULL DEFAULT 'on'
  CHECK (memory IN ('on', 'off', 'isolated'));
CREATE INDEX conversation_threads_by_parent ON conversation_threads (parent) WHERE parent <> '';
"""

# How far conversations and marked notes were learned, what was extracted from each part, and what became of each item.
# `candidate` is the item in JSON until it is settled, `details` what else was extracted.
_11_LEARNING = """
CREATE TABLE learning_sources (
  source     TEXT PRIMARY KEY,
  turns      INTEGER NOT NULL,
  stamp      TEXT NOT NULL,
  paragraphs TEXT NOT NULL,
  failures   INTEGER NOT NULL,
  reason     TEXT NOT NULL,
  retry_at   TEXT NOT NULL CHECK (retry_at = '' OR retry_at GLOB '????-??-??T??:??:??Z'),
  is_parked  INTEGER NOT NULL CHECK (is_parked IN (0, 1))
) STRICT, WITHOUT ROWID;
CREATE TABLE learning_batches (
  number    INTEGER PRIMARY KEY,
  source    TEXT NOT NULL,
  at        TEXT NOT NULL CHECK (at GLOB '????-??-??T??:??:??Z'),
  extractor TEXT NOT NULL,
  after     INTEGER NOT NULL,
  until     INTEGER NOT NULL,
  summary   TEXT NOT NULL,
  details   TEXT NOT NULL
) STRICT;
CREATE INDEX learning_batches_by_source ON learning_batches (source);
CREATE TABLE learned_items (
  number    INTEGER PRIMARY KEY,
  batch     INTEGER NOT NULL REFERENCES learning_batches (number),
  at        TEXT NOT NULL CHECK (at GLOB '????-??-??T??:??:??Z'),
  turn      INTEGER NOT NULL,
  text      TEXT NOT NULL,
  quote     TEXT NOT NULL,
  candidate TEXT NOT NULL,
  outcome   TEXT NOT NULL,
  reason    TEXT NOT NULL,
  fact      TEXT NOT NULL,
  old       TEXT NOT NULL
) STRICT;
CREATE INDEX learned_items_by_batch ON learned_items (batch);
CREATE INDEX learned_items_pending ON learned_items (number) WHERE outcome = 'pending';
"""

# Failures of language models since they last answered. `until` is empty for a model that is not asked at all.
_12_MODEL_STATES = """
CREATE TABLE model_states (
  identity TEXT PRIMARY KEY,
  failures INTEGER NOT NULL,
  reason   TEXT NOT NULL,
  said     TEXT NOT NULL,
  until    TEXT NOT NULL CHECK (until = '' OR until GLOB '????-??-??T??:??:??Z'),
  at       TEXT NOT NULL CHECK (at GLOB '????-??-??T??:??:??Z')
) STRICT, WITHOUT ROWID;
CREATE INDEX invocation_batches_with_tokens ON invocation_batches (at) WHERE tokens > 0;
"""

# Scheduled jobs: who runs one, what is kept between runs, the log of runs, and what a person is told until it is over.
# `state` is JSON; `left_over` are planned steps for the next run.
_13_JOBS = """
CREATE TABLE job_leases (
  job     TEXT PRIMARY KEY,
  owner   TEXT NOT NULL,
  boot    TEXT NOT NULL,
  process TEXT NOT NULL,
  until   TEXT NOT NULL CHECK (until GLOB '????-??-??T??:??:??Z')
) STRICT, WITHOUT ROWID;
CREATE TABLE job_states (
  job       TEXT PRIMARY KEY,
  state     TEXT NOT NULL,
  since     TEXT NOT NULL CHECK (since = '' OR since GLOB '????-??-??T??:??:??Z'),
  failures  INTEGER NOT NULL,
  reason    TEXT NOT NULL,
  retry_at  TEXT NOT NULL CHECK (retry_at = '' OR retry_at GLOB '????-??-??T??:??:??Z'),
  is_parked INTEGER NOT NULL CHECK (is_parked IN (0, 1))
) STRICT, WITHOUT ROWID;
CREATE TABLE job_runs (
  number    INTEGER PRIMARY KEY,
  job       TEXT NOT NULL,
  began     TEXT NOT NULL CHECK (began GLOB '????-??-??T??:??:??Z'),
  outcome   TEXT NOT NULL,
  ended     TEXT NOT NULL CHECK (ended = '' OR ended GLOB '????-??-??T??:??:??Z'),
  said      TEXT NOT NULL,
  planned   INTEGER NOT NULL,
  left_over INTEGER NOT NULL,
  seconds   REAL NOT NULL
) STRICT;
CREATE INDEX job_runs_by_job ON job_runs (job, number);
CREATE INDEX job_runs_by_time ON job_runs (began);
CREATE TABLE job_steps (
  number    INTEGER PRIMARY KEY,
  run       INTEGER NOT NULL REFERENCES job_runs (number),
  action    TEXT NOT NULL,
  subject   TEXT NOT NULL,
  said      TEXT NOT NULL,
  outcome   TEXT NOT NULL,
  in_commit TEXT NOT NULL,
  review    TEXT NOT NULL,
  reason    TEXT NOT NULL
) STRICT;
CREATE INDEX job_steps_by_run ON job_steps (run);
CREATE TABLE job_notices (
  key  TEXT PRIMARY KEY,
  said TEXT NOT NULL,
  at   TEXT NOT NULL CHECK (at GLOB '????-??-??T??:??:??Z')
) STRICT, WITHOUT ROWID;
"""

# The mirror of calendars: events, how far each calendar was read, and the texts it was read from, compressed.
# `attendees` and `organizer` are JSON.
_14_CALENDARS = """
CREATE TABLE calendar_events (
  calendar    TEXT NOT NULL,
  id          TEXT NOT NULL,
  uid         TEXT NOT NULL,
  title       TEXT NOT NULL,
  begins      TEXT NOT NULL CHECK (begins GLOB '????-??-??T??:??:??Z'),
  ends        TEXT NOT NULL CHECK (ends GLOB '????-??-??T??:??:??Z' AND ends >= begins),
  all_day     INTEGER NOT NULL CHECK (all_day IN (0, 1)),
  zone        TEXT NOT NULL,
  status      TEXT NOT NULL CHECK (status IN ('confirmed', 'tentative', 'cancelled')),
  attendees   TEXT NOT NULL,
  organizer   TEXT NOT NULL,
  location    TEXT NOT NULL,
  description TEXT NOT NULL,
  updated     TEXT NOT NULL CHECK (updated = '' OR updated GLOB '????-??-??T??:??:??Z'),
  sequence    INTEGER NOT NULL,
  removed     TEXT NOT NULL CHECK (removed = '' OR removed GLOB '????-??-??T??:??:??Z'),
  PRIMARY KEY (calendar, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX calendar_events_by_id ON calendar_events (id);
CREATE INDEX calendar_events_by_start ON calendar_events (begins);
CREATE INDEX calendar_events_by_end ON calendar_events (ends);
CREATE TABLE calendar_states (
  calendar TEXT PRIMARY KEY,
  source   TEXT NOT NULL,
  mark     TEXT NOT NULL,
  tried    TEXT NOT NULL CHECK (tried = '' OR tried GLOB '????-??-??T??:??:??Z'),
  read     TEXT NOT NULL CHECK (read = '' OR read GLOB '????-??-??T??:??:??Z'),
  until    TEXT NOT NULL CHECK (until = '' OR until GLOB '????-??-??T??:??:??Z'),
  failures INTEGER NOT NULL,
  reason   TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE calendar_resources (
  calendar TEXT NOT NULL,
  href     TEXT NOT NULL,
  etag     TEXT NOT NULL,
  packed   BLOB NOT NULL,
  PRIMARY KEY (calendar, href)
) STRICT;
"""

MIGRATIONS: Final = (
    _1_AUDIT_AND_GRANTS,
    _2_MODEL_CALLS,
    _3_CONVERSATIONS,
    _4_USES_AND_TOPICS,
    _5_CLOSED_CONVERSATIONS,
    _6_CONTEXT_STATES,
    _7_PROJECTS,
    _8_BATCHES_OF_CALLS,
    _9_CONVERSATION_FILES,
    _10_THREAD_KINDS,
    _11_LEARNING,
    _12_MODEL_STATES,
    _13_JOBS,
    _14_CALENDARS,
)


_now: Final = partial(datetime.now, UTC)
HISTORY_ERRORS: Final = ErrorWording(
    label="history",
    damaged=VaultUnavailable,
    mend="Keep a copy of {name} and move it away, together with {name}-wal and {name}-shm; "
    "a new one is created: its conversations from the conversation files, its audit from the vault's commits.",
    too_new="Upgrade Commonplace.",
)

_ADD_COMMIT: Final = "INSERT INTO commits (hash, at) VALUES (:commit, :at) ON CONFLICT DO NOTHING"
_ADD_ENTRY: Final = """
INSERT INTO audit (mutation, at, verb, path, actor, origin, reason, destination, before, after, commit_number,
                   in_digest)
VALUES (:mutation, :at, :verb, :path, :actor, :origin, :reason, :destination, :before, :after,
        (SELECT number FROM commits WHERE hash = :commit), :in_digest)
"""
_ENTRIES: Final = """
SELECT mutation, audit.at, verb, path, actor, origin, reason, destination, before, after, hash, in_digest
FROM audit LEFT JOIN commits ON commits.number = commit_number
"""
_ENTRY_CONDITIONS: Final = {
    "path": "(path = :path OR destination = :path)",
    "actor": "actor = :actor",
    "since": "audit.at >= :since",
}
_NEWEST_ENTRY_FIRST: Final = " ORDER BY audit.at DESC, audit.number DESC LIMIT :limit"
_NEWEST_COMMIT: Final = "SELECT hash FROM commits ORDER BY at DESC, number DESC LIMIT 1"
_REDACT_REASONS: Final = """
UPDATE audit SET reason = replace(reason, :path, :erased)
WHERE mutation IN (SELECT mutation FROM audit WHERE path = :path OR destination = :path)
"""
_FORGET_PATH: Final = "DELETE FROM audit WHERE path = :path OR destination = :path"
_FORGET_GRANTS: Final = "DELETE FROM grants WHERE path = :path"
_FORGET_STATES: Final = "DELETE FROM context_states; DELETE FROM topic_locks"
_BEGIN_ERASURE: Final = """
INSERT INTO unfinished_erasures (path, former, entry, begun) VALUES (:path, :former, :entry, :begun)
ON CONFLICT (path) DO UPDATE SET former = excluded.former, entry = excluded.entry, begun = excluded.begun
"""
_UNFINISHED_ERASURES: Final = "SELECT path, former, entry, begun FROM unfinished_erasures ORDER BY begun, path"
_END_ERASURE: Final = "DELETE FROM unfinished_erasures WHERE path = :path"
_GIVE_GRANT: Final = "INSERT INTO grants (token_hash, path, expires) VALUES (:token, :path, :expires)"
_HAS_GRANT: Final = "SELECT 1 FROM grants WHERE token_hash = :token AND path = :path AND expires > :now"
_USE_GRANT: Final = "DELETE FROM grants WHERE token_hash = :token AND path = :path AND expires > :now"
_DELETE_EXPIRED_GRANTS: Final = "DELETE FROM grants WHERE expires <= :now"
_ADD_BATCH: Final = """
INSERT INTO invocation_batches (at, task_type, model_alias, version, duration_ms, tokens, cost)
VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING number
"""
_ADD_CALL: Final = "INSERT INTO invocation_log (batch, input_hash) VALUES (?, unhex(?))"
_SPENDING: Final = """
SELECT count(*), coalesce(sum(tokens), 0), coalesce(sum(cost), 0.0) FROM invocation_batches
WHERE tokens > 0 AND at >= ? AND at < ?
"""
_SETTLE_CALL: Final = "UPDATE invocation_batches SET tokens = ?, cost = ?, duration_ms = ? WHERE number = ?"
_MODEL_STATE: Final = "SELECT failures, reason, said, until FROM model_states WHERE identity = ?"
_SAVE_MODEL_STATE: Final = """
INSERT INTO model_states (identity, failures, reason, said, until, at) VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (identity) DO UPDATE SET failures = excluded.failures, reason = excluded.reason, said = excluded.said,
  until = excluded.until, at = excluded.at
"""
_DROP_MODEL_STATES: Final = "DELETE FROM model_states WHERE at < ?"
_FORGET_MODEL_STATES: Final = "DELETE FROM model_states"
_BATCHES: Final = " FROM invocation_log JOIN invocation_batches AS batch ON batch.number = invocation_log.batch"
_CALLS: Final = f"""
SELECT at, task_type, model_alias, lower(hex(input_hash)), version, duration_ms, tokens, cost{_BATCHES}
"""
_CALL_CONDITIONS: Final = {"task_type": "task_type = :task_type", "since": "at >= :since"}
_NEWEST_CALL_FIRST: Final = " ORDER BY at DESC, invocation_log.number DESC LIMIT :limit"
_COUNT_CALLS: Final = f"SELECT count(*){_BATCHES}"
_FORGET_CALLS: Final = "DELETE FROM invocation_log WHERE input_hash IN (SELECT unhex(value) FROM json_each(:hashes))"
_FORGET_BATCHES: Final = "DELETE FROM invocation_batches WHERE number NOT IN (SELECT batch FROM invocation_log)"


class SqliteHistory(SqliteCalendars):
    """The history in one file and the conversations beside it, created at first use; many processes may share it.

    `wait` is how many seconds a call waits for a lock before it raises VaultUnavailable(locked). A file that is damaged
    when it is opened is set aside, and a new one is made.
    """

    def __init__(self, file: Path, *, wait: float = 10.0, clock: Callable[[], datetime] = _now) -> None:
        files = ConversationFiles(file.parent / FOLDER, wait=wait)
        database = Database(
            file,
            migrations=MIGRATIONS,
            wording=HISTORY_ERRORS,
            wait=wait,
            prepare=self.catch_up_at_opening,
            sets_damage_aside=True,
        )
        super().__init__(database, files, clock=clock)

    def record(self, *entries: AuditEntry) -> None:
        """Add these rows, all or none."""
        with self._database.write_transaction() as connection:
            _add_entries(connection, entries)

    def entries(
        self,
        *,
        path: str | None = None,
        actor: str | None = None,
        since: datetime | None = None,
        limit: int | None = None,
    ) -> tuple[AuditEntry, ...]:
        """Rows about that note, by that actor, since that time; newest first, at most `limit`."""
        conditions = {"path": path, "actor": actor, "since": stored_moment(since) if since else None}
        values = {name: value for name, value in conditions.items() if value is not None}
        where = " AND ".join(_ENTRY_CONDITIONS[name] for name in values)
        check_limit(limit)
        with self._database.read_transaction() as connection:
            rows = connection.execute(
                _ENTRIES + (f"WHERE {where}" if where else "") + _NEWEST_ENTRY_FIRST,
                {**values, "limit": -1 if limit is None else limit},
            ).fetchall()
        return tuple(_entry(row) for row in rows)

    def newest_commit(self) -> str | None:
        """The latest commit that was recorded or recovered, or None."""
        with self._database.read_transaction() as connection:
            commit: str | None = connection.execute(_NEWEST_COMMIT).get
        return commit

    def recover(self, entries: Iterable[AuditEntry]) -> int:
        """Add the rows whose commit is unknown; returns how many were added."""
        entries = tuple(entries)
        if not entries:
            return 0
        with self._database.write_transaction() as connection:
            known = {hash_ for (hash_,) in connection.execute("SELECT hash FROM commits")}
            missing = [entry for entry in entries if entry.commit and entry.commit not in known]
            _add_entries(connection, missing)
        return len(missing)

    def forget_path(self, path: str) -> int:
        """Remove every trace of that path, also from free pages and the log; returns how many rows were removed."""
        with self._database.write_transaction() as connection:
            connection.execute(_REDACT_REASONS, {"path": path, "erased": ERASED})
            connection.execute(_FORGET_PATH, {"path": path})
            removed = connection.changes()
            connection.execute(_FORGET_GRANTS, {"path": path})
            connection.execute(_FORGET_STATES)
            forget_named(connection, [path])
            forget_steps(connection, [path])
        self._database.vacuum()
        self._database.drop_damaged()
        return removed

    def begin_erasure(self, erasure: UnfinishedErasure) -> None:
        """Remember what is being erased, until it is ended."""
        values = {"path": erasure.path, "former": json.dumps(erasure.former), "entry": erasure.entry}
        with self._database.write_transaction() as connection:
            connection.execute(_BEGIN_ERASURE, values | {"begun": stored_moment(erasure.begun)})

    def unfinished_erasures(self) -> tuple[UnfinishedErasure, ...]:
        """The erasures that were begun and not ended, oldest first."""
        with self._database.read_transaction() as connection:
            rows: list[Any] = connection.execute(_UNFINISHED_ERASURES).fetchall()
        return tuple(
            UnfinishedErasure(path, tuple(json.loads(former)), entry, datetime.fromisoformat(begun))
            for path, former, entry, begun in rows
        )

    def end_erasure(self, path: str) -> None:
        """Forget that this path was being erased, also in free pages and the log."""
        with self._database.write_transaction() as connection:
            connection.execute(_END_ERASURE, {"path": path})
        self._database.vacuum()

    def give_grant(self, path: str, *, now: datetime, minutes: int = 10) -> str:
        """A new token that allows one write to that path within `minutes`; deletes expired grants."""
        token = new_token()
        grant = {"token": token_hash(token), "path": path, "expires": stored_moment(expiry(now, minutes))}
        with self._database.write_transaction() as connection:
            connection.execute(_DELETE_EXPIRED_GRANTS, {"now": stored_moment(now)})
            connection.execute(_GIVE_GRANT, grant)
        return token

    def has_grant(self, token: str, path: str, *, now: datetime) -> bool:
        """True if the token is valid for exactly that path now; does not use it up."""
        values = {"token": token_hash(token), "path": path, "now": stored_moment(now)}
        with self._database.read_transaction() as connection:
            return connection.execute(_HAS_GRANT, values).fetchone() is not None

    def use_grant(self, token: str, path: str, *, now: datetime) -> bool:
        """True if the token is valid for exactly that path now; uses it up."""
        values = {"token": token_hash(token), "path": path, "now": stored_moment(now)}
        with self._database.write_transaction() as connection:
            connection.execute(_USE_GRANT, values)
            return connection.changes() == 1

    def log_calls(self, calls: Sequence[ModelCall]) -> None:
        """Add a row for each call, all or none; those in a row that differ in their text alone are one batch."""
        if not calls:
            return
        with self._database.write_transaction() as connection:
            for batch, some in groupby(calls, key=_batch_row):
                number: int = connection.execute(_ADD_BATCH, batch).get
                connection.executemany(_ADD_CALL, ((number, call.input_hash) for call in some))

    def calls(
        self, *, task_type: str | None = None, since: datetime | None = None, limit: int | None = None
    ) -> tuple[ModelCall, ...]:
        """Calls of that type since that time; newest first, at most `limit`."""
        conditions = {"task_type": task_type, "since": stored_moment(since) if since else None}
        values = {name: value for name, value in conditions.items() if value is not None}
        where = " AND ".join(_CALL_CONDITIONS[name] for name in values)
        check_limit(limit)
        with self._database.read_transaction() as connection:
            rows = connection.execute(
                _CALLS + (f"WHERE {where}" if where else "") + _NEWEST_CALL_FIRST,
                {**values, "limit": -1 if limit is None else limit},
            ).fetchall()
        return tuple(_call(row) for row in rows)

    def reserve_call(self, call: ModelCall, *, budget: Spending) -> int | None:
        """Add the call with the most it can cost, unless that would exceed the day's budget; returns its number."""
        with self._database.write_transaction() as connection:
            spent = _spending(connection, call.at)
            if spent.tokens + call.tokens > budget.tokens or spent.cost + call.cost > budget.cost:
                return None
            number: int = connection.execute(_ADD_BATCH, _batch_row(call)).get
            connection.execute(_ADD_CALL, (number, call.input_hash))
        return number

    def settle_call(self, number: int, *, tokens: int, cost: float, duration_ms: float) -> None:
        """Replace what was reserved by what the call came to."""
        with self._database.write_transaction() as connection:
            connection.execute(_SETTLE_CALL, (tokens, float(cost), float(duration_ms), number))

    def spending(self, day: datetime) -> Spending:
        """What the calls of language models on that UTC day came to."""
        with self._database.read_transaction() as connection:
            return _spending(connection, day)

    def model_state(self, identity: str) -> ModelState:
        """The failures of that model since it last answered."""
        with self._database.read_transaction() as connection:
            row = connection.execute(_MODEL_STATE, (identity,)).fetchone()
        if row is None:
            return ModelState(identity)
        failures, reason, said, until = row
        return ModelState(identity, failures, reason, said, datetime.fromisoformat(until) if until else None)

    def save_model_state(self, state: ModelState, *, now: datetime) -> None:
        """Store the state of a model, replacing the earlier one."""
        until = stored_moment(state.until) if state.until else ""
        row = (state.identity, state.failures, state.reason, state.said, until, stored_moment(now))
        with self._database.write_transaction() as connection:
            connection.execute(_SAVE_MODEL_STATE, row)
            connection.execute(_DROP_MODEL_STATES, (stored_moment(now - timedelta(days=STATE_DAYS)),))

    def forget_model_states(self) -> int:
        """Forget the failures of all models; returns how many had some."""
        with self._database.write_transaction() as connection:
            connection.execute(_FORGET_MODEL_STATES)
            return connection.changes()

    def count_calls(self, task_type: str | None = None) -> int:
        """How many calls were logged, of that type or in total."""
        where = "" if task_type is None else " WHERE task_type = :task_type"
        with self._database.read_transaction() as connection:
            count: int = connection.execute(_COUNT_CALLS + where, {"task_type": task_type}).get
        return count

    def forget_calls(self, input_hashes: Iterable[str]) -> int:
        """Remove every call with one of these texts, also from free pages and the log; returns how many.

        This reads the whole table: an index by hash would slow every logged call.
        """
        with self._database.write_transaction() as connection:
            connection.execute(_FORGET_CALLS, {"hashes": json.dumps(sorted(set(input_hashes)))})
            removed = connection.changes()
            connection.execute(_FORGET_BATCHES)
        self._database.vacuum()
        return removed

    def size(self) -> int:
        """The bytes of the file, its log and the conversation files."""
        return self._database.size() + self._files.size()

    def close(self) -> None:
        """Close the file; the next call opens it again."""
        self._database.close()


def _add_entries(connection: apsw.Connection, entries: Iterable[AuditEntry]) -> None:
    for entry in entries:
        values = {
            "mutation": entry.mutation,
            "at": stored_moment(entry.when),
            "verb": entry.verb,
            "path": entry.path,
            "actor": entry.actor,
            "origin": entry.origin,
            "reason": entry.reason,
            "destination": entry.destination,
            "before": entry.before,
            "after": entry.after,
            "commit": entry.commit,
            "in_digest": int(entry.in_digest),
        }
        if entry.commit:
            connection.execute(_ADD_COMMIT, values)
        connection.execute(_ADD_ENTRY, values)


def _entry(row: Iterable[Any]) -> AuditEntry:
    """The audit entry in a row of `_ENTRIES`, whose columns are in the order of the fields."""
    values: dict[str, Any] = {each.name: value for each, value in zip(fields(AuditEntry), row, strict=True)}
    when, in_digest = datetime.fromisoformat(values.pop("when")), bool(values.pop("in_digest"))
    return AuditEntry(**values, when=when, in_digest=in_digest)


def _spending(connection: apsw.Connection, day: datetime) -> Spending:
    row: Any = connection.execute(_SPENDING, tuple(map(stored_moment, day_bounds(day)))).fetchone()
    return Spending(*row)


def _batch_row(call: ModelCall) -> tuple[str | int | float, ...]:
    return (
        stored_moment(call.at),
        call.task_type,
        call.model_alias,
        call.version,
        float(call.duration_ms),
        call.tokens,
        float(call.cost),
    )


def _call(row: Iterable[Any]) -> ModelCall:
    """The call in a row of `_CALLS`, whose columns are in the order of the fields."""
    values: dict[str, Any] = {each.name: value for each, value in zip(fields(ModelCall), row, strict=True)}
    return ModelCall(**{**values, "at": datetime.fromisoformat(values["at"])})
