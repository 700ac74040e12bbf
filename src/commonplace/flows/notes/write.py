"""Every change of a note, in one fixed order, so that the earliest failure wins:

size -> safe path -> policy -> lock -> version -> sensitivity -> merge -> secrets in a program's words -> snapshot of
what a person wrote -> journal -> atomic publish -> commit -> audit -> unlock -> index -> event.

`change` is the spine that write, delete, move, undo and erase share; the vault does the steps from snapshot to commit.
A note that is written over is parsed once, and so is what comes in; the index reuses what was parsed here.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from commonplace.errors import CommonplaceError, Conflict, NotFound, Refused, UsageError
from commonplace.events import emit
from commonplace.flows.ingest.index_notes import index_notes
from commonplace.flows.ingest.line_writers import ACTOR, ENTRY_VERBS
from commonplace.flows.ingest.memory_index_note import update_memory_index_note
from commonplace.flows.ingest.past_lines import MOVED_FROM, MOVED_TO
from commonplace.flows.read import is_hidden, locate, stat_note
from commonplace.flows.stores import Session, Stores
from commonplace.history.base import AuditEntry
from commonplace.model import Changed, Note, Terms, Verb
from commonplace.model.layout import entry_digits, opaque_path, wordless_name, wordless_path
from commonplace.model.template import Autonomy
from commonplace.notes import parse, set_key
from commonplace.notes.frontmatter_edit import merge_note
from commonplace.notes.note_text import note_diff
from commonplace.policy.options import SafetyOptions
from commonplace.policy.sensitivity import is_sensitive
from commonplace.policy.write_policy import ALWAYS_LOAD, Decision, decide, looks_trusted
from commonplace.vault.base import (
    ABSENT,
    Blob,
    Capability,
    HistoricBackend,
    Label,
    Locator,
    StorageBackend,
    Transaction,
    TransactionResult,
    version_of,
)
from commonplace.vault.contract_errors import require_version

if TYPE_CHECKING:
    from commonplace.screening.secrets import Secret

KIND = "Commonplace-Kind"
ORIGIN = "Commonplace-Origin"
PERSON = "Commonplace-Person"
FORGETS = "Commonplace-Forgets"
"""The trailer of a commit that removes words of what was erased: it cannot be undone."""
KEEP_ELSEWHERE = "Keep secrets in a password manager."
SHORTEST_VERSION = 12  # hex digits that suffice to name a version

Reader = Callable[[Locator], Blob]


@dataclass(frozen=True, slots=True)
class Edit:
    """One file of a change: its bytes before and after, None where it does not exist; `moved_to` is its new path.

    `parsed` is the note that `after` holds, where it was parsed already.
    """

    at: Locator
    before: bytes | None
    after: bytes | None
    moved_to: Locator | None = None
    parsed: Note | None = field(default=None, compare=False)

    @property
    def makes_a_difference(self) -> bool:
        """True if the edit changes anything at all."""
        return self.moved_to is not None or self.before != self.after


Plan = Callable[[Reader], tuple[Edit, ...]]
"""Computes the edits, given how to read; runs under the lock, or without it for a dry run."""


def write_note(
    path: str, content: bytes, session: Session, terms: Terms, *, trailers: Mapping[str, str] | None = None
) -> Changed:
    """Create the note, or merge the content into the existing one. Raises Refused, Conflict or VaultUnavailable."""
    return write_notes({path: content}, session, terms, trailers=trailers)[0]


def write_notes(
    contents: Mapping[str, bytes], session: Session, terms: Terms, *, trailers: Mapping[str, str] | None = None
) -> tuple[Changed, ...]:
    """Write several notes in one commit, all or none. Raises as `write_note` does, for the first that fails."""
    for path, content in contents.items():
        refuse_too_large(content, path, session.stores.safety)
    drafts = [_draft(path, content, session, terms) for path, content in contents.items()]
    if not drafts:
        return ()

    def plan(read: Reader) -> tuple[Edit, ...]:
        return tuple(draft.edit(read) for draft in drafts)

    path = drafts[0].target.path if len(drafts) == 1 else f"{len(drafts)} notes"
    moves = [(draft.target.path, draft.renamed.path) for draft in drafts if draft.renamed]
    permits, all_trailers = [draft.permit for draft in drafts], {**(trailers or {}), **move_trailers(*moves)}
    edits, result = change(plan, permits, path=path, trailers=all_trailers)
    return tuple(change_result(edit, draft.permit, result) for edit, draft in zip(edits, drafts, strict=True))


@dataclass(frozen=True, slots=True)
class _Draft:
    """A note to be written, and the path that policy assigns to it judging by the requested path alone.

    `renamed` is the new path of an entry that becomes sensitive: its name tells its words no longer.
    """

    content: bytes
    note: Note
    target: Locator
    permit: "Permit"
    renamed: Locator | None

    def edit(self, read: Reader) -> Edit:
        """The edit, after the existing note was checked against the expected version and policy, and merged with."""
        target = self.target
        there = read_existing(target, read)
        self._check_version(there, read)
        decision = self.permit.ask(target.path, there=parse_existing(there), incoming=self.note)
        if decision.path != target.path:
            target = locate(decision.path, self.permit.session.stores.vault)
            there = read_existing(target, read)
            self.permit.ask(target.path, there=parse_existing(there))
        before = there.content if there else None
        after = merge_note(before, self.content, path=target.path)
        if self.renamed and before is not None:
            return Edit(target, before, with_opaque_slug(after, self.renamed.path), moved_to=self.renamed)
        return Edit(target, before, after, parsed=self.note if after == self.content else None)

    def _check_version(self, there: Blob | None, read: Reader) -> None:
        """Check the expected version; a redirected writer may have read the note at the path it asked for instead."""
        terms = self.permit.terms
        if self.target.path != self.permit.path and terms.expected not in (None, ABSENT):
            requested = read_existing(locate(self.permit.path, self.permit.session.stores.vault), read)
            if requested and requested.version.startswith(terms.expected or ""):
                return
        check_version(self.target.path, there, terms)


def _draft(path: str, content: bytes, session: Session, terms: Terms) -> _Draft:
    vault = session.stores.vault
    at = locate(path, vault)
    note = parse(content, path=at.path, mtime=0.0)
    permit = Permit(session, terms, "write", at.path)
    decision = permit.ask(incoming=note)
    target = at if decision.path == at.path else locate(decision.path, vault)
    return _Draft(content, note, target, permit, _opaque_place(target, note, session))


def _opaque_place(at: Locator, note: Note, session: Session) -> Locator | None:
    """Where an existing entry goes whose new text marks it as sensitive; None for every other note."""
    vault, path = session.stores.vault, opaque_path(at.path)
    is_marked = path != at.path and is_sensitive(note, session.stores.safety)
    return locate(path, vault) if is_marked and vault.exists(at) else None


def with_opaque_slug(content: bytes, path: str) -> bytes:
    """The sensitive entry with the slug that its name at this path has. Raises Refused."""
    slug = path.rpartition("/")[2].removesuffix(f"-{entry_digits(path)}.md")
    return set_key(content, "slug", slug, path=path)


def move_trailers(*moves: tuple[str, str]) -> dict[str, str]:
    """The trailers of a commit that moves these notes, each from its first path to its second; empty for none.

    They hold no words of an entry.
    """
    sources, targets = zip(*(map(wordless_path, move) for move in moves), strict=True) if moves else ((), ())
    return {MOVED_FROM: "\n".join(sources), MOVED_TO: "\n".join(targets)} if moves else {}


def delete_note(path: str, session: Session, terms: Terms) -> Changed:
    """Remove the note; git keeps it. Raises as `write_note` does, and NotFound."""
    at = locate(path, session.stores.vault)
    permit = Permit(session, terms, "delete", at.path)
    permit.ask_about_existing(at.path)

    def plan(read: Reader) -> tuple[Edit, ...]:
        there = read(at)
        check_version(at.path, there, terms)
        permit.ask(there=parse_existing(there))
        return (Edit(at, there.content, None),)

    (edit,), result = change(plan, [permit], path=at.path)
    return change_result(edit, permit, result)


class Permit:
    """Policy's decisions for one call. A grant is valid once, for its path, and is used up only by a change.

    `autonomy` is a template's own; without it that of the settings counts.
    """

    def __init__(
        self, session: Session, terms: Terms, verb: Verb, path: str, *, autonomy: Autonomy | None = None
    ) -> None:
        self.session, self.terms, self.verb, self.path = session, terms, verb, path
        self._autonomy = autonomy
        history = session.stores.history
        self._granted = bool(terms.grant and history.has_grant(terms.grant, path, now=session.clock()))
        self.in_digest = False

    def ask_about_existing(self, path: str) -> Decision:
        """Policy's decision for a note that must exist. Raises NotFound with similar paths, and Refused.

        A person is told first that the note does not exist, a program that it may not change it.
        """
        decision = None if self.session.actor.kind == "person" else self.ask(path)
        is_person, stores = self.session.actor.kind == "person", self.session.stores
        stat_note(path, stores.vault, skip=stores.ignored, shows=lambda note: is_person or not self._is_hidden(note))
        return decision or self.ask(path)

    def use_up(self) -> None:
        """Use up the grant just before the change is made. Raises Refused if another call was quicker."""
        history, now = self.session.stores.history, self.session.clock()
        if self._granted and not history.use_grant(self.terms.grant or "", self.path, now=now):
            raise Refused("the grant has already been used", path=self.path, hint="Ask for another one.")

    def ask(
        self,
        path: str | None = None,
        *,
        there: Note | None = None,
        incoming: Note | None = None,
        moved_from: str | None = None,
    ) -> Decision:
        """Policy's decision for the path, given the existing and the incoming note. Raises Refused if it says no."""
        path, safety = path or self.path, self.session.stores.safety
        decision = decide(
            actor=self.session.actor.kind,
            verb=self.verb,
            path=path,
            options=safety,
            autonomy=self._autonomy,
            personal=self.terms.personal,
            granted=self._granted and path == self.path,
            spoken=self.terms.spoken,
            sensitive=there is not None and self._is_hidden(there),
            existing=_policy_keys(there) if there else None,
            incoming=_policy_keys(incoming) if incoming else None,
            moved_from=moved_from,
        )
        decision.raise_if_refused()
        self.in_digest = self.in_digest or decision.in_digest
        return decision

    def _is_hidden(self, note: Note) -> bool:
        """True if the note is sensitive for the actor; of which others it is a version matters to programs alone."""
        stores = self.session.stores
        return is_sensitive(note, stores.safety) if self.session.sees_sensitive else is_hidden(note, stores)

    def allows_relinking(self, note: Note) -> bool:
        """True if links in this note may follow a move; a person who moves a note speaks for all of their notes."""
        safety = self.session.stores.safety
        decision = decide(
            actor=self.session.actor.kind,
            verb="write",
            path=note.path,
            options=safety,
            personal=True,
            sensitive=self._is_hidden(note),
            existing=note.frontmatter,
        )
        return decision.kind == "allow"


