"""The stores of a vault, as the settings describe them: vault and history at once, the index side at first use.

The index side imports a tenth of a second of code, which reading a note does not need. The save lock lets one save run
at a time, in all processes that share a data folder or a database.
"""

import hashlib
import json
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Final

from commonplace.app.encoders import MakeEncoders
from commonplace.app.histories import make_history
from commonplace.app.models import key_in_file, make_allowance, make_members, make_models
from commonplace.app.postgresql import SharedLock, lock_of_machines, postgresql_of, tenant_of
from commonplace.app.vaults import backends, data_folder_of
from commonplace.database.connection import exclusive_lock
from commonplace.encoders.base import heuristic_tokens
from commonplace.errors import Refused, UsageError, VaultUnavailable
from commonplace.events import emit
from commonplace.facts.claims import FactRules, rules_of
from commonplace.flows.ingest.documents import form_of
from commonplace.flows.ingest.memory_index_note import MEMORY_INDEX_NOTE
from commonplace.flows.stores import (
    Chunking,
    Encoders,
    IndexParts,
    OpenOnce,
    Stores,
    thread_try_lock,
)
from commonplace.model.layout import DIGESTS
from commonplace.notes.chunks import last_sentences
from commonplace.notes.link_resolver import NoteLinker
from commonplace.policy.options import ignores
from commonplace.settings.database_vaults import shown_vault, tenant_in
from commonplace.settings.schema import Settings
from commonplace.sources.calendars.base import CalendarReader, CalendarSource, CalendarSources
from commonplace.sources.calendars.config import CalendarConfig, parse_calendars
from commonplace.sources.calendars.https import CalendarServer, checked_address
from commonplace.sources.calendars.options import CalendarOptions
from commonplace.sources.conversations import CHAT, CORRECTION, ISOLATED, TASK, ConversationSource
from commonplace.sources.options import SourcesOptions
from commonplace.upkeep.options import zone_of
from commonplace.vault.base import Skip

_MB: Final = 1_000_000
_POLL: Final = 0.005  # seconds between two tries
_WRITABLE: Final = "Give your user permission to write to it, or name another with --data FOLDER. Reading still works."


def open_stores(
    settings: Settings,
    *,
    clock: Callable[[], datetime],
    waits_for_encoder: bool,
    encoders: MakeEncoders,
) -> Stores:
    """The stores that these settings describe. Raises UsageError and VaultUnavailable."""
    vault = backends(settings).select(settings.vault.backend, root=settings.vault.root)
    emit("vault_opened", level="debug", backend=vault.name, root=_shown(settings.vault.root))
    folder, rules = data_folder_of(settings, vault), rules_of(settings.facts, settings.user)
    history = make_history(settings, folder)
    isolated = frozenset(settings.sources.isolated)
    conversations = ConversationSource(history, closing=last_sentences, isolated=isolated)
    return Stores(
        vault=vault,
        history=history,
        parts=OpenOnce(partial(open_index, settings, folder, rules=rules, encoders=encoders)),
        conversations=conversations,
        sources=tuple(conversations.of_type(each) for each in _thread_types(settings.sources)),
        rules=rules,
        safety=settings.safety,
        retrieval=settings.retrieval,
        facts=settings.facts,
        context=settings.context,
        commit_message=settings.vault.commit_message,
        lock_wait=settings.vault.lock_wait_seconds,
        max_tokens=settings.embedding.max_tokens,
        overlap=settings.embedding.chunk_overlap,
        rename_window=settings.sources.vault.rename_window_seconds,
        ignored=ignores((*settings.vault.ignore_globs, MEMORY_INDEX_NOTE)),
        unindexed=_unindexed(settings),
        clock=clock,
        save_lock=save_lock_in(
            folder, wait=settings.vault.lock_wait_seconds, shared=lock_of_machines(settings, folder, "save")
        ),
        models=make_models(settings.llm, allowance=make_allowance(settings)),
        members=make_members(settings),
        calendars=_calendars(settings),
        waits_for_encoder=waits_for_encoder,
        vault_folder=str(settings.vault.root or ""),
        is_in_folder=settings.vault.root is not None and not tenant_in(settings.vault.root),
        encode_lock=_job_lock(settings, folder, "encode"),
        learn=settings.learn,
        learn_lock=_job_lock(settings, folder, "learn"),
    )


def _shown(root: Path | None) -> str:
    return shown_vault(root) if root else ""


def _thread_types(options: SourcesOptions) -> Iterator[str]:
    """The types of recorded threads that are indexed; what is isolated is one if anything is."""
    enabled = {
        CHAT: options.chat.enabled,
        TASK: options.tasks.enabled,
        CORRECTION: options.corrections.enabled,
    }
    types = [name for name, is_enabled in enabled.items() if is_enabled]
    yield from types
    if types:
        yield ISOLATED


