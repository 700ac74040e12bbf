"""Where notes are stored: the seam, its four backends, and what makes their changes safe.

- `base`             the seam: `StorageBackend`, `Transaction` and the values they exchange
- `obsidian`         the backend `obsidian-vault`: a folder under git; how a transaction is carried out
- `local`            the backend `device-local`: a folder without history
- `inmemory`         the backend `in-memory`: a dictionary
- `postgresql/`      the backend `postgresql`: rows of a database
- `file_table`       which file a path means, and what a transaction makes of files, for backends without a file system
- `options`          the settings of a vault
- `contract_errors`, `paths`  rules that every backend shares
- `changes`          the changes of a transaction, collected and checked for duplicates
- `batch`, `atomic`, `temporary_files`  changes to a folder: planned together, published atomically, undone on failure
- `journal`, `recovery`  what makes a crash harmless
- `folder`, `tree`, `files`  reading a folder without following links; its lock: one writer at a time
- `watch`            events for changes in a store
- `syscalls`         renames, fsync, signals and OS errors
- `git/`             the repository
"""
