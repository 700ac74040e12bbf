"""Erasing: the note, what history.db says of it and what is derived from it; and what git still holds, told."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime

from commonplace.errors import NotFound, Refused
from commonplace.flows.move import MOVED_FROM, MOVED_TO
from commonplace.flows.read import locate
from commonplace.flows.write import KIND, Desk, Edit, Permit, Plan, Reader, change, check_version, with_history
from commonplace.model import Erased, Terms
from commonplace.vault.base import Capability, HistoricBackend, Locator, Revision

PATH = "Commonplace-Path"
_PLACEHOLDER = b"erased\n"


def erase_note(path: str, desk: Desk, terms: Terms) -> Erased:
    """Remove the note and every row about it. It cannot be undone. Raises as `delete_note` does."""
    at = locate(path, desk.vault)
    if desk.actor.kind != "person":
        raise Refused(f"only a person may erase: {at.path}", path=at.path, hint="Delete it instead: git keeps it.")
    permit = Permit(desk, terms, "erase", at.path)
    permit.ask()
    if Capability.HISTORY not in desk.vault.capabilities:
        return _erase_at_once(at, permit)
    vault = with_history(desk.vault)
    if not vault.held_by(at)[0] and not vault.exists(at):
        raise NotFound(f"no such note: {at.path}", path=at.path, hint="`commonplace note list` shows every note.")
    former = _former(at, desk)
    contents = _contents((at, *former), vault)
    if not vault.exists(at):  # deleted before: git needs a commit that says it is erased, and a commit needs a change
        change(lambda read: (Edit(at, None, _PLACEHOLDER),), [permit], path=at.path)
    commit = change(_removal(at, terms), [permit], path=at.path)[1].commit
    _forget((at, *former), contents, desk)
    held, remotes = vault.held_by(at, *former)
    purge = tuple(vault.path_in_history(each) for each in (at, *former))
    return Erased(at.path, commit, held, remotes, tuple(each.path for each in former), purge)


def _erase_at_once(at: Locator, permit: Permit) -> Erased:
    """The same where nothing but the files is kept."""
    desk = permit.desk
    content = desk.vault.read(at).content
    moved = (each.path for each in desk.history.entries(path=at.path) if each.destination == at.path)
    former = tuple(place for place in map(desk.vault.resolve, dict.fromkeys(moved)) if not desk.vault.exists(place))
    change(_removal(at, permit.terms), [permit], path=at.path)
    _forget((at, *former), (content,), desk)
    return Erased(at.path, None, 0, (), tuple(each.path for each in former))


def _removal(at: Locator, terms: Terms) -> Plan:
    def plan(read: Reader) -> tuple[Edit, ...]:
        there = read(at)
        if there.content != _PLACEHOLDER:
            check_version(at.path, there, terms)
        return (Edit(at, there.content, None),)

    return plan


def _forget(places: Sequence[Locator], contents: Sequence[bytes], desk: Desk) -> None:
    """Leave no row about the notes at these places."""
    for each in places:
        desk.history.forget_path(each.path)
    desk.forget([each.path for each in places], contents)


def _contents(places: Sequence[Locator], vault: HistoricBackend) -> tuple[bytes, ...]:
    """All that the note ever said: now, and in every commit."""
    now = [vault.read(at).content for at in places if vault.exists(at)]
    then = vault.read_all_at([(at, revision.commit) for at in places for revision in vault.revisions(at)])
    return tuple({content for content in (*now, *then) if content is not None})


def files_of(revision: Revision) -> tuple[str, ...]:
    """The paths of a commit of ours that it names itself: a person may have put more into it since."""
    named = revision.trailers.get(PATH, "").split("\n")
    return tuple(path for path in revision.paths if named == [""] or path in named)


def erased_since(revisions: Iterable[Revision]) -> Mapping[str, frozenset[str]]:
    """For each commit, newest first, the paths that it or a later one erased; of moved notes, also where they were."""
    gone: frozenset[str] = frozenset()
    found = {}
    for revision in revisions:
        if revision.trailers.get(KIND) == "erase":
            gone |= {*files_of(revision)}
        gone |= {*_origin(revision, gone)}
        found[revision.commit] = gone
    return found


def erased_as_of(when: datetime, revisions: Iterable[Revision]) -> frozenset[str]:
    """The paths whose notes of that moment these commits, newest first, erased; of moved notes, also where they were.

    What was made anew at such a path, after the erasure and before that moment, is another note and is not meant.
    """
    gone, anew = set[str](), set[str]()
    for revision in revisions:
        if revision.when <= when:
            anew |= {path for path, what in revision.paths.items() if what == "added"}
        if revision.trailers.get(KIND) == "erase":
            gone |= {*files_of(revision)} - anew
        gone |= {*_origin(revision, gone)} - anew
    return frozenset(gone)


def _former(at: Locator, desk: Desk) -> tuple[Locator, ...]:
    """Where the note was before it was moved, as far as no other note is there now."""
    names = [at.path]
    for revision in with_history(desk.vault).revisions(ours=True):
        names += [path for path in _origin(revision, names) if path not in names]
    places = (desk.vault.resolve(path) for path in names[1:])
    return tuple(place for place in places if not desk.vault.exists(place))


def _origin(revision: Revision, names: Collection[str]) -> tuple[str, ...]:
    """The path from which the commit moved a note that is known by these names."""
    source, target = revision.trailers.get(MOVED_FROM), revision.trailers.get(MOVED_TO)
    return (source,) if source and target in names else ()
