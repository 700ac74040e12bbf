"""The verbs on entries: save, evolve, confirm, forget, load, erase; show, recall."""

from collections.abc import Sequence
from datetime import UTC, datetime

from commonplace.errors import UsageError
from commonplace.facts.predicates import predicate_key
from commonplace.flows.amend import confirm, forget, load_always
from commonplace.flows.keeper import Keeper
from commonplace.flows.known import chain_of
from commonplace.flows.recollect import recollect
from commonplace.flows.remember import evolve, save
from commonplace.flows.unlearn import erase_entry
from commonplace.model import (
    FACT_CLASSES,
    TRUSTS,
    ActorKind,
    Answer,
    Bond,
    Candidate,
    Chain,
    Erased,
    FactClass,
    Origins,
    Remembered,
    Trust,
)
from commonplace.recalling.times import in_utc, moment

Day = str | datetime
_TRUST_OF: dict[ActorKind, Trust] = {"person": "told", "agent": "said", "job": "mined"}


class Entries:
    """What one vault's memory holds, one thing in each entry, for one actor."""

    def __init__(self, keeper: Keeper) -> None:
        self._keeper = keeper

    def save(
        self,
        text: str,
        *,
        kind: str = "",
        fact: str = "",
        subject: str = "",
        predicate: str = "",
        object: str = "",
        topics: Sequence[str] = (),
        tags: Sequence[str] = (),
        importance: float | None = None,
        valid_from: Day = "",
        valid_until: Day = "",
        always_load: bool = False,
        extends: Sequence[str] = (),
        derived_from: Sequence[str] = (),
        contradicts: Sequence[str] = (),
        interface: str = "",
        conversation: str = "",
        trust: Trust | None = None,
        dry_run: bool = False,
    ) -> Remembered:
        """Keep one thing worth knowing. What is known already is confirmed instead; nothing is ever overwritten.

        `kind` picks the folder and scopes recall; `fact` is the class that decides how fast it ages. With a
        `predicate` it is a triple, and the text may be empty. Days are text such as `2026-03-01`, read in UTC.
        `extends`, `derived_from` and `contradicts` name other entries by id. `trust` is what the source is worth: told
        by a person, said by an agent, mined by a job, where it is not given.
        Raises Refused with the reason `secret` or `junk`, UsageError, NotFound for an id that is none.
        """
        candidate = Candidate(
            text=text,
            kind=kind.strip().casefold(),
            fact=class_named(fact),
            subject=subject.strip(),
            predicate=predicate_key(predicate),
            object=object.strip(),
            topics=names_of(topics),
            tags=names_of(tags),
            importance=importance,
            valid_from=self._day(valid_from),
            valid_until=self._day(valid_until),
            always_load=always_load,
            bonds=self._bonds(extend=extends, derive=derived_from, contradict=contradicts),
            origins=self._origins(interface, conversation, trust),
        )
        return save(candidate, self._keeper, dry_run=dry_run)

    def evolve(
        self,
        id: str,
        text: str,
        *,
        reason: str,
        object: str = "",
        topics: Sequence[str] = (),
        importance: float | None = None,
        valid_from: Day = "",
        valid_until: Day = "",
        interface: str = "",
        conversation: str = "",
        trust: Trust | None = None,
        dry_run: bool = False,
    ) -> Remembered:
        """Replace an entry by what is true now; the old one goes to the archive, and each names the other.

        Of a triple, the text is its new object unless `object` is given too. What is not given is taken over.
        Raises as `save` does, NotFound, and Conflict for an entry that does not stand any more.
        """
        candidate = Candidate(
            text=text,
            object=object.strip(),
            topics=names_of(topics),
            importance=importance,
            valid_from=self._day(valid_from),
            valid_until=self._day(valid_until),
            origins=self._origins(interface, conversation, trust),
        )
        return evolve(id, candidate, self._keeper, reason=reason, dry_run=dry_run)

    def confirm(self, id: str) -> Remembered:
        """Say that an entry still holds; it ages from today on. Raises NotFound and Conflict."""
        return confirm(id, self._keeper)

    def forget(self, id: str, *, reason: str = "") -> Remembered:
        """Let nothing recall an entry any more; its note stays, and `undo` brings it back. Raises as `confirm` does."""
        return forget(id, self._keeper, reason=reason)

    def load(self, id: str, *, always: bool) -> Remembered:
        """Put an entry before every prompt, or let it be recalled when it is asked for. Only for a person.

        Raises Refused, NotFound and Conflict.
        """
        return load_always(id, self._keeper, always=always)

    def erase(self, id: str) -> Erased:
        """Remove an entry for good, from every file of the memory; says what git still holds. Only for a person."""
        return erase_entry(id, self._keeper)

    def show(self, id: str) -> Chain:
        """An entry or a fact with all its versions and bonds.

        `id` is an id, its beginning, its last six characters, or a path. Raises NotFound, UsageError.
        """
        return chain_of(id, self._keeper)

    def recall(
        self,
        question: str,
        *,
        k: int | None = None,
        kinds: Sequence[str] = (),
        topics: Sequence[str] = (),
        include_archive: bool = False,
    ) -> Answer:
        """What the entries say about the question, best first."""
        return recollect(
            question, self._keeper, k=k, kinds=tuple(kinds), topics=tuple(topics), include_archive=include_archive
        )

    def _origins(self, interface: str, conversation: str, trust: Trust | None) -> Origins:
        actor = self._keeper.desk.actor
        if trust is not None and trust not in TRUSTS:
            raise UsageError(f"no trust is called {trust!r}", hint=f"Trust: {', '.join(TRUSTS)}.")
        return Origins(interface.strip() or actor.origin, conversation.strip(), trust or _TRUST_OF[actor.kind])

    def _day(self, when: Day) -> str:
        return day_of(when, now=self._keeper.desk.clock())

    def _bonds(self, **named: Sequence[str]) -> tuple[tuple[Bond, str], ...]:
        bonds: list[tuple[Bond, str]] = []
        stated: tuple[Bond, ...] = ("extend", "derive", "contradict")
        for bond in stated:
            bonds += [(bond, chain_of(id, self._keeper).fact.id) for id in named[bond]]
        return tuple(bonds)


def class_named(name: str) -> FactClass:
    """The fact class of that name. Raises UsageError when there is none."""
    for each in FACT_CLASSES:
        if each == name:
            return each
    raise UsageError(f"no fact class is called {name!r}", hint=f"Classes: {', '.join(FACT_CLASSES[1:])}.")


def names_of(names: Sequence[str]) -> tuple[str, ...]:
    """Topics or tags as they are written: without a leading #, each once."""
    return tuple(dict.fromkeys(name.strip().lstrip("#") for name in names if name.strip(" #")))


def day_of(when: Day, *, now: datetime) -> str:
    """The first moment of a day, or the moment, as text in UTC; empty where nothing is said. Raises UsageError."""
    if isinstance(when, datetime):
        return in_utc(when if when.tzinfo else when.replace(tzinfo=UTC))
    return moment(when, now=now, zone=UTC)[0] if when.strip() else ""
