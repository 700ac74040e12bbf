"""The vault as of a moment in the past: its newest commit until then, searched by an index of its own, or its facts.

Two rules hold for both. What was erased since is left out. What its owner marks as sensitive today is sensitive in
every version; the vault is asked when an answer is made, so that a mark also counts for an index built before.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final, cast

from commonplace.errors import NotFound, Refused, VaultUnavailable
from commonplace.events import emit
from commonplace.facts.claims import FactRules
from commonplace.facts.line_facts import line_facts
from commonplace.facts.triples import ME
from commonplace.facts.validity import ends_among
from commonplace.flows.ingest.documents import VAULT, document_of
from commonplace.flows.ingest.index_notes import batches
from commonplace.flows.ingest.sync import FilesGone, FreshIndex
from commonplace.flows.notes.erase import erased_as_of
from commonplace.flows.notes.move import moved_since
from commonplace.flows.notes.write import require_history
from commonplace.flows.read import NOTE_ENDING, locate
from commonplace.flows.stores import Stores
from commonplace.index.base import FactQuery, Index, IndexReader, StoredChunk
from commonplace.model import Document, Fact, FactRecord, Stat
from commonplace.model.layout import is_entry_path, place_of
from commonplace.model.moment import moment_text
from commonplace.model.progress import Progress, ignore_progress
from commonplace.model.text import fold_phrase
from commonplace.notes import parse
from commonplace.policy.options import SafetyOptions
from commonplace.policy.sensitivity import is_sensitive
from commonplace.vault.base import Capability, StorageBackend

_ATTEMPTS: Final = 3  # to build an index that others remove while it is built
_READ_AT_ONCE: Final = 500  # notes that git reads in one call
# Every structured line matches, and some others do: a bullet, then a word in brackets, or words and a link.
_STRUCTURED_LINE: Final = re.compile(
    rb"(?:\A(?:\xef\xbb\xbf)?|\n)[ \t]*+[-*+][ \t]++(?:\[[^\]\n]{2,160}\][ \t]|[^\[\n]++\[\[)"
)


@dataclass(frozen=True, slots=True)
class Past:
    """Stores whose index holds the vault as it was in a commit; `begins` is the moment at which history begins."""

    stores: Stores
    commit: str
    begins: str


def open_past(when: datetime, stores: Stores, *, progress: Progress = ignore_progress) -> Past:
    """The stores as of that moment; their index is built if there is none yet, and `progress` counts its notes.

    Raises NotFound before history begins, and VaultUnavailable if the index cannot be built.
    """
    vault = require_history(stores.vault)
    begins, commit = vault.history_begins(), vault.commit_at(when)
    if commit is None:
        reason = f"it begins {moment_text(begins)}" if begins else "it has no commit yet"
        message = f"the vault's history does not reach back to {moment_text(when)}: {reason}"
        raise NotFound(message, hint="Give a later day.")
    past = Past(stores.using(index=stores.parts().past_index(commit)), commit, moment_text(begins) if begins else "")
    _ensure_complete(past, when, progress)
    index, revisions = past.stores.index, vault.revisions()
    for path in erased_as_of(when, revisions):  # perhaps on another machine, after this index was built
        if index.stamp(VAULT, path):
            index.erase(VAULT, path)
    overlay = SensitivityOverlay(vault, stores.safety, moved_since(when, revisions))
    return replace(past, stores=stores.using(index=overlay.apply_to(index)))


def _ensure_complete(past: Past, when: datetime, progress: Progress) -> None:
    for _ in range(_ATTEMPTS):
        with suppress(FilesGone):
            if _is_complete(past.stores.index) or not _fill(past, when, progress):
                return
    if not _is_complete(past.stores.index):
        raise VaultUnavailable(
            "the index of that day was removed by another process while it was being built",
            hint="Wait a while and try again.",
        )


def _is_complete(index: Index) -> bool:
    with index.reader() as reader:
        return reader.last_sync() is not None


def _fill(past: Past, when: datetime, progress: Progress) -> bool:
    """Put every note of the commit into a new index, which counts when it is complete; True if it has all vectors.

    While the encoder fails, notes are found by their words, and the next search builds the index again.
    """
    stores, vault = past.stores, require_history(past.stores.vault)
    listing = vault.list_at(past.commit, skip=stores.unindexed)
    revisions = vault.revisions()
    erased = erased_as_of(when, revisions)
    overlay = SensitivityOverlay(vault, stores.safety, moved_since(when, revisions))
    stats = [stat for stat in listing.files if stat.path.lower().endswith(NOTE_ENDING) and stat.path not in erased]
    with stores.index.replacement() as index:
        fresh = FreshIndex(index, stores)
        for some in batches(stats):
            fresh.put(list(_documents(some, past, overlay)))
            progress("notes", fresh.documents, len(stats))
        fresh.finish()
    emit("past_index_built", commit=past.commit, notes=fresh.documents)
    return not fresh.has_failed


def _documents(stats: Sequence[Stat], past: Past, overlay: "SensitivityOverlay") -> Iterator[Document]:
    """The notes as documents; one that is sensitive today is marked so, and no remote encoder gets it."""
    stores, chunking = past.stores, past.stores.chunking
    contents = require_history(stores.vault).read_listed_at(past.commit, [stat.path for stat in stats])
    for stat, content in zip(stats, contents, strict=True):
        if content is not None:
            note = parse(content, path=stat.path, mtime=stat.mtime)
            document = document_of(note, chunking, rules=stores.rules, safety=stores.safety)
            if not document.sensitive and overlay.covers(stat.path):
                document = marked_sensitive(document, is_remote=chunking.is_remote)
            yield document


def past_line_facts(query: FactQuery, when: datetime, stores: Stores) -> tuple[FactRecord, ...]:
    """The facts in lines of notes that match the query, as the notes were at that moment, by path and line.

    Only `names`, `predicate`, `topics`, `sensitive` and `staged` of the query are used. Empty if the vault keeps no
    history, or none that old. No index is read. Raises VaultUnavailable if git does not answer.
    """
    if Capability.HISTORY not in stores.vault.capabilities:
        return ()
    vault = require_history(stores.vault)
    commit = vault.commit_at(when)
    if commit is None:
        return ()
    revisions = vault.revisions()
    overlay = SensitivityOverlay(vault, stores.safety, moved_since(when, revisions))
    lines = _LineFilter(query, stores.rules)
    paths = _note_paths(commit, stores, erased=erased_as_of(when, revisions))
    facts = list(_facts(paths, commit, stores, lines))
    ends = ends_among(facts, stores.rules)
    marked = (_marked(fact, overlay) for fact in facts if lines.matches(fact))
    return tuple(FactRecord(fact, ends.get(fact.id)) for fact in marked if query.sensitive or not fact.sensitive)


@dataclass(frozen=True, slots=True)
class _LineFilter:
    """Which facts match the query, and which notes may contain one."""

    query: FactQuery
    rules: FactRules

    def may_be_in(self, content: bytes, path: str) -> bool:
        """False only if the note's bytes alone make certain that no matching fact is in it."""
        if not _STRUCTURED_LINE.search(content):
            return False
        # The bytes of an escaped YAML text differ from its characters, and the user has many names.
        if ME in self.query.names or b"\\" in content or b"''" in content:
            return True
        text = fold_phrase(f"{path}\n{content.decode(errors='replace')}")
        names, topics = self.query.names, [fold_phrase(topic) for topic in self.query.topics]
        return all(not words or any(word in text for word in words) for words in (names, topics))

    def matches(self, fact: Fact) -> bool:
        """True if the fact matches the query."""
        query, entity = self.query, self.rules.entity
        return (
            (not query.names or bool({entity(fact.subject), entity(fact.object)} & {*filter(None, query.names)}))
            and query.predicate in ("", fact.predicate)
            and (not query.topics or bool({*map(fold_phrase, fact.topics)} & {*map(fold_phrase, query.topics)}))
            and (query.staged or fact.place != "staging")
        )


