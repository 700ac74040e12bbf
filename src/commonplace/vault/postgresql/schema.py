"""The tables of the vaults in PostgreSQL.

vault_branches  the number of the newest commit; one row for each vault
vault_notes     the files as they are now; a derived file has its bytes here, the bytes of the others are blobs
vault_blobs     every content of a file that some commit has, by its sha256
vault_commits   the commits, numbered so that each has a higher number than its parents
vault_changes   what a commit changed, compared with its first parent: the blob of each path before and after

`landed` is the number of the commit of the first-parent line with which a commit came to the branch: its own, or that
of the merge. `author` and `committer` are as git writes them, with time and zone; `at` is the committer's time in
seconds, as git has it. Paths and ids compare by their bytes.
"""

from collections.abc import Mapping
from typing import Any, Final, cast

from commonplace.database.errors import ErrorWording
from commonplace.database.postgresql import Area, Connection, Migration, TenantTable
from commonplace.errors import VaultUnavailable

MAIN: Final = "main"
"""The name of the only branch."""

_BRANCHES = TenantTable("vault_branches", "name text NOT NULL, head bigint NOT NULL", "name")
_NOTES = TenantTable(
    "vault_notes",
    'path text COLLATE "C" NOT NULL, folded text COLLATE "C" NOT NULL, hash bytea NOT NULL, size bigint NOT NULL,'
    " mtime double precision NOT NULL, content bytea",
    "path",
    partitioned=True,
)
_BLOBS = TenantTable("vault_blobs", "hash bytea NOT NULL, content bytea NOT NULL", "hash", partitioned=True)
_COMMITS = TenantTable(
    "vault_commits",
    'number bigint NOT NULL, id text COLLATE "C" NOT NULL, parents bigint[] NOT NULL, landed bigint NOT NULL,'
    " at bigint NOT NULL, author text NOT NULL, committer text NOT NULL, body bytea NOT NULL, kind text NOT NULL",
    "number",
    partitioned=True,
)
_CHANGES = TenantTable(
    "vault_changes",
    'number bigint NOT NULL, path text COLLATE "C" NOT NULL, landed bigint NOT NULL, before bytea, after bytea,'
    ' size bigint NOT NULL, source text COLLATE "C", likeness integer NOT NULL',
    "number, path",
    partitioned=True,
)
_INDEXES: Final = """
CREATE INDEX ON vault_notes (tenant, folded);
CREATE UNIQUE INDEX ON vault_commits (tenant, id);
CREATE INDEX ON vault_commits (tenant, at);
CREATE INDEX ON vault_changes (tenant, path, number);
CREATE INDEX ON vault_changes (tenant, after) WHERE after IS NOT NULL;
"""

AREA: Final = Area(
    "vault",
    (Migration((_BRANCHES, _NOTES, _BLOBS, _COMMITS, _CHANGES, _INDEXES)),),
    ErrorWording(
        "vault",
        VaultUnavailable,
        "Restore {name} from a backup, or import an export with `commonplace vault import`.",
    ),
)


def rows_of(connection: Connection, query: str, values: Mapping[str, object]) -> list[tuple[Any, ...]]:
    """The rows that a query of ours returns."""
    return cast("list[tuple[Any, ...]]", connection.execute(query.encode(), values).fetchall())
