"""Settle how an entry relates to older ones: somebody who has read both says so, and it is one commit.

The verdict lasts: it is in the notes, so it survives a lost history and reaches every clone. What replaces or covers
older entries names them as its versions; "both" is a relation of the newer entry; of two that say the same, the newer
one is put away in favour of the older one, whose wording stays. What only the person may end keeps its place, and the
newer entry says that it is meant to end it: that waits for the person (`review`).
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from commonplace.errors import Conflict, UsageError
from commonplace.facts.claims import is_own_word
from commonplace.facts.entry_format import changed_keys
from commonplace.facts.entry_paths import archive_path, id_digits
from commonplace.flows.memory.amend import active_entry, confirm_fact, entry_edit, refuse_redirect
from commonplace.flows.memory.new_entry import may_end
from commonplace.flows.memory.save import Ending
from commonplace.flows.memory.spoken import is_spoken_change
from commonplace.flows.notes.write import (
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
from commonplace.model import EntryResult, Fact, Terms
from commonplace.model.fact import Settlement
from commonplace.model.layout import place_of

_REPLACES: Final = "It is said to replace this entry."
_COVERS: Final = "It is said to say all that this entry says, and more."
_BOTH: Final = "Both hold."
_UNTIL: Final = "It is said to hold for a while."


def settle(
    name: str,
    settlement: Settlement,
    session: Session,
    *,
    reason: str = "",
    quote: str = "",
    is_spoken: bool = False,
    dry_run: bool = False,
) -> EntryResult:
    """Settle the entry with the older ones that the settlement names; `is_spoken` if the person said so themselves.

    `quote` are the words of the person that an agent passes on. A name may end in a dot and the first digits of the
    fingerprint that was shown: `91f607.3ac`. Raises NotFound, Conflict for an entry that is not active or that has
    other words now, UsageError for an empty or contradictory settlement, and Refused.
    """
    refuse_secrets(reason, quote)
    if not (settlement.names or settlement.until):
        raise UsageError("nothing is settled", hint="Say what it replaces, covers, says the same as, or holds with.")
    if settlement.until:  # what holds for a while ends nothing: the older ones hold alone again afterwards
        both = (*settlement.both, *settlement.replaces, *settlement.covers)
        settlement = replace(settlement, replaces=(), covers=(), both=both)
    with session.stores.save_lock():
        here = session.at(session.clock())
        new = shown_entry(name, here)
        olds = {each: shown_entry(each, here) for each in settlement.names}
        _check(new, olds.values(), settlement)
        if settlement.same:
            return _put_away(new, olds[settlement.same[0]], here, reason=reason, dry_run=dry_run)
        ending = {olds[each].id: (olds[each], _REPLACES) for each in settlement.replaces}
        ending |= {olds[each].id: (olds[each], _COVERS) for each in settlement.covers}
        kind, is_quoted = here.actor.kind, is_spoken_change(quote, new, [each for each, _ in ending.values()], here)
        is_spoken = is_spoken or is_quoted
        ended = [each for each, _ in ending.values() if may_end(each, actor=kind, is_spoken=is_spoken)]
        asked = [each for each, _ in ending.values() if each not in ended]
        why = reason.strip() or (next(iter(ending.values()))[1] if ending else _BOTH if settlement.both else _UNTIL)
        settled = _settled(new, ended, asked, [olds[each] for each in settlement.both], settlement.until, why, here)
        if is_quoted:  # what the person said is their own word from now on
            origins = replace(new.origins, trust="told", quote=" ".join(quote.split()))
            settled = replace(settled, origins=origins, updated=here.now)
        return _write(new, settled, ended, asked, here, reason=why, spoken=is_spoken, dry_run=dry_run)


def say_again(known: Fact, session: Session, *, dry_run: bool = False) -> EntryResult:
    """Confirm an entry that was said again in other words; a program's words confirm nothing that the person said."""
    reason = "Its wording stays."
    if dry_run or (session.actor.kind != "person" and is_own_word(known)):
        return EntryResult("confirm", known, reason, old=known.id, changed=False)
    with session.stores.save_lock():
        return confirm_fact(known, session.at(session.clock()), reason=reason)


def shown_entry(name: str, session: Session) -> Fact:
    """The active entry of that name. Raises NotFound, and Conflict if its words are not those that were shown."""
    name, _, digits = name.strip().removesuffix(".md").partition(".") if not name.endswith(".md") else (name, "", "")
    fact = active_entry(name, session).fact
    if digits and not fact.fingerprint.startswith(digits.lower()):
        raise Conflict(f"{id_digits(fact.id)} says now: {fact.text}", path=fact.path, hint="Decide with these words.")
    return fact


def _check(new: Fact, olds: Iterable[Fact], settlement: Settlement) -> None:
    """Raise UsageError for a settlement that contradicts itself, and Conflict for an entry that waits."""
    ids = [each.id for each in olds]
    if new.id in ids:
        raise UsageError(f"{id_digits(new.id)} cannot be settled with itself", hint="Name the older entry.")
    is_alone = not settlement.same or (len(settlement.names) == 1 and not settlement.until)
    if len({*ids}) < len(settlement.names) or not is_alone:
        raise UsageError("an entry is named twice, or `same` with others", hint="Say one thing of each older entry.")
    if new.place == "staging":
        hint = "The person approves or rejects it first (`commonplace review`)."
        raise Conflict(f"{id_digits(new.id)} waits for the person", path=new.path, hint=hint)


