"""A note made into a Document: cut into chunks, its words counted, its marks read."""

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final
from uuid import UUID, uuid5

from commonplace.facts.claims import FactRules
from commonplace.facts.cues import typed_links
from commonplace.facts.entry import fact_of
from commonplace.facts.lines import line_facts
from commonplace.facts.routes import kind_in
from commonplace.flows.marks import CREATED, UPDATED, bound_of, kept_of, moment_of, time_of, topics_of, word_of
from commonplace.model import Chunk, Document, Fact, Note, Problem, WordCounts
from commonplace.notes.chunks import chunks_of
from commonplace.notes.passages import Passage, parts_of
from commonplace.notes.sentences import sentences_of
from commonplace.policy.options import SafetyOptions
from commonplace.policy.sensitivity import is_sensitive
from commonplace.policy.spaces import place_of
from commonplace.recalling.words import count_words
from commonplace.sources.conflicts import conflict_copy

VAULT: Final = "vault"
_FORM: Final = 4  # counted up when chunks, words, parts or kinds are made in another way, so that all are made anew
_NAMESPACE: Final = UUID("6d1f7a8e-50f4-5c1a-9a52-0b1c3f0d7e21")


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


def form_of(cut: Cut, safety: SafetyOptions, rules: FactRules) -> str:
    """What the settings say of how documents are made: with this `made_from` begins, so that other settings show."""
    marks = (safety.sensitive_frontmatter_key, safety.local_only_frontmatter_key)
    predicates = [sorted(each) for each in (rules.predicates.single, rules.predicates.temporary)]
    return _digest(_FORM, cut.max_tokens, cut.overlap, *marks, *predicates)[:16]


def made_from(note: Note, cut: Cut, *, rules: FactRules, safety: SafetyOptions) -> str:
    """A hash of all that the note's chunks depend on, beside the encoder; their lines in the file are part of it."""
    encodes = not (is_sensitive(note, safety) and cut.is_remote)
    digest = _digest(note.body, note.body_line, note.title, note.aliases, note.tags, time_of(note), encodes)
    return f"{form_of(cut, safety, rules)}-{digest}"


def document_of(note: Note, cut: Cut, *, rules: FactRules, safety: SafetyOptions) -> Document:
    """The note as the index keeps it."""
    passages = chunks_of(note, tokens=cut.tokens, max_tokens=cut.max_tokens, overlap=cut.overlap)
    return _document(note, passages, cut, rules=rules, safety=safety)


def particulars_of(note: Note, cut: Cut, *, rules: FactRules, safety: SafetyOptions) -> Document:
    """The same without the chunks, for a note whose chunks are known already."""
    return _document(note, (), cut, rules=rules, safety=safety)


def _document(
    note: Note, passages: Sequence[Passage], cut: Cut, *, rules: FactRules, safety: SafetyOptions
) -> Document:
    marks, sensitive, user = note.frontmatter, is_sensitive(note, safety), rules.user
    identity = document_id(user, VAULT, note.path)
    facts, oddities = _facts(note, rules, sensitive=sensitive)
    return Document(
        id=identity,
        user=user,
        source_type=VAULT,
        source_id=note.path,
        title=note.title,
        uri=f"vault:{note.path}",
        content_hash=body_hash(note),
        made_from=made_from(note, cut, rules=rules, safety=safety),
        version=cut.version,
        created=moment_of(note, CREATED),
        updated=moment_of(note, UPDATED),
        mtime=note.mtime,
        size=note.size,
        sensitive=sensitive,
        kind=kind_in(word_of(marks.get("kind")) or word_of(marks.get("type")), path=note.path, tags=note.tags),
        status=word_of(marks.get("status")) or "active",
        place=place_of(note.path),
        aliases=note.aliases,
        tags=note.tags,
        topics=topics_of(note),
        links=typed_links(note),
        problems=(*note.problems, *oddities, *_conflict(note.path)),
        metadata={"mtime": note.mtime, "size": note.size, "sensitive": sensitive, "frontmatter": kept_of(marks)},
        chunks=_chunks(note, passages, document=identity, encodes=not (sensitive and cut.is_remote)),
        facts=facts,
        valid_from=bound_of(note, "valid_from"),
        valid_until=bound_of(note, "valid_until"),
    )


def _facts(note: Note, rules: FactRules, *, sensitive: bool) -> tuple[tuple[Fact, ...], tuple[Problem, ...]]:
    """The facts that stand in the note, its own if it is an entry or those of its lines; and what is odd about them."""
    place = place_of(note.path)
    own, problems = fact_of(note, place=place, sensitive=sensitive, rules=rules)
    lines = line_facts(note, place=place, sensitive=sensitive, rules=rules)
    return ((own, *lines) if own else lines), problems


def _chunks(note: Note, passages: Sequence[Passage], *, document: str, encodes: bool) -> tuple[Chunk, ...]:
    at = time_of(note)
    return tuple(
        replace(
            chunk_of(
                each,
                document=document,
                ordinal=ordinal,
                words=count_words(
                    title=note.title,
                    aliases=note.aliases,
                    headings=each.heading_path,
                    tags=note.tags,
                    body=each.text,
                ),
                parts=parts_of(each, note.title, is_first=ordinal == 0) if encodes else (),
            ),
            at=at,
            sentences=_several(sentences_of(each.text)) if encodes else (),
        )
        for ordinal, each in enumerate(passages)
    )


def _several(sentences: tuple[str, ...]) -> tuple[str, ...]:
    """The sentences, if there are two at least: one alone is the chunk itself."""
    return sentences if len(sentences) > 1 else ()


def chunk_of(passage: Passage, *, document: str, ordinal: int, words: WordCounts, parts: tuple[str, ...]) -> Chunk:
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


def _conflict(path: str) -> tuple[Problem, ...]:
    original = conflict_copy(path)
    if original is None:
        return ()
    message = f"a sync program left this copy of {original}: merge the two by hand, then remove it"
    return (Problem(path, 0, message, "sync-conflict"),)


def _digest(*values: object) -> str:
    text = json.dumps(values, ensure_ascii=False)
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()
