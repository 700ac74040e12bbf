"""Indexes and vector caches in the PostgreSQL of the tests, each of a new tenant."""

from typing import Any

from commonplace.index.postgresql.store import PostgresqlIndex
from commonplace.index.postgresql.vector_cache import PostgresqlVectorCache
from tests.components import require
from tests.index_documents import PathLinker, PlainRules
from tests.postgresql import database_url, new_tenant, postgresql_server


def new_postgresql_index(**options: Any) -> PostgresqlIndex:
    """An empty index; skips the test where there is no PostgreSQL."""
    require("postgres")
    given = {"tenant": new_tenant(), "user": "me", "linker": PathLinker(), "rules": PlainRules(), **options}
    return PostgresqlIndex(postgresql_server(), **given)


def new_postgresql_cache() -> PostgresqlVectorCache:
    """An empty vector cache; skips the test where there is no PostgreSQL."""
    require("postgres")
    return PostgresqlVectorCache(postgresql_server(), tenant=new_tenant())


def postgresql_settings(tenant: str = "") -> dict[str, object]:
    """The settings of a vault whose index is in the PostgreSQL of the tests, as that tenant or a new one."""
    require("postgres")
    return {
        "index.backend": "postgresql",
        "postgresql.url": database_url(),
        "postgresql.tenant": tenant or new_tenant(),
        "postgresql.partitions": 2,
    }
