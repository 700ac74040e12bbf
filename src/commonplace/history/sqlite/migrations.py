"""The tables of `history.db`, as numbered steps: a file knows by `user_version` how many it has taken.

A step that was released is never changed; what is new comes as the next one.
Times are text such as 2026-03-01T09:12:44Z, so that their order as text is their order in time.
"""

from typing import Final

# `commits` outlives the rows of the audit: an erased note's commits stay known by their hashes alone.
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

# A text is known by its hash alone. Rows come in the order of their times, so the indexes grow at their ends.
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

# A message is never changed, and goes only with its thread: the row of the thread is the first to be deleted.
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

# A day has one row for each fact that was recalled on it. Both tables are found by their key alone.
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

# When someone said that it is finished; NULL while it goes on.
_5_CLOSED_CONVERSATIONS = """
ALTER TABLE conversation_threads ADD COLUMN closed TEXT CHECK (closed GLOB '????-??-??T??:??:??Z');
"""

MIGRATIONS: Final = (
    _1_AUDIT_AND_GRANTS,
    _2_MODEL_CALLS,
    _3_CONVERSATIONS,
    _4_USES_AND_TOPICS,
    _5_CLOSED_CONVERSATIONS,
)
