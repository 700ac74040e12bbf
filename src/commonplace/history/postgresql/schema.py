"""The tables of histories in PostgreSQL, as numbered migrations.

They have the columns of `history.db`, so that the statements of `sql/` run on both, with the tenant before them, and
`history_` before their names. A released migration is never changed; new tables and columns come in a new one. Times
are text such as 2026-03-01T09:12:44Z. Text is compared byte by byte (collation C), so that text order is time order on
every server. Rows of one tenant are numbered in the order in which they were added: its writers take turns.
"""

from typing import Final

from commonplace.database.errors import ErrorWording
from commonplace.database.postgresql import Area, Migration, TenantTable
from commonplace.errors import VaultUnavailable
from commonplace.history.sql.tables import postgresql_name

_WORDING: Final = ErrorWording(
    label="history",
    damaged=VaultUnavailable,
    mend="Restore {name} from a backup.",
)
_TEXT: Final = 'text COLLATE "C" NOT NULL'
_MAYBE: Final = 'text COLLATE "C"'
_INT: Final = "bigint NOT NULL"
_FLAG: Final = "integer NOT NULL"
_REAL: Final = "double precision NOT NULL"
# As SQLite numbers rows: one more than the largest number, among those of the tenant. The command that adds a row does
# not see others that it adds; each row is added by a command of its own, or with its number.
_NEXT_NUMBER: Final = """
CREATE FUNCTION history_next_number(named text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE number bigint;
BEGIN
  EXECUTE format('SELECT coalesce(max(number), 0) + 1 FROM %I WHERE tenant = $1', named)
  INTO number USING current_setting('commonplace.tenant', true);
  RETURN number;
END $$
"""


def _table(name: str, columns: str, key: str, *, partitioned: bool = False) -> TenantTable:
    return TenantTable(postgresql_name(name), columns, key, partitioned)


def _numbered(name: str, columns: str, *, partitioned: bool = False) -> TenantTable:
    """A table whose rows have numbers."""
    number = f"number bigint NOT NULL DEFAULT history_next_number('{postgresql_name(name)}')"
    return _table(name, f"{number}, {columns}", "number", partitioned=partitioned)


def _index(table: str, columns: str, *, unique: bool = False, where: str = "") -> str:
    """An index whose first column is the tenant."""
    name = f"{postgresql_name(table)}_by_{'_'.join(columns.replace(',', '').split())}"
    kind, condition = "UNIQUE INDEX" if unique else "INDEX", f" WHERE {where}" if where else ""
    return f"CREATE {kind} {name} ON {postgresql_name(table)} (tenant, {columns}){condition}"


