"""Amend an entry: confirm, forget, end, always load, archive; or erase it. Its words stay; a verb is one commit.

Each verb looks up the entry under the save lock, changes keys of its note, and writes through `notes.write.change`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from commonplace.errors import CommonplaceError, Conflict, Refused, UsageError
from commonplace.events import emit
from commonplace.facts.claims import is_own_word, with_end
from commonplace.facts.entry_format import changed_keys, read_entry
from commonplace.facts.entry_paths import archive_path, entry_path, entry_slug
from commonplace.facts.validity import state_of, until_of
from commonplace.flows.ingest.index_notes import index_notes, refresh_note
from commonplace.flows.memory.facts import entry_reader, find_fact
from commonplace.flows.memory.new_entry import flipped_among, may_end, with_keys
from commonplace.flows.memory.spoken import is_spoken_wish
from commonplace.flows.notes.erase import begin_erasure, erase_places, erasing, finish_erasure
from commonplace.flows.notes.proposals import proposals_of, propose
from commonplace.flows.notes.write import (
    FORGETS,
    KIND,
    Edit,
    Permit,
    Reader,
    change,
    change_result,
    commit_message,
    move_trailers,
    refuse_secrets,
)
from commonplace.flows.read import locate
from commonplace.flows.stores import Session
from commonplace.history.base import UnfinishedErasure
from commonplace.index.base import FactQuery, IndexReader
from commonplace.model import Actor, Bond, EntryResult, Erasure, Fact, FactRecord, Note, Origins, Terms, Verb
from commonplace.model.entry_field import texts_of
from commonplace.model.layout import place_of
from commonplace.notes import parse
from commonplace.policy.write_policy import Decision

_FORGET: Final = "forget"  # what a proposal is about
_WAITS: Final = "Whether to forget it is the person's decision: it waits for them."


def confirm(name: str, session: Session) -> EntryResult:
    """Confirm that the entry still holds: today is added to the days on which it was confirmed.

    Raises NotFound, and Conflict if the entry does not hold.
    """
    with session.stores.save_lock():
        here = session.at(session.clock())
        record = active_entry(name, here)
        state = state_of(record, at=here.now)
        if state not in ("current", "staged"):
            hint = "Save what is true now; `commonplace timeline` shows what was true when."
            raise Conflict(f"the entry {record.fact.id} is not true now: {state}", path=record.fact.path, hint=hint)
        return confirm_fact(record.fact, here, reason="it was stated again")


def confirm_fact(
    fact: Fact,
    session: Session,
    *,
    reason: str,
    bonds: Sequence[tuple[Bond, str]] = (),
    cues: Mapping[str, str] | None = None,
    is_spoken: bool = False,
) -> EntryResult:
    """Confirm this fact today, and add the bonds, and the cues that it lacks; a second confirmation on one day changes
    nothing.

    What the person confirms is from then on the person's own word. A program that repeats the person's own word is no
    witness that it still holds, unless the person has just said it (`is_spoken`).
    """
    is_witness = session.actor.kind == "person" or is_spoken or not is_own_word(fact)
    days = dict.fromkeys((*fact.confirmed, *([session.now[:10]] if is_witness else ())))
    origins = replace(fact.origins, trust="told") if session.actor.kind == "person" else fact.origins
    confirmed = replace(fact, confirmed=tuple(days), bonds=tuple(sorted({*fact.bonds, *bonds})), origins=origins)
    lacking = {name: cue for name, cue in (cues or {}).items() if cue and not getattr(fact, name)}
    confirmed = replace(confirmed, **lacking)  # type: ignore[arg-type]  # the keys are names of cues
    if confirmed == fact:
        return EntryResult("confirm", fact, reason, old=fact.id, changed=False)
    confirmed = replace(confirmed, updated=session.now)
    return _amend(fact, confirmed, session, verb="confirm", action="confirm", reason=reason)


def cite_fact(fact: Fact, origins: Origins, session: Session) -> EntryResult:
    """Give the entry other evidence: its source says it in other words now. Raises Conflict and Refused."""
    refuse_secrets(*texts_of(origins))
    with session.stores.save_lock():
        here = session.at(session.clock())
        cited = replace(fact, origins=origins, updated=here.now)
        return _amend(fact, cited, here, verb="confirm", action="confirm", reason="its source says it in other words")


def drop_evidence(fact: Fact, session: Session) -> EntryResult:
    """Remove the quote and the turn from an entry, whose conversation is forgotten; it is no fresher for that."""
    with session.stores.save_lock():
        here = session.at(session.clock())
        without = replace(fact, origins=replace(fact.origins, quote="", turn=0))
        reason = "its conversation is forgotten"
        return _amend(fact, without, here, verb="confirm", action="confirm", reason=reason, trailers={FORGETS: "yes"})


def forget(name: str, session: Session, *, reason: str = "", quote: str = "") -> EntryResult:
    """Mark the entry as deleted, so that nothing recalls it; its note stays. Raises NotFound, Conflict and Refused.

    `quote` are the words of the person that an agent passes on. Without them, an agent's wish to forget what only the
    person may end waits for them as a proposal: the entry is among those that the result calls waiting.
    """
    refuse_secrets(reason, quote)
    with session.stores.save_lock():
        here = session.at(session.clock())
        fact = active_entry(name, here).fact
        said = " ".join(quote.split())
        is_spoken = is_spoken_wish(said, fact, here)
        why = " ".join(filter(None, (reason.strip(), f'The person: "{said}"'))) if is_spoken else reason
        forgotten = replace(fact, status="deleted", deleted_at=here.now, reason=why, updated=here.now)
        if here.actor.kind == "agent" and not is_spoken and _is_protected(fact, here):
            return _propose_forgetting(fact, forgotten, here, reason=reason)
        why = why or "it was requested"
        return _amend(fact, forgotten, here, verb="forget", action="forget", reason=why, spoken=is_spoken)


def _is_protected(fact: Fact, session: Session) -> bool:
    """True if only the person may end the entry; one that waits for them is not in use yet."""
    is_flipped = bool(flipped_among([fact], session))
    return fact.place != "staging" and not may_end(fact, actor="agent", is_spoken=False, is_flipped=is_flipped)


def _propose_forgetting(fact: Fact, forgotten: Fact, session: Session, *, reason: str) -> EntryResult:
    """Let the wish to forget the entry wait for the person; one that they rejected is not proposed again."""
    edit, _ = entry_edit(fact, changed_keys(fact, forgotten), session, session.stores.vault.read)
    why = f"{session.actor.origin} wants this to be forgotten: {fact.text} {reason}".strip()
    proposed = propose(fact.path, session, why=why, text=edit.after, about=_FORGET)
    is_waiting = bool(proposals_of(proposed.proposal.id, session.stores))
    said = _WAITS if is_waiting else proposed.remarks[0]
    waiting = (fact,) if is_waiting else ()
    return EntryResult("forget", fact, said, old=fact.id, commit=proposed.commit, changed=False, waiting=waiting)


def describe(name: str, session: Session, *, cues: Mapping[str, str], dry_run: bool = False) -> EntryResult:
    """Say what the entry is `about`, or `when` it matters; its words stay, and nothing becomes more or less true.

    A program fills in what is empty. Raises NotFound, Conflict, UsageError without any cue, and Refused for a secret
    and for what the person must say.
    """
    if not cues:
        raise UsageError("nothing is said of the entry", hint="Give `about`, `when`, or both.")
    refuse_secrets(*cues.values())
    with session.stores.save_lock():
        here = session.at(session.clock())
        fact = active_entry(name, here).fact
        described = replace(fact, **cues)  # type: ignore[arg-type]  # the keys are names of cues
        if described == fact:
            return EntryResult("describe", fact, "it is already described so", old=fact.id, changed=False)
        if here.actor.kind != "person" and any(getattr(fact, cue) not in ("", cues[cue]) for cue in cues):
            hint = "Describe what has no such field yet."
            raise Refused(f"only the person changes how {fact.path} is described", path=fact.path, hint=hint)
        said = "it is found by that, too"
        verb: Verb = "confirm" if here.actor.kind == "agent" else "remember"  # it adds to the person's word, too
        return _amend(fact, described, here, verb=verb, action="describe", reason=said, dry_run=dry_run)


def end_fact(name: str, session: Session, *, at: str = "") -> EntryResult:
    """End the entry's validity at that moment, or now, even if it had a later end.

    Raises NotFound, Conflict, Refused, and UsageError for an end before its beginning or after the end it has.
    """
    with session.stores.save_lock():
        here = session.at(session.clock())
        record = active_entry(name, here)
        fact, now, ends = record.fact, here.now, at or here.now
        until, _ = until_of(record)
        if fact.begins and ends < fact.begins:
            raise UsageError(f"the entry would end before it begins, at {fact.begins}", hint="Give a later end.")
        if until and until <= ends:
            if at and until != at:
                raise UsageError(f"the entry already ends at {until}", hint="To extend it, evolve the entry.")
            return EntryResult("end", fact, f"it ends at {until}", old=fact.id, changed=False)
        return _amend(
            fact, with_end(fact, ends, now=now), here, verb="remember", action="end", reason=f"it ends at {ends}"
        )


def load_always(
    name: str, session: Session, *, always: bool, pinned: bool | None = None, reason: str = ""
) -> EntryResult:
    """Load an entry before every prompt, or only when it is recalled; its note moves to the folder for that.

    `pinned` True keeps upkeep from changing it, False lets upkeep change it, None leaves that as it is. Raises
    NotFound, Conflict, and Refused for an agent, and for a program that would pin an entry or change a pinned one.
    """
    with session.stores.save_lock():
        here = session.at(session.clock())
        return load_fact(active_entry(name, here).fact, here, always=always, pinned=pinned, reason=reason)


def load_fact(
    fact: Fact, here: Session, *, always: bool, pinned: bool | None = None, reason: str = "", dry_run: bool = False
) -> EntryResult:
    """Do what `load_always` does to an entry that was looked up, under the save lock of the caller."""
    is_pinned = fact.pinned if pinned is None else pinned
    if here.actor.kind != "person" and (fact.pinned or is_pinned):
        raise Refused(f"only a person pins and unpins {fact.path}", path=fact.path, hint="Leave it as it is.")
    if (fact.always_load, fact.pinned) == (always, is_pinned):
        return EntryResult("load", fact, "it is already set", old=fact.id, changed=False)
    path = fact.path
    if fact.always_load != always:
        path = entry_path(fact.kind, id=fact.id, slug=entry_slug(fact), recorded=fact.recorded, always_load=always)
    moved = replace(fact, always_load=always, pinned=is_pinned, path=path, updated=here.now)
    said = "it is loaded before every prompt" if always else "it is recalled only when relevant"
    said += ", and upkeep leaves it so" if is_pinned else ""
    return _amend(fact, moved, here, verb="remember", action="load", reason=reason or said, dry_run=dry_run)


def archive_entry(name: str, session: Session, *, reason: str) -> EntryResult:
    """Move an entry to the archive: plain search and recall skip it, and `--include-archive` finds it.

    An entry whose end has come is expired; any other is put away from now on, and answers for the time before.
    Raises NotFound, Conflict, and Refused for a pinned or always-loaded one unless a person asks.
    """
    with session.stores.save_lock():
        here = session.at(session.clock())
        record = active_entry(name, here)
        fact, now = record.fact, here.now
        if here.actor.kind != "person" and (fact.pinned or fact.always_load):
            raise Refused(f"only a person archives {fact.path}", path=fact.path, hint="Leave it as it is.")
        is_expired = bool(fact.valid_until) and fact.valid_until <= now and record.end is None
        path = archive_path(fact.path)
        away = replace(fact, path=path, place=place_of(path), always_load=False, reason=reason, updated=now)
        away = replace(away, status="expired" if is_expired else "archived", archived_at=now)
        return _amend(fact, away, here, verb="remember", action="archive", reason=reason)


def _amend(
    fact: Fact,
    changed: Fact,
    session: Session,
    *,
    verb: Verb,
    action: str,
    reason: str,
    spoken: bool = False,
    dry_run: bool = False,
    trailers: Mapping[str, str] | None = None,
) -> EntryResult:
    """Write the changed keys into the entry's note, and move it if its path changed, in one commit."""
    stores, is_moved = session.stores, changed.path != fact.path
    message = commit_message(stores, verb=action, path=changed.path)
    terms = Terms(message=message, why=reason, spoken=spoken, dry_run=dry_run)
    permit = Permit(session, terms, verb, fact.path)
    permit.ask()

    def plan(read: Reader) -> tuple[Edit, ...]:
        edit, note = entry_edit(fact, changed_keys(fact, changed), session, read)
        refuse_redirect(permit.ask(there=note), fact.path)
        if not is_moved:
            return (edit,)
        refuse_redirect(permit.ask(changed.path, there=note, moved_from=fact.path), changed.path)
        return (replace(edit, moved_to=locate(changed.path, stores.vault)),)

    moves = move_trailers((fact.path, changed.path)) if is_moved else {}
    (edit,), result = change(plan, [permit], path=changed.path, trailers={**(trailers or {}), **moves})
    outcome = change_result(edit, permit, result)
    amended = EntryResult(action, changed, reason, old=fact.id, commit=outcome.commit, changed=outcome.changed)
    return replace(amended, difference=outcome.difference)


