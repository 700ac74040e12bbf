"""What is known: facts about an entity or a topic, now or on a day; how a fact came to be; who is linked with whom."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Final

from commonplace.errors import NotFound
from commonplace.facts.aging import USE_WINDOW, aged
from commonplace.facts.entities import ME
from commonplace.facts.relevance import Relevant, names_in, relevant
from commonplace.facts.timeline import Moment, timeline_of
from commonplace.facts.validity import held, united
from commonplace.flows.asked import Wanted, facts_asked_for, names_meant
from commonplace.flows.keeper import Keeper, named_fact
from commonplace.flows.neighbours import catch_up
from commonplace.history.uses import Use
from commonplace.index.base import Edge, FactQuery, Reading
from commonplace.model import Chain, Held, Known

MOST: Final = 200  # facts that are told where neither an entity nor a topic is named
_MOST_FOR_A_PROMPT: Final = 1000  # facts, those last updated first, that are weighed for a prompt
_LONGEST_CHAIN: Final = 1000
_UNUSED: Final = Use(0, 0, "")
_WIDER: Final = 4  # times as many are looked at where too few of the newest hold


def facts_about(wanted: Wanted, keeper: Keeper) -> tuple[Held, ...]:
    """The facts that are asked for, the most important first; of no entity in particular, the newest that hold.

    Raises IndexDamaged.
    """
    most = wanted.limit or (None if wanted.entity else MOST)
    looked_at = None if wanted.looks_at_all or most is None else most
    while True:
        knowns = facts_asked_for(wanted, keeper, limit=looked_at)
        told = held_now(knowns, keeper, at=wanted.at)
        shown = [each for each in told if wanted.every or each.state == "current"]
        if looked_at is None or len(shown) >= (most or 0) or len(knowns) < looked_at:
            break
        looked_at *= _WIDER
    shown = sorted(shown[:most] if looked_at else shown, key=_first)
    return tuple(shown[:most])


def _first(held: Held) -> tuple[float, tuple[int, ...], str]:
    """A key that puts the most important first, then what began last."""
    return -held.importance, tuple(-ord(sign) for sign in held.fact.begins), held.fact.id


def facts_for(prompt: str, keeper: Keeper, *, most: int | None = None) -> tuple[Relevant, ...]:
    """The facts that belong before a prompt: who the person is, and whatever the prompt names. Raises IndexDamaged."""
    with keeper.shelf().index.reading() as reading:
        given = reading.known_names(names_in(prompt, keeper.rules))
        meant = {names_meant(each, reading, keeper) for each in given}
        names = {name for several in meant for name in several}
        asked = FactQuery(statuses=("active",), sensitive=keeper.tells_all, limit=_MOST_FOR_A_PROMPT)
        own = reading.facts(replace(asked, names=(ME,)))
        named = reading.facts(replace(asked, names=tuple(sorted(names)))) if names else ()
    knowns: Sequence[Known] = [*{known.fact.id: known for known in (*named, *own)}.values()]
    for of_one in sorted(several for several in meant if len(several) > 1):
        knowns = united(knowns, names=of_one, subject=of_one[0], rules=keeper.rules)
    told = held_now(knowns, keeper)
    cap = keeper.options.max_knowledge_facts if most is None else most
    return relevant(told, names=tuple(names), rules=keeper.rules, most=cap)


def timeline(entity: str, keeper: Keeper) -> tuple[Moment, ...]:
    """What happened to all that is known of an entity, oldest first. Raises NotFound when nothing is."""
    knowns = facts_asked_for(Wanted(entity, every=True), keeper)
    if not knowns:
        raise NotFound(f"nothing is known of {entity!r}", hint="`commonplace facts` lists what is known.")
    return timeline_of(knowns)


def chain_of(name: str, keeper: Keeper) -> Chain:
    """A fact with all its versions and bonds. Raises NotFound, and UsageError when several are called so."""
    catch_up(keeper.shelf())
    with keeper.shelf().index.reading() as reading:
        asked = named_fact(name, reading, tells_all=keeper.tells_all)
        versions = _versions(asked, reading, keeper)
        edges = reading.bonds([each.fact.id for each in versions])
    told = held_now(versions, keeper)
    ordered = sorted(told, key=lambda each: (each.fact.recorded, each.fact.id))
    return Chain(asked.fact, tuple(ordered), edges)


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


def held_now(knowns: Sequence[Known], keeper: Keeper, *, at: str = "") -> list[Held]:
    """The facts as they stand at that moment; without one now, and then use lifts them.

    How often they were used before a day of the past is not told: what is kept of use is kept by days, and for now.
    """
    ids = [] if at else [each.fact.id for each in knowns]
    since = keeper.desk.clock() - timedelta(days=USE_WINDOW)
    uses, lately = keeper.desk.history.uses(ids), keeper.desk.history.uses(ids, since=since)
    when = at or keeper.now
    told = []
    for known in knowns:
        use, recent = uses.get(known.fact.id, _UNUSED), lately.get(known.fact.id, _UNUSED)
        importance = round(aged(known.fact, at=when, use_days=recent.days), 4)
        told.append(held(known, at=when, importance=importance, uses=use.times, last_used=use.last))
    return told


def _versions(asked: Known, reading: Reading, keeper: Keeper) -> list[Known]:
    """The fact, all that it replaced and all that replaced it, by whichever side names the other."""
    found = {asked.fact.id: asked}
    frontier = [asked.fact.id]
    while frontier and len(found) < _LONGEST_CHAIN:
        ids = {each for edge in reading.bonds(frontier) if edge.bond == "update" for each in (edge.source, edge.target)}
        new = tuple(sorted(ids - set(found)))
        frontier = []
        for known in (
            reading.facts(FactQuery(ids=new, sensitive=keeper.tells_all, staged=keeper.tells_all)) if new else ()
        ):
            found[known.fact.id] = known
            frontier.append(known.fact.id)
    return [*found.values()]


def _paths_of(entity: str, reading: Reading, keeper: Keeper) -> Iterable[str]:
    """The notes that have this name, and those that hold facts about it."""
    yield from reading.named(entity)
    names = names_meant(entity, reading, keeper)
    for known in reading.facts(FactQuery(names=names, sensitive=keeper.tells_all)):
        yield known.fact.path
