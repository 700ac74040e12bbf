"""A new index in the place of an old one, for every process at once and without a moment in between.

The name of the index becomes a link to the new file. SQLite keeps its log beside the file that a link means, so the
old file's log and the new one's never share a name.
"""

import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from uuid import uuid4

from commonplace.database import Database, database_trouble
from commonplace.database.trouble import locked
from commonplace.errors import IndexDamaged
from commonplace.index.sqlite.folder import only_one
from commonplace.index.sqlite.schema import WORDING


@contextmanager
def replacing(file: Path, database: Database, *, wait: float) -> Iterator[Path]:
    """A path for a new index, which takes the place of the one in `file` when the block ends well.

    Raises VaultUnavailable(locked) when another process is replacing it.
    """
    with ExitStack() as held:
        with database_trouble(file, WORDING):
            if not held.enter_context(only_one(file.with_name(f"{file.name}.lock"), wait=wait)):
                raise locked(file, WORDING)
            _clear(file)
        fresh = file.with_name(f"{file.name}.new-{uuid4().hex}")
        try:
            yield fresh
            with database_trouble(file, WORDING):
                _take_place(file, fresh, database)
        finally:
            with database_trouble(file, WORDING):
                _clear(file)


def segment_folder(file: Path) -> Path:
    """The folder of an index file's segments, beside it."""
    return file.with_name(f"{file.name}.segments")


def _take_place(file: Path, fresh: Path, database: Database) -> None:
    """Let no change of the old index be made and lost meanwhile; nobody can change one that is damaged."""
    try:
        with database.changing():
            _point(file, fresh)
    except IndexDamaged:
        _point(file, fresh)


def _point(file: Path, fresh: Path) -> None:
    link = fresh.with_name(f"{fresh.name}.link")
    link.symlink_to(fresh.name)
    link.replace(file)


def _clear(file: Path) -> None:
    """Take away what belongs to other files than the one that counts: the old ones, and those of a killed rebuild."""
    counting = file.resolve().name
    if counting != file.name:
        kept = (counting, f"{file.name}.lock")
        for each in file.parent.glob(f"{file.name}?*"):
            if not each.name.startswith(kept) or each.name == f"{counting}.lock-segments":
                _remove(each)
    else:
        for each in file.parent.glob(f"{file.name}.new-*"):
            _remove(each)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
