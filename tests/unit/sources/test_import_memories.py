"""Readers of other memories: the MCP memory server, mem0 and Letta."""

import json

import pytest

from commonplace.model import Candidate
from commonplace.sources.imports import letta, mcp_memory, mem0, plain
from commonplace.sources.imports.base import (
    ImportedConversation,
    ImportedEntry,
    ImportedNote,
    ImportItem,
    ImportProblem,
    ImportReader,
    ImportSkip,
)
from commonplace.sources.imports.files import InMemoryFiles
from commonplace.sources.imports.registry import recognise
from commonplace.sources.imports.statements import entity_name, statements_in, without_user
from tests.import_examples.other_memories import example_files


def read(reader: ImportReader, files: InMemoryFiles) -> list[ImportItem]:
    """Everything that the reader makes of the files."""
    return [*reader.read(files, reader.select(files))]


def entries(items: list[ImportItem]) -> list[Candidate]:
    """The candidates of the entries."""
    return [each.candidate for each in items if isinstance(each, ImportedEntry)]


def problems(items: list[ImportItem]) -> list[str]:
    """The places and messages of the problems."""
    return [f"{each.where}: {each.message}" for each in items if isinstance(each, ImportProblem)]


def test_observations_become_entries_and_relations_triples() -> None:
    """Each observation of memory.json is an entry that names its subject, each relation a triple; no type is lost."""
    found = entries(read(mcp_memory.READER, example_files("mcp-memory", "memory.json")))

    assert [each.text for each in found if not each.predicate] == [
        "Prefers tabs over spaces",
        "Speaks Dutch and English",
        "Lives in Utrecht",
        "Ada Lovelace: Speaks fluent French",
        "Ada leads the engine team",
        "Analytical Engine: Written in Rust since the rewrite of 2025",
    ]
    assert [(each.subject, each.predicate, each.object) for each in found if each.predicate] == [
        ("Ada Lovelace", "works_on", "Analytical Engine"),
        ("me", "reports to", "Ada Lovelace"),
    ]
    assert found[0].kind == "preference"
    assert found[3].tags == ("person",)


def test_a_graph_in_one_object_is_read_too() -> None:
    """Older versions and exports hold `entities` and `relations` in one object."""
    found = entries(read(mcp_memory.READER, example_files("mcp-memory", "graph.json")))

    assert [each.text or each.predicate for each in found] == [
        "Grace Hopper: Found the first bug in a relay",
        "served_in",
    ]


def test_a_broken_graph_loses_only_its_broken_lines() -> None:
    """Two objects on one line, half an object, records without names and deep nesting: the rest is read."""
    items = read(mcp_memory.READER, example_files("mcp-memory", "broken.jsonl"))

    texts = [each.text for each in entries(items)]
    assert texts[:4] == ["Bob plays the cello", "Carla rows", "Bob is allergic to peanuts", "Dan moved to Lisbon"]
    assert [each.split(":")[1] for each in problems(items)] == ["3", "4", "5", "6", "8", "9", "12"]
    assert [each.known_since for each in items if isinstance(each, ImportedEntry)][3] == "2025-02-03T04:05:06Z"
    assert not any("\ud800" in text for text in texts)


def test_memories_of_mem0_become_entries_with_kind_topics_and_time() -> None:
    """What mem0 says of the user loses its subject, as saved entries have none; the graph's user is `me`."""
    items = read(mem0.READER, example_files("mem0", "get_all.json"))

    first, second, third, *triples = entries(items)
    assert (first.text, first.kind, first.topics) == ("Prefers vegetarian food", "preference", ("food",))
    assert (second.text, second.kind, second.topics) == ("Name is Alice Baker", "identity", ())
    assert (third.text, third.topics) == ("Is planning a trip to Kyoto in April 2026", ("travel",))
    assert [(each.subject, each.predicate, each.object) for each in triples] == [
        ("me", "works_at", "acme corp"),
        ("alice baker", "sister_of", "bob baker"),
    ]
    assert next(each.known_since for each in items if isinstance(each, ImportedEntry)) == "2025-07-26T17:29:36Z"


def test_what_openmemory_deleted_or_archived_stays_out() -> None:
    """A backup of OpenMemory has every state; only active memories come in, and the rest is counted."""
    items = read(mem0.READER, example_files("mem0", "openmemory.json"))

    assert [each.text for each in entries(items)] == ["Uses Neovim with a dvorak layout"]
    assert [each.reason for each in items if isinstance(each, ImportSkip)] == [
        "memories that were deleted or archived there: 2"
    ]


