"""The audit log of what was written, and undo.

The log comes from history.db; rows that are missing are restored from commit trailers. An undo is the inverse of a
commit by three-way merge, written by the same flow as any change.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from commonplace.errors import Conflict, NotFound, Refused, UsageError
from commonplace.flows.ingest.line_writers import ACTOR
from commonplace.flows.ingest.past_lines import moves_of, own_paths
from commonplace.flows.notes.erase import erased_since, without_words
from commonplace.flows.notes.write import (
    FORGETS,
    KIND,
    ORIGIN,
    PERSON,
    Edit,
    Permit,
    Reader,
    change,
    change_result,
    move_trailers,
    parse_existing,
    read_existing,
    require_history,
)
from commonplace.flows.read import is_hidden, locate
from commonplace.flows.stores import Session, Stores
from commonplace.history.base import ERASED, AuditEntry, check_limit
from commonplace.model import Changed, Terms, Verb
from commonplace.model.layout import entry_digits, is_profile
from commonplace.notes import parse
from commonplace.policy.write_policy import space_of
from commonplace.vault.base import HistoricBackend, Locator, Revision, version_of

OPERATION = "operation"
"""The verb of rows that say what became of one operation on a profile note; the change itself has a row of its own."""
BASELINE = "baseline"  # what was there before us; not a change
_COMPARED = 200  # our newest commits that are compared with the rows in the history


def log_entries(stores: Stores, *, path: str | None = None, limit: int | None = None) -> tuple[AuditEntry, ...]:
    """The rows of the newest changes, at most `limit` changes, newest first in git's order.

    Raises VaultUnavailable if neither git nor history.db can be read.
    """
    check_limit(limit)
    about = None if path is None else locate(path, stores.vault).path
    recorded = {entry.commit for entry in stores.history.entries(limit=5 * _COMPARED)}
    farthest = max(_COMPARED, limit) if recorded and limit is not None else None
    compared = _COMPARED if recorded else None
    ours = require_history(stores.vault).revisions(ours=True, limit=farthest)
    erased = erased_since(ours)
    missing = [
        each
        for each in reversed(ours[:compared])
        if each.commit not in recorded and each.trailers.get(KIND) != BASELINE
    ]
    stores.history.recover(
        entry for revision in missing for entry in _entries(revision, stores, erased[revision.commit])
    )
    order = {revision.commit: place for place, revision in enumerate(ours)}
    rows = sorted(_rows(stores, about, limit), key=lambda entry: order.get(_change_of(entry), len(order)))
    if farthest is None or len(ours) < farthest:
        rows = _without_rewritten(rows, order)
    chosen = {*islice(dict.fromkeys(map(_change_of, rows)), limit)}
    return tuple(entry for entry in rows if _change_of(entry) in chosen)


def _rows(stores: Stores, path: str | None, limit: int | None) -> tuple[AuditEntry, ...]:
    """The newest rows, of at least `limit` changes; a change of many notes has many rows."""
    count = None if limit is None else _COMPARED + 5 * limit
    while True:
        rows = stores.history.entries(path=path, limit=count)
        if count is None or limit is None or len(rows) < count or len({*map(_change_of, rows)}) > limit:
            return tuple(row for row in rows if row.verb != OPERATION)
        count *= 4


def _without_rewritten(rows: Sequence[AuditEntry], commits: Collection[str]) -> list[AuditEntry]:
    """The rows without those whose commit a rebase or a purge replaced by another: that one has rows of its own."""

    def did(row: AuditEntry) -> tuple[str | None, ...]:
        return row.verb, row.path, row.destination, row.before, row.after

    there = {did(row) for row in rows if row.commit in commits}
    return [row for row in rows if not row.commit or row.commit in commits or did(row) not in there]


def _change_of(entry: AuditEntry) -> str:
    return entry.commit or entry.mutation


def _entries(revision: Revision, stores: Stores, erased: frozenset[str]) -> Iterator[AuditEntry]:
    """The rows of a commit; those about erased notes without a word of them."""
    vault, trailers = require_history(stores.vault), revision.trailers
    moves = dict(moves_of(revision))
    ends = {path: moves.get(path, path) for path in own_paths(revision)}
    for source in moves.keys() & ends.keys():
        ends.pop(moves[source], None)
    before = [(vault.resolve(path), f"{revision.commit}^") for path in ends]
    contents = vault.read_all_at([*before, *((vault.resolve(end), revision.commit) for end in ends.values())])
    actor = trailers.get(ACTOR, "person")
    for (path, end), was, came in zip(ends.items(), contents, contents[len(ends) :], strict=False):
        row = AuditEntry(
            mutation=revision.commit,
            when=revision.when,
            verb=trailers.get(KIND, "write"),
            path=path,
            destination=end if end != path else None,
            actor=actor,
            origin=trailers.get(ORIGIN, "git"),
            reason=_without(erased, revision.message),
            before=None if was is None else version_of(was),
            after=None if came is None else version_of(came),
            commit=revision.commit,
            in_digest=actor != "person" and space_of(path, stores.safety) != "memory",
            person=trailers.get(PERSON, ""),
        )
        kept = without_words(row, stores) if erased & {path, end} else row
        if kept:
            yield kept


def _without(erased: Collection[str], reason: str) -> str:
    for path in erased:
        reason = reason.replace(path, ERASED)
    return reason


UNDOES = "Commonplace-Undoes"
MUTATION = "Commonplace-Mutation"
_THREAD = re.compile(r"(?<![\w-])[cxt]-[0-9a-f]{6,}(?![0-9a-f])")
_UNDONE_BY_COUNT = ("write", "delete", "move", "curate", "remember", "confirm", "forget")
_FARTHEST_BACK = 1000  # our commits that are searched for changes to undo


def undo_last(session: Session, terms: Terms, *, count: int = 1) -> tuple[Changed, ...]:
    """Undo our newest changes, newest first, each in a commit of its own.

    Skips snapshots, undos, changes that were erased or taken back since and, for a program, the changes of others.
    Raises NotFound if there are fewer, and Conflict for one that cannot be undone; those before it stay undone.
    """
    if count < 1:
        raise UsageError(f"cannot undo {count} changes", hint="Give 1 or more.")
    if count > 1 and terms.dry_run:
        message = "a dry run shows one undo, because the next depends on its result"
        raise UsageError(message, hint="Leave the number out, or name a change with --commit.")
    candidates, erased = _candidates(session)
    if len(candidates) < count:
        raise _too_few(len(candidates))
    done: list[Changed] = []
    for place, revision in enumerate(candidates):
        if len(done) == count:
            break
        try:
            outcome = _Undo(revision, session, terms, erased[revision.commit]).run()
        except Conflict as conflict:
            raise _with_hint(conflict, candidates[place + 1 :]) from conflict
        done += [outcome] if outcome.changed else []
    if not done:
        raise _too_few(0)
    return tuple(done)


def undo_commit(commit: str, session: Session, terms: Terms) -> Changed:
    """Undo one of our changes, named by its commit id or the beginning of it; an undo can be undone too.

    Raises NotFound, and Refused if a note of it was erased since, or if a program asks and another actor made it.
    """
    if len(commit) < 4:
        raise UsageError(f"{commit!r} is too short to name a commit", hint="Give at least four of its digits.")
    ours = require_history(session.stores.vault).revisions(ours=True)
    matches = [each for each in ours if each.commit.startswith(commit)]
    kinds = {*_UNDONE_BY_COUNT, "undo"}
    if len(matches) != 1 or matches[0].trailers.get(KIND) not in kinds:
        raise NotFound(
            f"no single change of Commonplace has the commit {commit}", hint="`commonplace log` lists what was written."
        )
    revision = matches[0]
    if not _may_undo(session, revision):
        raise Refused(
            f"only the actor that made the change, or a person, may undo {commit}", hint="Ask the person to undo it."
        )
    erased = erased_since(ours)[revision.commit]
    if FORGETS in revision.trailers:
        hint = "What was erased cannot be restored."
        raise Refused(f"{commit} removed words of what was erased", path=next(iter(own_paths(revision)), ""), hint=hint)
    if _is_erased(revision, erased):
        raise Refused(f"a note of {commit} has been erased since", hint="An erased note cannot be restored.")
    return _Undo(revision, session, terms, erased).run()


def _candidates(session: Session) -> tuple[list[Revision], Mapping[str, frozenset[str]]]:
    """The changes that can be undone by count, newest first, and for each commit what was erased since."""
    ours = require_history(session.stores.vault).revisions(ours=True, limit=_FARTHEST_BACK)
    undone, erased = _undone(ours), erased_since(ours)
    candidates = [
        each
        for each in ours
        if each.trailers.get(KIND) in _UNDONE_BY_COUNT
        and FORGETS not in each.trailers
        and not _names(each) & undone
        and _may_undo(session, each)
        and not _is_erased(each, erased[each.commit])
    ]
    return candidates, erased


def _undone(revisions: Iterable[Revision]) -> set[str]:
    """The names of the commits that were undone; takes them newest first. An undo that was undone does not count."""
    gone: set[str] = set()
    for revision in revisions:
        if not _names(revision) & gone and (target := revision.trailers.get(UNDOES)):
            gone.add(target)
    return gone


def undone_commits(stores: Stores) -> frozenset[str]:
    """Those of our newest commits that were undone since; an undo that was undone is one of them."""
    ours = require_history(stores.vault).revisions(ours=True, limit=_FARTHEST_BACK)
    undone = _undone(ours)
    return frozenset(each.commit for each in ours if _names(each) & undone)


@dataclass(frozen=True, slots=True)
class UndoOutlook:
    """Whether a change was undone, and why it cannot be undone now; empty if it can, later edits aside."""

    is_undone: bool
    why_not: str


def undo_outlooks(commits: Collection[str], session: Session) -> Mapping[str, UndoOutlook]:
    """For those of these commits that are ours, whether they were undone and can be. Raises VaultUnavailable."""
    vault = require_history(session.stores.vault)
    ours = vault.revisions(ours=True, limit=_FARTHEST_BACK)
    if len(ours) == _FARTHEST_BACK and not {*commits} <= {each.commit for each in ours}:
        ours = vault.revisions(ours=True)
    undone, erased = _undone(ours), erased_since(ours)
    return {
        each.commit: _outlook(each, session, undone=undone, erased=erased[each.commit])
        for each in ours
        if each.commit in commits
    }


def _outlook(revision: Revision, session: Session, *, undone: set[str], erased: frozenset[str]) -> UndoOutlook:
    is_undone = bool(_names(revision) & undone)
    kind = revision.trailers.get(KIND, "")
    reasons = {
        "it was undone already": is_undone,
        f"a change of the kind {kind!r} cannot be undone": kind not in {*_UNDONE_BY_COUNT, "undo"},
        "a note of it has been erased since": _is_erased(revision, erased),
        "only whoever made it, or a person, may undo it": not _may_undo(session, revision),
    }
    return UndoOutlook(is_undone, next((why for why, holds in reasons.items() if holds), ""))


def _names(revision: Revision) -> set[str]:
    """The names by which an undo can refer to the commit; the mutation id survives a rebase."""
    return {revision.commit, revision.trailers.get(MUTATION, revision.commit)}


def _may_undo(session: Session, revision: Revision) -> bool:
    """True if this actor may undo it: a person everything, a program its own changes."""
    actor, made_by = session.actor, tuple(revision.trailers.get(name, "") for name in (ACTOR, ORIGIN, PERSON))
    return actor.kind == "person" or (actor.kind, actor.origin, actor.person) == made_by


def _is_erased(revision: Revision, gone: frozenset[str]) -> bool:
    ends = {path for move in moves_of(revision) for path in move}
    return bool(gone & {*own_paths(revision), *ends})


def _too_few(number: int) -> NotFound:
    return NotFound(
        f"Commonplace has made only {number} changes that can be undone",
        hint="`commonplace log` lists what was written.",
    )


def _with_hint(conflict: Conflict, older: Sequence[Revision]) -> Conflict:
    """The conflict, with the next older change as a hint."""
    hint = conflict.hint or ""
    if older:
        hint = f"{hint} The change before it: `commonplace undo --commit {older[0].commit[:10]}`."
    return Conflict(conflict.message, path=conflict.path, found=conflict.found, hint=hint.strip())


class _Undo:
    """The undo of one commit: policy is asked about its paths, then the inverse is planned and written."""

    def __init__(self, revision: Revision, session: Session, terms: Terms, erased: frozenset[str]) -> None:
        self._revision, self._session = revision, session
        self._erased = frozenset(entry_digits(path) or path.removesuffix(".md") for path in erased)
        self._moves = moves_of(revision)
        self._ends = [path for move in self._moves for path in move]
        self._paths = [path for path in own_paths(revision) if path not in self._ends]
        self._first = next(iter((*self._ends, *self._paths)), "")
        self._permit = Permit(session, replace(terms, personal=session.actor.kind == "person"), "undo", self._first)

    def run(self) -> Changed:
        """Undo the commit; `changed` is False if it was taken back already."""
        for path in [*self._paths, *self._ends]:
            self._permit.ask(path)
        trailers = {UNDOES: self._revision.trailers.get(MUTATION, self._revision.commit)}
        trailers |= move_trailers(*((target, source) for source, target in self._moves))
        edits, result = change(self._plan, [self._permit], path=self._first, trailers=trailers)
        if not edits:
            return Changed("undo", self._first, self._first, result.commit, None, changed=False)
        return change_result(edits[0], self._permit, result, more=edits[1:])

    def _plan(self, read: Reader) -> tuple[Edit, ...]:
        back = _Back(require_history(self._session.stores.vault), self._revision.commit, read)
        is_program = self._session.actor.kind != "person"
        for path in [*self._paths, *self._ends] if is_program else ():
            self._refuse_sensitive(path, *back.versions(path))  # before a conflict could show any of it
        edits = [back.moved(*move) for move in self._moves]
        edits += [back.changed(path) for path in self._paths]
        made = tuple(edit for edit in edits if edit and edit.makes_a_difference)
        for edit in made:
            self._refuse_erased_names(edit)
            self._permit.ask(edit.at.path, there=parse_existing(read_existing(edit.at, read)))
            if is_program:
                self._refuse_sensitive(edit.at.path, edit.after)
                self._refuse_gain_of_trust(edit, read)
        return made

    def _refuse_erased_names(self, edit: Edit) -> None:
        """Raise Refused if the name of an erased note, entry or conversation would stand in the note again."""
        before, after = ((content or b"").decode(errors="replace") for content in (edit.before, edit.after))
        threads = {*_THREAD.findall(after)} - {*_THREAD.findall(before)}
        is_forgotten = threads and self._session.stores.history.forgotten(threads)
        if is_forgotten or any(name in after and name not in before for name in self._erased):
            raise Refused(
                f"undoing this would bring something back into {edit.at.path} that has been erased since",
                path=edit.at.path,
                hint="Edit the note by hand.",
            )

    def _refuse_sensitive(self, path: str, *contents: bytes | None) -> None:
        """Raise Refused if the note is, was or would be sensitive: a diff would reveal it."""
        notes = (parse(content, path=path, mtime=0.0) for content in contents if content is not None)
        if any(is_hidden(note, self._session.stores) for note in notes):
            raise Refused(
                f"{path} is or was marked sensitive",
                path=path,
                reason="sensitive",
                hint="Leave it to the person.",
            )

    def _refuse_gain_of_trust(self, edit: Edit, read: Reader) -> None:
        """Raise Refused unless the program could write the result there itself."""
        to = edit.moved_to or edit.at
        verb: Verb = "curate" if is_profile(to.path) else "forget" if edit.after is None else "remember"
        permit = Permit(self._session, self._permit.terms, verb, to.path)
        decision = permit.ask(
            there=parse_existing(read_existing(to, read)),
            incoming=parse(edit.after, path=to.path, mtime=0.0) if edit.after is not None else None,
            moved_from=edit.at.path if edit.moved_to else None,
        )
        if decision.kind != "allow":
            raise Refused(
                f"undoing this would give {to.path} trust that only a person can give",
                path=to.path,
                hint="Ask the person to undo it.",
            )


class _Back:
    """The inverse of one commit: base is what we wrote, theirs what was before, ours what is there now."""

    def __init__(self, vault: HistoricBackend, commit: str, read: Reader) -> None:
        self._vault, self._commit, self._read = vault, commit, read

    def changed(self, path: str) -> Edit | None:
        """The edit that reverts the commit's change of this path; None if it is already reverted."""
        at = self._vault.resolve(path)
        wrote, before = self._versions(at)
        there = read_existing(at, self._read)
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
        """The edit that moves a note back, keeping later changes of its text; None if it is back already."""
        origin, place = self._vault.resolve(source), self._vault.resolve(target)
        before, wrote = self._versions(origin)[1], self._versions(place)[0]
        there, back = read_existing(place, self._read), read_existing(origin, self._read)
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
        """The file after and before the commit, and now; empty if it is as it was before."""
        at = self._vault.resolve(path)
        wrote, before = self._versions(at)
        there = read_existing(at, self._read)
        now = there.content if there else None
        return () if now == before else (wrote, before, now)

    def _versions(self, at: Locator) -> tuple[bytes | None, bytes | None]:
        """The file after and before the commit."""
        return self._vault.read_at(at, self._commit), self._vault.read_at(at, f"{self._commit}^")

    def _merged(self, path: str, *, base: bytes, ours: bytes, theirs: bytes) -> bytes:
        merge = self._vault.merge(base=base, ours=ours, theirs=theirs)
        if merge.conflict:
            raise self._conflict(path, merge.conflict)
        return merge.content

    def _conflict(self, path: str, hunk: str | None) -> Conflict:
        return Conflict(
            f"{path} was changed in the same place since; nothing was undone",
            path=path,
            found=hunk,
            hint="Undo the later changes first (`commonplace note history` lists them), or edit the note by hand.",
        )


def _with_endings_of(now: bytes | None, content: bytes | None) -> bytes | None:
    """The content with the line endings of the current note: git may store lines without CR."""
    if now is None or content is None or b"\r\n" not in now or b"\r" in content:
        return content
    return content.replace(b"\n", b"\r\n")
