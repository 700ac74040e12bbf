"""What a check is made of: the store it is given, the rule it holds, and the words it uses to say that it is broken."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from inspect import getdoc
from types import TracebackType

from commonplace.errors import CommonplaceError, Reason
from commonplace.vault.base import Capability, StorageBackend


class ContractBroken(AssertionError):
    """A backend does not keep a rule of the contract; the message says which."""


@dataclass(frozen=True, slots=True)
class Store:
    """A store to be checked: empty at first; `open` opens that same store each time it is called."""

    open: Callable[[], StorageBackend]


@dataclass(frozen=True, slots=True)
class Check:
    """One rule. Call it with an empty store: it returns, or raises ContractBroken."""

    name: str
    rule: str
    body: Callable[[Store], None]
    needs: Capability | None = None

    def __call__(self, store: Store) -> None:
        """Hold the rule against the store."""
        try:
            self.body(store)
        except CommonplaceError as error:
            raise ContractBroken(f"{self.rule} The store said: {type(error).__name__}: {error}") from error

    def __str__(self) -> str:
        return self.name


def checks(*bodies: Callable[[Store], None], needs: Capability | None = None) -> tuple[Check, ...]:
    """Checks named after their functions; each function's docstring is its rule."""
    return tuple(Check(body.__name__, getdoc(body) or "", body, needs) for body in bodies)


def require(held: object, broken: str) -> None:
    """Raise ContractBroken with that sentence unless the condition holds."""
    if not held:
        raise ContractBroken(broken)


class MustRaise:
    """A block that must end with this error, of this reason if one is given; anything else breaks the contract."""

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
        wanted = self._kind.__name__ + (f"({self._reason})" if self._reason else "")
        if not isinstance(error, self._kind) or self._reason not in (None, error.reason):
            raise ContractBroken(f"{self._when}, {wanted} must be raised, not {error!r}") from error
        self.error = error
        return True


def put(backend: StorageBackend, path: str, content: bytes = b"text\n", *, expected: str | None = None) -> None:
    """Write one file in a transaction of its own."""
    with backend.transaction() as changes:
        changes.write(backend.resolve(path), content, expected=expected)


def filled(store: Store, files: Mapping[str, bytes]) -> StorageBackend:
    """The store, opened, with these files in it."""
    backend = store.open()
    with backend.transaction() as changes:
        for path, content in files.items():
            changes.write(backend.resolve(path), content)
    return backend


def contents(backend: StorageBackend) -> dict[str, bytes]:
    """Everything the store holds: path to bytes."""
    return {stat.path: backend.read(backend.resolve(stat.path)).content for stat in backend.list().files}
