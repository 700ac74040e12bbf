"""What a call may be as large as, and how much of it an error says again."""

from pathlib import Path
from typing import Any

import pytest
from mcp.shared.exceptions import MCPError

from commonplace.memory import Memory
from tests.unit.mcp_server.host import Host, told, vault_with

LONG = "a " * 5000


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    return vault_with(tmp_path, People__Ada="# Ada\n\nAda works at Acme.\n")


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("memory_search", {"query": "x", "entities": ["x"] * 21}),
        ("memory_search", {"query": "x", "kinds": [LONG]}),
        ("memory_search", {"query": "x", "path": LONG}),
        ("memory_search", {"query": "x", "since": LONG}),
        ("memory_recall", {"prompt": "x", "phase": LONG}),
        ("memory_facts", {"entity": LONG}),
        ("memory_timeline", {"entity": LONG}),
        ("memory_append", {"text": "Ada prefers tea.", "topics": [LONG]}),
        ("memory_append", {"subject": LONG, "predicate": "likes", "object": "tea"}),
        ("memory_append", {"subject": "me", "predicate": "likes", "object": LONG}),
        ("memory_forget", {"id": "x", "reason": LONG}),
        ("note_read", {"path": LONG}),
        ("note_read", {"path": "People/Ada.md", "section": LONG}),
        ("note_list", {"folder": LONG}),
        ("conversation_close", {"session_id": LONG}),
        ("conversation_save", {"messages": [{"role": "user", "content": "x", "author": LONG}]}),
    ],
)
def test_an_argument_that_is_a_name_or_a_day_has_a_bound(memory: Memory, tool: str, arguments: dict[str, Any]) -> None:
    """A hundred thousand names, or one of a megabyte, are no question; the error says so and not all of them again."""
    result = Host(memory).call(tool, **arguments)

    assert result.is_error
    assert "should have at most" in told(result)
    assert len(told(result)) < 1000


def test_an_error_quotes_the_beginning_of_what_was_asked_and_no_more(memory: Memory) -> None:
    """As text and as fields, also where the error is one of the protocol."""
    with pytest.raises(MCPError) as refused:
        Host(memory).speak(lambda client: client.read_resource(f"vault://note/{'a' * 100_000}.md"))
    error = refused.value.error

    assert len(error.message) < 1500
    assert len(str(error.data)) < 2500


def test_the_prompt_recall_bounds_its_argument_and_goes_without_one(memory: Memory) -> None:
    """One that is too long is refused with the bound; none at all is the start of a session."""
    host = Host(memory)

    with pytest.raises(MCPError, match=r"usage: a prompt of 20001 characters\. Give 20000 at most\."):
        host.speak(lambda client: client.get_prompt("recall", {"prompt": "x" * 20_001}))
    assert host.speak(lambda client: client.get_prompt("recall")).messages


def test_a_session_id_means_the_callers_own_conversation_first(memory: Memory) -> None:
    """Two programs may use one id: each closes its own, though the other's is the newer one."""
    own = Host(memory, name="codex").ask(
        "conversation_save", messages=[{"role": "user", "content": "hello"}], session_id="1"
    )
    other = Host(memory, name="cursor").ask(
        "conversation_save", messages=[{"role": "user", "content": "good day"}], session_id="1"
    )
    closed = Host(memory, name="codex").ask("conversation_close", session_id="1")

    assert closed["id"] == own["id"] != other["id"]
    assert memory.conversations.show(other["id"])[0].closed is None
