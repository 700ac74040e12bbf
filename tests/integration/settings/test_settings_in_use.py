"""Settings take effect: what the defaults and other values do to a vault."""

from pathlib import Path

import pytest

from commonplace import open_memory
from commonplace.errors import Refused
from tests.gitvault import git, new_vault


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    """A vault with its own git repository."""
    new_vault(tmp_path / "vault")
    return tmp_path / "vault"


@pytest.mark.requirement("D-03")
def test_commits_have_the_author_of_the_settings(vault: Path) -> None:
    """Commonplace <commonplace@localhost> by default; `vault.git_author_name` and `_email` give another."""
    with open_memory(vault) as memory:
        memory.notes.write("Inbox/a.md", "a\n")
    robin = {"vault.git_author_name": "Robin", "vault.git_author_email": "robin@example.org"}
    with open_memory(vault, settings=robin) as memory:
        memory.notes.write("Inbox/b.md", "b\n")

    assert git(vault, "log", "-2", "--format=%an <%ae>").splitlines() == [
        "Robin <robin@example.org>",
        "Commonplace <commonplace@localhost>",
    ]


@pytest.mark.requirement("D-08")
def test_an_agent_writes_in_the_allowlisted_folders_only(vault: Path) -> None:
    """Inbox, Meetings, People, Projects, Daily and Reviews by default, as top-level folders only."""
    with open_memory(vault, actor="agent") as memory:
        for folder in ("Inbox", "Meetings", "People", "Projects", "Daily", "Reviews"):
            memory.notes.write(f"{folder}/New note.md", "text\n")
        for path in ("Journal/New note.md", "Journal/Inbox/New note.md"):
            with pytest.raises(Refused) as raised:
                memory.notes.write(path, "text\n")
            assert raised.value.reason == "outside_allowlist"
