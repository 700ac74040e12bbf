"""The index in a SQLite file, `index.db`, with memory-mapped segments next to it; and the vector cache, `vectors.db`.

- store          `SqliteIndex`: every change, each in one transaction
- queries        `SqliteReader`: search, chunks, counts, links; built on `fact_queries`: facts, entities, topics
- documents      rows of documents, chunks and vectors, written and read
- links          rows of links, and how they are resolved again
- facts          rows of facts and topics, and how they are kept up to date
- filters        filters as SQL
- snapshots      segments and caches of one state of the index, in memory
- maintenance    writing and merging segment files, erasing, replacing the index
- schema         the tables
- vector_cache   vectors by encoder version and text hash

The search engine itself is in `index/segments`.
"""
