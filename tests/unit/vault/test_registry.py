"""Selecting a backend by name."""

from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path

import pytest

from commonplace.app.vaults import GROUP, BackendRegistry
from commonplace.errors import UsageError
from commonplace.vault.base import StorageBackend
from commonplace.vault.inmemory import InMemory

ROOT = Path("/a/vault")


def third_party(root: Path) -> StorageBackend:
    """What an installed package would offer."""
    return InMemory()


@pytest.fixture
def registry() -> BackendRegistry:
    registry = BackendRegistry()
    registry.register("in-memory", lambda root: InMemory())
    return registry


def _offer(monkeypatch: pytest.MonkeyPatch, *points: EntryPoint) -> None:
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: EntryPoints(points).select(group=group))


@pytest.mark.requirement("A-02", "A-03")
def test_a_registered_backend_is_selected_by_its_name(registry: BackendRegistry) -> None:
    """The name in the settings picks the store."""
    assert registry.select("in-memory", root=ROOT).name == "in-memory"
    assert registry.names() == ("in-memory",)


@pytest.mark.requirement("A-02")
def test_an_unknown_backend_fails_loud_and_names_the_nearest(registry: BackendRegistry) -> None:
    """Nothing is chosen in its place."""
    with pytest.raises(UsageError, match="no such storage backend: 'in-memry'") as error:
        registry.select("in-memry", root=ROOT)

    assert error.value.hint == "Did you mean 'in-memory'? Known backends: in-memory."


def test_a_name_is_registered_once(registry: BackendRegistry) -> None:
    """Two parts cannot fight over a name unseen."""
    with pytest.raises(UsageError, match="already registered"):
        registry.register("in-memory", lambda root: InMemory())


def test_another_package_can_offer_a_backend(registry: BackendRegistry, monkeypatch: pytest.MonkeyPatch) -> None:
    """An entry point of our group is found by its name, but never shadows one of ours."""
    _offer(
        monkeypatch,
        EntryPoint("their-own", f"{__name__}:third_party", GROUP),
        EntryPoint("in-memory", "nowhere:at_all", GROUP),
    )

    assert registry.names() == ("in-memory", "their-own")
    assert registry.select("their-own", root=ROOT).name == "in-memory"
    assert registry.select("in-memory", root=ROOT).name == "in-memory"


def test_an_offered_backend_that_cannot_be_loaded_is_told(
    registry: BackendRegistry, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A broken installation is named, not swallowed."""
    _offer(monkeypatch, EntryPoint("broken", "nowhere:at_all", GROUP))

    with pytest.raises(UsageError, match="'broken' cannot be loaded"):
        registry.select("broken", root=ROOT)
