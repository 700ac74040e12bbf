"""Amending an entry in its place: confirmed, forgotten, or ended. Its words stay; each verb is one commit."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from commonplace.errors import Conflict, Refused, UsageError
from commonplace.facts.entry import changes, fact_of
from commonplace.facts.routes import path_for
from commonplace.facts.slug import slug_of
from commonplace.facts.validity import state_of, until_of
from commonplace.flows.admit import refuse_secrets
from commonplace.flows.entry_notes import with_changes
from commonplace.flows.ingest import ingest_paths
from commonplace.flows.keeper import Keeper, named_fact
from commonplace.flows.move import MOVED_FROM, MOVED_TO
from commonplace.flows.neighbours import bring_up_to_date, catch_up
from commonplace.flows.read import locate
from commonplace.flows.write import Edit, Permit, Reader, change, changed
from commonplace.model import Bond, Fact, Known, Remembered, Terms, Verb
from commonplace.notes import parse
from commonplace.policy.writing import Decision


def confirm(name: str, keeper: Keeper) -> Remembered:
    """Say again that it holds: today is added to the days on which it was confirmed.

    Raises NotFound, and Conflict for an entry that does not hold.
    """
    with keeper.turn():
        here = keeper.at_this_moment()
        known = standing_entry(name, here)
        state = state_of(known, at=here.now)
        if state not in ("current", "staged"):
            hint = "Save what is true now; `commonplace timeline` shows what was when."
            raise Conflict(f"the entry {known.fact.id} does not hold: {state}", path=known.fact.path, hint=hint)
        return confirm_fact(known.fact, here, reason="it was said again")


def confirm_fact(fact: Fact, keeper: Keeper, *, reason: str, bonds: Sequence[tuple[Bond, str]] = ()) -> Remembered:
    """The same for a fact that is at hand, with bonds that are new; a second time on one day changes nothing."""
    days = dict.fromkeys((*fact.confirmed, keeper.now[:10]))
    wanted = replace(fact, confirmed=tuple(days), bonds=tuple(sorted({*fact.bonds, *bonds})))
    if wanted == fact:
        return Remembered("confirm", fact, reason, old=fact.id, changed=False)
    wanted = replace(wanted, updated=keeper.now)
    return _amended(fact, wanted, keeper, verb="confirm", action="confirm", reason=reason)


def forget(name: str, keeper: Keeper, *, reason: str = "") -> Remembered:
    """Let nothing recall it: its status says so, and its note stays. Raises NotFound, Conflict and Refused."""
    refuse_secrets(reason)
    with keeper.turn():
        here = keeper.at_this_moment()
        fact = standing_entry(name, here).fact
        wanted = replace(fact, status="deleted", deleted_at=here.now, reason=reason, updated=here.now)
        return _amended(fact, wanted, here, verb="forget", action="forget", reason=reason or "it was asked for")


def invalidate(name: str, keeper: Keeper, *, at: str = "") -> Remembered:
    """Let it hold no longer from that moment on, or from now; also where it had a later end.

    Raises NotFound, Conflict, Refused, and UsageError for an end before its beginning or after the one it has.
    """
    with keeper.turn():
        here = keeper.at_this_moment()
        known = standing_entry(name, here)
        fact, now, ends = known.fact, here.now, at or here.now
        until, _ = until_of(known)
        if fact.begins and ends < fact.begins:
            raise UsageError(f"it would end before it begins, at {fact.begins}", hint="Give a later end.")
        if until and until <= ends:
            if at and until != at:
                raise UsageError(f"it ends already at {until}", hint="Evolve it to say that it held longer.")
            return Remembered("invalidate", fact, f"it ends at {until}", old=fact.id, changed=False)
        wanted = replace(fact, valid_until=ends, invalidated_at=now, was_valid_until=fact.valid_until, updated=now)
        return _amended(fact, wanted, here, verb="remember", action="invalidate", reason=f"it ends at {ends}")


def load_always(name: str, keeper: Keeper, *, always: bool) -> Remembered:
    """Put an entry before every prompt, or back among its kind. Its note moves; only a person may do it, or Refused.

    Raises NotFound and Conflict.
    """
    with keeper.turn():
        keeper = keeper.at_this_moment()
        fact = standing_entry(name, keeper).fact
        if fact.always_load == always:
            return Remembered("load", fact, "it is so already", old=fact.id, changed=False)
        slug = slug_of(fact.text)
        path = path_for(fact.kind, id=fact.id, slug=slug, recorded=fact.recorded, always_load=always)
        wanted = replace(fact, always_load=always, path=path, updated=keeper.now)
        return _moved(fact, wanted, keeper)


def entry_edit(fact: Fact, wanted: Mapping[str, object | None], keeper: Keeper, read: Reader) -> Edit:
    """The entry's note with these keys changed. Raises Conflict when it is no longer the entry that was looked up."""
    at = locate(fact.path, keeper.desk.vault)
    there = read(at)
    note = parse(there.content, path=fact.path, mtime=0.0)
    found, _ = fact_of(note, place=fact.place, sensitive=fact.sensitive, rules=keeper.rules)
    if found is None or replace(found, line=fact.line) != fact:
        ingest_paths([fact.path], keeper.shelf())
        raise Conflict(
            f"{fact.path} was changed since it was looked up",
            path=fact.path,
            hint="Look at it again and repeat what you did: the index has it now.",
        )
    return Edit(at, there.content, with_changes(there.content, wanted, path=fact.path))