def _policy_keys(note: Note) -> Mapping[str, Any]:
    """The note's frontmatter for policy; in a note with a Problem, whatever looks like a mark of trust counts as one.

    When in doubt, it is trusted, and an agent may not touch it.
    """
    if note.problems and looks_trusted(note.text):
        return {**note.frontmatter, ALWAYS_LOAD: True}
    return note.frontmatter


def change(
    plan: Plan, permits: Sequence[Permit], *, path: str, trailers: Mapping[str, str] | None = None
) -> tuple[tuple[Edit, ...], TransactionResult]:
    """Make the planned edits in one commit and index them; a dry run only plans. Raises Conflict, VaultUnavailable.

    A trailer of several lines is written once for each line.
    """
    permit = permits[0]
    session, stores = permit.session, permit.session.stores
    label = _label(permit, path, trailers or {})
    edits: tuple[Edit, ...]
    if session.actor.kind != "person":
        refuse_secrets(label.message, permit.terms.why)
    if permit.terms.dry_run:
        edits = _screened(plan(stores.vault.read), permit)
        return _dry_run(edits, stores.vault), TransactionResult(None, changed=False)
    start = time.perf_counter()
    edits = ()
    result = TransactionResult(None, changed=False)

    def record(committed: TransactionResult) -> None:
        nonlocal result
        result = committed
        if committed.changed:
            _record(edits, permits, label.message, committed.commit)

    head = ""
    with stores.vault.transaction(wait=stores.lock_wait, label=label, then=record) as transaction:
        head = _head(permit)
        edits = _screened(plan(transaction.read), permit)
        for edit in edits:
            _stage(edit, transaction)
        for each in permits:
            each.use_up()
    if result.changed:
        _index([edit for edit in edits if edit.makes_a_difference], stores, head=head, commit=result.commit)
    emit(
        f"vault_{permit.verb}",
        path=path,
        actor=session.actor.kind,
        commit=result.commit,
        changed=result.changed,
        duration_ms=round((time.perf_counter() - start) * 1000, 1),
    )
    return edits, result


