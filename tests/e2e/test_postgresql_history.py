"""The command line and the daemon with a history in PostgreSQL: the same commands, the same answers."""

from pathlib import Path

import platformdirs
import pytest

from commonplace import open_memory
from commonplace.hosts.own_settings import save_setting
from commonplace.settings.database_vaults import folder_of_tenant
from commonplace.settings.registered_vaults import register_vault
from tests import daemons
from tests.command_line import Run, answer, calling, new_vault
from tests.daemons import running
from tests.e2e.test_live_events import listening
from tests.import_examples.build import zip_of_example
from tests.postgresql import database_url, new_tenant

TALK = "User: I live in Utrecht. My boat is called Wren.\nAssistant: You probably love Rome.\n"


@pytest.fixture
def environ() -> dict[str, str]:
    """The settings of a new tenant, as a process has them."""
    return {
        "COMMONPLACE_HISTORY__BACKEND": "postgresql",
        "COMMONPLACE_POSTGRESQL__URL": database_url(),
        "COMMONPLACE_POSTGRESQL__TENANT": new_tenant(),
        "COMMONPLACE_POSTGRESQL__PARTITIONS": "2",
    }


@pytest.fixture
def run(tmp_path: Path, environ: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Call `commonplace` on a new vault whose history is in PostgreSQL."""
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    return calling(new_vault(tmp_path / "vault"))


def add_talk(run: Run) -> str:
    """The id of a conversation that the person added."""
    done = run("conversation", "add", "-", "--interface", "chatgpt", "--id", "1", "--json", given=TALK)
    assert done.returncode == 0, done.stderr
    return str(answer(done)["recorded"]["id"])


def test_one_name_for_all_vaults_is_refused(run: Run, environ: dict[str, str], tmp_path: Path) -> None:
    """Two vaults under one tenant would be one vault: each would read the conversations of the other."""
    alone = run("log")
    register_vault(new_vault(tmp_path / "other"))
    together = run("log")
    mine = register_vault(tmp_path / "vault").root
    save_setting("postgresql.tenant", environ["COMMONPLACE_POSTGRESQL__TENANT"], vault=mine)
    named = run("log")

    assert (alone.returncode, named.returncode) == (0, 0)
    assert together.returncode != 0
    assert "for all vaults" in together.stderr
    assert "--for-vault" in together.stderr


def test_the_name_of_another_vault_is_refused(
    run: Run, environ: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also if each has it for itself, and if it is that of a vault in the database, whose notes are its rows."""
    monkeypatch.delenv("COMMONPLACE_POSTGRESQL__TENANT")
    name = environ["COMMONPLACE_POSTGRESQL__TENANT"]
    mine, other = register_vault(tmp_path / "vault").root, register_vault(new_vault(tmp_path / "other")).root
    save_setting("postgresql.tenant", name, vault=mine)
    alone = run("log")
    save_setting("postgresql.tenant", name, vault=other)
    folders = run("log")
    save_setting("postgresql.tenant", f"{name}-2", vault=other)
    in_database = register_vault(folder_of_tenant(name)).root
    both = run("log")

    assert alone.returncode == 0
    assert (folders.returncode, f"and so is that of {other}" in folders.stderr) == (2, True)
    assert (both.returncode, f"and so is that of postgresql:{in_database.name}" in both.stderr) == (2, True)


def test_a_day_with_a_history_in_postgresql(run: Run) -> None:
    """Saved, recorded, learned, run, found and listed: every command works, and no file of a history is made."""
    saved = run("save", "Ada keeps bees", "--json")
    id_ = add_talk(run)
    learned = run("learn", "--all")
    digest = run("jobs", "run", "digest")
    found = answer(run("search", "boat", "--source", "chat", "--json"))["results"]
    actors = {each["actor"] for each in answer(run("log", "--json"))["entries"]}
    examined = run("doctor")
    files = {each.name for each in platformdirs.user_data_path("commonplace").rglob("*")}

    assert saved.returncode == 0, saved.stderr
    assert "Lives in Utrecht." in learned.stdout
    assert "digest  done" in digest.stdout
    assert [each["source_path"] for each in found] == [id_]
    assert actors == {"person", "job"}
    assert "ok    history: last change" in examined.stdout
    assert "ok    jobs: last run: digest, done" in examined.stdout
    assert not {"history.db", "conversations"} & files


def test_what_is_forgotten_and_erased_is_gone(run: Run, tmp_path: Path) -> None:
    """A conversation, an entry and a note; what an agent proposed is approved."""
    id_ = add_talk(run)
    run("learn", "--all")
    run("note", "write", "Inbox/Secret.md", given="# Secret\n\nThe code is 4711.\n")
    with open_memory(tmp_path / "vault", actor="agent") as agent:
        staged = agent.entries.save("Drinks green tea.", kind="preference", trust="read", interface="codex").fact.id
    approved = run("review", "approve", staged)
    gone = [
        run("conversation", "erase", id_, "--yes"),
        run("note", "erase", "Inbox/Secret.md", "--yes"),
        run("forget", staged),
    ]
    log = run("log", "--json")
    listed = answer(run("conversation", "list", "--json"))["conversations"]
    again = run("conversation", "show", id_)

    assert approved.returncode == 0, approved.stderr
    assert [each.returncode for each in gone] == [0, 0, 0], gone
    assert "Secret" not in log.stdout
    assert (listed, again.returncode) == ([], 2)


def test_an_export_that_is_imported_twice_is_there_once(run: Run, tmp_path: Path) -> None:
    """Its messages are known by their ids."""
    file = tmp_path / "chatgpt.zip"
    file.write_bytes(zip_of_example("chatgpt"))
    imported, again = run("import", str(file)), run("import", str(file))

    assert "conversations: 5 new; 14 new messages, 0 known" in imported.stdout
    assert "conversations: 5 known; 0 new messages, 14 known" in again.stdout


def test_a_history_is_copied_to_postgresql_and_back(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """A dry run copies nothing; a copy is complete and needs no second one; another history is not overwritten."""
    monkeypatch.setenv("COMMONPLACE_HISTORY__BACKEND", "sqlite")
    id_ = add_talk(run)
    run("learn", "--all")
    before = answer(run("log", "--json"))["entries"]
    planned = run("vault", "copy-history", "--to", "postgresql", "--dry-run")
    copied = run("vault", "copy-history", "--to", "postgresql")
    again = answer(run("vault", "copy-history", "--to", "postgresql", "--json"))
    monkeypatch.setenv("COMMONPLACE_HISTORY__BACKEND", "postgresql")
    after = answer(run("log", "--json"))["entries"]
    run("save", "Ada keeps bees")
    refused = run("vault", "copy-history", "--to", "sqlite")
    back = run("vault", "copy-history", "--to", "sqlite", "--replace")
    monkeypatch.setenv("COMMONPLACE_HISTORY__BACKEND", "sqlite")
    shown, log = run("conversation", "show", id_), answer(run("log", "--json"))["entries"]

    assert "would be copied to postgresql: " in planned.stdout
    assert "To use it: commonplace settings set history.backend postgresql" in copied.stdout
    assert again["equal"]
    assert after == before
    assert (refused.returncode, "add --replace" in refused.stderr) == (3, True)
    assert "copied to sqlite: " in back.stdout
    assert "My boat is called Wren." in shown.stdout
    assert len(log) == len(before) + 1
    assert "ok    history: " in run("doctor").stdout


def test_a_setting_without_a_database_says_what_to_do(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """And so does a server that does not run."""
    monkeypatch.setenv("COMMONPLACE_POSTGRESQL__URL", "postgresql://nobody@/none?host=/nonexistent")
    away = run("log")
    monkeypatch.delenv("COMMONPLACE_POSTGRESQL__URL")
    unset = run("log")

    assert (away.returncode, "Check that the server runs, the setting postgresql.url" in away.stderr) == (5, True)
    assert (unset.returncode, "Set postgresql.url" in unset.stderr) == (2, True)


def test_a_daemon_serves_a_history_in_postgresql_and_tells_of_other_processes(
    tmp_path: Path, environ: dict[str, str]
) -> None:
    """A write over HTTP, one by the command line, and a job that it runs."""
    with running(tmp_path / "home", vaults=None, provider="hashing", **environ) as daemon:
        token = daemon.token("page", scopes=("admin",))
        daemon.wait_synced()
        with listening(daemon, token) as stream:
            daemon.call("PUT", "/api/v1/notes/Inbox/A.md", body={"text": "# A\n"}, token=token)
            stream.next("write", path="Inbox/A.md")
            (tmp_path / "b.md").write_text("# B\n")
            other = daemons.program(daemon.environ, "note", "write", "Inbox/B.md", "--file", str(tmp_path / "b.md"))
            stream.next("write", path="Inbox/B.md")
            job = daemons.program(daemon.environ, "jobs", "run", "probe")
            stream.next("job", job="probe", state="finished")
        ready = daemon.call("GET", "/ready", token=token)

    assert (other.returncode, job.returncode, ready.status) == (0, 0, 200), (other.stderr, job.stderr)
