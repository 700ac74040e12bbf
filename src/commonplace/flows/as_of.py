"""The vault as of a moment in the past: its newest commit until then, searched by an index of its own.

What was erased since is left out. What its owner has marked as sensitive since is sensitive in every version before;
`past_lines` says which notes those are. It is asked when an answer is made, so that a mark also counts for an index
built before.
"""

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final, cast

from commonplace.errors import NotFound, VaultUnavailable
from commonplace.events import emit
from commonplace.flows.ingest.documents import VAULT, document_of
from commonplace.flows.ingest.index_notes import batches
from commonplace.flows.ingest.past_lines import LARGEST_PAST, covered_until, update_past
from commonplace.flows.ingest.sync import FilesGone, FreshIndex
from commonplace.flows.notes.write import require_history
from commonplace.flows.read import NOTE_ENDING
from commonplace.flows.stores import Stores
from commonplace.index.base import Index, IndexReader, StoredChunk
from commonplace.model import Document, Stat
from commonplace.model.layout import is_retold
from commonplace.model.moment import moment_text
from commonplace.model.progress import Progress, ignore_progress
from commonplace.notes import parse

_ATTEMPTS: Final = 3  # to build an index that others remove while it is built


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
    update_past(stores, progress=progress)
    begins = vault.history_begins()
    with stores.index.reader() as reader:
        commit, has_erasures = reader.past_commit(at=moment_text(when)), bool(reader.past_erasures())
    if commit is None:
        reason = f"it begins {moment_text(begins)}" if begins else "it has no commit yet"
        message = f"the vault's history does not reach back to {moment_text(when)}: {reason}"
        raise NotFound(message, hint="Give a later day.")
    index = stores.parts().past_index(commit.id)
    past = Past(stores.using(index=index), commit.id, moment_text(begins) if begins else "")
    overlay = SensitivityOverlay(stores, commit.number)
    _ensure_complete(past, overlay, progress)
    for path in overlay.erased([*index.stamps(VAULT)]) if has_erasures else ():  # perhaps on another machine
        index.erase(VAULT, path)
    return replace(past, stores=stores.using(index=overlay.apply_to(index)))


def _ensure_complete(past: Past, overlay: "SensitivityOverlay", progress: Progress) -> None:
    for _ in range(_ATTEMPTS):
        with suppress(FilesGone):
            if _is_complete(past.stores.index) or not _fill(past, overlay, progress):
                return
    if not _is_complete(past.stores.index):
        raise VaultUnavailable(
            "the index of that day was removed by another process while it was being built",
            hint="Wait a while and try again.",
        )


def _is_complete(index: Index) -> bool:
    with index.reader() as reader:
        return reader.last_sync() is not None


def _fill(past: Past, overlay: "SensitivityOverlay", progress: Progress) -> bool:
    """Put every note of the commit into a new index, which counts when it is complete; True if it has all vectors.

    While the encoder fails, notes are found by their words, and the next search builds the index again.
    """
    stores, vault = past.stores, require_history(past.stores.vault)
    listing = vault.list_at(past.commit, skip=stores.unindexed)
    files = [stat for stat in listing.files if not is_retold(stat.path)]
    notes = [stat for stat in files if stat.path.lower().endswith(NOTE_ENDING) and stat.size <= LARGEST_PAST]
    erased = overlay.erased([stat.path for stat in notes])
    stats = [stat for stat in notes if stat.path not in erased]
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
    paths = [stat.path for stat in stats]
    contents, covered = require_history(stores.vault).read_listed_at(past.commit, paths), overlay.covered(paths)
    for stat, content in zip(stats, contents, strict=True):
        if content is not None:
            note = parse(content, path=stat.path, mtime=stat.mtime)
            document = document_of(note, chunking, rules=stores.rules, safety=stores.safety)
            if not document.sensitive and stat.path in covered:
                document = marked_sensitive(document, is_remote=chunking.is_remote)
            yield document


@dataclass(frozen=True, slots=True)
class SensitivityOverlay:
    """The marks that were made since a commit, applied to its notes; `stores` are those of today."""

    stores: Stores
    number: int

    def covered(self, paths: Collection[str]) -> frozenset[str]:
        """Those of these notes whose text in the commit is sensitive because of a mark made since."""
        with self.stores.index.reader() as reader:
            until = covered_until(paths, reader, self.stores)
        return frozenset(path for path, number in until.items() if number >= self.number)

    def erased(self, paths: Collection[str]) -> frozenset[str]:
        """Those of these notes that were erased since."""
        with self.stores.index.reader() as reader:
            covers = reader.past_covers(paths) if reader.past_erasures() else {}
        return frozenset(path for path, cover in covers.items() if cover.erased > self.number)

    def apply_to(self, index: Index) -> Index:
        """The index, with the chunks of the covered notes marked sensitive when they are read."""
        return cast("Index", _OverlaidIndex(index, self))


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
        chunks = self._reader.chunks(numbers)
        covered = self._overlay.covered({each.document.source_id for each in chunks if not each.document.sensitive})
        return tuple(
            replace(each, document=marked_sensitive(each.document)) if each.document.source_id in covered else each
            for each in chunks
        )
