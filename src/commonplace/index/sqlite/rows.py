"""Documents, chunks, links and Problems as rows, and rows as what they were."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any, Final
from unicodedata import normalize

from commonplace.index.base import Found
from commonplace.index.facts import ends_at, entry_of, importance_of
from commonplace.index.sqlite.words import body_length, pack_words
from commonplace.model import Chunk, Document, Link, Problem, Stamp

FOUND_COLUMNS: Final = """
c.number, c.chunk_id, c.chunk_index, c.content, c.content_hash, c.heading_path, c.line, c.token_count,
c.voice, c.speaker, c.at,
d.id, d.user_id, d.source_type, d.source_id, d.title, d.uri, d.content_hash, d.made_from, d.embedding_version,
d.created_at, d.updated_at, d.mtime, d.size, d.sensitive, d.kind, d.status, d.place,
d.aliases_json, d.tags_json, d.topics_json, d.problems_json, d.metadata_json, d.valid_from, d.valid_until
"""
STAMP_COLUMNS: Final = (
    "source_id, id, content_hash, made_from, embedding_version, mtime, size, seen, deleted_at IS NOT NULL"
)
_NO_UNICODE: Final = re.compile("[\ud800-\udfff]")


def storable(text: str) -> str:
    """The text with a mark in place of what is no Unicode, such as bytes of a note that were not UTF-8."""
    return text if text.isascii() else _NO_UNICODE.sub("\ufffd", text)


def json_text(value: object) -> str:
    """The value as JSON that can be stored; text in it as by `storable`."""
    return storable(json.dumps(value, ensure_ascii=False))


def folded(text: str) -> str:
    """The text in a form that is the same for capitals and small letters."""
    return normalize("NFC", storable(text).casefold())


def insertion(table: str, columns: Mapping[str, Any]) -> str:
    """The statement that adds a row with these columns, each bound by its name."""
    return f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join(f':{name}' for name in columns)})"  # noqa: S608


def text_of_time(moment: float) -> str:
    """The second, as text in UTC."""
    return datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def document_columns(document: Document, *, now: float) -> dict[str, Any]:
    """What a document's row says apart from its chunks and its key."""
    texts = {
        "id": document.id,
        "user_id": document.user,
        "source_type": document.source_type,
        "source_id": document.source_id,
        "title": document.title,
        "uri": document.uri,
        "content_hash": document.content_hash,
        "made_from": document.made_from,
        "created_at": document.created,
        "updated_at": document.updated,
        "kind": document.kind,
        "status": document.status,
        "valid_from": document.valid_from,
        "valid_until": document.valid_until,
        "ends_at": ends_at(document.valid_until, entry_of(document), None),
    }
    return {name: storable(text) for name, text in texts.items()} | {
        "deleted_at": None,
        "mtime": document.mtime,
        "size": document.size,
        "seen": now,
        "sensitive": int(document.sensitive),
        "place": document.place,
        "importance": importance_of(document),
        "aliases_json": json_text(document.aliases),
        "tags_json": json_text(document.tags),
        "topics_json": json_text(document.topics),
        "problems_json": json_text([asdict(problem) for problem in document.problems]),
        "metadata_json": json_text(dict(document.metadata)),
    }


def chunk_columns(chunk: Chunk) -> dict[str, Any]:
    """What a chunk's row says apart from its number, its document and its version."""
    return {
        "chunk_id": chunk.id,
        "chunk_index": chunk.ordinal,
        "content_hash": chunk.hash,
        "heading_path": json_text(chunk.heading_path),
        "line": chunk.line,
        "token_count": chunk.tokens,
        "voice": chunk.voice,
        "speaker": storable(chunk.speaker),
        "at": storable(chunk.at),
        "length": body_length(chunk.words),
        "words": pack_words(chunk.words),
        "content": storable(chunk.text),
    }


def labels_of(document: Document) -> set[tuple[str, str]]:
    """Under what a document can be asked for: its kind, its title, its topics, its tags and their parents."""
    labels = {("kind", folded(document.kind)), ("title", folded(document.title))}
    labels |= {("topic", folded(topic)) for topic in document.topics}
    for tag in document.tags:
        steps = folded(tag).split("/")
        labels |= {("tag", "/".join(steps[: depth + 1])) for depth in range(len(steps))}
    return labels


def speakers_of(chunks: Iterable[Chunk]) -> set[str]:
    """The names of those who speak in the chunks."""
    return {storable(chunk.speaker) for chunk in chunks if chunk.speaker}


def found_of(row: Sequence[Any]) -> Found:
    """A row of FOUND_COLUMNS; words, parts and sentences are not kept in a form that could be given back."""
    number, chunk_id, ordinal, text, hash_, headings, line, tokens, voice, speaker, at, *rest = row
    chunk = Chunk(
        id=chunk_id,
        ordinal=ordinal,
        text=text,
        hash=hash_,
        heading_path=tuple(json.loads(headings)),
        line=line,
        tokens=tokens,
        words={},
        parts=(),
        voice=voice,
        speaker=speaker,
        at=at,
    )
    return Found(number=number, chunk=chunk, document=_document_of(rest))


def _document_of(row: Sequence[Any]) -> Document:
    (*plain, sensitive, kind, status, place, aliases, tags, topics, problems, metadata, begins, ends) = row
    (identity, user, source_type, source_id, title, uri, content_hash, made_from, version) = plain[:9]
    created, updated, mtime, size = plain[9:]
    return Document(
        id=identity,
        user=user,
        source_type=source_type,
        source_id=source_id,
        title=title,
        uri=uri,
        content_hash=content_hash,
        made_from=made_from,
        version=version,
        created=created,
        updated=updated,
        mtime=mtime,
        size=size,
        sensitive=bool(sensitive),
        kind=kind,
        status=status,
        place=place,
        aliases=tuple(json.loads(aliases)),
        tags=tuple(json.loads(tags)),
        topics=tuple(json.loads(topics)),
        links=(),
        problems=problems_of(problems),
        metadata=json.loads(metadata),
        chunks=(),
        valid_from=begins,
        valid_until=ends,
    )


def stamp_of(row: Sequence[Any]) -> Stamp:
    """A row of STAMP_COLUMNS without its first."""
    identity, content_hash, made_from, version, mtime, size, seen, deleted = row
    return Stamp(
        id=identity,
        content_hash=content_hash,
        made_from=made_from,
        version=version,
        mtime=mtime,
        size=size,
        seen=seen,
        deleted=bool(deleted),
    )


def problems_of(text: str) -> tuple[Problem, ...]:
    """The Problems of a document's row."""
    return tuple(Problem(**problem) for problem in json.loads(text))


def link_text(link: Link) -> str:
    """The whole link, for `link_of`."""
    return json_text(asdict(link))


def link_of(text: str) -> Link:
    """The link that was kept."""
    fields: Mapping[str, Any] = json.loads(text)
    return Link(**fields)
