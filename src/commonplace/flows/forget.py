"""Forgetting: what the index, its caches and the log of model calls hold of an erased note goes with it."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from commonplace.flows.document import VAULT, document_of
from commonplace.flows.encode import text_hash
from commonplace.flows.shelf import Shelf
from commonplace.notes import parse


def forget_notes(paths: Sequence[str], contents: Iterable[bytes], shelf: Shelf) -> None:
    """Leave no trace of the notes at these paths, nor of the vectors of any text that they ever had."""
    for path in paths:
        shelf.index.erase(VAULT, path)
    hashes = sorted({each for content in contents for path in paths for each in _hashes(path, content, shelf)})
    shelf.cache.forget(hashes)
    shelf.history.forget_calls(hashes)
    shelf.forget_past()


def _hashes(path: str, content: bytes, shelf: Shelf) -> Iterable[str]:
    note = parse(content, path=path, mtime=0.0)
    cut = replace(shelf.cut, is_remote=False)  # what is sensitive may have been encoded here before
    document = document_of(note, cut, user=shelf.user, safety=shelf.safety)
    return (text_hash(part) for chunk in document.chunks for part in chunk.parts)
