"""What a check is: a rule, the store it runs on, and helpers that raise ContractBroken when the rule is broken."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from inspect import getdoc
from types import TracebackType

from commonplace.errors import CommonplaceError, Reason
from commonplace.vault.base import Capability, StorageBackend


class ContractBroken(AssertionError):
    """A backend breaks a rule of the contract; the message says which."""


@dataclass(frozen=True, slots=True)
class Store:
    """A store to check, empty at first; `open` opens the same store each time it is called."""

    open: Callable[[], StorageBackend]


@dataclass(frozen=True, slots=True)
class ContractCheck:
    """One rule. Call it with an empty store: it returns, or raises ContractBroken."""

    name: str
    rule: str
    body: Callable[[Store], None]
    needs: Capability | None = None

    def __call__(self, store: Store) -> None:
        """Check the rule on this store."""
        try:
            self.body(store)
        except CommonplaceError as error:
            raise ContractBroken(f"{self.rule} The store raised {type(error).__name__}: {error}") from error

    def __str__(self) -> str:
        return self.name


def checks(*bodies: Callable[[Store], None], needs: Capability | None = None) -> tuple[ContractCheck, ...]:
    """Checks named after their functions; each function's docstring is its rule."""
    return tuple(ContractCheck(body.__name__, getdoc(body) or "", body, needs) for body in bodies)


def require(condition: object, message: str) -> None:
    """Raise ContractBroken with that message unless the condition is true."""
    if not condition:
        raise ContractBroken(message)


class MustRaise:
    """A block that must raise this error, with this reason if one is given; anything else is ContractBroken."""

    def __init__(self, kind: type[CommonplaceError], *, reason: Reason | None = None, when: str) -> None:
        self._kind = kind
        self._reason = reason
        self._when = when
        self.error: CommonplaceError | None = None

    def __enter__(self) -> "MustRaise":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if error is not None and not isinstance(error, Exception):
            return False
        expected = self._kind.__name__ + (f"({self._reason})" if self._reason else "")
        if not isinstance(error, self._kind) or self._reason not in (None, error.reason):
            raise ContractBroken(f"{self._when}, {expected} must be raised, not {error!r}") from error
        self.error = error
        return True


def put(backend: StorageBackend, path: str, content: bytes = b"text\n", *, expected: str | None = None) -> None:
    """Write one file in a transaction of its own."""
    with backend.transaction() as changes:
        changes.write(backend.resolve(path), content, expected=expected)


def filled(store: Store, files: Mapping[str, bytes]) -> StorageBackend:
    """Open the store and write these files into it."""
    backend = store.open()
    with backend.transaction() as changes:
        for path, content in files.items():
            changes.write(backend.resolve(path), content)
    return backend


def contents(backend: StorageBackend) -> dict[str, bytes]:
    """All files of the store: path to bytes."""
    return {stat.path: backend.read(backend.resolve(stat.path)).content for stat in backend.list().files}
