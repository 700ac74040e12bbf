"""Questions about facts and topics to the index in memory, each answered by looking at every fact."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple

from commonplace.index.base import Centroid, Contest, Edge, FactQuery
from commonplace.index.facts import bonds_of, ends_at, entity_names, entry_of, keeping
from commonplace.index.inmemory.filtering import folded, is_past, plain
from commonplace.index.inmemory.linking import LinkReading
from commonplace.index.shrinking import direction, widen
from commonplace.model import Document, End, Fact, FactEdge, Known, Topic


class Told(NamedTuple):
    """A fact by its id, the document in which it stands, and at which place in it."""

    id: str
    fact: Fact
    document: Document
    position: int


@dataclass(frozen=True, slots=True)
class FactReading(LinkReading):
    """The facts that were there at one moment."""

    def facts(self, asked: FactQuery) -> tuple[Known, ...]:
        """The facts that fit, those last updated first, then by id; each id once."""
        ends, paths = self._ends(), self._paths_of(asked.names)
        fitting = sorted((told for told in self._kept() if self._fits(told, asked, paths)), key=lambda told: told.id)
        ordered = sorted(fitting, key=lambda told: told.fact.updated, reverse=True)
        return tuple(Known(told.fact, ends.get(told.id)) for told in ordered[: asked.limit])

    def bonds(self, ids: Iterable[str]) -> tuple[FactEdge, ...]:
        """Every bond from or to these facts, `update` for each that supersedes another; in order."""
        asked = {*map(plain, ids)}
        edges = {FactEdge(told.id, bond, plain(to)) for told in self._kept() for bond, to in bonds_of(told.fact)}
        return tuple(sorted(edge for edge in edges if {edge.source, edge.target} & asked))

    def known_names(self, names: Iterable[str]) -> frozenset[str]:
        """Those of these names that a note has or a fact is about."""
        ends = {self.rules.entity(end) for told in self._kept() for end in (told.fact.subject, told.fact.object)}
        asked = frozenset(filter(None, names))
        return asked & ends.union(*(entity_names(entry.document, self.rules) for entry in self.entries))

    def contests(self) -> tuple[Contest, ...]:
        """Every fact that is active and holds no longer because another does, in the order of paths and lines."""
        by_id, ends = {told.id: told for told in self._kept()}, self._ends()
        losers = sorted((by_id[each] for each in ends), key=lambda told: (told.document.source_id, told.position))
        pairs = [(told.fact, ends[told.id]) for told in losers if told.fact.status == "active"]
        return tuple(Contest(fact, by_id[end.by].fact, end.at) for fact, end in pairs)

    def twins(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """The ids that stand at several paths, with those paths; the one that keeps it first."""
        found = {
            identity: tuple(dict.fromkeys(told.document.source_id for told in alike))
            for identity, alike in sorted(self._alike().items())
        }
        return tuple((identity, paths) for identity, paths in found.items() if len(paths) > 1)

    def topics(self) -> tuple[Topic, ...]:
        """Every topic and how many documents are about it, in the order of their names."""
        return tuple(Topic(min(of.values()), len(of)) for _, of in sorted(self._spelled().items()))

    def centroids(self, version: str) -> tuple[Centroid, ...]:
        """The middle of each topic that has one, in the order of their names."""
        found = []
        for _, of in sorted(self._spelled().items()):
            held = [each for document in of if (each := self._meaning(document, version)) is not None]
            vector = direction(sum(held[1:], held[0])) if held else None
            if vector is not None:
                found.append(Centroid(min(of.values()), version, vector))
        return tuple(found)

    def _bond_edges(self) -> list[Edge]:
        """Bonds between facts of two documents, by path."""
        at = {told.id: told.document.source_id for told in self._kept()}
        between = {
            (at[told.id], at[target], target, bond)
            for told in self._kept()
            for bond, target in bonds_of(told.fact)
            if target in at and at[target] != at[told.id]
        }
        return [Edge(source, target, path, 0, bond) for source, path, target, bond in sorted(between)]

    def _ends_at(self) -> dict[str, str]:
        """When each document is no longer worth finding, by its id; empty while that is open."""
        ends = self._ends()
        ended = {told.document.id: ends.get(told.id) for told in self._kept() if told.fact.origin == "entry"}
        documents = (entry.document for entry in self.entries)
        return {each.id: ends_at(each.valid_until, entry_of(each), ended.get(each.id)) for each in documents}

    def _ends(self) -> dict[str, End]:
        """When each fact ends because another with its claim begins."""
        claims: defaultdict[str, list[Fact]] = defaultdict(list)
        for told in self._kept():
            claims[self.rules.claim(told.fact)].append(told.fact)
        ends: dict[str, End] = {}
        for claim, facts in claims.items():
            ends |= self.rules.ends(sorted(facts, key=lambda fact: fact.id)) if claim else {}
        return ends

    def _kept(self) -> Iterator[Told]:
        """One fact for each id."""
        return (alike[0] for alike in self._alike().values())

    def _alike(self) -> dict[str, list[Told]]:
        """Every fact, by id; the one that keeps it first."""
        every: defaultdict[str, list[Told]] = defaultdict(list)
        for entry in self.entries:
            for position, fact in enumerate(entry.document.facts):
                every[plain(fact.id)].append(Told(plain(fact.id), _shown(fact), entry.document, position))
        for identity, alike in every.items():
            alike.sort(key=lambda told: (*keeping(identity, told.document.source_id), told.position))
        return every

    def _fits(self, told: Told, asked: FactQuery, paths: set[str | None]) -> bool:
        fact, document = told.fact, told.document
        return (
            _is_among(asked.ids, fact.id)
            and fact.id.startswith(asked.prefix)
            and fact.id.endswith(asked.suffix)
            and _is_among(asked.paths, document.source_id)
            and asked.fingerprint in ("", fact.fingerprint)
            and _is_among(asked.claims, self.rules.claim(fact) or None)
            and (not asked.names or self._names(fact, asked.names) or self._links_to(told, paths))
            and asked.predicate in ("", fact.predicate)
            and (not asked.topics or bool({*map(folded, fact.topics)} & {*map(folded, asked.topics)}))
            and _is_among(asked.statuses, fact.status)
            and _is_among(asked.origins, fact.origin)
            and (fact.always_load or not asked.always_load)
            and (asked.sensitive or not document.sensitive)
            and (asked.staged or document.place != "staging")
        )

    def _names(self, fact: Fact, names: Sequence[str]) -> bool:
        return bool({self.rules.entity(fact.subject), self.rules.entity(fact.object)} & {*filter(None, names)})

    def _links_to(self, told: Told, paths: set[str | None]) -> bool:
        return told.fact.origin == "entry" and bool(self._meant_by(told.document) & paths)

    def _paths_of(self, names: Sequence[str]) -> set[str | None]:
        """The notes that have one of the names."""
        documents = (entry.document for entry in self.entries)
        return {each.source_id for each in documents if entity_names(each, self.rules) & {*names}}

    def _spelled(self) -> dict[str, dict[int, str]]:
        """Each topic as it compares: the places of the documents that are about it, and how each spells it."""
        found: defaultdict[str, dict[int, str]] = defaultdict(dict)
        for place, entry in enumerate(self.entries):
            document = entry.document
            if not (document.sensitive or document.place == "staging" or is_past(document)):
                for name in sorted(map(plain, document.topics), reverse=True):
                    found[folded(name)][place] = name
        return dict(found)

    def _meaning(self, place: int, version: str) -> Any:
        """The vector of the first part of that document that has one, as whole numbers; None where none has."""
        import numpy as np

        entry = self.entries[place]
        first = next((rows[0] for rows in entry.vectors if rows), None)
        if first is None or entry.document.version != version:
            return None
        scale, row = first
        return widen(np.array(row, np.int8), scale)


def _is_among(asked: Sequence[str], value: str | None) -> bool:
    return not asked or value in asked


def _shown(fact: Fact) -> Fact:
    """The fact with a mark in place of what is no Unicode."""
    told = {each.name: getattr(fact, each.name) for each in fields(fact)}
    texts: dict[str, Any] = {name: plain(value) for name, value in told.items() if isinstance(value, str)}
    return replace(fact, **texts)
