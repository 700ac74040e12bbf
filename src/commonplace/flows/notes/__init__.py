"""Notes: every verb that changes them, and their log. (Reading is `flows.read`.)

In: a path, text, and the terms of a change. Out: what became of the change.

    write   text -> size, path, policy -> lock -> version, merge -> commit -> audit -> unlock -> index
            `change` is the function that all the following share
    move    the file and the links to it, in one commit
    history what was written, by whom and why; undo: the inverse of a commit, by three-way merge
    erase   a note for good, with all rows and derived data; reports what git still holds
"""
