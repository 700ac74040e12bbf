"""The vector cache: by version and text, used by day, and forgotten without a trace."""

import hashlib
import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import date, timedelta
from pathlib import Path

import apsw
import numpy as np
import pytest

from commonplace.errors import IndexDamaged
from commonplace.index.base import VectorCache
from commonplace.index.inmemory.store import InMemoryVectorCache
from commonplace.index.segments.quantize import quantize
from commonplace.index.sqlite.schema import VECTOR_MIGRATIONS
from commonplace.index.sqlite.vector_cache import SqliteVectorCache
from tests.index_documents import vector
from tests.postgresql_index import new_postgresql_cache
from tests.raw_files import raw_bytes


def text_hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


A, B, C = map(text_hash, "abc")
DAY = date(2026, 3, 1)
TWINS: dict[str, Callable[[Path], VectorCache]] = {
    "sqlite": lambda folder: SqliteVectorCache(folder / "vectors.db"),
    "in-memory": lambda folder: InMemoryVectorCache(),
    "postgresql": lambda folder: new_postgresql_cache(),
}


@pytest.fixture(params=TWINS, ids=str)
def cache(request: pytest.FixtureRequest, tmp_path: Path) -> VectorCache:
    """An empty cache."""
    return TWINS[request.param](tmp_path)


def test_vectors_come_back_for_their_version_alone(cache: VectorCache) -> None:
    """Missing ones are left out; a second put replaces."""
    cache.put("v1", {A: vector("x"), B: vector("b")})
    cache.put("v1", {A: vector("a")})
    cache.close()
    got = cache.get("v1", [A, B, C])

    assert set(got) == {A, B}
    assert np.abs(got[A] - vector("a")).max() < 0.004 * 32767
    assert cache.get("v2", [A]) == {}


def test_an_index_gets_the_same_bits_from_the_cache_as_from_the_encoder(cache: VectorCache) -> None:
    """The cache keeps half of what the encoder gave: all that an index would take from it."""
    given = {text_hash(str(n)): vector(str(n), dim=384) for n in range(200)}
    cache.put("v", {})
    cache.put("v", given)
    got = cache.get("v", [*given])

    assert [*got] != []
    for key, each in given.items():
        first, again = quantize(each[None, :]), quantize(got[key][None, :])
        assert (first.rows == again.rows).all()
        assert first.scales == again.scales


def test_forgotten_texts_are_forgotten_in_every_version(cache: VectorCache) -> None:
    """The others stay."""
    for version in ("v1", "v2"):
        cache.put(version, {A: vector("a"), B: vector("b")})
    cache.forget([A])

    assert [set(cache.get(version, [A, B])) for version in ("v1", "v2")] == [{B}, {B}]


def test_a_forgotten_vector_is_in_no_file(tmp_path: Path) -> None:
    """Nor is the hash of its text."""
    cache = SqliteVectorCache(tmp_path / "vectors.db")
    cache.put("v", {text_hash(str(n)): vector(f"text {n}") for n in range(200)})
    hashes = [bytes.fromhex(text_hash(str(n)))[:16] for n in (77, 78)]
    rows = [quantize(vector(f"text {n}")[None, :]).rows.tobytes() for n in (77, 78)]
    assert all(each in raw_bytes(tmp_path) for each in (*hashes, *rows))
    cache.forget([text_hash("77")])

    assert [each in raw_bytes(tmp_path) for each in (*hashes, *rows)] == [False, True, False, True]


def test_what_was_not_used_for_long_is_dropped(tmp_path: Path) -> None:
    """Getting is using."""
    today = DAY

    cache = SqliteVectorCache(tmp_path / "vectors.db", today=lambda: today)
    cache.put("v", {name: vector(name) for name in (A, B, C)})
    today = DAY + timedelta(days=10)
    cache.get("v", [A])

    assert cache.drop_unused(before=DAY + timedelta(days=5)) == 2
    assert set(cache.get("v", [A, B, C])) == {A}


OLDER = """
INSERT INTO cached_vectors (version, hash, used, vector) VALUES (?, ?, '2026-03-01', ?)
"""


def test_the_vectors_of_an_older_cache_are_kept(tmp_path: Path) -> None:
    """Encoding them again would take minutes. They had 16 bits, and their file was more than twice as large."""
    file = tmp_path / "vectors.db"
    given = {text_hash(str(n)): vector(str(n), dim=384) for n in range(2000)}
    with closing(apsw.Connection(str(file))) as older:
        older.execute(VECTOR_MIGRATIONS[0])
        with older:
            older.executemany(OLDER, (("v", key, each.astype("<i2").tobytes()) for key, each in given.items()))
        older.pragma("user_version", 1)
    before = file.stat().st_size
    cache = SqliteVectorCache(file, today=lambda: DAY)
    got = cache.get("v", [*given])

    assert set(got) == set(given)
    assert all((quantize(got[key][None, :]).rows == quantize(given[key][None, :]).rows).all() for key in given)
    assert cache.size() < before / 2
    assert cache.drop_unused(before=DAY) == 0
    assert cache.drop_unused(before=DAY + timedelta(days=1)) == 2000
    assert cache.size() < before / 50


def test_a_damaged_cache_says_what_to_do(tmp_path: Path) -> None:
    """And can be started again: that costs only encoding time."""
    (tmp_path / "vectors.db").write_bytes(b"no database " * 100)

    with pytest.raises(IndexDamaged, match=r"vector cache vectors\.db") as refused:
        SqliteVectorCache(tmp_path / "vectors.db").get("v", [A])
    assert "commonplace rebuild" in (refused.value.hint or "")
    cache = SqliteVectorCache(tmp_path / "vectors.db")
    assert [cache.repair(), cache.repair()] == [True, False]
    assert cache.get("v", [A]) == {}


def test_a_row_that_is_not_what_was_written_is_damage_with_a_hint(tmp_path: Path) -> None:
    """A flipped byte that SQLite does not notice: no raw error of ours, but one that says what to do."""
    cache = SqliteVectorCache(tmp_path / "vectors.db")
    cache.put("v", {A: vector("a"), B: vector("b")})
    cache.close()
    with sqlite3.connect(tmp_path / "vectors.db") as connection:
        connection.execute("UPDATE cached_vectors SET vector = x'010203' WHERE rowid = 1")

    with pytest.raises(IndexDamaged) as caught:
        cache.get("v", [A, B])
    assert "vectors.db" in str(caught.value)
    assert caught.value.hint
