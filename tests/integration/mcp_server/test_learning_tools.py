"""Learning over MCP: by the host's own model where the client offers sampling, else as the settings say."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import mcp_types
import pytest
from fastmcp import Client
from fastmcp.client.client import CallToolResult
from mcp import MCPError

from commonplace.memory import Memory
from tests.integration.mcp_server.host import Host, text_of
from tests.llm_server import MODEL, Answer, serving_models
from tests.memories import make_memory

SAID = "I live in Utrecht and I prefer tea over coffee in the morning."
MESSAGES = [{"role": "user", "content": SAID}, {"role": "assistant", "content": "Noted."}]
FACT = {"text": "Lives in Utrecht.", "quote": "I live in Utrecht", "message": 1, "kind": "fact"}
ANSWER = {"facts": [FACT], "summary": "Where the person lives."}


class SamplingHost:
    """A host whose client has a model of its own: `answers` are what it says, `asked` is what it was told."""

    def __init__(self, memory: Memory, *answers: str, mode: str = "auto", is_offered: bool = True) -> None:
        self.host = Host(memory, name="vscode")
        self.asked: list[mcp_types.CreateMessageRequestParams] = []
        self._answers, self._mode, self._is_offered = list(answers), mode, is_offered

    def call(self, tool: str, **arguments: Any) -> CallToolResult:
        """The answer of a tool, also where it is an error."""
        return asyncio.run(self._call(tool, arguments))

    def tools(self) -> list[str]:
        """The names of the tools that it is shown."""

        async def listed() -> list[str]:
            async with self._client() as client:
                return [each.name for each in await client.list_tools()]

        return asyncio.run(listed())

    def _client(self) -> Client[Any]:
        handler = self._sample if self._is_offered else None
        return Client(self.host.server, sampling_handler=handler, mode=self._mode)

    async def _call(self, tool: str, arguments: dict[str, Any]) -> CallToolResult:
        async with self._client() as client:
            result: CallToolResult = await client.call_tool(tool, arguments, raise_on_error=False)
            return result

    def _sample(self, messages: object, params: mcp_types.CreateMessageRequestParams, context: object) -> str:
        self.asked.append(params)
        return self._answers.pop(0)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    """A memory with one conversation that a program recorded, and no model in the settings."""
    with make_memory(tmp_path) as opened:
        Host(opened, name="vscode").ask("conversation_save", messages=MESSAGES, session_id="s1", close=True)
        yield opened


@pytest.mark.requirement("I-25")
def test_the_hosts_own_model_extracts_where_the_client_offers_sampling(memory: Memory) -> None:
    """It is asked once, with our prompt, the schema and the messages; what it found waits for the person."""
    host = SamplingHost(memory, json.dumps(ANSWER))
    result = host.call("memory_learn", conversation="s1")

    assert not result.is_error, result.content
    assert "staged: Lives in Utrecht." in text_of(result)
    (asked,) = host.asked
    assert asked.system_prompt
    assert '"properties"' in asked.system_prompt
    assert SAID in asked.messages[0].content.text  # type: ignore[union-attr]
    assert memory.reviews.count() == 1
    (call,) = memory._session.stores.history.calls(task_type="extract")
    assert (call.model_alias, call.cost) == ("sampling@vscode", 0.0)


@pytest.mark.parametrize(
    ("how", "is_listed"), [({}, True), ({"is_offered": False}, False), ({"mode": "legacy"}, False)]
)
def test_the_tool_is_listed_where_it_is_of_use(memory: Memory, how: dict[str, Any], is_listed: bool) -> None:
    """Every model reads the list; without sampling, the daemon learns as well as a call would."""
    assert ("memory_learn" in SamplingHost(memory, **how).tools()) is is_listed


def test_a_conversation_is_learned_once(memory: Memory) -> None:
    """The second call reads nothing and asks nobody."""
    host = SamplingHost(memory, json.dumps(ANSWER))
    host.call("memory_learn", conversation="s1")
    again = host.call("memory_learn", conversation="s1", verbose=True)

    assert len(host.asked) == 1
    assert again.structured_content
    assert again.structured_content["turns"] == 0
    assert again.structured_content["items"] == []


@pytest.mark.parametrize("how", [{"is_offered": False}, {"mode": "legacy"}])
def test_a_client_without_sampling_gets_what_the_rules_find(memory: Memory, how: dict[str, Any]) -> None:
    """Also one of the older protocol, in which a tool has no way to ask."""
    host = SamplingHost(memory, **how)
    result = host.call("memory_learn", conversation="s1", verbose=True)

    assert not result.is_error, result.content
    assert result.structured_content
    assert result.structured_content["extractor"] == "rules"
    assert host.asked == []


def test_an_answer_that_is_no_json_is_an_error_and_loses_nothing(memory: Memory) -> None:
    """The conversation is still there to be learned."""
    result = SamplingHost(memory, "I would rather not.").call("memory_learn", conversation="s1")

    assert result.is_error
    assert "malformed" in text_of(result)
    assert "kept" in text_of(SamplingHost(memory, json.dumps(ANSWER)).call("memory_learn", conversation="s1"))


def test_an_answer_without_evidence_is_rejected(memory: Memory) -> None:
    """The host's model is trusted as little as any: what nobody said is not stored."""
    invented = {**FACT, "text": "Likes jazz.", "quote": "I like jazz"}
    result = SamplingHost(memory, json.dumps({**ANSWER, "facts": [invented]})).call("memory_learn", conversation="s1")

    assert "1 rejected" in text_of(result)
    assert memory.reviews.count() == 0


def test_a_client_that_declines_loses_nothing(memory: Memory) -> None:
    """A person may say no to the question."""
    with pytest.raises(MCPError):
        SamplingHost(memory).call("memory_learn", conversation="s1")

    assert memory.learning.status().due == 1


def test_the_settings_model_comes_before_the_hosts(tmp_path: Path) -> None:
    """Who has set one wants it."""
    with serving_models(default=Answer(ANSWER)) as server:
        settings: dict[str, object] = {"llm.provider": "openai", "llm.base_url": server.openai, "llm.model": MODEL}
        with make_memory(tmp_path, settings=settings) as memory:
            Host(memory, name="vscode").ask("conversation_save", messages=MESSAGES, session_id="s1", close=True)
            host = SamplingHost(memory, json.dumps(ANSWER))
            host.call("memory_learn", conversation="s1")

    assert host.asked == []
    assert len(server.requests) >= 1


def test_a_conversation_that_is_not_there_is_named(memory: Memory) -> None:
    """With what to do."""
    result = SamplingHost(memory).call("memory_learn", conversation="nowhere")

    assert result.is_error
    assert text_of(result).startswith("missing:")
