"""A three-way merge of one note, by `git merge-file`."""

import tempfile
from pathlib import Path
from typing import Final

from commonplace.errors import VaultUnavailable
from commonplace.vault.base import Merge
from commonplace.vault.git.program import Git, failed

_MOST_CONFLICTS: Final = 127  # merge-file's exit status is the number of conflicts, at most this
_OPENS, _CLOSES = b"<<<<<<< ", b">>>>>>> "


def merge(git: Git, *, base: bytes, ours: bytes, theirs: bytes) -> Merge:
    """What comes of both changes of the base, in the line ending of `ours`."""
    ending = b"\r\n" if b"\r\n" in ours else b"\n"
    try:
        with tempfile.TemporaryDirectory(prefix="commonplace-merge-") as folder:
            names = []
            for name, content in (("ours", ours), ("base", base), ("theirs", theirs)):
                file = Path(folder, name)
                file.write_bytes(_with(content, ending))
                names.append(str(file))
            labels = ("-L", "now", "-L", "before", "-L", "other")
            answer = git.ask("merge-file", "-p", *labels, *names, settings=("merge.conflictStyle=merge",))
    except OSError as error:
        raise VaultUnavailable(
            f"could not keep the sides of a merge: {error.strerror}", hint="Check the folder for temporary files."
        ) from error
    if answer.ok:
        return Merge(answer.out, None)
    if answer.code <= _MOST_CONFLICTS:
        return Merge(answer.out, _first_conflict(answer.out))
    if "binary" in answer.err:
        return Merge(ours, "the note holds bytes that are no text")
    raise failed("merge-file", answer.err)


def _with(content: bytes, ending: bytes) -> bytes:
    return content.replace(b"\r\n", b"\n").replace(b"\n", ending)


def _first_conflict(content: bytes) -> str:
    shown: list[bytes] = []
    for line in content.splitlines(keepends=True):
        if shown or line.startswith(_OPENS):
            shown.append(line)
        if shown and line.startswith(_CLOSES):
            break
    return b"".join(shown).decode(errors="replace")
