"""The JSON of every answer, declared once: `--json`, the HTTP API and the MCP tools all send these fields.

A `...Shape` declares the fields, and the function of that name fills them. Values whose own fields are the answer
(`Problem`, `Heading`, `Origins`, ...) are sent as they are. The HTTP API and the MCP server derive their schemas from
these types, so a field added here appears in all three.
"""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict  # pydantic rejects typing.TypedDict before Python 3.12

from commonplace.errors import Reason
from commonplace.model import (
    Answer,
    Changed,
    Context,
    ContextSection,
    Heading,
    Hit,
    IncludedPiece,
    MemoryUse,
    Message,
    Mode,
    Note,
    Observation,
    OmittedPiece,
    Problem,
    Relation,
    ResolvedLink,
    Role,
    Thread,
    ThreadKind,
    Trust,
    Verb,
)
from commonplace.model.moment import moment_text
from commonplace.model.project_state import Feature, ProgressEntry, ProjectState

NoteLink = Callable[[str], str]
"""Makes the address that opens the note at a path in Obsidian: `Notes.link`."""


class HitShape(TypedDict):
    """One passage; `why` breaks its score down by ranking part.

    `link` opens the note in Obsidian; empty for a conversation. `more_in_note`, on the last passage of a note, counts
    further ones that were left out so that other notes are shown.
    """

    chunk_id: str
    document_id: str
    source_type: str
    source_path: str
    title: str
    heading_path: list[str]
    line: int
    content: str
    score: float
    cosine: float | None
    sensitive: bool
    updated: str
    metadata: dict[str, Any]
    why: dict[str, dict[str, Any]]
    link: str
    more_in_note: int


def hit_shape(hit: Hit) -> HitShape:
    """One hit of a search."""
    return {
        "chunk_id": hit.chunk_id,
        "document_id": hit.document_id,
        "source_type": hit.source_type,
        "source_path": hit.path,
        "title": hit.title,
        "heading_path": [*hit.heading_path],
        "line": hit.line,
        "content": hit.text,
        "score": hit.score,
        "cosine": hit.cosine,
        "sensitive": hit.sensitive,
        "updated": hit.updated,
        "metadata": dict(hit.metadata),
        "why": {part: dict(values) for part, values in hit.why.items()},
        "link": hit.link,
        "more_in_note": hit.more_in_note,
    }


class SearchShape(TypedDict):
    """The hits of a search, best first; `degraded` lists what the search had to do without."""

    query: str
    mode: Mode
    searched: bool
    count: int
    took_ms: float
    degraded: list[str]
    confidence: float | None
    results: list[HitShape]
    empty: NotRequired[str]
    as_of: NotRequired[str]
    history_begins: NotRequired[str]


class ExplainedSearchShape(SearchShape):
    """The hits of a search; if asked for, how the question was understood and how long each step took, in ms.

    `rejected`: the score and the nearness of the best passage, and the nearness it needed, if nothing fits.
    """

    understood: NotRequired[Mapping[str, Any]]
    rejected: NotRequired[Mapping[str, float]]
    times: NotRequired[Mapping[str, float]]


def search_shape(answer: Answer, *, explain: bool = False) -> ExplainedSearchShape:
    """The answer to a search; `explain` adds how the question was understood and how long each step took."""
    shape: ExplainedSearchShape = {
        "query": answer.query,
        "mode": answer.mode,
        "searched": answer.searched,
        "count": len(answer.hits),
        "took_ms": answer.took_ms,
        "degraded": [*answer.degraded],
        "confidence": answer.confidence,
        "results": [hit_shape(hit) for hit in answer.hits],
    }
    if answer.empty is not None:
        shape["empty"] = answer.empty
    if answer.as_of is not None:
        shape["as_of"] = answer.as_of
    if answer.history_begins is not None:
        shape["history_begins"] = answer.history_begins
    if explain:
        shape["understood"], shape["times"] = answer.understood, answer.times
        if answer.rejected:
            shape["rejected"] = answer.rejected
    return shape


class IncludedShape(TypedDict):
    """A piece of the context, and why it was chosen; `link` opens its note in Obsidian, empty for a conversation."""

    section: ContextSection
    key: str
    source: str
    title: str
    kind: str
    score: float
    why: str
    doubt: str
    chars: int
    is_cut: bool
    link: str


class ContextShape(TypedDict):
    """The context of a prompt, fenced and with sources; `late` lists the parts that missed the deadline."""

    text: str
    chars: int
    tokens: int
    budget: int
    token_budget: int
    is_over: bool
    phase: str
    topics: list[str]
    drifted: bool
    style: str
    included: list[IncludedShape]
    left_out: list[OmittedPiece]
    late: list[str]
    degraded: list[str]
    took_ms: float


def context_shape(context: Context, link: NoteLink) -> ContextShape:
    """The context of a prompt, with the reason for everything in it and everything left out."""
    return {
        "text": context.text,
        "chars": len(context.text),
        "tokens": context.tokens,
        "budget": context.budget,
        "token_budget": context.token_budget,
        "is_over": context.is_over,
        "phase": context.phase,
        "topics": [*context.topics],
        "drifted": context.drifted,
        "style": context.style,
        "included": [_included_shape(each, link) for each in context.included],
        "left_out": [*context.left_out],
        "late": [*context.late],
        "degraded": [*context.degraded],
        "took_ms": context.took_ms,
    }


