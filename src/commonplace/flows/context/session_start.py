"""What a session gets once: notes that are loaded as they are, and the profile.

The notes are the person's own memory, always-loaded notes, a channel's, and dated notes. The profile has entries and
structured lines about the person and the project, and the project's last session.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Final

from commonplace.context.selection import passage_title, strip_own_heading, strip_sources
from commonplace.errors import NotFound, VaultUnavailable
from commonplace.events import emit
from commonplace.facts.commitments import is_commitment
from commonplace.facts.cues import is_playbook
from commonplace.facts.entry_format import read_entry
from commonplace.facts.entry_paths import id_digits
from commonplace.facts.groups import giving_way, newest_of
from commonplace.facts.profile import MAX_LINE, ProfileLine, choose_profile
from commonplace.facts.triples import EPHEMERAL, ME, predicate_key
from commonplace.facts.validity import state_of
from commonplace.flows.context.facts import PieceOrOmission, fact_line, fact_piece, is_elsewhere, withheld_note
from commonplace.flows.context.groups import OLDER_LINE
from commonplace.flows.conversations import may_learn_from
from commonplace.flows.digest import session_line
from commonplace.flows.memory.commitments import deadline_line
from commonplace.flows.memory.facts import doubts_of, fact_snapshots
from commonplace.flows.memory.groups import groups_among
from commonplace.flows.memory.profile_writers import program_keys
from commonplace.flows.memory.review import waiting_count, waiting_text
from commonplace.flows.notes.proposals import proposal_count
from commonplace.flows.project_state import read_project_state
from commonplace.flows.read import is_hidden, list_notes, locate, read_note, stat_or_none
from commonplace.flows.stores import Session, Stores
from commonplace.index.base import FactQuery
from commonplace.model import Fact, FactRecord, FactSnapshot, Message, Note, Thread
from commonplace.model.context import ContextSection, OmittedPiece, Piece
from commonplace.model.layout import (
    ALWAYS_LOAD,
    ALWAYS_LOAD_FOLDER,
    CHANNEL_NOTE,
    DATED_NOTES,
    MEMORY,
    USER_NOTE,
    channel_folder,
    folder_of,
    is_recallable,
    newest_dated,
    place_of,
)
from commonplace.model.moment import long_day, moment_text
from commonplace.notes.harness_notes import state_lines
from commonplace.notes.section_operations import statement_key, without_statements

_LOADED: Final = "always loaded"
_BY_PROGRAMS: Final = "Said by programs, not approved by the person"
DIGEST_PIECE: Final = "digest"
"""The key of the line about the newest digest."""
_EARLIEST_ZONE: Final = timedelta(hours=14)  # dated notes have the person's day, which begins before that of UTC


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
    yield from _pieces(
        f"{folder}/{CHANNEL_NOTE}", session, section="channel", why="the channel's memory", is_pinned=True
    )
    yield from _dated_pieces(f"{folder}/memories", session)


def _dated_pieces(folder: str, session: Session) -> Iterator[PieceOrOmission]:
    latest, limit = moment_text(session.clock() + _EARLIEST_ZONE)[:10], session.stores.context.dated_days
    for path in newest_dated(_notes_in(folder, session), today=latest, limit=limit):
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
    if is_hidden(note, stores):
        yield withheld_note(path, section)
        return
    fact, _ = read_entry(note, place=place_of(path), sensitive=False, rules=stores.rules, latest=stores.latest)
    state = state_of(FactRecord(fact, None), at=session.now) if fact else "current"
    if state != "current":
        yield OmittedPiece(section, path, "over", f"it is {state}")
        return
    if is_pinned:
        note, said = _without_programs(note, stores)
        yield from said
    if text := _text(note, section):
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


def _without_programs(note: Note, stores: Stores) -> tuple[Note, tuple[Piece, ...]]:
    """The person's own memory, or a channel's, without what programs wrote; and that, line by line, as said by them."""
    try:
        keys = program_keys(locate(note.path, stores.vault), stores)
    except VaultUnavailable as error:  # what the person wrote must not be missing because git does not answer
        emit("history_unread", level="warning", said=error.message)
        keys = frozenset()
    if not keys:
        return note, ()
    titles = {"", *(each.text for each in note.headings if each.level == 1)}
    body, statements = without_statements(note.text.encode("utf-8", "surrogateescape"), keys)
    said = (
        Piece(
            section="profile",
            key=f"{note.path}#{statement_key(each.text)}",
            document=note.path,
            source=f"{note.path}:{each.line}",
            text=each.text if each.heading in titles else f"{each.heading}: {each.text}",
            why="a program wrote it into the person's memory",
            group=_BY_PROGRAMS,
        )
        for each in statements
    )
    return replace(note, body=body), tuple(said)


def _text(note: Note, section: ContextSection) -> str:
    text = strip_own_heading(note.body.strip(), path=note.path)
    return strip_sources(text) if section == "dated" else text


def _score(note: Note, section: ContextSection, fact: Fact | None) -> float:
    """Dated notes by day, the newest first; others by importance, the person's own notes first."""
    if section == "dated":
        return float(note.path.rpartition("/")[2][:10].replace("-", ""))
    return fact.importance if fact else 1.0


