"""The command line with the index in PostgreSQL: every verb that needs an index, on a real server."""

from pathlib import Path

import pytest

from tests.command_line import Run, answer, calling, new_vault
from tests.postgresql import new_tenant
from tests.postgresql_index import postgresql_settings


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """A function that calls `commonplace` on a new vault whose index is in PostgreSQL."""
    vault = new_vault(tmp_path / "vault")
    settings = {**postgresql_settings(new_tenant()), "embedding.provider": "hashing"}
    chosen = [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
    call = calling(vault)
    return lambda *words, **given: call(*chosen, *words, **given)


def test_save_search_facts_rebuild_and_erase(run: Run, tmp_path: Path) -> None:
    """What is saved is found before and after a rebuild, and gone after it was erased; no index file is written."""
    saved = answer(run("save", "Ada works at Acme.", "--json"))
    assert run("fact", "add", "Ada", "lives_in", "Oslo").returncode == 0
    found = answer(run("search", "where does Ada work", "--json"))["results"]
    facts = run("facts", "Ada").stdout
    rebuilt = run("rebuild")
    again = answer(run("search", "where does Ada work", "--json"))["results"]
    erased = run("erase", saved["remembered"]["id"], "--yes")
    after = answer(run("search", "Ada", "--json"))["results"]
    files = [path.name for path in tmp_path.rglob("*") if path.name in ("index.db", "vectors.db")]

    assert "Acme" in found[0]["content"]
    assert "Oslo" in facts
    assert rebuilt.returncode == 0, rebuilt.stderr
    assert [(hit["chunk_id"], hit["score"]) for hit in again] == [(hit["chunk_id"], hit["score"]) for hit in found]
    assert erased.returncode == 0, erased.stderr
    assert "Oslo" in str(after)
    assert "Acme" not in str(after)
    assert files == []


def test_stats_and_doctor_speak_of_the_database(run: Run) -> None:
    """Counts and sizes come from the rows; the index and the vectors are checked without files."""
    run("save", "Ada works at Acme.")
    stats, doctor = run("stats"), run("doctor")

    assert stats.returncode == 0, stats.stderr
    assert "1 " in stats.stdout
    assert "cached vectors can be reused" in doctor.stdout


def test_a_server_that_is_down_is_named_with_its_setting(tmp_path: Path) -> None:
    """Notes can be read all the same."""
    vault = new_vault(tmp_path / "vault")
    (vault / "Ada.md").write_text("Ada works at Acme.\n")
    nowhere = ("--set", "index.backend=postgresql", "--set", "postgresql.url=postgresql://x@127.0.0.1:1/x")
    call = calling(vault)
    searched, read = call(*nowhere, "search", "Ada"), call(*nowhere, "note", "read", "Ada.md")

    assert searched.returncode == 5
    assert "postgresql.url" in searched.stderr
    assert "Acme" in read.stdout
