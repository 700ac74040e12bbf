"""The settings of the PostgreSQL server, for those who store an index, a history or a vault there."""

from dataclasses import dataclass

from commonplace.model import option


@dataclass(frozen=True, slots=True)
class PostgresqlOptions:
    """The block `postgresql`."""

    url: str | None = option(
        None,
        "The database, such as postgresql://commonplace@db.example.org/commonplace. A password belongs into ~/.pgpass "
        "or the variable PGPASSWORD, not here.",
    )
    tenant: str | None = option(
        None, "The name of this vault in the database, the same on every machine; else a random one of this machine."
    )
    connections: int = option(
        20, "The most connections of one process; further requests wait.", at_least=1, at_most=1000
    )
    partitions: int = option(
        16,
        "Into how many partitions the large tables are divided when they are created; 0 for none, as Citus needs.",
        at_least=0,
        at_most=1024,
    )
