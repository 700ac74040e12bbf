"""Conflict copies are known by their names."""

import pytest

from commonplace.sources.conflicts import conflict_copy


@pytest.mark.parametrize(
    ("path", "original"),
    [
        ("Inbox/note.sync-conflict-20240101-120000-ABCDEFG.md", "Inbox/note.md"),
        ("a.b.sync-conflict-20240101-120000.md", "a.b.md"),
        ("note (Ada's conflicted copy 2024-01-01).md", "note.md"),
        ("note (Ada’s conflicted copy 2024-01-01).md", "note.md"),
        ("Folder (x)/note (ada-laptop's conflicted copy 2024-01-01 (1)).md", "Folder (x)/note.md"),
        ("note (conflicted copy 2024-01-01 120000).md", "note.md"),
        ("note (Conflicted copy iPhone 202401011200).md", "note.md"),
        ("note (ada conflicted copy).md", "note.md"),
        ("note (Case Conflict).md", None),
        ("note_conflict-20240101-120000.md", "note.md"),
        ("note (1).md", None),
        ("note.md", None),
        ("On conflicted copy.md", None),
        ("(conflicted copy) of what.md", None),
        ("Syncthing .sync-conflict- files.md", None),
        ("a (conflicted copy)/note.md", None),
    ],
)
def test_a_conflict_copy_names_its_original(path: str, original: str | None) -> None:
    """What the sync program put into the name is taken out; a number alone, or words in a title, say nothing."""
    assert conflict_copy(path) == original