def _screened(edits: tuple[Edit, ...], permit: Permit) -> tuple[Edit, ...]:
    """The edits. Raises Refused if a program would add a secret to a note; one that stands there already may stay.

    The words of entries were screened one by one, before the entry was made of them.
    """
    is_screened = permit.session.actor.kind == "person" or permit.verb in ENTRY_VERBS
    for edit in () if is_screened else edits:
        refuse_secrets((edit.moved_to or edit.at).path)
        if edit.after is not None and edit.after != edit.before:
            refuse_new_secrets(edit.before or b"", edit.after)
    return edits


def refuse_new_secrets(before: bytes, after: bytes) -> None:
    """Raise Refused if the note would hold a secret that it does not hold already."""
    from commonplace.screening.secrets import find_secrets  # its expressions take a moment to load

    text, known = after.decode(errors="replace"), before.decode(errors="replace")
    lines, old = text.split("\n"), {*known.split("\n")}
    secrets = find_secrets(text)
    new = [secret for secret in secrets if lines[secret.line - 1] not in old]
    if new or (secrets and len(secrets) > len(find_secrets(known))):
        raise _secret_error(new or secrets)


def refuse_secrets(*texts: str) -> None:
    """Raise Refused if one of these texts contains a secret; the message does not repeat it."""
    from commonplace.screening.secrets import find_secrets

    for text in filter(None, texts):
        if secrets := find_secrets(text):
            raise _secret_error(secrets)


