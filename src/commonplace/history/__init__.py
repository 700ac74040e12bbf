"""What happened and cannot be derived from notes: audit, grants, model calls, conversations and use of facts.

- base        the seam: terms, values and the `History` Protocol, by subject
- normalize   validate and normalize what comes in: messages, threads, topic locks; the same for every implementation
- sqlite/     the history in `history.db`: audit with grants and calls, conversations with usage; and the append-only
              files in which conversations are kept
- inmemory/   the twin in lists and dictionaries
"""
