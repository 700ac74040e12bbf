"""Notes and passages for a context.

Loaded as they are: the person's own memory, always-loaded notes, a channel's, and dated notes. Found by search:
passages from notes, conversations and entries, and playbooks (how to do a thing).
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from commonplace.context.options import NOTE_KIND, Phase
from commonplace.context.selection import (
    holds_only_links,
    is_off_topic,
    passage_threshold,
    passage_title,
    playbook_applies,
    strip_own_heading,
)
from commonplace.errors import NotFound
from commonplace.facts.entry_format import read_entry
from commonplace.facts.entry_paths import PLAYBOOK_KINDS, note_kind
from commonplace.facts.validity import state_of
from commonplace.flows.context.facts import PieceOrOmission, with_topic_boost, withheld_note
from commonplace.flows.memory.facts import doubts_of, fact_snapshots
from commonplace.flows.read import list_notes, read_note, stat_or_none
from commonplace.flows.search.search import SearchQuery, search
from commonplace.flows.stores import Session
from commonplace.index.base import FactQuery
from commonplace.model import Answer, Fact, FactRecord, FactSnapshot, Filters, Hit, Note
from commonplace.model.context import ContextSection, OmittedPiece, Piece
from commonplace.model.layout import (
    ALWAYS_LOAD,
    ALWAYS_LOAD_FOLDER,
    DATED_NOTES,
    MEMORY,
    USER_NOTE,
    channel_folder,
    folder_of,
    is_recallable,
    newest_dated,
    place_of,
)
from commonplace.policy.sensitivity import is_sensitive
from commonplace.questions.question import has_nothing_to_search, query_of_prompt
from commonplace.screening.junk import courtesy_reason

_SPARE: Final = 10  # extra hits, for those that are left out
_DAY: Final = re.compile(r"\d{4}-(?:\d{2}-\d{2}|W\d{2})")


@dataclass(frozen=True, slots=True)
class PassageRequest:
    """A prompt, and what narrows or ranks its passages: requested kinds, phase of work, channel and topics."""

    prompt: str
    kinds: tuple[str, ...]
    phase: Phase | None
    channel: str
    topics: tuple[str, ...]


def passage_pieces(request: PassageRequest, session: Session) -> tuple[tuple[PieceOrOmission, ...], Answer]:
    """The passages that fit the prompt, and the answer of the search for them. Raises IndexDamaged."""
    if reason := _asks_nothing(request.prompt):
        answer = Answer(request.prompt, "hybrid", searched=False, hits=(), took_ms=0.0, empty=reason)
        return (OmittedPiece("recalled", "", "unsure", reason),), answer
    options = session.stores.context
    kinds = request.kinds or (request.phase.kinds if request.phase else ())
    entry_kinds = tuple(kind for kind in kinds if kind != NOTE_KIND)
    answers = [_search(request.prompt, session, kinds=entry_kinds, most=options.recalled)] if entry_kinds else []
    if not kinds or NOTE_KIND in kinds:
        answers.append(_search(request.prompt, session, kinds=(), most=options.recalled))
    hits = {hit.chunk_id: hit for answer in reversed(answers) for hit in answer.hits}
    apart = PLAYBOOK_KINDS if options.playbooks else ()
    others = [hit for hit in hits.values() if _kind_of(hit) not in apart]
    in_scope = [hit for hit in others if not kinds or _kind_of(hit) in kinds]
    pieces = [*_passage_pieces(in_scope, request, session, section="recalled")]
    if entry_kinds:
        pieces = _with_room_for_entries(pieces, most=options.recalled)
    return (*pieces, *(_out_of_scope(hit) for hit in others if hit not in in_scope)), answers[-1]


def playbook_pieces(request: PassageRequest, session: Session) -> tuple[PieceOrOmission, ...]:
    """The playbooks for what the prompt is about. Raises IndexDamaged."""
    kinds = tuple(kind for kind in PLAYBOOK_KINDS if not request.kinds or kind in request.kinds)
    if not kinds or _asks_nothing(request.prompt):
        return ()
    answer = _search(request.prompt, session, kinds=kinds, most=session.stores.context.playbooks)
    return tuple(_passage_pieces(answer.hits, request, session, section="playbooks"))


def _asks_nothing(prompt: str) -> str:
    """Why nothing is searched for; empty if the prompt asks for something."""
    if reason := courtesy_reason(prompt):
        return f"the prompt has nothing to search for: {reason}"
    return "the prompt has nothing to search for: only stop words" if has_nothing_to_search(prompt) else ""


def _search(prompt: str, session: Session, *, kinds: tuple[str, ...], most: int) -> Answer:
    stores = session.stores
    query = SearchQuery(
        query_of_prompt(prompt),
        k=min(most + _SPARE, stores.retrieval.max_k),
        min_score=stores.context.min_score,
        filters=Filters(kinds=kinds),
        explain_empty=False,
    )
    return search(query, stores, audience="prompt")


def _passage_pieces(
    hits: Sequence[Hit], request: PassageRequest, session: Session, *, section: ContextSection
) -> Iterable[PieceOrOmission]:
    options = session.stores.context
    ours = [hit for hit in hits if not hit.sensitive and is_recallable(hit.path, channel=request.channel)]
    scores = {
        hit.chunk_id: round(with_topic_boost(hit.score, _topics_of(hit), boosted=request.topics), 4) for hit in ours
    }
    least = passage_threshold(scores.values(), least=options.min_score)
    entries = {each.fact.path: each for each in _entries_at([hit.path for hit in ours], session)}
    doubts = doubts_of([*entries.values()], session, below=options.doubt_below)
    for hit in hits:
        if hit.sensitive:
            yield from (withheld_note(hit.path, section),) if section == "recalled" else ()  # reported once
        elif hit not in ours:
            yield OmittedPiece(section, "another place", "scope", "it belongs to another channel, or is a style")
        elif reason := _unfit(hit, scores[hit.chunk_id], section=section, least=least):
            yield OmittedPiece(section, _source_of(hit), "unsure", reason)
        else:
            fact = entries[hit.path].fact if hit.path in entries else None
            piece = _piece(hit, fact, section=section)
            yield replace(piece, score=scores[hit.chunk_id], doubt=doubts[fact.id] if fact else "")


def _unfit(hit: Hit, score: float, *, section: ContextSection, least: float) -> str:
    """Why the hit does not fit the prompt; empty if it does."""
    is_near = playbook_applies(hit) if section == "playbooks" else score >= least
    if is_off_topic(hit) or not is_near:
        return f"too far from the prompt ({_nearness(hit)})"
    return "it contains only links" if holds_only_links(hit.text) else ""


def _piece(hit: Hit, fact: Fact | None, *, section: ContextSection) -> Piece:
    return Piece(
        section=section,
        key=fact.id if fact else f"{hit.path}#{hit.line}",
        document=hit.path,
        source=hit.path if fact else _source_of(hit),
        text=hit.text,
        why=f"fits the prompt ({_nearness(hit)})",
        title="" if fact else passage_title(hit.path, hit.heading_path),
        kind=fact.kind if fact else "",
        day=_day_of(hit),
        valid_until=fact.valid_until if fact else "",
        fact=fact.id if fact else "",
    )


def _with_room_for_entries(pieces: Sequence[PieceOrOmission], *, most: int) -> list[PieceOrOmission]:
    """The pieces, with passages of notes left out so that up to half of them can be entries."""
    ranked = sorted((each for each in pieces if isinstance(each, Piece)), key=lambda piece: -piece.score)
    entries = min(sum(bool(piece.fact) for piece in ranked), most // 2)
    beyond = [piece for piece in ranked if not piece.fact][max(most - entries, 0) :]
    said = "left out to make room for entries of the requested kinds"
    return [OmittedPiece("recalled", each.source, "section", said) if each in beyond else each for each in pieces]


def _entries_at(paths: Sequence[str], session: Session) -> list[FactSnapshot]:
    if not paths:
        return []
    with session.stores.index.reader() as reader:
        query = FactQuery(paths=tuple(dict.fromkeys(paths)), origins=("entry",), sensitive=False)
        return fact_snapshots(reader.facts(query), session)


def _out_of_scope(hit: Hit) -> OmittedPiece:
    return OmittedPiece("recalled", _source_of(hit), "scope", f"its kind, {_kind_of(hit)}, was not requested")


def _kind_of(hit: Hit) -> str:
    """The kind of a note among the entries, even if it was made by hand; `note` for all others."""
    if not folder_of(hit.path):
        return NOTE_KIND
    return note_kind(str(hit.metadata.get("frontmatter", {}).get("kind") or ""), path=hit.path, tags=())


def _topics_of(hit: Hit) -> tuple[str, ...]:
    topics = hit.metadata.get("frontmatter", {}).get("topics") or ()
    return tuple(map(str, topics)) if isinstance(topics, list | tuple) else (str(topics),)


def _day_of(hit: Hit) -> str:
    """The day the passage is about, or else that of its last change; empty if the note's name is a day or a week."""
    at = str(hit.metadata.get("at") or "")
    return at[:10] if at or _DAY.search(hit.path.rpartition("/")[2]) else hit.updated[:10]


def _nearness(hit: Hit) -> str:
    return f"score {hit.score:.2f}" + ("" if hit.cosine is None else f", cosine {hit.cosine:.2f}")


def _source_of(hit: Hit) -> str:
    if hit.source_type == "chat":
        return f"conversation {hit.path}, turn {hit.line}"
    return f"{hit.path}:{hit.line}"


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
