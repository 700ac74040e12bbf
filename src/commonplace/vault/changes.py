"""The changes of one transaction, collected while its block runs and carried out when it ends."""

from dataclasses import dataclass

from commonplace.errors import UsageError
from commonplace.vault.base import Blob, Locator, StorageBackend
from commonplace.vault.paths import name_key
from commonplace.vault.rules import own


@dataclass(frozen=True, slots=True)
class Write:
    """Create or replace a file."""

    path: str
    content: bytes
    expected: str | None


@dataclass(frozen=True, slots=True)
class Delete:
    """Remove a file."""

    path: str
    expected: str | None


@dataclass(frozen=True, slots=True)
class Move:
    """Give a file another path."""

    path: str
    destination: str
    expected: str | None


Change = Write | Delete | Move


class Changes:
    """A transaction that only takes notes: the store carries out `planned` when the block has ended well."""

    def __init__(self, store: StorageBackend) -> None:
        self._store = store
        self._open = True
        self._named: set[str] = set()
        self.planned: list[Change] = []

    def read(self, at: Locator) -> Blob:
        """The file as it is now, before any change of this transaction."""
        self._check_open()
        return self._store.read(at)

    def write(self, at: Locator, content: bytes, *, expected: str | None = None) -> None:
        """Plan to create or replace the file."""
        self._plan(Write(own(at, self._store), content, expected))

    def delete(self, at: Locator, *, expected: str | None = None) -> None:
        """Plan to remove the file."""
        self._plan(Delete(own(at, self._store), expected))

    def move(self, source: Locator, destination: Locator, *, expected: str | None = None) -> None:
        """Plan to give the file another path."""
        self._plan(Move(own(source, self._store), own(destination, self._store), expected))

    def close(self) -> None:
        """From now on, refuse every call."""
        self._open = False

    def _plan(self, change: Change) -> None:
        self._check_open()
        paths = (change.path, change.destination) if isinstance(change, Move) else (change.path,)
        for path in paths:
            self._name(path)
        self.planned.append(change)

    def _name(self, path: str) -> None:
        key = name_key(path)
        if key in self._named:
            raise UsageError(
                f"{path} is named twice in one transaction",
                path=path,
                hint="Make one change of it, or a second transaction; names that differ in case count as one.",
            )
        self._named.add(key)

    def _check_open(self) -> None:
        if not self._open:
            raise UsageError(
                "this transaction has ended", hint="Open a new one, and make the changes inside its `with` block."
            )
