"""Ingest: bring the index up to date with the vault and the other sources.

In: the vault, or a few paths in it; items of other sources. Out: documents in the index, and a `SyncReport`.

    sync               the whole vault compared with the index, both ways; a rebuild; a fresh index from documents
    index_notes        given notes: read -> parse -> unchanged, renamed or new? -> chunk -> encode -> store; and unindex
    watch              saves, renames and removals on disk -> index_notes; now and then a sync
    documents          a note, or an item of another source -> chunks, words, facts, metadata: what the index stores
    memory_index_note  the generated `Agent/Memory/_index.md`, rewritten after entries change
"""
