"""Conversations: what was said, kept beside the notes and found with them."""

from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import Field

from commonplace.memory import shapes
from commonplace.model import Role, Trust
from commonplace.web.answers import Done, Shape
from commonplace.web.asked import NO_QUERY, Asked, such_as
from commonplace.web.fields import Id, Line, Prose, Word
from commonplace.web.gate import CallerHere, Reader, Writer

router = APIRouter(prefix="/conversations", tags=["conversations"])


class MessageAsked(Asked):
    """One turn. `author` is the name of who spoke; empty for the vault's owner and for the assistant."""

    model_config = such_as(role="user", content="My boat is called Argo.")

    role: Role
    content: Prose
    author: Word = ""
    at: Word | None = Field(None, description="When, as 2026-03-01T09:12:44Z.")
    id: Word = Field("", description="The id that its program gave it.")


class RecordBody(Asked):
    """A conversation, or what is new of one that has a `session_id`."""

    model_config = such_as(session_id="7f3a", messages=[{"role": "user", "content": "My boat is called Argo."}])

    messages: Annotated[list[MessageAsked], Field(min_length=1, max_length=5_000)]
    session_id: Word = Field("", description="The id which its program gave it; with one it may grow.")
    interface: Word = Field("", description="That program; the caller, where nothing is said.")
    title: Line = ""


class ConversationsQuery(Asked):
    """Which conversations, newest first."""

    interface: Word | None = None
    since: Word | None = None
    limit: int = Field(50, ge=1, le=1_000)


class TurnsQuery(Asked):
    """Which turns."""

    first: int = Field(1, ge=1, le=1_000_000)
    last: int | None = Field(None, ge=1, le=1_000_000)


class RecordedShape(Shape):
    """The conversation's id, how many messages were new and how many were known."""

    id: str
    added: int
    known: int


class RecordedAnswer(Done):
    """What came of recording."""

    recorded: RecordedShape


class ThreadShape(Shape):
    """What is known of a conversation beside its messages."""

    id: str
    interface: str
    source_id: str
    title: str
    trust: Trust
    started: str
    updated: str
    recorded: str
    closed: str
    turns: int


class ThreadsAnswer(Done):
    """Conversations, newest first."""

    conversations: list[ThreadShape]


class MessageShape(Shape):
    """One turn."""

    turn: int
    role: Role
    author: str
    at: str
    id: str
    text: str


class ThreadAnswer(Done):
    """A conversation."""

    conversation: ThreadShape


class TurnsAnswer(ThreadAnswer):
    """A conversation, and what was said in it."""

    messages: list[MessageShape]


@router.post(
    "",
    operation_id="record_conversation",
    summary="Keep a conversation",
    response_model=RecordedAnswer,
    dependencies=[NO_QUERY],
)
def record_conversation(asked: RecordBody, caller: CallerHere, memory: Writer) -> Any:
    """Keep a conversation, or what is new of one that has a `session_id`, and let it be found at once."""
    recorded = memory.conversations.record(
        [each.model_dump() for each in asked.messages],
        interface=asked.interface or caller.name,
        source_id=asked.session_id,
        title=asked.title,
    )
    return {"ok": True, "recorded": recorded}


@router.get("", operation_id="list_conversations", summary="List conversations", response_model=ThreadsAnswer)
def list_conversations(asked: Annotated[ConversationsQuery, Query()], memory: Reader) -> Any:
    """The conversations of a program, with a message from a day on; newest first."""
    threads = memory.conversations.list(interface=asked.interface, since=asked.since, limit=asked.limit)
    return {"ok": True, "conversations": [shapes.thread_shape(each) for each in threads]}


@router.get("/{id}", operation_id="show_conversation", summary="Read a conversation", response_model=TurnsAnswer)
def show_conversation(id: Id, asked: Annotated[TurnsQuery, Query()], memory: Reader) -> Any:
    """Who said what, and when, from one turn to another."""
    thread, messages = memory.conversations.show(id, first=asked.first, last=asked.last)
    told = [shapes.message_shape(turn, each) for turn, each in enumerate(messages, start=asked.first)]
    return {"ok": True, "conversation": shapes.thread_shape(thread), "messages": told}


@router.post(
    "/{id}/close",
    operation_id="close_conversation",
    summary="Say that it is finished",
    response_model=ThreadAnswer,
    dependencies=[NO_QUERY],
)
def close_conversation(id: Id, memory: Writer) -> Any:
    """What is recorded after that opens it again."""
    return {"ok": True, "conversation": shapes.thread_shape(memory.conversations.close(id))}
