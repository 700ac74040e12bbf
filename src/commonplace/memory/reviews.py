"""The verbs on what waits for the person: count, propose, list, show, approve, edit, reject.

All but `count`, `proposal_count` and `propose` need a person.
"""

from commonplace.errors import UsageError
from commonplace.flows.memory.review import (
    approve,
    edit,
    reject,
    review_queue,
    waiting_count,
    waiting_entry,
    waiting_text,
)
from commonplace.flows.notes.proposals import (
    PREFIX,
    approve_proposals,
    edit_proposal,
    proposal_count,
    propose_text,
    proposed_text,
    reject_proposals,
    show_proposal,
)
from commonplace.flows.stores import Session
from commonplace.model.fact import ReviewQueue, ReviewResult, WaitingEntry
from commonplace.model.proposal import Proposal, ProposalResult


class Reviews:
    """What programs saved and the person has not approved yet, for one actor."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def count(self) -> int:
        """How many entries and notes wait; programs may ask for this number, too."""
        return waiting_count(self._session)

    def proposal_count(self) -> int:
        """How many of those that wait are proposals to change a note."""
        return proposal_count(self._session.stores)

    def list(self) -> ReviewQueue:
        """Everything that waits, oldest first, with the reason and what it speaks against. Raises Refused."""
        return review_queue(self._session)

    def show(self, id: str) -> WaitingEntry:
        """One waiting entry, named as in `entries.show`. Raises Refused, NotFound, and Conflict if it does not wait."""
        return waiting_entry(id, self._session)

    def approve(
        self, *ids: str, all: bool = False, keep_old: bool = False, dry_run: bool = False
    ) -> tuple[ReviewResult, ...]:
        """Approve these entries, or with `all` everything that waits: each becomes the person's own word.

        What an entry speaks against is archived in the same commit, unless `keep_old` is set; `notes.undo` reverts
        both. A line of a note stays as it is, and the result says so. Raises Refused, NotFound, Conflict, UsageError.
        """
        _check_choice(ids, is_all=all)
        return approve(ids, self._session, every=all, keep_old=keep_old, dry_run=dry_run)

    def edit(
        self, id: str, text: str = "", *, object: str = "", keep_old: bool = False, dry_run: bool = False
    ) -> ReviewResult:
        """Give an entry other words and approve it; for a triple, another object. With `keep_old` it ends nothing.

        Raises as `approve` does, and Refused with the reason `secret` or `junk`.
        """
        return edit(id, self._session, text=text, object=object, keep_old=keep_old, dry_run=dry_run)

    def reject(self, *ids: str, all: bool = False, reason: str = "", dry_run: bool = False) -> tuple[ReviewResult, ...]:
        """Reject these entries, or with `all` everything that waits; programs cannot save the same words again.

        Raises Refused, NotFound, Conflict, UsageError.
        """
        _check_choice(ids, is_all=all)
        return reject(ids, self._session, every=all, reason=reason, dry_run=dry_run)

    def propose(
        self, path: str, text: str, *, why: str = "", expected: str = "", dry_run: bool = False
    ) -> ProposalResult:
        """Propose another text of a note, such as a directive or a style; it waits for the person, who sees the diff.

        Programs may propose. `expected` is the version that was read. Raises NotFound, Conflict, UsageError, Refused.
        """
        return propose_text(path, text, self._session, why=why, expected=expected, dry_run=dry_run)

    def show_proposal(self, id: str) -> Proposal:
        """One proposed change of a note, with its difference. Raises Refused and NotFound."""
        return show_proposal(id, self._session)

    def proposed_text(self, id: str) -> str:
        """The whole note as a proposal would have it, to be edited. Raises UsageError for a move, and as above."""
        return proposed_text(id, self._session)

    def approve_proposals(self, *ids: str, all: bool = False, dry_run: bool = False) -> tuple[ProposalResult, ...]:
        """Make these proposed changes of notes, or all that wait; `notes.undo` reverts each.

        Raises Refused, NotFound, UsageError, and Conflict if a note has changed where the proposal changes it.
        """
        _check_choice(ids, is_all=all)
        return approve_proposals(ids, self._session, every=all, dry_run=dry_run)

    def edit_proposal(self, id: str, text: str, *, dry_run: bool = False) -> ProposalResult:
        """Write the note of a proposal as `text`, the whole note. Raises Refused, NotFound, UsageError."""
        return edit_proposal(id, text, self._session, dry_run=dry_run)

    def reject_proposals(
        self, *ids: str, all: bool = False, reason: str = "", dry_run: bool = False
    ) -> tuple[ProposalResult, ...]:
        """Reject these proposed changes, or all that wait; they are not proposed again. Raises as the others do."""
        _check_choice(ids, is_all=all)
        return reject_proposals(ids, self._session, every=all, reason=reason, dry_run=dry_run)


def is_proposal_id(id: str) -> bool:
    """True if the id is that of a proposed change of a note, and not of an entry."""
    return id.startswith(PREFIX)


def _check_choice(ids: tuple[str, ...], *, is_all: bool) -> None:
    """Raise UsageError unless either ids or everything are meant."""
    if bool(ids) == is_all:
        problem = "ids and `all` cannot be combined" if ids else "no entry is named"
        raise UsageError(problem, hint="Give the ids of waiting entries, or all of them with --all.")


__all__ = ["Reviews", "is_proposal_id", "waiting_text"]
