"""By what we see, without asking git, that something may have changed: marks of its files."""

import os
from pathlib import Path

from commonplace.vault.git.place import Place

Mark = tuple[int, ...]
"""Changes whenever the file does; empty when there is none."""

State = tuple[Mark | bytes, ...]
"""Changes whenever the index does, or what HEAD stands for."""

_CHECKSUM_LENGTH = 32
_REFERENCE = b"ref: "


def mark_of(path: str | Path) -> Mark:
    """The mark of a file as it is now."""
    try:
        found = os.stat(path)
    except OSError:
        return ()
    return (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)


def state_of(place: Place) -> State:
    """The state of index and branch as it is now.

    The index ends in its checksum and a branch's file is an id, so both are told by what they hold, not by time alone.
    """
    index, head = place.git_dir / "index", place.git_dir / "HEAD"
    target = _read(head).strip()
    branch = target.removeprefix(_REFERENCE) if target.startswith(_REFERENCE) else b"HEAD"
    return (
        mark_of(index),
        _read(index, last=_CHECKSUM_LENGTH),
        target,
        _read(place.common_dir / os.fsdecode(branch)),
        mark_of(place.common_dir / "packed-refs"),
        mark_of(place.common_dir / "reftable" / "tables.list"),
    )


def _read(path: Path, *, last: int | None = None) -> bytes:
    try:
        with path.open("rb") as file:
            if last is not None:
                file.seek(-last, os.SEEK_END)
            return file.read()
    except OSError:
        return b""