def _note_paths(commit: str, stores: Stores, *, erased: frozenset[str]) -> list[str]:
    """The notes of that commit without the erased ones, and without entries: those are read from today's index."""
    paths = (stat.path for stat in require_history(stores.vault).list_at(commit, skip=stores.unindexed).files)
    return [p for p in paths if p.lower().endswith(NOTE_ENDING) and p not in erased and not is_entry_path(p)]


def _facts(paths: Sequence[str], commit: str, stores: Stores, lines: _LineFilter) -> Iterator[Fact]:
    """All line facts of the notes that may contain a match: the others say when a match ends."""
    for start in range(0, len(paths), _READ_AT_ONCE):
        some = paths[start : start + _READ_AT_ONCE]
        for path, content in zip(some, require_history(stores.vault).read_listed_at(commit, some), strict=True):
            if content is not None and lines.may_be_in(content, path):
                note = parse(content, path=path, mtime=0.0)
                sensitive = is_sensitive(note, stores.safety)
                yield from line_facts(note, place=place_of(path), sensitive=sensitive, rules=stores.rules)


def _marked(fact: Fact, overlay: "SensitivityOverlay") -> Fact:
    return fact if fact.sensitive or not overlay.covers(fact.path) else replace(fact, sensitive=True)


@dataclass(frozen=True, slots=True)
class SensitivityOverlay:
    """Today's sensitive marks, applied to past versions; `moved` maps a past path to where the note is today."""

    vault: StorageBackend
    safety: SafetyOptions
    moved: Mapping[str, str]

    def covers(self, path: str) -> bool:
        """True if the note that was at that path is sensitive today, or cannot be read: when in doubt, it is."""
        return any(self._is_sensitive(each) for each in {path, self.moved.get(path, path)})

    def apply_to(self, index: Index) -> Index:
        """The index, with the chunks of the covered notes marked sensitive when they are read."""
        return cast("Index", _OverlaidIndex(index, self))

    def _is_sensitive(self, path: str) -> bool:
        try:
            blob = self.vault.read(locate(path, self.vault))
        except NotFound:
            return False
        except (Refused, VaultUnavailable):
            return True
        return is_sensitive(parse(blob.content, path=path, mtime=blob.stat.mtime), self.safety)


