"""One history, many processes: no row is lost, no grant works twice, a killed writer leaves nothing half."""

import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

from commonplace.history.sqlite.history import SqliteHistory

NOW = datetime(2026, 3, 1, 9, 12, 44, tzinfo=UTC)
OPENING = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from commonplace.history.base import AuditEntry
from commonplace.history.sqlite.history import SqliteHistory
history, NOW = SqliteHistory(Path(sys.argv[1]), wait=60), datetime(2026, 3, 1, 9, 12, 44, tzinfo=UTC)
def row(name):
    return AuditEntry(name, NOW, "write", f"Inbox/{name}.md", "agent", "mcp", "why", commit=f"c{name}")
"""
RECORD = f"""{OPENING}
for number in range(50):
    history.record(row(f"{{sys.argv[2]}}-{{number}}"))
"""
RECOVER = f"{OPENING}print(history.recover(row(str(number)) for number in range(50)))"
USE = f"{OPENING}sys.stdin.readline(); print(history.use_grant(sys.argv[2], 'Diary.md', now=NOW))"
RECORD_PAIRS = f"""{OPENING}
for number in range(10 ** 6):
    history.record(row(f"{{number}}a"), row(f"{{number}}b"))
    print(number, flush=True)
"""


def start(program: str, *args: object) -> subprocess.Popen[str]:
    pipe = subprocess.PIPE
    return subprocess.Popen([sys.executable, "-c", program, *map(str, args)], text=True, stdin=pipe, stdout=pipe)


def output(process: subprocess.Popen[str]) -> str:
    out, _ = process.communicate("go\n", timeout=120)
    assert process.returncode == 0
    return out.strip()


def test_processes_that_write_at_once_lose_no_row(tmp_path: Path) -> None:
    """Four processes with fifty rows each, from before the file exists: two hundred rows."""
    file = tmp_path / "history.db"
    for process in [start(RECORD, file, name) for name in range(4)]:
        output(process)

    rows = SqliteHistory(file).entries()
    assert {row.mutation for row in rows} == {f"{name}-{number}" for name in range(4) for number in range(50)}
    assert len(rows) == 200


def test_processes_that_recover_at_once_add_each_row_once(tmp_path: Path) -> None:
    """Two programs that find the history lost make it up together."""
    file = tmp_path / "history.db"
    added = [int(output(process)) for process in [start(RECOVER, file) for _ in range(4)]]

    assert sum(added) == len(SqliteHistory(file).entries()) == 50


def test_a_grant_that_processes_race_for_works_once(tmp_path: Path) -> None:
    """All hold the same token and wait for one starting shot."""
    file = tmp_path / "history.db"
    token = SqliteHistory(file).give_grant("Diary.md", now=NOW)
    racing = [start(USE, file, token) for _ in range(4)]

    assert sorted(output(process) for process in racing) == ["False", "False", "False", "True"]


def test_a_killed_writer_leaves_whole_mutations(tmp_path: Path) -> None:
    """What it acknowledged is there; of a mutation either all rows are there or none."""
    file = tmp_path / "history.db"
    with start(RECORD_PAIRS, file) as writer:
        assert writer.stdout
        acknowledged = [int(writer.stdout.readline()) for _ in range(20)]
        writer.kill()

    names = {row.mutation for row in SqliteHistory(file).entries()}
    assert {f"{number}a" for number in acknowledged} <= names
    assert {name[:-1] for name in names if name.endswith("a")} == {name[:-1] for name in names if name.endswith("b")}
