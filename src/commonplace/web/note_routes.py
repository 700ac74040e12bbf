"""Notes: read, list, links; write, delete and move by the safe protocol. Changes: the log, and undo."""

from dataclasses import replace
from typing import Annotated

from fastapi import APIRouter, Depends, Header, Query, Response
from pydantic import Field

from commonplace.memory import shapes
from commonplace.memory.notes import AuditEntry
from commonplace.model import Stat, Terms
from commonplace.web.access import Reader, Writer
from commonplace.web.schemas import (
    INTEGER,
    NO_QUERY,
    Line,
    NotePath,
    NoteText,
    OkResponse,
    RequestModel,
    RequiredLine,
    Word,
    body_config,
    declared_only,
)

note_router = APIRouter(tags=["notes"])
change_router = APIRouter(tags=["changes"])


class NotesQuery(RequestModel):
    """The folder whose notes are listed."""

    folder: Line = ""
    recursive: bool = True


class LinksQuery(RequestModel):
    """The note whose links are listed."""

    path: RequiredLine


class WriteBody(RequestModel):
    """A note. Its frontmatter keys win; existing keys that it leaves out are kept."""

    model_config = body_config(text="# An idea\n\nWater the beds at night.\n", message="an idea")

    text: NoteText
    message: Line | None = Field(None, description="Why; the message of the commit.")
    dry_run: bool = False


class MoveBody(RequestModel):
    """The new path of the note."""

    model_config = body_config(to="Projects/Idea.md")

    to: RequiredLine
    message: Line | None = None
    dry_run: bool = False


class DeleteQuery(RequestModel):
    """The reason, and whether this is a dry run."""

    message: Line | None = None
    dry_run: bool = False


@declared_only
class NotesResponse(OkResponse):
    """Notes, by path."""

    count: int
    notes: list[Stat]


@declared_only
class LinksResponse(OkResponse):
    """Every link of a note."""

    path: str
    count: int
    links: list[shapes.LinkShape]


@declared_only
class NoteResponse(OkResponse, shapes.NoteShape):
    """A note, parsed; `version` is what `If-Match` takes."""


@declared_only
class ChangeResponse(OkResponse):
    """The result of changing a note."""

    change: shapes.ChangeShape


def _conditions(
    if_match: Annotated[
        Word | None, Header(description="Write only over this version, from a read or an earlier change; or `absent`.")
    ] = None,
    commonplace_grant: Annotated[
        Word | None, Header(description="A token that a person gave for this one change: `commonplace grant PATH`.")
    ] = None,
) -> Terms:
    """The terms on which a note may be changed."""
    expected = if_match.strip().removeprefix("W/").strip('"') if if_match else None
    return Terms(expected=expected or None, grant=commonplace_grant or None)


Conditions = Annotated[Terms, Depends(_conditions)]


@note_router.get("/notes", operation_id="list_notes", summary="List notes")
def list_notes(query: Annotated[NotesQuery, Query()], memory: Reader) -> NotesResponse:
    """The notes below a folder, without the ignored ones."""
    stats = memory.notes.list(query.folder, recursive=query.recursive)
    return {"ok": True, "count": len(stats), "notes": [*stats]}


@note_router.get("/links", operation_id="note_links", summary="List the links of a note")
def note_links(query: Annotated[LinksQuery, Query()], memory: Reader) -> LinksResponse:
    """Every link of a note, and the path it leads to."""
    links = memory.notes.links(query.path)
    return {"ok": True, "path": query.path, "count": len(links), "links": [shapes.link_shape(each) for each in links]}


@note_router.get("/notes/{path:path}", operation_id="read_note", summary="Read a note", dependencies=[NO_QUERY])
def read_note(path: NotePath, memory: Reader, response: Response) -> NoteResponse:
    """A note, parsed. A sensitive one is refused. The `ETag` is its version."""
    note = memory.notes.read(path)
    response.headers["ETag"] = f'"{note.version}"'
    sensitive, link = memory.notes.is_sensitive(note), memory.notes.link(note.path)
    return {"ok": True, **shapes.note_shape(note, sensitive=sensitive, link=link)}


@note_router.put("/notes/{path:path}", operation_id="write_note", summary="Write a note", dependencies=[NO_QUERY])
def write_note(path: NotePath, body: WriteBody, conditions: Conditions, memory: Writer) -> ChangeResponse:
    """Create or replace the note in one commit. Existing frontmatter keys that it leaves out are kept."""
    terms = replace(conditions, message=body.message, dry_run=body.dry_run)
    return {"ok": True, "change": shapes.change_shape(memory.notes.write(path, body.text, terms))}


@note_router.delete("/notes/{path:path}", operation_id="delete_note", summary="Delete a note")
def delete_note(
    path: NotePath, query: Annotated[DeleteQuery, Query()], conditions: Conditions, memory: Writer
) -> ChangeResponse:
    """Remove the note; git keeps it, and undo brings it back."""
    terms = replace(conditions, message=query.message, dry_run=query.dry_run)
    return {"ok": True, "change": shapes.change_shape(memory.notes.delete(path, terms))}


@note_router.post("/notes/{path:path}/move", operation_id="move_note", summary="Move a note", dependencies=[NO_QUERY])
def move_note(path: NotePath, body: MoveBody, conditions: Conditions, memory: Writer) -> ChangeResponse:
    """Move the note to another path; links to it are updated in the same commit."""
    terms = replace(conditions, message=body.message, dry_run=body.dry_run)
    return {"ok": True, "change": shapes.change_shape(memory.notes.move(path, body.to, terms))}


class UndoBody(RequestModel):
    """The number of newest changes to undo, or the one to undo."""

    model_config = body_config(count=1)

    count: Annotated[int, Field(ge=1, le=100), INTEGER] = 1
    commit: Annotated[str, Field(pattern=r"^[0-9a-fA-F]{4,64}$")] | None = None
    dry_run: bool = False


class LogQuery(RequestModel):
    """Filters for changes, which come newest first."""

    path: Line | None = None
    limit: int = Field(20, ge=1, le=1_000)


@declared_only
class UndoneResponse(OkResponse):
    """The changes that were undone."""

    undone: list[shapes.ChangeShape]


@declared_only
class LogResponse(OkResponse):
    """Changes made through Commonplace, newest first."""

    entries: list[AuditEntry]


@change_router.post("/undo", operation_id="undo", summary="Undo changes", dependencies=[NO_QUERY])
def undo(body: UndoBody, memory: Writer) -> UndoneResponse:
    """Undo the newest changes made through Commonplace, or the given one; what people wrote since stays."""
    undone = memory.notes.undo(body.count, commit=body.commit, terms=Terms(dry_run=body.dry_run))
    return {"ok": True, "undone": [shapes.change_shape(each) for each in undone]}


@change_router.get("/log", operation_id="log", summary="List changes")
def log(query: Annotated[LogQuery, Query()], memory: Reader) -> LogResponse:
    """Changes made through Commonplace, by whom and why; newest first."""
    return {"ok": True, "entries": [*memory.notes.log(path=query.path, limit=query.limit)]}