def entry_edit(fact: Fact, keys: Mapping[str, object | None], session: Session, read: Reader) -> tuple[Edit, Note]:
    """The edit that sets these keys in the entry's note, and the note as it is.

    Raises Conflict if the note is no longer the entry that was looked up.
    """
    at = locate(fact.path, session.stores.vault)
    there = read(at)
    note = parse(there.content, path=fact.path, mtime=there.stat.mtime)
    stores = session.stores
    current, _ = read_entry(note, place=fact.place, sensitive=fact.sensitive, rules=stores.rules, latest=stores.latest)
    if current is None or replace(current, line=fact.line) != fact:
        index_notes([fact.path], session.stores)
        raise Conflict(
            f"{fact.path} has changed since it was looked up",
            path=fact.path,
            hint="Read it again and repeat the change; the index is up to date now.",
        )
    return Edit(at, there.content, with_keys(there.content, keys, path=fact.path)), note


def active_entry(name: str, session: Session) -> FactRecord:
    """The entry of that name, as its note has it now.

    Raises NotFound, Conflict if it is not active, and UsageError for a line of a note.
    """
    record = _find(name, session)
    if record.fact.origin == "entry" and not refresh_note(record.fact.path, session.stores):
        record = _find(record.fact.id, session)
    fact = record.fact
    if fact.origin == "line":
        hint = "Change the line in the note itself."
        raise UsageError(f"this fact is line {fact.line} of {fact.path}, not an entry", path=fact.path, hint=hint)
    if fact.status != "active":
        newer = f", replaced by {fact.superseded_by}" if fact.superseded_by else ""
        hint = "Name the entry that is active; `commonplace undo` reverts the last change."
        raise Conflict(f"the entry {fact.id} is {fact.status}{newer}", path=fact.path, hint=hint)
    return record


