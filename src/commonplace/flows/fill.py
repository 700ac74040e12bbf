"""Filling a fresh index: documents are encoded with what is known already, and put into it batch by batch."""

from collections.abc import Sequence
from dataclasses import replace

from commonplace.errors import ProviderFailed
from commonplace.events import emit
from commonplace.flows.document import VAULT
from commonplace.flows.encode import Encoding, encode_parts
from commonplace.flows.shelf import Shelf
from commonplace.index.base import Index
from commonplace.model import Document
from commonplace.recalling.times import in_utc


class FilesGone(Exception):
    """The files of the index were taken away while they were written."""


class Filling:
    """A new index, and what was put into it so far.

    `missing` says why there are no vectors: there is no encoder, or it failed and is left alone from then on.
    """

    def __init__(self, index: Index, shelf: Shelf) -> None:
        self.index, self.shelf, self.now = index, shelf, shelf.clock()
        self.documents = 0
        self.encoded = 0
        self.missing = "" if shelf.cut.version else shelf.encoders.missing
        self.has_failed = False

    def put(self, documents: Sequence[Document]) -> None:
        """Add these, without vectors where they cannot be had."""
        encoding = self._encoded(documents)
        for document in documents:
            if encoding:
                self.index.put(document, encoding.of(document), now=self.now.timestamp())
            else:
                self.index.put(replace(document, version=""), (), now=self.now.timestamp())
        self.documents += len(documents)

    def finish(self) -> None:
        """Mark it as whole, unless the encoder has failed. Raises FilesGone when it does not hold all documents:
        files that were removed are made anew, with what came later."""
        if not self.has_failed:
            self.index.mark_synced(in_utc(self.now))
        with self.index.reading() as reading:
            if reading.counts().documents.get(VAULT, 0) != self.documents:
                raise FilesGone

    def _encoded(self, documents: Sequence[Document]) -> Encoding | None:
        if not self.shelf.cut.version or self.has_failed:
            return None
        try:
            encoding = encode_parts(documents, self.shelf)
        except ProviderFailed as failure:
            emit("encoder_failed", level="warning", said=str(failure))
            self.missing, self.has_failed = str(failure), True
            return None
        self.encoded += encoding.encoded
        return encoding
