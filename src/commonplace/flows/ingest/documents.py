"""A note or an item of another source as a document of the index: its chunks, words, links, facts and metadata."""

import hashlib
import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Final
from uuid import UUID, uuid5

from commonplace.facts.claims import FactRules
from commonplace.facts.cues import text_about
from commonplace.facts.entry_format import is_entry, read_entry
from commonplace.facts.entry_paths import id_digits, note_kind
from commonplace.facts.line_facts import line_facts, typed_links
from commonplace.flows.cues import counting_cue, counting_when
from commonplace.flows.stores import Chunking
from commonplace.model import Chunk, Document, Fact, Note, Problem, WordCounts
from commonplace.model.layout import place_of, wordless_name
from commonplace.model.moment import moment_text, read_moment
from commonplace.notes.chunks import TextChunk, chunk_note, chunk_text, sentences_of, texts_to_encode
from commonplace.notes.text_splitter import SPECIAL_TOKENS, truncate_to_tokens
from commonplace.policy.options import SafetyOptions
from commonplace.policy.sensitivity import is_sensitive
from commonplace.questions.words import count_words
from commonplace.sources.base import SourceItem, SourcePassage
from commonplace.sources.renames import original_of_conflict

VAULT: Final = "vault"
_FORM: Final = (
    14  # incremented when chunks, words, parts, kinds, places or facts are made differently: all are made again
)
_NAMESPACE: Final = UUID("6d1f7a8e-50f4-5c1a-9a52-0b1c3f0d7e21")
_UPDATED_KEYS: Final = ("updated", "modified", "date")
_CREATED_KEYS: Final = ("created", "date")
_DATE_KEYS: Final = ("date", "created")
_DAY: Final = re.compile(r"(?<!\d)\d{4}-\d{2}-\d{2}(?!\d)", re.ASCII)
_LONGEST_METADATA: Final = 4000  # characters of frontmatter that a hit carries


def document_of(
    note: Note,
    chunking: Chunking,
    *,
    rules: FactRules,
    safety: SafetyOptions,
    programs: Collection[str] = (),
    latest: str = "",
) -> Document:
    """The note as the index stores it; `programs` are the keys of the lines that programs wrote (`line_writers`).

    An entry cannot have been recorded after the `latest` moment.
    """
    passages = chunk_note(note, tokens=chunking.tokens, max_tokens=chunking.max_tokens, overlap=chunking.overlap)
    facts = _facts(note, rules, sensitive=is_sensitive(note, safety), programs=programs, latest=latest)
    return _document(note, passages, chunking, rules=rules, safety=safety, read=facts)


def document_without_chunks(
    note: Note,
    chunking: Chunking,
    *,
    rules: FactRules,
    safety: SafetyOptions,
    programs: Collection[str] = (),
    latest: str = "",
) -> Document:
    """The note as the index stores it, without chunks: for one whose chunks are unchanged."""
    facts = _facts(note, rules, sensitive=is_sensitive(note, safety), programs=programs, latest=latest)
    return _document(note, (), chunking, rules=rules, safety=safety, read=facts)


def document_id(user: str, source_type: str, source_id: str) -> str:
    """The document's id: equal for one user, source and path on every machine."""
    return str(uuid5(_NAMESPACE, json.dumps([user, source_type, source_id])))


def body_hash(note: Note) -> str:
    """The sha256 of the note's text without its frontmatter."""
    return hashlib.sha256(note.body.encode(errors="surrogatepass")).hexdigest()


def form_of(chunking: Chunking, safety: SafetyOptions, rules: FactRules) -> str:
    """A hash of the settings that documents depend on. `made_from` begins with it, so that a changed setting shows."""
    keys = (safety.sensitive_frontmatter_key, safety.local_only_frontmatter_key)
    predicates = [sorted(each) for each in (rules.predicates.single, rules.predicates.temporary)]
    return _digest(_FORM, chunking.max_tokens, chunking.overlap, *keys, *predicates)[:16]


