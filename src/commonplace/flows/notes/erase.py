"""Erase a note for good: the file, its rows in the history and what is derived from it; reports what git still holds.

The trailers of our commits say which notes were erased, so that `undo` and searches in the past leave them out, and
`log` keeps only rows without a word of them.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import cast

from commonplace.errors import CommonplaceError, Refused
from commonplace.flows.ingest.index_notes import unindex_notes
from commonplace.flows.ingest.memory_index_note import update_memory_index_note
from commonplace.flows.ingest.past_lines import erased_by, forget_erased, moves_of
from commonplace.flows.notes.proposals import proposal_paths
from commonplace.flows.notes.write import (
    Edit,
    Permit,
    Plan,
    Reader,
    change,
    check_version,
    commit_message,
    require_history,
)
from commonplace.flows.read import locate
from commonplace.flows.stores import Session, Stores
from commonplace.history.base import ERASED, AuditEntry, UnfinishedErasure
from commonplace.model import Erasure, Terms
from commonplace.model.layout import wordless_path
from commonplace.vault.base import Capability, ErasableBackend, Locator, Revision, StorageBackend

_PLACEHOLDER = b"erased\n"


def erase_note(path: str, session: Session, terms: Terms) -> Erasure:
    """Remove the note and every row about it. Cannot be undone.

    What is begun is in the history until it is done: after a crash the next start finishes it (`finish_erasure`).
    Raises as `delete_note` does, and Refused unless a person asks.
    """
    begun = begin_erasure(path, session, terms)
    with erasing(begun, session.stores):
        return erase_places(begun, session, terms)


def begin_erasure(path: str, session: Session, terms: Terms, *, entry: str = "") -> UnfinishedErasure:
    """What is to be erased, after policy has agreed: the note's place, its former ones, and the id of an entry."""
    vault = session.stores.vault
    at = locate(path, vault)
    if session.actor.kind != "person":
        raise Refused(f"only a person may erase: {at.path}", path=at.path, hint="Delete it instead: git keeps it.")
    permit = Permit(session, terms, "erase", at.path)
    if Capability.HISTORY in vault.capabilities and require_history(vault).held_by(at)[0]:  # it may be deleted already
        permit.ask()
    else:
        permit.ask_about_existing(at.path)
    former = tuple(each.path for each in _former_places(at, session.stores))
    return UnfinishedErasure(at.path, former, entry, session.clock())


@contextmanager
def erasing(begun: UnfinishedErasure, stores: Stores) -> Iterator[None]:
    """Remember the erasure while it goes on; one that fails with an error of ours is not begun any more."""
    stores.history.begin_erasure(begun)
    try:
        yield
    except CommonplaceError:
        stores.history.end_erasure(begun.path)
        raise
    stores.history.end_erasure(begun.path)


def erase_places(begun: UnfinishedErasure, session: Session, terms: Terms) -> Erasure:
    """Remove the file, in a commit that says so, then every row about it."""
    stores = session.stores
    at, *former = map(stores.vault.resolve, (begun.path, *begun.former))
    permit = Permit(session, terms, "erase", at.path)
    contents = _contents((at, *former), stores.vault)
    has_history = Capability.HISTORY in stores.vault.capabilities
    if has_history and not stores.vault.exists(at):  # deleted before: only a commit can say that it is erased
        change(lambda read: (Edit(at, None, _PLACEHOLDER),), [permit], path=at.path)
    commit = change(_removal(at, terms), [permit], path=at.path)[1].commit
    _forget((at, *former), contents, stores)
    _erase_proposals(begun, session)
    if not has_history:
        return Erasure(at.path, None, 0, (), begun.former)
    if Capability.ERASABLE in stores.vault.capabilities:
        return Erasure(at.path, commit, 0, (), begun.former)
    vault = require_history(stores.vault)
    held, remotes = vault.held_by(at, *former)
    return Erasure(at.path, commit, held, remotes, begun.former, tuple(map(vault.path_in_history, (at, *former))))


def finish_erasure(begun: UnfinishedErasure, session: Session) -> None:
    """Finish what a crash has cut off: the removal if there is no commit of it, else the rows that were left."""
    stores = session.stores
    with stores.vault.transaction():  # the vault recovers from the same crash first
        pass
    places = [stores.vault.resolve(path) for path in (begun.path, *begun.former)]
    if stores.vault.exists(places[0]) and not _is_committed(places[0], begun, stores):
        erase_places(begun, session, Terms())
    else:
        _forget(places, _contents(places, stores.vault), stores)
        _erase_proposals(begun, session)
    stores.history.end_erasure(begun.path)


