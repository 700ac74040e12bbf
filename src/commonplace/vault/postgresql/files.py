"""The files of a vault as they are now: which row a path means, reading and listing, and what a transaction writes.

What a path means is decided by `file_table`, on the rows that it could mean.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from commonplace.database.postgresql import Connection
from commonplace.errors import NotFound, Refused
from commonplace.model import Stat
from commonplace.model.text import fold_name
from commonplace.vault.base import Blob
from commonplace.vault.contract_errors import too_large_to_read
from commonplace.vault.file_table import find_file, find_folder
from commonplace.vault.paths import normal
from commonplace.vault.postgresql.schema import AREA, rows_of

LONGEST_PATH: Final = 1_000
"""Bytes in a path, also in its folded form: a row of an index of PostgreSQL has at most 2,704 with the tenant."""

_ALIKE: Final = """
SELECT DISTINCT n.path, n.hash, n.size, n.mtime, n.content
FROM unnest(%(prefixes)s::text[], %(folded)s::text[]) AS wanted(prefix, folded)
CROSS JOIN LATERAL (
  (SELECT * FROM vault_notes WHERE tenant = %(tenant)s AND folded = wanted.folded)
  UNION ALL
  (SELECT * FROM vault_notes WHERE tenant = %(tenant)s AND folded >= wanted.folded || '/'
   AND folded < wanted.folded || '0' ORDER BY folded LIMIT 1)
  UNION ALL
  (SELECT * FROM vault_notes WHERE tenant = %(tenant)s AND path >= wanted.prefix || '/'
   AND path < wanted.prefix || '0' ORDER BY path LIMIT 1)
) AS n
"""  # '0' is the character after the slash: what lies between is below the folder
_READ: Final = """
SELECT n.path, n.hash, n.size, n.mtime, CASE WHEN n.size <= %(most)s THEN coalesce(n.content, b.content) END
FROM vault_notes n LEFT JOIN vault_blobs b ON b.tenant = n.tenant AND b.hash = n.hash
WHERE n.tenant = %(tenant)s AND n.path = %(path)s
"""
_LIST: Final = """
SELECT path, mtime, size FROM vault_notes
WHERE tenant = %(tenant)s AND path >= %(prefix)s AND (%(prefix)s = '' OR path < %(after)s) ORDER BY path
"""
_PUT: Final = """
INSERT INTO vault_notes (tenant, path, folded, hash, size, mtime, content) VALUES (%s, %s, %s, %s, %s, %s, %s)
ON CONFLICT (tenant, path) DO UPDATE SET
  hash = excluded.hash, size = excluded.size, mtime = excluded.mtime, content = excluded.content
"""
_NO_LIMIT: Final = 1 << 40


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file: its row, or what a transaction makes it; `content` is set if it is derived, or if its bytes are new."""

    version: str
    size: int
    mtime: float
    is_derived: bool = False
    content: bytes | None = None

    @property
    def hash(self) -> bytes:
        """The key of its bytes among the blobs."""
        return bytes.fromhex(self.version)


def checked_path(path: str) -> str:
    """The path as every backend cleans it. Raises Refused, also for one that is too long for the database."""
    clean = normal(path)
    size = stored_length(clean)
    if size > LONGEST_PATH:
        message = f"the path is {size} bytes long, more than {LONGEST_PATH}: {clean[:60]}..."
        raise Refused(message, path=clean, hint="Use fewer or shorter folders; letters outside ASCII take two to four.")
    return clean


def stored_length(path: str) -> int:
    """The bytes of the longer of the two forms in which a path is stored."""
    return max(len(path.encode()), len(fold_name(path).encode()))


def files_like(connection: Connection, tenant: str, paths: Iterable[str]) -> dict[str, StoredFile]:
    """The files that these paths could mean, and for each folder above them and at them one file in it."""
    prefixes = {prefix for path in paths for prefix in _prefixes(path)}
    values = {"tenant": tenant, "prefixes": [*prefixes], "folded": [fold_name(each) for each in prefixes]}
    rows = rows_of(connection, _ALIKE, values)
    return {
        path: StoredFile(hash.hex(), size, mtime, is_derived=content is not None, content=content)
        for path, hash, size, mtime, content in rows
    }


