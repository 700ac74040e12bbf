"""The shelf of a vault: its index, its cache of vectors, and the encoder that the settings name.

What is imported here costs a tenth of a second and is needed only where something is indexed or searched.
"""

import hashlib
import json
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path

from commonplace.app.encoders import MakeEncoders
from commonplace.app.vaults import kept_in
from commonplace.encoders.heuristic import heuristic_tokens
from commonplace.errors import Refused
from commonplace.facts.claims import rules_of
from commonplace.flows.document import Cut, form_of
from commonplace.flows.overview import OVERVIEW
from commonplace.flows.shelf import Encoders, Shelf
from commonplace.history.base import History
from commonplace.index.base import Index, VectorCache
from commonplace.notes.linker import NoteLinker
from commonplace.notes.sentences import closing_of
from commonplace.policy.ignore import ignores
from commonplace.settings import Settings
from commonplace.sources.conversations import ConversationSource
from commonplace.vault.base import Skip, StorageBackend


def make_shelf(
    settings: Settings,
    vault: StorageBackend,
    history: History,
    *,
    clock: Callable[[], datetime],
    is_patient: bool,
    encoders: MakeEncoders,
) -> Shelf:
    """The shelf that these settings describe. Nothing is opened before it is used."""
    found = encoders(settings.embedding)
    folder = kept_in(settings, vault)
    parts = _on_disk(settings, found, folder) if folder else _in_memory(settings)
    return Shelf(
        vault=vault,
        index=parts.index,
        cache=parts.cache,
        encoders=found,
        history=history,
        user=settings.user,
        rules=rules_of(settings.facts, settings.user),
        safety=settings.safety,
        retrieval=settings.retrieval,
        max_tokens=settings.embedding.max_tokens,
        overlap=settings.embedding.chunk_overlap,
        rename_window=settings.sources.vault.rename_window_seconds,
        heuristic=heuristic_tokens,
        ignored=_ignored(settings),
        clock=clock,
        past=parts.past,
        forget_past=parts.forget_past,
        scratch=parts.scratch,
        sources=(conversation_source(history),) if settings.sources.chat.enabled else (),
        is_patient=is_patient,
    )


def conversation_source(history: History) -> ConversationSource:
    """What is kept of conversations, as the index takes it in."""
    return ConversationSource(history, closing=closing_of)


def _ignored(settings: Settings) -> Skip:
    source = settings.sources.vault
    if not source.enabled:
        return lambda path: True
    return ignores((*settings.vault.ignore_globs, *source.ignore_globs, OVERVIEW))


@dataclass(frozen=True, slots=True)
class _Parts:
    index: Index
    cache: VectorCache
    past: Callable[[str], Index]
    forget_past: Callable[[], None]
    scratch: Callable[[], AbstractContextManager[Index]]


def _in_memory(settings: Settings) -> _Parts:
    from commonplace.index.inmemory import InMemoryIndex, InMemoryVectorCache

    rules = rules_of(settings.facts, settings.user)
    make = partial(InMemoryIndex, user=settings.user, linker=NoteLinker(), rules=rules)
    return _Parts(make(), InMemoryVectorCache(), lambda commit: make(), lambda: None, lambda: nullcontext(make()))


def _on_disk(settings: Settings, encoders: Encoders, folder: Path) -> _Parts:
    from commonplace.app.pasts import Pasts
    from commonplace.app.scratches import Scratches
    from commonplace.index.sqlite import SqliteIndex, SqliteVectorCache

    rules = rules_of(settings.facts, settings.user)
    make = partial(SqliteIndex, user=settings.user, linker=NoteLinker(), rules=rules)
    index = make(folder / "index" / "index.db")

    pasts = Pasts(folder / "past", make, _fingerprint(settings, encoders))
    scratches = Scratches(folder, make)
    cache = SqliteVectorCache(_cache_file(settings, folder))

    def forget() -> None:
        pasts.forget()
        scratches.forget()

    return _Parts(index, cache, pasts.at, forget, scratches.one)


def _cache_file(settings: Settings, folder: Path) -> Path:
    """Where the vectors are kept. Raises Refused for a place inside the vault, where git would take them in."""
    file, root = settings.embedding.cache_file, settings.vault.root
    if file and root and file.resolve().is_relative_to(root.resolve()):
        message = "the vectors may not lie inside the vault"
        raise Refused(message, path=str(file), hint="Name another place in `embedding.cache_file`.")
    return file or folder / "vectors.db"


def _fingerprint(settings: Settings, encoders: Encoders) -> str:
    """What an index of the past depends on beside the commit."""
    encoder, options, source = encoders.current, settings.embedding, settings.sources.vault
    version, is_remote = (encoder.version, encoder.is_remote) if encoder else ("", False)
    cut = Cut(heuristic_tokens, options.max_tokens, options.chunk_overlap, version, is_remote)
    made = (settings.user, form_of(cut, settings.safety, rules_of(settings.facts, settings.user)), version, is_remote)
    left_out = (source.enabled, *settings.vault.ignore_globs, *source.ignore_globs)
    return hashlib.sha256(json.dumps([made, left_out]).encode()).hexdigest()[:8]
