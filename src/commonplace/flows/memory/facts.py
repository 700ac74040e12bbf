"""Read facts: about an entity or a topic, now or on a day; for a prompt; the versions of one; the links around one.

Each reads the index once, at one moment; then `fact_snapshots` works out what holds and how important it is. A fact
that was not asked for may end one that was, so the facts that compete with the answer are read too. Most entries are
plain sentences without a subject: one that names an entity is a fact about it, and comes after those of which it is the
subject or the object.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import lru_cache
from itertools import islice
from typing import Final, NamedTuple

from commonplace.errors import CommonplaceError, NotFound, UsageError
from commonplace.events import emit
from commonplace.facts.claims import is_own_word
from commonplace.facts.commitments import is_commitment, may_be_label, with_known_names
from commonplace.facts.profile import is_about_person, person_names
from commonplace.facts.relevance import (
    USE_WINDOW,
    RelevantFact,
    doubt_of,
    is_naming,
    possible_names,
    relevant_facts,
)
from commonplace.facts.snapshots import UNUSED, FactUse
from commonplace.facts.triples import ME, predicate_key
from commonplace.facts.validity import (
    LineSpan,
    TimelineEvent,
    as_known,
    ends_among,
    facts_known,
    lines_in_time,
    merge_names,
    timeline_of,
)
from commonplace.flows.ingest.index_notes import catch_up_commits, index_entries
from commonplace.flows.ingest.past_lines import past_line_facts, update_past
from commonplace.flows.read import entry_versions, list_notes
from commonplace.flows.stores import Session, Stores
from commonplace.index.base import ID_SUFFIX_LENGTH, Edge, FactQuery, IndexReader
from commonplace.model import Chain, Fact, FactRecord, FactSnapshot, FactState, Filters
from commonplace.model.layout import MEMORY, PEOPLE, is_below
from commonplace.model.progress import Progress, ignore_progress
from commonplace.questions.words import query_words

DEFAULT_LIMIT: Final = 200  # facts in an answer about no entity in particular
_POOL: Final = 2000  # facts, the last updated first, among which the most important are chosen; as in the profile
_LASTING: Final = ("constraint", "identity")  # kinds that are considered however old they are; as in the profile
_MENTIONS: Final = 2000  # entries that mention an entity, the last updated first
_KNOWN_WORDS: Final = 16_384  # names of which the words are kept: those of the facts that a new name is compared with
_PROMPT_POOL: Final = 1000  # facts, the last updated first, that are ranked for a prompt
_WIDER: Final = 4  # times as many are read if too few of the newest hold
_SHORTEST_PREFIX: Final = 4  # characters at the beginning of an id that suffice to name a fact
_NAME_POOL: Final = 5000  # facts, the last updated first, whose names are compared with a name that is not known
_LONGEST_NAME: Final = 5  # words; what is longer is a statement
_LIKENESS: Final = 0.75  # of difflib: `Marko` is like `Marco`, `Mark` is not like `Ada`
_SIMILAR: Final = 5
_CURRENT: Final[tuple[FactState, ...]] = ("current",)
_AMBIGUOUS: Final = 20  # facts that are read where one is meant


@dataclass(frozen=True, slots=True)
class FactRequest:
    """Which facts to read. `at` is when they hold, `known_at` when they were known; both are empty for now.

    `cue` is part of what they are about or of when they matter. `called` is the name that was understood as the
    entity's, if it was another: plain sentences use the short one.
    `every` includes facts that hold no longer, or not yet.
    """

    entity: str = ""
    topic: str = ""
    cue: str = ""
    predicate: str = ""
    project: str = ""
    at: str = ""
    known_at: str = ""
    every: bool = False
    limit: int | None = None
    called: str = ""

    @property
    def needs_all(self) -> bool:
        """True if the newest facts alone cannot answer it."""
        return bool(self.entity or self.at or self.known_at or self.every)

    @property
    def states(self) -> tuple[FactState, ...]:
        """The states of the facts in the answer; none if the state does not matter."""
        return () if self.every else ("current",)

    def is_of_project(self, fact: Fact) -> bool:
        """True if the fact is of the requested project, or none is requested."""
        return not self.project or fact.project.casefold() == self.project.casefold()


@dataclass(frozen=True, slots=True)
class EntityMatch:
    """How a name was understood, if nothing is known by the name itself.

    `taken_for` is the name that is meant: the only one that contains all its words. Otherwise `similar` are some names
    that contain them, or that are spelt like it.
    """

    taken_for: str = ""
    similar: tuple[str, ...] = ()


def match_entity(entity: str, session: Session) -> EntityMatch:
    """The known name that is meant by this one, or those like it; neither if it is known. Raises IndexDamaged."""
    rules = session.stores.rules
    own = rules.entity(entity)
    if own in ("", ME):
        return EntityMatch()
    query = FactQuery(sensitive=session.sees_sensitive)
    with entry_reader(session.stores) as reader:
        if reader.existing_names([own]):
            return EntityMatch()
        records = reader.facts(replace(query, limit=_NAME_POOL))
        is_mentioned = any(True for _ in _mentions({own}, query, reader, session))
    ends = (end for record in records for end in _names(record.fact))
    names = {rules.entity(end): end for end in ends if len(_words(end)) <= _LONGEST_NAME}
    names.pop(ME, None)
    containing = [name for folded, name in names.items() if _words(own) <= _words(folded)]
    if len(containing) == 1:
        return EntityMatch(containing[0])
    if containing or is_mentioned:
        return EntityMatch(similar=tuple(sorted(containing)[:_SIMILAR]))
    from difflib import get_close_matches  # only for a name that is not known

    near = [names[each] for each in get_close_matches(own, names, n=_SIMILAR, cutoff=_LIKENESS)]
    return EntityMatch(similar=tuple(near))


def _names(fact: Fact) -> tuple[str, ...]:
    """What a fact is about; a task is no name, such as `Ask Maria about holidays`."""
    return (fact.subject,) if is_commitment(fact) else (fact.subject, fact.object)


@lru_cache(maxsize=_KNOWN_WORDS)
def _words(name: str) -> frozenset[str]:
    return frozenset(re.findall(r"[^\W_]+", name.casefold()))


def facts_about(
    request: FactRequest, session: Session, *, progress: Progress = ignore_progress
) -> tuple[FactSnapshot, ...]:
    """The requested facts, the most important first: those of the entity, then the sentences that mention it.

    For no entity in particular, the most important of the last updated. For a moment in the past, the vault's history
    is read first as far as it is new, and `progress` counts its commits. Raises IndexDamaged, VaultUnavailable.
    """
    if request.at or request.known_at:
        update_past(session.stores, progress=progress)
    request = _understood(request, session)
    limit = request.limit or (None if request.entity else DEFAULT_LIMIT)
    pool = None if request.needs_all or limit is None else max(limit, _POOL)
    while True:
        matches = _matching_facts(request, session, limit=pool)
        facts = fact_snapshots(matches.records, session, at=request.at, states=request.states)
        facts = [each for each in facts if request.is_of_project(each.fact)] if request.project else facts
        if pool is None or len(facts) >= (limit or 0) or len(matches.records) < pool:
            break
        pool *= _WIDER
    facts.sort(key=lambda each: each.fact.id)  # then the one that began last, and the most important before that
    facts.sort(key=lambda each: each.fact.begins, reverse=True)
    facts.sort(key=lambda each: (each.fact.id in matches.mentions, -each.importance))
    return tuple(facts[:limit])


def _understood(request: FactRequest, session: Session) -> FactRequest:
    """The request with the known name that is meant by the one in it."""
    meant = match_entity(request.entity, session).taken_for
    return replace(request, entity=meant, called=request.entity) if meant else request


def facts_for_prompt(prompt: str, session: Session, *, limit: int | None = None) -> tuple[RelevantFact, ...]:
    """The facts that belong before a prompt: about the person, and about whatever it names. Raises IndexDamaged."""
    stores = session.stores
    with stores.index.reader() as reader:
        entities = reader.existing_names(possible_names(prompt, stores.rules))
        names_of = {entity_names(each, reader, session) for each in entities}
        names = {name for several in names_of for name in several}
        query = FactQuery(statuses=("active",), sensitive=session.sees_sensitive, limit=_PROMPT_POOL)
        own = [each for each in reader.facts(replace(query, names=(ME,))) if not is_commitment(each.fact)]
        named = reader.facts(replace(query, names=tuple(sorted(names)))) if names else ()
    records: Sequence[FactRecord] = [*{record.fact.id: record for record in (*named, *own)}.values()]
    for several in sorted(each for each in names_of if len(each) > 1):
        records = merge_names(records, names=several, subject=several[0], rules=stores.rules)
    most = stores.facts.max_knowledge_facts if limit is None else limit
    return relevant_facts(fact_snapshots(records, session), names=tuple(names), rules=stores.rules, limit=most)


def timeline(entity: str, session: Session) -> tuple[TimelineEvent, ...]:
    """The events of all facts about an entity, oldest first. Raises NotFound if there are none."""
    records = _matching_facts(_understood(FactRequest(entity, every=True), session), session).records
    if not records:
        names = match_entity(entity, session).similar
        hint = f"Did you mean {' or '.join(names)}?" if names else "`commonplace facts` lists what is known."
        raise NotFound(f"nothing is known about {entity!r}", hint=hint)
    return timeline_of(records)


def chain_of(name: str, session: Session) -> Chain:
    """A fact with all its versions and bonds. Raises NotFound, and UsageError if several facts have that name."""
    with entry_reader(session.stores) as reader:
        record = find_fact(name, reader, session)
        versions = _versions(record, reader, session)
        edges = reader.bonds([each.fact.id for each in versions])
    ordered = sorted(fact_snapshots(versions, session), key=lambda each: (each.fact.recorded, each.fact.id))
    return Chain(record.fact, tuple(ordered), edges)


def fact_events(name: str, session: Session) -> tuple[TimelineEvent, ...]:
    """The events of a fact and of its other versions, oldest first. Raises NotFound and UsageError."""
    with entry_reader(session.stores) as reader:
        return timeline_of(_versions(find_fact(name, reader, session), reader, session))


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
    """A reader of an index that has every entry: in a vault that was never synced, they are indexed first.

    So are those of commits that the index does not know, such as that of a process which was killed.
    """
    try:
        catch_up_commits(stores)
    except CommonplaceError as error:  # what is known can still be read
        emit("catch_up_failed", level="warning", said=str(error))
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


def fact_snapshots(
    records: Sequence[FactRecord], session: Session, *, at: str = "", states: Collection[FactState] = ()
) -> list[FactSnapshot]:
    """The facts as they are at that moment, or now, those in one of the states if any is given.

    Recent use makes a fact more important now. For a moment in the past no use is counted: the history keeps use by
    day, and only for today's answers. A commitment of what is no known person but a label is left out.
    """
    records = _without_labels(records, session)
    when = at or session.now
    uses = _uses([] if at else [each.fact.id for each in records], session)
    snapshots = [session.stores.snapshots.at(each, when, uses.get(each.fact.id, UNUSED)) for each in records]
    return [each for each in snapshots if each.state in states] if states else snapshots


def _uses(ids: Sequence[str], session: Session) -> Mapping[str, FactUse]:
    """The use of those of these facts that were ever used."""
    history = session.stores.history
    uses = history.uses(ids) if ids else {}
    recent = history.uses(uses, since=session.clock() - timedelta(days=USE_WINDOW)) if uses else {}
    return {id: FactUse(use.times, use.last, recent[id].days if id in recent else 0) for id, use in uses.items()}


def _without_labels(records: Sequence[FactRecord], session: Session) -> Sequence[FactRecord]:
    """The records without commitments of labels, such as `Groceries: milk`; see `facts/commitments.py`."""
    subjects = {each.fact.subject for each in records if may_be_label(each.fact)}
    if not subjects:
        return records
    first_names = people_by_first_name(session)
    with session.stores.index.reader() as reader:
        known = {
            each
            for each in subjects
            if session.stores.rules.entity(each) in first_names or _is_person(each, reader, session)
        }
    return with_known_names(records, known)


def _is_person(name: str, reader: IndexReader, session: Session) -> bool:
    """True if a note in `People`, a note of the type person, or an entry is about someone of that name."""
    entity = session.stores.rules.entity(name)
    paths = reader.notes_named(entity)
    if any(is_below(path, PEOPLE) for path in paths):
        return True
    typed = (Filters(sources=("vault",), kinds=("person",), path=path) for path in paths)
    if any(reader.count_documents(filters) for filters in typed):
        return True
    entries = reader.facts(FactQuery(names=(entity,), origins=("entry",), statuses=("active",), limit=_AMBIGUOUS))
    return any(session.stores.rules.entity(each.fact.subject) == entity for each in entries)


def people_by_first_name(session: Session) -> Mapping[str, tuple[str, ...]]:
    """The notes in `People` by the normalized first name of the person, sorted."""
    try:
        stats = list_notes(PEOPLE, session.stores.vault, skip=session.stores.ignored)
    except NotFound:
        return {}
    found: dict[str, tuple[str, ...]] = {}
    for path in sorted(stat.path for stat in stats):
        first = session.stores.rules.entity(_note_name(path).partition(" ")[0])
        found[first] = (*found.get(first, ()), path)
    return found


def names_of_person(
    name: str, reader: IndexReader, session: Session, *, people: Mapping[str, tuple[str, ...]] | None = None
) -> frozenset[str]:
    """The normalized names of a person: those of their note, and their first name, if nobody else in `People` has it.

    A first name alone is enough for the person, if only one has it and no note is called so. `people` are those of
    `people_by_first_name`, if they are known already.
    """
    rules, own = session.stores.rules, session.stores.rules.entity(name)
    names = {own, *entity_names(name, reader, session)} - {""}
    first = own.partition(" ")[0]
    if own in ("", ME) or reader.notes_named(first):  # the name of a note is the name of that note
        return frozenset(names)
    paths = (people_by_first_name(session) if people is None else people).get(first, ())
    if first != own and all(rules.entity(_note_name(path)) in names for path in paths):
        names.add(first)
    elif first == own and len(paths) == 1:
        names |= {*entity_names(_note_name(paths[0]), reader, session)}
    return frozenset(names)


def _note_name(path: str) -> str:
    return path.rpartition("/")[2].removesuffix(".md")


def doubts_of(facts: Sequence[FactSnapshot], session: Session, *, below: float) -> Mapping[str, str]:
    """For each fact, by id, why an agent should ask before relying on it; empty if there is no reason.

    Two facts that contradict each other are both doubted while both hold, unless only a program contradicts the person.
    What waits for the person makes nothing doubtful. Raises IndexDamaged.
    """
    contested = _contested({each.fact.id for each in facts}, session)
    return {each.fact.id: doubt_of(each, below=below, is_contested=each.fact.id in contested) for each in facts}


def _contested(ids: Collection[str], session: Session) -> frozenset[str]:
    """Those of these facts that another one contradicts which holds now."""
    if not ids:
        return frozenset()
    with session.stores.index.reader() as reader:
        edges = [each for each in reader.bonds(sorted(ids)) if each.bond == "contradict"]
        ends = {end for edge in edges for end in (edge.source, edge.target)}
        others = reader.facts(FactQuery(ids=tuple(sorted(ends)), sensitive=False)) if ends else ()
    current = {each.fact.id for each in fact_snapshots(others, session, states=_CURRENT)}
    own = {each.fact.id for each in others if is_own_word(each.fact)}
    pairs = {(edge.source, edge.target) for edge in edges}
    pairs |= {(target, source) for source, target in pairs}
    pairs = {(one, other) for one, other in pairs if one in ids and other in current}
    return frozenset(one for one, other in pairs if other in own or one not in own)


class _Matches(NamedTuple):
    """The facts that match a request, each with its true end; `mentions` are the ids of those that only mention it."""

    records: tuple[FactRecord, ...]
    mentions: frozenset[str]


def _matching_facts(request: FactRequest, session: Session, *, limit: int | None = None) -> _Matches:
    """At most `limit` facts that match, and the mentions; the caller drops those that do not hold."""
    stores = session.stores
    with entry_reader(stores) as reader:
        query = replace(_query(request, reader, session), limit=limit)
        names = _names_of_one_note(request.entity, reader)
        matches, others = reader.facts(query), _other_facts_of(names, query, reader)
        called = {*query.names, stores.rules.entity(request.called)} - {""}
        direct = {each.fact.id: each for each in matches}
        found = _mentions(called, query, reader, session, known=direct.values())
        mentions = tuple(islice((each for each in found if each.fact.id not in direct), _MENTIONS))
        matches += mentions
        if request.at or request.known_at:
            matches, others = _in_time(request, query, (matches, others), reader, session=session)
    if request.known_at or names:
        records: Sequence[FactRecord] = [*{each.fact.id: each for each in (*others, *matches)}.values()]
        if request.known_at:
            records = as_known(records, known_at=request.known_at, rules=stores.rules)
        if names:
            records = merge_names(records, names=names, subject=request.entity, rules=stores.rules)
        by_id = {each.fact.id: each for each in records}
        matches = tuple(by_id[each.fact.id] for each in matches if each.fact.id in by_id)
    return _Matches(matches, frozenset(each.fact.id for each in mentions))


def _mentions(
    names: Collection[str], query: FactQuery, reader: IndexReader, session: Session, *, known: Iterable[FactRecord] = ()
) -> Iterator[FactRecord]:
    """The entries whose text has one of these names, as whole words; for the person, those that are about them.

    None if the query has a predicate: a plain sentence has none. An entry whose subject has a longer name is not one.
    Those that are `known` may be left out.
    """
    if not names or query.predicate:
        return
    entries, rules = replace(query, names=(), origins=("entry",), limit=None), session.stores.rules
    if ME in names:
        yield from _about_person(entries, reader, session)
        return
    filters = Filters(path=f"{MEMORY}/", archived=True)
    numbers = {each for name in names for each in reader.chunks_with(query_words(name).words, filters)}
    paths = {each.path for each in reader.chunk_attributes(sorted(numbers)).values()}
    paths -= {each.fact.path for each in known if each.fact.origin == "entry"}
    for record in _one_by_one(replace(entries, paths=tuple(sorted(paths))), reader) if paths else ():
        subject = rules.entity(record.fact.subject)
        is_longer_name = any(_words(name) < _words(subject) for name in names)  # `Bianchi` is not yet Nina Bianchi
        if not is_longer_name and is_naming(record.fact.text, names, rules):
            yield record


def _one_by_one(query: FactQuery, reader: IndexReader) -> Iterator[FactRecord]:
    """The facts that match, the last updated first; the next are read when they are asked for."""
    limit, given, is_more = _POOL, 0, True
    while is_more:
        records = reader.facts(replace(query, limit=limit))
        yield from records[given:]
        given, limit, is_more = len(records), limit * _WIDER, len(records) == limit


def _about_person(entries: FactQuery, reader: IndexReader, session: Session) -> tuple[FactRecord, ...]:
    """The entries about the person, among the last updated and the lasting ones; none that has another subject."""
    rules, records = session.stores.rules, [*reader.facts(replace(entries, limit=_POOL))]
    if len(records) == _POOL:
        records += [each for kind in _LASTING for each in reader.facts(replace(entries, folder=f"{MEMORY}/{kind}/"))]
    names = person_names((each.fact for each in records), user=rules.user)
    return tuple(
        each
        for each in {each.fact.id: each for each in records}.values()
        if rules.entity(each.fact.subject) in ("", ME) and is_about_person(each.fact, names=names)
    )


def _query(request: FactRequest, reader: IndexReader, session: Session) -> FactQuery:
    return FactQuery(
        names=entity_names(request.entity, reader, session),
        topics=(request.topic,) if request.topic else (),
        cue=request.cue,
        predicate=predicate_key(request.predicate),
        statuses=() if request.needs_all else ("active",),
        sensitive=session.sees_sensitive,
    )


def entity_names(entity: str, reader: IndexReader, session: Session) -> tuple[str, ...]:
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


def _in_time(
    request: FactRequest,
    query: FactQuery,
    today: tuple[tuple[FactRecord, ...], tuple[FactRecord, ...]],
    reader: IndexReader,
    *,
    session: Session,
) -> tuple[tuple[FactRecord, ...], tuple[FactRecord, ...]]:
    """The matches with the lines that notes have or had, in place of today's; and all facts that compete with lines.

    For what is known now, the ends of all these are those that they cause among each other.
    """
    rules, known_at, own = session.stores.rules, request.known_at, _entries(today[0])
    asked = _line_spans(query, today[0], reader, session=session, known_at=known_at)
    facts = [*(each.fact for each in asked), *(facts_known(own, known_at) if known_at else ())]
    claims = tuple(sorted({*map(rules.claim, facts)} - {""}))
    rivals, spans = tuple[FactRecord, ...](), {each.fact.id: each for each in asked}
    if claims:
        claimants = reader.facts(FactQuery(claims=claims))
        competing = _line_spans(FactQuery(claims=claims), claimants, reader, session=session, known_at=known_at)
        rivals = _entries(claimants)
        spans = {each.fact.id: each for each in competing} | spans
    lines = lines_in_time(spans.values(), known_at=known_at, rules=rules)
    ends = {} if known_at else ends_among([*lines, *(each.fact for each in rivals)], rules)
    touched = {each.fact.id: FactRecord(each.fact, ends.get(each.fact.id)) for each in rivals}
    records = [FactRecord(fact, ends.get(fact.id)) for fact in lines]
    asked_ids = {each.fact.id for each in asked}
    matches = [touched.get(each.fact.id, each) for each in own]
    matches += [each for each in records if each.fact.id in asked_ids]
    others = [touched.get(each.fact.id, each) for each in _entries(today[1])]
    return tuple(matches), (*others, *touched.values(), *(each for each in records if each.fact.id not in asked_ids))


def _line_spans(
    query: FactQuery, today: Iterable[FactRecord], reader: IndexReader, *, session: Session, known_at: str
) -> list[LineSpan]:
    """The lines that match, with the moments between which notes have them.

    For what is known now, a line that only today's notes have came now, and one that they have no longer went now.
    """
    lines = past_line_facts(query, reader, session.stores)
    spans = {each.fact.id: LineSpan(each.fact, each.first_at, each.last_at) for each in lines}
    if known_at:
        return [*spans.values()]
    now, standing = session.now, {each.fact.id: each.fact for each in today if each.fact.origin == "line"}
    for id_, span in spans.items():
        if not span.until:
            spans[id_] = replace(span, fact=standing[id_]) if id_ in standing else replace(span, until=now)
    return [*spans.values(), *(LineSpan(fact, now, "") for id_, fact in standing.items() if id_ not in spans)]


def _entries(records: Iterable[FactRecord]) -> tuple[FactRecord, ...]:
    return tuple(each for each in records if each.fact.origin == "entry")


def _versions(record: FactRecord, reader: IndexReader, session: Session) -> list[FactRecord]:
    """The fact, all that it replaced and all that replaced it, as far as the actor sees them."""
    sees, id_ = session.sees_sensitive, record.fact.id
    versions = {id_: record, **entry_versions([id_], reader, staged=sees)}
    return [each for each in versions.values() if sees or not each.fact.sensitive]


def _paths_of(entity: str, reader: IndexReader, session: Session) -> Iterable[str]:
    """The notes that have this name, and those that hold facts about it."""
    yield from reader.notes_named(entity)
    names = entity_names(entity, reader, session)
    for record in reader.facts(FactQuery(names=names, sensitive=session.sees_sensitive)):
        yield record.fact.path
