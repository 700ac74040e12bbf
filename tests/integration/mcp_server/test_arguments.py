"""The bounds of arguments, and how much of a request an error repeats."""

from typing import Any

import pytest
from mcp.shared.exceptions import MCPError

from commonplace.memory import Memory
from tests.integration.mcp_server.host import Host, text_of

LONG = "a " * 5000


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("memory_search", {"query": "x", "path": LONG}),
        ("memory_search", {"query": "x", "since": LONG}),
        ("memory_recall", {"prompt": "x", "phase": LONG}),
        ("memory_facts", {"entity": LONG}),
        ("memory_save", {"text": "Ada prefers tea.", "topics": [LONG]}),
        ("memory_save", {"text": "Ada prefers tea.", "topics": ["x"] * 21}),
        ("memory_save", {"text": "Ada prefers tea.", "kind": LONG}),
        ("memory_save", {"text": "Ada prefers tea.", "about": "a " * 61}),
        ("memory_save", {"text": "Ada prefers tea.", "when": "a " * 61}),
        ("memory_save", {"text": "x", "subject": LONG, "predicate": "likes", "object": "tea"}),
        ("memory_save", {"text": "x", "subject": "me", "predicate": "likes", "object": LONG}),
        ("memory_forget", {"id": "x", "reason": LONG}),
        ("note_read", {"path": LONG}),
        ("note_read", {"path": "People/Ada.md", "section": LONG}),
        ("note_list", {"folder": LONG}),
        ("conversation_save", {"session_id": LONG, "close": True}),
        ("conversation_save", {"messages": [{"role": "user", "content": "x", "author": LONG}]}),
    ],
)
def test_every_name_and_day_has_a_bound(ada_host: Host, tool: str, arguments: dict[str, Any]) -> None:
    """The error for too many or too long names does not repeat them all."""
    result = ada_host.call(tool, **arguments)

    assert result.is_error
    assert "should have at most" in text_of(result)
    assert len(text_of(result)) < 1000


def test_an_error_quotes_only_the_beginning_of_the_request(ada_host: Host) -> None:
    """As text and as fields, also in protocol errors."""
    with pytest.raises(MCPError) as refused:
        ada_host.speak(lambda client: client.read_resource(f"vault://note/{'a' * 100_000}.md"))
    error = refused.value.error

    assert len(error.message) < 1500
    assert len(str(error.data)) < 2500


def test_the_prompt_recall_bounds_its_argument_and_goes_without_one(ada_host: Host) -> None:
    """A prompt that is too long is refused with the bound; no prompt is the start of a session."""
    with pytest.raises(MCPError, match=r"usage: the prompt has 20001 characters\. Give at most 20000\."):
        ada_host.speak(lambda client: client.get_prompt("recall", {"prompt": "x" * 20_001}))
    assert ada_host.speak(lambda client: client.get_prompt("recall")).messages


def test_a_session_id_means_the_callers_own_conversation_first(ada: Memory) -> None:
    """Two programs may use the same id: each closes its own, although the other's is newer."""
    own = Host(ada, name="codex").ask(
        "conversation_save", messages=[{"role": "user", "content": "hello"}], session_id="1"
    )
    other = Host(ada, name="cursor").ask(
        "conversation_save", messages=[{"role": "user", "content": "good day"}], session_id="1"
    )
    closed = Host(ada, name="codex").ask("conversation_save", close=True, session_id="1")

    assert closed["id"] == own["id"] != other["id"]
    assert ada.conversations.show(other["id"])[0].closed is None


@pytest.mark.parametrize("tool", ["memory_search", "memory_recall"])
def test_a_scope_that_is_no_channel_is_refused(ada_host: Host, tool: str) -> None:
    """As over HTTP; it was ignored, so a mistyped channel found what belongs to none."""
    arguments = {"query": "tea"} if tool == "memory_search" else {"prompt": "tea"}
    error = ada_host.error(tool, scope="rubbish", **arguments)

    assert (error["reason"], "scope: string should match pattern" in error["message"]) == ("usage", True)
    assert not ada_host.call(tool, scope="channel:abc", **arguments).is_error


def test_topics_may_be_given_as_text(ada: Memory) -> None:
    """Models do; what is neither text nor a list is answered in the words of JSON."""
    host = Host(ada)
    one = host.ask("memory_save", text="Drinks two coffees a day.", topics="coffee")
    two = host.ask("memory_save", text="Brews it with filters.", topics="coffee, brewing")
    wrong = host.error("memory_save", text="Grinds it by hand.", topics=3)

    assert one["fact"]["topics"] == ["coffee"]
    assert sorted(two["fact"]["topics"]) == ["brewing", "coffee"]
    assert "topics: input should be a list" in wrong["message"]


def test_the_kinds_of_the_list_are_those_of_the_error(ada_host: Host) -> None:
    """A model that reads either can use any of them."""
    tools = {tool.name: tool for tool in ada_host.speak(lambda client: client.list_tools())}
    listed = tools["memory_save"].input_schema["properties"]["kind"]["enum"]

    assert f"Use one of: {', '.join(listed)}." in ada_host.error("memory_save", text="x y z", kind="mood")["hint"]