def _unindexed(settings: Settings) -> Skip:
    source = settings.sources.vault
    if not source.enabled:
        return lambda path: True
    return ignores((*settings.vault.ignore_globs, *source.ignore_globs, MEMORY_INDEX_NOTE, f"{DIGESTS}/**"))


def open_index(settings: Settings, folder: Path | None, *, rules: FactRules, encoders: MakeEncoders) -> IndexParts:
    """The index of the vault with that data folder, its vector cache and its encoders; in memory without a folder."""
    chosen = encoders(settings.embedding)
    if settings.index.backend == "postgresql":
        return _in_postgresql(settings, chosen, folder, rules)
    return _on_disk(settings, chosen, folder, rules) if folder else _in_memory(settings, chosen, rules)


def _in_memory(settings: Settings, encoders: Encoders, rules: FactRules) -> IndexParts:
    from commonplace.index.inmemory.store import InMemoryIndex, InMemoryVectorCache

    make = partial(InMemoryIndex, user=settings.user, linker=NoteLinker(), rules=rules)
    return IndexParts(
        make(),
        InMemoryVectorCache(),
        encoders,
        past_index=lambda commit: make(),
        forget_past=lambda: None,
        temporary_index=lambda: nullcontext(make()),
    )


def _on_disk(settings: Settings, encoders: Encoders, folder: Path, rules: FactRules) -> IndexParts:
    from commonplace.app.index_folders import PastIndexes, TemporaryIndexes
    from commonplace.index.sqlite.store import SqliteIndex
    from commonplace.index.sqlite.vector_cache import SqliteVectorCache

    cache = SqliteVectorCache(_cache_file(settings, folder))
    make = partial(SqliteIndex, user=settings.user, linker=NoteLinker(), rules=rules, cache=cache)
    past = PastIndexes(folder / "past", make, _fingerprint(settings, encoders, rules))
    temporary = TemporaryIndexes(folder, make)

    def forget() -> None:
        past.forget()
        temporary.forget()

    return IndexParts(
        make(folder / "index" / "index.db"),
        cache,
        encoders,
        past_index=past.at,
        forget_past=forget,
        temporary_index=temporary.one,
    )


def _in_postgresql(settings: Settings, encoders: Encoders, folder: Path | None, rules: FactRules) -> IndexParts:
    server, tenant = postgresql_of(settings), tenant_of(settings, folder)
    from commonplace.database.postgresql import TenantDatabase
    from commonplace.index.postgresql.builds import NamedBuilds
    from commonplace.index.postgresql.schema import AREA
    from commonplace.index.postgresql.store import PostgresqlIndex
    from commonplace.index.postgresql.vector_cache import PostgresqlVectorCache

    index = PostgresqlIndex(
        server, tenant=tenant, user=settings.user, linker=NoteLinker(), rules=rules, search=settings.index.search
    )
    fingerprint = _fingerprint(settings, encoders, rules)
    others = NamedBuilds(TenantDatabase(server, AREA, tenant=tenant), index.named, fingerprint)
    return IndexParts(
        index,
        PostgresqlVectorCache(server, tenant=tenant),
        encoders,
        past_index=others.past,
        forget_past=others.forget,
        temporary_index=others.temporary,
    )


def _cache_file(settings: Settings, folder: Path) -> Path:
    """The file of the vector cache. Raises Refused if it is inside the vault, where git would commit it."""
    file, root = settings.embedding.cache_file, settings.vault.root
    if file and root and file.resolve().is_relative_to(root.resolve()):
        message = "the vector cache must not be inside the vault"
        raise Refused(message, path=str(file), hint="Choose another path in `embedding.cache_file`.")
    return file or folder / "vectors.db"


def _fingerprint(settings: Settings, encoders: Encoders, rules: FactRules) -> str:
    """A hash of everything besides the commit that an index of the past depends on."""
    encoder, options, source = encoders.current, settings.embedding, settings.sources.vault
    version, is_remote = (encoder.version, encoder.is_remote) if encoder else ("", False)
    chunking = Chunking(heuristic_tokens, options.max_tokens, options.chunk_overlap, version, is_remote)
    made = (settings.user, form_of(chunking, settings.safety, rules), version, is_remote)
    left_out = (source.enabled, *settings.vault.ignore_globs, *source.ignore_globs)
    return hashlib.sha256(json.dumps([made, left_out]).encode()).hexdigest()[:8]


