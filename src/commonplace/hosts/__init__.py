"""Hosts: the programs in which agents run, and the entries in their files by which they reach us.

From what a person asks down to the bytes of a file, each step knows only those below it:

    checking, consent, leaving      whether a host still reaches us; what a person is told; what is left at the end
    installing                      does it: the record first, then the files; and takes it back
    planning                        what would change, file by file; nothing is written
    record, applying, access        what is installed where; files changed whole; the token for HTTP
    known                           the hosts by name: claude_code, codex, cursor, vscode
    host, hook_entries, around      what a host is; the hooks in its file; where this process is
    edits                           an entry put into a text and taken out again, in any of three forms
    jsonc_edits, toml_edits, marked one form each: JSON with comments, TOML, a marked block in Markdown
    jsonc, jsonc_layout, toml_lines how such a text is read, and how it is laid out
    appended, trace, ours           a block at the end; what taking back has to know; how our own entries are known
"""
