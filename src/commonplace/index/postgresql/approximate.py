"""Approximate vector search: an HNSW index of pgvector for each build that is large enough.

An index holds the parts of one build and encoder version alone, so a search never walks through the vectors of other
tenants. It is built while others read and write, and dropped with its build. It only finds candidates: what is returned
is computed exactly.
"""

from collections.abc import Mapping
from typing import Any, Final

import psycopg
from psycopg import sql

from commonplace.database.postgresql import Connection, PostgresqlServer, TenantDatabase
from commonplace.events import emit
from commonplace.index.postgresql.statements import BuildConnection
from commonplace.index.postgresql.vectors import vector_text
from commonplace.index.segments.quantize import QuantizedQuery

APPROXIMATE_FROM: Final = 50_000
"""Parts from which on a build gets an HNSW index; PostgreSQL compares fewer exactly within a few dozen milliseconds."""
MOST_DIM: Final = 4000
"""pgvector indexes vectors with at most so many 16-bit numbers."""
_PARTS_PER_CHUNK: Final = 3  # candidates for each chunk wanted: some chunks have several near parts
_LEAST_EFFORT: Final = 200
_MOST_EFFORT: Final = 1000  # pgvector's limit for hnsw.ef_search
_WAIT: Final = "60s"
_ENCODERS: Final = """
SELECT e.number, e.dim, count(*), min(p.tableoid::regclass::text) FROM memory_encoders e
JOIN (SELECT tableoid, * FROM memory_parts WHERE tenant = %(tenant)s AND build = %(build)s) p ON p.encoder = e.number
WHERE e.tenant = %(tenant)s AND e.build = %(build)s GROUP BY 1, 2
"""
_EXISTING: Final = """
SELECT c.relname, i.indisvalid FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid WHERE c.relname ^@ %(prefix)s
"""
_IS_USABLE: Final = """
SELECT 1 FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid WHERE c.relname = :name AND i.indisvalid
"""
_CREATE: Final = sql.SQL(
    "CREATE INDEX CONCURRENTLY {name} ON {table} USING hnsw ((vector::halfvec({dim})) halfvec_cosine_ops)"
    " WITH (m = 16, ef_construction = 100) WHERE tenant = {tenant} AND build = {build} AND encoder = {encoder}"
)
_DROP: Final = sql.SQL("DROP INDEX CONCURRENTLY IF EXISTS {name}")
_EFFORT: Final = (
    "SELECT set_config('hnsw.iterative_scan', 'strict_order', true),"
    " set_config('hnsw.ef_search', :effort, true), set_config('enable_sort', 'off', true)"
)
_SORTING: Final = "SELECT set_config('enable_sort', 'on', true)"
_NEAREST: Final = """
SELECT number FROM (
  SELECT p.number FROM memory_parts p WHERE p.encoder = :encoder AND p.document IN ({passing})
  ORDER BY p.vector::halfvec({dim}) <=> :query::halfvec({dim}) LIMIT :most)
GROUP BY number
"""


def index_vectors(database: TenantDatabase, *, build: int, least: int) -> None:
    """Create the HNSW indexes that a build with many parts lacks; one process at a time does. Readers need not wait."""
    with database.read_transaction() as connection:
        values = {"tenant": database.tenant, "build": build}
        rows: list[Any] = connection.execute(_ENCODERS, values).fetchall()
    large = [(encoder, dim, table) for encoder, dim, count, table in rows if count >= least and dim <= MOST_DIM]
    if not large:
        return
    with database.try_exclusive(f"near/{build}") as is_ours:
        if is_ours is None:
            return
        for encoder, dim, table in large:
            with database.server.connection() as connection:
                _create(connection, database.tenant, build=build, encoder=encoder, dim=dim, table=table)


def drop_vector_indexes(server: PostgresqlServer, build: int) -> None:
    """Drop the HNSW indexes of a build that was replaced."""
    with server.connection() as connection:
        for name, _ in _existing(connection, f"memory_near_{build}_"):
            connection.execute(_DROP.format(name=sql.Identifier(name)))


def is_indexed(connection: BuildConnection, *, build: int, encoder: int) -> bool:
    """True if the build has a whole HNSW index of that encoder's vectors."""
    return connection.execute(_IS_USABLE, {"name": _name(build, encoder)}).fetchone() is not None


def nearest_approximately(
    connection: BuildConnection,
    query: QuantizedQuery,
    *,
    encoder: int,
    passing: tuple[str, Mapping[str, Any]],
    limit: int,
) -> list[int]:
    """The numbers of chunks among which nearly all of the nearest `limit` are."""
    statement, values = passing
    most = limit * _PARTS_PER_CHUNK
    connection.execute(_EFFORT, {"effort": str(min(max(most, _LEAST_EFFORT), _MOST_EFFORT))})
    text = _NEAREST.replace("{passing}", statement).replace("{dim}", str(len(query.row)))
    bound = {"query": vector_text(query.row.tolist()), "encoder": encoder, "most": most}
    rows = connection.execute(text, {**values, **bound}).fetchall()
    connection.execute(_SORTING)
    return [number for (number,) in rows]


def _create(connection: Connection, tenant: str, *, build: int, encoder: int, dim: int, table: str) -> None:
    """Create the index unless it exists; one that a killed process left unfinished is made again."""
    name = _name(build, encoder)
    existing = dict(_existing(connection, name))
    if existing.get(name):
        return
    drop = _DROP.format(name=sql.Identifier(name))
    creation = _CREATE.format(
        name=sql.Identifier(name),
        table=sql.Identifier(table),
        dim=sql.Literal(dim),
        tenant=sql.Literal(tenant),
        build=sql.Literal(build),
        encoder=sql.Literal(encoder),
    )
    connection.execute(drop)
    try:
        connection.execute(sql.SQL("SET lock_timeout = {wait}").format(wait=sql.Literal(_WAIT)))
        connection.execute(creation)
        connection.execute("RESET lock_timeout")
    except psycopg.Error as error:
        emit("vectors_not_indexed", level="warning", reason=str(error).splitlines()[0])
        connection.execute(drop)


def _existing(connection: Connection, prefix: str) -> list[tuple[str, bool]]:
    rows: list[Any] = connection.execute(_EXISTING, {"prefix": prefix}).fetchall()
    return [(name, is_valid) for name, is_valid in rows]


def _name(build: int, encoder: int) -> str:
    return f"memory_near_{build}_{encoder}"
