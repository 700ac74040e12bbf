"""Texts -> vectors: those that were encoded before come from the cache, the others from the encoder, once each."""

import hashlib
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from commonplace.encoders.base import EncoderProvider, fixed
from commonplace.errors import CommonplaceError, ProviderFailed
from commonplace.events import emit
from commonplace.flows.shelf import Questions, Shelf
from commonplace.history.base import ModelCall
from commonplace.index.base import vector_texts
from commonplace.model import Document

if TYPE_CHECKING:
    from commonplace.index.base import Fixed

CHUNK_TASK = "embed_vault_chunk"
QUERY_TASK = "embed_memory_query"
_AT_ONCE: Final = 64  # texts that are encoded before they are kept


@dataclass(frozen=True, slots=True)
class Encoding:
    """Vectors by the hash of their text; how many were encoded for it, and how many were known."""

    vectors: "Mapping[str, Fixed]"
    dim: int
    encoded: int
    reused: int

    def of(self, document: Document) -> "Sequence[Fixed]":
        """The rows of each chunk of the document, one for each part, then one for each sentence."""
        import numpy as np

        return [
            np.array([self.vectors[text_hash(text)] for text in vector_texts(chunk)], np.int16).reshape(-1, self.dim)
            for chunk in document.chunks
        ]


def encode_parts(documents: Iterable[Document], shelf: Shelf) -> Encoding:
    """The vectors of all parts and sentences of these documents. Raises ProviderFailed when the encoder does."""
    chunks = (chunk for each in documents for chunk in each.chunks)
    vectors, encoded = encode_texts((text for chunk in chunks for text in vector_texts(chunk)), shelf)
    dim = shelf.encoders.current.dim if shelf.encoders.current else 0
    return Encoding(vectors, dim, encoded=encoded, reused=len(vectors) - encoded)


def encode_texts(all_texts: Iterable[str], shelf: Shelf) -> "tuple[dict[str, Fixed], int]":
    """The vectors of these texts by their hashes, and how many had to be encoded for it. Raises ProviderFailed."""
    encoder = shelf.encoders.current
    if encoder is None:
        raise ProviderFailed(shelf.encoders.missing)
    texts = {text_hash(text): text for text in all_texts}
    known = dict(shelf.cache.get(encoder.version, list(texts)))
    unknown = {key: text for key, text in texts.items() if key not in known}
    for some in _slices(unknown):
        made = _encoded(some, encoder, shelf, task=CHUNK_TASK)
        shelf.cache.put(encoder.version, made)  # at once: what a killed process has encoded is not lost
        known.update(made)
    return known, len(unknown)


def _slices(texts: Mapping[str, str]) -> Iterator[dict[str, str]]:
    left = [*texts.items()]
    return (dict(left[at : at + _AT_ONCE]) for at in range(0, len(left), _AT_ONCE))


def encode_question(text: str, encoder: EncoderProvider, shelf: Shelf) -> "Fixed":
    """The vector of a question. Raises ProviderFailed."""
    asked, key = shelf.questions or Questions(), (encoder.version, text)
    with asked.turn:
        if key not in asked.known:
            (asked.known[key],) = _encoded({text_hash(text): text}, encoder, shelf, task=QUERY_TASK).values()
        return asked.known[key]


def text_hash(text: str) -> str:
    """What a text is known by in the cache and in the log."""
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()


def _encoded(texts: Mapping[str, str], encoder: EncoderProvider, shelf: Shelf, *, task: str) -> "dict[str, Fixed]":
    start = time.perf_counter()
    vectors = fixed(encoder.encode(list(texts.values())))
    each_ms = (time.perf_counter() - start) * 1000 / len(texts)
    _log(texts, encoder, shelf, task=task, each_ms=each_ms)
    return dict(zip(texts, vectors, strict=True))


def _log(texts: Iterable[str], encoder: EncoderProvider, shelf: Shelf, *, task: str, each_ms: float) -> None:
    """Write the log. The texts are encoded: a log that cannot be written is told, and stops nothing."""
    at = shelf.clock()
    calls = [
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
    try:
        shelf.history.log_calls(calls)
    except CommonplaceError as error:
        emit("model_call_log_failed", level="warning", calls=len(calls), said=str(error))