def _settled(
    new: Fact,
    ended: Sequence[Fact],
    asked: Sequence[Fact],
    both: Sequence[Fact],
    until: str,
    reason: str,
    session: Session,
) -> Fact:
    """The newer entry with what was settled."""
    now = session.now
    named = {each.id for each in (*ended, *asked, *both)}
    bonds = {each for each in new.bonds if each[1] not in named or each[0] not in ("both", "end")}
    bonds |= {("both", each.id) for each in both} | {("end", each.id) for each in asked}
    fact = replace(new, bonds=tuple(sorted(bonds)))
    if ended and new.begins <= now and not new.supersedes:
        fact = replace(fact, supersedes=ended[0].id, reason=reason)
    if until and until != new.valid_until:
        if until <= new.begins:
            raise UsageError("the entry would end before it begins", hint="Give a later day.")
        fact = replace(fact, valid_until=until, invalidated_at=now, was_valid_until=new.valid_until)
    return fact if fact == new else replace(fact, updated=now)


def _write(
    new: Fact,
    settled: Fact,
    ended: Sequence[Fact],
    asked: Sequence[Fact],
    session: Session,
    *,
    reason: str,
    spoken: bool,
    dry_run: bool,
) -> EntryResult:
    message = commit_message(session.stores, verb="settle", path=new.path)
    terms = Terms(message=message, why=reason, spoken=spoken, dry_run=dry_run)
    permit = Permit(session, terms, "remember", new.path)
    endings = [Ending(each, settled, session, terms, is_over=settled.begins <= session.now) for each in ended]
    if settled == new and not endings:
        return EntryResult("settle", new, "It is settled so already.", changed=False, waiting=tuple(asked))

    def plan(read: Reader) -> tuple[Edit, ...]:
        edit, note = entry_edit(new, changed_keys(new, settled), session, read)
        refuse_redirect(permit.ask(there=note), new.path)
        return (edit, *(ending.edit(read) for ending in endings))

    permits = [permit, *(ending.permit for ending in endings)]
    moves = move_trailers(*(move for ending in endings for move in ending.moves))
    edits, result = change(plan, permits, path=new.path, trailers=moves)
    changed = change_result(edits[0], permit, result, more=edits[1:])
    return EntryResult(
        "settle",
        settled,
        reason,
        old=ended[0].id if ended else "",
        commit=changed.commit,
        changed=changed.changed,
        difference=changed.difference,
        ended=tuple(ended),
        waiting=tuple(asked),
    )


def _put_away(new: Fact, old: Fact, session: Session, *, reason: str, dry_run: bool) -> EntryResult:
    """Put the newer entry away in favour of the older one, which is confirmed; its words stay in the archive.

    A newer entry that only the person may put away gives way to nobody: then both stay, and that is said.
    """
    kind, now = session.actor.kind, session.now
    if not may_end(new, actor=kind, is_spoken=False):
        raise Conflict(
            f"{id_digits(new.id)} is the person's own word",
            path=new.path,
            hint=f"Settle it the other way round: {id_digits(old.id)} says the same as {id_digits(new.id)}.",
        )
    why = reason.strip() or f"It says the same as {id_digits(old.id)}."
    path = archive_path(new.path)
    away = replace(new, path=path, place=place_of(path), status="superseded", superseded_by=old.id, superseded_at=now)
    away = replace(away, valid_until=new.begins, invalidated_at=now, was_valid_until=new.valid_until)
    away = replace(away, always_load=False, reason=why, updated=now)
    is_witness = kind == "person" or not is_own_word(old)  # a program's words confirm nothing that the person said
    days = tuple(dict.fromkeys((*old.confirmed, new.recorded[:10], now[:10])))
    origins = replace(old.origins, trust="told") if kind == "person" else old.origins
    kept = replace(old, confirmed=days, origins=origins, updated=now) if is_witness else old
    terms = Terms(message=commit_message(session.stores, verb="settle", path=old.path), why=why, dry_run=dry_run)
    permits = [Permit(session, terms, "remember", each.path) for each in (new, old)[: 1 + (kept != old)]]

    def plan(read: Reader) -> tuple[Edit, ...]:
        edit, note = entry_edit(new, changed_keys(new, away), session, read)
        refuse_redirect(permits[0].ask(there=note), new.path)
        refuse_redirect(permits[0].ask(path, there=note, moved_from=new.path), path)
        moved = replace(edit, moved_to=locate(path, session.stores.vault))
        if kept == old:
            return (moved,)
        confirmed, note = entry_edit(old, changed_keys(old, kept), session, read)
        refuse_redirect(permits[1].ask(there=note), old.path)
        return moved, confirmed

    edits, result = change(plan, permits, path=old.path, trailers=move_trailers((new.path, path)))
    changed = change_result(edits[0], permits[0], result, more=edits[1:])
    return EntryResult(
        "settle",
        kept,
        why,
        old=old.id,
        commit=changed.commit,
        changed=changed.changed,
        difference=changed.difference,
        ended=(away,),
    )
