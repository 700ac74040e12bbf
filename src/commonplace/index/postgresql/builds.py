"""Builds: the indexes of one tenant, each by its name; a new one is built beside the old one and takes its name.

`vault` is the vault's index, `past/...` one of a past commit, `scratch/...` one for an evaluation. What is being built
has `.new` after its name, what was replaced `.old`.
"""

import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from psycopg import sql

from commonplace.database.postgresql import Connection, TenantDatabase
from commonplace.index.base import Index
from commonplace.index.postgresql.approximate import drop_vector_indexes
from commonplace.index.postgresql.schema import COLUMNS

VAULT_BUILD: Final = "vault"
_PAST: Final = "past/"
_SCRATCH: Final = "scratch/"
_NEW: Final = ".new"
_OLD: Final = ".old"
_MOST_PAST: Final = 8  # past indexes; each holds a whole vault
_STATE: Final = """
SELECT b.build, s.generation, s.next_number, coalesce((
  SELECT max(g.last) FROM memory_segments g WHERE g.tenant = %(tenant)s AND g.build = b.build), 0)
FROM memory_builds b JOIN memory_state s ON s.tenant = %(tenant)s AND s.build = b.build
WHERE b.tenant = %(tenant)s AND b.name = %(name)s
"""
_ADD_BUILD: Final = "INSERT INTO memory_builds VALUES (%(tenant)s, %(name)s, %(build)s, now())"
_ADD_STATE: Final = "INSERT INTO memory_state VALUES (%(tenant)s, %(build)s, 0, 1)"
_RENAME: Final = "UPDATE memory_builds SET name = %(new)s WHERE tenant = %(tenant)s AND name = %(name)s"
_MARK_USED: Final = "UPDATE memory_builds SET used = now() WHERE tenant = %(tenant)s AND name = %(name)s"
_NAMED: Final = """
SELECT name, build FROM memory_builds WHERE tenant = %(tenant)s AND name ^@ %(prefix)s ORDER BY used DESC, name
"""
_FORGET: Final = "DELETE FROM memory_builds WHERE tenant = %(tenant)s AND build = %(build)s"
_DROP: Final = sql.SQL("DELETE FROM {table} WHERE tenant = %(tenant)s AND build = %(build)s")


@dataclass(frozen=True, slots=True)
class BuildState:
    """Which build an index is, its change count, the next chunk number, and the last number that segments cover."""

    build: int = 0
    generation: int = 0
    next_number: int = 1
    covered: int = 0


def state_of(connection: Connection, *, tenant: str, name: str) -> BuildState:
    """The state of the build with that name; build 0, which has no rows, if there is none."""
    row: Any = connection.execute(_STATE, {"tenant": tenant, "name": name}).fetchone()
    return BuildState(*row) if row else BuildState()


def require_build(connection: Connection, *, tenant: str, name: str) -> int:
    """The build with that name, created if there is none; inside a write transaction."""
    state = state_of(connection, tenant=tenant, name=name)
    if state.build:
        return state.build
    row: Any = connection.execute("SELECT nextval('memory_build_numbers')").fetchone()
    values = {"tenant": tenant, "name": name, "build": row[0]}
    connection.execute(_ADD_BUILD, values)
    connection.execute(_ADD_STATE, values)
    return int(row[0])


@contextmanager
def replacing(database: TenantDatabase, name: str) -> Iterator[str]:
    """A name for a new build, which gets this name if the block succeeds. Readers see the old one until then.

    Raises VaultUnavailable(locked) if another process is replacing it.
    """
    with database.exclusive(f"replace/{name}"):
        _drop_named(database, [name + _NEW, name + _OLD])
        try:
            yield name + _NEW
            with database.write_transaction() as connection:
                require_build(connection, tenant=database.tenant, name=name + _NEW)
                for one, other in ((name, name + _OLD), (name + _NEW, name)):
                    connection.execute(_RENAME, {"tenant": database.tenant, "name": one, "new": other})
        finally:
            _drop_named(database, [name + _NEW, name + _OLD])


@dataclass(frozen=True, slots=True)
class NamedBuilds:
    """Indexes besides the vault's: of past commits, of which the last used are kept, and for one evaluation.

    `make` opens the index of that name; `fingerprint` stands for everything besides the commit that an index of the
    past depends on.
    """

    database: TenantDatabase
    make: Callable[[str], Index]
    fingerprint: str

    def past(self, commit: str) -> Index:
        """The index of a commit, perhaps still empty; drops the oldest of too many."""
        name = f"{_PAST}{commit[:16]}-{self.fingerprint}"
        with self.database.write_transaction() as connection:
            require_build(connection, tenant=self.database.tenant, name=name)
            connection.execute(_MARK_USED, {"tenant": self.database.tenant, "name": name})
        others = [each for each in self._names(_PAST) if each != name and not each.endswith((_NEW, _OLD))]
        for each in others[_MOST_PAST - 1 :]:
            with self.database.try_exclusive(f"replace/{each}") as is_unused:
                if is_unused:
                    _drop_named(self.database, [each])
        return self.make(name)

    @contextmanager
    def temporary(self) -> Iterator[Index]:
        """An empty index that is deleted when the block ends."""
        name = f"{_SCRATCH}{secrets.token_hex(6)}"
        with self.database.exclusive(name):
            index = self.make(name)
            try:
                yield index
            finally:
                index.close()
                _drop_named(self.database, [name, name + _NEW, name + _OLD])

    def forget(self) -> None:
        """Delete the indexes of the past, and those that killed processes left."""
        _drop_named(self.database, self._names(_PAST))
        for name in self._names(_SCRATCH):
            with self.database.try_exclusive(name) as is_unused:
                if is_unused:
                    _drop_named(self.database, [name])

    def _names(self, prefix: str) -> list[str]:
        with self.database.read_transaction() as connection:
            values = {"tenant": self.database.tenant, "prefix": prefix}
            return [str(name) for name, _ in connection.execute(_NAMED, values)]


def _drop_named(database: TenantDatabase, names: Sequence[str]) -> None:
    """Delete the builds with these names, each in a transaction of its own."""
    with database.read_transaction() as connection:
        states = [state_of(connection, tenant=database.tenant, name=name) for name in names]
    for build in (state.build for state in states if state.build):
        with database.write_transaction() as connection:
            values = {"tenant": database.tenant, "build": build}
            connection.execute(_FORGET, values)
            for table in reversed(COLUMNS):  # what belongs to another row stands after it
                connection.execute(_DROP.format(table=sql.Identifier(table)), values)
        drop_vector_indexes(database.server, build)
