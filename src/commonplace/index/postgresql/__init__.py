"""The index in PostgreSQL with pgvector, for many tenants and several machines; and the vector cache.

- store          `PostgresqlIndex`: `SqlIndex` on one build of a tenant's rows
- builds         which build is the index, how a new one replaces it, and builds for a past commit or an evaluation
- queries        `PostgresqlReader`: search; what is not search is in `index/tables`
- postings       words as rows: written by `optimize`, read for the words of a question
- vectors        vectors as rows: exact and approximate candidates, compared exactly
- statements     the statements of `index/tables`, rewritten for PostgreSQL and for one tenant and build
- schema         the tables
- vector_cache   vectors by encoder version and text hash

A process keeps little in memory: which documents there are, and the words of the newest chunks.
"""
