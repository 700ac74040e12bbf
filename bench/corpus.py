"""Chunks for the search benchmark: real ones, cut and encoded by the product once, and any number made of those.

A made chunk has the first half of one real chunk's text and the second half of another's, and the vector of the first
with noise; so have its sentences, with more of it. Documents have five chunks. A tenth of them lies in the folder
`tenth`, a tenth has the tag `tenth`, and a hundredth the tag `hundredth`.
"""

import gzip
import hashlib
import json
import pickle
import random
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt
from bench.figures import archives, say, unpack

from commonplace.encoders.base import EncoderProvider, to_fixed_point
from commonplace.facts.claims import FactRules
from commonplace.flows.ingest.documents import document_of
from commonplace.flows.stores import Chunking
from commonplace.model import Chunk, Document, WordCounts
from commonplace.notes import parse
from commonplace.policy.options import SafetyOptions
from commonplace.questions.words import count_words

Floats = npt.NDArray[np.float32]
Fixed = npt.NDArray[np.int16]
DISTINCT: Final = 4000
A_DOCUMENT: Final = 5
NOISE: Final = 0.025  # in each of 384 directions: a cosine of about 0.9 with the real vector
SENTENCES: Final = 5  # of a chunk, about as many as those of the vaults have
_FURTHER: Final = 2  # times as much noise in a sentence
QUESTIONS: Final = 200
SOURCE: Final = "chat"  # no note of a vault: no file has to be looked at


@dataclass(frozen=True, slots=True)
class Half:
    """One half of a real chunk's text, and its words."""

    text: str
    words: WordCounts


@dataclass(frozen=True, slots=True)
class Real:
    """Real chunks: the two halves of each, its heading, and its vector."""

    halves: tuple[tuple[Half, Half], ...]
    headings: tuple[str, ...]
    vectors: Floats
    version: str


def real_chunks(data: Path, cache: Path, encoder: EncoderProvider) -> Real:
    """Chunks of the vaults, a seeded choice; encoded at the first call and kept in the cache folder."""
    file = cache / f"chunks-{DISTINCT}-{hashlib.sha256(encoder.version.encode()).hexdigest()[:8]}.pickle"
    if file.is_file():
        kept: Real = pickle.loads(file.read_bytes())
        return kept
    found = list(_cut(data, encoder))
    chosen = random.Random(4).sample(found, min(DISTINCT, len(found)))
    say(f"encoding {len(chosen)} of {len(found)} chunks of the vaults, once")
    real = Real(
        halves=tuple(_halves(chunk.text) for chunk in chosen),
        headings=tuple(chunk.heading_path[-1] if chunk.heading_path else "" for chunk in chosen),
        vectors=encoder.encode([chunk.parts[0] for chunk in chosen]),
        version=encoder.version,
    )
    cache.mkdir(parents=True, exist_ok=True)
    file.write_bytes(pickle.dumps(real))
    return real


