"""Stored documents, and queries of their links, facts and topics, each answered by looking at every one."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Final, NamedTuple

from commonplace.index.base import (
    VAULT_SOURCE,
    ClaimConflict,
    Edge,
    EntityCount,
    FactCounts,
    FactQuery,
    Linker,
    Rules,
    TopicCentroid,
)
from commonplace.index.document_values import (
    ends_at,
    entry_fact,
    fact_bonds,
    fold_label,
    id_precedence,
    note_entity_names,
    valid_unicode,
)
from commonplace.index.inmemory.past_lines import InMemoryPastReader, PastNotes
from commonplace.index.segments.quantize import summable, unit_vector
from commonplace.model import Document, Fact, FactEdge, FactEnd, FactRecord, Filters, Link, Topic

_PAST_STATUSES: Final = ("superseded", "expired", "archived", "deleted")

VectorRows = tuple[tuple[float, tuple[int, ...]], ...]
"""Vectors of a chunk, each as its scale and its integers: those of its parts, then those of its sentences, coarser."""


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """A document, the numbers and vectors of its chunks, and when it was seen and removed."""

    document: Document
    numbers: tuple[int, ...]
    vectors: tuple[VectorRows, ...]
    seen: float
    deleted: int | None = None


class StoredFact(NamedTuple):
    """A fact by its id, its document, and its position there."""

    id: str
    fact: Fact
    document: Document
    position: int


# ---------------------------------------------------------------- filters


def passes(document: Document, filters: Filters, *, ends_at: str) -> bool:
    """True if the document, valid until `ends_at`, passes the filters; `filters.entities` is not checked."""
    folder = filters.path.rstrip("/")
    tags = {fold_label(tag) for tag in document.tags}
    return (
        (not filters.sources or document.source_type in filters.sources)
        and (not filters.kinds or fold_label(document.kind) in map(fold_label, filters.kinds))
        and (not folder or _is_below(document.source_id, folder))
        and not any(_is_below(document.source_id, outside.rstrip("/")) for outside in filters.outside)
        and (not filters.tags or any(_is_below(tag, fold_label(parent)) for tag in tags for parent in filters.tags))
        and (not filters.topics or bool({*map(fold_label, document.topics)} & {*map(fold_label, filters.topics)}))
        and (not filters.since or document.updated >= filters.since)
        and (not filters.until or document.updated < filters.until)
        and (not filters.sensitive or document.sensitive == (filters.sensitive == "only"))
        and (filters.archived or not (is_past(document) or _has_ended(ends_at, at=filters.at)))
    )


def is_past(document: Document) -> bool:
    """True if only a search of the archive finds the document."""
    return document.place == "archive" or document.status in _PAST_STATUSES


def _has_ended(ends_at: str, *, at: str) -> bool:
    return bool(at and ends_at and ends_at <= at)


def _is_below(name: str, parent: str) -> bool:
    return name == parent or name.startswith(f"{parent}/")


# ---------------------------------------------------------------- links and names


@dataclass(frozen=True, slots=True)
class InMemoryLinkReader(InMemoryPastReader):
    """The documents at one moment; `removed` counts those that were removed, `synced` is the last sync."""

    stored: tuple[StoredDocument, ...]
    removed: int
    linker: Linker
    rules: Rules
    synced: str | None
    past: PastNotes

    def notes_named(self, name: str) -> tuple[str, ...]:
        """The paths of the notes with this name, sorted."""
        entity = self.rules.entity(name)
        return tuple(
            sorted(each.source_id for each in self._documents() if entity in note_entity_names(each, self.rules))
        )

    def entity_names(self, name: str) -> frozenset[str]:
        """All normalized names of the entity: this one, and those of the notes it names."""
        entity = self.rules.entity(name)
        by_note = (note_entity_names(each, self.rules) for each in self._documents())
        return frozenset(filter(None, {entity}.union(*(names for names in by_note if entity in names))))

    def _documents(self) -> Iterator[Document]:
        return (each.document for each in self.stored)

    def _links(self) -> list[Edge]:
        """Every link, by document and position."""
        ordered = sorted(self._documents(), key=lambda each: (each.source_id, each.source_type))
        return [
            Edge(document.source_id, link.target, self._resolve(link, document.source_id), link.line, link.relation)
            for document in ordered
            for link in document.links
            if link.target
        ]

    def _resolve(self, link: Link, source: str) -> str | None:
        names = self.linker.names_in(link)
        among = {
            each.source_id: each.aliases
            for each in self._documents()
            if each.source_type == VAULT_SOURCE and names & self.linker.names_of(each.source_id, each.aliases)
        }
        return self.linker.resolve(link, source=source, among=among)

    def _targets(self, document: Document) -> set[str | None]:
        return {self._resolve(link, document.source_id) for link in document.links if link.target}

    def _entity_documents(self, names: Sequence[str]) -> tuple[set[str], set[str | None]]:
        """The ids and paths of the documents to which these titles, aliases or paths refer."""
        documents = [each for each in self._documents() for name in names if self._is_named(each, name)]
        return {document.id for document in documents}, {document.source_id for document in documents}

    def _is_named(self, document: Document, name: str) -> bool:
        if fold_label(document.title) == fold_label(name):
            return True
        link = Link(name, None, None, None, "wikilink", "body", 0, 0, 0)
        path = document.source_id
        return (
            document.source_type == VAULT_SOURCE
            and bool(self.linker.names_in(link) & self.linker.names_of(path, document.aliases))
            and self.linker.resolve(link, source="", among={path: document.aliases}) == path
        )


# ---------------------------------------------------------------- facts and topics


@dataclass(frozen=True, slots=True)
class InMemoryFactReader(InMemoryLinkReader):
    """The facts at one moment."""

    def facts(self, query: FactQuery) -> tuple[FactRecord, ...]:
        """The facts that match, most recently updated first, then by id; each id once."""
        ends, paths = self._ends(), self._paths_of(query.names)
        by_id = sorted((each for each in self._facts() if self._matches(each, query, paths)), key=lambda each: each.id)
        newest_first = sorted(by_id, key=lambda each: each.fact.updated, reverse=True)
        return tuple(FactRecord(each.fact, ends.get(each.id)) for each in newest_first[: query.limit])

    def count_facts(self, query: FactQuery) -> FactCounts:
        """How many facts match, by kind, trust and topic."""
        facts = [each.fact for each in self.facts(replace(query, limit=None, after=None))]
        topics = Counter(topic for fact in facts for topic in {*map(fold_label, fact.topics)})
        return FactCounts(
            len(facts),
            dict(sorted(Counter(fact.kind for fact in facts).items())),
            dict(sorted(Counter(fact.origins.trust for fact in facts).items())),
            dict(sorted(topics.items())),
        )

    def entity_counts(self, *, sensitive: bool) -> tuple[EntityCount, ...]:
        """Every subject and object of facts that are not staged, sorted by name."""
        counts: dict[str, EntityCount] = {}
        for each in self.facts(FactQuery(sensitive=sensitive)):  # the last updated first
            fact = each.fact
            for end, is_subject in ((fact.subject, True), (fact.object, False)):
                if name := self.rules.entity(end):
                    known = counts.get(name, EntityCount(name, end, 0, 0, fact.updated))
                    subjects, objects = known.subjects + is_subject, known.objects + (not is_subject)
                    counts[name] = known._replace(subjects=subjects, objects=objects)
        return tuple(counts[name] for name in sorted(counts))

    def mentions(self, *, sensitive: bool) -> tuple[tuple[str, str], ...]:
        """Every path with the name of a subject or object of a fact there, sorted."""
        facts = (each.fact for each in self.facts(FactQuery(sensitive=sensitive)))
        ends = {(fact.path, self.rules.entity(end)) for fact in facts for end in (fact.subject, fact.object)}
        return tuple(sorted((path, name) for path, name in ends if name))

    def bonds(self, ids: Iterable[str]) -> tuple[FactEdge, ...]:
        """Every bond from or to these facts, sorted; includes an `update` for each fact that supersedes another."""
        wanted = {*map(valid_unicode, ids)}
        edges = {
            FactEdge(each.id, bond, valid_unicode(target))
            for each in self._facts()
            for bond, target in fact_bonds(each.fact)
        }
        return tuple(sorted(edge for edge in edges if {edge.source, edge.target} & wanted))

    def existing_names(self, names: Iterable[str]) -> frozenset[str]:
        """Those of these normalized names that belong to a note or occur in a fact."""
        in_facts = {self.rules.entity(end) for each in self._facts() for end in (each.fact.subject, each.fact.object)}
        every = in_facts.union(*(note_entity_names(each, self.rules) for each in self._documents()))
        return frozenset(filter(None, names)) & every

    def claim_conflicts(self) -> tuple[ClaimConflict, ...]:
        """Every active fact that no longer holds because another with its claim does, by path and position."""
        by_id, ends = {each.id: each for each in self._facts()}, self._ends()
        losers = sorted((by_id[each] for each in ends), key=lambda each: (each.document.source_id, each.position))
        pairs = [(each.fact, ends[each.id]) for each in losers if each.fact.status == "active"]
        return tuple(ClaimConflict(fact, by_id[end.by].fact, end.at) for fact, end in pairs)

    def duplicate_ids(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """Ids that occur at several paths, with those paths, the winning one first."""
        by_id = {
            identity: tuple(dict.fromkeys(each.document.source_id for each in duplicates))
            for identity, duplicates in sorted(self._facts_by_id().items())
        }
        return tuple((identity, paths) for identity, paths in by_id.items() if len(paths) > 1)

    def topics(self) -> tuple[Topic, ...]:
        """Every topic and how many documents are about it, sorted by name."""
        return tuple(Topic(min(names.values()), len(names)) for _, names in sorted(self._topic_documents().items()))

    def centroids(self, version: str) -> tuple[TopicCentroid, ...]:
        """The centroid of each topic that has vectors, sorted by name."""
        centroids = []
        for _, names in sorted(self._topic_documents().items()):
            vectors = [each for at in names if (each := self._document_vector(at, version)) is not None]
            centroid = unit_vector(sum(vectors[1:], vectors[0])) if vectors else None
            if centroid is not None:
                centroids.append(TopicCentroid(min(names.values()), version, centroid))
        return tuple(centroids)

    def _bond_edges(self) -> list[Edge]:
        """Bonds between facts of different documents, by path."""
        path_of = {each.id: each.document.source_id for each in self._facts()}
        bonds = {
            (path_of[each.id], path_of[target], target, bond)
            for each in self._facts()
            for bond, target in fact_bonds(each.fact)
            if target in path_of and path_of[target] != path_of[each.id]
        }
        return [Edge(source, target, path, 0, bond) for source, path, target, bond in sorted(bonds)]

    def _document_ends(self) -> dict[str, str]:
        """When each document stops being valid, by its id; empty if it does not."""
        ends = self._ends()
        by_entry = {each.document.id: ends.get(each.id) for each in self._facts() if each.fact.origin == "entry"}
        return {
            each.id: ends_at(each.valid_until, entry_fact(each), by_entry.get(each.id)) for each in self._documents()
        }

    def _ends(self) -> dict[str, FactEnd]:
        """When each fact ends because another with its claim begins, by id."""
        claims: defaultdict[str, list[Fact]] = defaultdict(list)
        for each in self._facts():
            claims[self.rules.claim(each.fact)].append(each.fact)
        ends: dict[str, FactEnd] = {}
        for claim, facts in claims.items():
            ends |= self.rules.ends(sorted(facts, key=lambda fact: fact.id)) if claim else {}
        return ends

    def _facts(self) -> Iterator[StoredFact]:
        """One fact for each id."""
        return (duplicates[0] for duplicates in self._facts_by_id().values())

    def _facts_by_id(self) -> dict[str, list[StoredFact]]:
        """Every fact, by id; the one that counts first."""
        by_id: defaultdict[str, list[StoredFact]] = defaultdict(list)
        for document in self._documents():
            for position, fact in enumerate(document.facts):
                identity = valid_unicode(fact.id)
                by_id[identity].append(StoredFact(identity, _returned_fact(fact), document, position))
        for identity, duplicates in by_id.items():
            duplicates.sort(key=lambda each: (*id_precedence(identity, each.document.source_id), each.position))
        return by_id

    def _matches(self, stored: StoredFact, query: FactQuery, paths: set[str | None]) -> bool:
        fact, document = stored.fact, stored.document
        return (
            _is_among(query.ids, fact.id)
            and fact.id.startswith(query.prefix)
            and fact.id.endswith(query.suffix)
            and _is_among(query.paths, document.source_id)
            and document.source_id.startswith(query.folder)
            and query.fingerprint in ("", fact.fingerprint)
            and _is_among(query.claims, self.rules.claim(fact) or None)
            and (not query.bond or query.bond in {bond for bond, _ in fact_bonds(fact)})
            and (not query.names or self._is_about(fact, query.names) or self._links_to(stored, paths))
            and query.predicate in ("", fact.predicate)
            and (not query.topics or bool({*map(fold_label, fact.topics)} & {*map(fold_label, query.topics)}))
            and _is_among(query.statuses, fact.status)
            and _is_among(query.origins, fact.origin)
            and (fact.always_load or not query.always_load)
            and (query.sensitive or not document.sensitive)
            and (document.sensitive or not query.only_sensitive)
            and (query.staged or document.place != "staging")
            and (document.place == "staging" or not query.only_staged)
            and _is_listed(fact, query)
        )

    def _is_about(self, fact: Fact, names: Iterable[str]) -> bool:
        return bool({self.rules.entity(fact.subject), self.rules.entity(fact.object)} & {*filter(None, names)})

    def _links_to(self, stored: StoredFact, paths: set[str | None]) -> bool:
        return stored.fact.origin == "entry" and bool(self._targets(stored.document) & paths)

    def _paths_of(self, names: Sequence[str]) -> set[str | None]:
        """The notes with one of the names."""
        return {each.source_id for each in self._documents() if note_entity_names(each, self.rules) & {*names}}

    def _topic_documents(self) -> dict[str, dict[int, str]]:
        """For each folded topic, the positions of the documents about it, and how each spells it."""
        topics: defaultdict[str, dict[int, str]] = defaultdict(dict)
        for at, document in enumerate(self._documents()):
            if not (document.sensitive or document.place == "staging" or is_past(document)):
                for name in sorted(map(valid_unicode, document.topics), reverse=True):
                    topics[fold_label(name)][at] = name
        return dict(topics)

    def _document_vector(self, at: int, version: str) -> Any:
        """The vector of the first part of the document that has one, as summable integers; None if none has."""
        import numpy as np

        stored = self.stored[at]
        first = next((rows[0] for rows in stored.vectors if rows), None)
        if first is None or stored.document.version != version:
            return None
        scale, row = first
        return summable(np.array(row, np.int8), scale)


def _is_listed(fact: Fact, query: FactQuery) -> bool:
    """True if the fact meets the conditions by which people look through facts."""
    return (
        _ascii_lower(query.text) in _ascii_lower(fact.text)
        and any(_ascii_lower(query.cue) in _ascii_lower(each) for each in (fact.about, fact.when))
        and _is_among(query.kinds, fact.kind)
        and _is_among(query.trusts, fact.origins.trust)
        and fact.recorded >= query.recorded_from
        and (not query.recorded_until or fact.recorded < query.recorded_until)
        and (not query.after or fact.updated < query.after[0] or (fact.updated, fact.id) > query.after)
        and (not query.after or fact.updated <= query.after[0])
    )


def _ascii_lower(text: str) -> str:
    return "".join(each.lower() if each.isascii() else each for each in text)


def _is_among(values: Sequence[str], value: str | None) -> bool:
    return not values or value in values


def _returned_fact(fact: Fact) -> Fact:
    """The fact with valid Unicode."""
    values = {each.name: getattr(fact, each.name) for each in fields(fact)}
    texts: dict[str, Any] = {name: valid_unicode(value) for name, value in values.items() if isinstance(value, str)}
    return replace(fact, **texts)
