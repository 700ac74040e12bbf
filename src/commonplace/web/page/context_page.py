"""The page of a prompt: what an agent would be given before it, and why the rest is left out."""

import re
from textwrap import shorten
from typing import Final, NamedTuple
from urllib.parse import quote

from fastapi import APIRouter, Request, Response

from commonplace.errors import CommonplaceError
from commonplace.memory import Memory
from commonplace.model import Actor
from commonplace.model.context import Context, OmittedPiece, Piece
from commonplace.web.page.view import NavigationEntry, PageMemory, note_path, render, without_links

ENTRY: Final = NavigationEntry("Context", "/context", group="told", key="x")
_AGENT: Final = Actor("agent", "page preview")
_MOST_OF_TEXT: Final = 100  # characters of a piece that name it
_MOST_READ: Final = 40  # pieces that were left out whose words are looked up
_ENTRY_ID: Final = re.compile(r"[0-9a-f]{6,16}", re.ASCII)
_IN_NOTE: Final = re.compile(r"(.+\.md)(?::\d+)?")
router = APIRouter()


class NamedSource(NamedTuple):
    """What a piece of a context is called, and the address of its page; empty if it has none."""

    name: str
    address: str = ""


@router.get("/context")
def show_context(request: Request, memory: PageMemory, prompt: str = "", session: str = "") -> Response:
    """What an agent would get for this prompt, or with `session` at the start of a session. Nothing is recorded."""
    agent = memory.acting(_AGENT)
    context = None
    if session:
        context = agent.context.start(peek=True, within=None)
    elif prompt.strip():
        context = agent.context(prompt, peek=True, profile=False, within=None)
    return render(
        request,
        "context.html",
        title="Context",
        prompt=prompt,
        is_session=bool(session),
        context=context,
        included=[(each, _shown_piece(each.piece)) for each in context.included] if context else (),
        left_out=_left_out(memory, context) if context else (),
    )


def _shown_piece(piece: Piece) -> NamedSource:
    """A piece of the context by the title of its note or by its words, and where it leads."""
    words = shorten(without_links(piece.text), _MOST_OF_TEXT, placeholder=" …")
    in_note = note_path(piece.document) if piece.document.endswith(".md") else ""
    address = f"/facts/{quote(piece.fact, safe='')}" if piece.fact else in_note
    return NamedSource(piece.title or words or piece.source, address)


def _left_out(memory: Memory, context: Context) -> list[tuple[OmittedPiece, NamedSource]]:
    """What was left out, each with its words where it is a memory; of very many the later ones by their ids alone."""
    pieces = context.left_out
    return [(each, _named_source(memory, each.source, is_read=at < _MOST_READ)) for at, each in enumerate(pieces)]


def _named_source(memory: Memory, source: str, *, is_read: bool) -> NamedSource:
    if is_read and _ENTRY_ID.fullmatch(source):
        try:
            fact = memory.entries.show(source).fact
        except CommonplaceError:  # it was erased meanwhile, or two have these digits
            return NamedSource(source)
        words = shorten(fact.text, _MOST_OF_TEXT, placeholder=" …")
        return NamedSource(words, f"/facts/{quote(fact.id, safe='')}")
    in_note = _IN_NOTE.fullmatch(source)
    return NamedSource(source, note_path(in_note[1])) if in_note else NamedSource(source or "everything")
