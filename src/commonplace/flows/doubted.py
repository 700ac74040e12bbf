"""Why facts should not be relied on without asking, with what else is known taken into account."""

from collections.abc import Mapping, Sequence

from commonplace.facts.doubts import doubt_of
from commonplace.flows.keeper import Keeper
from commonplace.flows.known import held_now
from commonplace.index.base import FactQuery
from commonplace.model import Held


def doubts_of(facts: Sequence[Held], keeper: Keeper, *, below: float) -> Mapping[str, str]:
    """Why an agent should ask before it relies on each of these facts, by id; empty where there is no reason to.

    Of two that speak against each other both are doubted, while both hold. Raises IndexDamaged.
    """
    contested = _contested(facts, keeper)
    return {held.fact.id: doubt_of(held, below=below, is_contested=held.fact.id in contested) for held in facts}


def _contested(facts: Sequence[Held], keeper: Keeper) -> frozenset[str]:
    """The ids of those against which another fact speaks that holds now, or which speak against such a one."""
    ids = {held.fact.id for held in facts}
    if not ids:
        return frozenset()
    with keeper.shelf().index.reading() as reading:
        edges = [edge for edge in reading.bonds(sorted(ids)) if edge.bond == "contradict"]
        ends = {end for edge in edges for end in (edge.source, edge.target)}
        others = reading.facts(FactQuery(ids=tuple(sorted(ends)), sensitive=False)) if ends else ()
    current = {held.fact.id for held in held_now(others, keeper) if held.state == "current"}
    pairs = [pair for edge in edges for pair in ((edge.source, edge.target), (edge.target, edge.source))]
    return frozenset(one for one, other in pairs if one in ids and other in current)
