"""Tenants for `bench/scale.py`: generated notes with hashed vectors, and a server that keeps what it acknowledges.

A note has 6 passages of 90 words with 5 sentences each, as the notes of a real garden have on average (6 passages of 87
words, 567 characters and 5.6 sentences). Words are drawn from a vocabulary of 20,000 by Zipf's law. A vector has 384
numbers: the sum of the vectors that the hashing encoder gives the words. Every note has a word that only its tenant
has.
"""

import hashlib
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from bench.approximate import stores_of

from commonplace.app import open_memory
from commonplace.encoders.hashing import HashingEncoder
from commonplace.flows.ingest.documents import document_id
from commonplace.index.base import EncodedDocument, Index
from commonplace.memory import Memory
from commonplace.model import Chunk, Document
from commonplace.questions.words import count_words
from tests.index_documents import document

PASSAGES: Final = 6
WORDS: Final = 90
SENTENCES: Final = 5
VERSION: Final = HashingEncoder().version
NOTES_AT_ONCE: Final = 100
SERVER: Final = (
    *("fsync=on", "synchronous_commit=on", "full_page_writes=on", "shared_buffers=2GB", "max_wal_size=8GB"),
    *("maintenance_work_mem=1GB", "max_connections=200", "work_mem=32MB", "max_parallel_maintenance_workers=2"),
)
_VOCABULARY: Final = 20_000
_SYLLABLES: Final = ("ba", "den", "fi", "gor", "hu", "kal", "lem", "mi", "nor", "pa", "rus", "sto", "tel", "vi", "zan")
_STEP: Final = WORDS // SENTENCES

_Matrix = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Tenant:
    """One tenant: its name, and how many passages it has."""

    name: str
    chunks: int

    @property
    def marker(self) -> str:
        """The word that only the notes of this tenant have."""
        return f"marker{self.name.replace('-', '')}"


@dataclass(frozen=True, slots=True)
class Place:
    """Where tenants are: the database, and a folder that stands for their vaults, which hold no files."""

    url: str
    vault: Path

    def memory(self, tenant: str, *, search: str = "exact", connections: int = 20) -> Memory:
        """The memory of one tenant."""
        settings = {
            "data": str(self.vault.with_name("data")),
            "embedding.provider": "hashing",
            "index.backend": "postgresql",
            "index.search": search,
            "postgresql.url": self.url,
            "postgresql.tenant": tenant,
            "postgresql.connections": connections,
        }
        return open_memory(self.vault, settings=settings)


def tenants_of(count: int, *, chunks: int, large: int, middle: int) -> list[Tenant]:
    """A large tenant, a middle one, and others that share the rest evenly."""
    rest = max(0, chunks - large - middle) // max(1, count - 2)
    sizes = [large, middle, *(max(PASSAGES, rest) for _ in range(count - 2))]
    return [Tenant(f"tenant-{number:05}", size) for number, size in enumerate(sizes)]


def load(place: Place, tenant: Tenant) -> float:
    """Put the notes of a tenant into its index as a first index does; returns the seconds."""
    start = time.perf_counter()
    with place.memory(tenant.name) as memory:
        index, user = stores_of(memory).index, stores_of(memory).rules.user
        _load(index, tenant, user=user)
    return time.perf_counter() - start


def _load(index: Index, tenant: Tenant, *, user: str) -> None:
    some: list[EncodedDocument] = []
    for each in notes(tenant, user=user):
        some.append(each)
        if len(some) == NOTES_AT_ONCE:
            index.put_all(some, now=time.time())
            some = []
    index.put_all(some, now=time.time())
    index.record_sync("2026-01-01T00:00:00Z")
    index.optimize()


