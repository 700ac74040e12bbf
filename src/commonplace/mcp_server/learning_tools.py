"""The tool that learns from a conversation, by the host's own model where the client offers MCP sampling.

The protocol has no way back from a server to its client: the tool asks by its result, and is called again with the
answer. It keeps nothing between the two calls.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Final

import mcp_types
from fastmcp.server.dependencies import get_context
from fastmcp.tools import Tool
from fastmcp.tools.base import InputRequiredToolResult
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import Field
from typing_extensions import TypedDict

from commonplace.mcp_server import answers
from commonplace.mcp_server.caller import CurrentCall
from commonplace.mcp_server.tool import ADDS, tool
from commonplace.model.learning import HostQuestion, LearnResult

FOR_SAMPLING: Final = frozenset({"memory_learn"})
"""Tools that are listed only for clients with sampling: without it, the daemon learns as well as a call would."""


class LearnedStatement(TypedDict):
    """One statement that was extracted: what became of it and why, and the id of the entry that has it."""

    text: str
    outcome: str
    reason: str
    id: str


class LearnedConversation(TypedDict):
    """What was learned from a conversation, by whom it was extracted, and how many of its messages were read now."""

    conversation: str
    extractor: str
    turns: int
    items: list[LearnedStatement]


class LearningTools:
    """Learning from conversations."""

    def __init__(self, call: CurrentCall) -> None:
        self._call = call

    def learn(
        self,
        conversation: Annotated[str, Field(description="Its session_id or id.", min_length=1, max_length=200)],
    ) -> LearnedConversation | InputRequiredToolResult:
        """What was learned, or the question for the host's model."""
        memory, program = self._call.memory(), self._call.interface()
        own = memory.conversations.list(interface=program)
        id_ = next((each.id for each in own if each.source_id == conversation), conversation)
        if not offers_sampling():
            return _shape(memory.learning.learn(id_))
        learned = memory.learning.learn_by_host(id_, host=program, answers=sampled_answers())
        return _question(learned) if isinstance(learned, HostQuestion) else _shape(learned)


def offers_sampling() -> bool:
    """True if the client of the current call lets us ask its model, in a version of MCP in which a tool can.

    True outside a call, where the reference lists every tool.
    """
    context = get_context()
    if context.request_context is None:
        return True
    session = context.session
    capabilities = session.client_capabilities
    is_offered = capabilities is not None and capabilities.sampling is not None
    return is_offered and session.protocol_version in MODERN_PROTOCOL_VERSIONS


def sampled_answers() -> dict[str, str]:
    """What the host's model has answered to the questions of the call before, by their keys."""
    responses: Mapping[str, Any] = get_context().input_responses or {}
    return {
        key: _text_of(response)
        for key, response in responses.items()
        if isinstance(response, mcp_types.CreateMessageResult | mcp_types.CreateMessageResultWithTools)
    }


def _text_of(response: mcp_types.CreateMessageResult | mcp_types.CreateMessageResultWithTools) -> str:
    blocks = response.content if isinstance(response.content, list) else [response.content]
    return "".join(block.text for block in blocks if isinstance(block, mcp_types.TextContent))


def _question(question: HostQuestion) -> InputRequiredToolResult:
    message = mcp_types.SamplingMessage(role="user", content=mcp_types.TextContent(type="text", text=question.text))
    request = mcp_types.CreateMessageRequest(
        params=mcp_types.CreateMessageRequestParams(
            messages=[message], system_prompt=question.system, max_tokens=question.most_tokens, temperature=0.0
        )
    )
    return InputRequiredToolResult(mcp_types.InputRequiredResult(input_requests={question.key: request}))


def _shape(learned: LearnResult) -> LearnedConversation:
    items: list[LearnedStatement] = [
        {"text": each.text, "outcome": each.outcome, "reason": each.reason, "id": each.fact} for each in learned.items
    ]
    return {"conversation": learned.source, "extractor": learned.extractor, "turns": learned.turns, "items": items}


def learning_tools(call: CurrentCall) -> list[Tool]:
    """memory_learn."""
    return [
        tool(
            "memory_learn",
            LearningTools(call).learn,
            title="Learn from a conversation",
            description="Extract what is worth keeping from a finished conversation that was saved with "
            "conversation_save. What needs the person's approval waits for it.",
            hints=ADDS,
            text=answers.learned_text,
        )
    ]
