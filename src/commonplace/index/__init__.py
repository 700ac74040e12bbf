"""The index: fast lookup of documents, chunks and facts. All of it is derived and can be rebuilt from the vault.

- base              the seam: terms, values, and the `Index`, `IndexReader` and `VectorCache` Protocols
- document_values   values that every index derives from a document and its facts
- segments/         the search engine: postings and vectors in immutable files, no SQL
- sqlite/           the index in `index.db`, with segments next to it, and the vector cache
- inmemory/         the twin in plain Python

File formats: docs/formats/index.md (the tables) and docs/formats/segments.md (the segment files).
"""
