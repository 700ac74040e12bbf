"""Unified diffs, applied to a note exactly, or where the lines around a change stand once; never by guessing."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from commonplace.notes.note_text import note_diff

_HUNK: Final = re.compile(r"@@ -(\d+)(?:,\d+)? \+\d+(?:,\d+)? @@")
_NO_END: Final = "\\ No newline"


@dataclass(frozen=True, slots=True)
class _Hunk:
    """Lines that are replaced by others; `start` is the place of the first, from 0, in the text it was made from."""

    start: int
    old: tuple[str, ...]
    new: tuple[str, ...]


def make_patch(before: bytes | None, after: bytes, *, path: str) -> str:
    """The diff from the one to the other, with the header that git writes. Raises ValueError for other than UTF-8."""
    for content in (before or b"", after):
        try:
            content.decode()
        except UnicodeDecodeError as error:
            raise ValueError(f"{path} is not UTF-8") from error
    return note_diff(before, after, path=path)


def apply_patch(text: str, patch: str, *, is_base: bool) -> str | None:
    """The text after the patch; None if it does not fit.

    `is_base` says that the text is the one that the patch was made from. Elsewhere the lines of each hunk must stand
    there once and only once; a hunk whose result stands there already is done.
    """
    lines, end, shift = _lines(text), 0, 0
    for hunk in _hunks(patch):
        place = hunk.start + shift if is_base else _only_place(hunk.old, lines, start=end)
        if place is None or tuple(lines[place : place + len(hunk.old)]) != hunk.old:
            place = None if is_base else _only_place(hunk.new, lines, start=end)
            if place is None:
                return None
        else:
            lines[place : place + len(hunk.old)] = hunk.new
            shift += len(hunk.new) - len(hunk.old)
        end = place + len(hunk.new)
    return "".join(lines)


def patch_changes(patch: str) -> tuple[str, ...]:
    """The lines that the patch removes and adds, without their context: the same wherever they stand."""
    _, found, body = patch.partition("\n@@ ")
    return tuple(line for line in _lines(found + body) if line[:1] in "+-")


def _hunks(patch: str) -> Iterator[_Hunk]:
    start, old, new, last = -1, list[str](), list[str](), ""
    for line in _lines(patch):
        if match := _HUNK.match(line):
            if start >= 0:
                yield _Hunk(start, tuple(old), tuple(new))
            start, old, new = max(int(match[1]) - 1, 0), [], []
        elif start < 0:
            continue
        elif line.startswith(_NO_END):
            for side in {" ": (old, new), "-": (old,), "+": (new,)}[last]:
                side[-1] = side[-1].removesuffix("\n")
        else:
            last, content = (line[:1], line[1:]) if line[:1] in " +-" else (" ", line)
            old += [content] if last != "+" else []
            new += [content] if last != "-" else []
    if start >= 0:
        yield _Hunk(start, tuple(old), tuple(new))


def _only_place(wanted: Sequence[str], lines: Sequence[str], *, start: int) -> int | None:
    """Where these lines stand at or after `start`; None if nowhere, or in several places."""
    size = len(wanted)
    if not size:
        return None
    places = [at for at in range(start, len(lines) - size + 1) if tuple(lines[at : at + size]) == tuple(wanted)]
    return places[0] if len(places) == 1 else None


def _lines(text: str) -> list[str]:
    """The lines with their endings; only a line feed ends one."""
    return [line for line in re.split(r"(?<=\n)", text) if line]
