"""`commonplace person copy`: a server that begins with files and moves to PostgreSQL keeps its people."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.daemons import Daemon, command, register, small_vault, start, surroundings
from tests.postgresql import database_url, no_people
from tests.team import done

pytestmark = pytest.mark.needs("postgres")
IN_DATABASE = {"COMMONPLACE_IDENTITY__BACKEND": "postgresql"}


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    """Surroundings with a database in which nobody is, and people in files."""
    no_people()
    found = surroundings(tmp_path, COMMONPLACE_POSTGRESQL__URL=database_url(), COMMONPLACE_POSTGRESQL__PARTITIONS="2")
    register(found, small_vault(tmp_path / "Notes"))
    return found


def said(environ: Mapping[str, str], *words: str) -> dict[str, Any]:
    """What a command answers in JSON."""
    result = command(environ, *words, "--json")
    assert result.returncode == 0, result.stdout + result.stderr
    return dict(json.loads(result.stdout))


def serving(environ: Mapping[str, str], home: Path) -> Daemon:
    """A team server in these surroundings."""
    port = environ["COMMONPLACE_SERVE__PORT"]
    team = {"COMMONPLACE_SERVE__TEAM": "true", "COMMONPLACE_SERVE__PUBLIC_URL": f"http://127.0.0.1:{port}"}
    return start(home, {**environ, **team})


def test_a_token_of_the_files_opens_the_vault_after_the_move_to_the_database(
    environ: dict[str, str], tmp_path: Path
) -> None:
    """The commands say that nobody is there until people are copied, and how to copy them."""
    vault = str(tmp_path / "Notes")
    said(environ, "person", "add", "ada", "--role", "owner", "--daily-dollars", "2", "--vault", vault)
    secret = said(environ, "token", "create", "laptop", "--person", "ada")["secret"]
    moved = {**environ, **IN_DATABASE}
    before = command(moved, "person", "list")
    planned = command(environ, "person", "copy", "--to", "postgresql", "--dry-run")
    copied = command(environ, "person", "copy", "--to", "postgresql")
    after = command(moved, "person", "list")
    daemon = serving(moved, tmp_path)
    try:
        found = daemon.call("GET", "/api/v1/notes", token=secret)
        busy = command(moved, "person", "copy", "--to", "sqlite")
        done(daemon, "token", "revoke", "laptop")
        revoked = daemon.call("GET", "/api/v1/notes", token=secret)
    finally:
        daemon.stop()

    hint = "people in the file of this machine: 1. `commonplace person copy --to postgresql` copies them"
    assert hint in before.stderr
    assert "person add" not in before.stderr
    assert "would be copied to postgresql: 3 rows" in planned.stdout
    assert "copied to postgresql: 3 rows" in copied.stdout
    assert f"only this machine has the vault {vault}" in copied.stdout
    assert "To use it: commonplace settings set identity.backend postgresql" in copied.stdout
    assert (after.stdout.split()[0], "copy" in after.stderr) == ("ada", False)
    assert (found.status, revoked.status) == (200, 401)
    assert (busy.returncode, "Stop it first" in busy.stderr) == (2, True)


def test_a_server_says_at_its_start_that_its_people_are_in_a_file(environ: dict[str, str], tmp_path: Path) -> None:
    """Whoever changed the setting alone would wonder why nobody can sign in."""
    said(environ, "person", "add", "ada")
    daemon = serving({**environ, **IN_DATABASE}, tmp_path)
    daemon.stop()

    assert "`commonplace person copy --to postgresql` copies them" in (tmp_path / "serve.err").read_text()


def test_people_are_not_replaced_without_being_asked(environ: dict[str, str]) -> None:
    """With --replace, and back; --json says what was done."""
    said(environ, "person", "add", "ada")
    said({**environ, **IN_DATABASE}, "person", "add", "eve")
    refused = command(environ, "person", "copy", "--to", "postgresql")
    copied = said(environ, "person", "copy", "--to", "postgresql", "--replace")
    again = said(environ, "person", "copy", "--to", "sqlite")

    assert (refused.returncode, "add --replace" in refused.stderr) == (3, True)
    assert copied == {
        "ok": True,
        "to": "postgresql",
        "rows": {"people": 1},
        "replaced": 1,
        "folders": [],
        "equal": False,
        "dry_run": False,
        "used": False,
    }
    assert (again["equal"], again["used"]) == (True, True)
