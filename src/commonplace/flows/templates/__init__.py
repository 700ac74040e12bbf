"""Templates: something happened -> what memory knows about it -> a note, written once, that stays the person's.

In: a `TemplateRequest` and a function that gathers values. Out: a `WriteResult`.

    library  the templates: packaged ones, and those of the vault that replace them; a name and values -> a note
    people   the link to a person, and a short note for one who has none
    meetings an event of a calendar -> what memory knows about it
    profiles what memory knows about a person; sections of ours in a note that the person wrote
    write    redirect -> written before? -> gather -> draft by a model -> render -> write -> event; a changed source is
             rendered again, into the sections that nobody touched; what the person edited is only proposed
"""
