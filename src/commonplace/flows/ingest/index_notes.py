"""Index given notes: read -> parse -> unchanged, renamed or new? -> chunk -> encode -> one transaction per document.

`index_notes` looks at a few paths: those that a writer wrote, a watcher saw, or a search found to be stale. `Batch`
does the work, for `sync` and other sources too. The opposite is `unindex_notes`, which leaves no trace of erased notes.
"""

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, TypeVar

from commonplace.encoders.base import heuristic_tokens
from commonplace.errors import Conflict, NotFound, ProviderFailed, Refused, VaultUnavailable
from commonplace.events import emit
from commonplace.facts.entry_format import is_entry, parse_id
from commonplace.flows.encode import Encoding, cached_vectors, document_texts, encode_parts, text_hash
from commonplace.flows.ingest.documents import (
    VAULT,
    document_of,
    document_without_chunks,
    form_of,
    made_from,
    source_document,
)
from commonplace.flows.ingest.line_writers import LineWriters, forget_writers, read_new_commits
from commonplace.flows.read import NOTE_ENDING, entry_versions, is_marked, locate, stat_or_none
from commonplace.flows.stores import Chunking, Stores
from commonplace.index.base import FactQuery
from commonplace.model import Document, Note, Problem, Stamp
from commonplace.model.layout import MEMORY, is_entry_path, is_staged
from commonplace.notes import parse
from commonplace.policy.sensitivity import marked
from commonplace.sources.base import Source, SourceItem
from commonplace.vault.base import Blob
from commonplace.vault.paths import skip_filter

if TYPE_CHECKING:
    from commonplace.index.base import Fixed

BATCH: Final = 16  # documents that are encoded together
MANY_NOTES: Final = 64
"""Notes of one change that are encoded at once; more are an import, which has 20 texts a note, and 50 take a second."""
_ATTEMPTS: Final = 5  # tries to index a note that keeps changing
_CATCH_UP: Final = 200  # texts of new commits that are encoded at once; a sync encodes the others

T = TypeVar("T")


@dataclass(slots=True)
class SyncReport:
    """What an ingest did, by number of documents. `waiting` are those indexed without vectors, `missing` says why."""

    added: int = 0
    changed: int = 0
    renamed: int = 0
    removed: int = 0
    unchanged: int = 0
    encoded: int = 0
    reused: int = 0
    waiting: int = 0
    problems: tuple[Problem, ...] = ()
    missing: str = ""
    seconds: float = 0.0
    seconds_encoding: float = 0.0

    def add(self, other: "SyncReport") -> None:
        """Add the numbers of another source."""
        self.added += other.added
        self.changed += other.changed
        self.removed += other.removed
        self.unchanged += other.unchanged
        self.encoded += other.encoded
        self.reused += other.reused
        self.waiting += other.waiting
        self.missing = self.missing or other.missing
        self.seconds_encoding += other.seconds_encoding

    def counts(self) -> dict[str, Any]:
        """The numbers of added, changed, renamed, removed and unchanged documents."""
        return {
            "added": self.added,
            "changed": self.changed,
            "renamed": self.renamed,
            "removed": self.removed,
            "unchanged": self.unchanged,
        }


def catch_up_commits(stores: Stores) -> LineWriters:
    """Index the entries of commits that the index does not know yet, and the notes that these commits show to be a
    program's; returns what programs wrote. Raises as `sync` does.

    A process that was killed after its commit leaves such entries, and a `git pull` brings them. So are entries that
    were indexed while the clock was ahead.
    """
    new = read_new_commits(stores)
    stale = [*(path for path in new.entries if not _is_current(path, stores)), *new.notes, *future_entries(stores)]
    index_until_stable(stale, stores, SyncReport(), writers=new.writers, backlog=Backlog(_CATCH_UP))
    new.record(stores)
    return new.writers


def future_entries(stores: Stores) -> tuple[str, ...]:
    """The paths of entries that were indexed while the clock was ahead, so that they come from the future."""
    query, latest = FactQuery(origins=("entry",), staged=True, limit=1), stores.latest
    with stores.index.reader() as reader:
        newest = reader.facts(query)
        if not newest or newest[0].fact.updated <= latest:
            return ()
        entries = reader.facts(replace(query, limit=None))
    return tuple(record.fact.path for record in entries if record.fact.updated > latest)


