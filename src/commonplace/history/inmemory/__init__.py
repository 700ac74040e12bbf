"""The history in lists and dictionaries."""

from commonplace.history.inmemory.history import InMemoryHistory

__all__ = ["InMemoryHistory"]
