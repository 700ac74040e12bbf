"""Profile notes, USER.md and CHANNEL.md: operations -> checks -> one commit -> log; what may not be done at once waits.

A person's operations apply. A program's apply to what programs wrote, and may add plain statements: removing or
replacing what the person wrote, adding again what they removed, and adding what reads like an instruction, becomes a
proposal. Every operation is in the log of the note with its outcome and who asked.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from commonplace.context.selection import parse_channel
from commonplace.errors import CommonplaceError, Refused
from commonplace.events import emit
from commonplace.flows.memory.profile_writers import program_keys, removed_keys, with_approval
from commonplace.flows.notes.history import OPERATION
from commonplace.flows.notes.proposals import is_rejected, proposals, propose, text_after
from commonplace.flows.notes.write import (
    Edit,
    Permit,
    Reader,
    change,
    change_result,
    check_version,
    parse_existing,
    read_existing,
)
from commonplace.flows.read import is_hidden, locate
from commonplace.flows.stores import Session, Stores
from commonplace.history.base import AuditEntry
from commonplace.model import Changed, Terms, Trust
from commonplace.model.layout import CHANNEL_NOTE, USER_NOTE, channel_folder
from commonplace.model.profile import (
    OperationResult,
    ProfileChange,
    ProfileLogEntry,
    ProfileOperation,
    ProfileText,
)
from commonplace.notes import parse
from commonplace.notes.section_operations import (
    SectionEdit,
    apply_operations,
    lint_sections,
    read_operation,
    statement_key,
    statement_keys,
)
from commonplace.vault.base import Blob

WAITING: Final = frozenset({"protected", "directive", "trust"})
"""Why an operation of a program waits for the person instead of being rejected."""
_WHY: Final = "A program asked to change the person's own words, to add what they removed, or to add an instruction."
_APPROVED: Final = "A program wrote this line; from now on it counts as yours."
_ADDED: Final = {
    "append": "added",
    "add_heading": "heading added",
    "remove": "removed",
    "replace": "replaced",
    "remove_heading": "heading removed",
}


def profile_path(channel: str = "") -> str:
    """The path of the person's profile note, or of a channel's. Raises UsageError for a name of no channel."""
    name = parse_channel(channel)
    return f"{channel_folder(name)}/{CHANNEL_NOTE}" if name else USER_NOTE


def read_profile(session: Session, *, channel: str = "") -> ProfileText:
    """The profile note as it is now, with what lint finds in it. Raises Refused if a program may not see it."""
    stores, path = session.stores, profile_path(channel)
    there = read_existing(locate(path, stores.vault), stores.vault.read)
    if there is None:
        return ProfileText(path, "", "absent", exists=False)
    note = parse(there.content, path=path, mtime=there.stat.mtime)
    if not session.sees_sensitive and is_hidden(note, stores):
        raise Refused(f"{path} is marked sensitive", path=path, reason="sensitive", hint="Leave it to the person.")
    problems = lint_sections(there.content, path=path)
    remarks = _bypass(path, there, stores)
    return ProfileText(path, note.text, there.version, exists=True, problems=problems, remarks=remarks)


def edit_profile(
    operations: Sequence[object],
    session: Session,
    *,
    channel: str = "",
    expected: str | None = None,
    why: str = "",
    trust: Trust = "said",
    is_told: Callable[[str], bool] = lambda text: True,
    dry_run: bool = False,
) -> ProfileChange:
    """Apply these operations to the profile note, each by itself, in one commit; nothing is written for no-ops alone.

    `expected` is the version that they are based on. Words for which `is_told` is False, because others than the person
    said them, wait for the person. Raises Conflict if the note is another one by now, and Refused if
    the note is sensitive or policy says no; a bad operation raises nothing, it is rejected.
    """
    here = session.at(session.clock())
    terms = Terms(expected=expected, why=why, dry_run=dry_run)
    return _Run(operations, here, channel=channel, terms=terms, trust=trust, is_told=is_told).result()


class _Run:
    """One list of operations on one profile note."""

    def __init__(
        self,
        operations: Sequence[object],
        session: Session,
        *,
        channel: str,
        terms: Terms,
        trust: Trust,
        is_told: Callable[[str], bool],
    ) -> None:
        self._operations, self._session, self._trust, self._why = operations, session, trust, terms.why
        self._is_told = is_told
        self._at = locate(profile_path(channel), session.stores.vault)
        self._permit = Permit(session, terms, "curate", self._at.path)
        is_person = session.actor.kind == "person"
        self._own = frozenset[str]() if is_person else program_keys(self._at, session.stores)
        self._removed = frozenset[str]() if is_person else removed_keys(self._at, session.stores)
        self._is_person, self._dry_run = is_person, terms.dry_run
        self._moved = frozenset(filter(self._is_protected, _removed_keys(operations)))
        self._edit = SectionEdit(b"", ())

    def result(self) -> ProfileChange:
        """What became of the operations, after the write, the proposal and the log."""
        stores = self._session.stores
        there = read_existing(self._at, stores.vault.read)
        is_staged = self._look(there)
        bypass = _bypass(self._at.path, there, stores)
        approved = self._approved()
        remarks = (*bypass, *((_APPROVED,) if approved else ()))
        written = None if is_staged or not (self._edit.is_changed or approved) else self._write(approved)
        results, waiting = self._propose(is_staged=is_staged, content=self._content_after(there, written))
        changed = ProfileChange(
            path=self._at.path,
            results=results,
            summary=summary_of(self._at.path, results),
            changed=bool(written and written.changed),
            commit=written.commit if written else None,
            version=(written.version if written else None) or (there.version if there else None),
            difference=((written.difference if written else "") or waiting) if self._dry_run else None,
            remarks=remarks,
        )
        if not self._dry_run:
            self._record(changed, there, bypass)
            emit("profile_edited", path=self._at.path, actor=self._session.actor.kind, said=changed.summary)
        return changed

    def _approved(self) -> frozenset[str]:
        """The keys of what programs wrote and the person repeats or respells: that makes it theirs."""
        said = (
            [each for each in self._edit.results if each.outcome in ("noop_dup", "applied")] if self._is_person else []
        )
        repeated = frozenset(statement_key(each.operation.line) for each in said if _keeps_the_words(each))
        return repeated & program_keys(self._at, self._session.stores) if repeated else frozenset()

    def _look(self, there: Blob | None) -> bool:
        """Judge the operations on the note as it is; True if policy lets all of them wait for the person."""
        check_version(self._at.path, there, self._permit.terms)
        decision = self._permit.ask(there=parse_existing(there))
        self._edit = self._applied(there.content if there else b"")
        return decision.kind == "stage"

    def _applied(self, content: bytes) -> SectionEdit:
        return apply_operations(content, self._operations, screen=self._screen, is_protected=self._is_protected)

    def _write(self, approved: frozenset[str]) -> Changed:
        """Apply the operations under the lock, to the note as it is then, and note what the person approved."""
        permit, path = self._permit, self._at.path

        def plan(read: Reader) -> tuple[Edit, ...]:
            there = read_existing(self._at, read)
            check_version(self._at.path, there, permit.terms)
            permit.ask(there=parse_existing(there))
            self._edit = self._applied(there.content if there else b"")
            said = summary_of(self._at.path, self._edit.results)
            permit.terms = replace(permit.terms, why=f"{said} {self._why}".strip())
            before, after = there.content if there else None, self._edit.content
            approval = approved & statement_keys(after)
            return (Edit(self._at, before, with_approval(after, approval, path=path) if approval else after),)

        (edit,), written = change(plan, [permit], path=self._at.path)
        return change_result(edit, permit, written)

    def _content_after(self, there: Blob | None, written: Changed | None) -> bytes | None:
        return self._edit.content if written and not self._dry_run else (there.content if there else None)

    def _screen(self, text: str) -> str:
        """Why the text may not be added now, in one word."""
        from commonplace.screening.gate import (
            directive_reason,
            gate,  # their expressions take a moment to load
        )

        staged = self._session.stores.facts.staged_trusts
        actor = self._session.actor.kind
        verdict = gate(text, trust=self._trust, always_load=False, actor=actor, staged_trusts=staged)
        if verdict.verdict != "allow":
            return verdict.reason
        key = statement_key(text)
        if key in self._moved:  # the person's words move to another section as a whole, or not at all
            return "protected"
        if key in self._removed:  # the person decides whether it comes back
            return "protected"
        if self._is_person:
            return ""
        return "directive" if directive_reason(text) else "" if self._is_told(text) else "trust"

    def _is_protected(self, key: str) -> bool:
        """True for what a person wrote, or nobody knows who, if a program asks."""
        return not self._is_person and key not in self._own

    # what waits

    def _propose(self, *, is_staged: bool, content: bytes | None) -> tuple[tuple[OperationResult, ...], str]:
        """The results, with the operations that wait for the person in one proposal; and what that would change."""
        held = [each for each in self._edit.results if self._waits(each, is_staged=is_staged)]
        if not held:
            return self._edit.results, ""
        verdicts = {id(each): self._judged(each, content) for each in held}
        wanted = [each.operation for each in held if verdicts[id(each)].outcome == "proposed"]
        review, refusal, difference = self._proposal(wanted, content) if wanted else ("", "", "")
        results = (self._settled(verdicts.get(id(each), each), review, refusal) for each in self._edit.results)
        return tuple(results), difference

    def _waits(self, result: OperationResult, *, is_staged: bool) -> bool:
        if self._is_person:
            return False
        return result.reason in WAITING or (is_staged and result.outcome == "applied")

    def _judged(self, held: OperationResult, content: bytes | None) -> OperationResult:
        """The operation as one to be proposed, unless it would do nothing or the person rejected it before."""
        alone = apply_operations(content or b"", [held.operation], screen=self._screen_words)
        if alone.results[0].outcome != "applied":
            return alone.results[0]
        if is_rejected(self._at.path, self._session, before=content, text=alone.content):
            return OperationResult(held.operation, "rejected", "rejected_before")
        return OperationResult(held.operation, "proposed", held.reason)

    def _proposal(self, operations: Sequence[ProfileOperation], content: bytes | None) -> tuple[str, str, str]:
        """The id of the proposal with these operations, why they may not be proposed, and the difference.

        There is one proposal for each note and proposer: what waits already stays in it.
        """
        session, path = self._session, self._at.path
        known = [each for each in proposals(session.stores, by=session.actor.origin) if each.target == path]
        waiting = text_after(known[0], content) if known else None
        trial = apply_operations(waiting or content or b"", operations, screen=self._screen_words)
        if not trial.is_changed:
            return (known[0].id if known else ""), "", ""
        why = self._why or (known[0].why if known else "") or _WHY
        result = propose(path, session, why=why, text=trial.content, dry_run=self._dry_run)
        if not result.changed and not self._dry_run and "rejected" in " ".join(result.remarks):
            return "", "rejected_before", ""
        return result.proposal.id, "", result.proposal.difference

    def _settled(self, result: OperationResult, review: str, refusal: str) -> OperationResult:
        """The result with the id of its proposal, or with why there is none."""
        if result.outcome != "proposed":
            return result
        if refusal:
            return OperationResult(result.operation, "rejected", refusal)
        return replace(result, review=review)

    def _screen_words(self, text: str) -> str:
        """Secrets and junk are not even proposed."""
        reason = self._screen(text)
        return "" if reason in WAITING else reason

    # the log

    def _record(self, changed: ProfileChange, there: Blob | None, bypass: Sequence[str]) -> None:
        """Add a row to the history for each operation; a failure is an event, since the change is done."""
        before = there.version if there else None
        noticed = [_row({"op": "edited_elsewhere"}, "noticed", remark) for remark in bypass]
        rows = [*noticed, *(_row(_redacted(each), each.outcome, each.reason, each.review) for each in changed.results)]
        actor, history = self._session.actor, self._session.stores.history
        entries = [
            AuditEntry(
                mutation=changed.commit or "",
                when=self._session.clock(),
                verb=OPERATION,
                path=changed.path,
                actor=actor.kind,
                origin=actor.origin,
                reason=json.dumps(row, ensure_ascii=False),
                before=before,
                after=changed.version,
                commit=changed.commit,
            )
            for row in rows
        ]
        try:
            history.record(*entries)
        except CommonplaceError as error:
            emit("audit_failed", level="error", path=changed.path, commit=changed.commit, said=str(error))


def _keeps_the_words(result: OperationResult) -> bool:
    """True for an operation after which the note has the same words: git does not say who repeated them."""
    operation = result.operation
    is_respelled = operation.op == "replace" and statement_key(operation.match) == statement_key(operation.line)
    return bool(operation.line) and (result.outcome == "noop_dup" or is_respelled)


def _removed_keys(operations: Sequence[object]) -> Iterator[str]:
    """The keys of the statements that operations remove."""
    for given in operations:
        operation, problem = read_operation(given)
        if operation.op == "remove" and not problem:
            yield statement_key(operation.match)


def _row(operation: Mapping[str, object], outcome: str, reason: str = "", review: str = "") -> dict[str, object]:
    given = {"operation": operation, "outcome": outcome, "reason": reason, "review": review}
    return {name: value for name, value in given.items() if value}


def _redacted(result: OperationResult) -> dict[str, object]:
    """The fields of the operation for the log: a secret is left out, and nothing is very long."""
    from commonplace.screening.secrets import redact

    operation = result.operation
    texts = redact([operation.heading, operation.subheading, operation.line, operation.match, *operation.lines])
    heading, subheading, line, match, *lines = (each[:300] for each in texts)
    kept = ProfileOperation(operation.op[:40], heading, subheading, line, match, tuple(lines[:20]))
    return kept.fields()


def summary_of(path: str, results: Sequence[OperationResult]) -> str:
    """One line that says what became of the operations on a profile note."""
    counts: dict[str, int] = {}
    for each in results:
        said = {
            "applied": _ADDED.get(each.operation.op, "done"),
            "noop_dup": "already there",
            "noop_no_match": "not found",
            "proposed": f"waits for approval ({each.review})" if each.review else "would wait for approval",
            "rejected": f"refused ({each.reason})",
        }[each.outcome]
        counts[said] = counts.get(said, 0) + 1
    parts = ", ".join(f"{number} {said}" for said, number in counts.items())
    return f"{path.rpartition('/')[2]}: {parts or 'nothing to do'}."


def profile_log(session: Session, *, channel: str = "", limit: int | None = None) -> tuple[ProfileLogEntry, ...]:
    """The operations on the profile note, newest first, with who asked and the outcome. Raises VaultUnavailable."""
    path = profile_path(channel)
    rows = [row for row in session.stores.history.entries(path=path) if row.verb == OPERATION]
    return tuple(_log_entry(row) for row in rows[:limit])


def _log_entry(row: AuditEntry) -> ProfileLogEntry:
    said = json.loads(row.reason)
    return ProfileLogEntry(
        row.when,
        row.path,
        row.actor,
        row.origin,
        said.get("operation", {}),
        said["outcome"],
        said.get("reason", ""),
        said.get("review", ""),
        row.commit,
    )


def _bypass(path: str, there: Blob | None, stores: Stores) -> tuple[str, ...]:
    """A remark if the note was changed in another way since Commonplace last changed it or looked at it."""
    newest = next((row for row in stores.history.entries(path=path, limit=50) if row.after), None)
    found = there.version if there else "absent"
    if newest is None or newest.after == found:
        return ()
    when = f"{newest.when:%Y-%m-%d %H:%M}"
    return (f"{path} was edited in another program since {when} UTC; those edits are kept as they are.",)
