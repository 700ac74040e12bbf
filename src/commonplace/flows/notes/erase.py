"""Erase a note for good: the file, its rows in history.db and everything derived from it; reports what git still holds.

The trailers of our commits say which notes were erased, so that `undo` and searches in the past leave them out, and
`log` keeps only rows without a word of them.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from commonplace.errors import Refused
from commonplace.flows.ingest.index_notes import unindex_notes
from commonplace.flows.ingest.memory_index_note import update_memory_index_note
from commonplace.flows.notes.move import moves_of
from commonplace.flows.notes.write import (
    KIND,
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
from commonplace.history.base import ERASED, AuditEntry
from commonplace.model import Erasure, Terms
from commonplace.model.layout import wordless_path
from commonplace.vault.base import Capability, HistoricBackend, Locator, Revision

PATH = "Commonplace-Path"
_PLACEHOLDER = b"erased\n"


def erase_note(path: str, session: Session, terms: Terms) -> Erasure:
    """Remove the note and every row about it. Cannot be undone.

    Raises as `delete_note` does, and Refused unless a person asks.
    """
    stores = session.stores
    at = locate(path, stores.vault)
    if session.actor.kind != "person":
        raise Refused(f"only a person may erase: {at.path}", path=at.path, hint="Delete it instead: git keeps it.")
    permit = Permit(session, terms, "erase", at.path)
    if Capability.HISTORY not in stores.vault.capabilities:
        permit.ask_about_existing(at.path)
        return _erase_without_history(at, permit)
    vault = require_history(stores.vault)
    if vault.held_by(at)[0]:  # it may be deleted already
        permit.ask()
    else:
        permit.ask_about_existing(at.path)
    former = _former_places(at, vault)
    contents = _contents((at, *former), vault)
    if not vault.exists(at):  # deleted before: only a commit can say that it is erased, and a commit needs a change
        change(lambda read: (Edit(at, None, _PLACEHOLDER),), [permit], path=at.path)
    commit = change(_removal(at, terms), [permit], path=at.path)[1].commit
    _forget((at, *former), contents, stores)
    held, remotes = vault.held_by(at, *former)
    purge = tuple(vault.path_in_history(each) for each in (at, *former))
    return Erasure(at.path, commit, held, remotes, tuple(each.path for each in former), purge)


def _erase_without_history(at: Locator, permit: Permit) -> Erasure:
    """Erase a note of a vault that keeps only files."""
    stores = permit.session.stores
    content = stores.vault.read(at).content
    moved = (each.path for each in stores.history.entries(path=at.path) if each.destination == at.path)
    places = map(stores.vault.resolve, dict.fromkeys(moved))
    former = tuple(place for place in places if not stores.vault.exists(place))
    change(_removal(at, permit.terms), [permit], path=at.path)
    _forget((at, *former), (content,), stores)
    return Erasure(at.path, None, 0, (), tuple(each.path for each in former))


def _removal(at: Locator, terms: Terms) -> Plan:
    def plan(read: Reader) -> tuple[Edit, ...]:
        there = read(at)
        if there.content != _PLACEHOLDER:
            check_version(at.path, there, terms)
        return (Edit(at, there.content, None),)

    return plan


def _forget(places: Sequence[Locator], contents: Sequence[bytes], stores: Stores) -> None:
    """Delete every row about the notes at these places, in the history and in all indexes.

    The history keeps what `without_words` leaves of its rows.
    """
    paths = [each.path for each in places]
    rows = dict.fromkeys(row for path in paths for row in reversed(stores.history.entries(path=path)))
    for path in paths:
        stores.history.forget_path(path)
    stores.history.record(*(kept for row in rows if (kept := without_words(row, stores))))
    unindex_notes(paths, contents, stores)
    update_memory_index_note(paths, stores)


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


def _contents(places: Sequence[Locator], vault: HistoricBackend) -> tuple[bytes, ...]:
    """Everything the note ever said: now, and in every commit."""
    now = [vault.read(at).content for at in places if vault.exists(at)]
    then = vault.read_all_at([(at, revision.commit) for at in places for revision in vault.revisions(at)])
    return tuple({content for content in (*now, *then) if content is not None})


def _former_places(at: Locator, vault: HistoricBackend) -> tuple[Locator, ...]:
    """Where the note was before it was moved, except where another note is now."""
    paths = [at.path]
    for revision in vault.revisions(ours=True):
        paths += [path for path in _moved_from(revision, paths) if path not in paths]
    places = (vault.resolve(path) for path in paths[1:])
    return tuple(place for place in places if not vault.exists(place))


def own_paths(revision: Revision) -> tuple[str, ...]:
    """The paths that a commit of ours names as its own; a person may have amended it with others."""
    named = revision.trailers.get(PATH, "").split("\n")
    return tuple(path for path in revision.paths if named == [""] or path in named or wordless_path(path) in named)


def erased_since(revisions: Iterable[Revision]) -> Mapping[str, frozenset[str]]:
    """For each commit, newest first: the paths erased by it or later, with the former paths of moved notes."""
    erased: frozenset[str] = frozenset()
    by_commit = {}
    for revision in revisions:
        if revision.trailers.get(KIND) == "erase":
            erased |= {*own_paths(revision)}
        erased |= {*_moved_from(revision, erased)}
        by_commit[revision.commit] = erased
    return by_commit


def erased_as_of(when: datetime, revisions: Iterable[Revision]) -> frozenset[str]:
    """The paths whose notes of that moment were erased since; takes all commits, newest first.

    Former paths of moved notes count. A note that was created at such a path after the erasure and before that moment
    is another note, and does not.
    """
    erased, created = set[str](), set[str]()
    for revision in revisions:
        if revision.when <= when:
            created |= {path for path, what in revision.paths.items() if what == "added"}
        if revision.trailers.get(KIND) == "erase":
            erased |= {*own_paths(revision)} - created
        erased |= {*_moved_from(revision, erased)} - created
    return frozenset(erased)


def _moved_from(revision: Revision, paths: Collection[str]) -> tuple[str, ...]:
    """The paths from which the commit moved notes to one of these paths."""
    return tuple(source for source, target in moves_of(revision) if target in paths)
