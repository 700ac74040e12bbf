"""Which facts are asked for: those of the index that may be meant, as they were known then, each with its true end.

A fact that is not asked for may end one that is, so that those which compete with it are looked at too.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from commonplace.facts.predicates import predicate_key
from commonplace.facts.validity import as_known, united
from commonplace.flows.keeper import Keeper
from commonplace.flows.lines_then import lines_then
from commonplace.flows.neighbours import catch_up
from commonplace.index.base import FactQuery, Reading
from commonplace.model import Known


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which facts are asked for. `at` is when they hold, `known_at` when they were known; each empty for now.

    `every` asks for those that hold no longer, or not yet, too; `lines`, for those of lines of notes as they stood
    then, which git must be asked about.
    """

    entity: str = ""
    topic: str = ""
    predicate: str = ""
    at: str = ""
    known_at: str = ""
    every: bool = False
    limit: int | None = None
    lines: bool = True

    @property
    def looks_at_all(self) -> bool:
        """Whether the newest facts alone would not do."""
        return bool(self.entity or self.at or self.known_at or self.every)


def facts_asked_for(wanted: Wanted, keeper: Keeper, *, limit: int | None = None) -> tuple[Known, ...]:
    """The facts that may be meant, at most so many; what holds when is still to be told. Raises IndexDamaged."""
    catch_up(keeper.shelf())
    with keeper.shelf().index.reading() as reading:
        query = replace(_query(wanted, reading, keeper), limit=limit)
        names = names_of_one(wanted.entity, reading)
        asked, others = reading.facts(query), _of_these_names(names, query, reading)
        if wanted.known_at:
            asked, others = _then(wanted, query, (asked, others), reading, keeper=keeper)
    whole: Sequence[Known] = [*{each.fact.id: each for each in (*others, *asked)}.values()]
    if wanted.known_at:
        whole = as_known(whole, known_at=wanted.known_at, rules=keeper.rules)
    if names:
        whole = united(whole, names=names, subject=wanted.entity, rules=keeper.rules)
    told = {each.fact.id: each for each in whole}
    return tuple(told[each.fact.id] for each in asked if each.fact.id in told)


def names_of_one(entity: str, reading: Reading) -> tuple[str, ...]:
    """All names, as they compare, of the one note that is called so; none where several notes are, or none is.

    A name that another note has as well is left out: nobody knows which of them it means.
    """
    if not entity or len(reading.named(entity)) != 1:
        return ()
    return tuple(name for name in sorted(reading.entities(entity)) if len(reading.named(name)) == 1)


def names_meant(entity: str, reading: Reading, keeper: Keeper) -> tuple[str, ...]:
    """All names of the one note that is called so, or the name alone; none where none is given."""
    own = keeper.rules.entity(entity)
    return names_of_one(entity, reading) or ((own,) if own else ())


def _query(wanted: Wanted, reading: Reading, keeper: Keeper) -> FactQuery:
    return FactQuery(
        names=names_meant(wanted.entity, reading, keeper),
        topics=(wanted.topic,) if wanted.topic else (),
        predicate=predicate_key(wanted.predicate),
        statuses=() if wanted.looks_at_all else ("active",),
        sensitive=keeper.tells_all,
    )


def _of_these_names(names: tuple[str, ...], query: FactQuery, reading: Reading) -> tuple[Known, ...]:
    """The facts about an entity by all its names, where the query itself leaves out some of them."""
    if not names or not (query.topics or not query.sensitive):
        return ()
    return reading.facts(FactQuery(names=names, predicate=query.predicate))


def _then(
    wanted: Wanted,
    query: FactQuery,
    found: tuple[tuple[Known, ...], tuple[Known, ...]],
    reading: Reading,
    *,
    keeper: Keeper,
) -> tuple[tuple[Known, ...], tuple[Known, ...]]:
    """The facts that are asked for, with the lines of that moment in the place of today's; and all that compete."""
    known_at = wanted.known_at
    lines = lines_then(query, datetime.fromisoformat(known_at), keeper.shelf()) if wanted.lines else ()
    asked, others = (*_entries(found[0]), *lines), _entries(found[1])
    claims = {keeper.rules.claim(each.fact) for each in as_known(asked, known_at=known_at, rules=keeper.rules)} - {""}
    if claims:
        others += reading.facts(FactQuery(claims=tuple(sorted(claims)), origins=("entry",)))
    return asked, others


def _entries(knowns: Iterable[Known]) -> tuple[Known, ...]:
    return tuple(each for each in knowns if each.fact.origin == "entry")
