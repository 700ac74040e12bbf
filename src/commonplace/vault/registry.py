"""Backends by name: the settings name one, and what cannot be had is said at once."""

from collections.abc import Callable
from pathlib import Path

from commonplace.errors import UsageError
from commonplace.vault.base import StorageBackend

GROUP = "commonplace.backends"
"""The entry points under which other packages offer backends: each names a factory."""

Factory = Callable[[Path | None], StorageBackend]
"""From the folder that the settings name, if they name one, to a store."""


class Registry:
    """The backends that can be chosen: those registered here, then those that installed packages offer."""

    def __init__(self) -> None:
        self._factories: dict[str, Factory] = {}

    def register(self, name: str, factory: Factory) -> None:
        """Offer a backend under that name. Raises UsageError when the name is taken."""
        if name in self._factories:
            raise UsageError(f"a storage backend '{name}' is registered already", hint="Choose another name.")
        self._factories[name] = factory

    def names(self) -> tuple[str, ...]:
        """Every name that can be chosen, in order."""
        return tuple(sorted({*self._factories, *_offered()}))

    def select(self, name: str, *, root: Path | None) -> StorageBackend:
        """The store in that folder. Raises UsageError for an unknown name."""
        factory = self._factories.get(name) or self._load(name)
        return factory(root)

    def _load(self, name: str) -> Factory:
        offers = _offered()
        if name not in offers:
            raise self._unknown(name)
        try:
            return offers[name]()
        except (ImportError, AttributeError) as error:
            raise UsageError(
                f"the storage backend '{name}' cannot be loaded: {error}", hint="Install its package again."
            ) from error

    def _unknown(self, name: str) -> UsageError:
        from difflib import get_close_matches

        known = self.names()
        near = get_close_matches(name, known, n=1)
        meant = f"Did you mean '{near[0]}'? " if near else ""
        return UsageError(
            f"there is no storage backend '{name}'", hint=f"{meant}Known backends: {', '.join(known) or 'none'}."
        )


def _offered() -> dict[str, Callable[[], Factory]]:
    from importlib.metadata import entry_points  # not needed while every name is one of ours

    return {point.name: point.load for point in entry_points(group=GROUP)}
