"""The tools on notes: read, write, list; and undo of the last change. A long note is read in parts."""

from typing import Annotated, Any, Final, NamedTuple, NotRequired

from fastmcp.tools import Tool
from pydantic import Field
from typing_extensions import TypedDict  # pydantic rejects typing.TypedDict before Python 3.12

from commonplace.errors import NotFound, UsageError
from commonplace.mcp_server import answers
from commonplace.mcp_server.arguments import Folder, NotePath, Rows, Word
from commonplace.mcp_server.caller import CurrentCall
from commonplace.mcp_server.tool import CHANGES, READS, TAKES_BACK, tool
from commonplace.memory import shapes
from commonplace.memory.notes import Notes
from commonplace.model import Note, Stat, Terms
from commonplace.model.untrusted_text import path_of_label

MAX_CONTENT: Final = 24_000
"""Characters of a note in one answer. Hosts truncate longer ones themselves, without saying how to read on."""


class NotePart(TypedDict):
    """A note, one of its sections, or a part of either; `next_line` is where to read on."""

    path: str
    title: str
    frontmatter: dict[str, Any]
    tags: list[str]
    version: str
    size: int
    mtime: float
    section: str
    content: str
    first_line: int
    is_cut: bool
    next_line: int | None
    headings: list[str]
    links: NotRequired[list[shapes.LinkShape]]


class NoteList(TypedDict):
    """Notes by path; `more` if there are others beyond the limit."""

    folder: str
    count: int
    total: int
    more: bool
    notes: list[Stat]


class NoteTools:
    """The notes of the vault, as far as an agent may read and write them."""

    def __init__(self, call: CurrentCall) -> None:
        self._call = call

    def read(
        self,
        path: NotePath,
        *,
        section: Annotated[Word, Field(description="Only this heading and all below; `A > B`.")] = "",
        first_line: Annotated[int, Field(description="Read on from there, after a cut.", ge=1)] = 1,
        links: Annotated[bool, Field(description="Add where each link leads.")] = False,
    ) -> NotePart:
        """The note or the section; a long one is truncated and says how to read on."""
        notes = self._call.memory().notes
        note = _read(notes, path)
        text, name, line = note.body, "", note.body_line
        if section.strip():
            part = notes.section(note.path, section)
            text, name, line = part.text, " > ".join(part.path), part.line
        last = max(line, line + len(text.splitlines()) - 1)
        if first_line > last:
            where = f"the section {name!r} of {note.path}" if name else note.path
            raise UsageError(f"{where} ends at line {last}", hint="Give a smaller `first_line`, or leave it out.")
        content, next_line = truncate(text, line=line, first_line=first_line)
        read: NotePart = {
            "path": note.path,
            "title": note.title,
            "frontmatter": dict(note.frontmatter),
            "tags": [*note.tags],
            "version": note.version,
            "size": note.size,
            "mtime": note.mtime,
            "section": name,
            "content": content,
            "first_line": max(line, first_line),
            "is_cut": next_line is not None,
            "next_line": next_line,
            "headings": [heading.text for heading in note.headings],
        }
        if links:
            read["links"] = [shapes.link_shape(each) for each in notes.links(note.path)]
        return read

    def write(
        self,
        path: NotePath,
        text: Annotated[str, Field(description="The whole note in Markdown.")],
        *,
        expected: Annotated[Word, Field(description="The version you read; `absent` for a new note.")] = "",
        grant: Annotated[Word, Field(description="The person's token for this note.")] = "",
        message: Annotated[str, Field(description="Why, for the history.", max_length=500)] = "",
    ) -> shapes.ChangeShape:
        """The result of the change, with the path that policy chose."""
        terms = Terms(message=message or None, expected=expected or None, grant=grant or None)
        return shapes.change_shape(self._call.memory().notes.write(path, text, terms))

    def list(
        self,
        folder: Annotated[Folder, Field(description="Only below it.")] = "",
        *,
        limit: Rows = 100,
    ) -> NoteList:
        """The first notes by path, up to `limit`, and whether there are more."""
        stats = self._call.memory().notes.list(folder)
        rows = [*stats[:limit]]
        return {
            "folder": folder,
            "count": len(rows),
            "total": len(stats),
            "more": len(stats) > limit,
            "notes": rows,
        }

    def undo(self) -> shapes.ChangeShape:
        """The result of undoing the caller's own newest change."""
        return shapes.change_shape(self._call.memory().notes.undo()[0])


def _read(notes: Notes, path: str) -> Note:
    """The note at a path as given, or as the source of a passage shows it, whose brackets are encoded."""
    try:
        return notes.read(path)
    except NotFound:
        if (decoded := path_of_label(path)) == path:
            raise
        return notes.read(decoded)


class TextPart(NamedTuple):
    """Some lines of a text, and the line at which the rest begins; None if there is no rest."""

    text: str
    next_line: int | None


def truncate(text: str, *, line: int, first_line: int = 1, limit: int = MAX_CONTENT) -> TextPart:
    """The text from `first_line` on, as many whole lines as fit; `line` is the number of its first line.

    A line that does not fit by itself is cut within. Truncated text ends with a marker that names the next line.
    """
    lines = text.splitlines(keepends=True)[max(0, first_line - line) :]
    start, taken, size = max(line, first_line), 0, 0
    while taken < len(lines) and size + len(lines[taken]) <= limit:
        size += len(lines[taken])
        taken += 1
    if taken == len(lines):
        return TextPart("".join(lines), None)
    taken = max(taken, 1)
    shown, next_line = "".join(lines[:taken])[:limit], start + taken
    if taken == len(lines):
        return TextPart(f"{shown}\n[cut: the rest of this line is left out]", None)
    marker = f"[cut: {len(lines) - taken} more lines; read on with first_line={next_line}, or one heading by section]"
    return TextPart(f"{shown.rstrip()}\n{marker}", next_line)


def note_tools(call: CurrentCall) -> list[Tool]:
    """note_read, note_write, note_list and undo_last."""
    tools = NoteTools(call)
    return [
        tool(
            "note_read",
            tools.read,
            title="Read a note",
            description="Read a note of the vault or one section, with the version that note_write expects. A long "
            "note is cut, and the answer says how to read on.",
            hints=READS,
            text=answers.note_text,
        ),
        tool(
            "note_write",
            tools.write,
            title="Write a note",
            description="Create or replace a note in the folders that agents may write to; properties that you leave "
            "out survive. Any other note needs the person's grant. The answer has the path that policy chose.",
            hints=CHANGES,
            text=answers.change_text,
        ),
        tool(
            "note_list",
            tools.list,
            title="List notes",
            description="List the paths of the notes in the vault or below a folder.",
            hints=READS,
            text=answers.list_text,
        ),
        tool(
            "undo_last",
            tools.undo,
            title="Undo your last change",
            description="Undo the last memory or note that you yourself saved, wrote or forgot.",
            hints=TAKES_BACK,
            text=answers.change_text,
        ),
    ]
