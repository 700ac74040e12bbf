"""`commonplace import` from the command line: what it prints, its errors, and `conversation add` on the same road."""

import json
from pathlib import Path

from tests.command_line import Run, answer
from tests.import_examples.build import EXAMPLES, small_talks, zip_of_example


def test_an_export_is_previewed_imported_and_known_afterwards(run: Run, tmp_path: Path) -> None:
    """The preview says what the import does, and changes nothing."""
    file = tmp_path / "chatgpt.zip"
    file.write_bytes(zip_of_example("chatgpt"))
    preview = run("import", str(file), "--dry-run")
    before = run("conversation", "list").stdout
    imported, again = run("import", str(file)), run("import", str(file))
    listed = run("conversation", "list", "--interface", "chatgpt").stdout

    assert preview.stdout == imported.stdout
    assert (before, "dry run: nothing was changed" in preview.stderr) == ("", True)
    assert imported.stdout.startswith(
        f"chatgpt: {file}\n"
        "  conversations: 5 new; 14 new messages, 0 known\n"
        "  2 messages on branches that are not shown were left out\n"
        "  left out: "
    )
    assert "chat.html, shared_conversations.json, user.json" in imported.stdout
    assert "conversations: 5 known; 0 new messages, 14 known" in again.stdout
    assert "Naming the boat" in listed


def test_programs_get_the_report_as_json(run: Run) -> None:
    imported = answer(run("import", str(EXAMPLES / "claude_ai"), "--json"))["imported"]

    assert imported["conversations"] == {"saved": 2}
    assert (imported["messages"], imported["unshown"], imported["problems"]) == (8, 2, [])
    assert imported["sources"] == [{"name": str(EXAMPLES / "claude_ai"), "kind": "claude-ai"}]


def test_an_unknown_shape_names_what_can_be_read(run: Run, tmp_path: Path) -> None:
    (tmp_path / "data.bin").write_bytes(b"\0\1")
    unknown = run("import", str(tmp_path / "data.bin"))
    missing = run("import", str(tmp_path / "missing.zip"))
    kind = run("import", str(EXAMPLES / "claude_ai"), "--from", "myspace")

    assert (unknown.returncode, missing.returncode, kind.returncode) == (2, 2, 2)
    assert "not recognised" in unknown.stderr
    assert "ChatGPT export" in unknown.stderr
    assert "no such file or folder" in missing.stderr
    assert "Choose from: chatgpt, claude-ai" in kind.stderr


def test_problems_are_printed_and_nothing_but_problems_fails(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "conversations.json"
    file.write_text(json.dumps(small_talks(12))[:-30])
    cut = run("import", str(file))
    file.write_text('[{"mapping": {}, "title": "cut off')
    nothing = run("import", str(file))

    assert cut.returncode == 0
    assert "11 new" in cut.stdout
    assert "problem: conversations.json, conversation 12: the file ends in the middle of it" in cut.stdout
    assert (nothing.returncode, "nothing to import" in nothing.stdout) == (1, True)


def test_conversation_add_reads_exports_by_itself(run: Run) -> None:
    """From a file, from a folder and from standard input; what belongs to one conversation cannot be said of them."""
    file = EXAMPLES / "chatgpt" / "conversations.json"
    typed = run("conversation", "add", given=file.read_text())
    named = run("conversation", "add", str(file))
    folder = answer(run("conversation", "add", str(EXAMPLES / "claude_ai"), "--json"))
    titled = run("conversation", "add", str(file), "--title", "All of it")

    assert "chatgpt: standard input\n  conversations: 5 new" in typed.stdout
    assert "conversations: 5 known" in named.stdout
    assert folder["imported"]["conversations"] == {"saved": 2}
    assert (titled.returncode, "Leave out --interface" in titled.stderr) == (2, True)


def test_what_was_said_in_a_pause_is_not_imported(run: Run, tmp_path: Path) -> None:
    """A conversation that the person paused stays out, and is named."""
    transcript = EXAMPLES.parent / "transcript_examples" / "codex" / "greenhouse.jsonl"
    project = tmp_path / "garden"
    project.mkdir()
    (project / ".commonplace-off").touch()
    session = tmp_path / "rollout-2026-01-02.jsonl"
    session.write_text(transcript.read_text().replace("/home/ada/garden", str(project)))
    imported = run("import", str(session))

    assert "conversations: 1 left out" in imported.stdout
    assert "its project opted out" in imported.stdout
