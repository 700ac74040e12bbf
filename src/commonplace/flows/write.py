"""Every change of a note, always in this order, so that the earlier failure wins:

size -> safe path -> policy -> lock -> version -> sensitivity -> merge -> snapshot of what a person wrote -> journal ->
atomic publish -> commit -> audit -> unlock -> ingest of what was written -> event.

`change` is the spine that write, delete, move, undo and erase share; snapshot to commit are the store's own steps.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast

from commonplace.errors import CommonplaceError, Conflict, NotFound, Refused, UsageError
from commonplace.events import emit
from commonplace.flows.read import locate
from commonplace.history.base import AuditEntry, History
from commonplace.model import Actor, Changed, Note, Terms, Verb
from commonplace.notes import parse
from commonplace.notes.diff import difference
from commonplace.notes.merge import merge_note
from commonplace.policy.options import SafetyOptions
from commonplace.policy.sensitivity import is_sensitive
from commonplace.policy.trust import ALWAYS_LOAD, looks_trusted
from commonplace.policy.writing import Decision, decide
from commonplace.vault.base import (
    ABSENT,
    Blob,
    Capability,
    HistoricBackend,
    Label,
    Locator,
    Made,
    Skip,
    StorageBackend,
    Transaction,
    version_of,
)
from commonplace.vault.rules import compare

KIND = "Commonplace-Kind"
ACTOR = "Commonplace-Actor"
ORIGIN = "Commonplace-Origin"
SHORTEST_VERSION = 12  # digits with which a version may be named

Reader = Callable[[Locator], Blob]


@dataclass(frozen=True, slots=True)
class Desk:
    """One vault and its history, who is at work, and the rules and the clock to work by."""

    vault: StorageBackend
    history: History
    actor: Actor
    safety: SafetyOptions
    message: str
    ignored: Skip
    clock: Callable[[], datetime]
    ingest: Callable[[Sequence[str]], object]
    forget: Callable[[Sequence[str], Sequence[bytes]], None]
    wait: float = 10.0


@dataclass(frozen=True, slots=True)
class Edit:
    """One file of a change: its bytes before and after, None where it is not there; `moved_to` gives it a new path."""

    at: Locator
    before: bytes | None
    after: bytes | None
    moved_to: Locator | None = None

    @property
    def makes_a_difference(self) -> bool:
        """Whether anything is to change at all."""
        return self.moved_to is not None or self.before != self.after


Plan = Callable[[Reader], tuple[Edit, ...]]
"""What is to change, given how to read; run under the lock, or without it for a dry run."""


def write_note(path: str, content: bytes, desk: Desk, terms: Terms) -> Changed:
    """Create the note or lay the content over what is there. Raises Refused, Conflict or VaultUnavailable."""
    return write_notes({path: content}, desk, terms)[0]


def write_notes(contents: Mapping[str, bytes], desk: Desk, terms: Terms) -> tuple[Changed, ...]:
    """Write several notes in one commit, all or none. Raises as `write_note` does, for the first that cannot be."""
    for path, content in contents.items():
        _refuse_too_large(content, path, desk.safety)
    drafts = [_draft(path, content, desk, terms) for path, content in contents.items()]
    if not drafts:
        return ()

    def plan(read: Reader) -> tuple[Edit, ...]:
        return tuple(draft.edit(read) for draft in drafts)

    path = drafts[0].target.path if len(drafts) == 1 else f"{len(drafts)} notes"
    edits, made = change(plan, [draft.permit for draft in drafts], path=path)
    return tuple(changed(edit, draft.permit, made) for edit, draft in zip(edits, drafts, strict=True))


@dataclass(frozen=True, slots=True)
class _Draft:
    """A note to be written, and where policy wants it as far as the path tells."""

    content: bytes
    target: Locator
    permit: "Permit"

    def edit(self, read: Reader) -> Edit:
        """The edit, once the note that is there has been compared, asked about and merged with."""
        desk, target = self.permit.desk, self.target
        there = existing(target, read)
        self._check_version(there, read)
        decision = self.permit.ask(target.path, there=there, incoming=marks_of(self.content, path=target.path))
        if decision.path != target.path:
            target = locate(decision.path, desk.vault)
            there = existing(target, read)
            self.permit.ask(target.path, there=there)
        before = there.content if there else None
        return Edit(target, before, merge_note(before, self.content, path=target.path))

    def _check_version(self, there: Blob | None, read: Reader) -> None:
        """Compare with what is there; a redirected writer may also have seen the note that it asked for."""
        terms = self.permit.terms
        if self.target.path != self.permit.path and terms.expected not in (None, ABSENT):
            asked = existing(locate(self.permit.path, self.permit.desk.vault), read)
            if asked and asked.version.startswith(terms.expected or ""):
                return
        check_version(self.target.path, there, terms)


def _draft(path: str, content: bytes, desk: Desk, terms: Terms) -> _Draft:
    at = locate(path, desk.vault)
    permit = Permit(desk, terms, "write", at.path)
    decision = permit.ask(incoming=marks_of(content, path=at.path))
    return _Draft(content, at if decision.path == at.path else locate(decision.path, desk.vault), permit)


def delete_note(path: str, desk: Desk, terms: Terms) -> Changed:
    """Remove the note; git keeps it. Raises as `write_note` does, and NotFound."""
    at = locate(path, desk.vault)
    permit = Permit(desk, terms, "delete", at.path)
    permit.ask()

    def plan(read: Reader) -> tuple[Edit, ...]:
        there = read(at)
        check_version(at.path, there, terms)
        permit.ask(there=there)
        return (Edit(at, there.content, None),)

    (edit,), made = change(plan, [permit], path=at.path)
    return changed(edit, permit, made)


class Permit:
    """Policy's answers for one call. A grant counts once, for its path, and only if it comes to that."""

    def __init__(self, desk: Desk, terms: Terms, verb: Verb, path: str) -> None:
        self.desk, self.terms, self.verb, self.path = desk, terms, verb, path
        self._granted = bool(terms.grant and desk.history.has_grant(terms.grant, path, now=desk.clock()))
        self.in_digest = False

    def use_up(self) -> None:
        """Use up the grant, now that the change is about to be made. Raises Refused when someone else was quicker."""
        if self._granted and not self.desk.history.use_grant(self.terms.grant or "", self.path, now=self.desk.clock()):
            raise Refused("the grant was used meanwhile", path=self.path, hint="Ask for another one.")

    def ask(
        self,
        path: str | None = None,
        *,
        there: Blob | None = None,
        incoming: Mapping[str, Any] | None = None,
        moved_from: str | None = None,
    ) -> Decision:
        """What policy says of the path, given the note that is there. Raises Refused when it says no."""
        path = path or self.path
        note = parse(there.content, path=path, mtime=there.stat.mtime) if there else None
        decision = decide(
            actor=self.desk.actor.kind,
            verb=self.verb,
            path=path,
            options=self.desk.safety,
            personal=self.terms.personal,
            granted=self._granted and path == self.path,
            sensitive=note is not None and is_sensitive(note, self.desk.safety),
            existing=marks_of(there.content, path=path) if there else None,
            incoming=incoming,
            moved_from=moved_from,
        )
        decision.raise_if_refused()
        self.in_digest = self.in_digest or decision.in_digest
        return decision

    def allows(self, note: Note) -> bool:
        """Whether links in this note may be made to follow a move: a person's move speaks for all of their notes."""
        decision = decide(
            actor=self.desk.actor.kind,
            verb="write",
            path=note.path,
            options=self.desk.safety,
            personal=True,
            sensitive=is_sensitive(note, self.desk.safety),
            existing=note.frontmatter,
        )
        return decision.kind == "allow"


