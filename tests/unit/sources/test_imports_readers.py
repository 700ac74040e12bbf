"""Readers recognise exports by their shape, and yield what the person and the assistant said, as it was shown."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pytest

from commonplace.model import Message
from commonplace.sources.imports.base import ImportedConversation, ImportItem, ImportProblem, ImportSkip
from commonplace.sources.imports.files import InMemoryFiles
from commonplace.sources.imports.registry import READERS, find_reader, readable_shapes, recognise
from tests.import_examples.build import EXAMPLES, chatgpt_conversation, example


def read(files: dict[str, bytes], kind: str = "") -> list[ImportItem]:
    stored = InMemoryFiles(files)
    parts = recognise(stored, kind=kind)

    assert parts
    return [item for part in parts for item in part.reader.read(stored, part.paths)]


def conversations(items: Sequence[ImportItem]) -> list[ImportedConversation]:
    return [item for item in items if isinstance(item, ImportedConversation)]


def said(conversation: ImportedConversation) -> list[tuple[str, str]]:
    return [(message.role, message.text) for message in conversation.messages]


def folder(name: str) -> dict[str, bytes]:
    paths = [path for path in (EXAMPLES / name).rglob("*") if path.is_file()]
    return {str(path.relative_to(EXAMPLES / name)): path.read_bytes() for path in paths}


CHATGPT = example("chatgpt/conversations.json")


def test_chatgpt_shows_one_branch_without_tools_thoughts_and_hidden_messages() -> None:
    boat = conversations(read(folder("chatgpt")))[0]

    assert said(boat) == [
        ("user", "I bought a boat. Her name is Argo."),
        ("assistant", "Argo is a fine name."),
        ("user", "Here she is. Find out when she was built."),
        ("assistant", "She was built in 1974."),
        ("user", "And what did we say the keel weighs?"),
        ("assistant", "We did not say."),
    ]
    assert (boat.interface, boat.title, boat.unshown) == ("chatgpt", "Naming the boat", 1)
    assert boat.source_id == "66801d40-0000-8001-9000-00000000b0a7"


def test_a_message_without_a_time_has_that_of_the_one_before_it() -> None:
    boat, lost, *_ = conversations(read(folder("chatgpt")))
    times = [message.at for message in boat.messages]

    assert times[2] == times[1] == datetime(2024, 7, 1, 10, 40, 3, 250000, tzinfo=UTC)
    assert lost.messages[0].at == datetime(2023, 9, 5, 10, 40, 0, 250000, tzinfo=UTC)  # of the conversation


def test_without_a_current_node_the_newest_branch_is_shown() -> None:
    lost = conversations(read(folder("chatgpt")))[1]

    assert said(lost) == [("user", "Wie schwer ist der Kiel?"), ("assistant", "Drei Tonnen.")]


def test_a_branch_that_goes_round_in_a_circle_ends() -> None:
    loop = next(each for each in conversations(read(folder("chatgpt"))) if each.title == "Round and round")

    assert [text for _, text in said(loop)] == ["Does this ever end?", "It does."]


def test_custom_instructions_are_one_conversation_with_each_version_once() -> None:
    instructions = conversations(read(folder("chatgpt")))[-1]

    assert instructions.source_id == "custom-instructions"
    assert said(instructions) == [
        ("user", "I work as a ship's engineer.\n\nBe brief."),
        ("user", "Preferred name: Ada\nRole: marine engineer\n\nAnswer briefly. Use metric units."),
    ]


def test_a_conversation_that_chatgpt_was_told_not_to_remember_is_not_learned_from() -> None:
    uses = {each.title: each.memory for each in conversations(read(folder("chatgpt")))}

    assert (uses["Old instructions"], uses["Naming the boat"]) == ("off", "on")


def test_an_empty_conversation_is_skipped_with_a_reason() -> None:
    skips = [item for item in read(folder("chatgpt")) if isinstance(item, ImportSkip)]

    assert skips == [ImportSkip("conversations.json, conversation 4", "nothing was said in it")]


def test_split_wrapped_and_single_chatgpt_exports_are_read_too() -> None:
    first, second = (json.dumps([chatgpt_conversation(number, [("user", "hello")])]).encode() for number in (1, 2))
    split = conversations(read({"conversations-000.json": first, "conversations-001.json": second, "user.json": b"{}"}))
    wrapped = conversations(read({"export.json": b'{"conversations": ' + first + b"}"}))
    single = conversations(read({"talk.json": b"\xef\xbb\xbf " + first[1:-1]}))

    assert [each.title for each in split] == ["Talk 1", "Talk 2"]
    assert wrapped[0].messages == single[0].messages == split[0].messages


def test_a_damaged_conversation_does_not_affect_the_others() -> None:
    parts = [json.dumps(chatgpt_conversation(number, [("user", f"hello {number}")])).encode() for number in (1, 2, 3)]
    parts[1] = parts[1].replace(b'"weight": 1.0', b'"weight": 1.0.0')
    items = read({"conversations.json": b"[" + b",".join(parts) + b', 7, {"mapping": {"a": {"mess'})

    assert [each.title for each in conversations(items)] == ["Talk 1", "Talk 3"]
    assert [item.where for item in items if isinstance(item, ImportProblem)] == [
        "conversations.json, conversation 2",
        "conversations.json, conversation 4",
    ]


@pytest.mark.parametrize("value", [None, 7, "text", [], {}, {"a": 1}, [None], {"a": None}, {"a": {"message": []}}])
def test_odd_values_in_a_chatgpt_export_are_no_error(value: Any) -> None:
    for key in ("mapping", "current_node", "title", "create_time", "conversation_id"):
        odd = {**chatgpt_conversation(1, [("user", "hello")]), key: value}
        node = next(iter(odd["mapping"].values())) if key != "mapping" else {}
        node["message"] = {"author": value, "content": value, "metadata": value, "create_time": value}

        assert len(read({"conversations.json": json.dumps([odd]).encode()}, kind="chatgpt")) >= 1


def test_claude_shows_the_branch_of_the_newest_message_and_its_text_alone() -> None:
    bread, old = conversations(read(folder("claude_ai")))

    assert said(bread) == [
        ("user", "My starter is called Bob."),
        ("assistant", "Hello Bob.\nFeed it daily."),
        ("user", "What flour do I have at home?"),
        ("assistant", "You said nothing about that."),
        ("user", "I only bake with rye flour from the mill in Zaandam."),
        ("assistant", "Noted."),
    ]
    assert (bread.interface, bread.title, bread.unshown) == ("claude-ai", "Sourdough", 2)
    assert said(old) == [("user", "Old exports have text alone."), ("assistant", "They do.")]
    assert old.messages[1].at == old.messages[0].at


def test_perplexity_is_read_from_its_export_saved_threads_and_markdown() -> None:
    threads = {each.title: each for each in conversations(read(folder("perplexity")))}

    assert said(threads["Heat pumps"]) == [
        ("user", "Which heat pump suits my 1930s house in Utrecht?"),
        ("assistant", "A hybrid one. See the guide."),
        ("user", "And without gas?"),
    ]
    assert said(threads["Tiles"])[1::2] == [("assistant", "Porcelain."), ("assistant", "Nine millimetres.")]
    assert said(threads["Grout colours"])[0] == ("user", "Which grout hides dirt?")
    assert said(threads["Grout colours"])[1] == ("assistant", "## Dark grey\n\nDark grey does.")
    assert {each.interface for each in threads.values()} == {"perplexity"}
    assert threads["Grout colours"].source_id == "grout-colours-xyz"


@pytest.mark.parametrize("host", ["claude-code", "codex", "gemini"])
def test_the_sessions_of_an_agent_are_read_from_its_folder(host: str) -> None:
    transcript = (EXAMPLES.parent / "transcript_examples" / host / "greenhouse.jsonl").read_bytes()
    items = read({"2026/11/greenhouse.jsonl": transcript, "2026/11/settings.json": b"{}", "history.jsonl": b"{}\n"})
    session = conversations(items)[0]

    assert session.interface == host
    assert session.captured
    assert session.source_id.count("-") == 4
    assert session.messages[0].text == "What heats the greenhouse?"
    assert len({message.source_id for message in session.messages}) == len(session.messages)


def test_broken_lines_of_a_transcript_are_reported_and_the_rest_is_read() -> None:
    transcript = example("../transcript_examples/claude-code/greenhouse.jsonl")
    items = read({"a.jsonl": transcript + b'{"type": "user", "mess\n' + b"\xff\xfe\n"})

    assert ImportProblem("a.jsonl", "2 lines are not JSON") in items
    assert len(conversations(items)) == 1


def test_what_conversation_add_reads_is_read_as_well() -> None:
    talk = conversations(
        read({"talk.md": b"# The boat\n\nUser: My boat is called Argo.\n\nAssistant: A fine name.\n"})
    )[0]

    assert (talk.title, talk.interface) == ("The boat", "file")
    assert talk.messages[0] == Message("user", "My boat is called Argo.")


@pytest.mark.parametrize(
    "files",
    [
        {"conversations.json": b"[]", "user.json": b"{}"},
        {"conversations.json": b'[{"title": "no tree in it"}]', "user.json": b"{}"},
        {"notes.md": b"# A note\n", "other.md": b"User: hello\n"},
        {"mapping.json": b'{"mapping": {"a": "b"}}', "b.json": b"1"},
        {"README.md": b"# A program\n\nIt does things.\n\nNote: User: is not a turn.\n"},
        {"data.json": b'{"a": [1, 2, 3]}'},
        {"picture.png": b"\x89PNG\r\n\x1a\n\0\0\0"},
        {},
    ],
)
def test_names_alone_prove_nothing(files: dict[str, bytes]) -> None:
    parts = recognise(InMemoryFiles(files))

    assert parts == ()


def test_every_kind_has_one_reader_and_is_named_in_the_hint() -> None:
    kinds = [reader.kind for reader in READERS]

    assert len(set(kinds)) == len(kinds)
    assert all(find_reader(kind).title in readable_shapes() for kind in kinds)
