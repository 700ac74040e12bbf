"""Commonplace as a later version would be: each area of its tables has one more migration, or two.

The first only adds, as ours do: a column to every table and a table of its own. With the variable ENDS_OLDER there is a
second one, which ends programs that do not know it. A child of a warm process calls `run_newer`.
"""

import os
from typing import Final

from commonplace.database.postgresql import Area, Migration, TenantTable
from commonplace.history.postgresql.schema import HISTORY_AREA
from commonplace.identity.postgresql import IDENTITY_AREA
from commonplace.index.postgresql.schema import AREA as INDEX_AREA
from commonplace.index.postgresql.schema import VECTOR_CACHE_AREA
from commonplace.vault.postgresql.schema import AREA as VAULT_AREA
from tests.warm import run_program

ENDS_OLDER: Final = "TEST_ENDS_OLDER"
NEWER: Final = "tests.newer_program:run_newer"
_PREFIXES: Final = {"index": "memory_", "vectors": "cached_", "history": "history_", "vault": "vault_"}
_ADD_COLUMNS: Final = """
DO $$ DECLARE each record; BEGIN
  FOR each IN SELECT relname AS name FROM pg_class
      WHERE relkind IN ('r', 'p') AND NOT relispartition AND starts_with(relname, '{prefix}') LOOP
    EXECUTE format('ALTER TABLE %I ADD COLUMN since_newer text DEFAULT ''new''', each.name);
  END LOOP;
END $$
"""


def with_more(area: Area) -> tuple[Migration, ...]:
    """The migrations of an area in that later version."""
    prefix = _PREFIXES.get(area.name, f"{area.name}_")
    added = TenantTable(f"{prefix}since_newer", "name text NOT NULL", "name", partitioned=True)
    more: tuple[Migration, ...] = (Migration((_ADD_COLUMNS.format(prefix=prefix), added)),)
    if os.environ.get(ENDS_OLDER):
        more += (Migration((f"ALTER TABLE {added.name} ADD COLUMN colour text",), ends_older=True),)
    return (*area.migrations, *more)


def run_newer(*_: str) -> None:
    """Do what `commonplace WORDS` does in that version."""
    for each in (INDEX_AREA, VECTOR_CACHE_AREA, HISTORY_AREA, IDENTITY_AREA, VAULT_AREA):
        object.__setattr__(each, "migrations", with_more(each))
    run_program()
