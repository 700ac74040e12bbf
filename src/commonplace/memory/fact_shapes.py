"""The JSON of facts and entries, declared once for `--json`, the HTTP API and the MCP tools, as in `shapes`.

Each function takes `Notes.link`, which makes the address of a note.
"""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Final, cast

from typing_extensions import TypedDict  # pydantic rejects typing.TypedDict before Python 3.12

from commonplace.facts.claims import speaker_of
from commonplace.facts.entry_paths import id_digits, word_digits
from commonplace.facts.groups import said_last
from commonplace.facts.validity import TimelineEvent, TimelineEventKind
from commonplace.memory.shapes import NoteLink
from commonplace.model import (
    Bond,
    Chain,
    EntryResult,
    Fact,
    FactClass,
    FactSnapshot,
    FactState,
    Origin,
    Origins,
    Place,
    Status,
)
from commonplace.model.fact import Neighbour, OldEnding, ReviewAction, ReviewQueue, ReviewResult, WaitingEntry
from commonplace.model.proposal import Proposal, ProposalAction, ProposalResult

_WORD_DIGITS: Final = 3  # of the words of an entry in its name


class BondShape(TypedDict):
    """A fact's relation to another fact, given by id."""

    bond: Bond
    target: str


class FactShape(TypedDict):
    """A fact as its note states it; `link` opens the note in Obsidian.

    Moments are text in UTC; empty means open or unknown.
    """

    id: str
    path: str
    line: int
    origin: Origin
    text: str
    kind: str
    fact: FactClass
    status: Status
    place: Place
    sensitive: bool
    always_load: bool
    pinned: bool
    importance: float
    topics: list[str]
    about: str
    when: str
    project: str
    project_root: str
    subject: str
    predicate: str
    object: str
    due: str
    valid_from: str
    valid_until: str
    recorded: str
    updated: str
    supersedes: str
    superseded_by: str
    superseded_at: str
    deleted_at: str
    archived_at: str
    invalidated_at: str
    was_valid_until: str
    reason: str
    bonds: list[BondShape]
    confirmed: list[str]
    source: Origins
    fingerprint: str
    link: str


def fact_shape(fact: Fact, link: NoteLink) -> FactShape:
    """Every field of a fact, and the address of its note; its origins are called `source`."""
    fields = asdict(fact)
    fields["source"] = fields["origins"]
    fields["bonds"] = [{"bond": bond, "target": target} for bond, target in fact.bonds]
    fields["link"] = link(fact.path)
    return cast(FactShape, {name: fields[name] for name in FactShape.__annotations__})


class FactSnapshotShape(FactShape):
    """A fact and its state at the moment asked about."""

    state: FactState
    until: str
    ended_by: str
    importance_now: float
    uses: int
    last_used: str


def snapshot_shape(snapshot: FactSnapshot, link: NoteLink) -> FactSnapshotShape:
    """The fact's own fields, and its state at the moment asked about."""
    return {
        **fact_shape(snapshot.fact, link),
        "state": snapshot.state,
        "until": snapshot.until,
        "ended_by": snapshot.ended_by,
        "importance_now": snapshot.importance,
        "uses": snapshot.uses,
        "last_used": snapshot.last_used,
    }


def shown_name(fact: Fact) -> str:
    """The name of an entry beside its words, as `settle` takes it: 91f607.3ac, with digits of the words."""
    return f"{id_digits(fact.id)}.{word_digits(fact)[:_WORD_DIGITS]}"


class NeighbourShape(TypedDict):
    """A known entry near to a new one; `name` is its id in short, with digits of its words, as `settle` takes it.

    `speaker` said it on `day`; `same` marks one that may say the same. `cosine` is null if only words were compared.
    """

    name: str
    id: str
    text: str
    speaker: str
    day: str
    same: bool
    cosine: float | None


def neighbour_shape(neighbour: Neighbour) -> NeighbourShape:
    """A known entry near to a new one."""
    fact = neighbour.fact
    return {
        "name": shown_name(fact),
        "id": fact.id,
        "text": fact.text,
        "speaker": speaker_of(fact),
        "day": max((fact.begins[:10], *fact.confirmed)),
        "same": neighbour.is_same,
        "cosine": None if neighbour.cosine is None else round(neighbour.cosine, 3),
    }


