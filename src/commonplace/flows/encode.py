"""Texts -> vectors: from the cache if they were encoded before, else from the encoder, each once; every call is logged.

Chunks are encoded by the current encoder. A query is encoded by each encoder whose vectors the index holds.
"""

import hashlib
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from commonplace.encoders.base import EncoderProvider, to_fixed_point
from commonplace.errors import CommonplaceError, ProviderFailed
from commonplace.events import emit
from commonplace.flows.cues import counting_when, without_situations
from commonplace.flows.stores import QueryCache, Stores
from commonplace.history.base import ModelCall
from commonplace.index.base import vector_texts
from commonplace.model import Chunk, Document

if TYPE_CHECKING:
    from commonplace.index.base import Fixed

CHUNK_TASK: Final = "embed_vault_chunk"
QUERY_TASK: Final = "embed_memory_query"
_AT_ONCE: Final = 64  # texts that are encoded before they are cached
_LOADING: Final = "the encoder is still loading and this search did not wait for it; search again in a moment"


@dataclass(frozen=True, slots=True)
class Encoding:
    """Vectors by the hash of their text, and how many of them were encoded now or reused from the cache.

    `broad` are the texts of cues that would fit any prompt: they have the vector of the statement that they belong to.
    """

    vectors: "Mapping[str, Fixed]"
    dim: int
    encoded: int
    reused: int
    broad: frozenset[str] = frozenset()

    def of(self, document: Document) -> "Sequence[Fixed]":
        """A matrix for each chunk of the document: a row for each part, then one for each sentence."""
        import numpy as np

        return [
            np.array([self._vector(text, chunk) for text in vector_texts(chunk)]).reshape(-1, self.dim)
            for chunk in document.chunks
        ]

    def _vector(self, text: str, chunk: Chunk) -> "Fixed":
        return self.vectors[text_hash(chunk.parts[0] if text in self.broad else text)]


def encode_parts(
    documents: Collection[Document],
    stores: Stores,
    *,
    known: "Mapping[str, Fixed] | None" = None,
    progress: Callable[[int], None] = lambda count: None,
) -> Encoding:
    """The vectors of all parts and sentences of these documents. Raises ProviderFailed.

    `known` are cached vectors that the caller has already read, and `progress` is called with the number of texts just
    encoded.
    """
    texts = {key: text for each in documents for key, text in document_texts(each).items()}
    vectors, encoded = encode_texts(texts.values(), stores, known=known, progress=progress)
    dim = stores.encoders.current.dim if stores.encoders.current else 0
    own = (fact for each in documents for fact in each.facts if fact.origin == "entry" and fact.when)
    broad = broad_whens({when for fact in own if (when := counting_when(fact.when))}, stores)
    return Encoding(vectors, dim, encoded=encoded, reused=len(vectors) - encoded, broad=broad)


def broad_whens(whens: Collection[str], stores: Stores) -> frozenset[str]:
    """Those of them that would fit any prompt by their meaning, which counts for nothing. Raises ProviderFailed."""
    encoder = stores.encoders.current
    if encoder is None or not whens:
        return frozenset()

    def encode(texts: Sequence[str]) -> "Mapping[str, Fixed]":
        vectors, _ = encode_texts(texts, stores)
        return {text: vectors[text_hash(text)] for text in texts}

    return without_situations(whens, encode, version=encoder.version)


def document_texts(document: Document) -> dict[str, str]:
    """The texts of the document that are encoded, by hash."""
    return {text_hash(text): text for chunk in document.chunks for text in vector_texts(chunk)}


def cached_vectors(hashes: Sequence[str], stores: Stores) -> "Mapping[str, Fixed]":
    """The vectors of the current encoder that are in the cache, by hash of their text."""
    encoder = stores.encoders.current
    return stores.cache.get(encoder.version, hashes) if encoder and hashes else {}


