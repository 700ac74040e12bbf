"""A vault in PostgreSQL by the command line and by the library: no folder, the same verbs."""

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from commonplace import open_memory
from commonplace.errors import UsageError
from commonplace.settings.database_vaults import folder_for, shown_vault
from tests.command_line import answer, run_commonplace
from tests.gitvault import git, new_vault
from tests.postgresql import database_url, new_tenant

pytestmark = pytest.mark.needs("postgres")


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COMMONPLACE_POSTGRESQL__URL", database_url())
    monkeypatch.setenv("COMMONPLACE_POSTGRESQL__PARTITIONS", "2")
    monkeypatch.setenv("COMMONPLACE_EMBEDDING__PROVIDER", "hashing")


@pytest.fixture
def name() -> str:
    """The name of a registered vault, which is the default one."""
    made = f"postgresql:{new_tenant()}"
    assert run_commonplace("init", made).returncode == 0
    return made


def run(*words: str, given: str = "") -> str:
    """What a command that succeeds prints."""
    done = run_commonplace(*words, given=given)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_a_vault_in_a_database_is_registered_and_listed_by_its_name(name: str) -> None:
    """It has no folder that a person would know, and keeps its index by its name."""
    (row,) = answer(run_commonplace("vault", "list", "--json"))["vaults"]

    assert (row["vault"], row["state"], row["default"]) == (name, "ready", True)
    assert name.removeprefix("postgresql:") in row["data"]
    assert answer(run_commonplace("vault", "use", name, "--json"))["default"] == name
    assert "no folder that could be moved" in run_commonplace("vault", "move", name, "/tmp/elsewhere").stderr
    assert f"removed from the list: {name}" in run("vault", "remove", name)


def test_what_is_remembered_is_recalled(name: str) -> None:
    """Write, save, search, facts, the past, the history of a note, undo and doctor."""
    run("note", "write", "People/Ada.md", given="# Ada\n\nAda lives in Bern.\n")
    run("save", "Ada prefers tea in the morning.", "--kind", "preference")
    run("note", "write", "People/Ada.md", given="# Ada\n\nAda lives in Basel.\n")
    before = f"{datetime.now(UTC).year - 1}-01-01"

    assert "prefers tea" in run("recall", "What does Ada drink in the morning?")
    assert "People/Ada.md" in run("search", "Basel")
    assert "prefers tea" in run("facts", "Ada")
    assert "prefers tea" not in run_commonplace("facts", "Ada", "--as-of", before).stdout
    assert len(run("note", "history", "People/Ada.md").splitlines()) == 2
    assert "People/Ada.md" in run("undo")
    assert "Bern" in run("note", "read", "People/Ada.md")
    assert "ok    storage: ready to commit" in run_commonplace("doctor").stdout
    assert "obsidian://" not in run("search", "Bern", "--json")


def test_an_erased_note_is_gone_from_the_history(name: str) -> None:
    """Nothing is left to purge, and the answer says so."""
    run("note", "write", "Inbox/Private.md", given="a secret of mine\n")
    run("note", "write", "Inbox/Private.md", given="another secret\n")
    said = run("note", "erase", "Inbox/Private.md", "--yes")

    assert "its history is erased, too" in said
    assert "git" not in said
    assert run_commonplace("note", "history", "Inbox/Private.md").stdout == ""
    assert "Private" not in run("log")
    assert run_commonplace("undo").returncode == 2


def test_a_name_that_is_no_folder_is_refused() -> None:
    """Two names that differ in case only would be one on some machines."""
    done = run_commonplace("note", "list", "--vault", "postgresql:Team")

    assert done.returncode == 2
    assert "not a name of a vault in a database" in done.stderr


def test_a_folder_is_not_opened_as_a_vault_in_a_database(tmp_path: Path) -> None:
    """A person who set the backend for everything is told how to name each of the two."""
    with pytest.raises(UsageError, match="is a folder"):
        open_memory(tmp_path, settings={"vault.backend": "postgresql"})


def test_the_settings_alone_name_the_vault() -> None:
    """`vault.backend` and `postgresql.tenant` are enough; the list of vaults is not needed."""
    tenant = new_tenant()
    with open_memory(settings={"vault.backend": "postgresql", "postgresql.tenant": tenant}) as memory:
        memory.notes.write("Inbox/a.md", "by settings\n")
    with open_memory(f"postgresql:{tenant}") as memory:
        found = memory.notes.read("Inbox/a.md").text

    assert "by settings" in found
    folder = folder_for(f"postgresql:{tenant}")
    assert folder is not None
    assert shown_vault(folder) == f"postgresql:{tenant}"


