"""Forgetting: what the index, its caches and the log of model calls hold of an erased note goes with it."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from commonplace.errors import ProviderFailed
from commonplace.events import emit
from commonplace.flows.document import VAULT, document_of
from commonplace.flows.encode import text_hash
from commonplace.flows.shelf import Shelf
from commonplace.notes import parse


def forget_notes(paths: Sequence[str], contents: Iterable[bytes], shelf: Shelf) -> None:
    """Leave nothing of the notes at these paths in the index, nor in an index of the past.

    With them go the cached vectors and the logged calls of their texts: those that the index has, and those of all
    these contents as they are cut today. What other settings made of an earlier text cannot be found by it: such a
    vector or row holds no text, and a vector that is no longer used goes with a later rebuild.
    """
    hashes = {each for path in paths for each in shelf.index.part_hashes(VAULT, path)}
    for path in paths:
        shelf.index.erase(VAULT, path)
    hashes |= {each for content in contents for path in paths for each in _hashes(path, content, shelf)}
    shelf.cache.forget(sorted(hashes))
    shelf.history.forget_calls(sorted(hashes))
    shelf.forget_past()


def _hashes(path: str, content: bytes, shelf: Shelf) -> Iterator[str]:
    """The hashes of what is encoded of the note, cut for the encoder there is and as it would be without one."""
    note = parse(content, path=path, mtime=0.0)
    of_today = replace(shelf.cut, is_remote=False)  # what is sensitive may have been encoded here before
    for cut in (of_today, replace(of_today, tokens=shelf.heuristic)):
        try:
            document = document_of(note, cut, user=shelf.user, safety=shelf.safety)
        except ProviderFailed as failure:
            emit("encoder_failed", level="warning", said=str(failure))
            continue
        yield from (text_hash(part) for chunk in document.chunks for part in chunk.parts)
