"""The vaults that the daemon serves: each opened when it is first needed, once, and watched from then on."""

import os
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from commonplace.app import open_with
from commonplace.app.encoders import make_encoders
from commonplace.daemon.registry import Registry
from commonplace.daemon.watchers import Watcher, end_all
from commonplace.errors import CommonplaceError, VaultUnavailable
from commonplace.events import emit
from commonplace.memory import Memory
from commonplace.model import Actor, Caller
from commonplace.settings import load_settings

_ITSELF: Final = Actor("job", "daemon")
_ENDING: Final = 8.0  # seconds that watchers have to end


@dataclass(frozen=True, slots=True)
class Open:
    """A vault that is open: its memory, its watcher, and which folder it was, should another take its place."""

    memory: Memory
    watcher: Watcher
    folder: tuple[int, int]


class Vaults:
    """Every registered vault. Its methods may be called from several threads."""

    def __init__(self, *, flags: Mapping[str, object]) -> None:
        self._flags = {key: value for key, value in flags.items() if key != "vault.root"}
        self._registry = Registry(flags)
        self._open: dict[Path, Open] = {}
        self._turns: dict[Path, threading.Lock] = {}
        self._turn = threading.Lock()
        self._troubles: dict[Path, str] = {}
        self._encoders = cache(make_encoders)  # one model for all vaults that are set alike
        self._is_closed = False

    def memory_for(self, caller: Caller) -> Memory:
        """The memory of the vault that the caller means, in which it acts as an agent.

        Raises NotFound for one that is not registered, VaultUnavailable for one that cannot be opened.
        """
        return self._opened(self._registry.meant(caller.vault)).memory.acting(Actor("agent", caller.name))

    def look(self) -> str:
        """Open and watch every vault that is registered; what cannot be opened is told in `told`. Says how many."""
        for root in self._registry.vaults:
            try:
                self._opened(root)
            except CommonplaceError as error:
                if self._troubles.get(root) != str(error):
                    emit("vault_not_opened", level="warning", vault=str(root), said=str(error))
                self._troubles[root] = str(error)
        return f"{len(self._open)} of {len(self._registry.vaults)} vaults are open"

    def tidy(self) -> str:
        """Let each open vault put its repository in order, where that is due."""
        memories = [each.memory for each in [*self._open.values()]]
        for memory in memories:
            memory.notes.tidy()
        return f"looked at {len(memories)} vaults"

    def told(self) -> list[dict[str, Any]]:
        """What `status` says of each vault. Raises UsageError when the list of them cannot be read."""
        return [self._told_of(root) for root in self._registry.vaults]

    def close(self) -> bool:
        """End the watchers and let go of everything; whether all watchers ended in time."""
        with self._turn:
            self._is_closed = True
        opened = [*self._open.values()]  # one that is being opened at this moment goes with the process
        deadline = time.monotonic() + _ENDING
        ended = end_all([each.watcher for each in opened], within=lambda: deadline - time.monotonic())
        for each in opened:
            if each.watcher.gone(within=0.0):  # else it is still reading, and goes with the process
                each.memory.close()
        return ended

    def _opened(self, root: Path) -> Open:
        with self._turn:
            turn = self._turns.setdefault(root, threading.Lock())
        with turn:  # whoever comes while a vault is being opened waits for it; the other vaults go on
            folder = _folder_at(root)
            found = self._open.get(root)
            if found and found.folder == folder:
                return found
            if found:
                _let_go(self._open.pop(root))
            return self._open_anew(root, folder)

    def _open_anew(self, root: Path, folder: tuple[int, int]) -> Open:
        if self._is_closed:
            raise VaultUnavailable("the daemon is stopping", hint="Start it again: `commonplace serve`.")
        settings = load_settings(flags={**self._flags, "vault.root": str(root)}).settings
        memory = open_with(settings, actor=_ITSELF, is_patient=False, encoders=self._encoders)
        made = self._open[root] = Open(memory, Watcher(root, memory), folder)
        self._troubles.pop(root, None)
        emit("vault_served", vault=str(root))
        return made

    def _told_of(self, root: Path) -> dict[str, Any]:
        told: dict[str, Any] = {"vault": str(root), "name": root.name, "default": root == self._registry.default}
        try:
            found = self._opened(root)
            counts, (mode, without) = found.memory.index.stats(), found.memory.index.readiness()
        except CommonplaceError as error:
            return {**told, "open": False, "said": str(error)}
        told |= {
            "open": True,
            "notes": counts.documents.get("vault", 0),
            "chunks": counts.chunks,
            "mode": mode,
            "without": without,
        }
        return {**told, **found.watcher.told()}


def _folder_at(root: Path) -> tuple[int, int]:
    """Which folder is there now. Raises VaultUnavailable when none is."""
    try:
        found = os.stat(root)
    except OSError as error:
        message = f"the vault's folder is not there: {error.strerror}"
        raise VaultUnavailable(message, path=str(root), hint="Bring it back, or mount its disk.") from error
    return found.st_dev, found.st_ino


def _let_go(found: Open) -> None:
    """Close a vault whose folder is another one now."""
    found.watcher.end()
    found.watcher.gone(within=_ENDING)
    found.memory.close()
