"""The numbered migrations of `history.db`: `user_version` says how many a file has applied.

A released migration is never changed; new tables and columns come in a new one. Times are text such as
2026-03-01T09:12:44Z, so that text order is time order.
"""

from typing import Final

from commonplace.database import ErrorWording
from commonplace.errors import VaultUnavailable

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

# The contexts that were given last; `pieces` is a list in JSON: ids, paths, reasons and sizes.
_15_CONTEXTS = """
CREATE TABLE context_log (
  number       INTEGER PRIMARY KEY,
  at           TEXT NOT NULL CHECK (at GLOB '????-??-??T??:??:??Z'),
  origin       TEXT NOT NULL,
  conversation TEXT NOT NULL,
  prompt       TEXT NOT NULL,
  chars        INTEGER NOT NULL,
  silence      TEXT NOT NULL,
  pieces       TEXT NOT NULL CHECK (json_valid(pieces))
) STRICT;
"""

# For whom a change was done.
_16_PERSONS = """
ALTER TABLE audit ADD COLUMN person TEXT NOT NULL DEFAULT '';
CREATE TRIGGER audit_person_is_append_only BEFORE UPDATE OF person ON audit
BEGIN
  SELECT raise(ABORT, 'the audit is append-only');
END;
"""

# The files say how far conversations were learned, too. With other sums they are read again, and get what they lack.
_17_LEARNED_IN_FILES = """
UPDATE conversation_files SET sum = '' WHERE name <> '';
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
    _15_CONTEXTS,
    _16_PERSONS,
    _17_LEARNED_IN_FILES,
)

HISTORY_ERRORS: Final = ErrorWording(
    label="history",
    damaged=VaultUnavailable,
    mend="Keep a copy of {name} and move it away, together with {name}-wal and {name}-shm; "
    "a new one is created: its conversations from the conversation files, its audit from the vault's commits.",
    too_new="Upgrade Commonplace.",
)
