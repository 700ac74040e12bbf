"""Texts -> vectors: those that were encoded before come from the cache, the others from the encoder, once each."""

import hashlib
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from commonplace.encoders.base import EncoderProvider, fixed
from commonplace.errors import ProviderFailed
from commonplace.flows.shelf import Shelf
from commonplace.history.base import ModelCall
from commonplace.model import Document

if TYPE_CHECKING:
    from commonplace.index.base import Fixed

CHUNK_TASK = "embed_vault_chunk"
QUERY_TASK = "embed_memory_query"


@dataclass(frozen=True, slots=True)
class Encoding:
    """Vectors by the hash of their text; how many were encoded for it, and how many were known."""

    vectors: "Mapping[str, Fixed]"
    dim: int
    encoded: int
    reused: int

    def of(self, document: Document) -> "Sequence[Fixed]":
        """The rows of each chunk of the document, one for each part."""
        import numpy as np

        return [
            np.array([self.vectors[text_hash(part)] for part in chunk.parts], dtype=np.int16).reshape(-1, self.dim)
            for chunk in document.chunks
        ]


def encode_parts(documents: Iterable[Document], shelf: Shelf) -> Encoding:
    """The vectors of all parts of these documents. Raises ProviderFailed when the encoder does."""
    encoder = shelf.encoders.current
    if encoder is None:
        raise ProviderFailed(shelf.encoders.missing)
    texts = {text_hash(part): part for each in documents for chunk in each.chunks for part in chunk.parts}
    known = dict(shelf.cache.get(encoder.version, list(texts)))
    unknown = {key: text for key, text in texts.items() if key not in known}
    if unknown:
        made = _encoded(unknown, encoder, shelf, task=CHUNK_TASK)
        shelf.cache.put(encoder.version, made)
        known.update(made)
    return Encoding(known, encoder.dim, encoded=len(unknown), reused=len(texts) - len(unknown))


def encode_question(text: str, encoder: EncoderProvider, shelf: Shelf) -> "Fixed":
    """The vector of a question. Raises ProviderFailed."""
    (vector,) = _encoded({text_hash(text): text}, encoder, shelf, task=QUERY_TASK).values()
    return vector


def text_hash(text: str) -> str:
    """What a text is known by in the cache and in the log."""
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()


def _encoded(texts: Mapping[str, str], encoder: EncoderProvider, shelf: Shelf, *, task: str) -> "dict[str, Fixed]":
    start = time.perf_counter()
    vectors = fixed(encoder.encode(list(texts.values())))
    each_ms = (time.perf_counter() - start) * 1000 / len(texts)
    at = shelf.clock()
    shelf.history.log_calls(
        [
            ModelCall(
                at=at,
                task_type=task,
                model_alias=encoder.alias,
                input_hash=key,
                duration_ms=round(each_ms, 2),
                version=encoder.version,
            )
            for key in texts
        ]
    )
    return dict(zip(texts, vectors, strict=True))
