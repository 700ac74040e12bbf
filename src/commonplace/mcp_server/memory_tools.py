"""The tools on memory and conversations.

Search, recall and facts read; save and forget change entries; a conversation can be saved and closed.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final, NotRequired

from fastmcp.tools import Tool
from pydantic import Field
from typing_extensions import TypedDict

from commonplace.errors import NotFound, UsageError
from commonplace.mcp_server import answers
from commonplace.mcp_server.arguments import (
    MAX_PROMPT,
    About,
    AsOf,
    Entity,
    EntryId,
    Folder,
    Hits,
    Kind,
    Known,
    Names,
    OneWord,
    Phase,
    Question,
    Rows,
    Scope,
    SessionId,
    Since,
    Situations,
    Source,
    Statement,
    StoodOn,
    Topics,
    Until,
    Word,
)
from commonplace.mcp_server.caller import CurrentCall
from commonplace.mcp_server.tool import ADDS, CHANGES, READS, tool
from commonplace.memory import Memory, fact_shapes, shapes
from commonplace.memory.facts import Facts
from commonplace.model import EntryResult, FactSnapshot, MemoryUse, Thread, ThreadKind
from commonplace.model.layout import MEMORY

MAX_MESSAGES: Final = 2000

_FILTERS: Final[Mapping[str, Mapping[str, Any]]] = {
    "all": {},
    "notes": {"sources": ("vault",)},
    "memories": {"sources": ("vault",), "path": MEMORY},
    "conversations": {"sources": ("chat",)},
    "tasks": {"sources": ("task",)},
    "corrections": {"sources": ("correction",)},
    "archive": {"sources": ("vault",), "include_archive": True},
}
"""What the argument `source` of a search stands for; `archive` is all notes, with what is archived or was replaced."""


class MessageArgument(TypedDict):
    """One message as a client gives it."""

    role: Annotated[Word, Field(json_schema_extra={"enum": ["user", "assistant", "system", "tool"]})]
    content: str
    at: NotRequired[Annotated[Word, Field(description="When, as 2026-03-01T09:12:44Z.")]]
    author: NotRequired[Word]
    id: NotRequired[Word]


class SavedConversation(TypedDict):
    """The conversation, how many messages were new and how many already known, and when it was closed, if it is."""

    id: str
    added: int
    known: int
    interface: str
    closed: str


class ConversationTools:
    """Conversations between the person and their agents."""

    def __init__(self, call: CurrentCall) -> None:
        self._call = call

    def save(
        self,
        messages: Annotated[
            list[MessageArgument],
            Field(description="Oldest first; those saved before are kept once.", max_length=MAX_MESSAGES),
        ] = (),  # type: ignore[assignment]
        *,
        session_id: SessionId = "",
        title: Annotated[str, Field(max_length=200)] = "",
        interface: Annotated[Word, Field(description="Another program that it was in: chatgpt.")] = "",
        kind: Annotated[ThreadKind, Field(description="task: with its result; correction: of you.")] = "chat",
        memory: Annotated[MemoryUse, Field(description="off: nothing is learned; isolated: nor found.")] = "on",
        close: Annotated[bool, Field(description="It is finished.")] = False,
    ) -> SavedConversation:
        """How many messages were new, and the id of the conversation."""
        conversations, program = self._call.memory().conversations, self._call.interface(interface)
        if kind != "chat":
            return self._save_other(messages, kind, program=program, session_id=session_id, is_silent=memory != "on")
        if not messages and not (close and session_id.strip()):
            said = "there is no session_id" if close else "there are no messages"
            raise UsageError(said, hint="Give `messages`, or `close` with the session_id of the conversation.")
        saved: SavedConversation = {"id": session_id, "added": 0, "known": 0, "interface": program, "closed": ""}
        if messages:
            recorded = conversations.record(
                messages,
                interface=program,
                source_id=session_id,
                title=title,
                trust="said",
                folder=self._call.folder(),
                memory=memory,
            )
            saved |= {"id": recorded.id, "added": recorded.added, "known": recorded.known}
        if close:
            thread = self._close(saved["id"] if messages else self._known_id(program, session_id))
            saved |= {"id": thread.id, "interface": thread.interface, "closed": shapes.time_text(thread.closed)}
        return saved

    def _save_other(
        self, messages: Sequence[MessageArgument], kind: ThreadKind, *, program: str, session_id: str, is_silent: bool
    ) -> SavedConversation:
        """A task and its result, or what the person corrected and what it corrects."""
        said = [each["content"] for each in messages if each["role"] == "user"]
        answers = [each["content"] for each in messages if each["role"] == "assistant"]
        if not said:
            raise UsageError(f"a {kind} needs a message of the user", hint="Give it as `role`: `user`.")
        memory, shared = self._call.memory(), {"interface": program, "folder": self._call.folder()}
        last = answers[-1] if answers else ""
        if kind == "task":
            recorded = memory.tasks.record(
                said[0], result=last, id=session_id, trust="said", silent=is_silent, **shared
            )
        else:
            own = memory.conversations.list(interface=program) if session_id else ()
            parent = next((each.id for each in own if each.source_id == session_id), "")
            recorded = memory.corrections.record(said[-1], corrects=last, conversation=parent, trust="said", **shared)
        return {
            "id": recorded.id,
            "added": recorded.added,
            "known": recorded.known,
            "interface": program,
            "closed": "",
        }

    def _close(self, id: str) -> Thread:
        """The conversation, now closed. Raises NotFound, with a hint for an agent."""
        try:
            return self._call.memory().conversations.close(id)
        except NotFound as missing:
            raise NotFound(missing.message, hint="Save its messages first, with the same session_id.") from missing

    def _known_id(self, program: str, session_id: str) -> str:
        """The id of that conversation; the caller's own comes before another program's with the same session_id."""
        own = self._call.memory().conversations.list(interface=program)
        return next((each.id for each in own if each.source_id == session_id), session_id)


def conversation_tools(call: CurrentCall) -> list[Tool]:
    """conversation_save."""
    return [
        tool(
            "conversation_save",
            ConversationTools(call).save,
            title="Save a conversation",
            description="Save a whole conversation, or its new messages, so that memory_search finds what was said. "
            "Call it again with the same session_id as it grows. Also saves a finished task, or the person's "
            "correction after what you had said.",
            hints=ADDS,
            text=answers.conversation_text,
        )
    ]


RECALL_SECONDS: Final = 3.0
"""Deadline of a recall that a model asks for; a prompt cannot wait as long."""

ASKED: Final = "always"
"""When such a recall brings passages of notes: the model asks for them by calling the tool."""


class FactList(TypedDict):
    """Facts about an entity, the most important first, or the events of all its facts, oldest first.

    `more` if there are others beyond the limit. `taken_for` is the full name if `entity` was a part of one name only,
    `similar` are names like it if nothing is known by it. `doubts` says by id why a fact is not certain.
    """

    entity: str
    taken_for: str
    similar: list[str]
    count: int
    more: bool
    facts: NotRequired[list[fact_shapes.FactSnapshotShape]]
    doubts: NotRequired[Mapping[str, str]]
    timeline: NotRequired[list[fact_shapes.TimelineEventShape]]


class SavedEntry(fact_shapes.EntryResultShape):
    """The result of a change, and the path of the entry's note."""

    path: str


