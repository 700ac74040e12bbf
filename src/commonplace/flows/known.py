"""What is known: facts about an entity or a topic, now or on a day; how a fact came to be; who is linked with whom."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from commonplace.errors import NotFound
from commonplace.facts.aging import USE_WINDOW, aged
from commonplace.facts.entities import ME
from commonplace.facts.predicates import predicate_key
from commonplace.facts.relevance import names_in, relevant
from commonplace.facts.timeline import Moment, timeline_of
from commonplace.facts.validity import as_known, held
from commonplace.flows.keeper import Keeper, named_fact
from commonplace.flows.past import shelf_at
from commonplace.index.base import Edge, FactQuery, Reading
from commonplace.model import Chain, FactEdge, Held, Known
from commonplace.vault.base import Capability

MOST: Final = 200  # facts that are told where neither an entity nor a topic is named
_MOST_FOR_A_PROMPT: Final = 1000  # facts, those last updated first, that are weighed for a prompt
_LONGEST_CHAIN: Final = 1000
_WIDER: Final = 4  # times as many are looked at where too few of the newest hold


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which facts are asked for. `at` is when they hold, `known_at` when they were known; each empty for now.

    `every` asks for those that hold no longer, or not yet, too. `lines` asks for those of lines as they stood then.
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


def facts_about(wanted: Wanted, keeper: Keeper) -> tuple[Held, ...]:
    """The facts that are asked for, the most important first; of no entity in particular, the newest that hold.

    Raises IndexDamaged.
    """
    most = wanted.limit or (None if wanted.entity else MOST)
    looked_at = None if wanted.looks_at_all or most is None else most
    while True:
        knowns = _known(wanted, keeper, limit=looked_at)
        told = _held(knowns, keeper, at=wanted.at or keeper.now)
        shown = [each for each in told if wanted.every or each.state == "current"]
        if looked_at is None or len(shown) >= (most or 0) or len(knowns) < looked_at:
            break
        looked_at *= _WIDER
    shown = sorted(shown[:most] if looked_at else shown, key=_first)
    return tuple(shown[:most])


def _known(wanted: Wanted, keeper: Keeper, *, limit: int | None) -> tuple[Known, ...]:
    """The facts that may be meant, as they were known then, those last updated first."""
    with keeper.shelf().index.reading() as reading:
        query = replace(_query(wanted, reading, keeper), limit=limit)
        knowns = reading.facts(query)
    if not wanted.known_at:
        return knowns
    if wanted.lines:
        knowns = (*_entries(knowns), *_lines_then(query, wanted.known_at, keeper))
    return as_known(knowns, known_at=wanted.known_at, rules=keeper.rules)


def _first(held: Held) -> tuple[float, tuple[int, ...], str]:
    """A key that puts the most important first, then what began last."""
    return -held.importance, tuple(-ord(sign) for sign in held.fact.begins), held.fact.id


def facts_for(prompt: str, keeper: Keeper, *, most: int | None = None) -> tuple[Held, ...]:
    """The facts that belong before a prompt: who the person is, and whatever the prompt names. Raises IndexDamaged."""
    with keeper.shelf().index.reading() as reading:
        given = names_in(prompt, keeper.rules)
        names = {name for each in given for name in reading.entities(each)}
        asked = FactQuery(statuses=("active",), sensitive=keeper.tells_all, limit=_MOST_FOR_A_PROMPT)
        own = reading.facts(replace(asked, names=(ME,)))
        named = reading.facts(replace(asked, names=tuple(sorted(names)))) if names else ()
    knowns = {known.fact.id: known for known in (*named, *own)}
    told = _held([*knowns.values()], keeper, at=keeper.now)
    cap = keeper.options.max_knowledge_facts if most is None else most
    return relevant(told, names=tuple(names), rules=keeper.rules, most=cap)


def timeline(entity: str, keeper: Keeper) -> tuple[Moment, ...]:
    """What happened to all that is known of an entity, oldest first. Raises NotFound when nothing is."""
    with keeper.shelf().index.reading() as reading:
        knowns = reading.facts(_query(Wanted(entity, every=True), reading, keeper))
    if not knowns:
        raise NotFound(f"nothing is known of {entity!r}", hint="`commonplace facts` lists what is known.")
    return timeline_of(knowns, upto="9999")


def chain_of(name: str, keeper: Keeper) -> Chain:
    """A fact with all its versions and bonds. Raises NotFound, and UsageError when several are called so."""
    with keeper.shelf().index.reading() as reading:
        asked = named_fact(name, reading, sensitive=keeper.tells_all)
        versions = _versions(asked, reading, keeper)
        edges = reading.bonds([each.fact.id for each in versions])
    told = _held(versions, keeper, at=keeper.now)
    ordered = sorted(told, key=lambda each: (each.fact.recorded, each.fact.id))
    return Chain(asked.fact, tuple(ordered), _visible(edges))


def links_of(entity: str, keeper: Keeper, *, hops: int = 1) -> tuple[Edge, ...]:
    """The typed links around an entity's notes and entries, as far as so many steps lead. Raises NotFound."""
    with keeper.shelf().index.reading() as reading:
        seen: set[str] = set(_paths_of(entity, reading, keeper))
        if not seen:
            raise NotFound(f"no note and no fact is called {entity!r}", hint="Give a title, an alias or a path.")
        found: dict[Edge, None] = {}
        frontier = set(seen)
        for _ in range(hops):
            edges = [edge for edge in reading.edges(sorted(frontier)) if edge.path]
            found |= dict.fromkeys(edges)
            frontier = {path for edge in edges for path in (edge.source, edge.path or "")} - seen
            seen |= frontier
    return tuple(found)


