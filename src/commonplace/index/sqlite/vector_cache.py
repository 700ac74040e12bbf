"""The vectors of texts that were encoded before, in 8 bits, in the file `vectors.db`."""

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, Final

import numpy as np

from commonplace.database import Database
from commonplace.database.errors import damaged_error, translate_row_errors
from commonplace.errors import IndexDamaged
from commonplace.index.segments.quantize import Fixed, pack_vectors, quantize, restore, unpack_vectors
from commonplace.index.sqlite.schema import VECTOR_MIGRATIONS
from commonplace.index.tables.sql import VECTOR_CACHE_ERRORS

_THESE: Final = "hash IN (SELECT unhex(substr(value, 1, 32)) FROM json_each(:hashes))"
_OF_VERSION: Final = f"version = (SELECT number FROM cached_versions WHERE version = :version) AND {_THESE}"  # noqa: S608
_GET: Final = f"SELECT hash, vector, used FROM cached_vectors WHERE {_OF_VERSION}"  # noqa: S608
_MARK_USED: Final = f"UPDATE cached_vectors SET used = :today WHERE {_OF_VERSION}"  # noqa: S608
_ADD_VERSION: Final = "INSERT INTO cached_versions (version) VALUES (?) ON CONFLICT DO NOTHING"
_PUT: Final = """
INSERT INTO cached_vectors (version, hash, used, vector)
VALUES ((SELECT number FROM cached_versions WHERE version = ?), unhex(substr(?, 1, 32)), ?, ?)
ON CONFLICT DO UPDATE SET used = excluded.used, vector = excluded.vector
"""
_FORGET: Final = f"DELETE FROM cached_vectors WHERE {_THESE}"  # noqa: S608
_DROP_UNUSED: Final = "DELETE FROM cached_vectors WHERE used < ?"
_HASH_BYTES: Final = 16
_ROOM: Final = "commonplace.index"


def _today() -> date:
    return datetime.now(UTC).date()


def _eight_bits(vector: bytes) -> bytes:
    """A vector of 16-bit numbers, as an earlier version stored it, in 8 bits."""
    return pack_vectors(quantize(np.frombuffer(vector, "<i2")[None, :]))[0]


class SqliteVectorCache:
    """The vectors in one file, created at first use; any number of processes may share it."""

    def __init__(self, file: Path, *, wait: float = 10.0, today: Callable[[], date] = _today) -> None:
        self._file = file
        self._database = Database(
            file,
            migrations=VECTOR_MIGRATIONS,
            functions={"eight_bits": _eight_bits},
            wording=VECTOR_CACHE_ERRORS,
            wait=wait,
        )
        self._today = today

    def get(self, version: str, hashes: Sequence[str]) -> Mapping[str, Fixed]:
        """The cached vectors among these, by hash; marks them as used today."""
        with self._translated():
            return self._get(version, hashes)

    def _get(self, version: str, hashes: Sequence[str]) -> Mapping[str, Fixed]:
        with self._database.read_transaction() as connection:
            rows: list[Any] = connection.execute(_GET, {"version": version, "hashes": json.dumps([*hashes])}).fetchall()
        today = self._today().toordinal()
        by_hash = {hash_[: 2 * _HASH_BYTES]: hash_ for hash_ in hashes}
        found = [by_hash[each.hex()] for each, _, _ in rows]
        stale = [hash_ for hash_, (_, _, used) in zip(found, rows, strict=True) if used < today]
        if stale:
            with self._database.write_transaction() as connection:
                connection.execute(_MARK_USED, {"version": version, "hashes": json.dumps(stale), "today": today})
        return dict(zip(found, restore(unpack_vectors([blob for _, blob, _ in rows])), strict=True)) if rows else {}

    def put(self, version: str, vectors: Mapping[str, Fixed]) -> None:
        """Cache these vectors."""
        if not vectors:
            return
        today = self._today().toordinal()
        packed = zip(vectors, pack_vectors(quantize(np.array([*vectors.values()]))), strict=True)
        with self._translated(), self._database.write_transaction() as connection:
            connection.execute(_ADD_VERSION, (version,))
            connection.executemany(_PUT, ((version, hash_, today, blob) for hash_, blob in packed))

    def forget(self, hashes: Sequence[str]) -> None:
        """Delete every trace of the vectors of these texts, of every version."""
        with self._translated(), self._database.write_transaction() as connection:
            connection.execute(_FORGET, {"hashes": json.dumps([*hashes])})
        self._database.vacuum()

    def check(self) -> None:
        """Read the whole file. Raises IndexDamaged if it is unreadable, VaultUnavailable if it cannot be written."""
        self._database.require_writable()
        with self._translated(), self._database.read_transaction() as connection:
            said: str = connection.execute("PRAGMA quick_check(1)").get
        if said != "ok":
            raise damaged_error(self._file, VECTOR_CACHE_ERRORS, f"is damaged ({said})")

    def repair(self) -> bool:
        """Delete the file if it is unreadable; True if it was. The next call creates a new one."""
        try:
            self.check()
            return False
        except IndexDamaged:
            pass
        self.close()
        for end in ("", "-wal", "-shm"):
            self._file.with_name(f"{self._file.name}{end}").unlink(missing_ok=True)
        return True

    def drop_unused(self, *, before: date) -> int:
        """Delete the vectors that were last used before that day; returns how many."""
        with self._database.write_transaction() as connection:
            connection.execute(_DROP_UNUSED, (before.toordinal(),))
            dropped = connection.changes()
        self._database.shrink()
        return dropped

    def _translated(self) -> AbstractContextManager[None]:
        """What a damaged row makes our own code raise, as IndexDamaged."""
        return translate_row_errors(self._file, VECTOR_CACHE_ERRORS, room=_ROOM)

    def size(self) -> int:
        """The bytes of the file and its log."""
        return self._database.size()

    def close(self) -> None:
        """Close the file; the next call opens it again."""
        self._database.close()