def _secret_error(secrets: "Sequence[Secret]") -> Refused:
    said = ", ".join(map(str, secrets[:3]))
    return Refused(f"This contains a secret: {said}.", reason="secret", hint=KEEP_ELSEWHERE)


def _head(permit: Permit) -> str:
    """The newest commit before a change of entries alone; empty for other changes, of which the index reads the commit.

    The vault's lock is held: no other process of ours commits until the change is made.
    """
    vault = permit.session.stores.vault
    if permit.verb not in ENTRY_VERBS or Capability.HISTORY not in vault.capabilities:
        return ""
    return require_history(vault).head() or ""


def _index(edits: Sequence[Edit], stores: Stores, *, head: str, commit: str | None) -> None:
    """Index the changed notes, so that writers find their own words, and update `_index.md` for entries.

    The change is done and the lock released: a failure is reported as an event, and the next sync mends the index.
    An index that followed the history up to `head` follows it up to `commit` now.
    """
    paths = [place.path for edit in edits for place in (edit.at, edit.moved_to) if place]
    parsed = [edit.parsed for edit in edits if edit.parsed]
    try:
        index_notes(paths, stores, parsed=parsed)
        if head and commit:
            stores.index.advance_history(head, commit)
        update_memory_index_note(paths, stores)
    except CommonplaceError as error:
        emit("ingest_failed", level="warning", paths=len(paths), said=str(error))


def _dry_run(edits: tuple[Edit, ...], vault: StorageBackend) -> tuple[Edit, ...]:
    """The edits, after a check that the vault would accept them. Raises as the vault does."""
    if Capability.HISTORY in vault.capabilities:
        require_history(vault).refuse([edit.moved_to or edit.at for edit in edits if edit.makes_a_difference])
    return edits