def made_from(note: Note, chunking: Chunking, *, rules: FactRules, safety: SafetyOptions) -> str:
    """A hash of everything the note's chunks depend on besides the encoder, their lines in the file included."""
    sensitive = is_sensitive(note, safety)
    note, encodes = _without_words(note) if sensitive else note, not (sensitive and chunking.is_remote)
    cues = _cues_of(note) if is_entry(note) else None
    digest = _digest(note.body, note.body_line, note.title, note.aliases, note.tags, _date_of(note), encodes, cues)
    return f"{form_of(chunking, safety, rules)}-{digest}"


def _digest(*values: object) -> str:
    text = json.dumps(values, ensure_ascii=False)
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()


def _document(
    note: Note,
    passages: Sequence[TextChunk],
    chunking: Chunking,
    *,
    rules: FactRules,
    safety: SafetyOptions,
    read: "_ReadFacts",
) -> Document:
    sensitive, user = is_sensitive(note, safety), rules.user
    note = _without_words(note) if sensitive else note
    keys = note.frontmatter
    id_ = document_id(user, VAULT, note.path)
    facts, problems = read
    return Document(
        id=id_,
        user=user,
        source_type=VAULT,
        source_id=note.path,
        title=note.title,
        uri=f"vault:{note.path}",
        content_hash=body_hash(note),
        made_from=made_from(note, chunking, rules=rules, safety=safety),
        version=chunking.version,
        created=_time_of(note, _CREATED_KEYS),
        updated=_time_of(note, _UPDATED_KEYS),
        mtime=note.mtime,
        size=note.size,
        sensitive=sensitive,
        kind=note_kind(_word(keys.get("kind")) or _word(keys.get("type")), path=note.path, tags=note.tags),
        status=_word(keys.get("status")) or "active",
        place=place_of(note.path),
        aliases=note.aliases,
        tags=note.tags,
        topics=_topics_of(note),
        links=typed_links(note),
        problems=(*note.problems, *problems, *_sync_conflict(note.path)),
        metadata={"mtime": note.mtime, "size": note.size, "sensitive": sensitive, "frontmatter": _as_json(keys)},
        chunks=_chunks(
            note,
            passages,
            document=id_,
            encoded_title="" if _is_named_by_us(note, facts) else note.title,
            encodes=not (sensitive and chunking.is_remote),
            own=next((fact for fact in facts if fact.origin == "entry"), None),
        ),
        facts=facts,
        valid_from=_moment(keys, ("valid_from",)),
        valid_until=_moment(keys, ("valid_until",)),
        is_dated=bool(_moment(keys, _UPDATED_KEYS)),
    )


_ReadFacts = tuple[tuple[Fact, ...], tuple[Problem, ...]]


def _facts(note: Note, rules: FactRules, *, sensitive: bool, programs: Collection[str], latest: str) -> _ReadFacts:
    """The facts in the note, its own if it is an entry and those of its lines; and the problems with them."""
    place = place_of(note.path)
    own, problems = read_entry(note, place=place, sensitive=sensitive, rules=rules, latest=latest)
    lines = line_facts(note, place=place, sensitive=sensitive, rules=rules, programs=programs)
    return ((own, *lines) if own else lines), problems


def _without_words(note: Note) -> Note:
    """The sensitive note with a title that tells nothing of it: the name of an entry is made of its words."""
    return replace(note, title=wordless_name(note.path)) if is_entry(note) else note


def _is_named_by_us(note: Note, facts: Sequence[Fact]) -> bool:
    """True for an entry whose file name is made of its words and of digits of its id: it says nothing of its own.

    Encoded, the digits would make two entries with the same words differ.
    """
    return any(fact.origin == "entry" and note.title.endswith(f"-{id_digits(fact.id)}") for fact in facts)


def _cues_of(note: Note) -> Sequence[str]:
    """All keys of an entry from which its cues are read."""
    return [str(note.frontmatter.get(key, "")) for key in ("about", "when", "triggers")]


