"""Undoing our own changes: the inverse by three-way merge, written through the same flow as any change."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from commonplace.errors import Conflict, NotFound, Refused, UsageError
from commonplace.flows.erase import erased_since, files_of
from commonplace.flows.move import MOVED_FROM, MOVED_TO
from commonplace.flows.write import (
    ACTOR,
    KIND,
    ORIGIN,
    Desk,
    Edit,
    Permit,
    Reader,
    change,
    changed,
    existing,
    marks_of,
    with_history,
)
from commonplace.model import Changed, Terms
from commonplace.notes import parse
from commonplace.policy.sensitivity import is_sensitive
from commonplace.vault.base import HistoricBackend, Locator, Revision

UNDOES = "Commonplace-Undoes"
MUTATION = "Commonplace-Mutation"
_UNDONE_BY_COUNT = ("write", "delete", "move", "remember", "confirm", "forget")
_FARTHEST_BACK = 1000  # commits of ours that are looked through for the newest to undo


def undo_last(desk: Desk, terms: Terms, *, count: int = 1) -> tuple[Changed, ...]:
    """Undo our newest changes, newest first, each in a commit of its own.

    Passed over are snapshots, undos, what was erased since, what is so already, and for a program what others changed.
    Raises NotFound when there are fewer to try, and Conflict for one that cannot be undone; those before it stay so.
    """
    if count < 1:
        raise UsageError(f"cannot undo {count} changes", hint="Name how many: 1 or more.")
    if count > 1 and terms.dry_run:
        message = "a dry run shows one undo: the next would be merged with its outcome"
        raise UsageError(message, hint="Leave the number out, or name a change with --commit.")
    candidates = _candidates(desk)
    if len(candidates) < count:
        raise _only(len(candidates))
    done: list[Changed] = []
    for place, revision in enumerate(candidates):
        if len(done) == count:
            break
        try:
            outcome = _Undo(revision, desk, terms).carry_out()
        except Conflict as conflict:
            raise _hinting(conflict, candidates[place + 1 :]) from conflict
        done += [outcome] if outcome.changed else []
    if not done:
        raise _only(0)
    return tuple(done)


def undo_commit(commit: str, desk: Desk, terms: Terms) -> Changed:
    """Undo one change of ours, named by its commit or the beginning of it; an undo can be undone too.

    Raises Refused for what was erased since, and to a program for what others changed.
    """
    if len(commit) < 4:
        raise UsageError(f"{commit!r} is too short to name a commit", hint="Give at least four of its digits.")
    ours = with_history(desk.vault).revisions(ours=True)
    found = [each for each in ours if each.commit.startswith(commit)]
    kinds = {*_UNDONE_BY_COUNT, "undo"}
    if len(found) != 1 or found[0].trailers.get(KIND) not in kinds:
        raise NotFound(
            f"no one change of ours has the commit {commit}", hint="`commonplace log` lists what was written."
        )
    revision = found[0]
    if not _is_open_to(desk, revision):
        raise Refused(f"only who made the change, or a person, may undo {commit}", hint="Ask the person to undo it.")
    if _is_erased(revision, erased_since(ours)[revision.commit]):
        raise Refused(f"a note of {commit} was erased since", hint="What was erased does not come back.")
    return _Undo(revision, desk, terms).carry_out()


def _candidates(desk: Desk) -> list[Revision]:
    """The changes that may be undone by count, newest first."""
    ours = with_history(desk.vault).revisions(ours=True, limit=_FARTHEST_BACK)
    undone, erased = _undone(ours), erased_since(ours)
    return [
        each
        for each in ours
        if each.trailers.get(KIND) in _UNDONE_BY_COUNT
        and not _names(each) & undone
        and _is_open_to(desk, each)
        and not _is_erased(each, erased[each.commit])
    ]


def _undone(revisions: Iterable[Revision]) -> set[str]:
    """What the undos that stand name; an undo that was undone itself counts for nothing. Newest first."""
    gone: set[str] = set()
    for revision in revisions:
        if not _names(revision) & gone and (target := revision.trailers.get(UNDOES)):
            gone.add(target)
    return gone


def _names(revision: Revision) -> set[str]:
    """The names by which an undo can mean the commit; the id of the mutation outlives a rebase."""
    return {revision.commit, revision.trailers.get(MUTATION, revision.commit)}


def _is_open_to(desk: Desk, revision: Revision) -> bool:
    """Whether whoever is at the desk may undo it: a person everything, a program what it did itself."""
    made_by = (revision.trailers.get(ACTOR), revision.trailers.get(ORIGIN))
    return desk.actor.kind == "person" or (desk.actor.kind, desk.actor.origin) == made_by


def _is_erased(revision: Revision, gone: frozenset[str]) -> bool:
    ends = {revision.trailers.get(MOVED_FROM), revision.trailers.get(MOVED_TO)}
    return bool(gone & {*files_of(revision), *ends})


def _only(number: int) -> NotFound:
    return NotFound(
        f"there are only {number} changes of ours to undo", hint="`commonplace log` lists what was written."
    )


def _hinting(conflict: Conflict, older: Sequence[Revision]) -> Conflict:
    """The conflict, with the way round it: the next older change."""
    hint = conflict.hint or ""
    if older:
        hint = f"{hint} The change before it: `commonplace undo --commit {older[0].commit[:10]}`."
    return Conflict(conflict.message, path=conflict.path, found=conflict.found, hint=hint.strip())


class _Undo:
    """The undo of one commit: its files as far as they are ours, asked about, planned and written."""

    def __init__(self, revision: Revision, desk: Desk, terms: Terms) -> None:
        self._revision, self._desk = revision, desk
        source, target = revision.trailers.get(MOVED_FROM), revision.trailers.get(MOVED_TO)
        self._moved = (source, target) if source and target else None
        self._paths = [path for path in files_of(revision) if not self._moved or path not in self._moved]
        self._first = self._moved[0] if self._moved else next(iter(self._paths), "")
        self._permit = Permit(desk, replace(terms, personal=desk.actor.kind == "person"), "undo", self._first)

    def carry_out(self) -> Changed:
        """Undo it; `changed` is False when it is taken back already."""
        for path in [*self._paths, *(self._moved or ())]:
            self._permit.ask(path)
        trailers = {UNDOES: self._revision.trailers.get(MUTATION, self._revision.commit)}
        if self._moved:
            trailers |= {MOVED_FROM: self._moved[1], MOVED_TO: self._moved[0]}
        edits, made = change(self._plan, [self._permit], path=self._first, trailers=trailers)
        if not edits:
            return Changed("undo", self._first, self._first, made.commit, None, changed=False)
        return changed(edits[0], self._permit, made, more=edits[1:])

    def _plan(self, read: Reader) -> tuple[Edit, ...]:
        back = _Back(with_history(self._desk.vault), self._revision.commit, read)
        is_program = self._desk.actor.kind != "person"
        for path in [*self._paths, *(self._moved or ())] if is_program else ():
            self._refuse_sensitive(path, *back.versions(path))  # before a conflict shows any of it
        edits = [back.moved(*self._moved)] if self._moved else []
        edits += [back.changed(path) for path in self._paths]
        made = tuple(edit for edit in edits if edit and edit.makes_a_difference)
        for edit in made:
            self._permit.ask(edit.at.path, there=existing(edit.at, read))
            if is_program:
                self._refuse_sensitive(edit.at.path, edit.after)
                self._refuse_what_gains_trust(edit, read)
        return made

    def _refuse_sensitive(self, path: str, *contents: bytes | None) -> None:
        """Raise Refused when the note is, was or would be marked sensitive: a difference would show it."""
        notes = (parse(content, path=path, mtime=0.0) for content in contents if content is not None)
        if any(is_sensitive(note, self._desk.safety) for note in notes):
            raise Refused(
                f"the note is or was marked sensitive: {path}",
                path=path,
                reason="sensitive",
                hint="Leave it to the person.",
            )

    def _refuse_what_gains_trust(self, edit: Edit, read: Reader) -> None:
        """Raise Refused unless the program might write the outcome there itself."""
        to = edit.moved_to or edit.at
        permit = Permit(self._desk, self._permit.terms, "forget" if edit.after is None else "remember", to.path)
        decision = permit.ask(
            there=existing(to, read),
            incoming=marks_of(edit.after, path=to.path) if edit.after is not None else None,
            moved_from=edit.at.path if edit.moved_to else None,
        )
        if decision.kind != "allow":
            raise Refused(
                f"undoing this would give {to.path} a trust that only a person gives",
                path=to.path,
                hint="Ask the person to undo it.",
            )


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
        wrote, before = _with_endings_of(now, wrote), _with_endings_of(now, before)
        if now == before:
            return None
        if now == wrote:
            return Edit(at, now, before)
        if None in (now, wrote, before):
            raise self._conflict(path, None)
        return Edit(at, now, self._merged(path, base=wrote or b"", ours=now or b"", theirs=before or b""))

    def moved(self, source: str, target: str) -> Edit | None:
        """The edit that brings a moved note back, with what was written into it since; None when it is back already."""
        origin, place = self._vault.resolve(source), self._vault.resolve(target)
        before, wrote = self._versions(origin)[1], self._versions(place)[0]
        there, back = existing(place, self._read), existing(origin, self._read)
        if there is None and back:
            return None
        if there is None or before is None or wrote is None or back:
            raise self._conflict(target, None)
        wrote, before = _with_endings_of(there.content, wrote) or b"", _with_endings_of(there.content, before) or b""
        if there.content == wrote:
            return Edit(place, there.content, before, moved_to=origin)
        merged = self._merged(target, base=wrote, ours=there.content, theirs=before)
        return Edit(place, there.content, merged, moved_to=origin)

    def versions(self, path: str) -> tuple[bytes | None, ...]:
        """What the commit left and found at that path, and what is there now; nothing when it is as it was found."""
        at = self._vault.resolve(path)
        wrote, before = self._versions(at)
        there = existing(at, self._read)
        now = there.content if there else None
        return () if now == before else (wrote, before, now)

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


def _with_endings_of(now: bytes | None, content: bytes | None) -> bytes | None:
    """The content with the line endings of the note that is there: git may keep lines without their CR."""
    if now is None or content is None or b"\r\n" not in now or b"\r" in content:
        return content
    return content.replace(b"\n", b"\r\n")
