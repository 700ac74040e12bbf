"""The verbs on entries: save, settle, neighbours, evolve, confirm, forget, load, erase, show, recall; and lint."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from commonplace.errors import UsageError
from commonplace.facts.cues import CUES, checked_cue
from commonplace.facts.triples import predicate_key
from commonplace.flows.ingest.sync import index_new_vault
from commonplace.flows.memory.amend import confirm, describe, erase_entry, forget, load_always
from commonplace.flows.memory.facts import chain_of
from commonplace.flows.memory.lint import LintReport, lint
from commonplace.flows.memory.new_entry import refuse_several
from commonplace.flows.memory.save import evolve, save, with_neighbours
from commonplace.flows.memory.verdicts import save_same, settle, shown_entry
from commonplace.flows.notes.write import refuse_secrets
from commonplace.flows.project import choose_project
from commonplace.flows.search.search import SearchQuery, search
from commonplace.flows.stores import Session
from commonplace.model import (
    FACT_CLASSES,
    TRUSTS,
    ActorKind,
    Answer,
    Bond,
    Candidate,
    Chain,
    EntryResult,
    Erasure,
    Fact,
    FactClass,
    Filters,
    Origins,
    Trust,
)
from commonplace.model.entry_field import entry_fields
from commonplace.model.fact import Settlement
from commonplace.model.layout import MEMORY
from commonplace.model.moment import moment_text
from commonplace.model.progress import Progress, ignore_progress
from commonplace.model.request import Day, NewEntry, takes
from commonplace.questions.time_arguments import parse_time

_TRUST_OF: dict[ActorKind, Trust] = {"person": "told", "agent": "said", "job": "mined"}


class Entries:
    """What one vault's memory holds, one statement in each entry, for one actor."""

    def __init__(self, session: Session) -> None:
        self._session = session

    @takes(NewEntry)
    def save(self, new: NewEntry) -> EntryResult:
        """Save one thing worth knowing; the arguments are those of `NewEntry`.

        What is already known is confirmed instead; nothing is ever overwritten. Raises Refused with the reason `secret`
        or `junk`, UsageError, and NotFound for an id that does not exist.
        """
        return self.add(new)

    def add(self, new: NewEntry) -> EntryResult:
        """Save a new entry; the answer shows the nearest ones, to be settled. Raises as `save` does."""
        if self._session.actor.kind == "agent" and not new.whole:
            refuse_several(new)
        new = _with_until(new)
        if new.same and (len(new.same) > 1 or new.replaces or new.covers or new.both or new.until):
            raise UsageError("`same` names one entry and nothing else", hint="Say one thing of each older entry.")
        project = choose_project(new.project, new.folder, vault=self._session.stores.vault_folder)
        ended = self._bonds("update", (*new.replaces, *new.covers))
        given = {row.name: getattr(new, row.name) for row in entry_fields(Candidate) if hasattr(new, row.name)}
        if ended and not new.kind:  # what takes the place of a preference is one
            given["kind"] = _fact_named(ended[0][1], self._session).kind
        given |= {"project": project.name if project else "", "project_root": project.root if project else ""}
        candidate = Candidate(
            **self._taken(given),
            bonds=(
                *self._bonds("extend", new.extends),
                *self._bonds("derive", new.derived_from),
                *self._bonds("contradict", new.contradicts),
                *ended,
                *self._bonds("both", new.both),
            ),
            origins=self._origins(new.interface, new.conversation, new.trust, quote=new.quote),
        )
        if new.same:
            return save_same(candidate, new.same[0], self._session, dry_run=new.dry_run)
        saved = save(candidate, self._session, dry_run=new.dry_run)
        others = tuple(target for _, target in ended if target != saved.fact.id)
        if others and saved.action == "confirm" and saved.fact.origin == "entry" and not saved.staged:
            settlement = Settlement(replaces=others, both=tuple(new.both))  # it is known, and so is what it replaces
            return settle(saved.fact.id, settlement, self._session, quote=new.quote, dry_run=new.dry_run)
        return with_neighbours(saved, self._session)

    def settle(
        self,
        id: str,
        *,
        replaces: Sequence[str] = (),
        covers: Sequence[str] = (),
        same: Sequence[str] = (),
        both: Sequence[str] = (),
        until: Day = "",
        reason: str = "",
        quote: str = "",
        dry_run: bool = False,
    ) -> EntryResult:
        """Say how an entry relates to older ones, after reading both; one commit, which `undo` takes back.

        It `replaces` them; it `covers` them: it says all that they say, and more; it says the `same` as one, whose
        wording stays; or `both` hold. `until` is the day on which it ends: then the older ones stay, and hold alone
        again. What only the person may end waits for them, unless an agent gives in `quote` what they wrote within the
        last day. A name may be followed by the digits that were shown with it, as in `91f607.3ac`: if the words have
        changed since, it is refused with the present ones. Raises NotFound, UsageError, Conflict and Refused.
        """
        settlement = Settlement(
            tuple(replaces), tuple(covers), tuple(same), tuple(both), start_of(until, now=self._session.clock())
        )
        return settle(id, settlement, self._session, reason=reason, quote=quote, dry_run=dry_run)

    def neighbours(self, id: str) -> EntryResult:
        """The entry with the nearest ones of which it does not say how it relates to them; changes nothing.

        Raises NotFound, and Conflict for an entry that is not active.
        """
        fact = shown_entry(id, self._session.at(self._session.clock()))
        return with_neighbours(EntryResult("show", fact, "", changed=False), self._session)

    def evolve(
        self,
        id: str,
        text: str,
        *,
        reason: str,
        object: str = "",
        topics: Sequence[str] = (),
        about: str = "",
        when: str = "",
        importance: float | None = None,
        valid_from: Day = "",
        valid_until: Day = "",
        interface: str = "",
        conversation: str = "",
        quote: str = "",
        trust: Trust | None = None,
        dry_run: bool = False,
    ) -> EntryResult:
        """Replace an entry with what is true now; the old one is archived, and each names the other.

        The text of a triple is its new object unless `object` is given too. What is not given is taken from the old
        entry. Raises as `save` does, NotFound, and Conflict for an entry that is no longer active.
        """
        given: dict[str, Any] = {"text": text, "object": object, "topics": topics, "importance": importance}
        given |= {"about": about, "when": when, "valid_from": valid_from, "valid_until": valid_until}
        origins = self._origins(interface, conversation, trust, quote=quote)
        candidate = Candidate(**self._taken(given), origins=origins)
        return evolve(id, candidate, self._session, reason=reason, dry_run=dry_run)

    def describe(
        self, id: str, *, about: str | None = None, when: str | None = None, dry_run: bool = False
    ) -> EntryResult:
        """Say what an entry is `about` and `when` it matters, so that it is found by that, too; its words stay.

        None leaves a field as it is. A program describes what nobody has described; only the person changes what is
        there. Raises NotFound, Conflict, UsageError and Refused.
        """
        given = {"about": about, "when": when}
        cues = {name: checked_cue(cue, name) for name, cue in given.items() if cue is not None}
        return describe(id, self._session, cues=cues, dry_run=dry_run)

    def confirm(self, id: str) -> EntryResult:
        """Confirm that an entry is still true; it ages from today on. Raises NotFound and Conflict."""
        return confirm(id, self._session)

    def forget(self, id: str, *, reason: str = "", quote: str = "") -> EntryResult:
        """Stop recalling an entry; its note stays, and `undo` brings it back. Raises NotFound and Conflict.

        An agent forgets the person's own word only with a `quote`: what they wrote within the last day. Otherwise
        nothing changes, the result is `waiting`, and the person decides in review.
        """
        return forget(id, self._session, reason=reason, quote=quote)

    def load(self, id: str, *, always: bool, pinned: bool | None = None) -> EntryResult:
        """Load an entry before every prompt, or only when it is relevant. Only a person may.

        Upkeep changes it by use, unless it is `pinned`; None leaves that as it is. Raises Refused, NotFound, Conflict.
        """
        return load_always(id, self._session, always=always, pinned=pinned)

    def erase(self, id: str) -> Erasure:
        """Remove an entry for good, from every file of the memory; says what git still holds. Only a person may."""
        from commonplace.upkeep.erasures import forget_erased  # not needed to save an entry, and slow to import

        erasure = erase_entry(id, self._session)
        forget_erased(self._session)
        return erasure

    def show(self, id: str) -> Chain:
        """An entry or a fact with all its versions and bonds.

        `id` is an id, its beginning, its last six characters, or a path. Raises NotFound, UsageError.
        """
        return chain_of(id, self._session)

    def recall(
        self,
        question: str,
        *,
        k: int | None = None,
        kinds: Sequence[str] = (),
        topics: Sequence[str] = (),
        include_archive: bool = False,
        progress: Progress = ignore_progress,
    ) -> Answer:
        """The hits for a question among the entries, best first. Raises IndexDamaged.

        A vault that was never synced is indexed by words first; `progress` counts its notes.
        """
        filters = Filters(
            sources=("vault",), kinds=tuple(kinds), path=MEMORY, topics=tuple(topics), archived=include_archive
        )
        query = SearchQuery(question, k=k, filters=filters, snippets=True)
        index_new_vault(self._session.stores, progress=progress)
        return search(query, self._session.stores, audience=self._session.audience)

    def _origins(self, interface: str, conversation: str, trust: Trust | None, *, quote: str) -> Origins:
        actor = self._session.actor
        if trust is not None and trust not in TRUSTS:
            raise UsageError(f"no such trust: {trust!r}", hint=f"Choose from: {', '.join(TRUSTS)}.")
        said = " ".join(quote.split())
        program, trust = interface.strip() or actor.origin, trust or _TRUST_OF[actor.kind]
        return Origins(program, conversation.strip(), trust, quote=said, author=self._session.author)

    def _taken(self, given: dict[str, Any]) -> dict[str, Any]:
        """The values of a candidate's fields, as a caller gives them."""
        now, reads = self._session.clock(), {row.name: row.reads for row in entry_fields(Candidate)}
        cues = {name: checked_cue(given[name], name) for name in CUES if name in given}
        return {name: _field_value(reads[name], value, now=now) for name, value in (given | cues).items()}

    def _bonds(self, bond: Bond, ids: Sequence[str]) -> list[tuple[Bond, str]]:
        find = shown_entry if bond in ("update", "both") else _fact_named
        return [(bond, find(id, self._session).id) for id in ids]


