"""Hits: what was ranked, read from the index and made ready to be shown to whoever asked."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from commonplace.index.base import Found, Reading, Weighing
from commonplace.model import Filters, Hit
from commonplace.recalling.fuse import Ranked
from commonplace.recalling.snippets import snippet

SNIPPET_WIDTH: Final = 320  # characters of a hit that a terminal shows
_TITLES: Final = Weighing(fields=(1, 0, 0, 0, 0))


def hit_of(found: Found, ranked: Ranked, *, words: Sequence[str], shows: bool) -> Hit:
    """The chunk as a hit; where it `shows`, with the part of its text that has most of the words."""
    document, chunk = found.document, found.chunk
    seen = snippet(chunk.text, words, width=SNIPPET_WIDTH) if shows else None
    return Hit(
        chunk_id=chunk.id,
        document_id=document.id,
        source_type=document.source_type,
        path=document.source_id,
        title=document.title,
        heading_path=chunk.heading_path,
        line=chunk.line,
        text=chunk.text,
        score=ranked.score,
        cosine=ranked.cosine,
        sensitive=document.sensitive,
        updated=document.updated,
        metadata={**document.metadata, **_turn(found)},
        why=ranked.why,
        snippet=seen.text if seen else "",
        marks=seen.marks if seen else (),
    )


def _turn(found: Found) -> Mapping[str, Any]:
    """Of a turn in a conversation: which one, who speaks, and when."""
    chunk = found.chunk
    if not chunk.voice:
        return {}
    return {"turn": chunk.line, "role": chunk.voice, "speaker": chunk.speaker, "at": chunk.at}


def withheld_titles(reading: Reading, words: Sequence[str], *, path: str, limit: int) -> tuple[Hit, ...]:
    """For those who may not see sensitive text: sensitive documents that have a word of the question in the title.

    Nothing else of them is searched: an answer that depends on a text tells what stands in it.
    """
    filters = Filters(path=path, sensitive="only")
    matches = reading.match_words(words, filters, limit=limit, weighing=_TITLES).matches
    documents = {each.document.id: each for each in reading.found([match.number for match in matches])}
    return tuple(map(_withheld, documents.values()))


def _withheld(found: Found) -> Hit:
    """A sensitive document as those see it who may know that it is there: its title and its path."""
    document = found.document
    return Hit(
        chunk_id=found.chunk.id,
        document_id=document.id,
        source_type=document.source_type,
        path=document.source_id,
        title=document.title,
        heading_path=(),
        line=0,
        text="",
        score=0.0,
        cosine=None,
        sensitive=True,
        updated=document.updated,
        metadata={"sensitive": True},
        why={"title": {"withheld": "the text is sensitive"}},
    )
