"""The page of a note: its text, its properties, where its links lead, and its history. And the list of all notes."""

from urllib.parse import urlencode

from fastapi import APIRouter, Request, Response

from commonplace.errors import CommonplaceError
from commonplace.memory import Memory
from commonplace.memory.notes import AuditEntry
from commonplace.model import Note, ResolvedLink, Stat
from commonplace.web.page.note_html import note_html
from commonplace.web.page.view import NavigationEntry, PageMemory, paged, redirect, render

ENTRY = NavigationEntry("Notes", "/notes", group="know", key="n")
_MOST_CHANGES = 20

router = APIRouter()


@router.get("/notes")
def show_notes(request: Request, memory: PageMemory, folder: str = "", page: int = 1) -> Response:
    """The notes of a folder, and the folders in it."""
    notes = memory.notes.list(folder)
    prefix = f"{folder.strip('/')}/" if folder.strip("/") else ""
    inside = [(note, note.path.removeprefix(prefix)) for note in notes]
    folders = sorted({rest.split("/")[0] for _, rest in inside if "/" in rest})
    here: list[Stat] = [note for note, rest in inside if "/" not in rest]
    return render(
        request,
        "notes.html",
        title=folder.strip("/") or "Notes",
        folder=folder.strip("/"),
        folders=[(name, f"{prefix}{name}") for name in folders],
        notes=paged(sorted(here, key=lambda note: note.path), page),
        total=len(notes),
    )


@router.get("/notes/{path:path}")
def show_note(request: Request, memory: PageMemory, path: str) -> Response:
    """A note; for the path of a folder, the list of its notes."""
    if not path.endswith(".md"):
        return redirect(request, f"/notes?{urlencode({'folder': path.strip('/')})}")
    note = memory.notes.read(path)
    links = memory.notes.links(note.path)
    targets = {each.link.target: each.path for each in links}
    return render(
        request,
        "note.html",
        title=note.title,
        note=note,
        html=note_html(_body(note), targets.get),
        links=_distinct(links),
        linking=_linking(memory, note.path),
        changes=_changes(memory, note.path),
        obsidian=memory.notes.link(note.path),
        is_sensitive=memory.notes.is_sensitive(note),
    )


def _body(note: Note) -> str:
    """The text below the frontmatter, without a first heading that only repeats the title of the page."""
    body = note.body.lstrip("\n")
    first, _, rest = body.partition("\n")
    return rest if first.removeprefix("# ").strip() == note.title and first.startswith("# ") else body


def _distinct(links: tuple[ResolvedLink, ...]) -> list[ResolvedLink]:
    """Each target once, those that exist first."""
    seen = {each.path or each.link.target: each for each in reversed(links) if each.link.target}
    return sorted(seen.values(), key=lambda each: (each.path is None, (each.path or each.link.target).lower()))


def _linking(memory: Memory, path: str) -> list[str]:
    """The paths of the notes that link to this one; none if it is not indexed yet."""
    try:
        edges = memory.facts.links(path)
    except CommonplaceError:
        return []
    return sorted({each.source for each in edges if each.path == path and each.source.endswith(".md")} - {path})


def _changes(memory: Memory, path: str) -> list[AuditEntry]:
    """What was done to the note through Commonplace, newest first; nothing if the vault keeps no history."""
    try:
        return [*memory.notes.log(path=path, limit=_MOST_CHANGES)]
    except CommonplaceError:
        return []
