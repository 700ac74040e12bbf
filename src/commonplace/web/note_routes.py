"""Notes: read, list, links; write, delete and move by the safe protocol."""

from dataclasses import replace
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Header, Query, Response
from pydantic import Field

from commonplace.memory import shapes
from commonplace.model import Terms
from commonplace.web.asked import NO_QUERY, Asked, such_as
from commonplace.web.fields import Line, Named, NotePath, NoteText, Word
from commonplace.web.gate import Reader, Writer
from commonplace.web.note_answers import ChangeAnswer, LinksAnswer, NoteAnswer, NotesAnswer

router = APIRouter(tags=["notes"])


class NotesQuery(Asked):
    """Which notes."""

    folder: Line = ""
    recursive: bool = True


class LinksQuery(Asked):
    """Of which note."""

    path: Named


class WriteBody(Asked):
    """A note: its keys win, keys it leaves out survive."""

    model_config = such_as(text="# An idea\n\nWater the beds at night.\n", message="an idea")

    text: NoteText
    message: Line | None = Field(None, description="Why; the message of the commit.")
    dry_run: bool = False


class MoveBody(Asked):
    """Where the note is to be."""

    model_config = such_as(to="Projects/Idea.md")

    to: Named
    message: Line | None = None
    dry_run: bool = False


class DeleteQuery(Asked):
    """Why, and whether in earnest."""

    message: Line | None = None
    dry_run: bool = False


def _conditions(
    if_match: Annotated[
        Word | None, Header(description="Only over this version, as a read or a list of changes told it; or `absent`.")
    ] = None,
    commonplace_grant: Annotated[
        Word | None, Header(description="A token that a person gave for this one change: `commonplace grant PATH`.")
    ] = None,
) -> Terms:
    """On which terms a note may be changed."""
    expected = if_match.strip().removeprefix("W/").strip('"') if if_match else None
    return Terms(expected=expected or None, grant=commonplace_grant or None)


Conditions = Annotated[Terms, Depends(_conditions)]


@router.get("/notes", operation_id="list_notes", summary="List notes", response_model=NotesAnswer)
def list_notes(asked: Annotated[NotesQuery, Query()], memory: Reader) -> Any:
    """The notes below a folder, without the ignored ones."""
    found = memory.notes.list(asked.folder, recursive=asked.recursive)
    return {"ok": True, "count": len(found), "notes": [shapes.stat_shape(each) for each in found]}


@router.get("/links", operation_id="note_links", summary="Where links lead", response_model=LinksAnswer)
def note_links(asked: Annotated[LinksQuery, Query()], memory: Reader) -> Any:
    """Every link of a note, and the path it leads to."""
    found = memory.notes.links(asked.path)
    return {"ok": True, "path": asked.path, "count": len(found), "links": [shapes.link_shape(each) for each in found]}


@router.get(
    "/notes/{path:path}",
    operation_id="read_note",
    summary="Read a note",
    response_model=NoteAnswer,
    dependencies=[NO_QUERY],
)
def read_note(path: NotePath, memory: Reader, response: Response) -> Any:
    """A note, taken apart. A sensitive one is refused. The `ETag` is its version."""
    note = memory.notes.read(path)
    response.headers["ETag"] = f'"{note.version}"'
    return {"ok": True, **shapes.note_shape(note, sensitive=memory.notes.is_sensitive(note))}


@router.put(
    "/notes/{path:path}",
    operation_id="write_note",
    summary="Write a note",
    response_model=ChangeAnswer,
    dependencies=[NO_QUERY],
)
def write_note(path: NotePath, asked: WriteBody, on: Conditions, memory: Writer) -> Any:
    """Create the note, or lay the text over it: its keys win, keys it leaves out survive. One commit, undoable."""
    terms = replace(on, message=asked.message, dry_run=asked.dry_run)
    return {"ok": True, "change": memory.notes.write(path, asked.text, terms)}


@router.delete("/notes/{path:path}", operation_id="delete_note", summary="Delete a note", response_model=ChangeAnswer)
def delete_note(path: NotePath, asked: Annotated[DeleteQuery, Query()], on: Conditions, memory: Writer) -> Any:
    """Remove the note; git keeps it, and undo brings it back."""
    terms = replace(on, message=asked.message, dry_run=asked.dry_run)
    return {"ok": True, "change": memory.notes.delete(path, terms)}


@router.post(
    "/notes/{path:path}/move",
    operation_id="move_note",
    summary="Move a note",
    response_model=ChangeAnswer,
    dependencies=[NO_QUERY],
)
def move_note(path: NotePath, asked: MoveBody, on: Conditions, memory: Writer) -> Any:
    """Give the note another path; the links to it follow, in the same commit."""
    terms = replace(on, message=asked.message, dry_run=asked.dry_run)
    return {"ok": True, "change": memory.notes.move(path, asked.to, terms)}
