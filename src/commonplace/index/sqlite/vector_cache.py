"""The vectors of texts that were encoded before, in the file `vectors.db`."""

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, Final

import numpy as np

from commonplace.database import Database
from commonplace.errors import IndexDamaged
from commonplace.index.segments.quantize import Fixed
from commonplace.index.sqlite.schema import VECTOR_CACHE_ERRORS, VECTOR_MIGRATIONS

_THESE: Final = "hash IN (SELECT value FROM json_each(:hashes))"
_GET: Final = f"SELECT hash, vector, used FROM cached_vectors WHERE version = :version AND {_THESE}"  # noqa: S608
_MARK_USED: Final = f"UPDATE cached_vectors SET used = :today WHERE version = :version AND {_THESE}"  # noqa: S608
_PUT: Final = """
INSERT INTO cached_vectors (version, hash, used, vector) VALUES (?, ?, ?, ?)
ON CONFLICT DO UPDATE SET used = excluded.used, vector = excluded.vector
"""
_FORGET: Final = f"DELETE FROM cached_vectors WHERE {_THESE}"  # noqa: S608
_DROP_UNUSED: Final = "DELETE FROM cached_vectors WHERE used < ?"


def _today() -> date:
    return datetime.now(UTC).date()


class SqliteVectorCache:
    """The vectors in one file, created at first use; any number of processes may share it."""

    def __init__(self, file: Path, *, wait: float = 10.0, today: Callable[[], date] = _today) -> None:
        self._file = file
        self._database = Database(file, migrations=VECTOR_MIGRATIONS, wording=VECTOR_CACHE_ERRORS, wait=wait)
        self._today = today

    def get(self, version: str, hashes: Sequence[str]) -> Mapping[str, Fixed]:
        """The cached vectors among these, by hash; marks them as used today."""
        with self._database.read_transaction() as connection:
            rows: list[Any] = connection.execute(_GET, {"version": version, "hashes": json.dumps([*hashes])}).fetchall()
        today = self._today().isoformat()
        stale = [hash_ for hash_, _, used in rows if used < today]
        if stale:
            with self._database.write_transaction() as connection:
                connection.execute(_MARK_USED, {"version": version, "hashes": json.dumps(stale), "today": today})
        return {hash_: np.frombuffer(blob, "<i2") for hash_, blob, _ in rows}

    def put(self, version: str, vectors: Mapping[str, Fixed]) -> None:
        """Cache these vectors."""
        today = self._today().isoformat()
        rows = [
            (version, hash_, today, np.ascontiguousarray(vector, "<i2").tobytes()) for hash_, vector in vectors.items()
        ]
        with self._database.write_transaction() as connection:
            connection.executemany(_PUT, rows)

    def forget(self, hashes: Sequence[str]) -> None:
        """Delete every trace of the vectors of these texts, of every version."""
        with self._database.write_transaction() as connection:
            connection.execute(_FORGET, {"hashes": json.dumps([*hashes])})
        self._database.vacuum()

    def repair(self) -> bool:
        """Delete the file if it is unreadable; True if it was. The next call creates a new one."""
        try:
            with self._database.read_transaction() as connection:
                if connection.execute("PRAGMA quick_check(1)").get == "ok":
                    return False
        except IndexDamaged:
            pass  # it could not even be opened
        self.close()
        for end in ("", "-wal", "-shm"):
            self._file.with_name(f"{self._file.name}{end}").unlink(missing_ok=True)
        return True

    def drop_unused(self, *, before: date) -> int:
        """Delete the vectors that were last used before that day; returns how many."""
        with self._database.write_transaction() as connection:
            connection.execute(_DROP_UNUSED, (before.isoformat(),))
            return connection.changes()

    def close(self) -> None:
        """Close the file; the next call opens it again."""
        self._database.close()
