"""Puts the parts together: the only room that picks implementations."""

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from commonplace.app.encoders import MakeEncoders, make_encoders
from commonplace.app.models import install_model, model_status
from commonplace.app.shelves import conversation_source, make_shelf
from commonplace.app.turns import turns_in
from commonplace.app.vaults import Initialised, backends, copy_sample, init_vault, kept_in, put_under_git
from commonplace.events import emit
from commonplace.facts.claims import rules_of
from commonplace.facts.routes import is_entry_path
from commonplace.flows.converse import Table
from commonplace.flows.forget import forget_notes
from commonplace.flows.ingest import ingest_paths
from commonplace.flows.keeper import Judge, Keeper
from commonplace.flows.occasion import Lectern
from commonplace.flows.overview import OVERVIEW, write_overview
from commonplace.flows.shelf import Shelf
from commonplace.flows.write import Desk
from commonplace.history.base import History
from commonplace.history.inmemory import InMemoryHistory
from commonplace.history.sqlite import SqliteHistory
from commonplace.memory import Contexts, Conversations, Entries, Facts, IndexVerbs, Lint, Memory, Notes, Search, Topics
from commonplace.model import Actor, ActorKind
from commonplace.policy.ignore import ignores
from commonplace.settings import Settings, load_settings
from commonplace.vault.base import StorageBackend

_now = partial(datetime.now, UTC)


def open_memory(
    vault: str | Path | None = None,
    *,
    actor: ActorKind = "person",
    settings: Mapping[str, object] | None = None,
    judge: Judge | None = None,
) -> Memory:
    """The memory of a vault, given by its folder or else by the settings.

    `actor` says who writes: a program that acts for an agent says so, and policy treats it as one.
    `settings` are dotted keys that win over files and environment, such as `{"retrieval.default_k": 5}`.
    `judge` is asked, where rules alone cannot tell, how something new stands to a known fact: a model of your own.
    Raises UsageError for a wrong setting or when no vault is named, VaultUnavailable when it cannot be opened.
    """
    flags = dict(settings or {})
    if vault is not None:
        flags["vault.root"] = str(vault)
    return open_with(load_settings(flags=flags).settings, actor=Actor(actor, "library"), judge=judge)


def open_with(
    settings: Settings,
    *,
    actor: Actor,
    judge: Judge | None = None,
    clock: Callable[[], datetime] = _now,
    is_patient: bool = True,
    encoders: MakeEncoders = make_encoders,
) -> Memory:
    """The memory that these settings describe. Raises as `open_memory` does.

    One that is not `is_patient` searches by words while the encoder is still being loaded. `encoders` finds the encoder
    for the settings: several memories may share one.
    """
    backend = backends(settings.vault).select(settings.vault.backend, root=settings.vault.root)
    emit("vault_opened", level="debug", backend=backend.name, root=str(settings.vault.root or ""))
    history = _history(settings, backend)
    shelves = _Shelves(
        lambda: make_shelf(settings, backend, history, clock=clock, is_patient=is_patient, encoders=encoders)
    )
    desk = Desk(
        vault=backend,
        history=history,
        actor=actor,
        safety=settings.safety,
        message=settings.vault.commit_message,
        ignored=ignores((*settings.vault.ignore_globs, OVERVIEW)),
        clock=clock,
        ingest=shelves.ingest,
        forget=shelves.forget,
        wait=settings.vault.lock_wait_seconds,
    )
    keeper = Keeper(
        desk=desk,
        shelf=shelves.one,
        rules=rules_of(settings.facts, settings.user),
        options=settings.facts,
        turn=turns_in(kept_in(settings, backend), wait=settings.vault.lock_wait_seconds),
        judge=judge,
    )
    return _memory(Lectern(keeper, settings.context), shelves)


def _memory(lectern: Lectern, shelves: "_Shelves") -> Memory:
    """The verbs, each with what it works with."""
    keeper = lectern.keeper
    desk, entries = keeper.desk, Entries(keeper)
    history = desk.history
    table = Table(history, conversation_source(history), desk.actor, clock=desk.clock, shelf=shelves.one)

    def close() -> None:
        history.close()
        shelves.close()

    def acting(actor: Actor) -> Memory:
        return _memory(replace(lectern, keeper=replace(keeper, desk=replace(desk, actor=actor))), shelves)

    return Memory(
        notes=Notes(desk),
        entries=entries,
        facts=Facts(keeper, entries),
        topics=Topics(keeper),
        lint=Lint(keeper),
        conversations=Conversations(table),
        search=Search(shelves.one, desk.actor),
        index=IndexVerbs(shelves.one),
        context=Contexts(lectern),
        acting=acting,
        close=close,
    )


class _Shelves:
    """The one shelf of a memory, made when it is first needed, and kept true to what is written."""

    def __init__(self, make: Callable[[], Shelf]) -> None:
        self._make, self._making = make, threading.Lock()
        self._made: Shelf | None = None

    def one(self) -> Shelf:
        """The shelf."""
        with self._making:  # two threads at first use share one
            self._made = self._made or self._make()
            return self._made

    def ingest(self, paths: Sequence[str]) -> None:
        """Take in what was written."""
        ingest_paths(paths, self.one())
        self._overview(paths)

    def forget(self, paths: Sequence[str], contents: Sequence[bytes]) -> None:
        """Let go of what was erased."""
        forget_notes(paths, contents, self.one())
        self._overview(paths)

    def close(self) -> None:
        """Let go of its files, if there are any."""
        if self._made:
            self._made.index.close()
            self._made.cache.close()

    def _overview(self, paths: Sequence[str]) -> None:
        if any(map(is_entry_path, paths)):
            write_overview(self.one())


def _history(settings: Settings, vault: StorageBackend) -> History:
    folder = kept_in(settings, vault)
    return SqliteHistory(folder / "history.db") if folder else InMemoryHistory()


__all__ = [
    "Initialised",
    "backends",
    "copy_sample",
    "init_vault",
    "install_model",
    "model_status",
    "open_memory",
    "open_with",
    "put_under_git",
]
