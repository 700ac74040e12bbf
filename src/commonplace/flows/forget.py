"""Forgetting: what the index, its caches and the log of model calls hold of what was erased goes with it."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from commonplace.errors import ProviderFailed
from commonplace.events import emit
from commonplace.flows.document import VAULT, Cut, document_of
from commonplace.flows.encode import text_hash
from commonplace.flows.shelf import Shelf
from commonplace.flows.sourced import sourced_document
from commonplace.model import Document, Note
from commonplace.notes import parse
from commonplace.sources.base import Sourced


def forget_notes(paths: Sequence[str], contents: Iterable[bytes], shelf: Shelf) -> None:
    """Leave nothing of the notes at these paths in the index, nor in an index of the past.

    With them go the cached vectors and the logged calls of their texts: those that the index has, and those of all
    these contents as they are cut today. What other settings made of an earlier text cannot be found by it: such a
    vector or row holds no text, and a vector that is no longer used goes with a later rebuild.
    """
    hashes = {each for path in paths for each in shelf.index.part_hashes(VAULT, path)}
    for path in paths:
        shelf.index.erase(VAULT, path)
    notes = (parse(content, path=path, mtime=0.0) for content in contents for path in paths)
    hashes |= {each for note in notes for each in _hashes(_making(note, shelf), shelf)}
    _forget_texts(hashes, shelf)
    shelf.forget_past()


def forget_sourced(source_type: str, thing: Sourced, shelf: Shelf) -> None:
    """Leave nothing of a thing of another source in the index; its vectors and calls go as those of a note do."""
    hashes = {*shelf.index.part_hashes(source_type, thing.source_id)}
    shelf.index.erase(source_type, thing.source_id)

    def make(cut: Cut) -> Document:
        return sourced_document(thing, cut, user=shelf.user, source_type=source_type, stamp="", form="")

    _forget_texts({*hashes, *_hashes(make, shelf)}, shelf)


def _forget_texts(hashes: Iterable[str], shelf: Shelf) -> None:
    known = sorted(hashes)
    shelf.cache.forget(known)
    shelf.history.forget_calls(known)


def _making(note: Note, shelf: Shelf) -> Callable[[Cut], Document]:
    return lambda cut: document_of(note, cut, rules=shelf.rules, safety=shelf.safety)


def _hashes(make: Callable[[Cut], Document], shelf: Shelf) -> Iterator[str]:
    """The hashes of what is encoded of a document, cut for the encoder there is and as it would be without one."""
    of_today = replace(shelf.cut, is_remote=False)  # what is sensitive may have been encoded here before
    for cut in (of_today, replace(of_today, tokens=shelf.heuristic)):
        try:
            document = make(cut)
        except ProviderFailed as failure:
            emit("encoder_failed", level="warning", said=str(failure))
            continue
        yield from (text_hash(text) for chunk in document.chunks for text in (*chunk.parts, *chunk.sentences))
