"""Derive one entry from several: the new one names its sources, and may take the place of some of them.

A derived entry is written like any other: gate, policy, lock, commit, audit. The sources keep every word; those that
it replaces go to the archive in the same commit, which `undo` takes back as a whole. The new entry is indexed before
the old ones are, so that no search ever finds neither.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from commonplace.errors import Conflict, Refused
from commonplace.facts.claims import is_own_word
from commonplace.facts.entry_paths import archive_path, id_digits
from commonplace.flows.memory.amend import active_entry
from commonplace.flows.memory.facts import entry_reader
from commonplace.flows.memory.new_entry import JudgedCandidate, complete_candidate, new_entry_note, screen_candidate
from commonplace.flows.memory.save import Ending
from commonplace.flows.notes.write import (
    Edit,
    Permit,
    Reader,
    change,
    change_result,
    commit_message,
    move_trailers,
)
from commonplace.flows.read import locate
from commonplace.flows.stores import Session
from commonplace.index.base import FactQuery, IndexReader
from commonplace.model import Bond, Candidate, EntryResult, Fact, Terms, Verdict
from commonplace.notes import parse


def derive_entry(
    candidate: Candidate, sources: Sequence[str], session: Session, *, reason: str, replaces: bool = False
) -> EntryResult:
    """Save the candidate as an entry derived from the entries with these ids; with `replaces` these are archived.

    Nothing is written if an entry is derived from all of them already, or says this already. If it must wait for the
    person, nothing is archived. Raises Conflict if a source is not active any more, NotFound, and Refused for
    secrets, for junk, and if a program would archive the person's own word.
    """
    with session.stores.save_lock():
        here = session.at(session.clock())
        facts = [active_entry(id, here).fact for id in sources]
        for fact in facts if replaces else ():
            _refuse_replacing(fact, here)
        bonds: tuple[tuple[Bond, str], ...] = tuple(("derive", fact.id) for fact in facts)
        candidate = complete_candidate(replace(candidate, bonds=bonds), here)
        known = known_entry(candidate, facts, here)
        if known:
            return EntryResult("confirm", known, "it is known already", old=known.id, changed=False)
        gate = screen_candidate(candidate, here)
        verdict = Verdict("derive", facts[0].id, reason)
        entry = JudgedCandidate(candidate, verdict, None, gate, here.actor.kind, here.clock())
        fact = entry.fact()
        fact = replace(fact, reason=fact.reason or reason, confirmed=_confirmations(facts) if replaces else ())
        return _write(fact, facts if replaces and not entry.staged_because else (), here, entry=entry)


def supersede_entry(name: str, by: str, session: Session) -> EntryResult:
    """Archive an entry that another one has ended already; each day keeps its answer.

    Raises Conflict if one of the two is not active, NotFound, and Refused for a pinned or always-loaded one.
    """
    with session.stores.save_lock():
        here = session.at(session.clock())
        old, new = active_entry(name, here).fact, active_entry(by, here).fact
        if here.actor.kind != "person" and (old.pinned or old.always_load):
            raise Refused(f"only a person archives {old.path}", path=old.path, hint="Leave it as it is.")
        reason = f"{id_digits(new.id)} replaced it"
        terms = Terms(message=commit_message(here.stores, verb="archive", path=archive_path(old.path)), why=reason)
        ending = Ending(old, new, here, terms, is_over=True)

        def plan(read: Reader) -> tuple[Edit, ...]:
            return (ending.edit(read),)

        edits, result = change(plan, [ending.permit], path=old.path, trailers=move_trailers(*ending.moves))
        changed = change_result(edits[0], ending.permit, result)
        return EntryResult("archive", old, reason, old=old.id, commit=changed.commit, changed=changed.changed)


def derived_from(ids: Iterable[str], reader: IndexReader, *, kind: str | None = None) -> dict[str, frozenset[str]]:
    """The entries, whatever became of them, that are derived from one of these; each with all of its sources.

    With `kind` only those of that kind.
    """
    sources = frozenset(ids)
    edges = reader.bonds(sorted(sources))
    heirs = {edge.source for edge in edges if edge.bond == "derive" and edge.target in sources}
    records = reader.facts(FactQuery(ids=tuple(sorted(heirs)), staged=True)) if heirs else ()
    return {each.fact.id: sources_of(each.fact) for each in records if kind in (None, each.fact.kind)}


def sources_of(fact: Fact) -> frozenset[str]:
    """The ids of the facts from which this one is derived."""
    return frozenset(target for bond, target in fact.bonds if bond == "derive")


def _refuse_replacing(fact: Fact, session: Session) -> None:
    is_fixed = fact.pinned or fact.always_load or is_own_word(fact)
    if session.actor.kind != "person" and is_fixed:
        raise Refused(f"only a person replaces {fact.path}", path=fact.path, hint="Leave it as it is.")


def known_entry(candidate: Candidate, sources: Sequence[Fact], session: Session) -> Fact | None:
    """An entry of that kind which is derived from all of these, or another one with the words: one that holds if there
    is one, else whatever became of it, for then the job is done, too. What one of these replaced is no other entry."""
    ids = {fact.id for fact in sources}
    print_ = session.stores.rules.fingerprint(candidate)
    with entry_reader(session.stores) as reader:
        heirs = [id for id, its in derived_from(ids, reader).items() if ids <= its]
        same = [each.fact for each in reader.facts(FactQuery(fingerprint=print_, staged=True))]
        derived = reader.facts(FactQuery(ids=tuple(heirs), staged=True)) if heirs else ()
    known = [each.fact for each in derived if each.fact.kind == candidate.kind]
    others = [fact for fact in same if not {fact.id, fact.superseded_by} & ids and fact.project == candidate.project]
    return min((*known, *others), key=lambda fact: fact.status != "active" or bool(fact.place), default=None)


def _confirmations(facts: Sequence[Fact]) -> tuple[str, ...]:
    """The days on which one of the facts was stated or confirmed, without the first."""
    days = {day for fact in facts for day in (*fact.confirmed, fact.recorded[:10]) if day}
    return tuple(sorted(days))[1:]


def _write(fact: Fact, replaced: Sequence[Fact], session: Session, *, entry: JudgedCandidate) -> EntryResult:
    """Write the entry, and archive those that it replaces, in one commit; the new one is the first to be indexed."""
    stores, waits = session.stores, entry.staged_because
    content = new_entry_note(fact, tags=entry.candidate.tags)
    note = parse(content, path=fact.path, mtime=0.0)
    why = waits or entry.verdict.reason
    terms = Terms(message=commit_message(stores, verb="derive", path=fact.path), why=why)
    at, permit = locate(fact.path, stores.vault), Permit(session, terms, "remember", fact.path)
    if permit.ask(incoming=note).path != fact.path:
        raise Conflict(f"{fact.path} may not be written there", path=fact.path, hint="Try again later.")
    endings = [Ending(old, fact, session, terms, is_over=True) for old in replaced]

    def plan(read: Reader) -> tuple[Edit, ...]:
        return (Edit(at, None, content, parsed=note), *(ending.edit(read) for ending in endings))

    moves = [move for ending in endings for move in ending.moves]
    permits = [permit, *(ending.permit for ending in endings)]
    edits, result = change(plan, permits, path=fact.path, trailers=move_trailers(*moves))
    changed = change_result(edits[0], permit, result, more=edits[1:])
    return EntryResult(
        "derive", fact, why, old=entry.verdict.target, commit=changed.commit, staged=bool(waits), changed=True
    )


def same_statements(fact: Fact, session: Session) -> list[Fact]:
    """The other active entries of any project that have the same words as this one."""
    with entry_reader(session.stores) as reader:
        records = reader.facts(FactQuery(fingerprint=fact.fingerprint, sensitive=session.sees_sensitive))
    rules = session.stores.rules
    subject = rules.entity(fact.subject)
    same = [each.fact for each in records if each.fact.id != fact.id and each.fact.origin == "entry"]
    return [each for each in same if rules.entity(each.subject) in ("", subject) or not subject]