class MemoryTools:
    """Questions to the memory."""

    def __init__(self, call: CurrentCall) -> None:
        self._call = call

    def search(
        self,
        query: Question,
        *,
        source: Source = "all",
        k: Hits = 8,
        path: Annotated[Folder, Field(description="Only this folder or note.")] = "",
        since: Since = "",
        until: Until = "",
        as_of: StoodOn = "",
        scope: Scope = "",
    ) -> shapes.SearchShape:
        """The hits, best first. Raises NotFound if `path` is no note."""
        memory = self._call.memory()
        filters = dict(_FILTERS[source])
        if path.strip():
            if source not in ("all", "notes", "archive"):
                raise UsageError(f"{source} are not searched by path", hint="Leave out `path`, or search notes.")
            filters["path"] = path
            if path.lower().endswith(".md") and not as_of:  # a note of a past day may be gone
                memory.notes.stat(path)  # raises NotFound, with the paths that are like it
        answer = memory.search(
            query,
            k=k,
            since=since or None,
            until=until or None,
            as_of=as_of or None,
            scope=scope,
            **filters,
        )
        return shapes.search_shape(answer)

    def recall(
        self,
        prompt: Annotated[
            str, Field(description="The person's prompt; empty when a session starts.", max_length=MAX_PROMPT)
        ] = "",
        *,
        session_id: SessionId = "",
        phase: Phase = "",
        scope: Scope = "",
    ) -> shapes.ContextShape:
        """The context of the prompt, or of the whole session, fenced and with the reasons."""
        memory = self._call.memory()
        contexts = memory.context
        session = f"{self._call.interface()}:{session_id}" if session_id else ""
        given: dict[str, Any] = {
            "phase": phase,
            "conversation": session,
            "folder": self._call.folder(),
            "scope": scope,
            "within": RECALL_SECONDS,
        }
        context = contexts(prompt, notes=ASKED, **given) if prompt.strip() else contexts.start(**given)
        return shapes.context_shape(context, memory.notes.link)

    def facts(
        self,
        entity: Entity = "",
        *,
        topic: Word = "",
        as_of: AsOf = "",
        known: Known = "",
        timeline: Annotated[bool, Field(description="How its facts changed, oldest first.")] = False,
        limit: Rows = 50,
    ) -> FactList:
        """The most important facts up to `limit`, or the newest events; and whether there are more."""
        memory = self._call.memory()
        facts, link = memory.facts, memory.notes.link
        if timeline and (topic or as_of or known or not entity.strip()):
            raise UsageError(
                "a timeline needs one entity and cannot be filtered",
                hint="Give `entity`, without `topic`, `as_of` and `known`.",
            )
        named = facts.named(entity)
        told: FactList = {
            "entity": entity,
            "taken_for": named.taken_for,
            "similar": [*named.similar],
            "count": 0,
            "more": False,
        }
        if timeline:
            return _events(facts, told, limit, link)
        found = facts.about(entity, topic=topic, as_of=as_of, known=known, limit=limit + 1)
        return _known(facts, found, told, limit, link)


