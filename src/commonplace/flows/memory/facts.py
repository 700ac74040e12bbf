"""Read facts: about an entity or a topic, now or on a day; for a prompt; the versions of one; the links around one.

Each reads the index once, at one moment; then `fact_snapshots` works out what holds and how important it is. A fact
that was not asked for may end one that was, so the facts that compete with the answer are read too.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from commonplace.errors import NotFound, UsageError
from commonplace.facts.relevance import (
    USE_WINDOW,
    RelevantFact,
    aged_importance,
    doubt_of,
    possible_names,
    relevant_facts,
)
from commonplace.facts.triples import ME, predicate_key
from commonplace.facts.validity import TimelineEvent, as_known, merge_names, snapshot_at, timeline_of
from commonplace.flows.as_of import past_line_facts
from commonplace.flows.ingest.index_notes import index_entries
from commonplace.flows.stores import Session, Stores
from commonplace.history.base import Use
from commonplace.index.base import ID_SUFFIX_LENGTH, Edge, FactQuery, IndexReader
from commonplace.model import Chain, FactRecord, FactSnapshot

DEFAULT_LIMIT: Final = 200  # facts in an answer about no entity in particular
_PROMPT_POOL: Final = 1000  # facts, the last updated first, that are ranked for a prompt
_LONGEST_CHAIN: Final = 1000
_UNUSED: Final = Use(0, 0, "")
_WIDER: Final = 4  # times as many are read if too few of the newest hold
_SHORTEST_PREFIX: Final = 4  # characters at the beginning of an id that suffice to name a fact
_AMBIGUOUS: Final = 20  # facts that are read where one is meant


@dataclass(frozen=True, slots=True)
class FactRequest:
    """Which facts to read. `at` is when they hold, `known_at` when they were known; both are empty for now.

    `every` includes facts that hold no longer, or not yet. `lines` includes facts in lines of notes; for a day in the
    past, git is asked for them.
    """

    entity: str = ""
    topic: str = ""
    predicate: str = ""
    project: str = ""
    at: str = ""
    known_at: str = ""
    every: bool = False
    limit: int | None = None
    lines: bool = True

    @property
    def needs_all(self) -> bool:
        """True if the newest facts alone cannot answer it."""
        return bool(self.entity or self.at or self.known_at or self.every)

    def includes(self, snapshot: FactSnapshot) -> bool:
        """True if the fact is of the requested project, and holds unless `every` was requested."""
        is_here = not self.project or snapshot.fact.project.casefold() == self.project.casefold()
        return is_here and (self.every or snapshot.state == "current")


def facts_about(request: FactRequest, session: Session) -> tuple[FactSnapshot, ...]:
    """The requested facts, the most important first; for no entity in particular, the newest that hold.

    Raises IndexDamaged.
    """
    limit = request.limit or (None if request.entity else DEFAULT_LIMIT)
    pool = None if request.needs_all or limit is None else limit
    while True:
        records = _matching_facts(request, session, limit=pool)
        snapshots = fact_snapshots(records, session, at=request.at)
        facts = [each for each in snapshots if request.includes(each)]
        if pool is None or len(facts) >= (limit or 0) or len(records) < pool:
            break
        pool *= _WIDER
    facts = sorted(facts[:limit] if pool else facts, key=_importance_order)
    return tuple(facts[:limit])


def _importance_order(snapshot: FactSnapshot) -> tuple[float, tuple[int, ...], str]:
    """A sort key: the most important first, then the one that began last."""
    return -snapshot.importance, tuple(-ord(sign) for sign in snapshot.fact.begins), snapshot.fact.id


def facts_for_prompt(prompt: str, session: Session, *, limit: int | None = None) -> tuple[RelevantFact, ...]:
    """The facts that belong before a prompt: about the person, and about whatever it names. Raises IndexDamaged."""
    stores = session.stores
    with stores.index.reader() as reader:
        entities = reader.existing_names(possible_names(prompt, stores.rules))
        names_of = {_entity_names(each, reader, session) for each in entities}
        names = {name for several in names_of for name in several}
        query = FactQuery(statuses=("active",), sensitive=session.sees_sensitive, limit=_PROMPT_POOL)
        own = reader.facts(replace(query, names=(ME,)))
        named = reader.facts(replace(query, names=tuple(sorted(names)))) if names else ()
    records: Sequence[FactRecord] = [*{record.fact.id: record for record in (*named, *own)}.values()]
    for several in sorted(each for each in names_of if len(each) > 1):
        records = merge_names(records, names=several, subject=several[0], rules=stores.rules)
    most = stores.facts.max_knowledge_facts if limit is None else limit
    return relevant_facts(fact_snapshots(records, session), names=tuple(names), rules=stores.rules, limit=most)


def timeline(entity: str, session: Session) -> tuple[TimelineEvent, ...]:
    """The events of all facts about an entity, oldest first. Raises NotFound if there are none."""
    records = _matching_facts(FactRequest(entity, every=True), session)
    if not records:
        raise NotFound(f"nothing is known about {entity!r}", hint="`commonplace facts` lists what is known.")
    return timeline_of(records)


def chain_of(name: str, session: Session) -> Chain:
    """A fact with all its versions and bonds. Raises NotFound, and UsageError if several facts have that name."""
    with entry_reader(session.stores) as reader:
        record = find_fact(name, reader, session)
        versions = _versions(record, reader, session)
        edges = reader.bonds([each.fact.id for each in versions])
    ordered = sorted(fact_snapshots(versions, session), key=lambda each: (each.fact.recorded, each.fact.id))
    return Chain(record.fact, tuple(ordered), edges)


def entity_links(entity: str, session: Session, *, hops: int = 1) -> tuple[Edge, ...]:
    """The typed links around an entity's notes and entries, up to that many hops away. Raises NotFound."""
    with session.stores.index.reader() as reader:
        seen: set[str] = set(_paths_of(entity, reader, session))
        if not seen:
            raise NotFound(f"no note or fact is called {entity!r}", hint="Give a title, an alias or a path.")
        links: dict[Edge, None] = {}
        frontier = set(seen)
        for _ in range(hops):
            edges = [edge for edge in reader.edges(sorted(frontier)) if edge.path]
            links |= dict.fromkeys(edges)
            frontier = {path for edge in edges for path in (edge.source, edge.path or "")} - seen
            seen |= frontier
    return tuple(links)


