"""An empty history and an empty index of each kind."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from commonplace.history.base import History
from commonplace.index.base import Index
from tests.contract.twins import HISTORIES, INDEXES, LARGE_SEGMENTS


@pytest.fixture(params=HISTORIES, ids=str)
def history(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[History]:
    """An empty history."""
    opened = HISTORIES[request.param](tmp_path)
    yield opened
    opened.close()


@pytest.fixture(params=INDEXES, ids=str)
def index(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Index]:
    """An empty index."""
    opened = (INDEXES | LARGE_SEGMENTS)[request.param](tmp_path)
    yield opened
    opened.close()
