"""Copies that sync programs leave when a note was changed in two places at once: known by their names."""

import re
from typing import Final

_WORDS: Final = re.compile(
    r"""
    \.sync-conflict-\d{8}-\d{6}(?:-[A-Z0-9]{7})?  # Syncthing: note.sync-conflict-20240101-120000-ABCDEFG.md
    | \ ?\([^()]*\bconflicted\ copy\b[^()]*(?:\(\d+\))?\)  # Dropbox, Nextcloud, Obsidian: (conflicted copy ...)
    | _conflict-\d{8}-\d{6}  # ownCloud before 2.5: note_conflict-20240101-120000.md
    """,
    re.VERBOSE | re.IGNORECASE,
)


def conflict_copy(path: str) -> str | None:
    """The path of the note that this is a conflict copy of; None for a path that is no such copy.

    A bare number such as `note (1).md` says nothing of a conflict: many notes are called so.
    """
    folder, slash, name = path.rpartition("/")
    found = _WORDS.search(name)
    if found is None or not name[: found.start()]:
        return None
    return f"{folder}{slash}{name[: found.start()]}{name[found.end() :]}"
