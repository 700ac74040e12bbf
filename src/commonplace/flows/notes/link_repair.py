"""Repair links after notes were renamed or moved outside of us: where a link led is known, or it is left alone.

Renames are known from git (commits, and the difference between the newest commit and the disk) and from the index
(a note that is gone and another with the same text). A link that could mean several files that are gone is never
guessed. Notes of the agent are repaired directly; for all others the repair is proposed.
"""

from collections import Counter
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from commonplace.errors import NotFound, Refused
from commonplace.facts.entry_format import is_entry
from commonplace.flows.ingest.documents import VAULT
from commonplace.flows.ingest.past_lines import moves_of
from commonplace.flows.notes.write import Edit, Permit, Reader, change, change_result, require_history
from commonplace.flows.read import NOTE_ENDING, is_hidden, locate, read_all
from commonplace.flows.stores import Session, Stores
from commonplace.model import Changed, Note, Terms, Verb
from commonplace.model.layout import is_always_loaded, place_of
from commonplace.notes import LinkResolver, parse
from commonplace.notes.link_resolver import LinkRepair, rewrite_links
from commonplace.policy.sensitivity import truthy
from commonplace.policy.write_policy import decide, is_trusted, space_of
from commonplace.vault.base import Capability

_LIKE: Final = 75  # percent of a file that git must find again under another name
_MOST: Final = 2_000_000  # bytes of a file that are compared


@dataclass(frozen=True, slots=True)
class NoteRepair:
    """A note whose links can be repaired: its bytes before and after, and what each link led to and leads to.

    `is_ours` says that programs may write it; else the repair is only proposed. `after` is None if the links cannot
    be rewritten safely.
    """

    path: str
    before: bytes
    after: bytes | None
    links: tuple[tuple[str, str], ...]
    is_ours: bool


@dataclass(frozen=True, slots=True)
class LinkSurvey:
    """What is wrong with links: the notes that can be repaired, and how many links lead nowhere besides."""

    repairs: tuple[NoteRepair, ...]
    left: int


def survey_links(session: Session, *, only: Collection[str] = ()) -> LinkSurvey:
    """Every note with links to repair, in order of path; those of `only` where it is given. Raises IndexDamaged."""
    stores = session.stores
    files = [stat.path for stat in stores.vault.list(skip=stores.ignored).files]
    broken = _suspects(session, only)
    if not broken:
        return LinkSurvey((), 0)
    renamed = known_renames(files, stores)
    before, after = LinkResolver.of([*files, *renamed]), LinkResolver.of(files, _aliases(stores))
    repairs, left = [], 0
    for note in _notes(sorted(broken), session):
        is_ours = may_write(note, session)
        repair = LinkRepair(before, after, renamed, fixes_case=is_ours)
        if found := _repaired(note, repair, session, is_ours=is_ours):
            repairs.append(found)
        left += sum(1 for link in note.links if link.target and repair.destination(link, note) is None)
    return LinkSurvey(tuple(repairs), left)


def write_repair(repair: NoteRepair, session: Session) -> Changed:
    """Write the repaired note. Raises Refused where policy does not allow it, and Conflict if it changed meanwhile."""
    at = locate(repair.path, session.stores.vault)
    note = parse(repair.before, path=at.path, mtime=0.0)
    permit = Permit(session, Terms(why=links_text(repair.links)), "remember" if is_entry(note) else "write", at.path)

    def plan(read: Reader) -> tuple[Edit, ...]:
        permit.ask(there=note)
        return (Edit(at, repair.before, repair.after),)

    (edit,), result = change(plan, [permit], path=at.path)
    return change_result(edit, permit, result)


def links_text(links: Sequence[tuple[str, str]]) -> str:
    """What was repaired, for the person."""
    shown = ", ".join(f"[[{old}]] is {new}" for old, new in links[:3])
    more = f" and {len(links) - 3} more" if len(links) > 3 else ""
    return f"{shown}{more}"


def may_write(note: Note, session: Session) -> bool:
    """True if a job may write the note itself: below `Agent/`, and neither the person's word nor always loaded."""
    safety = session.stores.safety
    if space_of(note.path, safety) not in ("agent", "memory") or note.problems:
        return False
    if is_trusted(note.frontmatter) or truthy(note.frontmatter.get("pinned")) or is_always_loaded(note.path):
        return False
    verb: Verb = "remember" if is_entry(note) else "write"
    return decide(actor="job", verb=verb, path=note.path, options=safety, existing=note.frontmatter).kind == "allow"