@contextmanager
def entry_reader(stores: Stores) -> Iterator[IndexReader]:
    """A reader of an index that has every entry: in a vault that was never synced, they are indexed first."""
    with stores.index.reader() as reader:
        if reader.last_sync() is not None:
            yield reader
            return
    index_entries(stores)
    with stores.index.reader() as reader:
        yield reader


def find_fact(name: str, reader: IndexReader, session: Session) -> FactRecord:
    """The fact with that id, with an id that begins so or ends in these six characters, or the entry at that path.

    Agents do not see sensitive or staged facts. Raises NotFound, and UsageError if several facts match.
    """
    name, sees = name.strip(), session.sees_sensitive
    records = _facts_named(name, reader, FactQuery(sensitive=sees, staged=sees, limit=_AMBIGUOUS))
    if not records:
        raise NotFound(
            f"no fact is called {name!r}",
            hint="Give its id, its last six characters or more of its beginning, or its path; "
            "`commonplace facts` lists what is known.",
        )
    if len(records) > 1:
        some = ", ".join(each.fact.id for each in records[:5])
        raise UsageError(f"{len(records)} facts are called {name!r}: {some}", hint="Give more of the id.")
    return records[0]


def _facts_named(name: str, reader: IndexReader, query: FactQuery) -> tuple[FactRecord, ...]:
    if name.lower().endswith(".md"):
        records = reader.facts(replace(query, paths=(name,)))
        return tuple(each for each in records if each.fact.origin == "entry")
    if len(name) < _SHORTEST_PREFIX:
        return ()
    exact = reader.facts(replace(query, ids=(name.lower(),)))
    if exact:
        return exact
    begins = reader.facts(replace(query, prefix=name.lower()))
    ends = reader.facts(replace(query, suffix=name.lower())) if len(name) >= ID_SUFFIX_LENGTH else ()
    return tuple({record.fact.id: record for record in (*begins, *ends)}.values())


def fact_snapshots(records: Sequence[FactRecord], session: Session, *, at: str = "") -> list[FactSnapshot]:
    """The facts as they are at that moment, or now; recent use makes a fact more important now.

    For a moment in the past no use is counted: the history keeps use by day, and only for today's answers.
    """
    history, when = session.stores.history, at or session.now
    ids = [] if at else [each.fact.id for each in records]
    uses, recent_uses = history.uses(ids), history.uses(ids, since=session.clock() - timedelta(days=USE_WINDOW))
    snapshots = []
    for record in records:
        use, recent = uses.get(record.fact.id, _UNUSED), recent_uses.get(record.fact.id, _UNUSED)
        importance = round(aged_importance(record.fact, at=when, use_days=recent.days), 4)
        snapshots.append(snapshot_at(record, at=when, importance=importance, uses=use.times, last_used=use.last))
    return snapshots


def doubts_of(facts: Sequence[FactSnapshot], session: Session, *, below: float) -> Mapping[str, str]:
    """For each fact, by id, why an agent should ask before relying on it; empty if there is no reason.

    Two facts that contradict each other are both doubted while both hold, and so is a fact while a new value waits for
    the person's approval. Raises IndexDamaged.
    """
    contested, changing = _disputed(facts, session)
    return {
        each.fact.id: doubt_of(
            each, below=below, is_contested=each.fact.id in contested, may_have_changed=each.fact.id in changing
        )
        for each in facts
    }


