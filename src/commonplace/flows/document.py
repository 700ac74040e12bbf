"""A note, or something of another source, made into a Document: cut into chunks, its words counted, its marks read."""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from typing import Any, Final
from uuid import UUID, uuid5

from commonplace.model import Chunk, Document, Note, Problem
from commonplace.notes import parse
from commonplace.notes.chunks import chunks_of
from commonplace.notes.passages import STEP, Passage, parts_of
from commonplace.policy.options import SafetyOptions
from commonplace.policy.sensitivity import is_sensitive
from commonplace.policy.spaces import place_of
from commonplace.recalling.times import in_utc
from commonplace.recalling.words import count_words
from commonplace.sources.base import Sourced
from commonplace.sources.conflicts import conflict_copy

VAULT: Final = "vault"
_FORM: Final = 1  # counted up when chunks, words or parts are made in another way, so that all are made anew
_NAMESPACE: Final = UUID("6d1f7a8e-50f4-5c1a-9a52-0b1c3f0d7e21")
_UPDATED: Final = ("updated", "modified", "date")
_CREATED: Final = ("created", "date")
_LONGEST_METADATA: Final = 4000  # characters of frontmatter that a hit carries


@dataclass(frozen=True, slots=True)
class Cut:
    """How texts are cut: by which tokens, how large, with how much in common, and for which encoder.

    `version` is empty where there is no encoder; what is sensitive is not shown to one that `is_remote`.
    """

    tokens: Callable[[str], Sequence[tuple[int, int]]]
    max_tokens: int
    overlap: int
    version: str
    is_remote: bool = False


def document_id(user: str, source_type: str, source_id: str) -> str:
    """The same for the same user, source and path, on every machine."""
    return str(uuid5(_NAMESPACE, json.dumps([user, source_type, source_id])))


def body_hash(note: Note) -> str:
    """The sha256 of the note's text without its frontmatter."""
    return hashlib.sha256(note.body.encode(errors="surrogatepass")).hexdigest()


def form_of(cut: Cut, safety: SafetyOptions) -> str:
    """What the settings say of how documents are made: with this `made_from` begins, so that other settings show."""
    marks = (safety.sensitive_frontmatter_key, safety.local_only_frontmatter_key)
    return _digest(_FORM, cut.max_tokens, cut.overlap, *marks)[:16]


def made_from(note: Note, cut: Cut, *, safety: SafetyOptions) -> str:
    """A hash of all that the note's chunks depend on, beside the encoder; their lines in the file are part of it."""
    encodes = not (is_sensitive(note, safety) and cut.is_remote)
    digest = _digest(note.body, note.body_line, note.title, note.aliases, note.tags, encodes)
    return f"{form_of(cut, safety)}-{digest}"


def document_of(note: Note, cut: Cut, *, user: str, safety: SafetyOptions) -> Document:
    """The note as the index keeps it."""
    passages = chunks_of(note, tokens=cut.tokens, max_tokens=cut.max_tokens, overlap=cut.overlap)
    return _document(note, passages, cut, user=user, safety=safety)


def sourced_document(sourced: Sourced, cut: Cut, *, user: str, source_type: str, stamp: str, form: str) -> Document:
    """A thing of another source as the index keeps it; `stamp` is the hash by which its source tells that it has
    changed, `form` that of `form_of`."""
    identity = document_id(user, source_type, sourced.source_id)
    passages = tuple(_sourced_passages(sourced, cut))
    return Document(
        id=identity,
        user=user,
        source_type=source_type,
        source_id=sourced.source_id,
        title=sourced.title,
        uri=sourced.uri,
        content_hash=stamp,
        made_from=f"{form}-{stamp}",
        version=cut.version,
        created=sourced.created,
        updated=sourced.updated,
        mtime=0.0,
        size=sum(len(each.text.encode(errors="surrogatepass")) for each in sourced.passages),
        sensitive=sourced.sensitive,
        kind=sourced.kind,
        status="active",
        place="",
        aliases=(),
        tags=sourced.tags,
        topics=sourced.topics,
        links=(),
        problems=(),
        metadata={**sourced.metadata, "sensitive": sourced.sensitive},
        chunks=_chunks(
            identity,
            passages,
            title=sourced.title,
            aliases=(),
            tags=sourced.tags,
            encodes=not (sourced.sensitive and cut.is_remote),
        ),
    )


def _sourced_passages(sourced: Sourced, cut: Cut) -> Iterator[Passage]:
    """Each passage cut as a note would be, below its own headings."""
    for each in sourced.passages:
        note = parse(each.text.encode(errors="replace"), path=sourced.source_id, mtime=0.0)
        for passage in chunks_of(note, tokens=cut.tokens, max_tokens=cut.max_tokens, overlap=cut.overlap):
            path = (*each.heading_path, *passage.heading_path)
            yield replace(
                passage, heading_path=path, under=STEP.join(filter(None, (*each.heading_path, passage.under)))
            )


