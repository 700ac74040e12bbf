"""Backup and restore of a server in PostgreSQL, by PostgreSQL's own programs and the commands of the guide."""

import json
import os
import re
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from tests.command_line import run_commonplace
from tests.postgresql import TestServer

pytestmark = pytest.mark.needs("postgres")
GUIDE: Final = Path(__file__).parents[2] / "docs/guide/team.md"
VAULT: Final = "postgresql:team"
QUESTIONS: Final[tuple[tuple[str, ...], ...]] = (
    ("search", "tea in Basel"),
    ("recall", "What does Ada drink?"),
    ("note", "list"),
    ("note", "read", "People/Ada.md"),
    ("log", "-n", "50"),
    ("conversation", "list"),
    ("facts",),
    ("person", "list"),
    ("token", "list"),
)


@pytest.fixture
def server() -> Iterator[TestServer]:
    """A PostgreSQL of its own."""
    made = TestServer(Path(tempfile.mkdtemp(prefix="commonplace-pg-")))
    made.start()
    yield made
    made.remove()


def use(server: TestServer, database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the commands of this test use that database, for everything."""
    monkeypatch.setenv("COMMONPLACE_POSTGRESQL__URL", server.url("commonplace", database))
    monkeypatch.setenv("COMMONPLACE_POSTGRESQL__PARTITIONS", "2")
    monkeypatch.setenv("COMMONPLACE_EMBEDDING__PROVIDER", "hashing")
    for block in ("INDEX", "HISTORY", "IDENTITY"):
        monkeypatch.setenv(f"COMMONPLACE_{block}__BACKEND", "postgresql")


def run(*words: str, given: str = "") -> str:
    """What a command that succeeds prints."""
    done = run_commonplace(*words, given=given)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def fill() -> str:
    """A vault with notes, memories, a past and people; gives a token."""
    run("init", VAULT)
    run("note", "write", "People/Ada.md", given="# Ada\n\nAda lives in Bern and drinks coffee.\n")
    run("save", "Ada prefers tea in the morning.", "--kind", "preference")
    run("note", "write", "People/Ada.md", given="# Ada\n\nAda lives in Basel and drinks tea.\n")
    run("person", "add", "ada", "--role", "owner", "--vault", VAULT)
    return run("token", "create", "laptop", "--person", "ada").strip()


def told() -> list[dict[str, Any]]:
    """What the server answers to each question."""
    return [_timeless(json.loads(run(*words, "--json"))) for words in QUESTIONS]


def _timeless(values: Any) -> Any:
    """The answer without how long it took."""
    if isinstance(values, dict):
        return {name: _timeless(each) for name, each in values.items() if name not in ("took_ms", "seconds", "timings")}
    return [_timeless(each) for each in values] if isinstance(values, list) else values


def guide_commands() -> list[str]:
    """The commands by which the guide makes a backup and restores it, in their order."""
    return re.findall(r"^(?:pg_dump|createdb|pg_restore) .*$", GUIDE.read_text(), re.MULTILINE)


def shell(server: TestServer, command: str, folder: Path, **environ: str) -> subprocess.CompletedProcess[str]:
    """Run a command as an administrator of that server would, with its programs."""
    programs = Path(server.program("psql")).parent
    surroundings = {"PATH": f"{programs}:{os.environ['PATH']}", "PGHOST": str(server.folder), **environ}
    return subprocess.run(
        ["sh", "-c", command], cwd=folder, env=surroundings, capture_output=True, text=True, check=False
    )


def test_a_restored_database_gives_the_same_answers(
    server: TestServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Notes, index, history, people and tokens; the next change works, too."""
    use(server, "commonplace", monkeypatch)
    fill()
    before = told()
    results = [shell(server, command, tmp_path) for command in guide_commands()]
    use(server, "restored", monkeypatch)
    after = told()
    run("note", "write", "People/Ben.md", given="# Ben\n\nBen lives in Ulm.\n")

    assert [each.returncode for each in results] == [0, 0, 0], [each.stderr for each in results]
    assert after == before
    assert "Ulm" in run("search", "Ulm")
    assert run_commonplace("doctor").returncode == 0


def test_the_role_of_the_daemon_cannot_make_a_backup_by_mistake(
    server: TestServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is held by row-level security: a dump fails; with policies it has the vault that is named, and else none."""
    use(server, "commonplace", monkeypatch)
    fill()
    refused = shell(server, "pg_dump --username commonplace --file mine.sql commonplace", tmp_path)
    options = "--username commonplace --enable-row-security --inserts"
    empty = shell(server, f"pg_dump {options} commonplace", tmp_path).stdout
    of_team = shell(server, f"pg_dump {options} commonplace", tmp_path, PGOPTIONS="-c commonplace.tenant=team").stdout

    assert refused.returncode == 1
    assert "row-level security" in refused.stderr
    assert "prefers tea" not in empty
    assert "prefers tea" in of_team