def read_file(connection: Connection, tenant: str, path: str, *, most: int | None) -> Blob:
    """The file's bytes. Raises NotFound, and Refused for a folder and for more than `most` bytes."""
    row = _row(connection, tenant, path, most)
    if row is None:
        row = _row(connection, tenant, find_file(files_like(connection, tenant, [path]), path)[0], most)
    if row is None:
        raise AREA.wording.damaged(f"the row of {path} is gone", path=path, hint="Try again.")
    stored, hash, size, mtime, content = row
    stat = Stat(stored, mtime, size)
    if most is not None and stat.size > most:
        raise too_large_to_read(path, size=stat.size, most=most)
    if content is None:
        hint = AREA.wording.mend.format(name="the database")
        raise AREA.wording.damaged(f"the bytes of {path} are missing in the database", path=path, hint=hint)
    return Blob(content, hash.hex(), stat)


def stat_file(connection: Connection, tenant: str, path: str) -> Stat:
    """Size and modification time of the file. Raises NotFound, and Refused for a folder."""
    stored, file = find_file(files_like(connection, tenant, [path]), path)
    return Stat(stored, file.mtime, file.size)


def stat_files(connection: Connection, tenant: str, paths: Mapping[str, str]) -> dict[str, Stat]:
    """Size and modification time of the files at these clean paths, by the paths they were asked by."""
    files, found = files_like(connection, tenant, paths.values()), dict[str, Stat]()
    for path, clean in paths.items():
        with suppress(NotFound, Refused):
            stored, file = find_file(files, clean)
            found[path] = Stat(stored, file.mtime, file.size)
    return found


def list_files(connection: Connection, tenant: str, folder: str) -> list[Stat]:
    """The files below a folder, sorted by path. Raises NotFound when there is no such folder."""
    prefix = f"{find_folder(files_like(connection, tenant, [folder]), folder)}/" if folder else ""
    values = {"tenant": tenant, "prefix": prefix, "after": f"{prefix[:-1]}0"}
    return [Stat(path, mtime, size) for path, mtime, size in rows_of(connection, _LIST, values)]


def put_files(connection: Connection, tenant: str, files: Mapping[str, StoredFile]) -> None:
    """Write the rows of these files, and the blobs of those that are new and not derived."""
    put_blobs(connection, tenant, [each for each in files.values() if not each.is_derived])
    rows = [
        (tenant, path, fold_name(path), file.hash, file.size, file.mtime, file.content if file.is_derived else None)
        for path, file in files.items()
    ]
    with connection.cursor() as cursor:
        cursor.executemany(_PUT, rows)


def put_blobs(connection: Connection, tenant: str, files: Iterable[StoredFile]) -> None:
    """Store the bytes of the files that have new ones."""
    blobs = {file.hash: file.content for file in files if file.content is not None}
    with connection.cursor() as cursor:
        cursor.executemany(
            "INSERT INTO vault_blobs (tenant, hash, content) VALUES (%s, %s, %s) ON CONFLICT DO NOTHING",
            [(tenant, hash, content) for hash, content in blobs.items()],
        )


def remove_files(connection: Connection, tenant: str, paths: Sequence[str]) -> None:
    """Delete the rows of these files."""
    connection.execute("DELETE FROM vault_notes WHERE tenant = %s AND path = ANY(%s)", (tenant, [*paths]))


def _row(connection: Connection, tenant: str, path: str, most: int | None) -> tuple[Any, ...] | None:
    values = {"tenant": tenant, "path": path, "most": _NO_LIMIT if most is None else most}
    return next(iter(rows_of(connection, _READ, values)), None)


def _prefixes(path: str) -> list[str]:
    """The path and every folder above it."""
    names = path.split("/")
    return ["/".join(names[:depth]) for depth in range(1, len(names) + 1)]