def _suspects(session: Session, only: Collection[str]) -> set[str]:
    """The notes with a link that leads nowhere, or whose target may be written in another case."""
    with session.stores.index.reader() as reader:
        edges = reader.edges(sorted(only)) if only else reader.edges()
    found = {edge.source for edge in edges if edge.path is None or not _is_spelled(edge.target, edge.path)}
    return {path for path in found if not place_of(path) and (not only or path in only)}


def _is_spelled(target: str, path: str) -> bool:
    return target.rpartition("/")[2].removesuffix(NOTE_ENDING) in path


def _notes(paths: Sequence[str], session: Session) -> Iterator[Note]:
    stores = session.stores
    stats = []
    for path in paths:
        try:
            stats.append(stores.vault.stat(locate(path, stores.vault)))
        except (NotFound, Refused):  # gone since it was indexed, or not a note: a conversation, for example
            continue
    for note in read_all(stores.vault, stats):
        if isinstance(note, Note) and not is_hidden(note, stores):
            yield note


def _repaired(note: Note, repair: LinkRepair, session: Session, *, is_ours: bool) -> NoteRepair | None:
    rewritten = rewrite_links(note, repair)
    if rewritten is None:
        return None
    changing = [link for link in note.links if repair.must_change(link, note)]
    links = [(link.target, repair.destination(link, note) or "") for link in changing]
    before = session.stores.vault.read(locate(note.path, session.stores.vault)).content
    return NoteRepair(note.path, before, rewritten.content, tuple(dict.fromkeys(links)), is_ours)


def _aliases(stores: Stores) -> Mapping[str, tuple[str, ...]]:
    """The other names of notes, which links may use."""
    with stores.index.reader() as reader:
        edges = reader.edges()
    named: dict[str, set[str]] = {}
    for edge in edges:
        if edge.path is not None and not _is_spelled(edge.target, edge.path):
            named.setdefault(edge.path, set()).add(edge.target)
    return {path: tuple(sorted(names)) for path, names in named.items()}


# ---------------------------------------------------------------- what became of files that are gone


def known_renames(files: Sequence[str], stores: Stores) -> dict[str, str]:
    """Where each file that is gone is now, as far as git and the index know: exactly one place, or none."""
    there, moves = frozenset(files), dict[str, str]()
    moves |= _indexed_renames(there, stores)
    if Capability.HISTORY in stores.vault.capabilities:
        moves |= _uncommitted_renames(there, stores)
        moves |= _committed_renames(stores)
    found = {old: _followed(old, moves, there) for old in moves if old not in there}
    return {old: new for old, new in found.items() if new}


def _followed(path: str, moves: Mapping[str, str], there: Collection[str]) -> str:
    seen: set[str] = set()
    while path not in there:
        if path in seen or path not in moves:
            return ""
        seen.add(path)
        path = moves[path]
    return path


def _committed_renames(stores: Stores) -> dict[str, str]:
    moves: dict[str, str] = {}
    for each in require_history(stores.vault).changes_since(None) or ():
        moves |= {rename.source: rename.target for rename in each.renames if rename.likeness >= _LIKE}
        moves |= dict(moves_of(each.revision))
    return moves


def _uncommitted_renames(there: Collection[str], stores: Stores) -> dict[str, str]:
    """Files of the newest commit that are gone, each with the only new file that has the same bytes."""
    vault = require_history(stores.vault)
    head = vault.head()
    if head is None:
        return {}
    listed = {stat.path: stat.size for stat in vault.list_at(head, skip=stores.unindexed).files}
    gone = [path for path, size in listed.items() if path not in there and 0 < size <= _MOST]
    if not gone:
        return {}
    old = {path: each for path, each in zip(gone, vault.read_listed_at(head, gone), strict=True) if each}
    new: dict[str, bytes] = {}
    for path in there:
        at = vault.resolve(path)
        if path not in listed and vault.stat(at).size <= _MOST:
            new[path] = vault.read(at).content
    return _pairs(old, new)


def _indexed_renames(there: Collection[str], stores: Stores) -> dict[str, str]:
    """Notes that are gone from the index, each with the only note that has the same text."""
    stamps = stores.index.stamps(VAULT)
    old = {path: each.content_hash for path, each in stamps.items() if each.deleted and each.size}
    new = {path: each.content_hash for path, each in stamps.items() if not each.deleted and each.size and path in there}
    return _pairs(old, new)


def _pairs(old: Mapping[str, Hashable], new: Mapping[str, Hashable]) -> dict[str, str]:
    """Each of the old paths with the one new path of the same content; none where either side has it twice."""
    times, twins = Counter(new.values()), Counter(old.values())
    places = {content: path for path, content in new.items()}
    return {path: places[each] for path, each in old.items() if times[each] == 1 and twins[each] == 1}
