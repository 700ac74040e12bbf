"""The base of the broken backends: an in-memory store with hooks for doing one thing wrong."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from commonplace.testing import Store
from commonplace.vault.base import Capability, Label, OnCommit, StorageBackend
from commonplace.vault.changes import Change, Changes
from commonplace.vault.inmemory import InMemory


class Broken(InMemory):
    """An in-memory store with two methods in which a transaction can be tampered with."""

    capabilities: frozenset[Capability] = frozenset()

    def collect(self) -> Changes:
        """The object that the block of a transaction receives."""
        return Changes(self)

    def amend(self, planned: list[Change]) -> list[Change]:
        """The changes that are really made, out of those that the block planned."""
        return planned

    @contextmanager
    def transaction(
        self, *, wait: float = 10.0, label: Label | None = None, then: OnCommit | None = None
    ) -> Iterator[Changes]:
        with super().transaction(wait=wait, label=label, then=then) as real:
            collected = self.collect()
            try:
                yield collected
            finally:
                collected.close()
            real.planned.extend(self.amend(collected.planned))


class BrokenPersistent(Broken):
    capabilities = frozenset({Capability.PERSISTENT})


class BrokenShared(Broken):
    capabilities = frozenset({Capability.SHARED})


@dataclass(frozen=True)
class Breakage:
    """A broken backend and the one check that it must fail."""

    check: str
    backend: type[Broken]
    remembers: bool

    def store(self) -> Store:
        """An empty store of it."""
        if not self.remembers:
            return Store(open=self.backend)
        backend: StorageBackend = self.backend()
        return Store(open=lambda: backend)

    def __str__(self) -> str:
        return self.backend.__name__


BREAKAGES: list[Breakage] = []


def breaks(check: str, *, remembers: bool = True) -> Callable[[type[Broken]], type[Broken]]:
    """Register a broken backend under the one check that it fails."""

    def register(backend: type[Broken]) -> type[Broken]:
        BREAKAGES.append(Breakage(f"check_{check}", backend, remembers))
        return backend

    return register
