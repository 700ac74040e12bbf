"""The verbs on what waits for the person: count, propose, list, show, approve, edit, reject, settle, bring back.

All but `count`, `proposal_count` and `propose` need a person.
"""

from commonplace.errors import UsageError
from commonplace.flows.memory.review import (
    approve,
    decide_group,
    edit,
    endings_by_old_rules,
    leave_ended,
    reject,
    return_ended,
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
from commonplace.model.fact import (
    GroupVerdict,
    OldEnding,
    ReviewQueue,
    ReviewResult,
    WaitingEntry,
)
from commonplace.model.proposal import Proposal, ProposalResult


class Reviews:
    """What programs saved and the person has not approved yet, for one actor."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def count(self) -> int:
        """How many decisions wait: entries, notes, endings and groups; programs may ask for this number, too."""
        return waiting_count(self._session)

    def proposal_count(self) -> int:
        """How many of those that wait are proposals to change a note."""
        return proposal_count(self._session.stores)

    def list(self) -> ReviewQueue:
        """Entries, endings and proposals that wait, oldest first, and what is undecided. Raises Refused."""
        return review_queue(self._session)

    def show(self, id: str) -> WaitingEntry:
        """One waiting entry or ending, named as in `entries.show`.

        Raises Refused, NotFound, and Conflict if it does not wait.
        """
        return waiting_entry(id, self._session)

    def approve(
        self,
        *ids: str,
        all: bool = False,
        keep_old: bool = False,
        confirm_known: bool = False,
        dry_run: bool = False,
    ) -> tuple[ReviewResult, ...]:
        """Approve these entries and endings, or with `all` all of them: each entry becomes the person's own word.

        What an entry speaks against is archived in the same commit, unless `keep_old` is set; `notes.undo` reverts
        both. Where the same words are known by now, the approved entry stays and the known one is archived;
        `confirm_known` confirms the known one instead. A line of a note stays as it is, and the result says so. Raises
        Refused, NotFound, Conflict, UsageError.
        """
        _check_choice(ids, is_all=all)
        return approve(ids, self._session, every=all, keep_old=keep_old, confirm_known=confirm_known, dry_run=dry_run)

    def edit(
        self, id: str, text: str = "", *, object: str = "", keep_old: bool = False, dry_run: bool = False
    ) -> ReviewResult:
        """Give an entry other words and approve it; for a triple, another object. With `keep_old` it ends nothing.

        Raises as `approve` does, and Refused with the reason `secret` or `junk`.
        """
        return edit(id, self._session, text=text, object=object, keep_old=keep_old, dry_run=dry_run)

    def reject(self, *ids: str, all: bool = False, reason: str = "", dry_run: bool = False) -> tuple[ReviewResult, ...]:
        """Reject these entries and endings, or with `all` all of them.

        Programs cannot save the words of a rejected entry again; where an ending is rejected, both entries hold. Raises
        Refused, NotFound, Conflict, UsageError.
        """
        _check_choice(ids, is_all=all)
        return reject(ids, self._session, every=all, reason=reason, dry_run=dry_run)

    def settle(self, id: str, verdict: GroupVerdict, *, dry_run: bool = False) -> ReviewResult:
        """Decide a group that `list` shows, by its id: `both` (all hold), `replaces` (the newest alone), or `same`.

        Raises Refused, and Conflict if the group has changed since, or is decided.
        """
        return decide_group(id, verdict, self._session, dry_run=dry_run)

    def ended(self) -> tuple[OldEnding, ...]:
        """The endings that an old rule made and nobody has looked at, the newest first. Raises Refused."""
        return endings_by_old_rules(self._session)

    def bring_back(self, *ids: str, dry_run: bool = False) -> tuple[ReviewResult, ...]:
        """Let replaced entries hold again, each beside its newest version. Raises Refused, NotFound, Conflict."""
        return return_ended(ids, self._session, dry_run=dry_run)

    def leave_ended(self, *ids: str, dry_run: bool = False) -> tuple[ReviewResult, ...]:
        """Agree with the endings of entries that `ended` lists. Raises Refused, NotFound, Conflict."""
        return leave_ended(ids, self._session, dry_run=dry_run)

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