def _disputed(facts: Sequence[FactSnapshot], session: Session) -> tuple[frozenset[str], frozenset[str]]:
    """The ids of the facts that contradict a fact that holds now, and of those that a waiting entry would end."""
    ids = {each.fact.id for each in facts}
    if not ids:
        return frozenset(), frozenset()
    with session.stores.index.reader() as reader:
        bonds = reader.bonds(sorted(ids))
        edges = [each for each in bonds if each.bond == "contradict" or (each.bond == "update" and each.target in ids)]
        ends = {end for edge in edges for end in (edge.source, edge.target)}
        others = reader.facts(FactQuery(ids=tuple(sorted(ends)), sensitive=False, staged=True)) if ends else ()
    states = {each.fact.id: each.state for each in fact_snapshots(others, session)}
    changing = {edge.target for edge in edges if states.get(edge.source) == "staged"}
    pairs = {(edge.source, edge.target) for edge in edges if edge.bond == "contradict"}
    pairs |= {(target, source) for source, target in pairs}
    contested = {one for one, other in pairs if states.get(other) == "current"}
    return frozenset(contested & ids), frozenset(changing & ids)


def _matching_facts(request: FactRequest, session: Session, *, limit: int | None = None) -> tuple[FactRecord, ...]:
    """At most `limit` facts that match, each with its true end; the caller drops those that do not hold."""
    stores = session.stores
    with entry_reader(stores) as reader:
        query = replace(_query(request, reader, session), limit=limit)
        names = _names_of_one_note(request.entity, reader)
        matches, others = reader.facts(query), _other_facts_of(names, query, reader)
        if request.known_at:
            matches, others = _as_of(request, query, (matches, others), reader, session=session)
    records: Sequence[FactRecord] = [*{each.fact.id: each for each in (*others, *matches)}.values()]
    if request.known_at:
        records = as_known(records, known_at=request.known_at, rules=stores.rules)
    if names:
        records = merge_names(records, names=names, subject=request.entity, rules=stores.rules)
    by_id = {each.fact.id: each for each in records}
    return tuple(by_id[each.fact.id] for each in matches if each.fact.id in by_id)


def _query(request: FactRequest, reader: IndexReader, session: Session) -> FactQuery:
    return FactQuery(
        names=_entity_names(request.entity, reader, session),
        topics=(request.topic,) if request.topic else (),
        predicate=predicate_key(request.predicate),
        statuses=() if request.needs_all else ("active",),
        sensitive=session.sees_sensitive,
    )


def _entity_names(entity: str, reader: IndexReader, session: Session) -> tuple[str, ...]:
    """All normalised names of the one note called `entity`, or else that name alone; empty for an empty name."""
    own = session.stores.rules.entity(entity)
    return _names_of_one_note(entity, reader) or ((own,) if own else ())


def _names_of_one_note(entity: str, reader: IndexReader) -> tuple[str, ...]:
    """All normalised names of the note called `entity`; empty if there is no such note or more than one.

    A name that another note has as well is ambiguous, and left out.
    """
    if not entity or len(reader.notes_named(entity)) != 1:
        return ()
    return tuple(name for name in sorted(reader.entity_names(entity)) if len(reader.notes_named(name)) == 1)


def _other_facts_of(names: tuple[str, ...], query: FactQuery, reader: IndexReader) -> tuple[FactRecord, ...]:
    """All facts about an entity by its names, if the query itself leaves out some of them."""
    if not names or not (query.topics or not query.sensitive):
        return ()
    return reader.facts(FactQuery(names=names, predicate=query.predicate))


def _as_of(
    request: FactRequest,
    query: FactQuery,
    today: tuple[tuple[FactRecord, ...], tuple[FactRecord, ...]],
    reader: IndexReader,
    *,
    session: Session,
) -> tuple[tuple[FactRecord, ...], tuple[FactRecord, ...]]:
    """The matches with the lines of that moment instead of today's; and all entries that compete with them."""
    known_at, rules = request.known_at, session.stores.rules
    lines = past_line_facts(query, datetime.fromisoformat(known_at), session.stores) if request.lines else ()
    matches, others = (*_entries(today[0]), *lines), _entries(today[1])
    claims = {rules.claim(each.fact) for each in as_known(matches, known_at=known_at, rules=rules)} - {""}
    if claims:
        others += reader.facts(FactQuery(claims=tuple(sorted(claims)), origins=("entry",)))
    return matches, others


def _entries(records: Iterable[FactRecord]) -> tuple[FactRecord, ...]:
    return tuple(each for each in records if each.fact.origin == "entry")


def _versions(record: FactRecord, reader: IndexReader, session: Session) -> list[FactRecord]:
    """The fact, all that it replaced and all that replaced it, whichever side names the other."""
    sees, versions = session.sees_sensitive, {record.fact.id: record}
    frontier = [record.fact.id]
    while frontier and len(versions) < _LONGEST_CHAIN:
        ids = {each for edge in reader.bonds(frontier) if edge.bond == "update" for each in (edge.source, edge.target)}
        new = tuple(sorted(ids - set(versions)))
        records = reader.facts(FactQuery(ids=new, sensitive=sees, staged=sees)) if new else ()
        versions |= {each.fact.id: each for each in records}
        frontier = [each.fact.id for each in records]
    return [*versions.values()]


def _paths_of(entity: str, reader: IndexReader, session: Session) -> Iterable[str]:
    """The notes that have this name, and those that hold facts about it."""
    yield from reader.notes_named(entity)
    names = _entity_names(entity, reader, session)
    for record in reader.facts(FactQuery(names=names, sensitive=session.sees_sensitive)):
        yield record.fact.path