def _chunks(
    note: Note,
    passages: Sequence[TextChunk],
    *,
    document: str,
    encoded_title: str,
    encodes: bool,
    own: Fact | None,
) -> tuple[Chunk, ...]:
    """The chunks. The first one of an entry, `own`, can be found by its cues, too."""
    at = _date_of(note)
    own_cues = (counting_cue(own.about), counting_when(own.when)) if own else ("", "")
    chunks = []
    for ordinal, passage in enumerate(passages):
        about, when = own_cues if ordinal == 0 else ("", "")
        words = count_words(
            title=note.title,
            aliases=note.aliases,
            headings=passage.heading_path,
            tags=note.tags,
            body="\n".join(filter(None, (passage.text, about, when))),
        )
        parts = texts_to_encode(passage, encoded_title, is_first=ordinal == 0) if encodes else ()
        if parts:
            parts = (text_about(parts[0], about), *parts[1:], *filter(None, (when,)))
        chunk = chunk_of(passage, document=document, ordinal=ordinal, words=words, parts=parts)
        sentences = sentences_of(passage.text) if encodes else ()
        chunks.append(replace(chunk, at=at, sentences=sentences if len(sentences) > 1 else ()))  # one is the chunk
    return tuple(chunks)


def chunk_of(passage: TextChunk, *, document: str, ordinal: int, words: WordCounts, parts: tuple[str, ...]) -> Chunk:
    """The passage as a chunk of the document with that id."""
    return Chunk(
        id=str(uuid5(UUID(document), str(ordinal))),
        ordinal=ordinal,
        text=passage.text,
        hash=hashlib.sha256(passage.text.encode(errors="surrogatepass")).hexdigest(),
        heading_path=passage.heading_path,
        line=passage.line,
        tokens=passage.tokens,
        words=words,
        parts=parts,
    )


def _date_of(note: Note) -> str:
    """The time the note is about: its date, or the day in its file name; empty if it has neither.

    The file's mtime only says when something was written down.
    """
    in_name = (match.group() for match in _DAY.finditer(note.path.rpartition("/")[2]))
    return _moment(note.frontmatter, _DATE_KEYS) or next((at for day in in_name if (at := read_moment(day))), "")


def _time_of(note: Note, keys: Sequence[str]) -> str:
    """The time in the first of the keys that has one, or else the file's mtime; in UTC."""
    return _moment(note.frontmatter, keys) or moment_text(calendar_time(note.mtime))


def _moment(frontmatter: Mapping[str, Any], keys: Sequence[str]) -> str:
    return next((at for key in keys if (at := read_moment(frontmatter.get(key)))), "")


def calendar_time(mtime: float) -> datetime:
    """An mtime as a datetime; one that the calendar does not have becomes its first or last moment."""
    try:
        return datetime.fromtimestamp(mtime, UTC)
    except (ValueError, OverflowError, OSError):
        return (datetime.max if mtime > 0 else datetime.min).replace(tzinfo=UTC)


def _topics_of(note: Note) -> tuple[str, ...]:
    """The topics that the note states: in the key `topics` or `topic`, and in its structured lines."""
    listed = note.frontmatter.get("topics", note.frontmatter.get("topic"))
    own = listed.split(",") if isinstance(listed, str) else listed if isinstance(listed, list | tuple) else []
    lines = [each.topics for each in note.observations] + [each.topics for each in note.relations]
    stated = [topic for topics in lines for topic in topics]
    names = (str(topic).strip().lstrip("#") for topic in (*own, *stated) if topic)
    return tuple(dict.fromkeys(name for name in names if name))


def _word(value: object) -> str:
    """The value without case if it is text, else empty."""
    return value.strip().casefold() if isinstance(value, str) else ""


def _as_json(frontmatter: Mapping[str, Any]) -> Mapping[str, Any]:
    """The frontmatter as JSON values; a value for which there is no room is left out."""
    values: dict[str, Any] = {}
    room = _LONGEST_METADATA
    for key, value in frontmatter.items():
        text = json.dumps(value, default=str, ensure_ascii=False)
        size = len(text) + len(str(key))
        if size <= room:
            room -= size
            values[str(key)] = json.loads(text)
    return values


def _sync_conflict(path: str) -> tuple[Problem, ...]:
    original = original_of_conflict(path)
    if original is None:
        return ()
    message = f"a sync program left this copy of {original}: merge the two by hand, then remove it"
    return (Problem(path, 0, message, "sync-conflict"),)