_AUDIT: Final = (
    _numbered("commits", f"hash {_TEXT}, at {_TEXT}", partitioned=True),
    _index("commits", "hash", unique=True),
    _index("commits", "at"),
    _numbered(
        "audit",
        f"mutation {_TEXT}, at {_TEXT}, verb {_TEXT}, path {_TEXT}, actor {_TEXT}, origin {_TEXT},"
        f" reason {_TEXT}, destination {_MAYBE}, before {_MAYBE}, after {_MAYBE}, commit_number bigint,"
        f" in_digest {_FLAG}, person {_TEXT}",
        partitioned=True,
    ),
    _index("audit", "at"),
    _index("audit", "path"),
    _index("audit", "destination", where="destination IS NOT NULL"),
    _table("grants", f"token_hash {_TEXT}, path {_TEXT}, expires {_TEXT}", "token_hash"),
    _table("unfinished_erasures", f"path {_TEXT}, former {_TEXT}, entry {_TEXT}, begun {_TEXT}", "path"),
    _numbered("history_losses", f"at {_TEXT}, said {_TEXT}, remedy {_TEXT}, restored {_FLAG}"),
    _index("history_losses", "said", unique=True),
)
_CALLS: Final = (
    _numbered(
        "invocation_batches",
        f"at {_TEXT}, task_type {_TEXT}, model_alias {_TEXT}, version {_TEXT}, duration_ms {_REAL},"
        f" tokens {_INT}, cost {_REAL}",
        partitioned=True,
    ),
    _index("invocation_batches", "at", where="tokens > 0"),
    _numbered("invocation_log", f"batch {_INT}, input_hash bytea NOT NULL", partitioned=True),
    _index("invocation_log", "batch"),
    _table(
        "model_states",
        f"identity {_TEXT}, failures {_INT}, reason {_TEXT}, said {_TEXT}, until {_TEXT}, at {_TEXT}",
        "identity",
    ),
)
_CONVERSATIONS: Final = (
    _numbered(
        "conversation_threads",
        f"id {_TEXT}, interface {_TEXT}, source_id {_TEXT}, title {_TEXT}, trust {_TEXT}, started {_TEXT},"
        f" updated {_TEXT}, recorded {_TEXT}, count {_INT}, digest {_TEXT}, closed {_MAYBE},"
        f" project {_TEXT} DEFAULT '', captured {_FLAG} DEFAULT 0, kind {_TEXT} DEFAULT 'chat',"
        f" parent {_TEXT} DEFAULT '', memory {_TEXT} DEFAULT 'on'",
        partitioned=True,
    ),
    _index("conversation_threads", "id", unique=True),
    "CREATE INDEX history_conversation_threads_by_source_id ON history_conversation_threads"
    " (tenant, substr(source_id, 1, 100))",  # a program's id may be longer than an index takes
    _index("conversation_threads", "updated"),
    _table(
        "conversation_messages",
        f"thread {_INT}, turn {_INT}, identity {_TEXT}, role {_TEXT}, author {_TEXT}, at {_TEXT}, source_id {_TEXT},"
        f" text {_TEXT}, FOREIGN KEY (tenant, thread) REFERENCES history_conversation_threads (tenant, number)"
        " ON DELETE CASCADE",
        "thread, turn",
        partitioned=True,
    ),
    _index("conversation_messages", "thread, identity", unique=True),
    _table("capture_cursors", f'session {_TEXT}, "offset" {_INT}, tail {_TEXT}, file {_TEXT}', "session"),
    _table("erased_conversations", f"mark {_TEXT}", "mark"),
)
_USES: Final = (
    _table("fact_uses", f"fact {_TEXT}, day {_TEXT}, times {_INT}", "fact, day", partitioned=True),
    _table("topic_locks", f"conversation {_TEXT}, topics {_TEXT}, at {_TEXT}", "conversation"),
    _numbered(
        "context_states",
        f"conversation {_TEXT}, given {_TEXT}, prompts {_TEXT}, missed {_TEXT}, at {_TEXT}",
    ),
    _index("context_states", "conversation", unique=True),
    _numbered(
        "context_log",
        f"at {_TEXT}, origin {_TEXT}, conversation {_TEXT}, prompt {_TEXT}, chars {_INT}, silence {_TEXT},"
        f" pieces {_TEXT}",
    ),
)
_LEARNING: Final = (
    _table(
        "learning_sources",
        f"source {_TEXT}, turns {_INT}, stamp {_TEXT}, paragraphs {_TEXT}, failures {_INT}, reason {_TEXT},"
        f" retry_at {_TEXT}, is_parked {_FLAG}",
        "source",
    ),
    _numbered(
        "learning_batches",
        f"source {_TEXT}, at {_TEXT}, extractor {_TEXT}, after {_INT}, until {_INT}, summary {_TEXT}, details {_TEXT}",
    ),
    _index("learning_batches", "source"),
    _numbered(
        "learned_items",
        f"batch {_INT}, at {_TEXT}, turn {_INT}, text {_TEXT}, quote {_TEXT}, candidate {_TEXT},"
        f" outcome {_TEXT}, reason {_TEXT}, fact {_TEXT}, old {_TEXT}",
    ),
    _index("learned_items", "batch"),
    _index("learned_items", "outcome, number", where="outcome = 'pending'"),
)
_JOBS: Final = (
    _table("job_leases", f"job {_TEXT}, owner {_TEXT}, boot {_TEXT}, process {_TEXT}, until {_TEXT}", "job"),
    _table(
        "job_states",
        f"job {_TEXT}, state {_TEXT}, since {_TEXT}, failures {_INT}, reason {_TEXT}, retry_at {_TEXT},"
        f" is_parked {_FLAG}",
        "job",
    ),
    _numbered(
        "job_runs",
        f"job {_TEXT}, began {_TEXT}, outcome {_TEXT}, ended {_TEXT}, said {_TEXT}, planned {_INT},"
        f" left_over {_INT}, seconds {_REAL}",
    ),
    _index("job_runs", "job, number"),
    _index("job_runs", "began"),
    _numbered(
        "job_steps",
        f"run {_INT}, action {_TEXT}, subject {_TEXT}, said {_TEXT}, outcome {_TEXT}, in_commit {_TEXT},"
        f" review {_TEXT}, reason {_TEXT}",
    ),
    _index("job_steps", "run"),
    _table("job_notices", f"key {_TEXT}, said {_TEXT}, at {_TEXT}", "key"),
)
_CALENDARS: Final = (
    _table(
        "calendar_events",
        f"calendar {_TEXT}, id {_TEXT}, uid {_TEXT}, title {_TEXT}, begins {_TEXT}, ends {_TEXT}, all_day {_FLAG},"
        f" zone {_TEXT}, status {_TEXT}, attendees {_TEXT}, organizer {_TEXT}, location {_TEXT}, description {_TEXT},"
        f" updated {_TEXT}, sequence {_INT}, removed {_TEXT}",
        "calendar, id",
        partitioned=True,
    ),
    _index("calendar_events", "id"),
    _index("calendar_events", "begins"),
    _index("calendar_events", "ends"),
    _table(
        "calendar_states",
        f"calendar {_TEXT}, source {_TEXT}, mark {_TEXT}, tried {_TEXT}, read {_TEXT}, until {_TEXT}, failures {_INT},"
        f" reason {_TEXT}",
        "calendar",
    ),
    _table(
        "calendar_resources", f"calendar {_TEXT}, href {_TEXT}, etag {_TEXT}, packed bytea NOT NULL", "calendar, href"
    ),
)
# Messages and audit rows are never changed, and messages are deleted only with their thread, whose row goes first.
_APPEND_ONLY: Final = (
    """
CREATE FUNCTION history_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION 'rows of % are append-only', TG_TABLE_NAME; END $$
""",
    """
CREATE TRIGGER history_messages_stay BEFORE UPDATE ON history_conversation_messages
FOR EACH ROW EXECUTE FUNCTION history_append_only()
""",
    """
CREATE TRIGGER history_audit_stays
BEFORE UPDATE OF mutation, at, verb, path, actor, origin, destination, before, after, commit_number, in_digest, person
ON history_audit FOR EACH ROW EXECUTE FUNCTION history_append_only()
""",
)

HISTORY_AREA: Final = Area(
    "history",
    (
        Migration(
            (
                _NEXT_NUMBER,
                *_AUDIT,
                *_CALLS,
                *_CONVERSATIONS,
                *_USES,
                *_LEARNING,
                *_JOBS,
                *_CALENDARS,
                *_APPEND_ONLY,
            )
        ),
    ),
    _WORDING,
)
