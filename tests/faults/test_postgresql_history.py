"""A history in PostgreSQL and processes that are killed or write at once: each message once, nothing half."""

import subprocess
import sys

from commonplace.history.base import NewThread
from commonplace.history.postgresql.history import PostgresqlHistory
from tests.postgresql import database_url, new_tenant, postgresql_server

SESSION = NewThread("codex", "s-1", trust="said", captured=True)
CAPTURE = """
import sys
from datetime import UTC, datetime
from commonplace.database.postgresql import PostgresqlServer
from commonplace.history.base import NewThread
from commonplace.history.postgresql.history import PostgresqlHistory
from commonplace.model import Message, TranscriptCursor
server = PostgresqlServer(sys.argv[1], connections=4, partitions=2, wait=60)
history, now = PostgresqlHistory(server, tenant=sys.argv[2]), datetime(2026, 3, 1, tzinfo=UTC)
session = NewThread("codex", "s-1", trust="said", captured=True)
while (start := history.transcript_cursor(session).offset) < 300:
    end = start + 3
    said = [Message("user", f"words {n} " * 50, source_id=str(n)) for n in range(start, end)]
    history.record_conversation(session, said, now=now, cursor=TranscriptCursor(end, "tail", "file"))
    print(end, flush=True)
"""


def start(tenant: str) -> subprocess.Popen[str]:
    """A process that captures a transcript of 300 messages, from where the history says it was read."""
    words = [sys.executable, "-c", CAPTURE, database_url(), tenant]
    return subprocess.Popen(words, text=True, stdout=subprocess.PIPE)


def texts(tenant: str) -> list[str]:
    """What the history has of the session."""
    history = PostgresqlHistory(postgresql_server(), tenant=tenant)
    thread = history.captured_conversation(SESSION)
    return [each.source_id for each in history.messages(thread.id)] if thread else []


def test_a_capture_that_is_killed_again_and_again_records_each_message_once() -> None:
    """The cursor moves with the messages: what the history has is what the cursor says, after each kill."""
    tenant = new_tenant()
    for lines in (1, 4, 9):
        process = start(tenant)
        assert process.stdout
        for _ in range(lines):
            process.stdout.readline()
        process.kill()
        process.wait()
        process.stdout.close()
        found = texts(tenant)
        cursor = PostgresqlHistory(postgresql_server(), tenant=tenant).transcript_cursor(SESSION)

        assert found == [str(number) for number in range(cursor.offset)]
        assert len(found) >= 3 * lines
    last = start(tenant)
    last.communicate(timeout=240)

    assert (last.returncode, texts(tenant)) == (0, [str(number) for number in range(300)])


def test_processes_that_capture_one_session_at_once_record_each_message_once() -> None:
    """Three daemons that a load balancer gives the same transcript."""
    tenant = new_tenant()
    for process in [start(tenant) for _ in range(3)]:
        process.communicate(timeout=240)
        assert process.returncode == 0

    assert sorted(map(int, texts(tenant))) == [*range(300)]