def _known(facts: Facts, found: Sequence[FactSnapshot], told: FactList, limit: int, link: shapes.NoteLink) -> FactList:
    rows = [fact_shapes.snapshot_shape(each, link) for each in found[:limit]]
    doubts = {id: why for id, why in facts.doubts(found[:limit]).items() if why}
    return {**told, "count": len(rows), "more": len(found) > limit, "facts": rows, "doubts": doubts}


def _events(facts: Facts, told: FactList, limit: int, link: shapes.NoteLink) -> FactList:
    events = facts.timeline(told["entity"])
    rows = [fact_shapes.timeline_event_shape(each, link) for each in events[-limit:]]
    return {**told, "count": len(rows), "more": len(events) > limit, "timeline": rows}


SAVE: Final = (
    "Remember something for other sessions: a preference, decision, fact, lesson or fix; one per call, with `about` "
    "and `when`: by these a later prompt in other words finds it. What is known is confirmed. The answer shows older "
    "memories near it: if one holds no longer, call again with the new `id` and `replaces` (or `covers`, `same`, "
    "`both`, `until`). No secrets."
)
"""The description of the tool. `bench/readers.py` compares it with other wordings."""


class EntryTools:
    """Saving, correcting and forgetting."""

    def __init__(self, call: CurrentCall) -> None:
        self._call = call

    def save(
        self,
        text: Statement = "",
        *,
        id: Annotated[Word, Field(description="Instead of a text: a saved one, to settle it.")] = "",
        replaces: Annotated[Names, Field(description="Ids of what holds no longer.")] = (),
        covers: Annotated[Names, Field(description="Ids it says again, with more or an exception.")] = (),
        same: Annotated[OneWord, Field(description="Id that means the same; its wording stays.")] = "",
        both: Annotated[Names, Field(description="Ids that hold, too.")] = (),
        until: Annotated[Word, Field(description="No longer true from that day on.")] = "",
        about: About = "",
        when: Situations = "",
        kind: Kind = "",
        topics: Topics = (),
        subject: Annotated[Word, Field(description="Of a triple; `me` for the person.")] = "",
        predicate: Annotated[Word, Field(description="Such as works_at or likes.")] = "",
        object: Word = "",
        valid_from: Annotated[Word, Field(description="True from that day on.")] = "",
        project: Annotated[Word, Field(description="If another than yours.")] = "",
        quote: Annotated[Word, Field(description="The person's words that say so.")] = "",
        whole: Annotated[bool, Field(description="Several parts as one.")] = False,
        session_id: SessionId = "",
    ) -> SavedEntry:
        """The entry: whether it was inserted or confirmed, what it ended, and its neighbours."""
        memory = self._call.memory()
        entries, alike = memory.entries, tuple(filter(None, (same.strip(),)))
        given: dict[str, Any] = {"replaces": replaces, "covers": covers, "same": alike, "both": both}
        given["until"] = until.strip()
        if id.strip():
            if text.strip():
                raise UsageError("both `text` and `id` are given", hint="Give `text` for a new memory, `id` to settle.")
            return _saved(self._on_known(id, given, quote=quote, about=about, when=when), memory)
        saved = entries.save(
            text,
            **given,
            about=about,
            when=when,
            kind=kind,
            topics=topics,
            subject=subject,
            predicate=predicate,
            object=object,
            valid_from=valid_from,
            whole=whole,
            project=project.strip() or None,
            folder=self._call.folder(),
            interface=self._call.interface(),
            conversation=session_id,
            quote=quote,
        )
        return _saved(saved, memory)

    def _on_known(self, id: str, given: Mapping[str, Any], *, quote: str, about: str, when: str) -> EntryResult:
        """Settle what is saved, describe it, or both, or neither if one is refused; one of them must be asked for."""
        entries = self._call.memory().entries
        if not (about.strip() or when.strip()):
            return entries.settle(id, **given, quote=quote)
        if any(given.values()):
            entries.settle(id, **given, quote=quote, dry_run=True)  # what is refused shall change nothing
        described = entries.describe(id, about=about.strip() or None, when=when.strip() or None)
        return entries.settle(id, **given, quote=quote) if any(given.values()) else described

    def forget(
        self,
        id: EntryId,
        *,
        reason: Word = "",
        quote: Annotated[Word, Field(description="The person's words that ask for it.")] = "",
    ) -> SavedEntry:
        """The entry, marked as deleted; its note stays. The person's own word waits for them without a quote."""
        memory = self._call.memory()
        return _saved(memory.entries.forget(id, reason=reason, quote=quote), memory)


