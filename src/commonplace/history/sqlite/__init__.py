"""The history in a SQLite file, `history.db`.

- history         `SqliteHistory`: audit, grants and model calls; the tables, as numbered migrations
- conversations   conversations, use of facts, topic locks, what their models have been given
"""
