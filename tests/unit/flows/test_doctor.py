"""The doctor: each thing that could be wrong is looked at, and said with its remedy."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from commonplace.flows.doctor import examine
from commonplace.flows.ingest import sync
from commonplace.flows.shelf import Shelf
from commonplace.history.conversations import NewThread
from commonplace.model import Finding, Message
from commonplace.vault.obsidian import ObsidianVault
from tests.gitvault import AUTHOR, git, new_vault
from tests.unit.flows.shelf import CountingEncoder, close, make_shelf, save


@pytest.fixture
def root(tmp_path: Path) -> Path:
    new_vault(tmp_path / "vault", note="words\n")
    return tmp_path / "vault"


@pytest.fixture
def shelf(root: Path, tmp_path: Path) -> Iterator[Shelf]:
    made = make_shelf(
        root, tmp_path / "data", encoder=CountingEncoder(), vault=ObsidianVault(root, author=AUTHOR), least=1
    )
    yield made
    close(made)


def wrong(shelf: Shelf) -> dict[str, Finding]:
    return {finding.what: finding for finding in examine(shelf) if not finding.ok}


def test_all_is_well_after_a_sync(shelf: Shelf) -> None:
    """Vault, git, history, encoder and index are looked at, and each says what it saw."""
    sync(shelf)
    findings = examine(shelf)

    assert [(finding.what, finding.ok) for finding in findings] == [
        ("vault", True),
        ("git", True),
        ("history", True),
        ("encoder", True),
        ("vectors", True),
        ("index", True),
        ("facts", True),
    ]
    assert findings[2].said == "no change yet, 0 conversations"
    assert "1 notes, 1 chunks, synced 20" in findings[-2].said


def test_the_history_tells_how_many_conversations_it_keeps(shelf: Shelf) -> None:
    """They are nowhere else: whoever looks for a lost one sees it here."""
    for number in range(3):
        thread, now = NewThread("chatgpt", str(number)), datetime(2026, 3, 1, tzinfo=UTC)
        shelf.history.record_conversation(thread, [Message("user", "a")], now=now)

    assert next(each.said for each in examine(shelf) if each.what == "history").endswith(", 3 conversations")


def test_an_index_that_was_never_made_or_is_behind_wants_a_sync(shelf: Shelf, root: Path) -> None:
    """New, changed and removed notes count."""
    never = wrong(shelf)["index"]
    sync(shelf)
    save(root, "new.md", "words\n")
    behind = wrong(shelf)["index"]

    assert ("never synced" in never.said, never.remedy) == (True, "Run `commonplace sync`.")
    assert ("1 changed since" in behind.said, behind.remedy) == (True, "Run `commonplace sync`.")


def test_what_is_wrong_in_a_note_is_named_with_its_line(shelf: Shelf, root: Path) -> None:
    """A broken block, and a copy that a sync program left; nothing is repaired."""
    save(root, "broken.md", "---\ntitle: x\ntags: [a\n---\nText.\n")
    save(root, "note.sync-conflict-20260101-120000-ABCDEFG.md", "words of the other device\n")
    sync(shelf)
    found = [finding for finding in examine(shelf) if finding.path and not finding.ok]
    conflict = next(finding for finding in found if finding.what == "sync-conflict")
    broken = next(finding for finding in found if finding.path == "broken.md")

    assert conflict.path == "note.sync-conflict-20260101-120000-ABCDEFG.md"
    assert "copy of note.md" in conflict.said
    assert broken.line > 1
    assert all(finding.remedy for finding in found)


def test_a_missing_encoder_is_named_with_its_remedy(root: Path, tmp_path: Path) -> None:
    """Search goes on by words; the doctor says how to get the rest."""
    shelf = make_shelf(root, tmp_path / "data", encoder=None, vault=ObsidianVault(root, author=AUTHOR))
    sync(shelf)
    found = wrong(shelf)

    assert found.keys() == {"encoder"}
    assert (found["encoder"].said, found["encoder"].remedy) == (
        "no encoder is installed",
        "Run `commonplace model install`.",
    )
    close(shelf)


def test_a_part_that_fails_does_not_end_the_look(shelf: Shelf, root: Path, tmp_path: Path) -> None:
    """A damaged index, a failing encoder and a repository in the middle of a merge are all told."""
    sync(shelf)
    shelf.index.close()
    (tmp_path / "data/index/index.db").write_bytes(b"no database at all, whatever its name says" * 100)
    for log in (tmp_path / "data/index").glob("*-wal"):
        log.unlink()
    (root / ".git/MERGE_HEAD").write_text(git(root, "rev-parse", "HEAD"))
    failing = CountingEncoder(fails=True)
    found = wrong(replace(shelf, encoders=replace(shelf.encoders, current=failing)))

    assert found.keys() == {"git", "encoder", "index", "facts"}
    assert "rebuild" in found["index"].remedy
    assert "does not answer" in found["encoder"].said


def test_a_vault_without_git_is_told(root: Path, tmp_path: Path) -> None:
    """Nothing could be undone."""
    shelf = make_shelf(root, tmp_path / "data")
    sync(shelf)

    assert wrong(shelf).keys() == {"git"}
    close(shelf)
