"""Undoing our own changes: the inverse by three-way merge, written through the same flow as any change."""

from collections.abc import Iterable
from dataclasses import replace

from commonplace.errors import Conflict, NotFound, UsageError
from commonplace.flows.move import MOVED_FROM, MOVED_TO
from commonplace.flows.write import KIND, Desk, Edit, Permit, Reader, change, changed, existing, with_history
from commonplace.model import Changed, Terms
from commonplace.vault.base import HistoricBackend, Locator, Revision

UNDOES = "Commonplace-Undoes"
_UNDONE_BY_COUNT = ("write", "delete", "move")
_FARTHEST_BACK = 1000  # commits of ours that are looked through for the newest to undo


def undo_last(desk: Desk, terms: Terms, *, count: int = 1) -> tuple[Changed, ...]:
    """Undo our newest changes, newest first, each in a commit of its own; snapshots and undos are passed over.

    Raises NotFound when there are fewer, and Conflict for one that cannot be undone; those before it stay undone.
    """
    if count < 1:
        raise UsageError(f"cannot undo {count} changes", hint="Name how many: 1 or more.")
    ours = with_history(desk.vault).revisions(ours=True, limit=_FARTHEST_BACK)
    gone = _undone(ours)
    open_ = [each for each in ours if each.trailers.get(KIND) in _UNDONE_BY_COUNT and each.commit not in gone]
    if len(open_) < count:
        raise NotFound(
            f"there are only {len(open_)} changes of ours to undo", hint="`commonplace log` lists what was written."
        )
    return tuple(_undo(revision, desk, terms) for revision in open_[:count])


def undo_commit(commit: str, desk: Desk, terms: Terms) -> Changed:
    """Undo one change of ours, named by its commit or the beginning of it; an undo can be undone too."""
    if len(commit) < 4:
        raise UsageError(f"{commit!r} is too short to name a commit", hint="Give at least four of its digits.")
    found = [each for each in with_history(desk.vault).revisions(ours=True) if each.commit.startswith(commit)]
    kinds = {*_UNDONE_BY_COUNT, "undo"}
    if len(found) != 1 or found[0].trailers.get(KIND) not in kinds:
        raise NotFound(
            f"no one change of ours has the commit {commit}", hint="`commonplace log` lists what was written."
        )
    return _undo(found[0], desk, terms)


def _undone(revisions: Iterable[Revision]) -> set[str]:
    """The commits whose undo stands; an undo that was undone itself counts for nothing. Newest first."""
    gone: set[str] = set()
    for revision in revisions:
        if revision.commit not in gone and (target := revision.trailers.get(UNDOES)):
            gone.add(target)
    return gone


def _undo(revision: Revision, desk: Desk, terms: Terms) -> Changed:
    source, target = revision.trailers.get(MOVED_FROM), revision.trailers.get(MOVED_TO)
    moved = (source, target) if source and target and revision.trailers.get(KIND) == "move" else None
    paths = [path for path in revision.paths if not moved or path not in moved]
    first = moved[0] if moved else paths[0]
    permit = Permit(desk, replace(terms, personal=desk.actor.kind == "person"), "undo", first)
    for path in [*paths, *(moved or ())]:
        permit.ask(path)

    def plan(read: Reader) -> tuple[Edit, ...]:
        back = _Back(with_history(desk.vault), revision.commit, read)
        edits = [back.moved(*moved)] if moved else []
        edits += [edit for path in paths if (edit := back.changed(path))]
        for edit in edits:
            permit.ask(edit.at.path, there=existing(edit.at, read))
        return tuple(edits)

    trailers = {UNDOES: revision.commit}
    if moved:
        trailers |= {MOVED_FROM: moved[1], MOVED_TO: moved[0]}
    edits, made = change(plan, [permit], path=first, trailers=trailers)
    if not edits:
        return Changed("undo", first, first, made.commit, None, changed=False)
    return changed(edits[0], permit, made, more=edits[1:])


class _Back:
    """The way back from one commit: base is what we wrote, theirs what was before, ours what is there now."""

    def __init__(self, vault: HistoricBackend, commit: str, read: Reader) -> None:
        self._vault, self._commit, self._read = vault, commit, read

    def changed(self, path: str) -> Edit | None:
        """The edit that takes back what the commit did to this path; None when it is taken back already."""
        at = self._vault.resolve(path)
        wrote, before = self._versions(at)
        there = existing(at, self._read)
        now = there.content if there else None
        if now == before:
            return None
        if now == wrote:
            return Edit(at, now, before)
        if None in (now, wrote, before):
            raise self._conflict(path, None)
        return Edit(at, now, self._merged(path, base=wrote or b"", ours=now or b"", theirs=before or b""))

    def moved(self, source: str, target: str) -> Edit:
        """The edit that brings a moved note back, with what was written into it since."""
        origin, place = self._vault.resolve(source), self._vault.resolve(target)
        before, wrote = self._versions(origin)[1], self._versions(place)[0]
        there = existing(place, self._read)
        if there is None or before is None or wrote is None or existing(origin, self._read):
            raise self._conflict(target, None)
        if there.content == wrote:
            return Edit(place, there.content, before, moved_to=origin)
        merged = self._merged(target, base=wrote, ours=there.content, theirs=before)
        return Edit(place, there.content, merged, moved_to=origin)

    def _versions(self, at: Locator) -> tuple[bytes | None, bytes | None]:
        """The file as the commit left it, and as it found it."""
        return self._vault.read_at(at, self._commit), self._vault.read_at(at, f"{self._commit}^")

    def _merged(self, path: str, *, base: bytes, ours: bytes, theirs: bytes) -> bytes:
        merge = self._vault.merge(base=base, ours=ours, theirs=theirs)
        if merge.conflict:
            raise self._conflict(path, merge.conflict)
        return merge.content

    def _conflict(self, path: str, hunk: str | None) -> Conflict:
        return Conflict(
            f"{path} was changed since in the same place; nothing was undone",
            path=path,
            found=hunk,
            hint="Change the note by hand: what it was before is in `commonplace note history`.",
        )
