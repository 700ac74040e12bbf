"""The history in a SQLite file, `history.db`."""

from commonplace.history.sqlite.history import SqliteHistory

__all__ = ["SqliteHistory"]