def questions(data: Path, real: Real) -> list[str]:
    """Questions of people to their assistants, and headings of the notes; without the former, headings alone."""
    asked: list[str] = []
    file = data / "longmemeval_s/questions.jsonl.gz"
    if file.is_file():
        with gzip.open(file, "rt") as lines:
            asked = [json.loads(line)["question"] for line in lines]
    else:
        print(f"no {file}: headings of the notes are the only questions")
    source = random.Random(5)
    chosen = source.sample(asked, min(QUESTIONS // 2, len(asked)))
    headings = sorted({heading for heading in real.headings if len(heading.split()) > 1})
    return chosen + source.sample(headings, min(QUESTIONS - len(chosen), len(headings)))


def documents(real: Real, chunks: int) -> Iterator[tuple[Document, list[Fixed]]]:
    """So many chunks in documents, with their vectors; always the same."""
    source, noise = random.Random(6), np.random.default_rng(6)
    for number in range(chunks // A_DOCUMENT):
        picks = [(source.randrange(len(real.halves)), source.randrange(len(real.halves))) for _ in range(A_DOCUMENT)]
        rows = real.vectors[[first for first, _ in picks]]
        exact = _noisy(np.vstack([rows, real.vectors[picks[0][1]]]), noise, NOISE)
        fine = _noisy(np.repeat(rows, SENTENCES, axis=0), noise, NOISE * _FURTHER).reshape(A_DOCUMENT, SENTENCES, -1)
        # As in the product, the first chunk of a document has a second vector: that of the title.
        parts = [exact[[0, A_DOCUMENT]], *(exact[at : at + 1] for at in range(1, A_DOCUMENT))]
        yield _document(real, number, picks), [np.vstack(each) for each in zip(parts, fine, strict=True)]


def _noisy(rows: Floats, noise: np.random.Generator, much: float) -> Fixed:
    return to_fixed_point(_unit(rows + noise.standard_normal(rows.shape, np.float32) * np.float32(much)))


def folder_of(number: int) -> str:
    """The folder of the document with that number: one of ten."""
    return "tenth" if number % 10 == 3 else f"folder-{number % 10}"


def _document(real: Real, number: int, picks: Sequence[tuple[int, int]]) -> Document:
    rare = [tag for tag, every, at in (("tenth", 10, 5), ("hundredth", 100, 7)) if number % every == at]
    path = f"{folder_of(number)}/{number // 1000}/document-{number}.md"
    identity = hashlib.md5(path.encode()).hexdigest()
    chunks = tuple(
        _chunk(real, first, second, identity=f"{identity}-{ordinal}", ordinal=ordinal)
        for ordinal, (first, second) in enumerate(picks)
    )
    return Document(
        id=identity,
        user="default",
        source_type=SOURCE,
        source_id=path,
        title=f"Document {number}",
        uri=f"bench:{path}",
        content_hash=identity,
        made_from=identity,
        version=real.version,
        created="2026-01-01T00:00:00Z",
        updated=f"2026-{number % 12 + 1:02}-{number % 28 + 1:02}T00:00:00Z",
        mtime=0.0,
        size=sum(len(chunk.text) for chunk in chunks),
        sensitive=False,
        kind="",
        status="active",
        place="",
        aliases=(),
        tags=(f"tag-{number % 7}", *rare),
        topics=(),
        links=(),
        problems=(),
        metadata={},
        chunks=chunks,
    )


def _chunk(real: Real, first: int, second: int, *, identity: str, ordinal: int) -> Chunk:
    front, back = real.halves[first][0], real.halves[second][1]
    text = f"{front.text} {back.text}"
    parts = (text, f"title {identity}") if ordinal == 0 else (text,)
    return Chunk(
        id=identity,
        ordinal=ordinal,
        text=text,
        hash=identity,
        heading_path=(real.headings[first],) if real.headings[first] else (),
        line=ordinal * 20 + 1,
        tokens=len(text) // 4,
        words=_merged(front.words, back.words),
        parts=parts,
        sentences=tuple(f"sentence {place} of {identity}" for place in range(SENTENCES)),
    )


def _merged(one: WordCounts, other: WordCounts) -> WordCounts:
    merged = dict(one)
    for word, counts in other.items():
        known = merged.get(word)
        merged[word] = counts if known is None else (0, 0, 0, 0, known[4] + counts[4])
    return merged


def _cut(data: Path, encoder: EncoderProvider) -> Iterator[Chunk]:
    cut = Chunking(encoder.tokens, encoder.max_tokens, 32, encoder.version)
    for archive in archives(data):
        say(f"cutting the notes of {archive.name}")
        with tempfile.TemporaryDirectory() as folder:
            vault = unpack(archive, Path(folder) / "vault")
            for path in sorted(vault.rglob("*.md")):
                note = parse(path.read_bytes(), path=path.relative_to(vault).as_posix(), mtime=0.0)
                for chunk in document_of(note, cut, rules=FactRules(user="default"), safety=SafetyOptions()).chunks:
                    if chunk.tokens >= 30:
                        yield chunk


def _halves(text: str) -> tuple[Half, Half]:
    words = text.split(" ")
    middle = (len(words) + 1) // 2
    return _half(" ".join(words[:middle])), _half(" ".join(words[middle:]))


def _half(text: str) -> Half:
    return Half(text, count_words(title="", aliases=(), headings=(), tags=(), body=text))


def _unit(vectors: Floats) -> Floats:
    unit: Floats = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return unit