def test_a_cut_off_file_of_memories_gives_what_it_has() -> None:
    """Empty, doubled and half memories are left out or told."""
    items = read(mem0.READER, example_files("mem0", "broken.json"))

    assert [each.text for each in entries(items)] == [
        "Runs ten kilometres on Sundays",
        "The password of the wifi is hunter2-Xk29!pq",  # the gate refuses it
    ]
    assert [each.partition(": ")[2] for each in problems(items)] == [
        "a memory has no text",
        "a memory has no text",
        "the file is damaged here; what follows was not read",
    ]


def test_memories_of_several_people_are_not_mixed() -> None:
    """An export of a whole application holds everybody's memories: nothing of it is taken for the person's."""
    memories = [{"id": "1", "memory": "Likes tea", "user_id": "ann"}, {"id": "2", "memory": "x", "user_id": "ben"}]
    items = read(mem0.READER, InMemoryFiles({"all.json": json.dumps(memories).encode()}))

    assert not entries(items)
    assert "several people (ann, ben)" in problems(items)[0]


def test_a_letta_agent_gives_entries_notes_and_a_conversation() -> None:
    """Blocks about the person are entries, other blocks notes; persona, system prompt and events stay out."""
    items = read(letta.READER, example_files("letta", "loop.af"))

    assert [each.text for each in entries(items)] == [
        "Name: Chad Miller",
        "Loves the film Alien",
        "Is allergic to shellfish",
    ]
    (note,) = (each for each in items if isinstance(each, ImportedNote))
    assert note.path == "Letta/Loop/garden/notes.md"
    (conversation,) = (each for each in items if isinstance(each, ImportedConversation))
    assert [(each.role, each.text) for each in conversation.messages] == [
        ("user", "I moved to Ghent last week"),
        ("assistant", "Ghent, nice. Noted."),
        ("user", "plain text too"),
    ]
    assert sorted(each.reason for each in items if isinstance(each, ImportSkip)) == [
        "it says how that agent behaves",
        "the system prompt and the tools: they say how that agent behaves",
    ]


def test_an_older_agent_file_is_read_with_its_archival_memory() -> None:
    """Files of before October 2025 hold one agent, and may hold its archival passages."""
    items = read(letta.READER, example_files("letta", "old_agent.af"))

    assert [(each.text, each.topics) for each in entries(items)] == [
        ("Name is Bob the Builder.", ()),
        ("Bob prefers short answers.", ()),
        ("Bob's workshop is in Leeds.", ("workshop",)),
    ]


def test_json_of_another_shape_is_nobodys_memory() -> None:
    """A file is recognised by what is in it: another JSON with similar words is left alone."""
    for content in (b'{"results": []}', b'[{"memory": "x"}]', b'{"agents": []}', b"{}", b"[]", b"", b"\x00\x01"):
        parts = recognise(InMemoryFiles({"memory.json": content}))

        assert all(each.reader is plain.READER for each in parts)


@pytest.mark.parametrize(
    ("said", "statement"),
    [
        ("User prefers tea", "Prefers tea"),
        ("The user's name is Ann", "Name is Ann"),
        ("User experience matters to Ann", "User experience matters to Ann"),
        ("User-defined types are used", "User-defined types are used"),
        ("Ann prefers tea", "Ann prefers tea"),
        ("User", "User"),
    ],
)
def test_statements_about_the_user_have_no_subject(said: str, statement: str) -> None:
    """Only a subject that is the user is taken away, and only from one line."""
    assert without_user(said) == statement


def test_names_are_written_as_people_write_them() -> None:
    """Underscores of a title are blanks; those of an identifier stay."""
    assert [entity_name(name) for name in ("Ada_Lovelace", "my_function", "default_user", " The User ")] == [
        "Ada Lovelace",
        "my_function",
        "me",
        "me",
    ]


def test_statements_are_taken_from_lists_and_paragraphs() -> None:
    """A wrapped paragraph is one statement, `Name: ?` is none, and a heading belongs to what follows."""
    text = (
        "## About\nName: ?\nRole: [unknown]\n- Plays chess\n1. Sings\n\nGrew up on a farm\nin Drenthe.\nHas two cats.\n"
    )

    assert [*statements_in(text)] == [
        ("About", "Plays chess"),
        ("About", "Sings"),
        ("About", "Grew up on a farm in Drenthe."),
        ("About", "Has two cats."),
    ]