def standing_entry(name: str, keeper: Keeper) -> Known:
    """The entry of that name as its note has it now, if it is active.

    Raises NotFound, Conflict, and UsageError for a line of a note.
    """
    known = _named(name, keeper)
    if known.fact.origin == "entry" and not bring_up_to_date(known.fact, keeper.shelf()):
        known = _named(known.fact.id, keeper)
    fact = known.fact
    if fact.origin == "line":
        hint = "Change the line in the note itself."
        raise UsageError(f"this fact is line {fact.line} of {fact.path}", path=fact.path, hint=hint)
    if fact.status != "active":
        newer = f", replaced by {fact.superseded_by}" if fact.superseded_by else ""
        hint = "Name the one that stands; `commonplace undo` takes back what was just done."
        raise Conflict(f"the entry {fact.id} is {fact.status}{newer}", path=fact.path, hint=hint)
    return known


def _named(name: str, keeper: Keeper) -> Known:
    catch_up(keeper.shelf())
    with keeper.shelf().index.reading() as reading:
        return named_fact(name, reading, tells_all=keeper.tells_all)


def _amended(fact: Fact, wanted: Fact, keeper: Keeper, *, verb: Verb, action: str, reason: str) -> Remembered:
    desk = keeper.desk
    message = desk.message.replace("{verb}", action).replace("{path}", fact.path)
    permit = Permit(desk, Terms(message=message), verb, fact.path)
    permit.ask()

    def plan(read: Reader) -> tuple[Edit, ...]:
        edit = entry_edit(fact, changes(fact, wanted), keeper, read)
        refuse_elsewhere(permit.ask(there=read(edit.at)), fact.path)
        return (edit,)

    (edit,), made = change(plan, [permit], path=fact.path)
    told = changed(edit, permit, made)
    return Remembered(action, wanted, reason, old=fact.id, commit=told.commit, changed=told.changed)


def _moved(fact: Fact, wanted: Fact, keeper: Keeper) -> Remembered:
    desk = keeper.desk
    message = desk.message.replace("{verb}", "load").replace("{path}", wanted.path)
    permit = Permit(desk, Terms(message=message), "remember", fact.path)
    permit.ask()

    def plan(read: Reader) -> tuple[Edit, ...]:
        edit = entry_edit(fact, changes(fact, wanted), keeper, read)
        refuse_elsewhere(permit.ask(there=read(edit.at)), fact.path)
        refuse_elsewhere(permit.ask(wanted.path, there=read(edit.at), moved_from=fact.path), wanted.path)
        return (replace(edit, moved_to=locate(wanted.path, desk.vault)),)

    trailers = {MOVED_FROM: fact.path, MOVED_TO: wanted.path}
    (edit,), made = change(plan, [permit], path=wanted.path, trailers=trailers)
    told = changed(edit, permit, made)
    said = "it stands before every prompt" if wanted.always_load else "it is recalled when it is asked for"
    return Remembered("load", wanted, said, old=fact.id, commit=told.commit, changed=told.changed)


def refuse_elsewhere(decision: Decision, path: str) -> None:
    """Raise Refused when policy wants a change of an entry in another place: then it is no change of that entry."""
    if decision.path != path:
        raise Refused(
            f"may not change {path}: it is always loaded or the person's own word",
            path=path,
            hint="Leave it to the person, or save what should be known instead: it is staged for review.",
        )