def _is_current(path: str, stores: Stores) -> bool:
    """True if the index has the note as it is now, or has it not and there is none."""
    stamp, stat = stores.index.stamp(VAULT, path), stat_or_none(path, stores.vault)
    if stat is None:
        return stamp is None or stamp.deleted
    return stamp is not None and not stamp.deleted and (stamp.mtime, stamp.size) == (stat.mtime, stat.size)


def index_notes(paths: Iterable[str], stores: Stores, *, parsed: Iterable[Note] = ()) -> SyncReport:
    """Bring these notes up to date in the index, whether they are new, changed or gone. Raises as `sync` does.

    `parsed` are notes that the caller has parsed; each is used if the file still has its bytes. More than MANY_NOTES
    are indexed by words, and encoded by the next sync.
    """
    start = time.perf_counter()
    report = SyncReport(missing=stores.encoders.missing)
    notes = [path for path in dict.fromkeys(paths) if path.lower().endswith(NOTE_ENDING)]
    index_until_stable(notes, stores, report, parsed=parsed, backlog=Backlog(0) if len(notes) > MANY_NOTES else None)
    stores.index.optimize()
    report.seconds = time.perf_counter() - start
    return report


def refresh_note(path: str, stores: Stores) -> bool:
    """True if the index was up to date for the note; if it was not, it is now. Raises as `sync` does."""
    stamp, stat = stores.index.stamp(VAULT, path), stat_or_none(path, stores.vault)
    if stamp and stat and (stamp.mtime, stamp.size) == (stat.mtime, stat.size):
        return True
    index_notes([path], stores)
    return False


def index_entries(stores: Stores) -> None:
    """Index every entry that has no document yet. Raises as `sync` does."""
    paths = [stat.path for stat in stores.vault.list(skip=stores.unindexed).files]
    entries = (path for path in paths if path.startswith(f"{MEMORY}/"))
    index_notes((path for path in entries if not stores.index.stamp(VAULT, path)), stores)


def index_until_stable(
    paths: list[str],
    stores: Stores,
    report: SyncReport,
    *,
    parsed: Iterable[Note] = (),
    writers: LineWriters | None = None,
    backlog: "Backlog | None" = None,
) -> None:
    """Index these notes until what was indexed is what the files say; one that never rests waits for the next sync."""
    by_path = {note.path: note for note in parsed}
    for _ in range(_ATTEMPTS):
        if not paths:
            return
        paths = _index_once(paths, stores, report, by_path, writers=writers, backlog=backlog)


def _index_once(
    paths: Sequence[str],
    stores: Stores,
    report: SyncReport,
    parsed: Mapping[str, Note],
    *,
    writers: LineWriters | None,
    backlog: "Backlog | None",
) -> list[str]:
    """Index these notes as they are now; returns the paths that changed meanwhile."""
    is_ignored = skip_filter(stores.unindexed)
    stamps = {path: stamp for path in paths if (stamp := stores.index.stamp(VAULT, path))}
    there = [path for path in paths if not is_ignored(path) and stat_or_none(path, stores.vault)]
    gone = {path: stamp for path, stamp in stamps.items() if path not in there and not stamp.deleted}
    batch = Batch(stores, stamps, gone, report, parsed=parsed, writers=writers, backlog=backlog)
    blobs = list(read_blobs(stores, there, batch.unreadable))
    for some in batches(blobs):
        batch.add_notes(some)
    returned = batch.remove_gone()
    batch.mark_versions()
    report.problems = tuple(batch.unreadable)
    return [*changed_meanwhile(there, blobs, batch.unreadable, stores), *returned]


def read_blobs(stores: Stores, paths: Iterable[str], unreadable: list[Problem]) -> Iterator[Blob]:
    """The notes' bytes. A note that vanished is left out; one that cannot be read becomes a Problem."""
    for path in paths:
        try:
            yield stores.vault.read(locate(path, stores.vault))
        except NotFound:
            continue
        except (Refused, VaultUnavailable) as error:
            unreadable.append(Problem(path, 0, error.message, "unreadable-file"))


def changed_meanwhile(
    paths: Sequence[str], blobs: Sequence[Blob], unreadable: Sequence[Problem], stores: Stores
) -> list[str]:
    """The paths whose notes were saved or removed since, or while, they were read."""
    read = {blob.stat.path for blob in blobs} | {each.path for each in unreadable}
    vanished = [path for path in paths if path not in read]
    return vanished + [blob.stat.path for blob in blobs if _has_changed(blob, stores)]


