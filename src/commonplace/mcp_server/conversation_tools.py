"""The tools on conversations: save, close, and search in what was said."""

from typing import Annotated, Any, Final, NotRequired

from fastmcp.tools import Tool
from pydantic import Field
from typing_extensions import TypedDict  # pydantic reads that of typing from Python 3.12 on

from commonplace.mcp_server.answers import ClosedAnswer, RecordedAnswer, SearchAnswer
from commonplace.mcp_server.arguments import Hits, Question, SessionId, Since, Until, Word
from commonplace.mcp_server.door import Door
from commonplace.mcp_server.making import ADDS, READS, tool
from commonplace.memory import shapes

CHAT: Final = "chat"
"""The source under which conversations are found."""

MOST_MESSAGES: Final = 2000


class Said(TypedDict):
    """One message as a client gives it."""

    role: Annotated[Word, Field(description="user, assistant, system or tool.")]
    content: Annotated[str, Field(description="What was said.")]
    at: NotRequired[Annotated[Word, Field(description="When, such as 2026-03-01T09:12:44Z.")]]
    author: NotRequired[Annotated[Word, Field(description="Who, if not the person or the assistant.")]]
    id: NotRequired[Annotated[Word, Field(description="The message's own id.")]]


class ConversationTools:
    """What was said between the person and their agents."""

    def __init__(self, door: Door) -> None:
        self._door = door

    def save(
        self,
        messages: Annotated[
            list[Said], Field(description="The messages, oldest first.", min_length=1, max_length=MOST_MESSAGES)
        ],
        *,
        session_id: SessionId = "",
        title: Annotated[str, Field(description="A few words on what it is about.", max_length=200)] = "",
        interface: Annotated[
            Word, Field(description="The program it was held in, if not this one: claude-ai, chatgpt, ...")
        ] = "",
    ) -> dict[str, Any]:
        """How many messages were new, and the id under which the conversation is kept."""
        program = self._door.interface(interface)
        recorded = self._door.memory().conversations.record(
            messages, interface=program, source_id=session_id, title=title, trust="said"
        )
        return {"id": recorded.id, "added": recorded.added, "known": recorded.known, "interface": program}

    def close(
        self,
        session_id: Annotated[
            Word, Field(description="The session_id it was saved with, or the id of the answer.", min_length=1)
        ],
    ) -> dict[str, Any]:
        """The conversation, which is finished now: the caller's own before another program's with the same id."""
        conversations = self._door.memory().conversations
        own = conversations.list(interface=self._door.interface())
        meant = next((each.id for each in own if each.source_id == session_id), session_id)
        thread = shapes.thread_shape(conversations.close(meant))
        return {key: thread[key] for key in ("id", "interface", "source_id", "title", "turns", "closed")}

    def search(self, query: Question, *, k: Hits = 8, since: Since = "", until: Until = "") -> dict[str, Any]:
        """The search answer, from conversations alone."""
        answer = self._door.memory().search(query, k=k, since=since or None, until=until or None, sources=(CHAT,))
        return shapes.answer_shape(answer)


def conversation_tools(door: Door) -> list[Tool]:
    """conversation_save, conversation_close and history_search."""
    tools = ConversationTools(door)
    return [
        tool(
            "conversation_save",
            tools.save,
            title="Save a conversation",
            says="Keep a conversation, or what is new of it, so that it can be found later. With the same session_id "
            "it may be saved again as it grows: known messages are kept once.",
            hints=ADDS,
            answers=RecordedAnswer,
        ),
        tool(
            "conversation_close",
            tools.close,
            title="Close a conversation",
            says="Say that a saved conversation is finished. New messages open it again.",
            hints=ADDS,
            answers=ClosedAnswer,
        ),
        tool(
            "history_search",
            tools.search,
            title="Search conversations",
            says="Search what was said in earlier conversations, in this and other programs; who said it and when "
            "comes with each passage. Use it when the person refers to something you talked about before.",
            hints=READS,
            answers=SearchAnswer,
        ),
    ]
