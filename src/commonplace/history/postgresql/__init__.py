"""The history of one tenant in PostgreSQL; conversations are rows like everything else.

- history   `PostgresqlHistory`: the statements of `sql/` in the transactions of one tenant
- schema    the tables, as numbered migrations
"""