def _has_changed(blob: Blob, stores: Stores) -> bool:
    stat = stat_or_none(blob.stat.path, stores.vault)
    return stat is None or (stat.mtime, stat.size) != (blob.stat.mtime, blob.stat.size)


def batches(items: Sequence[T]) -> Iterator[Sequence[T]]:
    """The items in slices that are encoded together."""
    return (items[at : at + BATCH] for at in range(0, len(items), BATCH))


def ignore_count(count: int) -> None:
    """Count nothing."""


@dataclass(frozen=True, slots=True)
class PendingDocument:
    """A document that is indexed by its words alone until its turn comes; `texts` is how many are to be encoded.

    One that `had_vectors`, before its source was changed, comes before those that are new.
    """

    source_id: str
    texts: int
    updated: str
    had_vectors: bool


@dataclass(slots=True)
class Backlog:
    """What one sync encodes at once, and what waits until everything is indexed by words.

    `at_once` is how many texts may still be encoded at once.
    """

    at_once: int
    waiting: list[PendingDocument] = field(default_factory=list)

    def takes(self, texts: int) -> bool:
        """True if a document with so many texts to encode must wait; one that need not is counted as encoded."""
        if texts > self.at_once:
            return True
        self.at_once -= texts
        return False

    def take_all(self) -> tuple[PendingDocument, ...]:
        """What waits: entries, which prompts need, then changed documents, then the newest; empties the backlog."""
        by_id = sorted(self.waiting, key=lambda each: each.source_id)
        newest = sorted(by_id, key=lambda each: each.updated, reverse=True)
        self.waiting = []
        return tuple(sorted(newest, key=lambda each: (not is_entry_path(each.source_id), not each.had_vectors)))


