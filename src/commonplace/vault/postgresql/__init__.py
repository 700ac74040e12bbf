"""The backend `postgresql`: notes are rows of a database, and every transaction is a commit there.

- `schema`   the tables
- `files`    the files as they are now: which row a path means, reading, listing, writing
- `commits`  the history: commits, old versions, what each commit changed; erasing a file from it
- `watch`    events for changes, by notifications of the server
- `store`    the backend
- `streams`  the whole history as a stream that git reads, and back
"""
