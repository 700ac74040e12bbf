"""Proposals: what a job may not do on its own waits in review as a staged entry, until the person decides.

The entry's text says what is proposed, its `reason` why, and its key `proposal` what approving it does: an action and
its subject. A person who approves it does it themselves, in their own name; a rejected proposal is not made again.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from commonplace.errors import NotFound, UsageError
from commonplace.facts.entry_paths import entry_path, id_digits, slug_of
from commonplace.facts.growth import note_archive
from commonplace.flows.memory.amend import active_entry, load_fact
from commonplace.flows.memory.facts import entry_reader
from commonplace.flows.memory.new_entry import new_entry_note, new_id
from commonplace.flows.notes.move import move_note
from commonplace.flows.notes.write import (
    Edit,
    Permit,
    Reader,
    change,
    change_result,
    commit_message,
    refuse_secrets,
)
from commonplace.flows.read import locate
from commonplace.flows.stores import Session
from commonplace.index.base import FactQuery
from commonplace.model import EntryResult, Fact, Origins, Terms
from commonplace.model.layout import ARCHIVE_FOLDER, place_of, staging_path
from commonplace.notes import parse

ARCHIVE: Final = "archive"
"""Move the note at the path to the archive of its folder."""
LOAD: Final = "load"
"""Load the entry with the id before every prompt."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """What approving does: `action` to `subject`, the path of a note or the id of an entry."""

    action: str
    subject: str

    @property
    def key(self) -> str:
        """The value of the key `proposal`."""
        return f"{self.action} {self.subject}"


@dataclass(frozen=True, slots=True)
class ProposalResult:
    """What became of an approved proposal: a sentence, and the commit if something changed."""

    said: str
    commit: str | None = None
    difference: str | None = None


def proposal_of(fact: Fact) -> Proposal | None:
    """What approving the entry does; None for a statement."""
    action, _, subject = fact.proposal.partition(" ")
    return Proposal(action, subject.strip()) if fact.proposal else None


def propose(proposal: Proposal, session: Session, *, text: str, reason: str) -> EntryResult:
    """Stage the proposal for review; `text` says what is proposed in words that stay the same.

    Unchanged if it waits already, or if the person decided about these words before. Raises Refused for a secret.
    """
    refuse_secrets(text, reason, proposal.subject)
    with session.stores.save_lock():
        here = session.at(session.clock())
        known = proposed_before(text, here)
        if known:
            return EntryResult("propose", known, "it was proposed before", old=known.id, staged=True, changed=False)
        fact = _fact(proposal, here, text=text, reason=reason)
        return _stage(fact, here)


def proposed_before(text: str, session: Session) -> Fact | None:
    """The proposal with these words that waits, or about which the person decided; None if there is none."""
    fingerprint = session.stores.rules.fingerprint(text=text)
    with entry_reader(session.stores) as reader:
        records = reader.facts(FactQuery(fingerprint=fingerprint, staged=True))
    return next((each.fact for each in records if each.fact.proposal), None)


def describe(proposal: Proposal) -> str:
    """What approving the proposal does, in our words: its text may say anything."""
    if proposal.action == ARCHIVE:
        return f"Approving it moves {proposal.subject} to {archived_path(proposal.subject)}."
    if proposal.action == LOAD:
        return f"Approving it loads {id_digits(proposal.subject)} before every prompt."
    return f"Nobody knows how to {proposal.action}: reject it."


def archived_path(path: str) -> str:
    """Where a note goes when it is archived: `_archive` in its top folder, or in its group below `Agent`."""
    return note_archive(path, ARCHIVE_FOLDER, below=2 if path.startswith("Agent/") else 1)


def carry_out(proposal: Proposal, session: Session, *, dry_run: bool) -> ProposalResult:
    """Do what the person approved, in their name. Raises UsageError for an unknown action, Conflict and Refused."""
    deed = _DEEDS.get(proposal.action)
    if deed is None:
        raise UsageError(f"no proposal is called {proposal.action!r}", hint="Reject it: `commonplace review reject`.")
    return deed(proposal.subject, session, dry_run=dry_run)


def _archive(path: str, session: Session, *, dry_run: bool) -> ProposalResult:
    target = archived_path(path)
    try:
        moved = move_note(path, target, session, Terms(personal=True, dry_run=dry_run))
    except NotFound:
        return ProposalResult(f"{path} is not there any more.")
    left = f" Links in {', '.join(moved.left)} still name the old path." if moved.left else ""
    return ProposalResult(f"{path} is now {target}.{left}", moved.commit, moved.difference)


def _load(id: str, session: Session, *, dry_run: bool) -> ProposalResult:
    try:
        fact = active_entry(id, session).fact
    except NotFound:
        return ProposalResult(f"{id_digits(id)} is not there any more.")
    result = load_fact(fact, session, always=True, reason="the person approved it", dry_run=dry_run)
    return ProposalResult(f"{id_digits(id)} is loaded before every prompt.", result.commit, result.difference)


_DEEDS: Final[Mapping[str, Callable[..., ProposalResult]]] = {ARCHIVE: _archive, LOAD: _load}


def _fact(proposal: Proposal, session: Session, *, text: str, reason: str) -> Fact:
    id, now = new_id(session.clock()), session.now
    path = staging_path(entry_path("", id=id, slug=slug_of(text), recorded=now, always_load=False))
    return Fact(
        id=id,
        path=path,
        line=0,
        origin="entry",
        text=text,
        place=place_of(path),
        recorded=now,
        updated=now,
        reason=reason,
        proposal=proposal.key,
        origins=Origins(session.actor.origin, trust="mined"),
    )


def _stage(fact: Fact, session: Session) -> EntryResult:
    content = new_entry_note(fact, tags=())
    note = parse(content, path=fact.path, mtime=0.0)
    message = commit_message(session.stores, verb="propose", path=fact.path)
    permit = Permit(session, Terms(message=message, why=fact.reason), "remember", fact.path)
    permit.ask(incoming=note)
    at = locate(fact.path, session.stores.vault)

    def plan(read: Reader) -> tuple[Edit, ...]:
        return (Edit(at, None, content, parsed=note),)

    (edit,), result = change(plan, [permit], path=fact.path)
    changed = change_result(edit, permit, result)
    return EntryResult("propose", fact, fact.reason, commit=changed.commit, staged=True, changed=changed.changed)