def _find(name: str, session: Session) -> FactRecord:
    with entry_reader(session.stores) as reader:
        return find_fact(name, reader, session)


def refuse_redirect(decision: Decision, path: str) -> None:
    """Raise Refused if policy would write the entry elsewhere: that would not change this entry."""
    if decision.path != path:
        raise Refused(
            f"may not change {path}: it is always loaded or the person's own word",
            path=path,
            hint="Save the new statement instead: it waits for the person's approval (`commonplace review`).",
        )


def erase_entry(name: str, session: Session) -> Erasure:
    """Remove the entry for good, and its id from the entries that name it.

    Raises NotFound, Refused unless a person asks, and UsageError for a line of a note.
    """
    with session.stores.save_lock():
        here = session.at(session.clock())
        with here.stores.index.reader() as reader:
            fact = find_fact(name, reader, here).fact
            others = _linked_entries(fact, reader)
        if fact.origin == "line":
            hint = "Remove the line in the note; `commonplace note erase` removes the whole note."
            raise UsageError(f"this fact is line {fact.line} of {fact.path}, not an entry", path=fact.path, hint=hint)
        begun = begin_erasure(fact.path, here, Terms(), entry=fact.id)
        with erasing(begun, here.stores):
            _drop_links(fact.id, [each for each in others if refresh_note(each.path, here.stores)], here)
            erasure = erase_places(begun, here, Terms())
            here.stores.history.forget_uses([fact.id])
            here.stores.history.forget_learned([fact.id])
        return erasure


