"""A merge that git could not finish, told by the marks it leaves in a note: both versions, one below the other."""

import re
from typing import Final

from commonplace.model import Problem

_MARK: Final = re.compile(r"^(?P<mark><{7}|={7}|>{7})(?=[ \r\n]|\Z)", re.MULTILINE)
_MESSAGE: Final = (
    "git left a merge conflict here: keep what is right of the two versions, delete the lines that begin with "
    "<<<<<<<, ======= and >>>>>>>, and commit the note"
)


def merge_conflict(text: str, *, path: str) -> tuple[Problem, ...]:
    """A problem at the first mark of the first conflict; () where the three marks do not follow each other.

    Code is no exception: git marks lines wherever they are. A row of equals signs alone is the line under a heading.
    """
    if "<<<<<<<" not in text or ">>>>>>>" not in text:
        return ()
    begins, is_divided = None, False
    for found in _MARK.finditer(text):
        sign = found["mark"][0]
        if sign == "<":
            begins, is_divided = found.start(), False
        elif sign == "=":
            is_divided = begins is not None
        elif begins is not None and is_divided:
            return (Problem(path, text.count("\n", 0, begins) + 1, _MESSAGE, "merge-conflict"),)
    return ()
