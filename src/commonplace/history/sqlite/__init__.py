"""The history in a SQLite file, `history.db`, with its conversations in files beside it.

- history              `SqliteHistory`: the statements of `sql/` on one file, kept at the same content as the files
- schema               the tables, as numbered migrations
- conversation_files   append-only files in which conversations are kept
"""