class EntryResultShape(TypedDict):
    """The result of a change; `old` is the id of the fact it replaced, confirmed or contradicts.

    `name` is its id in short, with digits of its words, as `settle` takes it.
    `ended` are the facts that end by it, `waiting` those that the person must allow it to end, `neighbours` the known
    entries nearest to it, found by words alone if `by_words`.
    """

    action: str
    id: str
    name: str
    fact: FactShape
    reason: str
    old: str
    commit: str | None
    staged: bool
    changed: bool
    difference: str | None
    ended: list[FactShape]
    waiting: list[FactShape]
    neighbours: list[NeighbourShape]
    by_words: bool


def entry_result_shape(result: EntryResult, link: NoteLink) -> EntryResultShape:
    """The result of a change, with the fact and its id."""
    return {
        "action": result.action,
        "id": result.fact.id,
        "name": shown_name(result.fact),
        "fact": fact_shape(result.fact, link),
        "reason": result.reason,
        "old": result.old,
        "commit": result.commit,
        "staged": result.staged,
        "changed": result.changed,
        "difference": result.difference,
        "ended": [fact_shape(each, link) for each in result.ended],
        "waiting": [fact_shape(each, link) for each in result.waiting],
        "neighbours": [neighbour_shape(each) for each in result.neighbours],
        "by_words": result.by_words,
    }


class EdgeShape(TypedDict):
    """A bond between two facts, given by their ids."""

    source: str
    bond: Bond
    target: str


class ChainShape(TypedDict):
    """A fact, its versions oldest first, and their bonds."""

    fact: FactShape
    versions: list[FactSnapshotShape]
    edges: list[EdgeShape]


def chain_shape(chain: Chain, link: NoteLink) -> ChainShape:
    """A fact, its versions oldest first, and its bonds."""
    return {
        "fact": fact_shape(chain.fact, link),
        "versions": [snapshot_shape(each, link) for each in chain.versions],
        "edges": [{"source": edge.source, "bond": edge.bond, "target": edge.target} for edge in chain.edges],
    }


class TimelineEventShape(TypedDict):
    """One event in the life of a fact; `other` is the id of the fact that replaced it."""

    at: str
    what: TimelineEventKind
    other: str
    fact: FactShape


def timeline_event_shape(event: TimelineEvent, link: NoteLink) -> TimelineEventShape:
    """One event of a timeline, and the fact it happened to."""
    return {"at": event.at, "what": event.what, "other": event.other, "fact": fact_shape(event.fact, link)}


class SpokenShape(FactShape):
    """A fact with who said it, and the day on which it was said or confirmed last."""

    speaker: str
    day: str


def spoken_shape(fact: Fact, link: NoteLink) -> SpokenShape:
    """A fact with its speaker and day."""
    speaker, day = speaker_and_day(fact)
    return {**fact_shape(fact, link), "speaker": speaker, "day": day}


def speaker_and_day(fact: Fact) -> tuple[str, str]:
    """Who said it, and the day on which it was said or confirmed last."""
    return speaker_of(fact), said_last(fact)[:10]


class WaitingShape(TypedDict):
    """An entry or ending that waits for the person, why, what it speaks against, and what says the same by now."""

    id: str
    fact: SpokenShape
    reason: str
    against: list[SpokenShape]
    known: SpokenShape | None
    remarks: list[str]


def waiting_shape(waiting: WaitingEntry, link: NoteLink) -> WaitingShape:
    """A waiting entry with its evidence."""
    return {
        "id": waiting.fact.id,
        "fact": spoken_shape(waiting.fact, link),
        "reason": waiting.fact.reason,
        "against": [spoken_shape(each, link) for each in waiting.against],
        "known": spoken_shape(waiting.known, link) if waiting.known else None,
        "remarks": [*waiting.remarks],
    }


class ProposalShape(TypedDict):
    """A change of a note that waits for the person: another text (`difference`), or another place (`move_to`).

    `text` is what the note says that would move.
    """

    id: str
    target: str
    by: str
    why: str
    made: str
    difference: str
    move_to: str
    text: str
    link: str