class Batch:
    """Documents of one source on their way into the index: what it held before, and what has been done so far.

    With a `backlog`, what takes long to encode is indexed by words and put there. `on_encoded` is called with the
    number of texts just encoded. `writers` is what programs wrote into notes; by default the history is asked for it
    when a note has lines that somebody wrote. `hidden` says of entries whether programs see them; by default the index
    is asked for it.
    """

    def __init__(
        self,
        stores: Stores,
        stamps: Mapping[str, Stamp],
        gone: dict[str, Stamp],
        report: SyncReport,
        *,
        source_type: str = VAULT,
        parsed: Mapping[str, Note] | None = None,
        backlog: Backlog | None = None,
        on_encoded: Callable[[int], None] = ignore_count,
        writers: LineWriters | None = None,
        hidden: Mapping[str, bool] | None = None,
    ) -> None:
        self.stores, self.stamps, self.gone, self.report, self.source_type = stores, stamps, gone, report, source_type
        self.chunking, self._parsed, self._backlog, self.on_encoded = stores.chunking, parsed or {}, backlog, on_encoded
        self._writers, self._hidden = writers, hidden or {}
        self._gone_by_chunks: dict[tuple[str, str], list[str]] = {}
        for path, stamp in gone.items():
            self._gone_by_chunks.setdefault((stamp.made_from, stamp.version), []).append(path)
        self.unreadable: list[Problem] = []
        self._entries: set[str] = set()  # the ids of the entries that were indexed or removed

    def add_notes(self, blobs: Iterable[Blob]) -> None:
        """Index these notes: touch the unchanged ones, rename the moved ones, and store the others."""
        now = self.stores.clock().timestamp()
        new: list[Document] = []
        for blob in blobs:
            note = self._note(blob)
            try:
                is_indexed = self._touch(note, now=now) or self._rename(note, now=now)
            except (NotFound, Conflict):  # another process has just renamed or erased it in the index
                is_indexed = False
            if not is_indexed:
                new.append(self._document(note))
        if new:
            self._store(new, now=now)

    def encode_ahead(self, some: Sequence[str | tuple[Source, str]]) -> None:
        """Encode these notes, by path, or items of other sources into the cache; the index is left as it is."""
        if documents := self._documents(some):
            self._encode(documents)

    def count_texts(self, some: Sequence[str | tuple[Source, str]]) -> int:
        """How many texts of these notes and items are not encoded yet."""
        hashes = {key for each in self._documents(some) for key in document_texts(each)}
        return len(hashes) - len(cached_vectors([*hashes], self.stores))

    def _documents(self, some: Sequence[str | tuple[Source, str]]) -> list[Document]:
        paths = [each for each in some if isinstance(each, str)]
        documents = [self._document(self._note(blob)) for blob in read_blobs(self.stores, paths, [])]
        for source, key in (each for each in some if not isinstance(each, str)):
            if item := source.read(key):
                documents.append(self._item_document(item, source.type, stamp="", form=""))
        return documents

    def _note(self, blob: Blob) -> Note:
        note = self._parsed.get(blob.stat.path)
        if note and note.version == blob.version:
            note = replace(note, mtime=blob.stat.mtime)
        else:
            note = parse(blob.content, path=blob.stat.path, mtime=blob.stat.mtime)
        if is_entry(note):
            self._entries.add(parse_id(note.frontmatter["id"]))
            return marked(note, self.stores.safety) if self._has_hidden_version(note) else note
        return note

    def _has_hidden_version(self, note: Note) -> bool:
        """True if the index hides the next or the last version of the entry; `mark_versions` mends what that misses."""
        if note.path in self._hidden:
            return self._hidden[note.path]
        id_ = parse_id(note.frontmatter["id"])
        with self.stores.index.reader() as reader:
            edges = [edge for edge in reader.bonds([id_]) if edge.bond == "update"]
            near = {parse_id(note.frontmatter.get(key)) for key in ("supersedes", "superseded_by")}
            near = near.union(*((edge.source, edge.target) for edge in edges)) - {id_, ""}
            return bool(near) and bool(reader.facts(FactQuery(ids=tuple(sorted(near)), only_sensitive=True)))

    def _touch(self, note: Note, *, now: float) -> bool:
        """True if the note's chunks are unchanged; updates the other columns."""
        stamp = self.stamps.get(note.path)
        if not stamp or self.chunking.version not in ("", stamp.version):
            return False
        if stamp.made_from != self._made_from(note):
            return False
        stores, programs = self.stores, self._programs(note)
        document = document_without_chunks(
            note, self.chunking, rules=stores.rules, safety=stores.safety, programs=programs, latest=stores.latest
        )
        self.stores.index.touch(replace(document, version=stamp.version), now=now)
        self.report.unchanged += 1
        return True

    def _rename(self, note: Note, *, now: float) -> bool:
        """True if the note was moved from a path that is gone; gives its document the new path."""
        old = None if note.path in self.stamps else self._moved_from(note)
        if old is None:
            return False
        self.stores.index.rename(old, self._document(note), now=now)
        del self.gone[old]
        self.report.renamed += 1
        return True

    def add_source_items(self, items: Sequence[tuple[SourceItem, str]]) -> None:
        """Index these items of another source, each with its stamp."""
        form = form_of(self.chunking, self.stores.safety, self.stores.rules)
        documents = [self._item_document(item, self.source_type, stamp=stamp, form=form) for item, stamp in items]
        if documents:
            self._store(documents, now=self.stores.clock().timestamp())

    def remove_gone(self) -> list[str]:
        """Remove the documents of notes that are gone or cannot be read any more.

        Returns the paths that exist again: a note that was just created again must not stay removed.
        """
        now = self.stores.clock().timestamp()
        unreadable = [each.path for each in self.unreadable if each.path in self.stamps]
        self._entries |= self._versions_of((*self.gone, *unreadable))
        for path in (*self.gone, *unreadable):
            self.report.removed += self.stores.index.remove(self.source_type, path, now=now)
        if self.source_type != VAULT:
            return []
        is_ignored = skip_filter(self.stores.unindexed)
        return [path for path in self.gone if not is_ignored(path) and stat_or_none(path, self.stores.vault)]

    def mark_versions(self) -> None:
        """Index the other versions of the entries that were indexed or removed here again, if one of them is marked and
        not all are hidden, or none is any more: a mark covers all versions of an entry.
        """
        hidden = self._wrongly_shown_or_hidden() if self._entries else {}
        self._entries = set()
        if hidden:
            stamps = {path: stamp for path in hidden if (stamp := self.stores.index.stamp(VAULT, path))}
            batch = Batch(self.stores, stamps, {}, self.report, writers=self._writers, hidden=hidden)
            for some in batches([*read_blobs(self.stores, hidden, [])]):
                batch.add_notes(some)

    def _wrongly_shown_or_hidden(self) -> dict[str, bool]:
        """The paths of the entries about which the index is wrong, and whether they are to be hidden."""
        wrong = dict[str, bool]()
        with self.stores.index.reader() as reader:
            edges = [edge for edge in reader.bonds(self._entries) if edge.bond == "update"]
            near = self._entries.union(*((edge.source, edge.target) for edge in edges)) if edges else self._entries
            query = FactQuery(ids=tuple(sorted(near)), origins=("entry",), only_sensitive=True, staged=True)
            pending = {each.fact.id: each for each in reader.facts(query)}
            while pending:
                id_, record = pending.popitem()
                versions = {id_: record, **entry_versions([id_], reader)}
                pending = {each: pending[each] for each in pending if each not in versions}
                was = {each.fact.path: each.fact.sensitive for each in versions.values()}
                marks = {path: is_marked(path, self.stores) for path in sorted(was)}
                is_hidden = any(marks[path] for path in marks if not is_staged(path))  # a proposal hides itself alone
                wrong |= {path: is_hidden for path in marks if was[path] != (is_hidden or marks[path])}
        return wrong

    def _versions_of(self, paths: Collection[str]) -> frozenset[str]:
        """The ids of all versions of the hidden entries at these paths."""
        entries = tuple(filter(is_entry_path, paths))
        if not entries:
            return frozenset()
        with self.stores.index.reader() as reader:
            hidden = reader.facts(FactQuery(paths=entries, origins=("entry",), only_sensitive=True, staged=True))
            return frozenset(entry_versions([each.fact.id for each in hidden], reader))

    def _store(self, documents: Sequence[Document], *, now: float) -> None:
        start = time.perf_counter()
        known = self._known(documents)
        later = {each.id for each in documents if known is not None and self._must_wait(each, known)}
        ready = [each for each in documents if each.id not in later]
        encoding = self._encode(ready, known=known) if ready else None
        for document in documents:
            if encoding and document.id not in later:
                self.stores.index.upsert(document, encoding.of(document), now=now)
                self._count(document)
            else:
                self.report.waiting += document.id not in later
                self._store_words(document, now=now)
        emit(
            "memory_ingest_batch",
            documents=len(documents),
            encoded=encoding.encoded if encoding else 0,
            reencoded=sum(map(self._had_vectors, ready)) if encoding and encoding.encoded else 0,
            latency_ms=round((time.perf_counter() - start) * 1000, 1),
        )

    def _known(self, documents: Sequence[Document]) -> "Mapping[str, Fixed] | None":
        """The cached vectors of these documents; None if all of them are encoded at once."""
        if self._backlog is None or not self.chunking.version:
            return None
        return cached_vectors([*{key for each in documents for key in document_texts(each)}], self.stores)

    def _must_wait(self, document: Document, known: "Mapping[str, Fixed]") -> bool:
        """True if the document is put into the backlog, because it has too many texts that are not encoded yet."""
        texts = sum(key not in known for key in document_texts(document))
        if self._backlog is None or not self._backlog.takes(texts):
            return False
        had_vectors = self._had_vectors(document)
        self._backlog.waiting.append(PendingDocument(document.source_id, texts, document.updated, had_vectors))
        return True

    def _had_vectors(self, document: Document) -> bool:
        """True if the index has an earlier text of the document with its vectors."""
        stamp = self.stamps.get(document.source_id)
        return bool(stamp and not stamp.deleted and stamp.version)

    def _store_words(self, document: Document, *, now: float) -> None:
        """Index the document by its words alone; if the index has it so already, its chunks are left as they are."""
        words, stamp = replace(document, version=""), self.stamps.get(document.source_id)
        if stamp and not stamp.version and stamp.made_from == document.made_from:
            try:
                self.stores.index.touch(words, now=now)
            except (NotFound, Conflict):  # another process has just changed or erased it in the index
                pass
            else:
                self.report.unchanged += 1
                return
        self.stores.index.upsert(words, (), now=now)
        self._count(document)

    def _count(self, document: Document) -> None:
        stamp = self.stamps.get(document.source_id)
        if stamp is None or stamp.deleted:
            self.report.added += 1
        elif not stamp.version and stamp.made_from == document.made_from:  # it had no vectors; nothing else is new
            self.report.unchanged += 1
        else:
            self.report.changed += 1

    def _encode(self, documents: Sequence[Document], *, known: "Mapping[str, Fixed] | None" = None) -> Encoding | None:
        """The vectors of these documents; None without an encoder. One that fails is not asked again in this batch."""
        if not self.chunking.version:
            return None
        start = time.perf_counter()
        try:
            encoding = encode_parts(documents, self.stores, known=known, progress=self.on_encoded)
        except ProviderFailed as failure:
            emit("encoder_failed", level="warning", said=str(failure))
            self.report.missing = str(failure)
            self.chunking = replace(self.chunking, version="")
            return None
        finally:
            self.report.seconds_encoding += time.perf_counter() - start
        self.report.encoded += encoding.encoded
        self.report.reused += encoding.reused
        return encoding

    def _moved_from(self, note: Note) -> str | None:
        """The gone path that had exactly these chunks, if there is only one."""
        key = (self._made_from(note), self.chunking.version)
        same = [path for path in self._gone_by_chunks.get(key, ()) if path in self.gone]
        return same[0] if len(same) == 1 else None

    def _made_from(self, note: Note) -> str:
        return made_from(note, self.chunking, rules=self.stores.rules, safety=self.stores.safety)

    def _item_document(self, item: SourceItem, source_type: str, *, stamp: str, form: str) -> Document:
        user = self.stores.rules.user
        return source_document(item, self.chunking, user=user, source_type=source_type, stamp=stamp, form=form)

    def _document(self, note: Note) -> Document:
        stores, programs = self.stores, self._programs(note)
        return document_of(
            note, self.chunking, rules=stores.rules, safety=stores.safety, programs=programs, latest=stores.latest
        )

    def _programs(self, note: Note) -> frozenset[str]:
        """The keys of what programs wrote into the note; most notes have nothing of which the writer matters."""
        if is_entry(note) or not (note.observations or note.relations or note.actions):
            return frozenset()
        if self._writers is None:
            self._writers = catch_up_commits(self.stores)
        return self._writers.keys_of(note, self.stores)