_REPLY: Final = 400  # characters of a program's reply that are encoded: the beginning says what it is about


@dataclass(frozen=True, slots=True)
class _Piece:
    """A part of a passage, as long as a chunk may be."""

    passage: SourcePassage
    text: TextChunk
    is_first: bool


def source_document(
    item: SourceItem, chunking: Chunking, *, user: str, source_type: str, stamp: str, form: str
) -> Document:
    """The item as the index stores it; `stamp` is the source's hash of its state, `form` the result of `form_of`."""
    id_ = document_id(user, source_type, item.source_id)
    return Document(
        id=id_,
        user=user,
        source_type=source_type,
        source_id=item.source_id,
        title=item.title,
        uri=item.uri,
        content_hash=stamp,
        made_from=f"{form}-{stamp}",
        version=chunking.version,
        created=item.created,
        updated=item.updated,
        mtime=0.0,
        size=sum(len(each.text.encode(errors="surrogatepass")) for each in item.passages),
        sensitive=item.sensitive,
        kind=item.kind,
        status="active",
        place="",
        aliases=(),
        tags=item.tags,
        topics=item.topics,
        links=(),
        problems=(),
        metadata={**item.metadata, "sensitive": item.sensitive},
        chunks=tuple(_source_chunks(item, chunking, document=id_)),
    )


def _source_chunks(item: SourceItem, chunking: Chunking, *, document: str) -> Iterator[Chunk]:
    encodes = not (item.sensitive and chunking.is_remote)
    for ordinal, piece in enumerate(_pieces(item, chunking)):
        passage, text = piece.passage, piece.text
        parts = _parts(piece, item, chunking, is_top=ordinal == 0) if encodes else ()
        words = count_words(
            title="" if passage.turn else item.title,  # a conversation's title is taken from its turns
            aliases=(),
            headings=text.heading_path,
            tags=item.tags,
            body=text.text,
        )
        chunk = chunk_of(text, document=document, ordinal=ordinal, words=words, parts=parts)
        sentences = _sentences(piece, parts) if encodes else ()
        yield replace(chunk, sentences=sentences, voice=passage.voice, speaker=passage.speaker, at=passage.at)


def _pieces(item: SourceItem, chunking: Chunking) -> Iterator[_Piece]:
    """Each passage, whole or chunked; the line of a turn's pieces is the number of the turn."""
    for passage in item.passages:
        texts = chunk_text(
            passage.text,
            tokens=chunking.tokens,
            max_tokens=chunking.max_tokens,
            overlap=chunking.overlap,
            heading_path=passage.heading_path,
        )
        for number, text in enumerate(texts):
            yield _Piece(passage, replace(text, line=passage.turn or text.line), is_first=number == 0)


def _parts(piece: _Piece, item: SourceItem, chunking: Chunking, *, is_top: bool) -> tuple[str, ...]:
    """The texts whose vectors find the piece; none after the beginning of a reply."""
    passage, text = piece.passage, piece.text.text
    if not passage.turn:
        return texts_to_encode(piece.text, item.title, is_first=is_top)
    if passage.voice == "assistant":
        if not piece.is_first:
            return ()
        text = _beginning(text)
    spoken = f"{passage.speaker}: {text}" if passage.speaker else text
    lines = (passage.before if piece.is_first else "", piece.text.heading_line, spoken)
    whole = "\n".join(filter(None, lines))
    limit = max(chunking.max_tokens - SPECIAL_TOKENS, 1)
    return (truncate_to_tokens(whole, tokens=chunking.tokens, limit=limit),)


def _sentences(piece: _Piece, parts: tuple[str, ...]) -> tuple[str, ...]:
    """The sentences of a person's turn; none if they are what is encoded anyway."""
    if not piece.passage.turn or piece.passage.voice == "assistant":
        return ()
    sentences = sentences_of(piece.text.text)
    return () if sentences == parts else sentences


def _beginning(text: str) -> str:
    """The first characters of a reply, up to the end of a word."""
    if len(text) <= _REPLY:
        return text
    return text[:_REPLY].rpartition(" ")[0] or text[:_REPLY]
