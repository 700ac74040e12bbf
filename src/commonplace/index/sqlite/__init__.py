"""The index in a SQLite file, `index.db`, with memory-mapped segments beside it; and the vectors kept for reuse."""

from commonplace.index.sqlite.store import SqliteIndex
from commonplace.index.sqlite.vector_cache import SqliteVectorCache

__all__ = ["SqliteIndex", "SqliteVectorCache"]