def _saved(result: EntryResult, memory: Memory) -> SavedEntry:
    return {**fact_shapes.entry_result_shape(result, memory.notes.link), "path": result.fact.path}


def memory_tools(call: CurrentCall) -> list[Tool]:
    """All tools whose names begin with memory_."""
    return [*_reading(MemoryTools(call)), *_changing(EntryTools(call))]


def _reading(tools: MemoryTools) -> list[Tool]:
    return [
        tool(
            "memory_search",
            tools.search,
            title="Search memory",
            description="Find what is known about one question in the person's notes, saved memories and past "
            "conversations: a preference, a decision, what we discussed before. Best passages first, with source.",
            hints=READS,
            text=answers.search_text,
        ),
        tool(
            "memory_recall",
            tools.recall,
            title="Recall for a task",
            description="The background for a whole prompt, at the start of a task or session: standing preferences, "
            "rules, facts and passages that belong to it. For one question use memory_search.",
            hints=READS,
            text=answers.context_text,
            is_fenced=True,
        ),
        tool(
            "memory_facts",
            tools.facts,
            title="Known facts",
            description="List what is true of a person, thing or topic, now or `as_of` a day, or what was `known` on a "
            "day, with source and dates; with `timeline`, how it changed.",
            hints=READS,
            text=lambda values: (answers.timeline_text if "timeline" in values else answers.facts_text)(values),
        ),
    ]


def _changing(tools: EntryTools) -> list[Tool]:
    return [
        tool(
            "memory_save",
            tools.save,
            title="Save to memory",
            description=SAVE,
            hints=CHANGES,
            text=answers.entry_text,
        ),
        tool(
            "memory_forget",
            tools.forget,
            title="Forget a memory",
            description="Stop recalling a saved memory that is wrong or unwanted. Its note stays, marked as deleted.",
            hints=CHANGES,
            text=answers.entry_text,
        ),
    ]