def encode_texts(
    texts: Iterable[str],
    stores: Stores,
    *,
    known: "Mapping[str, Fixed] | None" = None,
    progress: Callable[[int], None] = lambda count: None,
) -> "tuple[dict[str, Fixed], int]":
    """The vectors of these texts by hash, and how many of them were encoded now. Raises ProviderFailed."""
    encoder = stores.encoders.current
    if encoder is None:
        raise ProviderFailed(stores.encoders.missing)
    by_hash = {text_hash(text): text for text in texts}
    cached = cached_vectors([*by_hash], stores) if known is None else known
    vectors = {key: cached[key] for key in by_hash if key in cached}
    missing = {key: text for key, text in by_hash.items() if key not in vectors}
    for some in _slices(missing):
        encoded = _encode(some, encoder, stores, task=CHUNK_TASK)
        stores.cache.put(encoder.version, encoded)  # at once, so that a killed process loses little
        vectors.update(encoded)
        progress(len(some))
    return vectors, len(missing)


def _slices(texts: Mapping[str, str]) -> Iterator[dict[str, str]]:
    items = [*texts.items()]
    return (dict(items[at : at + _AT_ONCE]) for at in range(0, len(items), _AT_ONCE))


def query_vectors(text: str, versions: Mapping[str, int], stores: Stores) -> "tuple[dict[str, Fixed], list[str]]":
    """The vector of a query by each of these encoder versions that can be used; and the failures of the others."""
    vectors: dict[str, Fixed] = {}
    failures = []
    for version in versions if stores.encoders.current else ():
        encoder = stores.encoders.for_version(version) if version else None
        if encoder is None:
            continue
        if not (encoder.is_ready or stores.waits_for_encoder) and stores.encoders.warm():
            failures.append(_LOADING)
            continue
        try:
            vectors[version] = encode_query(text, encoder, stores)
        except ProviderFailed as failure:
            failures.append(str(failure))
    return vectors, failures


def encode_query(text: str, encoder: EncoderProvider, stores: Stores) -> "Fixed":
    """The vector of a query. Raises ProviderFailed."""
    cache, key = stores.query_cache or QueryCache(), (encoder.version, text)
    with cache.lock:
        if key not in cache.vectors:
            (cache.vectors[key],) = _encode({text_hash(text): text}, encoder, stores, task=QUERY_TASK).values()
        return cache.vectors[key]


def vector_warnings(
    versions: Mapping[str, int], vectors: "Mapping[str, Fixed]", stores: Stores, *, failures: Sequence[str]
) -> list[str]:
    """What a search misses by meaning, in words for people."""
    current, warnings = stores.encoders.current, [f"search by meaning: {failure}" for failure in failures]
    if current is None:
        warnings.append(f"search by meaning: {stores.encoders.missing}")
    unseen, total = sum(n for version, n in versions.items() if version not in vectors), sum(versions.values())
    if current and unseen and not warnings:
        waiting = f"{unseen:,} of {total:,} passages are not encoded yet and are found by words only"
        warnings.append(f"search by meaning: {waiting} ({_remedy(stores)})")
    if len(vectors) > 1:
        two = f"vectors of two encoders are ranked together until all are encoded again ({_remedy(stores)})"
        warnings.append(f"search by meaning: {two}")
    return warnings


def _remedy(stores: Stores) -> str:
    return "catching up, newest notes first" if is_catching_up(stores) else "run `commonplace sync`"


def never_synced_text(stores: Stores) -> str:
    """Why a search may miss notes of a vault that was never synced as a whole."""
    if is_catching_up(stores):
        return "the vault is being indexed for the first time: not every note can be found yet"
    return "the vault was never synced (run `commonplace sync`)"


def is_catching_up(stores: Stores) -> bool:
    """True while a process syncs the vault, and encodes what the index holds by words alone."""
    with stores.encode_lock() as is_free:
        return not is_free


def text_hash(text: str) -> str:
    """The key of a text in the cache and in the log."""
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()


def _encode(texts: Mapping[str, str], encoder: EncoderProvider, stores: Stores, *, task: str) -> "dict[str, Fixed]":
    start = time.perf_counter()
    vectors = to_fixed_point(encoder.encode(list(texts.values())))
    each_ms = (time.perf_counter() - start) * 1000 / len(texts)
    _log(texts, encoder, stores, task=task, each_ms=each_ms)
    return dict(zip(texts, vectors, strict=True))


def _log(texts: Iterable[str], encoder: EncoderProvider, stores: Stores, *, task: str, each_ms: float) -> None:
    """Log the calls. The texts are encoded already: a failure to log them is an event and stops nothing."""
    at = stores.clock()
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
        stores.history.log_calls(calls)
    except CommonplaceError as error:
        emit("model_call_log_failed", level="warning", calls=len(calls), said=str(error))