def unindex_notes(paths: Sequence[str], contents: Iterable[bytes], stores: Stores) -> None:
    """Erase the notes at these paths from the index and from all indexes of the past. Raises as `sync` does.

    Their cached vectors and logged model calls go too: those of the texts in the index, and those of `contents`,
    chunked as today. Vectors of an earlier text that was chunked by other settings cannot be found this way; such a row
    holds no text, and a vector that is no longer used goes with a later rebuild.
    """
    hashes = {each for path in paths for each in stores.index.part_hashes(VAULT, path)}
    forget_writers(paths, stores)
    for path in paths:
        stores.index.erase(VAULT, path)
    notes = (parse(content, path=path, mtime=0.0) for content in contents for path in paths)
    hashes |= {each for note in notes for each in _text_hashes(_maker(note, stores), stores)}
    _forget_texts(hashes, stores)
    stores.parts().forget_past()


def _maker(note: Note, stores: Stores) -> Callable[[Chunking], Document]:
    return lambda chunking: document_of(note, chunking, rules=stores.rules, safety=stores.safety)


def unindex_source_item(source_type: str, item: SourceItem, stores: Stores) -> None:
    """Erase an item of another source from the index, with its cached vectors and logged model calls."""
    hashes = {*stores.index.part_hashes(source_type, item.source_id)}
    stores.index.erase(source_type, item.source_id)

    def make(chunking: Chunking) -> Document:
        return source_document(item, chunking, user=stores.rules.user, source_type=source_type, stamp="", form="")

    _forget_texts({*hashes, *_text_hashes(make, stores)}, stores)


def _forget_texts(hashes: Iterable[str], stores: Stores) -> None:
    ordered = sorted(hashes)
    stores.cache.forget(ordered)
    stores.history.forget_calls(ordered)


def _text_hashes(make: Callable[[Chunking], Document], stores: Stores) -> Iterator[str]:
    """The hashes of all encoded texts of a document, chunked for the current encoder and for none."""
    local = replace(stores.chunking, is_remote=False)  # sensitive text may have been encoded by an earlier, local one
    for chunking in (local, replace(local, tokens=heuristic_tokens)):
        try:
            document = make(chunking)
        except ProviderFailed as failure:
            emit("encoder_failed", level="warning", said=str(failure))
            continue
        yield from (text_hash(text) for chunk in document.chunks for text in (*chunk.parts, *chunk.sentences))
