"""The shelf of a vault: its index, its cache of vectors, and the encoder that the settings name.

What is imported here costs a tenth of a second and is needed only where something is indexed or searched.
"""

import hashlib
import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Final

from commonplace.app.encoders import make_encoders
from commonplace.app.vaults import data_folder
from commonplace.encoders.heuristic import heuristic_tokens
from commonplace.flows.shelf import Encoders, Shelf
from commonplace.history.base import History
from commonplace.index.base import Index, VectorCache
from commonplace.notes.linker import NoteLinker
from commonplace.policy.ignore import ignores
from commonplace.settings import Settings
from commonplace.vault.base import Skip, StorageBackend

_MOST_PASTS: Final = 8  # indexes of the past that are kept; each holds a whole vault


def make_shelf(settings: Settings, vault: StorageBackend, history: History) -> Shelf:
    """The shelf that these settings describe. Nothing is opened before it is used."""
    encoders = make_encoders(settings.embedding)
    parts = _in_memory(settings) if settings.vault.root is None else _on_disk(settings, encoders)
    return Shelf(
        vault=vault,
        index=parts.index,
        cache=parts.cache,
        encoders=encoders,
        history=history,
        user=settings.user,
        safety=settings.safety,
        retrieval=settings.retrieval,
        max_tokens=settings.embedding.max_tokens,
        overlap=settings.embedding.chunk_overlap,
        rename_window=settings.sources.vault.rename_window_seconds,
        heuristic=heuristic_tokens,
        ignored=_ignored(settings),
        clock=partial(datetime.now, UTC),
        past=parts.past,
        forget_past=parts.forget_past,
    )


def _ignored(settings: Settings) -> Skip:
    source = settings.sources.vault
    if not source.enabled:
        return lambda path: True
    return ignores((*settings.vault.ignore_globs, *source.ignore_globs))


@dataclass(frozen=True, slots=True)
class _Parts:
    index: Index
    cache: VectorCache
    past: Callable[[str], Index]
    forget_past: Callable[[], None]


def _in_memory(settings: Settings) -> _Parts:
    from commonplace.index.inmemory import InMemoryIndex, InMemoryVectorCache

    make = partial(InMemoryIndex, user=settings.user, linker=NoteLinker())
    return _Parts(make(), InMemoryVectorCache(), lambda commit: make(), lambda: None)


def _on_disk(settings: Settings, encoders: Encoders) -> _Parts:
    from commonplace.index.sqlite import SqliteIndex, SqliteVectorCache

    folder = data_folder(settings, settings.vault.root or Path())
    make = partial(SqliteIndex, user=settings.user, linker=NoteLinker())
    index = make(folder / "index" / "index.db")

    def past(commit: str) -> Index:
        place = folder / "past" / f"{commit[:16]}-{_fingerprint(settings, encoders)}"
        place.mkdir(parents=True, exist_ok=True)
        place.touch()
        _drop_oldest(folder / "past")
        return make(place / "index.db")

    return _Parts(
        index,
        SqliteVectorCache(folder / "vectors.db"),
        past,
        lambda: shutil.rmtree(folder / "past", ignore_errors=True),
    )


def _fingerprint(settings: Settings, encoders: Encoders) -> str:
    """What an index of the past depends on beside the commit."""
    version = encoders.current.version if encoders.current else ""
    ignored = (*settings.vault.ignore_globs, *settings.sources.vault.ignore_globs)
    cut = (settings.user, version, settings.embedding.max_tokens, settings.embedding.chunk_overlap)
    return hashlib.sha256(json.dumps([*cut, *ignored]).encode()).hexdigest()[:8]


def _drop_oldest(folder: Path) -> None:
    kept = sorted(folder.iterdir(), key=lambda place: place.stat().st_mtime, reverse=True)
    for place in kept[_MOST_PASTS:]:
        shutil.rmtree(place)
