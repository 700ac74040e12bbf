"""The changes of one transaction, collected while its block runs and made when it ends."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from commonplace.errors import UsageError
from commonplace.model.layout import wordless_name
from commonplace.model.text import fold_name
from commonplace.vault.base import KIND, Blob, Label, Locator, StorageBackend
from commonplace.vault.contract_errors import path_of


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
    """Move a file to another path."""

    path: str
    destination: str
    expected: str | None


Change = Write | Delete | Move


class Changes:
    """A transaction that only collects: the store makes the `planned` changes when the block ends without an error."""

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
        self._plan(Write(path_of(at, self._store), content, expected))

    def delete(self, at: Locator, *, expected: str | None = None) -> None:
        """Plan to remove the file."""
        self._plan(Delete(path_of(at, self._store), expected))

    def move(self, source: Locator, destination: Locator, *, expected: str | None = None) -> None:
        """Plan to move the file to another path."""
        self._plan(Move(path_of(source, self._store), path_of(destination, self._store), expected))

    def close(self) -> None:
        """Refuse every further call."""
        self._open = False

    def _plan(self, change: Change) -> None:
        self._check_open()
        paths = (change.path, change.destination) if isinstance(change, Move) else (change.path,)
        for path in paths:
            self._name(path)
        self.planned.append(change)

    def _name(self, path: str) -> None:
        key = fold_name(path)
        if key in self._named:
            raise UsageError(
                f"{path} is named twice in one transaction",
                path=path,
                hint="Combine the changes, or use a second transaction; names that differ only in case count as one.",
            )
        self._named.add(key)

    def _check_open(self) -> None:
        if not self._open:
            raise UsageError(
                "this transaction has ended", hint="Open a new one, and make the changes inside its `with` block."
            )


def completed_label(label: Label | None, changes: Sequence[Change]) -> Label:
    """The label with its kind; a transaction without a label is named after what it does."""
    verbs = {_verb(change) for change in changes}
    verb = verbs.pop() if len(verbs) == 1 else "change"
    what = wordless_name(changes[0].path) if len(changes) == 1 else f"{len(changes)} files"
    label = label or Label(f"commonplace: {verb} {what}")
    if any(name == KIND for name, _ in label.trailers):
        return label
    return replace(label, trailers=((KIND, verb), *label.trailers))


def _verb(change: Change) -> str:
    if isinstance(change, Write):
        return "write"
    return "move" if isinstance(change, Move) else "delete"
