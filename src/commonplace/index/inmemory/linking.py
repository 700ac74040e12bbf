"""What links and names mean among the documents of one moment, by plain comparison."""

from collections.abc import Sequence
from dataclasses import dataclass

from commonplace.index.base import LINKED, Edge, Linker, Rules
from commonplace.index.facts import entity_names
from commonplace.index.inmemory.entry import Entry
from commonplace.index.inmemory.filtering import folded
from commonplace.model import Document, Link


@dataclass(frozen=True, slots=True)
class LinkReading:
    """The documents that were there at one moment."""

    entries: tuple[Entry, ...]
    removed: int
    linker: Linker
    rules: Rules
    compared: str | None

    def named(self, name: str) -> tuple[str, ...]:
        """The paths of the notes that have this name, in order."""
        asked = self.rules.entity(name)
        documents = (entry.document for entry in self.entries)
        return tuple(sorted(each.source_id for each in documents if asked in entity_names(each, self.rules)))

    def entities(self, name: str) -> frozenset[str]:
        """The names of what this one may mean: itself, and those of the notes that have it."""
        asked = self.rules.entity(name)
        called = (entity_names(entry.document, self.rules) for entry in self.entries)
        return frozenset(filter(None, {asked}.union(*(names for names in called if asked in names))))

    def _links(self) -> list[Edge]:
        """Every link, by document and place."""
        documents = (entry.document for entry in self.entries)
        ordered = sorted(documents, key=lambda each: (each.source_id, each.source_type))
        return [
            Edge(document.source_id, link.target, self._meant(link, document.source_id), link.line, link.relation)
            for document in ordered
            for link in document.links
            if link.target
        ]

    def _meant(self, link: Link, source: str) -> str | None:
        names = self.linker.names_in(link)
        among = {
            entry.document.source_id: entry.document.aliases
            for entry in self.entries
            if entry.document.source_type == LINKED
            and names & self.linker.names_of(entry.document.source_id, entry.document.aliases)
        }
        return self.linker.resolve(link, source=source, among=among)

    def _meant_by(self, document: Document) -> set[str | None]:
        return {self._meant(link, document.source_id) for link in document.links if link.target}

    def _about(self, names: Sequence[str]) -> tuple[set[str], set[str | None]]:
        """The documents that these titles, aliases or paths mean: their ids, and their paths."""
        meant = [entry.document for entry in self.entries for name in names if self._is_named(entry.document, name)]
        return {document.id for document in meant}, {document.source_id for document in meant}

    def _is_named(self, document: Document, name: str) -> bool:
        if folded(document.title) == folded(name):
            return True
        link = Link(name, None, None, None, "wikilink", "body", 0, 0, 0)
        path = document.source_id
        return (
            document.source_type == LINKED
            and bool(self.linker.names_in(link) & self.linker.names_of(path, document.aliases))
            and self.linker.resolve(link, source="", among={path: document.aliases}) == path
        )