def _erase_proposals(begun: UnfinishedErasure, session: Session) -> None:
    """Erase the proposals about the note: they hold some of its lines."""
    for path in proposal_paths((begun.path, *begun.former), session.stores):
        erase_places(UnfinishedErasure(path, (), "", begun.begun), session, Terms())


def _is_committed(at: Locator, begun: UnfinishedErasure, stores: Stores) -> bool:
    """True if a commit has erased the note since; what is at its path now is another note."""
    if Capability.HISTORY not in stores.vault.capabilities:
        return False
    revisions = require_history(stores.vault).revisions(at, ours=True)
    since = begun.begun.replace(microsecond=0)
    return any(each.when >= since and at.path in erased_by(each) for each in revisions)


def _removal(at: Locator, terms: Terms) -> Plan:
    def plan(read: Reader) -> tuple[Edit, ...]:
        there = read(at)
        if there.content != _PLACEHOLDER:
            check_version(at.path, there, terms)
        return (Edit(at, there.content, None),)

    return plan


def _forget(places: Sequence[Locator], contents: Sequence[bytes], stores: Stores) -> None:
    """Delete every row about the notes at these places, in the history and in all indexes.

    The history keeps what `without_words` leaves of its rows. A vault that can erase its commits does so at last.
    """
    paths = [each.path for each in places]
    rows = dict.fromkeys(row for path in paths for row in reversed(stores.history.entries(path=path)))
    for path in paths:
        stores.history.forget_path(path)
    stores.history.record(*(kept for row in rows if (kept := without_words(row, stores))))
    forget_erased(stores)
    unindex_notes(paths, contents, stores)
    stores.snapshots.clear()
    stores.profile.clear()
    stores.undecided.clear()
    update_memory_index_note(paths, stores)
    gone = [each for each in places if not stores.vault.exists(each)]  # another note may be at its path by now
    if Capability.ERASABLE in stores.vault.capabilities and gone:
        cast(ErasableBackend, stores.vault).erase_history(gone, wait=stores.lock_wait)


def without_words(row: AuditEntry, stores: Stores) -> AuditEntry | None:
    """The row about an erased note without any word of it: no name, no reason, no version.

    An entry is named by its folder and its id. Of another note, whose path is words, only its erasure is left: None for
    the rows before it.
    """
    path, destination = wordless_path(row.path), wordless_path(row.destination) if row.destination else None
    if row.path == path or (destination and row.destination == destination):
        path, destination = ERASED, None
    is_placeholder = row.verb == "erase" and row.after is not None
    if is_placeholder or (path == ERASED and row.verb != "erase"):
        return None
    reason = commit_message(stores, verb=row.verb, path=ERASED if path == ERASED else row.path)
    return replace(row, path=path, destination=destination, reason=reason, before=None, after=None, in_digest=False)


def _contents(places: Sequence[Locator], vault: StorageBackend) -> tuple[bytes, ...]:
    """Everything the note ever said: now, and in every commit."""
    now = [vault.read(at).content for at in places if vault.exists(at)]
    if Capability.HISTORY not in vault.capabilities:
        return tuple({*now})
    kept = require_history(vault)
    then = kept.read_all_at([(at, revision.commit) for at in places for revision in kept.revisions(at)])
    return tuple({content for content in (*now, *then) if content is not None})


def _former_places(at: Locator, stores: Stores) -> tuple[Locator, ...]:
    """Where the note was before it was moved, except where another note is now."""
    paths = [at.path]
    if Capability.HISTORY in stores.vault.capabilities:
        for revision in require_history(stores.vault).revisions(ours=True):
            paths += [path for path in _moved_from(revision, paths) if path not in paths]
    else:
        moved = (each.path for each in stores.history.entries(path=at.path) if each.destination == at.path)
        paths += [path for path in dict.fromkeys(moved) if path != at.path]
    places = map(stores.vault.resolve, paths[1:])
    return tuple(place for place in places if not stores.vault.exists(place))


def erased_since(revisions: Iterable[Revision]) -> Mapping[str, frozenset[str]]:
    """For each commit, newest first: the paths erased by it or later, with the former paths of moved notes."""
    erased: frozenset[str] = frozenset()
    by_commit = {}
    for revision in revisions:
        erased |= erased_by(revision)
        erased |= {*_moved_from(revision, erased)}
        by_commit[revision.commit] = erased
    return by_commit


def _moved_from(revision: Revision, paths: Collection[str]) -> tuple[str, ...]:
    """The paths from which the commit moved notes to one of these paths."""
    return tuple(source for source, target in moves_of(revision) if target in paths)
