"""READ FIRST. Every path through the program is one function in this package; the rooms on lower floors do its steps.

A verb of `Memory` calls the main function of one flow. It reads from and writes to `Stores` (one opened vault: notes,
history, index, encoders, settings) for a `Session` (an actor and a clock), and lets pure rooms decide.

    read           a path or a folder -> the guard of every verb -> bytes -> notes, links, Problems
    notes/         text -> guard -> policy -> vault -> commit -> index                    write move undo erase log
    ingest/        files and other sources -> documents -> chunks -> vectors -> index    sync watch rebuild
    search/        a question -> words and vectors -> candidates -> ranked hits
    memory/        a statement -> screened -> compared with what is known -> an entry    save amend review facts lint
    context/       a prompt -> notes, facts and passages -> one fenced text
    conversations  messages or an agent's transcript -> without secrets -> corrections -> history -> index
    learn/         a conversation or a marked note -> facts with quotes -> `memory.save`   queue extract settle
    templates/     something that happened -> what memory knows -> a template -> a note, written once
    import_files   files of other programs -> recognised by shape -> conversations, notes, entries -> a report
    day            a day -> what happened on it, in order
    calendars      files and servers -> texts -> events -> the mirror in the history; events that ended
    evaluate       a vault's own headings and links -> questions -> how often each search mode finds the note
    doctor         every part checked in turn -> findings, each with its remedy

    stores         `Stores` and `Session`
    encode         texts -> vectors, from the cache or the encoder; used by ingest, search, memory and context
    as_of          the vault as of a past moment; used by search and memory
    project        a folder -> the repository that contains it, as a project; used by memory, context, conversations

Two rules for all of them. Every change of a note goes through `notes.write.change`, which also brings the index up to
date. Code that needs a current index calls `refresh_note` or `index_entries` in `ingest.index_notes`.
"""
