"""Erasing an entry: its note, all that is derived from it, what names it, and what this device knows of its use."""

from collections.abc import Sequence
from dataclasses import replace

from commonplace.errors import UsageError
from commonplace.facts.entry import changes
from commonplace.flows.amend import entry_edit
from commonplace.flows.erase import erase_note
from commonplace.flows.keeper import Keeper, named_fact
from commonplace.flows.neighbours import bring_up_to_date
from commonplace.flows.write import Edit, Permit, Reader, change
from commonplace.index.base import FactQuery, Reading
from commonplace.model import Erased, Fact, Terms


def erase_entry(name: str, keeper: Keeper) -> Erased:
    """Remove the entry for good, and its id from the entries that name it.

    Raises NotFound, Refused for who is no person, UsageError for a line of a note.
    """
    with keeper.turn():
        here = keeper.at_this_moment()
        with here.shelf().index.reading() as reading:
            fact = named_fact(name, reading, tells_all=here.tells_all).fact
            others = _naming(fact, reading)
        if fact.origin == "line":
            hint = "Remove the line in the note; `commonplace note erase` removes the whole note."
            raise UsageError(f"this fact is line {fact.line} of {fact.path}", path=fact.path, hint=hint)
        erased = erase_note(fact.path, here.desk, Terms())
        here.desk.history.forget_uses([fact.id])
        _drop_links(fact.id, [each for each in others if bring_up_to_date(each, here.shelf())], here)
        return erased


def _naming(fact: Fact, reading: Reading) -> tuple[Fact, ...]:
    """The entries that name this one: what it replaced, what replaced it, and those that are bound to it."""
    ids = {each for edge in reading.bonds([fact.id]) for each in (edge.source, edge.target)}
    ids = (ids | {fact.supersedes, fact.superseded_by}) - {fact.id, ""}
    found = reading.facts(FactQuery(ids=tuple(sorted(ids)), staged=True)) if ids else ()
    return tuple(known.fact for known in found if known.fact.origin == "entry")


def _drop_links(id: str, others: Sequence[Fact], keeper: Keeper) -> None:
    """Take the id out of these entries, in one commit."""
    without = [(each, _without(each, id)) for each in others]
    pairs = [(before, after) for before, after in without if before != after]
    if not pairs:
        return
    desk = keeper.desk
    what = f"links of {len(pairs)} entries"
    terms = Terms(message=desk.message.replace("{verb}", "erase").replace("{path}", what))
    permits = [Permit(desk, terms, "remember", before.path) for before, _ in pairs]

    def plan(read: Reader) -> tuple[Edit, ...]:
        return tuple(entry_edit(before, changes(before, after), keeper, read) for before, after in pairs)

    change(plan, permits, path=what)


def _without(fact: Fact, id: str) -> Fact:
    return replace(
        fact,
        supersedes="" if fact.supersedes == id else fact.supersedes,
        superseded_by="" if fact.superseded_by == id else fact.superseded_by,
        bonds=tuple(bond for bond in fact.bonds if bond[1] != id),
    )
