"""What is answered about entries and facts. Moments are text in UTC; empty means open or unknown."""

from typing import Literal

from commonplace.model import Bond, FactClass, Origin, Place, State, Status, Trust
from commonplace.web.answers import Done, Shape


class OriginsShape(Shape):
    """Where a fact comes from: the program, the conversation in it, and how much that is worth."""

    interface: str
    conversation: str
    trust: Trust


class BondShape(Shape):
    """How a fact stands to another, by its id."""

    bond: Bond
    target: str


class FactShape(Shape):
    """One thing known, as its note says it."""

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
    importance: float
    topics: list[str]
    subject: str
    predicate: str
    object: str
    valid_from: str
    valid_until: str
    recorded: str
    updated: str
    supersedes: str
    superseded_by: str
    superseded_at: str
    deleted_at: str
    invalidated_at: str
    was_valid_until: str
    reason: str
    bonds: list[BondShape]
    confirmed: list[str]
    source: OriginsShape
    fingerprint: str


class HeldShape(FactShape):
    """A fact, and how it stands at the moment that was asked for."""

    state: State
    until: str
    ended_by: str
    importance_now: float
    uses: int
    last_used: str


class RememberedShape(Shape):
    """What came of a change; `old` is the id of the fact that it replaced, confirmed or stands against."""

    action: str
    id: str
    fact: FactShape
    reason: str
    old: str
    commit: str | None
    staged: bool
    changed: bool
    difference: str | None


class RememberedAnswer(Done):
    """What came of saving, evolving, confirming, forgetting or ending something."""

    remembered: RememberedShape


class EdgeShape(Shape):
    """A bond between two facts, by their ids."""

    source: str
    bond: Bond
    target: str


class ChainAnswer(Done):
    """A fact, its versions oldest first, and their bonds."""

    fact: FactShape
    versions: list[HeldShape]
    edges: list[EdgeShape]


class FactsAnswer(Done):
    """Facts, the most important first."""

    count: int
    facts: list[HeldShape]


class MomentShape(Shape):
    """One thing that happened to a fact; `other` is the id of the one that replaced it."""

    at: str
    what: Literal["began", "ended", "replaced", "confirmed", "forgotten"]
    other: str
    fact: FactShape


class TimelineAnswer(Done):
    """What happened to all that is known of someone or something, oldest first."""

    entity: str
    timeline: list[MomentShape]
