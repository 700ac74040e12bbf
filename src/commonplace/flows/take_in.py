"""Taking in: each note or thing as it was read is touched, given its new path, or cut, encoded and stored anew."""

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from commonplace.errors import Conflict, NotFound, ProviderFailed
from commonplace.events import emit
from commonplace.flows.document import VAULT, document_of, form_of, made_from, particulars_of
from commonplace.flows.encode import Encoding, encode_parts
from commonplace.flows.read import standing
from commonplace.flows.shelf import Shelf
from commonplace.flows.sourced import sourced_document
from commonplace.model import Document, Note, Problem, Stamp
from commonplace.notes import parse
from commonplace.sources.base import Sourced
from commonplace.vault.base import Blob
from commonplace.vault.skipping import skipping


@dataclass(slots=True)
class Synced:
    """What a round of ingest found and did."""

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

    def add(self, other: "Synced") -> None:
        """Count in what a round over another source found and did."""
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
        """What became of the notes and the things of other sources."""
        return {
            "added": self.added,
            "changed": self.changed,
            "renamed": self.renamed,
            "removed": self.removed,
            "unchanged": self.unchanged,
        }


class Round:
    """One round of ingest: what the index knew before it, and what has been done so far."""

    def __init__(
        self,
        shelf: Shelf,
        stamps: Mapping[str, Stamp],
        gone: dict[str, Stamp],
        synced: Synced,
        *,
        source_type: str = VAULT,
    ) -> None:
        self.shelf, self.stamps, self.gone, self.synced, self.source_type = shelf, stamps, gone, synced, source_type
        self.cut = shelf.cut
        self.gone_by_chunks: dict[tuple[str, str], list[str]] = {}
        for path, stamp in gone.items():
            self.gone_by_chunks.setdefault((stamp.made_from, stamp.version), []).append(path)
        self.unreadable: list[Problem] = []

    def take_in(self, blobs: Iterable[Blob]) -> None:
        """Take in these notes as they were read."""
        now = self.shelf.clock().timestamp()
        fresh: list[Document] = []
        for blob in blobs:
            note = parse(blob.content, path=blob.stat.path, mtime=blob.stat.mtime)
            try:
                is_known = self._touched(note, now=now) or self._renamed(note, now=now)
            except (NotFound, Conflict):  # another process has just renamed or erased it in the index
                is_known = False
            if not is_known:
                fresh.append(self._document(note))
        if fresh:
            self._store(fresh, now=now)

    def _touched(self, note: Note, *, now: float) -> bool:
        """Whether the index has the note's chunks already; then all else is brought up to date."""
        stamp = self.stamps.get(note.path)
        if not stamp or self.cut.version not in ("", stamp.version):
            return False
        if stamp.made_from != made_from(note, self.cut, rules=self.shelf.rules, safety=self.shelf.safety):
            return False
        self.shelf.index.touch(replace(self._particulars(note), version=stamp.version), now=now)
        self.synced.unchanged += 1
        return True

    def _renamed(self, note: Note, *, now: float) -> bool:
        """Whether the note is one that is gone from elsewhere; then it is given its new path."""
        old = None if note.path in self.stamps else self._moved_from(note)
        if old is None:
            return False
        self.shelf.index.rename(old, self._document(note), now=now)
        del self.gone[old]
        self.synced.renamed += 1
        return True

    def take_in_sourced(self, found: Sequence[tuple[Sourced, str]]) -> None:
        """Take in these things of another source, each with its stamp."""
        form = form_of(self.cut, self.shelf.safety, self.shelf.rules)
        documents = [
            sourced_document(
                thing, self.cut, user=self.shelf.user, source_type=self.source_type, stamp=stamp, form=form
            )
            for thing, stamp in found
        ]
        if documents:
            self._store(documents, now=self.shelf.clock().timestamp())

    def remove_gone(self) -> list[str]:
        """Let nothing find the notes that are no longer there, or can no longer be read.

        The paths that are there again come back: a note that is made anew at this moment must not stay removed.
        """
        now = self.shelf.clock().timestamp()
        unreadable = [each.path for each in self.unreadable if each.path in self.stamps]
        for path in (*self.gone, *unreadable):
            self.synced.removed += self.shelf.index.remove(self.source_type, path, now=now)
        if self.source_type != VAULT:
            return []
        is_ignored = skipping(self.shelf.ignored)
        return [path for path in self.gone if not is_ignored(path) and standing(path, self.shelf.vault)]

    def _store(self, documents: Sequence[Document], *, now: float) -> None:
        start = time.perf_counter()
        encoding = self._encode(documents)
        for document in documents:
            if encoding:
                self.shelf.index.upsert(document, encoding.of(document), now=now)
            else:
                self.shelf.index.upsert(replace(document, version=""), (), now=now)
                self.synced.waiting += 1
            stamp = self.stamps.get(document.source_id)
            if stamp is None or stamp.deleted:
                self.synced.added += 1
            else:
                self.synced.changed += 1
        emit(
            "memory_ingest_batch",
            documents=len(documents),
            encoded=encoding.encoded if encoding else 0,
            latency_ms=round((time.perf_counter() - start) * 1000, 1),
        )

    def _encode(self, documents: Sequence[Document]) -> Encoding | None:
        """The vectors of these documents; None where there is no encoder, or it failed and is left alone from now."""
        if not self.cut.version:
            return None
        start = time.perf_counter()
        try:
            encoding = encode_parts(documents, self.shelf)
        except ProviderFailed as failure:
            emit("encoder_failed", level="warning", said=str(failure))
            self.synced.missing = str(failure)
            self.cut = replace(self.cut, version="")
            return None
        finally:
            self.synced.seconds_encoding += time.perf_counter() - start
        self.synced.encoded += encoding.encoded
        self.synced.reused += encoding.reused
        return encoding

    def _moved_from(self, note: Note) -> str | None:
        """The path that is gone and had just these chunks, when no other had them."""
        chunks = made_from(note, self.cut, rules=self.shelf.rules, safety=self.shelf.safety)
        alike = [path for path in self.gone_by_chunks.get((chunks, self.cut.version), ()) if path in self.gone]
        return alike[0] if len(alike) == 1 else None

    def _document(self, note: Note) -> Document:
        return document_of(note, self.cut, rules=self.shelf.rules, safety=self.shelf.safety)

    def _particulars(self, note: Note) -> Document:
        return particulars_of(note, self.cut, rules=self.shelf.rules, safety=self.shelf.safety)