def particulars_of(note: Note, cut: Cut, *, user: str, safety: SafetyOptions) -> Document:
    """The same without the chunks, for a note whose chunks are known already."""
    return _document(note, (), cut, user=user, safety=safety)


def _document(note: Note, passages: Sequence[Passage], cut: Cut, *, user: str, safety: SafetyOptions) -> Document:
    marks, sensitive = note.frontmatter, is_sensitive(note, safety)
    of_file = _calendar_time(note.mtime)
    identity = document_id(user, VAULT, note.path)
    return Document(
        id=identity,
        user=user,
        source_type=VAULT,
        source_id=note.path,
        title=note.title,
        uri=f"vault:{note.path}",
        content_hash=body_hash(note),
        made_from=made_from(note, cut, safety=safety),
        version=cut.version,
        created=_moment(marks, _CREATED, otherwise=of_file),
        updated=_moment(marks, _UPDATED, otherwise=of_file),
        mtime=note.mtime,
        size=note.size,
        sensitive=sensitive,
        kind=_word(marks.get("kind")) or _word(marks.get("type")),
        status=_word(marks.get("status")) or "active",
        place=place_of(note.path),
        aliases=note.aliases,
        tags=note.tags,
        topics=_topics(note),
        links=note.links,
        problems=(*note.problems, *_conflict(note.path)),
        metadata={"mtime": note.mtime, "size": note.size, "sensitive": sensitive, "frontmatter": _kept(marks)},
        chunks=_chunks(
            identity,
            passages,
            title=note.title,
            aliases=note.aliases,
            tags=note.tags,
            encodes=not (sensitive and cut.is_remote),
        ),
    )


def _chunks(
    identity: str,
    passages: Sequence[Passage],
    *,
    title: str,
    aliases: Sequence[str],
    tags: Sequence[str],
    encodes: bool,
) -> tuple[Chunk, ...]:
    return tuple(
        Chunk(
            id=str(uuid5(UUID(identity), str(ordinal))),
            ordinal=ordinal,
            text=each.text,
            hash=hashlib.sha256(each.text.encode(errors="surrogatepass")).hexdigest(),
            heading_path=each.heading_path,
            line=each.line,
            tokens=each.tokens,
            words=count_words(title=title, aliases=aliases, headings=each.heading_path, tags=tags, body=each.text),
            parts=parts_of(each, title, is_first=ordinal == 0) if encodes else (),
        )
        for ordinal, each in enumerate(passages)
    )


def _topics(note: Note) -> tuple[str, ...]:
    """What the note is about, by its own word: the key `topics` or `topic`, and the topics of its structured lines."""
    listed = note.frontmatter.get("topics", note.frontmatter.get("topic"))
    own = [listed] if isinstance(listed, str) else listed if isinstance(listed, list | tuple) else []
    lines = [each.topics for each in note.observations] + [each.topics for each in note.relations]
    stated = [topic for topics in lines for topic in topics]
    return tuple(dict.fromkeys(str(topic) for topic in (*own, *stated) if topic))


def _conflict(path: str) -> tuple[Problem, ...]:
    original = conflict_copy(path)
    if original is None:
        return ()
    message = f"a sync program left this copy of {original}: merge the two by hand, then remove it"
    return (Problem(path, 0, message, "sync-conflict"),)


def _calendar_time(mtime: float) -> datetime:
    """The moment of a file's time; a time that no calendar has is the first or the last moment that one has."""
    try:
        return datetime.fromtimestamp(mtime, UTC)
    except (ValueError, OverflowError, OSError):
        return (datetime.max if mtime > 0 else datetime.min).replace(tzinfo=UTC)


def _moment(marks: Mapping[str, Any], keys: Sequence[str], *, otherwise: datetime) -> str:
    """The first of the keys that holds a time, in UTC; one without a zone is taken as UTC."""
    for key in keys:
        if found := _time(marks.get(key)):
            with suppress(OverflowError):  # a time of the year 1 or 9999 may have no year in UTC
                return in_utc(found)
    return in_utc(otherwise)


def _time(value: object) -> datetime | None:
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value.strip())
        except ValueError:
            return None
    if isinstance(value, datetime):
        return value if value.tzinfo else value.replace(tzinfo=UTC)
    if isinstance(value, date):
        return datetime(value.year, value.month, value.day, tzinfo=UTC)
    return None


def _word(value: object) -> str:
    return value.strip().casefold() if isinstance(value, str) else ""


def _kept(marks: Mapping[str, Any]) -> Mapping[str, Any]:
    """The frontmatter as JSON can say it, key by key while there is room."""
    kept: dict[str, Any] = {}
    room = _LONGEST_METADATA
    for key, value in marks.items():
        text = json.dumps(value, default=str, ensure_ascii=False)
        room -= len(text) + len(str(key))
        if room < 0:
            break
        kept[str(key)] = json.loads(text)
    return kept


def _digest(*values: object) -> str:
    text = json.dumps(values, ensure_ascii=False)
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()
