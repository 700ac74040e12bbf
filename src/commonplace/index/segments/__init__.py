"""The search engine: word postings and vectors in immutable, memory-mapped files. No SQL.

- segment         the arrays of a segment: word hashes, postings, vectors; selections of chunks in them
- segment_file    the file format, and the policy that decides which segments to write and merge
- bm25            word search in segments: chunks, and whole documents
- vector_search   vector search in segments: nearest chunks, and similarity of documents
- quantize        vectors in 8 and in 4 bits; used by every index

`index/sqlite` stores the rows from which segments are built, and tells which files are current.
The format and its rules: docs/formats/segments.md.
"""