def _included_shape(included: IncludedPiece, link: NoteLink) -> IncludedShape:
    piece = included.piece
    return {
        "section": piece.section,
        "key": piece.key,
        "source": piece.source,
        "title": piece.title,
        "kind": piece.kind,
        "score": piece.score,
        "why": piece.why,
        "doubt": piece.doubt,
        "chars": included.chars,
        "is_cut": included.is_cut,
        "link": link(piece.document) if piece.document.endswith(".md") else "",
    }


class NoteShape(TypedDict):
    """A note, parsed; `version` is what a conditional write expects, and `link` opens it in Obsidian."""

    path: str
    title: str
    frontmatter: Mapping[str, Any]
    content: str
    mtime: float
    size: int
    version: str
    sensitive: bool
    aliases: list[str]
    tags: list[str]
    headings: list[Heading]
    links: list[str]
    observations: list[Observation]
    relations: list[Relation]
    problems: list[Problem]
    link: str


def note_shape(note: Note, *, sensitive: bool, link: str) -> NoteShape:
    """A note, parsed, and the address that opens it."""
    return {
        "path": note.path,
        "title": note.title,
        "frontmatter": note.frontmatter,
        "content": note.body,
        "mtime": note.mtime,
        "size": note.size,
        "version": note.version,
        "sensitive": sensitive,
        "aliases": [*note.aliases],
        "tags": [*note.tags],
        "headings": [*note.headings],
        "links": sorted({link.target for link in note.links if link.target}),
        "observations": [*note.observations],
        "relations": [*note.relations],
        "problems": [*note.problems],
        "link": link,
    }


class LinkShape(TypedDict):
    """A link and the path it leads to; null if there is no such file."""

    source: str
    line: int
    target: str
    heading: str | None
    block: str | None
    alias: str | None
    form: Literal["wikilink", "embed", "markdown"]
    where: Literal["body", "property"]
    path: str | None
    by: str
    also: list[str]


def link_shape(resolved: ResolvedLink) -> LinkShape:
    """The parts of a link, and the path it leads to."""
    link = resolved.link
    return {
        "source": resolved.source,
        "line": link.line,
        "target": link.target,
        "heading": link.heading,
        "block": link.block,
        "alias": link.alias,
        "form": link.form,
        "where": link.where,
        "path": resolved.path,
        "by": resolved.by,
        "also": [*resolved.also],
    }


class ProjectStateShape(TypedDict):
    """Where the work of a project stands; the oldest progress first. `plan_version` is what a new plan must name."""

    project: str
    folder: str
    plan: str
    plan_version: str
    features: list[Feature]
    progress: list[ProgressEntry]
    hidden: list[str]


def project_state_shape(state: ProjectState) -> ProjectStateShape:
    """The state of a project."""
    return {
        "project": state.project,
        "folder": state.folder,
        "plan": state.plan,
        "plan_version": state.plan_version,
        "features": [*state.features],
        "progress": [*state.progress],
        "hidden": [*state.hidden],
    }


class ChangeShape(TypedDict):
    """The result of a change; policy may have chosen another `path` than the one `asked` for.

    `existed` is True if the note was there before.
    """

    verb: Verb
    path: str
    asked: str
    commit: str | None
    version: str | None
    changed: bool
    difference: str | None
    repointed: list[str]
    left: list[str]
    existed: bool


def change_shape(change: Changed) -> ChangeShape:
    """The result of changing a note."""
    return {
        "verb": change.verb,
        "path": change.path,
        "asked": change.asked,
        "commit": change.commit,
        "version": change.version,
        "changed": change.changed,
        "difference": change.difference,
        "repointed": [*change.repointed],
        "left": [*change.left],
        "existed": change.existed,
    }


class ThreadShape(TypedDict):
    """A conversation without its messages.

    `captured`: it was read in the program's own transcript; of any other, who spoke is what the caller says. `kind` is
    chat, task or correction, `parent` the conversation of a correction, `memory` what it is used for.
    """

    id: str
    interface: str
    source_id: str
    title: str
    project: str
    trust: Trust
    captured: bool
    started: str
    updated: str
    recorded: str
    closed: str
    turns: int
    kind: ThreadKind
    parent: str
    memory: MemoryUse


def thread_shape(thread: Thread) -> ThreadShape:
    """A conversation without its messages."""
    return {
        "id": thread.id,
        "interface": thread.interface,
        "source_id": thread.source_id,
        "title": thread.title,
        "project": thread.project,
        "trust": thread.trust,
        "captured": thread.captured,
        "started": time_text(thread.started),
        "updated": time_text(thread.updated),
        "recorded": time_text(thread.recorded),
        "closed": time_text(thread.closed),
        "turns": thread.count,
        "kind": thread.kind,
        "parent": thread.parent,
        "memory": thread.memory,
    }


class MessageShape(TypedDict):
    """One turn of a conversation."""

    turn: int
    role: Role
    author: str
    at: str
    id: str
    text: str


def message_shape(turn: int, message: Message) -> MessageShape:
    """One turn of a conversation."""
    return {
        "turn": turn,
        "role": message.role,
        "author": message.author,
        "at": time_text(message.at),
        "id": message.source_id,
        "text": message.text,
    }


class ErrorShape(TypedDict):
    """What happened, to what, and what to do about it."""

    type: str
    reason: Reason
    message: str
    hint: NotRequired[str]
    path: NotRequired[str]
    expected: NotRequired[str]
    found: NotRequired[str]


def time_text(at: datetime | None) -> str:
    """A moment as text in UTC; empty for None."""
    return moment_text(at) if at else ""
