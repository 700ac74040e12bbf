"""The digest from the command line: grouped, with commands that work as they are printed."""

import shlex
from pathlib import Path

import pytest

from commonplace import open_memory
from tests.command_line import Run, answer, new_vault
from tests.terminal import on_a_terminal


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    """A vault in which an agent has learned, changed and proposed something."""
    folder = new_vault(tmp_path / "vault")
    with open_memory(folder, actor="agent") as agent:
        agent.entries.save("Ada prefers tea to coffee.", kind="preference", interface="claude-code")
        agent.entries.save("Ada always wants bullet points.", kind="preference", trust="told", interface="claude-code")
        agent.notes.write("Inbox/Idea.md", "An idea.\n")
    return folder


def test_each_printed_command_does_what_the_line_says(run: Run, vault: Path) -> None:
    """Read the digest, run its commands as they stand: what was learned and changed is gone, the proposal is in."""
    shown = run("digest", "--dry-run").stdout.splitlines()
    commands = [line.strip() for line in shown if line.strip().startswith("commonplace ")]

    assert len(commands) == 3
    assert shown[0].endswith(": learned 1, changed 1, 1 waits for you")
    assert [line for line in shown if line and not line.startswith(" ")][1:] == [
        "Learned",
        "Changed",
        "Waiting for you",
    ]
    for command in commands:
        assert run(*shlex.split(command)[1:]).returncode == 0, command
    assert not (vault / "Inbox/Idea.md").exists()
    texts = [each["text"] for each in answer(run("facts", "--json"))["facts"]]
    assert texts == ["Ada always wants bullet points."]


def test_what_was_read_does_not_come_again_unless_it_is_asked_for(run: Run, vault: Path) -> None:
    """A dry run advances nothing; `--since` shows it again."""
    assert answer(run("digest", "--dry-run", "--json"))["counts"] == {"learned": 1, "changed": 1, "proposed": 1}
    assert answer(run("digest", "--json"))["summary"] == "learned 1, changed 1, 1 waits for you"
    assert run("digest").stdout.startswith("nothing happened since ")
    (note,) = (vault / "Agent/digests").glob("*.md")
    assert note.read_text().count("wrote Inbox/Idea.md") == 1
    assert answer(run("digest", "--since", "1d", "--json"))["counts"]["learned"] == 1
    assert run("digest", "--since", "someday").returncode == 2


def test_what_waits_from_before_is_counted_until_it_is_decided(run: Run, vault: Path) -> None:
    """Its line was read, but the person has not decided: the digest says so, with news and without."""
    run("digest")
    quiet = run("digest").stdout
    with open_memory(vault, actor="agent") as agent:
        agent.notes.write("Inbox/Other.md", "Another idea.\n")
    news = run("digest").stdout
    run("review", "reject", "--all")

    assert quiet.endswith("; 1 waits for you: `commonplace review`\n")
    assert news.endswith("\n1 from before waits for you, too: `commonplace review`\n")
    assert "wait" not in run("digest").stdout


def test_a_terminal_shows_groups_in_bold(run: Run, vault: Path) -> None:
    """Headings stand out, and commands step back."""
    shown = on_a_terminal("digest", vault=vault, variables={"NO_COLOR": "", "TERM": "xterm-256color"})

    assert "\033[1mLearned\033[0m" in shown
    assert "Ada prefers tea to coffee." in shown
