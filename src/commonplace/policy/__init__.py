"""Who may write where, and who sees what: pure decisions, no I/O.

write_policy   the table of spaces and actors: allow, redirect, stage or refuse a change; marks of trust in a note
sensitivity    which notes are sensitive, and how much of them each audience sees
options        the settings blocks `safety` and `serve`; globs for paths that no command lists
"""