def marked_sensitive(document: Document, *, is_remote: bool = False) -> Document:
    """The document as if its note had the mark; for a remote encoder, without the texts to encode."""
    chunks = (
        tuple(replace(chunk, parts=(), sentences=()) for chunk in document.chunks) if is_remote else document.chunks
    )
    return replace(document, sensitive=True, metadata={**document.metadata, "sensitive": True}, chunks=chunks)


class _OverlaidIndex:
    """An index whose readers apply the overlay; everything else is the index's own."""

    def __init__(self, index: Index, overlay: SensitivityOverlay) -> None:
        self._index, self._overlay = index, overlay

    def __getattr__(self, name: str) -> object:
        return getattr(self._index, name)

    @contextmanager
    def reader(self) -> Iterator[IndexReader]:
        with self._index.reader() as reader:
            yield cast("IndexReader", _OverlaidReader(reader, self._overlay))


class _OverlaidReader:
    def __init__(self, reader: IndexReader, overlay: SensitivityOverlay) -> None:
        self._reader, self._overlay = reader, overlay

    def __getattr__(self, name: str) -> object:
        return getattr(self._reader, name)

    def chunks(self, numbers: Sequence[int]) -> tuple[StoredChunk, ...]:
        return tuple(
            replace(each, document=marked_sensitive(each.document)) if self._is_covered(each.document) else each
            for each in self._reader.chunks(numbers)
        )

    def _is_covered(self, document: Document) -> bool:
        return not document.sensitive and self._overlay.covers(document.source_id)