def _job_lock(settings: Settings, folder: Path | None, purpose: str) -> Callable[[], AbstractContextManager[bool]]:
    """The lock of work that one process does at a time; the others leave it to that one."""
    if shared := lock_of_machines(settings, folder, purpose):
        return partial(shared, wait=0.0)
    return partial(_try_lock, folder / f"{purpose}.lock") if folder else thread_try_lock()


@contextmanager
def _try_lock(file: Path) -> Iterator[bool]:
    """True if this process holds the lock, or if nobody can: where no file can be written, no process works."""
    with ExitStack() as held:
        try:
            is_ours = held.enter_context(exclusive_lock(file, wait=0.0))
        except OSError:
            is_ours = True
        yield is_ours


def save_lock_in(
    folder: Path | None, *, wait: float, shared: SharedLock | None = None
) -> Callable[[], AbstractContextManager[None]]:
    """A lock to hold from reading what is known until the index has what was written.

    `shared` is the lock of machines that share a database. Entering raises VaultUnavailable (reason `locked`) after
    `wait` seconds.
    """
    own = threading.Lock()

    @contextmanager
    def lock() -> Iterator[None]:
        if not own.acquire(timeout=wait):
            raise _timeout(wait)
        try:
            with _process_lock(folder, wait=wait), _shared_lock(shared, wait=wait):
                yield
        finally:
            own.release()

    return lock


@contextmanager
def _shared_lock(shared: SharedLock | None, *, wait: float) -> Iterator[None]:
    if shared is None:
        yield
        return
    with shared(wait=wait) as is_ours:
        if not is_ours:
            raise _timeout(wait)
        yield


@contextmanager
def _process_lock(folder: Path | None, *, wait: float) -> Iterator[None]:
    if folder is None:
        yield
        return
    from filelock import FileLock, Timeout  # forty milliseconds that reading does not need

    lock = FileLock(folder / "remember.lock")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock.acquire(timeout=wait, poll_interval=_POLL)
    except Timeout as error:
        raise _timeout(wait) from error
    except OSError as error:
        message = f"the data folder cannot be written: {error.strerror or error}"
        raise VaultUnavailable(message, path=str(folder), hint=_WRITABLE) from error
    try:
        yield
    finally:
        lock.release()


def _timeout(wait: float) -> VaultUnavailable:
    return VaultUnavailable(
        f"other processes have been saving for {wait:g} seconds",
        reason="locked",
        hint="Try again, or raise the setting vault.lock_wait_seconds.",
    )


def _calendars(settings: Settings) -> CalendarSources:
    """The calendars that the settings name, each with its reader. Secrets are read when a calendar is."""
    options = settings.calendar
    configs = parse_calendars(options.calendars)
    sources = tuple(CalendarSource(each, partial(_calendar_reader, each, options)) for each in configs)
    return CalendarSources(sources, options, zone_of(settings.upkeep))


def _calendar_reader(config: CalendarConfig, options: CalendarOptions) -> CalendarReader:
    """The reader of a calendar. Raises UsageError if its secret cannot be read."""
    if config.kind == "file":
        from commonplace.sources.calendars.files import FileReader

        return FileReader(Path(config.path).expanduser(), int(options.max_mb * _MB))
    secret = _calendar_secret(config)
    if config.kind == "caldav":
        from commonplace.sources.calendars.caldav import CalDavReader

        return CalDavReader(partial(_calendar_server, config, options, address=config.caldav, password=secret))
    from commonplace.sources.calendars.files import AddressReader

    return AddressReader(partial(_calendar_server, config, options, address=secret))


def _calendar_server(
    config: CalendarConfig, options: CalendarOptions, *, address: str, password: str = ""
) -> CalendarServer:
    """The server for one reading, whose limits begin now. Its label has the host alone."""
    return CalendarServer(
        address,
        label=f"the calendar {config.name} at {checked_address(address).hostname}",
        deadline=time.monotonic() + options.timeout_seconds,
        max_bytes=int(options.max_mb * _MB),
        user=config.user,
        password=password,
        allows_private=config.allows_private,
    )


def _calendar_secret(config: CalendarConfig) -> str:
    """The address or the password; empty for a server without one. Raises UsageError."""
    again = f"Remove the calendar and add it again: `commonplace calendar remove {config.name}`."
    if config.secret_file:
        return key_in_file(Path(config.secret_file).expanduser(), hint=again)
    if not config.secret_env:
        return ""
    if secret := os.environ.get(config.secret_env, "").strip():
        return secret
    message = f"the environment variable {config.secret_env} of the calendar {config.name} is empty"
    raise UsageError(
        message, hint="Set it, or add the calendar again with a file: a service has no variables of yours."
    )
