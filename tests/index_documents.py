"""Documents and vectors for tests of the index, and a simple way in which links find notes."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any
from uuid import NAMESPACE_URL, uuid5

import numpy as np
import numpy.typing as npt

from commonplace.index.base import IndexReader, StoredChunk, WordMatches, vector_texts
from commonplace.model import Chunk, Document, Fact, FactEnd, Link

Fixed = npt.NDArray[np.int16]
DIM = 8
_OF_CHUNKS = {"sentences": "sentences", "voices": "voice", "speakers": "speaker", "times": "at"}
VERSION = "test@1"


class PathLinker:
    """A link means the note whose path, file name or alias it says, in any case; of several the first by path."""

    def names_of(self, path: str, aliases: Sequence[str]) -> frozenset[str]:
        bare = path.removesuffix(".md").casefold()
        return frozenset({bare, bare.rsplit("/", 1)[-1], *(alias.casefold() for alias in aliases)})

    def names_in(self, link: Link) -> frozenset[str]:
        return frozenset({link.target.removesuffix(".md").casefold()}) if link.target else frozenset()

    def resolve(self, link: Link, *, source: str, among: Mapping[str, tuple[str, ...]]) -> str | None:
        meant = [path for path, aliases in among.items() if self.names_in(link) & self.names_of(path, aliases)]
        return min(meant, default=None)


@dataclass(frozen=True)
class PlainRules:
    """A fact with a predicate claims it for its subject, one without claims its text; the next to begin holds."""

    def entity(self, name: str) -> str:
        bare = name.rpartition("/")[2].removesuffix(".md").casefold()
        return "me" if bare in ("i", "me") else bare

    def claim(self, fact: Fact) -> str:
        if fact.status != "active" or fact.place in ("archive", "staging"):
            return ""
        return f"{self.entity(fact.subject)}|{fact.predicate}" if fact.predicate else fact.fingerprint

    def ends(self, facts: Sequence[Fact]) -> Mapping[str, FactEnd]:
        ordered = sorted(facts, key=lambda fact: (fact.begins, fact.id))
        return {one.id: FactEnd(other.begins, other.id) for one, other in pairwise(ordered)}


def link(target: str, line: int = 1, relation: str = "") -> Link:
    return Link(target, None, None, None, "wikilink", "body", line, 0, len(target) + 4, relation)


def fact(identity: str, path: str = "", **fields: Any) -> Fact:
    """A fact that stands in an entry at that path."""
    values: dict[str, Any] = {
        "line": 1,
        "origin": "entry",
        "text": f"text of {identity}",
        "recorded": "2026-01-01T00:00:00Z",
        "updated": "2026-01-01T00:00:00Z",
    }
    return Fact(id=identity, path=path or f"{identity}.md", **{**values, **fields})


def entry(identity: str, path: str = "", **fields: Any) -> Document:
    """A document that stands for one fact and says what it says."""
    one = fact(identity, path, **fields)
    told = {name: getattr(one, name) for name in ("status", "place", "sensitive", "kind", "topics")}
    return document(one.path, one.text, facts=(one,), valid_from=one.valid_from, valid_until=one.valid_until, **told)


def chunk_of(identity: str, ordinal: int, text: str, *, title: str = "", parts: Sequence[str] | None = None) -> Chunk:
    """A chunk whose words are those of its text and title, in small letters."""
    words: dict[str, tuple[int, int, int, int, int]] = {}
    for word in title.lower().split():
        words[word] = (words.get(word, (0,) * 5)[0] + 1, 0, 0, 0, 0)
    for word in text.lower().split():
        old = words.get(word, (0, 0, 0, 0, 0))
        words[word] = (*old[:4], old[4] + 1)
    return Chunk(
        id=str(uuid5(NAMESPACE_URL, f"{identity}/{ordinal}")),
        ordinal=ordinal,
        text=text,
        hash=hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest(),
        heading_path=(title or "Plan", f"Part {ordinal}"),
        line=1 + ordinal,
        tokens=len(text.split()),
        words=words,
        parts=tuple(parts) if parts is not None else (text,),
    )


def document(
    path: str, *texts: str, user: str = "me", source: str = "vault", title: str = "", **fields: Any
) -> Document:
    """A document with a chunk for each text; `parts` gives a chunk's parts where they are not its text alone.

    `sentences`, `voices`, `speakers` and `times` give those of the chunks, one for each.
    """
    identity = str(uuid5(NAMESPACE_URL, f"{user}/{source}/{path}"))
    parts: Sequence[Sequence[str] | None] = fields.pop("parts", [None] * len(texts))
    chunks = tuple(
        chunk_of(identity, place, text, title=title, parts=of)
        for place, (text, of) in enumerate(zip(texts, parts, strict=True))
    )
    for name, of_chunk in _OF_CHUNKS.items():
        given = fields.pop(name, None)
        if given is not None:
            pairs = zip(chunks, given, strict=True)
            chunks = tuple(replace(chunk, **{of_chunk: value}) for chunk, value in pairs)
    whole = "\n".join(texts).encode(errors="surrogatepass")
    values: dict[str, Any] = {
        "id": identity,
        "user": user,
        "source_type": source,
        "source_id": path,
        "title": title or path,
        "uri": f"{source}:{path}",
        "content_hash": hashlib.sha256(whole).hexdigest(),
        "made_from": hashlib.sha256(whole + title.encode(errors="surrogatepass")).hexdigest(),
        "version": VERSION,
        "created": "2026-01-01T00:00:00Z",
        "updated": "2026-03-01T09:12:44Z",
        "mtime": 12.5,
        "size": len(whole),
        "sensitive": False,
        "kind": "",
        "status": "active",
        "place": "",
        "aliases": (),
        "tags": (),
        "topics": (),
        "links": (),
        "problems": (),
        "metadata": {},
        "chunks": chunks,
    }
    return Document(**{**values, **fields})


def vector(text: str, dim: int = DIM) -> Fixed:
    """A vector of length 1 that belongs to the text."""
    seed = np.frombuffer(hashlib.sha256(text.encode(errors="surrogatepass")).digest(), np.uint8)
    raw = np.random.default_rng(seed.tolist()).normal(size=dim)
    fixed: Fixed = np.rint(raw / np.linalg.norm(raw) * 32767).astype(np.int16)
    return fixed


def vectors(of: Document) -> list[Fixed]:
    """One row for each part of each chunk, then one for each sentence; none without a version."""
    if not of.version:
        return []
    return [np.array([*map(vector, vector_texts(chunk))], np.int16).reshape(-1, DIM) for chunk in of.chunks]


def texts(reader: IndexReader, numbers: Sequence[int]) -> list[str]:
    return [found.chunk.text for found in reader.chunks(numbers)]


def paths(reader: IndexReader, numbers: Sequence[int]) -> list[str]:
    return [found.document.source_id for found in reader.chunks(numbers)]


def numbers(matches: WordMatches) -> list[int]:
    return [match.number for match in matches.matches]


def stored_chunk(reader: IndexReader, number: int) -> StoredChunk:
    (found,) = reader.chunks([number])
    return found
