"""The changes made through Commonplace, a page at a time, and one of them with its diff.

Rows of the audit that belong to one commit are one change. A page ends with a mark from which the next one goes on.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice
from typing import Final

from commonplace.errors import CommonplaceError, NotFound, UsageError
from commonplace.flows.ingest.past_lines import moves_of, own_paths
from commonplace.flows.notes.erase import erased_since
from commonplace.flows.notes.history import OPERATION, UndoOutlook, log_entries, undo_commit, undo_outlooks
from commonplace.flows.notes.write import require_history
from commonplace.flows.read import is_hidden, locate
from commonplace.flows.stores import Session
from commonplace.history.base import AuditEntry
from commonplace.model import Terms
from commonplace.model.layout import masked_path
from commonplace.model.moment import moment_text, parse_moment
from commonplace.notes import parse
from commonplace.notes.note_text import note_diff
from commonplace.vault.base import Revision

_ROWS: Final = 5  # rows of one change on average: read so many for each change of a page, and more if they do not do
_MOST_CHARS: Final = 200_000  # of a diff
_NEAR: Final = timedelta(minutes=5)  # between a commit and its rows in the audit
_NO_OUTLOOK: Final = UndoOutlook(is_undone=False, why_not="its commit is not in the vault's history")


@dataclass(frozen=True, slots=True)
class ChangedNote:
    """A note that a change touched: its path, and the path to which it was moved, or None."""

    path: str
    destination: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedChange:
    """One change made through Commonplace: who, what, why, and which notes.

    `why_not` says why it cannot be undone; empty if it can, later edits aside. `mark` is where the next page goes on.
    """

    commit: str
    when: str
    actor: str
    origin: str
    verb: str
    reason: str
    notes: tuple[ChangedNote, ...]
    is_undone: bool
    why_not: str
    mark: str
    person: str = ""


@dataclass(frozen=True, slots=True)
class NoteDifference:
    """What a change did to one note, as a unified diff; `hidden` says why there is none."""

    path: str
    difference: str
    is_cut: bool = False
    hidden: str = ""


@dataclass(frozen=True, slots=True)
class ChangeDetail:
    """A change with the diff of each note; `change.why_not` is the result of a trial."""

    change: LoggedChange
    differences: tuple[NoteDifference, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeFilter:
    """Which changes: of that note, by that actor (person, agent, job), with that verb, before that mark."""

    path: str = ""
    actor: str = ""
    verb: str = ""
    before: str = ""


def list_changes(which: ChangeFilter, session: Session, *, limit: int) -> tuple[LoggedChange, ...]:
    """The newest changes that pass the filter, newest first, at most `limit`. Raises UsageError, VaultUnavailable."""
    if limit < 1:
        raise UsageError(f"limit must be at least 1, not {limit}", hint="20 is a page.")
    log_entries(session.stores, limit=1)  # restores rows that a crash has lost
    until, last = _split_mark(which.before)
    path = locate(which.path, session.stores.vault).path if which.path else None
    count = _ROWS * limit
    while True:
        rows = session.stores.history.entries(
            path=path, actor=which.actor or None, verb=which.verb or None, until=until, limit=count
        )
        changes = _after(last, _grouped(rows))
        if len(rows) < count or len(changes) > limit:
            break
        count *= 4
    chosen = dict(islice(changes.items(), limit))
    outlooks = undo_outlooks([*chosen], session)
    hidden = session.hidden_entries()
    return tuple(_logged(rows, outlooks, hidden) for rows in chosen.values())


def show_change(commit: str, session: Session) -> ChangeDetail:
    """One of our changes with its diffs; whether it can be undone is tried out. Raises NotFound, UsageError.

    A program sees no diff of a note that is or was sensitive; nobody sees that of a note erased since.
    """
    ours = require_history(session.stores.vault).revisions(ours=True)
    matches = [each for each in ours if len(commit) >= 4 and each.commit.startswith(commit)]
    if len(matches) != 1:
        raise NotFound(f"no single change has the commit {commit!r}", hint="`commonplace log` lists what was written.")
    revision = matches[0]
    log_entries(session.stores, limit=1)
    rows = session.stores.history.entries(since=revision.when - _NEAR, until=revision.when + _NEAR)
    of_commit = [each for each in rows if each.commit == revision.commit and each.verb != OPERATION]
    outlook = undo_outlooks([revision.commit], session)[revision.commit]
    if not outlook.why_not:
        outlook = UndoOutlook(outlook.is_undone, _why_undo_fails(revision.commit, session))
    hidden = session.hidden_entries()
    change = _logged(of_commit or [_row_of(revision)], {revision.commit: outlook}, hidden)
    return ChangeDetail(change, _differences(revision, erased_since(ours)[revision.commit], session, hidden))


def _why_undo_fails(commit: str, session: Session) -> str:
    try:
        undo_commit(commit, session, Terms(dry_run=True))
    except CommonplaceError as error:
        return error.message
    return ""


def _differences(
    revision: Revision, erased: frozenset[str], session: Session, hidden: frozenset[str]
) -> tuple[NoteDifference, ...]:
    vault, moves = require_history(session.stores.vault), dict(moves_of(revision))
    ends = {path: moves.get(path, path) for path in own_paths(revision) if path not in moves.values() or path in moves}
    differences = []
    for path, end in ends.items():
        if {path, end} & erased:
            continue
        before = vault.read_at(vault.resolve(path), f"{revision.commit}^")
        after = vault.read_at(vault.resolve(end), revision.commit)
        shown = masked_path(end, hidden)
        if not session.sees_sensitive and _is_sensitive(path, (before, after), session):
            differences.append(NoteDifference(shown, "", hidden="the note is or was marked sensitive"))
            continue
        text = note_diff(before, after, path=path, to=end if end != path else None)
        differences.append(NoteDifference(shown, text[:_MOST_CHARS], is_cut=len(text) > _MOST_CHARS))
    return tuple(differences)


def _is_sensitive(path: str, contents: Sequence[bytes | None], session: Session) -> bool:
    notes = (parse(content, path=path, mtime=0.0) for content in contents if content is not None)
    return any(is_hidden(note, session.stores) for note in notes)


def _row_of(revision: Revision) -> AuditEntry:
    """A row for a commit of which the audit has none, such as the first snapshot of a vault."""
    path = next(iter(revision.paths), "")
    verb = revision.trailers.get("Commonplace-Kind", "")
    return AuditEntry(revision.commit, revision.when, verb, path, "person", "git", "", commit=revision.commit)


def _grouped(rows: Iterable[AuditEntry]) -> dict[str, list[AuditEntry]]:
    """The rows of each change, newest first."""
    changes: dict[str, list[AuditEntry]] = {}
    for row in rows:
        if row.verb != OPERATION:
            changes.setdefault(row.commit or row.mutation, []).append(row)
    return changes


def _after(last: str, changes: dict[str, list[AuditEntry]]) -> dict[str, list[AuditEntry]]:
    """The changes after that one."""
    if last not in changes:
        return changes
    return dict(islice(changes.items(), [*changes].index(last) + 1, None))


def _split_mark(mark: str) -> tuple[datetime | None, str]:
    """The moment and the commit of a mark. Raises UsageError."""
    at, _, commit = mark.partition("/")
    try:
        return (parse_moment(at), commit) if mark else (None, "")
    except ValueError as error:
        raise UsageError(f"{mark!r} is not a mark of a page", hint="Take `mark` of the last change.") from error


def _logged(rows: Sequence[AuditEntry], outlooks: Mapping[str, UndoOutlook], hidden: frozenset[str]) -> LoggedChange:
    """The change of these rows; for a program, without the words of sensitive entries."""
    main = next((each for each in rows if each.destination), rows[-1])
    commit = main.commit or ""
    outlook = outlooks.get(commit, _NO_OUTLOOK)
    notes = tuple(
        ChangedNote(masked_path(row.path, hidden), row.destination and masked_path(row.destination, hidden))
        for row in reversed(rows)
    )
    is_masked = notes != tuple(ChangedNote(row.path, row.destination) for row in reversed(rows))
    return LoggedChange(
        commit=commit,
        when=moment_text(main.when),
        actor=main.actor,
        origin=main.origin,
        person=main.person,
        verb=main.verb,
        reason="" if is_masked else main.reason,
        notes=notes,
        is_undone=outlook.is_undone,
        why_not=outlook.why_not,
        mark=f"{moment_text(main.when)}/{commit or main.mutation}",
    )
