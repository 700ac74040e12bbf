"""Paths that git is told never to take: lines in `info/exclude`, which belongs to this clone and is not committed."""

import os
import re
from pathlib import Path
from typing import Final

from commonplace.errors import Refused
from commonplace.vault.git.knowledge import Knowledge
from commonplace.vault.git.place import Place
from commonplace.vault.trouble import disk_trouble

_SPECIAL: Final = re.compile(r"([\\*?\[])")  # what a pattern would not take for itself


def is_excluded(place: Place, path: str) -> bool:
    """Whether there is a line for exactly this path."""
    return _line(place, path) in _read(_file(place)).splitlines()


def exclude(place: Place, path: str) -> None:
    """Add a line for this path behind those that are there, unless it is one of them."""
    file = _file(place)
    before = _read(file)
    line = _line(place, path)
    if line in before.splitlines():
        return
    gap = b"" if before.endswith(b"\n") or not before else b"\n"
    with disk_trouble(str(file), doing="write"):
        file.parent.mkdir(exist_ok=True)
        with file.open("ab") as lines:
            lines.write(gap + line + b"\n")


def refuse_held(knowledge: Knowledge, path: str) -> None:
    """Raise Refused when git has the file: it would commit every change of it."""
    if knowledge.modes([path]):
        raise Refused(
            f"git holds this file, and what is generated must not be committed: {path}",
            path=path,
            hint=f"Run 'git rm \"{path}\"' and commit that; the file is then made anew and left out of git.",
        )


def refuse_unless_ignored(knowledge: Knowledge, path: str) -> None:
    """Raise Refused when git has the file, or would take it in spite of its line: a .gitignore counts for more."""
    if knowledge.ignored([path]):
        return
    refuse_held(knowledge, path)
    raise Refused(
        f"a .gitignore lets git take this path, and what is generated must not be committed: {path}",
        path=path,
        hint=f"Find that line with 'git check-ignore -v --no-index \"{path}\"', and add the path behind it.",
    )


def _file(place: Place) -> Path:
    return place.common_dir / "info" / "exclude"


def _line(place: Place, path: str) -> bytes:
    """The pattern that git takes for this one file, whatever characters are in its path."""
    return os.fsencode("/" + _SPECIAL.sub(r"\\\1", place.inside(path)))


def _read(file: Path) -> bytes:
    with disk_trouble(str(file), doing="read"):
        return file.read_bytes() if file.exists() else b""
