"""An empty vault in a folder, with stores, a session under git, or a whole memory.

A file that needs another encoder, backend or segment size overrides that fixture alone.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from commonplace.encoders.base import EncoderProvider
from commonplace.flows.stores import Session, Stores
from commonplace.memory import Memory
from commonplace.vault.base import StorageBackend
from commonplace.vault.local import DeviceLocal
from tests.memories import make_memory
from tests.stores import DEFAULT_ENCODER, close, make_session, make_stores


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """An empty vault."""
    (tmp_path / "vault").mkdir()
    return tmp_path / "vault"


@pytest.fixture
def encoder() -> EncoderProvider:
    """The hashing encoder."""
    return DEFAULT_ENCODER


@pytest.fixture
def backend(root: Path) -> StorageBackend:
    """Plain files, without git."""
    return DeviceLocal(root)


@pytest.fixture
def least() -> int | None:
    """How many chunks make a segment; None for the usual number."""
    return None


@pytest.fixture
def stores(
    root: Path, tmp_path: Path, encoder: EncoderProvider, backend: StorageBackend, least: int | None
) -> Iterator[Stores]:
    """Its stores, with a SQLite index."""
    made = make_stores(root, tmp_path / "data", encoder=encoder, vault=backend, least=least)
    yield made
    close(made)


@pytest.fixture
def session(root: Path) -> Session:
    """A person's session with the vault, under git."""
    return make_session(root)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    """The memory of the vault, for a person."""
    with make_memory(tmp_path) as made:
        yield made
