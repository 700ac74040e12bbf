"""A note's text: bytes split into frontmatter and body, line numbers, plain text without markup, diffs.

Splitting and rendering are inverse: a note that is split and rendered has the same bytes. A diff is applied exactly, or
where the lines around a change stand once; never by guessing.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

BOM = "\ufeff"
_FENCE = re.compile(r"---[ \t]*(?:\r?\n|\Z)")
_CLOSING = re.compile(r"^---[ \t]*(?:\r?\n|\Z)", re.MULTILINE)
_KEY = re.compile(r"""(?:[^\W\d][\w -]*|"[^"\n]+"|'[^'\n]+')[ \t]*:(?:[ \t]|\r?\n|\Z)""")
_ESCAPED_BYTE = re.compile("[\udc80-\udcff]")
_LINE_FEED = re.compile("\n")
_LINK = re.compile(r"!?\[\[([^\[\]|]*+)(?:\|([^\[\]]*+))?\]\]|!?\[([^\[\]]*+)\]\([^()\s]*+\)")
_BLOCK_ID = re.compile(r"\s\^[A-Za-z0-9-]++\s*\Z")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_EMPHASIS = re.compile(r"\*+|~~|==|`+|(?<!\w)_+|_+(?!\w)")


@dataclass(frozen=True, slots=True)
class NoteText:
    """A note's text in five parts; joined in this order they are the whole note.

    Bytes that are not UTF-8 are surrogates in it (`surrogateescape`), and `bad_line` is the first line with one.
    `opening`, `block` and `closing` are empty if there is no frontmatter.
    `unclosed` is True if the note opens a frontmatter with a key and never closes it; all of it is body then.
    """

    bom: str
    opening: str
    block: str
    closing: str
    body: str
    bad_line: int | None
    unclosed: bool

    @property
    def text(self) -> str:
        """The whole note."""
        return self.bom + self.head + self.body

    @property
    def head(self) -> str:
        """The frontmatter with its two fences."""
        return self.opening + self.block + self.closing


class LineIndex:
    """The offsets at which a text's lines begin, numbered from `first`. Only a line feed ends a line."""

    __slots__ = ("_first", "_length", "_starts")

    def __init__(self, text: str, *, first: int = 1) -> None:
        self._first = first
        self._length = len(text)
        self._starts = [0, *(match.end() for match in _LINE_FEED.finditer(text))]

    def number(self, offset: int) -> int:
        """The number of the line that contains this offset."""
        return bisect_right(self._starts, offset) - 1 + self._first

    def start(self, number: int) -> int:
        """The offset at which this line begins; the text's length for a line past its end."""
        index = number - self._first
        return self._starts[index] if index < len(self._starts) else self._length


def split_note(raw: bytes) -> NoteText:
    """The parts of a note. Accepts any bytes."""
    text, bad_line = _decode(raw)
    bom = BOM if text.startswith(BOM) else ""
    opening = _FENCE.match(text, len(bom))
    if not opening:
        return NoteText(bom, "", "", "", text[len(bom) :], bad_line, unclosed=False)
    closing = _CLOSING.search(text, opening.end())
    if not closing:
        unclosed = _KEY.match(text, opening.end()) is not None
        return NoteText(bom, "", "", "", text[len(bom) :], bad_line, unclosed)
    block = text[opening.end() : closing.start()]
    return NoteText(bom, opening.group(), block, closing.group(), text[closing.end() :], bad_line, unclosed=False)


def render_note(note: NoteText) -> bytes:
    """The note's bytes, exactly those it was split from."""
    return note.text.encode("utf-8", "surrogateescape")


def replace_invalid_bytes(text: str) -> str:
    """The text with a replacement character for every byte that is not UTF-8; its length stays the same."""
    return _ESCAPED_BYTE.sub("\ufffd", text)


def strip_markup(text: str) -> str:
    """The text of a heading as a reader sees it: links as their text, without emphasis, code marks and block id."""
    without_links = _LINK.sub(_link_text, _BLOCK_ID.sub("", text))
    words = _EMPHASIS.sub("", _ESCAPE.sub(r"\1", without_links))
    return " ".join((words if words.strip() else text).split())


def note_diff(before: bytes | None, after: bytes | None, *, path: str, to: str | None = None) -> str:
    """A unified diff as git shows it; empty if nothing differs. `to` is the new path of a note that was moved."""
    from difflib import unified_diff  # most commands show no diff

    head = f"rename from {path}\nrename to {to}\n" if to else ""
    if before == after:
        return head
    lines = unified_diff(
        _split_lines(before),
        _split_lines(after),
        fromfile="/dev/null" if before is None else f"a/{path}",
        tofile="/dev/null" if after is None else f"b/{to or path}",
    )
    return head + "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def _decode(raw: bytes) -> tuple[str, int | None]:
    """The text, and the first line that is not UTF-8."""
    try:
        return raw.decode("utf-8"), None
    except UnicodeDecodeError as error:
        return raw.decode("utf-8", "surrogateescape"), raw.count(b"\n", 0, error.start) + 1


def _link_text(match: re.Match[str]) -> str:
    target, alias, words = match.groups()
    return words if target is None else (alias or target)


def _split_lines(content: bytes | None) -> list[str]:
    """The lines with their endings; only a line feed ends one."""
    text = replace_invalid_bytes((content or b"").decode("utf-8", "surrogateescape"))
    return [line for line in re.split(r"(?<=\n)", text) if line]


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
