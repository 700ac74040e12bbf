"""Memory that does not come from notes: conversations, and what programs write about them.

- base               the seam: a source, its items and their passages
- conversations      the source of recorded conversations
- transcripts        conversations in files that people import, and the transcripts that agent hosts write
- calendars          a person's calendars: files, addresses and CalDAV servers
- imports            exports and folders of other programs, recognised by their shape
- renames            renames, removals and conflict copies of notes, as a watcher sees them
- options            the settings `sources` and `capture`
"""
