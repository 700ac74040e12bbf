"""What stands before prompts as it is: the person's own memory, what is always loaded, a channel's, and dated notes."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from commonplace.errors import NotFound
from commonplace.facts.entry import fact_of
from commonplace.facts.routes import ALWAYS_LOAD as LOADED
from commonplace.facts.routes import MEMORY, folder_of
from commonplace.facts.validity import state_of
from commonplace.flows.keeper import Keeper
from commonplace.flows.prompted import Found, withheld
from commonplace.flows.read import list_notes, read_note, standing
from commonplace.index.base import FactQuery
from commonplace.model import ContextSection, Fact, Known, LeftOut, Note, Piece
from commonplace.policy.sensitivity import is_sensitive
from commonplace.policy.spaces import place_of
from commonplace.recalling.standing import ALWAYS_LOAD, DATED, USER, channel_folder, newest_dated
from commonplace.recalling.worth import title_beside, without_own_heading

_LOADED: Final = "always loaded"


@dataclass(frozen=True, slots=True)
class Standing:
    """Which of them are wanted: the channel, if any, and how many dated notes."""

    channel: str
    dated_days: int


def standing_pieces(wanted: Standing, keeper: Keeper) -> tuple[Found, ...]:
    """What lies in the folders for it, read as it is: no index is asked. Raises VaultUnavailable."""
    loaded = [*_notes_in(ALWAYS_LOAD, keeper), *_notes_in(f"{MEMORY}/{LOADED}", keeper)]
    return (
        *_note(USER, keeper, section="user", why="the person's own memory", is_pinned=True),
        *(found for path in loaded for found in _note(path, keeper, section="user", why=_LOADED)),
        *_dated(DATED, wanted, keeper),
        *(_of_channel(channel_folder(wanted.channel), wanted, keeper) if wanted.channel else ()),
    )


def _of_channel(folder: str, wanted: Standing, keeper: Keeper) -> Iterator[Found]:
    yield from _note(f"{folder}/CHANNEL.md", keeper, section="channel", why="the channel's memory", is_pinned=True)
    yield from _dated(f"{folder}/memories", wanted, keeper)


def marked_pieces(keeper: Keeper) -> tuple[Found, ...]:
    """Entries that say of themselves that they are always loaded, though they lie elsewhere. Raises IndexDamaged."""
    with keeper.shelf().index.reading() as reading:
        marked = reading.facts(FactQuery(always_load=True, statuses=("active",), sensitive=False))
    paths = [known.fact.path for known in marked if folder_of(known.fact.path) != LOADED]
    return tuple(found for path in paths for found in _note(path, keeper, section="user", why=_LOADED))


def _dated(folder: str, wanted: Standing, keeper: Keeper) -> Iterator[Found]:
    today = keeper.now[:10]
    for path in newest_dated(_notes_in(folder, keeper), today=today, most=wanted.dated_days):
        yield from _note(path, keeper, section="dated", why="one of the newest dated notes")


def _notes_in(folder: str, keeper: Keeper) -> list[str]:
    desk = keeper.desk
    try:
        return [stat.path for stat in list_notes(folder, desk.vault, skip=desk.ignored, recursive=False)]
    except NotFound:
        return []


def _note(path: str, keeper: Keeper, *, section: ContextSection, why: str, is_pinned: bool = False) -> Iterator[Found]:
    """The note as a piece; nothing where it is not there or says nothing, and of a sensitive one only that it is."""
    desk = keeper.desk
    if standing(path, desk.vault) is None:  # an error would look through all notes for one of a like name
        return
    try:
        note = read_note(path, desk.vault, skip=desk.ignored)
    except NotFound:
        return
    if is_sensitive(note, desk.safety):
        yield withheld(path, section)
        return
    fact, _ = fact_of(note, place=place_of(path), sensitive=False, rules=keeper.rules)
    state = state_of(Known(fact, None), at=keeper.now) if fact else "current"
    if state != "current":
        yield LeftOut(section, path, "over", f"it is {state}")
    elif text := without_own_heading(note.body.strip(), path=path):
        yield Piece(
            section=section,
            key=fact.id if fact else path,
            document=path,
            source=path,
            text=text,
            why=why,
            title="" if fact else title_beside(path, [note.title]),
            kind=fact.kind if fact else "",
            score=_score(note, section, fact),
            day=path.rpartition("/")[2][:10] if section == "dated" else "",
            is_pinned=is_pinned,
            fact=fact.id if fact else "",
        )


def _score(note: Note, section: ContextSection, fact: Fact | None) -> float:
    """Dated notes by their day, the newest first; others by importance, what the person wrote before all."""
    if section == "dated":
        return float(note.path.rpartition("/")[2][:10].replace("-", ""))
    return fact.importance if fact else 1.0