def _with_until(new: NewEntry) -> NewEntry:
    """The entry with its end: what holds for a while ends nothing, and the older ones hold alone again afterwards."""
    if not new.until:
        return new
    if new.valid_until:
        raise UsageError("both `until` and `valid_until` are given", hint="Give `until`: the older entries stay.")
    both = (*new.both, *new.replaces, *new.covers)
    return replace(new, valid_until=new.until, replaces=(), covers=(), both=both)


def _fact_named(name: str, session: Session) -> Fact:
    return chain_of(name, session).fact


class Lint:
    """A check of every entry of one vault, for one actor."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def __call__(self, *, fix: bool = False, dry_run: bool = False, progress: Progress = ignore_progress) -> LintReport:
        """What is wrong with entries and with the chains of facts; with `fix`, repairs what is safe to repair.

        There is one commit for each kind of problem; a dry run only lists in `mended` what would be repaired.
        Raises as `notes.write` does if a note may not be changed.
        """
        return lint(self._session, fix=fix, dry_run=dry_run, progress=progress)


def _field_value(reads: str, value: Any, *, now: datetime) -> Any:
    """What a caller gives for a field, as the field that reads such values has it. Raises UsageError, and Refused."""
    match reads:
        case "text":
            return value.strip()
        case "word" | "predicate":
            refuse_secrets(value)  # folded, one is not recognised
            return predicate_key(value) if reads == "predicate" else value.strip().casefold()
        case "class":
            return class_named(value)
        case "names":
            return distinct_names(value)
        case "start" | "day":
            moment = start_of(value, now=now)
            return moment[:10] if reads == "day" else moment
    return value


def class_named(name: str) -> FactClass:
    """The fact class of that name. Raises UsageError if there is none."""
    for each in FACT_CLASSES:
        if each == name:
            return each
    refuse_secrets(name)  # the error quotes it
    raise UsageError(f"no fact class is called {name!r}", hint=f"Classes: {', '.join(FACT_CLASSES[1:])}.")


def distinct_names(names: Sequence[str]) -> tuple[str, ...]:
    """Topics or tags without a leading #, each once."""
    return tuple(dict.fromkeys(name.strip().lstrip("#") for name in names if name.strip(" #")))


def start_of(day: Day, *, now: datetime) -> str:
    """The first moment of a day, or the moment itself, as text in UTC; empty for no day. Raises UsageError."""
    if isinstance(day, datetime):
        return moment_text(day if day.tzinfo else day.replace(tzinfo=UTC))
    return parse_time(day, now=now, zone=UTC)[0] if day.strip() else ""