def test_a_vault_goes_to_a_folder_and_back(name: str, tmp_path: Path) -> None:
    """An export is a vault under git that `init` adopts; importing it gives the same notes and versions."""
    run("note", "write", "Inbox/a.md", given="one\n")
    run("note", "write", "Inbox/a.md", given="two\n")
    target, copy = tmp_path / "export", f"postgresql:{new_tenant()}"
    counts = answer(run_commonplace("vault", "export", str(target), "--dry-run", "--json"))
    assert not target.exists()
    run("vault", "export", str(target))

    assert (counts["commits"], counts["files"], counts["versions"]) == (2, 1, 2)
    assert git(target, "status", "--porcelain") == ""
    assert run_commonplace("vault", "export", str(target)).returncode == 3
    assert "1 file, 2 versions, 2 commits" in run("vault", "import", str(target), "--vault", copy)
    assert len(run("note", "history", "Inbox/a.md", "--vault", copy).splitlines()) == 2
    assert run_commonplace("vault", "import", str(target), "--vault", copy).returncode == 4
    assert "existing repository" in run("init", str(target))
    assert run("note", "read", "Inbox/a.md", "--vault", str(target)) == "two\n"


def test_an_import_takes_edits_and_names_what_it_leaves_out(tmp_path: Path) -> None:
    """What is not committed becomes a commit; links are not followed. The folder stays as it is."""
    root, copy = tmp_path / "vault", f"postgresql:{new_tenant()}"
    new_vault(root, a="one\n", b="two\n")
    (root / "a.md").write_bytes(b"edited\n")
    (root / "b.md").unlink()
    (root / "new note.md").write_bytes(b"")
    (root / "link.md").symlink_to("/etc/passwd")
    said = run("vault", "import", str(root), "--vault", copy)
    before = sorted(path.name for path in root.iterdir())

    assert "link.md" in said
    assert "edits that were in no commit: 3 files" in said
    assert run("note", "list", "--vault", copy).split("\n")[:2] == ["a.md", "new note.md"]
    assert run("note", "read", "a.md", "--vault", copy) == "edited\n"
    assert before == sorted(path.name for path in root.iterdir())
    assert os.path.islink(root / "link.md")


def test_a_folder_without_git_is_imported_without_its_secrets(tmp_path: Path) -> None:
    """The rules of `init` hold: hidden files and keys are left out."""
    root, copy = tmp_path / "plain", f"postgresql:{new_tenant()}"
    (root / ".obsidian").mkdir(parents=True)
    (root / ".obsidian" / "app.json").write_text("{}")
    (root / "id_rsa").write_text("-----BEGIN OPENSSH PRIVATE KEY-----\nabc\n-----END OPENSSH PRIVATE KEY-----\n")
    (root / "note.md").write_text("text\n")
    done = answer(run_commonplace("vault", "import", str(root), "--vault", copy, "--json"))

    assert (done["files"], done["commits"]) == (1, 1)
    assert sorted(each["path"] for each in done["left_out"]) == [".obsidian/", "id_rsa"]


def test_a_vault_in_a_folder_is_neither_exported_nor_filled(vault: Path, tmp_path: Path) -> None:
    """Both commands are about vaults in a database, and say what to do instead."""
    exported = run_commonplace("vault", "export", str(tmp_path / "x"), "--vault", str(vault))
    imported = run_commonplace("vault", "import", str(tmp_path), "--vault", str(vault))

    assert (exported.returncode, imported.returncode) == (2, 2)
    assert "git clone" in exported.stderr
    assert "--vault postgresql:NAME" in imported.stderr


def test_an_export_that_fails_leaves_nothing(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Half a vault is worse than none."""
    run("note", "write", "Inbox/a.md", given="one\n")
    monkeypatch.setenv("PATH", str(tmp_path))
    done = run_commonplace("vault", "export", str(tmp_path / "new" / "export"))

    assert done.returncode == 5
    assert "git is not installed" in done.stderr
    assert not (tmp_path / "new" / "export").exists()
