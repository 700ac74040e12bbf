"""An import stores what is new once, says what it did, and can be repeated, previewed and undone by erasing."""

import json
import shutil
import zipfile
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from commonplace.errors import Refused, UsageError
from commonplace.memory import Memory
from commonplace.memory.imports import ImportReport
from commonplace.model import Actor
from tests.import_examples.build import EXAMPLES, chatgpt_conversation, small_talks, zip_of, zip_of_example
from tests.memories import make_memory

TRANSCRIPTS = EXAMPLES.parent / "transcript_examples"


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    return make_memory(tmp_path)


def write_export(folder: Path, talks: Sequence[dict[str, Any]], name: str = "conversations.json") -> Path:
    file = folder / name
    file.write_text(json.dumps(talks))
    return file


def state(memory: Memory) -> list[tuple[str, str, str, int]]:
    return sorted((each.id, each.title, each.trust, each.count) for each in memory.conversations.list())


def same(report: ImportReport) -> ImportReport:
    return replace(report, seconds=0.0, unencoded=0, dry_run=False)


@pytest.mark.requirement("X-02", "V-36")
def test_each_conversation_has_its_program_as_source(memory: Memory, tmp_path: Path) -> None:
    """Exports of ChatGPT, Claude.ai and Perplexity and the folders of agents come in, each named by its program."""
    zipped = tmp_path / "chatgpt.zip"
    zipped.write_bytes(zip_of_example("chatgpt"))
    memory.imports.run([zipped, EXAMPLES / "claude_ai", EXAMPLES / "perplexity", TRANSCRIPTS])
    programs = {each.interface for each in memory.conversations.list()}

    assert programs == {"chatgpt", "claude-ai", "perplexity", "claude-code", "codex", "gemini"}
    assert memory.search("rye flour from the mill").hits[0].metadata["interface"] == "claude-ai"


def test_an_imported_conversation_is_the_persons_own_word_and_found_at_once(memory: Memory) -> None:
    report = memory.imports.run([EXAMPLES / "chatgpt"])
    boat = next(each for each in memory.conversations.list() if each.title == "Naming the boat")
    hit = memory.search("what is the boat called").hits[0]

    assert report.conversations == {"saved": 5}
    assert (boat.trust, boat.is_claim, boat.started) == ("told", False, datetime(2024, 7, 1, 10, 40, 1, tzinfo=UTC))
    assert "Argo" in hit.text


def test_with_review_it_is_a_claim(memory: Memory) -> None:
    memory.imports.run([EXAMPLES / "claude_ai"], review=True)

    assert all(each.is_claim for each in memory.conversations.list())


@pytest.mark.requirement("X-02")
def test_the_same_export_twice_changes_nothing(memory: Memory) -> None:
    """Importing is idempotent: no conversation, message or title is stored a second time."""
    first = memory.imports.run([EXAMPLES / "chatgpt"])
    before = state(memory)
    second = memory.imports.run([EXAMPLES / "chatgpt"])

    assert (first.has_changes, second.has_changes) == (True, False)
    assert second.conversations == {"known": 5}
    assert (second.messages, second.known_messages) == (0, first.messages)
    assert state(memory) == before


def test_a_newer_export_adds_only_new_messages_and_takes_over_a_new_title(memory: Memory, tmp_path: Path) -> None:
    memory.imports.run([write_export(tmp_path, small_talks(3, turns=2))])
    talks = small_talks(4, turns=2)
    talks[0] = chatgpt_conversation(0, [("user", f"talk 0 turn {turn}") for turn in range(5)])
    talks[1]["title"] = "A better title"
    report = memory.imports.run([write_export(tmp_path, talks)])
    counts = {each.title: each.count for each in memory.conversations.list()}

    assert report.conversations == {"updated": 2, "known": 1, "saved": 1}
    assert (report.messages, report.known_messages) == (5, 6)
    assert counts == {"Talk 0": 5, "A better title": 2, "Talk 2": 2, "Talk 3": 2}


