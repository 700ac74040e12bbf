"""The vector cache: by version and text, used by day, and forgotten without a trace."""

from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path

import numpy as np
import pytest

from commonplace.errors import IndexDamaged
from commonplace.index.base import VectorCache
from commonplace.index.inmemory.store import InMemoryVectorCache
from commonplace.index.sqlite.vector_cache import SqliteVectorCache
from tests.index_documents import vector

DAY = date(2026, 3, 1)
TWINS: dict[str, Callable[[Path], VectorCache]] = {
    "sqlite": lambda folder: SqliteVectorCache(folder / "vectors.db"),
    "in-memory": lambda folder: InMemoryVectorCache(),
}


@pytest.fixture(params=TWINS, ids=str)
def cache(request: pytest.FixtureRequest, tmp_path: Path) -> VectorCache:
    """An empty cache."""
    return TWINS[request.param](tmp_path)


def test_vectors_come_back_for_their_version_alone(cache: VectorCache) -> None:
    """Missing ones are left out; a second put replaces."""
    cache.put("v1", {"a": vector("x"), "b": vector("b")})
    cache.put("v1", {"a": vector("a")})
    cache.close()
    got = cache.get("v1", ["a", "b", "c"])

    assert set(got) == {"a", "b"}
    assert np.array_equal(got["a"], vector("a"))
    assert cache.get("v2", ["a"]) == {}


def test_forgotten_texts_are_forgotten_in_every_version(cache: VectorCache) -> None:
    """The others stay."""
    for version in ("v1", "v2"):
        cache.put(version, {"a": vector("a"), "b": vector("b")})
    cache.forget(["a"])

    assert [set(cache.get(version, ["a", "b"])) for version in ("v1", "v2")] == [{"b"}, {"b"}]


def test_a_forgotten_vector_is_in_no_file(tmp_path: Path) -> None:
    """Nor is the hash of its text."""
    cache = SqliteVectorCache(tmp_path / "vectors.db")
    cache.put("v", {f"hash-{n}": vector(f"text {n}") for n in range(200)})
    cache.forget(["hash-77"])
    raw = b"".join(each.read_bytes() for each in tmp_path.iterdir())

    assert b"hash-77" not in raw
    assert vector("text 77").tobytes() not in raw
    assert b"hash-78" in raw


def test_what_was_not_used_for_long_is_dropped(tmp_path: Path) -> None:
    """Getting is using."""
    today = DAY

    cache = SqliteVectorCache(tmp_path / "vectors.db", today=lambda: today)
    cache.put("v", {name: vector(name) for name in "abc"})
    today = DAY + timedelta(days=10)
    cache.get("v", ["a"])

    assert cache.drop_unused(before=DAY + timedelta(days=5)) == 2
    assert set(cache.get("v", ["a", "b", "c"])) == {"a"}


def test_a_damaged_cache_says_what_to_do(tmp_path: Path) -> None:
    """And can be started again: that costs only encoding time."""
    (tmp_path / "vectors.db").write_bytes(b"no database " * 100)

    with pytest.raises(IndexDamaged, match=r"vector cache vectors\.db") as refused:
        SqliteVectorCache(tmp_path / "vectors.db").get("v", ["a"])
    assert "commonplace rebuild" in (refused.value.hint or "")
    cache = SqliteVectorCache(tmp_path / "vectors.db")
    assert [cache.repair(), cache.repair()] == [True, False]
    assert cache.get("v", ["a"]) == {}