def change_result(edit: Edit, permit: Permit, result: TransactionResult, *, more: Sequence[Edit] = ()) -> Changed:
    """The outcome of an edit; for a dry run, the difference that it and `more` edits would make."""
    path = (edit.moved_to or edit.at).path
    version = version_of(edit.after) if edit.after is not None else None
    if not permit.terms.dry_run:
        is_changed = result.changed and edit.makes_a_difference
        existed = edit.before is not None
        return Changed(permit.verb, path, permit.path, result.commit, version, is_changed, existed=existed)
    diff = "".join(
        note_diff(each.before, each.after, path=each.at.path, to=each.moved_to.path if each.moved_to else None)
        for each in (edit, *more)
    )
    existed = edit.before is not None
    return Changed(permit.verb, path, permit.path, None, version, diff != "", difference=diff, existed=existed)


def require_history(vault: StorageBackend) -> HistoricBackend:
    """The vault, as one that keeps history. Raises UsageError if it keeps none."""
    if Capability.HISTORY not in vault.capabilities:
        raise UsageError(
            f"the storage backend '{vault.name}' keeps no history",
            hint="Choose one that does: vault.backend = obsidian-vault.",
        )
    return cast(HistoricBackend, vault)


def read_existing(at: Locator, read: Reader) -> Blob | None:
    """The file, or None if it does not exist."""
    try:
        return read(at)
    except NotFound:
        return None


def parse_existing(blob: Blob | None) -> Note | None:
    """The note in the file, or None if there is no file."""
    return parse(blob.content, path=blob.stat.path, mtime=blob.stat.mtime) if blob else None


def check_version(path: str, there: Blob | None, terms: Terms) -> None:
    """Raise Conflict unless the file is the version that the caller has read."""
    actual = there.version if there else ABSENT
    is_named = terms.expected and len(terms.expected) >= SHORTEST_VERSION and actual.startswith(terms.expected)
    require_version(path, expected=actual if is_named else terms.expected, found=actual)
    if terms.expected_mtime is not None and (there is None or there.stat.mtime != terms.expected_mtime):
        raise Conflict(
            f"{path} has been saved since it was read",
            path=path,
            expected=str(terms.expected_mtime),
            found=str(there.stat.mtime) if there else ABSENT,
            hint="Read it again, then repeat the change on its new text.",
        )


def refuse_too_large(content: bytes, path: str, safety: SafetyOptions) -> None:
    """Raise Refused if the content exceeds the size of a note."""
    if len(content) > safety.max_note_bytes:
        raise Refused(
            f"{path} is too large for a note: {len(content)} bytes",
            path=path,
            reason="too_large",
            hint=f"The limit is {safety.max_note_bytes} bytes; the setting safety.max_note_bytes changes it.",
        )


def commit_message(stores: Stores, *, verb: str, path: str) -> str:
    """The commit message that the settings give to this change; it holds no words of an entry."""
    return stores.commit_message.replace("{verb}", verb).replace("{path}", wordless_name(path))


def _label(permit: Permit, path: str, trailers: Mapping[str, str]) -> Label:
    session = permit.session
    message = permit.terms.message or commit_message(session.stores, verb=permit.verb, path=path)
    message = message.encode(errors="replace").decode()  # bytes that are not text must not fail a change half-way
    ours = {KIND: permit.verb, ACTOR: session.actor.kind, ORIGIN: session.actor.origin, **trailers}
    if session.actor.person:
        ours[PERSON] = session.actor.person
    lines = tuple((name, line) for name, value in ours.items() for line in value.split("\n"))
    return Label(message, lines, keeps=permit.verb != "erase")


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
    """Write the audit entries. The change is done: a failure is an event, and `log` restores the rows from git."""
    permit = permits[0]
    session, in_digest = permit.session, any(each.in_digest for each in permits)
    entries = [
        AuditEntry(
            mutation=commit or "",
            when=session.clock(),
            verb=permit.verb,
            path=edit.at.path,
            destination=edit.moved_to.path if edit.moved_to else None,
            actor=session.actor.kind,
            origin=session.actor.origin,
            reason=permit.terms.why or message,
            before=version_of(edit.before) if edit.before is not None else None,
            after=version_of(edit.after) if edit.after is not None else None,
            commit=commit,
            in_digest=in_digest,
            person=session.actor.person,
        )
        for edit in edits
        if edit.makes_a_difference
    ]
    try:
        session.stores.history.record(*entries)
    except CommonplaceError as error:
        emit("audit_failed", level="error", path=permit.path, commit=commit, said=str(error))