def test_a_dry_run_changes_nothing_and_gives_the_same_report(memory: Memory, tmp_path: Path) -> None:
    twice = [write_export(tmp_path, small_talks(3)), write_export(tmp_path, small_talks(4), "conversations-001.json")]
    preview = memory.imports.run([*twice, EXAMPLES / "perplexity"], dry_run=True)

    assert state(memory) == []
    assert same(memory.imports.run([*twice, EXAMPLES / "perplexity"])) == same(preview)


def test_secrets_are_redacted_and_long_messages_cut(memory: Memory, tmp_path: Path) -> None:
    secret = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
    talk = chatgpt_conversation(1, [("user", f"my token is {secret}"), ("assistant", "word " * 900)])
    talk["title"] = f"Token {secret}"
    report = memory.imports.run([write_export(tmp_path, [talk])], longest=1000)
    thread, messages = memory.conversations.show(memory.conversations.list()[0].id)

    assert secret not in str((thread, messages))
    assert report.cut == 1
    assert messages[1].text.endswith("[cut: 4499 characters]")
    assert memory.imports.run([write_export(tmp_path, [talk])], longest=1000).has_changes is False


@pytest.mark.parametrize("id_", ["", "talk-1"])
def test_messages_without_ids_are_known_again_without_their_secrets(memory: Memory, tmp_path: Path, id_: str) -> None:
    file = tmp_path / "talk.json"
    said = ["my token is ghp_16C7e42F292c6912E7710c838347Ae178B4a", "word " * 900]
    file.write_text(json.dumps({"id": id_ or None, "messages": [{"role": "user", "content": text} for text in said]}))
    first, second = (memory.imports.run([file], longest=1000) for _ in range(2))
    (thread,) = memory.conversations.list()
    memory.conversations.erase(thread.id)
    third = memory.imports.run([file], longest=1000)

    assert (first.conversations, second.conversations) == ({"saved": 1}, {"known": 1})
    assert third.conversations == {"refused": 1}


def test_a_session_that_hooks_captured_is_not_doubled(memory: Memory, tmp_path: Path) -> None:
    transcript = (TRANSCRIPTS / "claude-code" / "greenhouse.jsonl").read_bytes()
    session = "3a525220-7ba4-4cd2-ad33-14e04a76d26c"
    folder = tmp_path / "projects" / "-home-ada-garden"
    folder.mkdir(parents=True)
    (folder / f"{session}.jsonl").write_bytes(transcript)
    captured = memory.acting(Actor("job", "claude-code")).conversations.capture(
        transcript, host="claude-code", session_id=session
    )
    report = memory.imports.run([tmp_path / "projects"])

    assert report.conversations == {"known": 1}
    assert report.known_messages == captured.added == memory.conversations.list()[0].count


def test_a_session_that_was_imported_is_not_doubled_by_hooks(memory: Memory) -> None:
    memory.imports.run([TRANSCRIPTS])
    before = state(memory)
    job = memory.acting(Actor("job", "codex")).conversations
    session = next(each for each in memory.conversations.list() if each.interface == "codex")
    transcript = (TRANSCRIPTS / "codex" / "greenhouse.jsonl").read_bytes()
    captured = job.capture(transcript, host="codex", session_id=session.source_id)

    assert len(before) == 3
    assert captured.added == 0
    assert state(memory) == before


def test_what_was_said_in_a_pause_is_not_imported(memory: Memory) -> None:
    everything = ((datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)),)
    report = memory.imports.run([TRANSCRIPTS / "codex"], pauses_of=lambda session_id, folders: everything)

    assert report.conversations == {"refused": 1}
    assert "paused" in report.skips[0].reason
    assert state(memory) == []


def test_an_erased_conversation_does_not_come_back(memory: Memory) -> None:
    memory.imports.run([EXAMPLES / "claude_ai"])
    bread = next(each for each in memory.conversations.list() if each.title == "Sourdough")
    memory.conversations.erase(bread.id)
    report = memory.imports.run([EXAMPLES / "claude_ai"])

    assert report.conversations == {"refused": 1, "known": 1}
    assert "you erased this conversation" in [skip.reason for skip in report.skips]
    assert bread.id not in [each.id for each in memory.conversations.list()]