def change(
    plan: Plan, permits: Sequence[Permit], *, path: str, trailers: Mapping[str, str] | None = None
) -> tuple[tuple[Edit, ...], Made]:
    """Make what the plan says, in one commit; a dry run only plans. Raises Conflict and VaultUnavailable."""
    permit = permits[0]
    desk, verb = permit.desk, permit.verb
    if permit.terms.dry_run:
        return _dry(plan(desk.vault.read), desk.vault), Made(None, changed=False)
    start = time.perf_counter()
    label = _label(permit, path, trailers or {})
    edits: tuple[Edit, ...] = ()
    outcome = Made(None, changed=False)

    def made(what: Made) -> None:
        nonlocal outcome
        outcome = what
        if what.changed:
            _record(edits, permits, label.message, what.commit)

    with desk.vault.transaction(wait=desk.wait, label=label, then=made) as transaction:
        edits = plan(transaction.read)
        for edit in edits:
            _stage(edit, transaction)
        for each in permits:
            each.use_up()
    if outcome.changed:
        _ingest(edits, desk)
    emit(
        f"vault_{verb}",
        path=path,
        actor=desk.actor.kind,
        commit=outcome.commit,
        changed=outcome.changed,
        duration_ms=round((time.perf_counter() - start) * 1000, 1),
    )
    return edits, outcome


def _ingest(edits: tuple[Edit, ...], desk: Desk) -> None:
    """Let the writer find its own words. The change itself is done: an index that fails is told, and mended by sync."""
    paths = [place.path for edit in edits for place in (edit.at, edit.moved_to) if place and edit.makes_a_difference]
    try:
        desk.ingest(paths)
    except CommonplaceError as error:
        emit("ingest_failed", level="warning", paths=len(paths), said=str(error))


def _dry(edits: tuple[Edit, ...], vault: StorageBackend) -> tuple[Edit, ...]:
    """The same edits, once it is clear that the store would let them be made."""
    if Capability.HISTORY in vault.capabilities:
        with_history(vault).refuse([edit.moved_to or edit.at for edit in edits if edit.makes_a_difference])
    return edits


