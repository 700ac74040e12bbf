"""Git for a vault, through plumbing commands.

A commit of ours touches exactly our paths, whatever else a person has staged, edited or configured.

- `repository`  the facade that the rest of the vault uses
- `baseline`    what the first commit of a new vault holds and leaves out, and the repository for it
- `location`    where the repository is: its working tree, git directory and the vault's prefix; damage in it
- `state`       the branch, an operation in progress, change stamps of index and branch
- `path_state`  what git knows about paths: blobs, attributes, ignored, excluded
- `conversion`  line endings and encodings on the way into git and out
- `commit`      commits: objects, branch and index, moved together under git's locks
- `collisions`  traces of a person's git command that one of our commits met halfway
- `objects`     trees read and changed, and new objects written
- `index_file`  the index file read and changed
- `history`     revisions, trailers, the tree at a point in time, three-way merge
- `isolation`   the configuration that git sees: ours, with what an allowlist takes from the repository's
- `run`         the git process: environment, settings, errors
"""