def proposal_shape(proposal: Proposal, link: NoteLink) -> ProposalShape:
    """A waiting proposal; `link` opens the note that it would change."""
    return {
        "id": proposal.id,
        "target": proposal.target,
        "by": proposal.by,
        "why": proposal.why,
        "made": proposal.made,
        "difference": proposal.difference,
        "move_to": proposal.move_to,
        "text": proposal.text,
        "link": link(proposal.target),
    }


class ProposalResultShape(TypedDict):
    """What became of a proposal."""

    action: ProposalAction
    id: str
    proposal: ProposalShape
    remarks: list[str]
    commit: str | None
    changed: bool
    difference: str | None


def proposal_result_shape(result: ProposalResult, link: NoteLink) -> ProposalResultShape:
    """What became of a proposal, with its commit."""
    return {
        "action": result.action,
        "id": result.proposal.id,
        "proposal": proposal_shape(result.proposal, link),
        "remarks": [*result.remarks],
        "commit": result.commit,
        "changed": result.changed,
        "difference": result.difference,
    }


class GroupShape(TypedDict):
    """Near entries of which nobody has said how they relate, the newest first; `id` names exactly this group."""

    id: str
    entries: list[SpokenShape]


class OldEndingShape(TypedDict):
    """A fact that an old rule ended, the one that replaced it, or null if that is erased, and the rule's reason."""

    id: str
    fact: SpokenShape
    by: SpokenShape | None
    reason: str


def old_ending_shape(ending: OldEnding, link: NoteLink) -> OldEndingShape:
    """An ending that an old rule made."""
    by = spoken_shape(ending.by, link) if ending.by else None
    return {"id": ending.fact.id, "fact": spoken_shape(ending.fact, link), "by": by, "reason": ending.reason}


class QueueShape(TypedDict):
    """Everything that waits for the person: entries, endings and proposals, oldest first, what is undecided, and the
    paths of other staged notes."""

    count: int
    waiting: list[WaitingShape]
    endings: list[WaitingShape]
    groups: list[GroupShape]
    proposals: list[ProposalShape]
    notes: list[str]


def queue_shape(queue: ReviewQueue, link: NoteLink) -> QueueShape:
    """Everything that waits, and how many that are."""
    return {
        "count": queue.count,
        "waiting": [waiting_shape(each, link) for each in queue.entries],
        "endings": [waiting_shape(each, link) for each in queue.endings],
        "groups": [
            {"id": group.id, "entries": [spoken_shape(each, link) for each in group.entries]} for group in queue.groups
        ],
        "proposals": [proposal_shape(each, link) for each in queue.proposals],
        "notes": [*queue.notes],
    }


class ReviewResultShape(TypedDict):
    """The result of a review of one entry or group; `ended` are the entries that it replaced."""

    action: ReviewAction
    id: str
    fact: FactShape
    ended: list[FactShape]
    remarks: list[str]
    commit: str | None
    changed: bool
    difference: str | None


def review_result_shape(result: ReviewResult, link: NoteLink) -> ReviewResultShape:
    """The result of a review, with the fact and its id."""
    return {
        "action": result.action,
        "id": result.fact.id,
        "fact": fact_shape(result.fact, link),
        "ended": [fact_shape(each, link) for each in result.ended],
        "remarks": [*result.remarks],
        "commit": result.commit,
        "changed": result.changed,
        "difference": result.difference,
    }


class ReviewedShape(TypedDict):
    """What became of everything that was decided: entries, and proposals."""

    count: int
    reviewed: list[ReviewResultShape]
    proposals: list[ProposalResultShape]


def reviewed_shape(results: Sequence[ReviewResult | ProposalResult], link: NoteLink) -> ReviewedShape:
    """The results of a review, by what they are about."""
    return {
        "count": len(results),
        "reviewed": [review_result_shape(each, link) for each in results if isinstance(each, ReviewResult)],
        "proposals": [proposal_result_shape(each, link) for each in results if isinstance(each, ProposalResult)],
    }
