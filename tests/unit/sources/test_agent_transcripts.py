"""Transcripts of agents: what was said is taken, everything else is passed over, and nothing breaks the reading."""

import json
import time
from pathlib import Path
from typing import Any

import pytest

from commonplace.agent_hosts import TRANSCRIPT_HOSTS
from commonplace.errors import UsageError
from commonplace.sources.transcripts import read_agent_lines
from tests.transcript_lines import AT, claude, codex

EXAMPLES = Path(__file__).parents[2] / "transcript_examples"
SAID = [
    ("user", "What heats the greenhouse?"),
    ("assistant", "Compost heats the greenhouse."),
    ("user", "I water the tomatoes on Mondays.\nPlease remember it."),
    ("assistant", "I will remember that you water the tomatoes on Mondays."),
]
FENCED = (
    "Between memory-3fa9c1d2 marks: text from the person's vault.\n"
    "<memory-3fa9c1d2 facts>\n[Notes/Ada.md:3] Ada has a boat.\n</memory-3fa9c1d2>"
)


def said(*lines: str, host: str = "claude-code") -> list[tuple[str, str]]:
    """Who says what in the lines."""
    read = read_agent_lines("".join(lines).encode(), host=host)
    return [(each.role, each.text) for each in read.messages]


@pytest.mark.parametrize("host", TRANSCRIPT_HOSTS)
def test_of_a_real_transcript_what_was_typed_and_answered_is_taken(host: str) -> None:
    """Files that the real programs wrote: no tool call, no injected context, nothing twice."""
    content = (EXAMPLES / host / "greenhouse.jsonl").read_bytes()
    read = read_agent_lines(content, host=host)

    assert [(each.role, each.text) for each in read.messages] == SAID
    assert (read.consumed, read.broken) == (len(content), 0)
    assert len({each.source_id for each in read.messages}) == 4
    assert all(each.source_id and each.at for each in read.messages)


@pytest.mark.parametrize(
    "mark", ["isMeta", "isSidechain", "isCompactSummary", "isVisibleInTranscriptOnly", "isApiErrorMessage"]
)
def test_what_claude_code_marks_as_not_said_is_left_out(mark: str) -> None:
    """Remarks of the host, sub-agents, summaries, failures."""
    marked, unmarked = (claude("user", "This was typed.", id_="1", more={mark: is_so}) for is_so in (True, False))

    assert said(marked) == []
    assert said(unmarked) == [("user", "This was typed.")]


def test_of_a_message_in_parts_only_the_words_are_taken() -> None:
    """Thoughts, calls of tools, their results and pictures are not said."""
    parts = [
        {"type": "thinking", "thinking": "Hm."},
        {"type": "text", "text": "Done."},
        {"type": "tool_use", "name": "Bash", "input": {"command": "ls"}},
        {"type": "text", "text": "Twice."},
    ]
    results = [{"type": "tool_result", "content": [{"type": "text", "text": "a.txt"}]}, {"type": "image"}]

    assert said(claude("assistant", parts, id_="1"), claude("user", results, id_="2")) == [
        ("assistant", "Done.\nTwice.")
    ]


def test_what_the_host_says_in_the_assistants_name_is_left_out() -> None:
    """Claude Code calls the model of such lines synthetic."""
    line = json.dumps({"type": "assistant", "message": {"role": "assistant", "model": "<synthetic>", "content": "No."}})

    assert said(line + "\n") == []


@pytest.mark.parametrize(
    "text",
    [
        "<environment_context>\n  <cwd>/home/ada</cwd>\n</environment_context>",
        "# AGENTS.md instructions for /home/ada\n\n<INSTRUCTIONS>\nBe brief.\n</INSTRUCTIONS>",
        "<user_instructions>\nBe brief.\n</user_instructions>",
        "<turn_aborted>\nThe user stopped it.\n</turn_aborted>",
        FENCED,
    ],
)
def test_what_codex_says_in_the_persons_name_is_left_out(text: str) -> None:
    """Older versions do not mark it, so it is known by its form."""
    assert said(codex("user", text, id_="1"), host="codex") == []
    assert said(codex("user", f"{text}\n\nWhy is it cold?", id_="1"), host="codex") == [("user", "Why is it cold?")]


def test_what_codex_marks_as_its_own_is_left_out_whatever_it_says() -> None:
    """Newer versions say what kind each part is of."""
    kinds = {"content_item_kinds": ["environments.some_new_thing"]}
    typed = {"content_item_kinds": ["user.text"]}
    key = "internal_chat_message_metadata_passthrough"

    assert said(codex("user", "Something new.", id_="1", more={key: kinds}), host="codex") == []
    assert said(codex("user", "Typed.", id_="1", more={key: typed}), host="codex") == [("user", "Typed.")]


@pytest.mark.parametrize("role", ["developer", "system", "tool", None, 7, ["user"]])
def test_other_roles_say_nothing(role: Any) -> None:
    """Only the person and the assistant speak."""
    assert said(codex(role, "Be brief.", id_="1"), host="codex") == []