def _query(wanted: Wanted, reading: Reading, keeper: Keeper) -> FactQuery:
    return FactQuery(
        names=tuple(sorted(reading.entities(wanted.entity))) if wanted.entity else (),
        topics=(wanted.topic,) if wanted.topic else (),
        predicate=predicate_key(wanted.predicate),
        statuses=() if wanted.looks_at_all else ("active",),
        sensitive=keeper.tells_all,
    )


def _entries(knowns: Iterable[Known]) -> tuple[Known, ...]:
    return tuple(each for each in knowns if each.fact.origin == "entry")


def _lines_then(query: FactQuery, known_at: str, keeper: Keeper) -> tuple[Known, ...]:
    """The facts of lines as the notes had them at that moment; none where there is no history of it."""
    shelf = keeper.shelf()
    if Capability.HISTORY not in shelf.vault.capabilities:
        return ()
    try:
        past = shelf_at(datetime.fromisoformat(known_at) - timedelta(seconds=1), shelf)
    except NotFound:
        return ()
    try:
        with past.shelf.index.reading() as reading:
            return reading.facts(replace(query, origins=("line",)))
    finally:
        past.shelf.index.close()


def _held(knowns: Sequence[Known], keeper: Keeper, *, at: str) -> list[Held]:
    since = datetime.fromisoformat(at) - timedelta(days=USE_WINDOW)
    uses = keeper.desk.history.uses([each.fact.id for each in knowns], since=since)
    told = []
    for known in knowns:
        use = uses.get(known.fact.id)
        importance = round(aged(known.fact, at=at, use_days=use.days if use else 0), 4)
        told.append(held(known, at=at, importance=importance, uses=use.times if use else 0))
    return told


def _versions(asked: Known, reading: Reading, keeper: Keeper) -> list[Known]:
    """The fact, all that it replaced and all that replaced it, by whichever side names the other."""
    found = {asked.fact.id: asked}
    frontier = [asked.fact.id]
    while frontier and len(found) < _LONGEST_CHAIN:
        ids = {each for edge in reading.bonds(frontier) if edge.bond == "update" for each in (edge.source, edge.target)}
        new = tuple(sorted(ids - set(found)))
        frontier = []
        for known in reading.facts(FactQuery(ids=new, sensitive=keeper.tells_all, staged=True)) if new else ():
            found[known.fact.id] = known
            frontier.append(known.fact.id)
    return [*found.values()]


def _visible(edges: Iterable[FactEdge]) -> tuple[FactEdge, ...]:
    return tuple(dict.fromkeys(edges))


def _paths_of(entity: str, reading: Reading, keeper: Keeper) -> Iterable[str]:
    """The notes that have this name, and those that hold facts about it."""
    yield from reading.named(entity)
    names = tuple(sorted(reading.entities(entity)))
    for known in reading.facts(FactQuery(names=names, sensitive=keeper.tells_all)):
        yield known.fact.path
