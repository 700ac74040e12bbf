"""What happened and cannot be derived from notes: audit, grants, model calls, conversations and use of facts.

- base        the seam: terms, values and the `History` Protocol, by subject
- normalize   validate and normalize what comes in: messages, threads, topic locks; the same for every implementation
- options     where the history is stored
- sql/        the statements and methods of a history in SQL, for both databases; copies from one to the other
- sqlite/     the history in `history.db`, and the append-only files in which conversations are kept
- postgresql/ the history of one tenant in a database that several machines share
- inmemory/   the twin in lists and dictionaries
"""
