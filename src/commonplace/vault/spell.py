"""How the disk spells a name: some systems write accents decomposed, and some open a file by a name of another case."""

import errno
import os
import unicodedata
from dataclasses import dataclass

from commonplace.vault.paths import spelling


@dataclass(frozen=True, slots=True)
class Found:
    """A name as it stands in a folder and the mode of what it names, links not followed.

    Where nothing stands, `mode` is None, `name` is as asked, and `twin` is a name there that differs in case alone.
    """

    name: str
    mode: int | None
    twin: str | None = None


def spell(folder: int, name: str) -> Found:
    """The name as the open folder spells it: exactly, else in another normalisation form."""
    found = _lstat(folder, name)
    if found is not None and not _opens_by_other_names(folder, name, found):
        return Found(name, found.st_mode)
    spelled = spelling(name, os.listdir(folder))
    found = _lstat(folder, spelled.name) if spelled.there else None
    return Found(spelled.name, found.st_mode if found is not None else None, spelled.twin)


def _opens_by_other_names(folder: int, name: str, found: os.stat_result) -> bool:
    """Whether this file system takes names that differ in case or form for one; then only its list tells the name."""
    others = {name.swapcase(), unicodedata.normalize("NFD", name), unicodedata.normalize("NFC", name)} - {name}
    for other in others:
        same = _lstat(folder, other)
        if same is not None and os.path.samestat(same, found):
            return True
    return False


def _lstat(folder: int, name: str) -> os.stat_result | None:
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False)
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ENAMETOOLONG):  # another form of a long name can be too long to be there
            return None
        raise
