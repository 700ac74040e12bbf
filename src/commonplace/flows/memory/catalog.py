"""Look through what is known: facts by filter, a page at a time; people and things with counts; the graph of them.

All of it comes from the index. A program sees neither sensitive nor staged facts, nor sensitive notes.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal, NamedTuple

from commonplace.errors import NotFound, UsageError
from commonplace.facts.triples import ME
from commonplace.flows.memory.facts import entry_reader, fact_snapshots, match_entity
from commonplace.flows.stores import Session
from commonplace.index.base import EntityCount, FactCounts, FactQuery, IndexReader, NoteRow
from commonplace.model import FactSnapshot, FactState, Status
from commonplace.model.conversation import Trust

_BATCH: Final = 500  # facts that are read at once where the state of each decides
_PEOPLE: Final = ("person", "people", "contact")
_PROJECTS: Final = ("project", "projects")

EntityKind = Literal["person", "project", "other"]
EdgeKind = Literal["link", "update", "extend", "derive", "contradict", "mention"]


# ---------------------------------------------------------------- facts


@dataclass(frozen=True, slots=True, kw_only=True)
class FactFilter:
    """Which facts; an empty field is no condition. `text` is part of the statement, `cue` of what it is about or of
    when it matters; `waits` for the person's approval.

    `state` is what a fact is now; `before` is the mark of a page, `recorded_from` a moment.
    """

    text: str = ""
    cue: str = ""
    topic: str = ""
    kind: str = ""
    trust: Trust | Literal[""] = ""
    entity: str = ""
    status: Status | Literal[""] = ""
    state: FactState | Literal[""] = ""
    waits: bool = False
    recorded_from: str = ""
    before: str = ""


@dataclass(frozen=True, slots=True)
class FactPage:
    """Facts, the last updated first; `mark` leads to the next page, empty if this is the last one."""

    facts: tuple[FactSnapshot, ...]
    mark: str


def list_facts(which: FactFilter, session: Session, *, limit: int) -> FactPage:
    """A page of the facts that pass the filter. Raises UsageError, IndexDamaged."""
    if limit < 1:
        raise UsageError(f"limit must be at least 1, not {limit}", hint="50 is a page.")
    found: list[FactSnapshot] = []
    states = (which.state,) if which.state else ()
    with entry_reader(session.stores) as reader:
        query = _query(which, reader, session)
        size = max(_BATCH, limit + 1) if states else limit + 1
        while len(found) <= limit:
            records = reader.facts(replace(query, limit=size))
            found += fact_snapshots(records, session, states=states)
            if len(records) < size:
                break
            query = replace(query, after=(records[-1].fact.updated, records[-1].fact.id))
    page = tuple(found[:limit])
    return FactPage(page, f"{page[-1].fact.updated}/{page[-1].fact.id}" if len(found) > limit else "")


def count_facts(which: FactFilter, session: Session) -> FactCounts:
    """How many facts pass the filter, by kind, trust and topic; `state` is not looked at. Raises IndexDamaged."""
    with entry_reader(session.stores) as reader:
        return reader.count_facts(_query(which, reader, session))


def _query(which: FactFilter, reader: IndexReader, session: Session) -> FactQuery:
    sees = session.sees_sensitive
    at, _, id_ = which.before.partition("/")
    return FactQuery(
        text=which.text,
        cue=which.cue,
        topics=(which.topic,) if which.topic else (),
        kinds=(which.kind,) if which.kind else (),
        trusts=(which.trust,) if which.trust else (),
        names=_names(which.entity, reader, session) if which.entity else (),
        statuses=(which.status,) if which.status else (),
        sensitive=sees,
        staged=which.waits and sees,
        only_staged=which.waits,
        recorded_from=which.recorded_from,
        after=(at, id_) if which.before else None,
    )


def _names(entity: str, reader: IndexReader, session: Session) -> tuple[str, ...]:
    meant = match_entity(entity, session).taken_for or entity
    return tuple(sorted(reader.entity_names(meant))) or (session.stores.rules.entity(meant) or meant,)


# ---------------------------------------------------------------- people and things


@dataclass(frozen=True, slots=True, kw_only=True)
class Entity:
    """A person or thing: its name, its note if it has one, how many facts name it and how many notes link to it.

    `newest` is when a fact about it, or its note, was last updated.
    """

    name: str
    kind: EntityKind
    path: str
    facts: int
    notes: int
    newest: str


@dataclass(frozen=True, slots=True)
class EntityPage:
    """People and things; how many there are in all, by kind, before paging."""

    entities: tuple[Entity, ...]
    counts: Mapping[str, int]


def list_entities(
    session: Session, *, prefix: str = "", kind: str = "", by: str = "facts", offset: int = 0, limit: int = 50
) -> EntityPage:
    """Those whose name, or a word of it, begins so; the most facts first, or `by` name or newest. Raises UsageError."""
    orders = {
        "facts": lambda each: (-each.facts, -each.notes, each.name.casefold()),
        "name": lambda each: each.name.casefold(),
    }
    if by not in (*orders, "newest"):
        raise UsageError(f"cannot order by {by!r}", hint="Order by facts, name or newest.")
    with entry_reader(session.stores) as reader:
        every = _entities(reader, session)
    folded = prefix.strip().casefold()
    named = [each for each in every if not folded or f" {folded}" in f" {each.name.casefold()}"]
    counts = Counter(each.kind for each in named)
    chosen = sorted((each for each in named if kind in ("", each.kind)), key=orders.get(by, orders["name"]))
    if by == "newest":
        chosen.sort(key=lambda each: each.newest, reverse=True)
    return EntityPage(tuple(chosen[offset : offset + limit]), dict(sorted(counts.items())))


def _entities(reader: IndexReader, session: Session) -> list[Entity]:
    """Every subject of a fact, every note that a fact names, and every note about a person or a project."""
    notes = _visible_notes(reader, session)
    note_of = {name: note for note in reversed(notes) for name in note.names}
    linking: defaultdict[str, set[str]] = defaultdict(set)
    for edge in reader.edges():
        if edge.path and edge.path != edge.source:
            linking[edge.path].add(edge.source)
    counts: defaultdict[str, list[EntityCount]] = defaultdict(list)
    for each in reader.entity_counts(sensitive=session.sees_sensitive):
        note = note_of.get(each.name)
        if (note or each.subjects) and each.name != ME:
            counts[note.path if note else each.name].append(each)
    by_path = {note.path: note for note in notes if note.names}
    keys = {*counts, *(path for path, note in by_path.items() if _kind_of(note) != "other")}
    return [_entity(key, counts[key], by_path.get(key), len(linking[key])) for key in sorted(keys)]


def _entity(key: str, counts: Sequence[EntityCount], note: NoteRow | None, linking: int) -> Entity:
    moments = [each.newest for each in counts] + ([note.updated] if note else [])
    return Entity(
        name=note.title if note else counts[0].spelling,
        kind=_kind_of(note) if note else "other",
        path=note.path if note else "",
        facts=sum(each.subjects + each.objects for each in counts),
        notes=linking,
        newest=max(moments, default=""),
    )


def _visible_notes(reader: IndexReader, session: Session) -> list[NoteRow]:
    sees = session.sees_sensitive
    return [each for each in reader.note_rows() if (sees or not each.sensitive) and each.place != "staging"]


def _kind_of(note: NoteRow) -> EntityKind:
    """What a note is about, by its own word or its folder, as far as that is known."""
    words = {note.kind.casefold(), note.path.partition("/")[0].casefold()}
    return "person" if words & {*_PEOPLE} else "project" if words & {*_PROJECTS} else "other"


# ---------------------------------------------------------------- the graph


class GraphNode(NamedTuple):
    """A note, an entry, or an entity that has no note; `id` is its path, or `entity:` and the name."""

    id: str
    kind: Literal["note", "entry", "entity"]
    label: str
    links: int


class GraphEdge(NamedTuple):
    """An edge from one node to another: a link, a bond between entries, or a fact that names an entity."""

    source: str
    target: str
    kind: EdgeKind


@dataclass(frozen=True, slots=True)
class Graph:
    """Nodes, those with the most edges first, and the edges between them; `cut` says what was left out and why."""

    nodes: tuple[GraphNode, ...]
    edges: tuple[GraphEdge, ...]
    total: int
    cut: str


def build_graph(
    session: Session, *, folder: str = "", kinds: Sequence[str] = (), around: str = "", hops: int = 1, most: int
) -> Graph:
    """The graph of notes, entries and entities, or the part in a folder or around an entity. Raises NotFound."""
    with entry_reader(session.stores) as reader:
        nodes = {each.path: each for each in _visible_notes(reader, session)}
        labels = {path: (note.title, "entry" if note.is_entry else "note") for path, note in nodes.items()}
        edges = [*_links(reader, nodes), *_mentions(reader, session, nodes, labels)]
        start = _start(around, reader, session, labels) if around else frozenset()
    wanted = {
        id_
        for id_, (_, kind) in labels.items()
        if (not kinds or kind in kinds) and (not folder or id_.startswith(f"{folder.strip('/')}/"))
    }
    edges = [each for each in dict.fromkeys(edges) if each.source in wanted and each.target in wanted]
    if around:
        wanted &= _reachable(start, edges, hops=hops)
    degree = Counter(end for each in edges for end in (each.source, each.target))
    ordered = sorted(wanted, key=lambda id_: (-degree[id_], id_))
    shown = {*ordered[:most]}
    return Graph(
        tuple(GraphNode(id_, labels[id_][1], labels[id_][0], degree[id_]) for id_ in ordered[:most]),  # type: ignore[arg-type]
        tuple(each for each in edges if each.source in shown and each.target in shown),
        len(ordered),
        f"the {most} nodes with the most edges of {len(ordered)}: choose a folder or an entity to see others"
        if len(ordered) > most
        else "",
    )


def _links(reader: IndexReader, nodes: Mapping[str, NoteRow]) -> Iterable[GraphEdge]:
    bonds: dict[str, EdgeKind] = {name: name for name in ("update", "extend", "derive", "contradict")}
    for each in reader.edges():
        if each.path and each.path != each.source and each.source in nodes and each.path in nodes:
            is_bond = each.line == 0 and each.relation in bonds
            yield GraphEdge(each.source, each.path, bonds[each.relation] if is_bond else "link")


def _mentions(
    reader: IndexReader, session: Session, nodes: Mapping[str, NoteRow], labels: dict[str, tuple[str, str]]
) -> list[GraphEdge]:
    """An edge from each note or entry to the entities in its facts; adds those without a note to `labels`."""
    note_of = {name: path for path, note in nodes.items() for name in note.names}
    sees, edges = session.sees_sensitive, []
    known = {each.name: each.spelling for each in reader.entity_counts(sensitive=sees) if each.subjects}
    for path, name in reader.mentions(sensitive=sees):
        target = note_of.get(name) or (f"entity:{name}" if name in known and name != ME else "")
        if target and path in nodes and target != path:
            labels.setdefault(target, (known.get(name, name), "entity"))
            edges.append(GraphEdge(path, target, "mention"))
    return edges


def _start(around: str, reader: IndexReader, session: Session, labels: Mapping[str, tuple[str, str]]) -> frozenset[str]:
    names = _names(around, reader, session)
    paths = {path for name in names for path in reader.notes_named(name)}
    start = (paths | {f"entity:{name}" for name in names} | {around}) & labels.keys()
    if not start:
        raise NotFound(f"no note or fact is called {around!r}", hint="Give a title, an alias or a path.")
    return frozenset(start)


def _reachable(start: Iterable[str], edges: Iterable[GraphEdge], *, hops: int) -> set[str]:
    near: defaultdict[str, set[str]] = defaultdict(set)
    for each in edges:
        near[each.source].add(each.target)
        near[each.target].add(each.source)
    seen = frontier = {*start}
    for _ in range(hops):
        frontier = {other for each in frontier for other in near[each]} - seen
        seen = seen | frontier
    return seen