def finish_erasures(session: Session) -> None:
    """Finish the erasures that a crash has cut off, whoever begins to work next; what cannot be finished is an event.

    Doctor lists what is left.
    """
    try:
        begun = session.stores.history.unfinished_erasures()
        if begun:
            with session.stores.save_lock():
                for each in begun:
                    _finish(each, session.as_actor(Actor("person", session.actor.origin)).at(session.clock()))
                    emit("erasure_finished", level="warning", begun=each.begun.isoformat())
    except CommonplaceError as error:
        emit("erasure_not_finished", level="warning", error=type(error).__name__, hint=error.hint or "")


def _finish(begun: UnfinishedErasure, session: Session) -> None:
    if begun.entry:
        with session.stores.index.reader() as reader:
            records = reader.facts(FactQuery(ids=(begun.entry,), staged=True))
            others = _linked_entries(records[0].fact, reader) if records else ()
        _drop_links(begun.entry, [each for each in others if refresh_note(each.path, session.stores)], session)
        session.stores.history.forget_uses([begun.entry])
        session.stores.history.forget_learned([begun.entry])
    finish_erasure(begun, session)


def _linked_entries(fact: Fact, reader: IndexReader) -> tuple[Fact, ...]:
    """The entries that name this one: its predecessor, its successor, and those with a bond to it."""
    ids = {each for edge in reader.bonds([fact.id]) for each in (edge.source, edge.target)}
    ids = (ids | {fact.supersedes, fact.superseded_by}) - {fact.id, ""}
    records = reader.facts(FactQuery(ids=tuple(sorted(ids)), staged=True)) if ids else ()
    return tuple(record.fact for record in records if record.fact.origin == "entry")


def _drop_links(id: str, others: Sequence[Fact], session: Session) -> None:
    """Remove the id from these entries, in one commit, which is a part of the erasure and cannot be undone."""
    pairs = [(each, without) for each in others if (without := _without(each, id)) != each]
    if not pairs:
        return
    what = "links of 1 entry" if len(pairs) == 1 else f"links of {len(pairs)} entries"
    terms = Terms(message=commit_message(session.stores, verb="erase", path=what))
    permits = [Permit(session, terms, "remember", before.path) for before, _ in pairs]

    def plan(read: Reader) -> tuple[Edit, ...]:
        return tuple(entry_edit(before, changed_keys(before, after), session, read)[0] for before, after in pairs)

    change(plan, permits, path=what, trailers={KIND: "erase"})


def _without(fact: Fact, id: str) -> Fact:
    return replace(
        fact,
        supersedes="" if fact.supersedes == id else fact.supersedes,
        superseded_by="" if fact.superseded_by == id else fact.superseded_by,
        bonds=tuple(bond for bond in fact.bonds if bond[1] != id),
    )
