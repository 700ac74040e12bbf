"""Notes that are loaded as they are: the person's own memory, always-loaded notes, a channel's, and dated notes."""

from collections.abc import Iterator
from typing import Final

from commonplace.context.selection import passage_title, strip_own_heading
from commonplace.errors import NotFound
from commonplace.facts.entry_format import read_entry
from commonplace.facts.validity import state_of
from commonplace.flows.context.facts import PieceOrOmission, withheld_note
from commonplace.flows.read import list_notes, read_note, stat_or_none
from commonplace.flows.stores import Session
from commonplace.index.base import FactQuery
from commonplace.model import Fact, FactRecord, Note
from commonplace.model.context import ContextSection, OmittedPiece, Piece
from commonplace.model.layout import (
    ALWAYS_LOAD,
    ALWAYS_LOAD_FOLDER,
    DATED_NOTES,
    MEMORY,
    USER_NOTE,
    channel_folder,
    folder_of,
    newest_dated,
    place_of,
)
from commonplace.policy.sensitivity import is_sensitive

_LOADED: Final = "always loaded"


def note_pieces(session: Session, *, channel: str) -> tuple[PieceOrOmission, ...]:
    """The notes in the folders for it, with those of the channel, if any; reads no index. Raises VaultUnavailable."""
    loaded = [*_notes_in(ALWAYS_LOAD, session), *_notes_in(f"{MEMORY}/{ALWAYS_LOAD_FOLDER}", session)]
    return (
        *_pieces(USER_NOTE, session, section="user", why="the person's own memory", is_pinned=True),
        *(piece for path in loaded for piece in _pieces(path, session, section="user", why=_LOADED)),
        *_dated_pieces(DATED_NOTES, session),
        *(_channel_pieces(channel_folder(channel), session) if channel else ()),
    )


def marked_entry_pieces(session: Session) -> tuple[PieceOrOmission, ...]:
    """The entries in other folders whose frontmatter says that they are always loaded. Raises IndexDamaged."""
    with session.stores.index.reader() as reader:
        marked = reader.facts(FactQuery(always_load=True, statuses=("active",), sensitive=False))
    paths = [record.fact.path for record in marked if folder_of(record.fact.path) != ALWAYS_LOAD_FOLDER]
    return tuple(piece for path in paths for piece in _pieces(path, session, section="user", why=_LOADED))


def _channel_pieces(folder: str, session: Session) -> Iterator[PieceOrOmission]:
    yield from _pieces(f"{folder}/CHANNEL.md", session, section="channel", why="the channel's memory", is_pinned=True)
    yield from _dated_pieces(f"{folder}/memories", session)


def _dated_pieces(folder: str, session: Session) -> Iterator[PieceOrOmission]:
    today, limit = session.now[:10], session.stores.context.dated_days
    for path in newest_dated(_notes_in(folder, session), today=today, limit=limit):
        yield from _pieces(path, session, section="dated", why="one of the newest dated notes")


def _notes_in(folder: str, session: Session) -> list[str]:
    stores = session.stores
    try:
        return [stat.path for stat in list_notes(folder, stores.vault, skip=stores.ignored, recursive=False)]
    except NotFound:
        return []


def _pieces(
    path: str, session: Session, *, section: ContextSection, why: str, is_pinned: bool = False
) -> Iterator[PieceOrOmission]:
    """The note as a piece; nothing if it is missing or empty, and only an omission if it is sensitive or over."""
    stores = session.stores
    if stat_or_none(path, stores.vault) is None:  # NotFound would search all notes for a similar name
        return
    try:
        note = read_note(path, stores.vault, skip=stores.ignored)
    except NotFound:
        return
    if is_sensitive(note, stores.safety):
        yield withheld_note(path, section)
        return
    fact, _ = read_entry(note, place=place_of(path), sensitive=False, rules=stores.rules)
    state = state_of(FactRecord(fact, None), at=session.now) if fact else "current"
    if state != "current":
        yield OmittedPiece(section, path, "over", f"it is {state}")
    elif text := strip_own_heading(note.body.strip(), path=path):
        yield Piece(
            section=section,
            key=fact.id if fact else path,
            document=path,
            source=path,
            text=text,
            why=why,
            title="" if fact else passage_title(path, [note.title]),
            kind=fact.kind if fact else "",
            score=_score(note, section, fact),
            day=path.rpartition("/")[2][:10] if section == "dated" else "",
            is_pinned=is_pinned,
            fact=fact.id if fact else "",
        )


def _score(note: Note, section: ContextSection, fact: Fact | None) -> float:
    """Dated notes by day, the newest first; others by importance, the person's own notes first."""
    if section == "dated":
        return float(note.path.rpartition("/")[2][:10].replace("-", ""))
    return fact.importance if fact else 1.0
