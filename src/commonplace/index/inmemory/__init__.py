"""The index in memory, in plain Python: the twin for tests, and for programs that want nothing on the disk."""

from commonplace.index.inmemory.store import InMemoryIndex
from commonplace.index.inmemory.vector_cache import InMemoryVectorCache

__all__ = ["InMemoryIndex", "InMemoryVectorCache"]