def notes(tenant: Tenant, *, user: str, first: int = 0, count: int = 0) -> Iterator[EncodedDocument]:
    """The notes of a tenant with their vectors, or `count` of them, from the one with that number on."""
    source = np.random.default_rng([first, *tenant.name.encode()])
    for number in range(first, first + (count or -(-tenant.chunks // PASSAGES))):
        sizes = min(PASSAGES, tenant.chunks - number * PASSAGES) if not count else PASSAGES
        drawn = _draw(source, sizes)
        yield _note(tenant, number, drawn, user=user), _vectors(drawn)


def question(source: np.random.Generator) -> str:
    """Five words, as often rare ones as not."""
    return " ".join(_vocabulary().words[each] for each in source.integers(0, 2000, 5))


def fixed(vectors: Any) -> Any:
    """Unit vectors as an index takes them."""
    return np.rint(np.asarray(vectors, np.float64) * 32767).astype(np.int16)


@dataclass(frozen=True, slots=True)
class _Vocabulary:
    words: list[str]
    stems: list[str]
    vectors: _Matrix


@cache
def _vocabulary() -> _Vocabulary:
    source = np.random.default_rng(1)
    drawn = source.integers(0, len(_SYLLABLES), (2 * _VOCABULARY, 4))
    words = [*dict.fromkeys("".join(_SYLLABLES[each] for each in row) for row in drawn)][:_VOCABULARY]
    stems = [next(iter(_stems(word)), word) for word in words]
    return _Vocabulary(words, stems, HashingEncoder().encode(words))


def _stems(text: str) -> list[str]:
    return [*count_words(title="", aliases=(), headings=(), tags=(), body=text)]


def _draw(source: np.random.Generator, passages: int) -> npt.NDArray[np.int64]:
    """The numbers of words, a row for each passage; a word's frequency is the reciprocal of its rank."""
    size = len(_vocabulary().words)
    ranks = np.exp(source.random((passages, WORDS)) * np.log(size)).astype(np.int64)
    drawn: npt.NDArray[np.int64] = np.minimum(ranks, size - 1)
    return drawn


def _note(tenant: Tenant, number: int, drawn: npt.NDArray[np.int64], *, user: str) -> Document:
    path = f"Notes/{number:07}.md"
    identity = document_id(user, "vault", path)
    marker = next(iter(_stems(tenant.marker)))
    chunks = tuple(_chunk(identity, ordinal, row, marker=(tenant.marker, marker)) for ordinal, row in enumerate(drawn))
    plain = document(path, user=user, title=f"Note {number}", version=VERSION)
    return Document(**{**{name: getattr(plain, name) for name in Document.__slots__}, "id": identity, "chunks": chunks})


def _chunk(document: str, ordinal: int, drawn: npt.NDArray[np.int64], *, marker: tuple[str, str]) -> Chunk:
    known = _vocabulary()
    words = [known.words[each] for each in drawn.tolist()]
    stems = Counter(known.stems[each] for each in drawn.tolist())
    if ordinal == 0:
        words[0], stems[marker[1]] = marker[0], 1
    sentences = tuple(" ".join(words[at : at + _STEP]) for at in range(0, WORDS, _STEP))
    text = ". ".join(sentences)
    digest = hashlib.sha256(f"{document}/{ordinal}".encode()).hexdigest()
    return Chunk(
        id=f"{digest[:8]}-{digest[8:12]}-{digest[12:16]}-{digest[16:20]}-{digest[20:32]}",
        ordinal=ordinal,
        text=text,
        hash=hashlib.sha256(text.encode()).hexdigest(),
        heading_path=("Notes", f"Part {ordinal}"),
        line=1 + 10 * ordinal,
        tokens=WORDS,
        words={stem: (0, 0, 0, 0, count) for stem, count in stems.items()},
        parts=(text,),
        sentences=sentences,
    )


def _vectors(drawn: npt.NDArray[np.int64]) -> list[Any]:
    """For each passage the vector of the whole, then those of its sentences."""
    by_sentence = _vocabulary().vectors[drawn].reshape(len(drawn), SENTENCES, _STEP, -1).sum(axis=2)
    rows = np.concatenate([by_sentence.sum(axis=1, keepdims=True), by_sentence], axis=1)
    return [*fixed(rows / np.linalg.norm(rows, axis=2, keepdims=True))]


def marker_words(tenants: Sequence[Tenant]) -> dict[str, str]:
    """For each tenant, by name, the stem of the word that only it has."""
    return {tenant.name: next(iter(_stems(tenant.marker))) for tenant in tenants}