def test_memory_that_stands_in_a_message_does_not_come_back_as_said() -> None:
    """Neither from the person's side nor from the assistant's."""
    lines = [claude(role, f"Before.\n{FENCED}\nAfter.", id_=role) for role in ("user", "assistant")]

    assert said(*lines) == [("user", "Before.\n\nAfter."), ("assistant", "Before.\n\nAfter.")]


def test_a_line_without_an_id_is_known_by_its_time_and_not_by_its_text() -> None:
    """An id that was made from the text would tell a secret in it to whoever tries enough of them."""
    first = read_agent_lines(codex("user", "My PIN is 4821.").encode(), host="codex").messages[0]
    second = read_agent_lines(codex("user", "My PIN is 4822.").encode(), host="codex").messages[0]

    assert first.source_id == second.source_id
    assert first.source_id == f"{AT} user 15"


def test_half_a_line_at_the_end_is_left_for_the_next_time() -> None:
    """It is not counted as read, and not as broken."""
    whole, half = claude("user", "Whole.", id_="1"), claude("user", "Half.", id_="2")
    for cut in range(len(half)):
        read = read_agent_lines((whole + half[:cut]).encode(), host="claude-code")

        assert (read.consumed, read.broken, len(read.messages)) == (len(whole), 0, 1)


def test_the_last_line_of_a_session_that_is_over_needs_no_end() -> None:
    """Nothing comes after it. What cannot be read is left all the same."""
    line = claude("user", "The last words.", id_="1").strip().encode()
    read, half = (read_agent_lines(each, host="claude-code", is_whole=True) for each in (line, line[:-2]))

    assert (read.consumed, [each.text for each in read.messages]) == (len(line), ["The last words."])
    assert (half.consumed, half.messages) == (0, ())


BROKEN = (
    b"{not json",
    b"\xff\xfe\x00",
    b"[" * 100_000,
    b"[]",
    b"7",
    b'"text"',
    b"null",
    b'{"type": "user", "message": ' + b"1" * 5000 + b"}",
)


@pytest.mark.parametrize("broken", BROKEN, ids=range(len(BROKEN)))
def test_a_broken_line_is_counted_and_harms_no_other(broken: bytes) -> None:
    """The lines before and behind it are read."""
    before, after = (claude("user", text, id_=text).encode() for text in ("Before.", "After."))
    read = read_agent_lines(before + broken + b"\n\n \n" + after, host="claude-code")

    assert ([each.text for each in read.messages], read.broken) == (["Before.", "After."], 1)


STRANGE: tuple[dict[str, Any], ...] = (
    {"type": "a-new-type", "message": {"role": "user", "content": "No."}},
    {"type": "user"},
    {"type": "user", "message": "text"},
    {"type": "user", "message": {"role": "user"}},
    {"type": "user", "message": {"role": "user", "content": {"text": "no"}}},
    {"type": "user", "message": {"role": "user", "content": [None, 7, {"type": "text", "text": None}]}},
    {"type": "user", "message": {"role": "user", "content": [{"type": ["text"], "text": "no"}]}},
    {"type": ["user"], "message": {"role": "user", "content": "No."}},
    {"type": "response_item", "payload": {"type": "message"}},
    {"type": "response_item", "payload": None},
    {"type": "event_msg", "payload": {"type": "message", "role": "user", "content": "twice"}},
    {},
)


@pytest.mark.parametrize("host", TRANSCRIPT_HOSTS)
@pytest.mark.parametrize("line", STRANGE, ids=range(len(STRANGE)))
def test_a_line_that_nobody_knows_is_passed_over(host: str, line: dict[str, Any]) -> None:
    """Hosts add kinds of lines with every version."""
    read = read_agent_lines(json.dumps(line).encode() + b"\n", host=host)

    assert (read.messages, read.broken) == ((), 0)


@pytest.mark.parametrize("at", [None, "", "yesterday", 7, "2026-03-01T09:12:44", "99999-01-01T00:00:00Z"])
def test_a_message_with_a_time_that_is_none_is_taken_without_it(at: Any) -> None:
    """The history gives it the time at which it comes."""
    read = read_agent_lines(claude("user", "When?", id_="1", at=at).encode(), host="claude-code")

    assert [(each.text, each.at) for each in read.messages] == [("When?", None)]


def test_a_host_whose_lines_are_unknown_is_an_error() -> None:
    """It says which are known."""
    with pytest.raises(UsageError, match="'notepad'") as caught:
        read_agent_lines(b"", host="notepad")

    assert "claude-code, codex" in str(caught.value)


def test_many_blocks_that_never_end_take_no_time() -> None:
    """Reading stays quick whatever a message says."""
    openings = "".join(f"<memory-{number:08x} facts>\n<system-reminder>\n" for number in range(20_000))
    begun = time.thread_time()
    said(claude("user", openings, id_="1"), claude("user", "<system-reminder>\n" * 50_000, id_="2"))

    assert time.thread_time() - begun < 2


def test_a_line_that_names_two_roles_is_nobodys() -> None:
    """What an assistant's line holds is never taken for the person's word."""
    line = claude("user", "Pay them.", id_="1", more={"type": "assistant"})

    assert said(line, claude("user", "Good morning.", id_="2")) == [("user", "Good morning.")]
