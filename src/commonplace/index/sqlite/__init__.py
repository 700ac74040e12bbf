"""The index in a SQLite file, `index.db`, with memory-mapped segments next to it; and the vector cache, `vectors.db`.

- store          `SqliteIndex`: `SqlIndex` on a file
- queries        `SqliteReader`: search; what is not search is in `index/tables`
- snapshots      segments and caches of one state of the index, in memory
- maintenance    writing and merging segment files, erasing, replacing the index
- schema         the tables
- vector_cache   vectors by encoder version and text hash

The rows are written and read by `index/tables`. The search engine itself is in `index/segments`.
"""
