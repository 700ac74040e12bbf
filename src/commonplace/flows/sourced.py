"""A thing of another source than the vault made into a Document: its passages cut where they are too long.

What is said in a conversation is found by itself with the end of what was said before it, and compared sentence by
sentence. Of a program's reply the beginning has a vector: it is long, and its words find the rest.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from commonplace.flows.document import Cut, chunk_of, document_id
from commonplace.model import Chunk, Document
from commonplace.notes.chunks import plain_chunks_of
from commonplace.notes.measure import MARKS, beginning_of
from commonplace.notes.passages import Passage, parts_of
from commonplace.notes.sentences import sentences_of
from commonplace.recalling.words import count_words
from commonplace.sources.base import Passage as Said
from commonplace.sources.base import Sourced

_REPLY: Final = 400  # characters of a program's reply that are encoded: it says first what it is about


@dataclass(frozen=True, slots=True)
class _Piece:
    """A part of what was said, as long as a chunk may be."""

    said: Said
    passage: Passage
    is_first: bool


def sourced_document(sourced: Sourced, cut: Cut, *, user: str, source_type: str, stamp: str, form: str) -> Document:
    """A thing of another source as the index keeps it; `stamp` is the hash by which its source tells that it has
    changed, `form` that of `form_of`."""
    identity = document_id(user, source_type, sourced.source_id)
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
        chunks=tuple(_chunks(sourced, cut, document=identity)),
    )


def _chunks(sourced: Sourced, cut: Cut, *, document: str) -> Iterator[Chunk]:
    encodes = not (sourced.sensitive and cut.is_remote)
    for ordinal, piece in enumerate(_pieces(sourced, cut)):
        said, passage = piece.said, piece.passage
        parts = _parts(piece, sourced, cut, is_top=ordinal == 0) if encodes else ()
        chunk = chunk_of(
            passage,
            document=document,
            ordinal=ordinal,
            words=count_words(
                title="" if said.turn else sourced.title,  # that of a conversation is taken from what is said in it
                aliases=(),
                headings=passage.heading_path,
                tags=sourced.tags,
                body=passage.text,
            ),
            parts=parts,
        )
        sentences = _sentences(piece, parts) if encodes else ()
        yield replace(chunk, sentences=sentences, voice=said.voice, speaker=said.speaker, at=said.at)


def _pieces(sourced: Sourced, cut: Cut) -> Iterator[_Piece]:
    """Each passage whole or cut; those of a turn begin at its number."""
    for said in sourced.passages:
        passages = plain_chunks_of(
            said.text,
            tokens=cut.tokens,
            max_tokens=cut.max_tokens,
            overlap=cut.overlap,
            heading_path=said.heading_path,
        )
        for number, passage in enumerate(passages):
            line = said.turn or passage.line
            yield _Piece(said, replace(passage, line=line), is_first=number == 0)


def _parts(piece: _Piece, sourced: Sourced, cut: Cut, *, is_top: bool) -> tuple[str, ...]:
    """The texts by whose vectors a piece is found; none for what follows the beginning of a reply."""
    said, text = piece.said, piece.passage.text
    if not said.turn:
        return parts_of(piece.passage, sourced.title, is_first=is_top)
    if said.voice == "assistant":
        if not piece.is_first:
            return ()
        text = _beginning(text)
    spoken = f"{said.speaker}: {text}" if said.speaker else text
    under = (said.before if piece.is_first else "", piece.passage.under, spoken)
    whole = "\n".join(filter(None, under))
    return (beginning_of(whole, tokens=cut.tokens, limit=max(cut.max_tokens - MARKS, 1)),)


def _sentences(piece: _Piece, parts: tuple[str, ...]) -> tuple[str, ...]:
    """The sentences of what a person says; none where they are all that is encoded already."""
    if not piece.said.turn or piece.said.voice == "assistant":
        return ()
    found = sentences_of(piece.passage.text)
    return () if found == parts else found


def _beginning(text: str) -> str:
    """The first characters of a reply, to the end of a word."""
    if len(text) <= _REPLY:
        return text
    return text[:_REPLY].rpartition(" ")[0] or text[:_REPLY]