def test_a_folder_of_exports_is_imported_and_what_is_not_recognised_is_named(memory: Memory, tmp_path: Path) -> None:
    downloads = tmp_path / "Downloads"
    downloads.mkdir()
    (downloads / "chatgpt.zip").write_bytes(zip_of_example("chatgpt", below="export/"))
    shutil.copytree(EXAMPLES / "claude_ai", downloads / "claude")
    (downloads / "broken.zip").write_bytes(zip_of_example("claude_ai")[:-40])
    (downloads / "todo.txt").write_text("User: not a conversation of an export\n")
    report = memory.imports.run([downloads])

    assert [each.kind for each in report.sources] == ["claude-ai", "chatgpt"]
    assert [Path(problem.where).name for problem in report.problems] == ["broken.zip"]
    assert any("todo.txt" in skip.reason for skip in report.skips)


def test_an_unknown_shape_is_an_error_that_names_what_can_be_read_and_stores_nothing(
    memory: Memory, tmp_path: Path
) -> None:
    unknown = tmp_path / "unknown"
    unknown.mkdir()
    (unknown / "data.bin").write_bytes(b"\0\1\2")
    with pytest.raises(UsageError, match="not recognised") as raised:
        memory.imports.run([EXAMPLES / "claude_ai", unknown])

    assert "ChatGPT export" in (raised.value.hint or "")
    assert state(memory) == []


def test_a_zip_that_cannot_be_read_says_why(memory: Memory, tmp_path: Path) -> None:
    stored = zip_of({"conversations.json": json.dumps(small_talks(3)).encode()}, compression=zipfile.ZIP_STORED)
    damaged = tmp_path / "damaged.zip"
    damaged.write_bytes(stored.replace(b"talk 1", b"talk 9", 1))
    with pytest.raises(UsageError, match="the zip is damaged"):
        memory.imports.run([damaged])


def test_files_of_another_kind_than_named_are_an_error(memory: Memory) -> None:
    with pytest.raises(UsageError, match="not what 'perplexity' reads"):
        memory.imports.run([EXAMPLES / "claude_ai"], kind="perplexity")
    with pytest.raises(UsageError, match="nothing is imported from 'myspace'"):
        memory.imports.run([EXAMPLES / "claude_ai"], kind="myspace")


def test_files_beside_the_conversations_are_named_as_left_out(memory: Memory) -> None:
    report = memory.imports.run([EXAMPLES / "claude_ai"])

    assert report.skips[0].reason == "2 other files are not read: projects.json, users.json"


@pytest.mark.parametrize("kind", ["agent", "job"])
def test_only_a_person_may_import(tmp_path: Path, kind: Any) -> None:
    with pytest.raises(Refused):
        make_memory(tmp_path, actor=kind).imports.run([EXAMPLES / "claude_ai"])


def test_an_agent_may_not_add_to_an_imported_conversation(memory: Memory) -> None:
    memory.imports.run([EXAMPLES / "claude_ai"])
    bread = next(each for each in memory.conversations.list() if each.title == "Sourdough")
    with pytest.raises(Refused):
        memory.acting(Actor("agent", "claude-ai")).conversations.record(
            [{"role": "user", "content": "I never said this."}], interface="claude-ai", source_id=bread.source_id
        )

    assert memory.conversations.list(interface="claude-ai")[0].count == bread.count


def test_progress_counts_the_bytes_and_reaches_the_end(memory: Memory, tmp_path: Path) -> None:
    seen = list[tuple[str, int, int]]()
    file = write_export(tmp_path, small_talks(50))
    memory.imports.run([file], progress=lambda what, done, total: seen.append((what, done, total)))
    read = [(done, total) for what, done, total in seen if what == "bytes"]

    assert read == sorted(read)
    assert read[-1] == (file.stat().st_size, file.stat().st_size)