def changed(edit: Edit, permit: Permit, made: Made, *, more: Sequence[Edit] = ()) -> Changed:
    """What came of an edit; for a dry run, the difference that it and those with it would make."""
    path = (edit.moved_to or edit.at).path
    version = version_of(edit.after) if edit.after is not None else None
    if not permit.terms.dry_run:
        return Changed(permit.verb, path, permit.path, made.commit, version, made.changed and edit.makes_a_difference)
    shown = "".join(
        difference(each.before, each.after, path=each.at.path, to=each.moved_to.path if each.moved_to else None)
        for each in (edit, *more)
    )
    return Changed(permit.verb, path, permit.path, None, version, changed=shown != "", difference=shown)


def with_history(vault: StorageBackend) -> HistoricBackend:
    """The store as one that keeps history. Raises UsageError when it keeps none."""
    if Capability.HISTORY not in vault.capabilities:
        raise UsageError(
            f"the storage backend '{vault.name}' keeps no history",
            hint="Choose one that does: vault.backend = obsidian-vault.",
        )
    return cast(HistoricBackend, vault)


def marks_of(content: bytes, *, path: str) -> Mapping[str, Any]:
    """The note's keys, for policy. What looks like a mark of trust in a note with a Problem counts as one."""
    note = parse(content, path=path, mtime=0.0)
    if note.problems and looks_trusted(note.text):
        return {**note.frontmatter, ALWAYS_LOAD: True}
    return note.frontmatter


def existing(at: Locator, read: Reader) -> Blob | None:
    """The file, or None when it is not there."""
    try:
        return read(at)
    except NotFound:
        return None


def check_version(path: str, there: Blob | None, terms: Terms) -> None:
    """Raise Conflict unless the file is the one that the caller has seen."""
    found = there.version if there else ABSENT
    named = terms.expected and len(terms.expected) >= SHORTEST_VERSION and found.startswith(terms.expected)
    compare(path, expected=found if named else terms.expected, found=found)
    if terms.expected_mtime is not None and (there is None or there.stat.mtime != terms.expected_mtime):
        raise Conflict(
            f"{path} was saved since it was read",
            path=path,
            expected=str(terms.expected_mtime),
            found=str(there.stat.mtime) if there else ABSENT,
            hint="Read it again and repeat the change on what it says now.",
        )


def _refuse_too_large(content: bytes, path: str, safety: SafetyOptions) -> None:
    if len(content) > safety.max_note_bytes:
        raise Refused(
            f"{len(content)} bytes are too large for a note: {path}",
            path=path,
            reason="too_large",
            hint=f"The most is {safety.max_note_bytes}; see the setting safety.max_note_bytes.",
        )


def _label(permit: Permit, path: str, trailers: Mapping[str, str]) -> Label:
    desk = permit.desk
    message = permit.terms.message or desk.message.replace("{verb}", permit.verb).replace("{path}", path)
    message = message.encode(errors="replace").decode()  # a byte that is no text must not fail a change half-way
    ours = {KIND: permit.verb, ACTOR: desk.actor.kind, ORIGIN: desk.actor.origin, **trailers}
    return Label(message, tuple(ours.items()), keeps=permit.verb != "erase")


def _stage(edit: Edit, transaction: Transaction) -> None:
    expected = ABSENT if edit.before is None else version_of(edit.before)
    if edit.moved_to is None:
        if edit.after is not None:
            transaction.write(edit.at, edit.after, expected=expected)
        elif edit.before is not None:
            transaction.delete(edit.at, expected=expected)
    elif edit.after == edit.before:
        transaction.move(edit.at, edit.moved_to, expected=expected)
    elif edit.after is not None:
        transaction.delete(edit.at, expected=expected)
        transaction.write(edit.moved_to, edit.after, expected=ABSENT)


def _record(edits: tuple[Edit, ...], permits: Sequence[Permit], message: str, commit: str | None) -> None:
    """Write the audit. The change itself is done: an audit that fails is told, and made up for from git later."""
    permit = permits[0]
    desk, in_digest = permit.desk, any(each.in_digest for each in permits)
    entries = [
        AuditEntry(
            mutation=commit or "",
            when=desk.clock(),
            verb=permit.verb,
            path=edit.at.path,
            destination=edit.moved_to.path if edit.moved_to else None,
            actor=desk.actor.kind,
            origin=desk.actor.origin,
            reason=message,
            before=version_of(edit.before) if edit.before is not None else None,
            after=version_of(edit.after) if edit.after is not None else None,
            commit=commit,
            in_digest=in_digest,
        )
        for edit in edits
        if edit.makes_a_difference
    ]
    try:
        desk.history.record(*entries)
    except CommonplaceError as error:
        emit("audit_failed", level="error", path=permit.path, commit=commit, said=str(error))
