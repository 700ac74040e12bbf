"""One history, many processes that recall at once: no use is lost."""

import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

from commonplace.history.base import Use
from commonplace.history.sqlite.history import SqliteHistory

COUNT = """
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from commonplace.history.sqlite.history import SqliteHistory
history, now = SqliteHistory(Path(sys.argv[1]), wait=60), datetime(2026, 3, 1, 9, 12, 44, tzinfo=UTC)
sys.stdin.readline()
for number in range(100):
    history.record_use(["shared", sys.argv[2]], now=now + timedelta(days=number % 2))
"""


def test_processes_that_count_at_once_lose_no_use(tmp_path: Path) -> None:
    """Two processes with a hundred recalls each, from before the file exists: two hundred uses of what they share."""
    file, pipe = tmp_path / "history.db", subprocess.PIPE
    counting = [
        subprocess.Popen([sys.executable, "-c", COUNT, str(file), name], text=True, stdin=pipe) for name in "ab"
    ]
    for process in counting:
        assert process.stdin
        process.stdin.write("go\n")
        process.stdin.flush()
    for process in counting:
        process.communicate(timeout=120)
        assert process.returncode == 0

    history = SqliteHistory(file)
    assert history.uses(["shared", "a", "b"]) == {
        "shared": Use(200, 2, "2026-03-02"),
        "a": Use(100, 2, "2026-03-02"),
        "b": Use(100, 2, "2026-03-02"),
    }
    later = datetime(2026, 3, 1, tzinfo=UTC) + timedelta(days=1)
    assert history.uses(["shared"], since=later) == {"shared": Use(100, 1, "2026-03-02")}
    history.close()