_POOL: Final = 2000  # entries, the last updated first, among which the profile chooses
_LASTING: Final = ("constraint", "identity")  # kinds that are considered however old they are
_DAY: Final = 15  # characters of the day that a line of a group has
_LISTED: Final = 20  # entries for which the profile had no room that are listed one by one
_STATE_LINE: Final = 240  # characters of each line about the state of the project
_SESSION_LINE: Final = 160  # characters of each line about the last session
_THREADS: Final = 5  # sessions, the newest first, among which the last one is looked for
_TURNS: Final = 12  # messages that are read at the beginning and at the end of a session
_WORTH_A_LINE: Final = 8  # characters below which a message says nothing: "ok", "thanks"


def profile_pieces(session: Session, *, project: str, channel: str) -> tuple[PieceOrOmission, ...]:
    """A line for each entry and fact of the profile, the most important first. Raises IndexDamaged."""
    known = [each for each in _known(session) if is_recallable(each.fact.path, channel=channel)]
    if project:
        known = [each for each in known if not is_elsewhere(each.fact, session, project=project)]
    ranked = session.stores.profile.rank(known, project=project, user=session.stores.rules.user)
    chosen, left_out = _chosen(ranked, session)
    doubts = doubts_of([line.snapshot for line in chosen], session, below=session.stores.context.doubt_below)
    pieces = [_piece(line, session, doubt=doubts[line.snapshot.fact.id]) for line in chosen]
    said = "the profile is full: what is more important, or says something new, came first"
    more = f"and {len(left_out) - _LISTED} others: the profile is full"
    return (
        *pieces,
        *(OmittedPiece("profile", _source(line), "section", said) for line in left_out[:_LISTED]),
        *((OmittedPiece("profile", "", "section", more),) if len(left_out) > _LISTED else ()),
    )


def _chosen(ranked: Sequence[ProfileLine], session: Session) -> tuple[list[ProfileLine], list[ProfileLine]]:
    """The lines for which the profile has room, and the others; of a group the newest entry comes first."""
    holding = (line.snapshot.fact for line in ranked if line.snapshot.state == "current")
    groups = groups_among(holding, session)
    newest, ids = newest_of(groups), [line.snapshot.fact.id for line in ranked]
    in_place = [*dict.fromkeys(other for id in ids for other in (newest.get(id, id), id))]
    lines = {line.snapshot.fact.id: _with_day(line, newest) for line in ranked}
    budget = session.stores.context.profile
    return choose_profile([lines[id] for id in in_place], budget=budget, older=giving_way(groups))


def _with_day(line: ProfileLine, newest: Mapping[str, str]) -> ProfileLine:
    """The line with its length in the profile, where one of a group has its day and an older one is short."""
    id = line.snapshot.fact.id
    if id not in newest and id not in newest.values():
        return line
    return line._replace(length=(min(line.length, OLDER_LINE) if id in newest else line.length) + _DAY)


def _known(session: Session) -> list[FactSnapshot]:
    """Entries that hold or will hold, and the structured lines about the person."""
    with session.stores.index.reader() as reader:
        query = FactQuery(statuses=("active",), origins=("entry",), sensitive=False, limit=_POOL)
        entries = [*reader.facts(query)]
        if len(entries) == _POOL:  # an old allergy counts more than the newest of many facts
            entries += [each for kind in _LASTING for each in reader.facts(replace(query, folder=f"{MEMORY}/{kind}/"))]
        lines = reader.facts(replace(query, names=(ME,), origins=("line",)))
    records = {each.fact.id: each for each in (*entries, *lines)}
    snapshots = fact_snapshots([*records.values()], session)
    return [each for each in snapshots if each.state in ("current", "future") and _lasts(each.fact)]


