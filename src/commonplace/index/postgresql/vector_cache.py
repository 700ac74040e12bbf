"""The vectors of texts that were encoded before, in 8 bits, in PostgreSQL. Each tenant has its own."""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime
from typing import Any, Final

import numpy as np

from commonplace.database.postgresql import PostgresqlServer, TenantDatabase
from commonplace.index.postgresql.schema import VECTOR_CACHE_AREA
from commonplace.index.segments.quantize import Fixed, pack_vectors, quantize, restore, unpack_vectors

_GET: Final = """
SELECT hash, vector, used FROM cached_vectors
WHERE tenant = %(tenant)s AND hash = ANY(%(hashes)s::bytea[]) AND version = %(version)s
"""
_MARK_USED: Final = """
UPDATE cached_vectors SET used = %(today)s
WHERE tenant = %(tenant)s AND hash = ANY(%(hashes)s::bytea[]) AND version = %(version)s
"""
_PUT: Final = """
INSERT INTO cached_vectors (tenant, hash, version, used, vector)
SELECT %(tenant)s, r.hash, %(version)s, %(today)s, r.vector
FROM unnest(%(hashes)s::bytea[], %(vectors)s::bytea[]) AS r (hash, vector)
ON CONFLICT (tenant, hash, version) DO UPDATE SET used = excluded.used, vector = excluded.vector
"""
_FORGET: Final = "DELETE FROM cached_vectors WHERE tenant = %(tenant)s AND hash = ANY(%(hashes)s::bytea[])"
_DROP_UNUSED: Final = "DELETE FROM cached_vectors WHERE tenant = %(tenant)s AND used < %(before)s"
_SIZE: Final = "SELECT coalesce(sum(pg_column_size(c)), 0)::bigint FROM cached_vectors c WHERE tenant = %(tenant)s"


def _today() -> date:
    return datetime.now(UTC).date()


class PostgresqlVectorCache:
    """The vectors of one tenant, shared by every machine."""

    def __init__(self, server: PostgresqlServer, *, tenant: str, today: Callable[[], date] = _today) -> None:
        self._database = TenantDatabase(server, VECTOR_CACHE_AREA, tenant=tenant)
        self._today = today

    def get(self, version: str, hashes: Sequence[str]) -> Mapping[str, Fixed]:
        """The cached vectors among these, by hash; marks them as used today."""
        values = self._values(hashes, version=version)
        with self._database.read_transaction() as connection:
            rows: list[Any] = connection.execute(_GET, values, binary=True).fetchall()
        if not rows:
            return {}
        today = self._today().toordinal()
        stale = [hash_ for hash_, _, used in rows if used < today]
        if stale:
            with self._database.write_transaction() as connection:
                connection.execute(_MARK_USED, {**values, "hashes": stale, "today": today})
        vectors = restore(unpack_vectors([vector for _, vector, _ in rows]))
        return {hash_.hex(): vector for (hash_, _, _), vector in zip(rows, vectors, strict=True)}

    def put(self, version: str, vectors: Mapping[str, Fixed]) -> None:
        """Cache these vectors."""
        if not vectors:
            return
        packed = pack_vectors(quantize(np.array([*vectors.values()])))
        values = self._values([*vectors], version=version, vectors=packed, today=self._today().toordinal())
        with self._database.write_transaction() as connection:
            connection.execute(_PUT, values)

    def forget(self, hashes: Sequence[str]) -> None:
        """Delete the vectors of these texts, of every version."""
        with self._database.write_transaction() as connection:
            connection.execute(_FORGET, self._values(hashes))

    def check(self) -> None:
        """Raise VaultUnavailable if nothing can be written: PostgreSQL itself finds damage to its files."""
        with self._database.write_transaction():
            pass

    def repair(self) -> bool:
        """Return False: there is no file that could be made again."""
        return False

    def drop_unused(self, *, before: date) -> int:
        """Delete the vectors that were last used before that day; returns how many."""
        with self._database.write_transaction() as connection:
            values = {"tenant": self._database.tenant, "before": before.toordinal()}
            return connection.execute(_DROP_UNUSED, values).rowcount

    def size(self) -> int:
        """The bytes of the rows, without PostgreSQL's own indexes."""
        with self._database.read_transaction() as connection:
            row: Any = connection.execute(_SIZE, {"tenant": self._database.tenant}).fetchone()
        return int(row[0])

    def close(self) -> None:
        """Do nothing: connections are shared and stay open."""

    def _values(self, hashes: Sequence[str], **others: Any) -> dict[str, Any]:
        return {"tenant": self._database.tenant, "hashes": [bytes.fromhex(each) for each in hashes], **others}
