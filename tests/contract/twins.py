"""The implementations that the contracts of history and index are run on: a new one is one line here."""

from collections.abc import Callable
from pathlib import Path

from commonplace.history.base import History
from commonplace.history.inmemory.history import InMemoryHistory
from commonplace.history.postgresql.history import PostgresqlHistory
from commonplace.history.sqlite.history import SqliteHistory
from commonplace.index.base import Index
from commonplace.index.inmemory.store import InMemoryIndex
from commonplace.index.sqlite.store import SqliteIndex
from tests.index_documents import PathLinker, PlainRules
from tests.postgresql import new_tenant, postgresql_server
from tests.postgresql_index import new_postgresql_index

HISTORIES: dict[str, Callable[[Path], History]] = {
    "sqlite": lambda folder: SqliteHistory(folder / "history.db"),
    "in-memory": lambda folder: InMemoryHistory(),
    "postgresql": lambda folder: PostgresqlHistory(postgresql_server(), tenant=new_tenant()),
}
INDEXES: dict[str, Callable[[Path], Index]] = {
    "sqlite": lambda folder: SqliteIndex(folder / "index.db", user="me", linker=PathLinker(), rules=PlainRules()),
    "segments": lambda folder: SqliteIndex(
        folder / "index.db", user="me", linker=PathLinker(), rules=PlainRules(), min_chunks=1, max_chunks=8
    ),
    "in-memory": lambda folder: InMemoryIndex("me", PathLinker(), PlainRules()),
    "postgresql": lambda folder: new_postgresql_index(min_chunks=4),
}
LARGE_SEGMENTS: dict[str, Callable[[Path], Index]] = {  # for thousands of chunks: each file costs an fsync
    "large-segments": lambda folder: SqliteIndex(
        folder / "index.db", user="me", linker=PathLinker(), rules=PlainRules(), min_chunks=1, max_chunks=256
    ),
}