def _lasts(fact: Fact) -> bool:
    """False for a passing event, which a prompt must name, for what is loaded whole anyway, and for what was imported.

    A commitment has a line of its own when its day is near; a playbook comes with the prompts that it fits.
    Anyone may have written what was imported: until it is confirmed, it comes only where a prompt is about it.
    """
    is_foreign = fact.origins.trust == "imported" and not fact.confirmed
    return (
        not fact.always_load
        and not is_playbook(fact)
        and not is_foreign
        and not (fact.predicate and (is_commitment(fact) or predicate_key(fact.predicate) in EPHEMERAL))
    )


def _piece(line: ProfileLine, session: Session, *, doubt: str) -> Piece:
    return replace(
        fact_piece(line.snapshot, session),
        section="profile",
        group=line.group,
        text=fact_line(line.snapshot, session, longest=MAX_LINE),
        why=f"in the profile ({line.group.lower()}, score {line.score:.2f})",
        score=line.score,
        doubt=doubt,
    )


def _source(line: ProfileLine) -> str:
    fact = line.snapshot.fact
    return id_digits(fact.id) if fact.origin == "entry" else f"{fact.path}:{fact.line}"


def session_pieces(session: Session, *, project: str, conversation: str) -> tuple[Piece, ...]:
    """Where the work of the project stands, its last session, and how much waits for review: three, three, one line."""
    lines = [(text, "the project's state") for text in _work_state(session, project=project)] if project else []
    last = _last_session(session, project=project, conversation=conversation) if project else ()
    lines += [(text, "the last session") for text in last]
    waiting = waiting_count(session)
    news = session_line(session, waiting=waiting)
    if not news and waiting:
        lines.append((waiting_text(waiting, proposals=proposal_count(session.stores)), "it waits for review"))
    pieces = [
        Piece(section="session", key=f"session#{number}", document="", source="", text=text, why=why)
        for number, (text, why) in enumerate(lines)
    ]
    if due := deadline_line(session):
        pieces.append(Piece(section="session", key="session#due", document="", source="", text=due, why="a deadline"))
    why = "a digest that no session was told of"
    told = [Piece(section="session", key=DIGEST_PIECE, document="", source="", text=news, why=why)] if news else []
    return (*told, *pieces)


def _work_state(session: Session, *, project: str) -> Iterator[str]:
    """The plan with its next step, the last progress, and the features, as agents left them; nothing without any."""
    from commonplace.screening.secrets import redact  # its expressions are compiled at first use

    lines = state_lines(read_project_state(project, session))
    for line in redact(lines) if lines else ():
        yield line if len(line) <= _STATE_LINE else f"{line[:_STATE_LINE].rpartition(' ')[0]} ..."


def _last_session(session: Session, *, project: str, conversation: str) -> Iterator[str]:
    history = session.stores.history
    threads = history.conversations(project=project, limit=_THREADS)
    thread = next((each for each in threads if _is_earlier(each, session, conversation=conversation)), None)
    if thread is None:
        return
    end = max(_TURNS, thread.count - _TURNS) + 1
    turns = (*history.messages(thread.id, last=_TURNS), *history.messages(thread.id, first=end))
    messages = [each for each in turns if len(each.text.strip()) > _WORTH_A_LINE]
    requests = [each for each in messages if each.role == "user"]
    answers = [each for each in messages if each.role == "assistant"]
    if requests:
        day = long_day(moment_text(thread.updated))
        program = f"{thread.interface}, unverified" if thread.is_claim else thread.interface
        yield f"Last session in {project} ({program}, {day}) began with: {_line(requests[0])}"
    if len(requests) > 1:
        yield f"Its last request: {_line(requests[-1])}"
    if answers:
        yield f"Its last answer: {_line(answers[-1])}"


def _is_earlier(thread: Thread, session: Session, *, conversation: str) -> bool:
    """True if it is another session of the person's own, of which prompts may be given something."""
    is_same = conversation in (thread.id, thread.source_id, f"{thread.interface}:{thread.source_id}")
    return thread.trust != "imported" and not is_same and may_learn_from(thread, session.stores)


def _line(message: Message) -> str:
    """The beginning of a message on one line, in quotes, without secrets."""
    from commonplace.screening.secrets import redact  # its expressions are compiled at first use

    (text,) = redact([" ".join(message.text[: 4 * _SESSION_LINE].split())])
    if len(text) > _SESSION_LINE:
        text = f"{text[:_SESSION_LINE].rpartition(' ')[0] or text[:_SESSION_LINE]} ..."
    return f'"{text}"'
