"""The items of a large JSON array, one at a time, in memory for one of them.

An export of years is one array of a gigabyte. The brackets and strings of each item are followed until its end, in one
pass over the bytes, and only then is it parsed; so a damaged or huge item costs itself and not the items after it.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

MAX_ITEM_BYTES: Final = 16 * 1024 * 1024
"""The largest item that is parsed. The longest conversations have some MB; parsed, one takes up to ten times more."""


class ByteStream(Protocol):
    """Anything that bytes can be read from."""

    def read(self, size: int, /) -> bytes:
        """The next bytes, at most `size`; none at the end."""


_READ: Final = 256 * 1024
_TOKEN: Final = re.compile(rb'"(?:[^"\\]++|\\.)*+"|["{}\[\]]', re.DOTALL)  # a whole string, or one mark
_TO_BRACKET: Final = re.compile(rb'(?:[^"{}\[\]]++|"(?:[^"\\]++|\\.)*+")*+["{}\[\]]', re.DOTALL)  # or half a string
_IN_STRING: Final = re.compile(rb'(?:[^"\\]++|\\.)*+', re.DOTALL)
_QUOTE: Final = ord('"')
_OPENING: Final = b"{["
_CLOSING: Final = b"}]"
_BLANK: Final = b" \t\r\n"
_BOM: Final = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class ArrayItem:
    """One item of an array, counted from 1: its value, or what is wrong with it."""

    number: int
    value: Any = None
    problem: str = ""


def array_items(stream: ByteStream, *, key: str = "", most: int = MAX_ITEM_BYTES) -> Iterator[ArrayItem]:
    """The items of the array that the stream holds, or of the first array below `key` in an object.

    An item that is larger than `most` bytes or not valid JSON has a problem; if the array is cut off or followed by
    something else than an item, a last item says so. Yields nothing if there is no array.
    """
    scanner = _Scanner(stream, most)
    if not scanner.enter_array(key):
        return
    number = 0
    while (piece := scanner.next_item()) is not None:
        number += 1
        yield _parsed(number, piece)
        if scanner.is_broken:
            return


@dataclass(frozen=True, slots=True)
class Outline:
    """What JSON a stream holds: the keys of an object, or of the first object of an array.

    `key` names the array in an object whose items these are; it is empty for the object itself or a plain array.
    `is_json` is False if there is neither an object nor an array.
    """

    is_json: bool = False
    is_array: bool = False
    key: str = ""
    keys: frozenset[str] = frozenset()


def outline(stream: ByteStream, *, lists: Sequence[str] = (), most: int = 1024 * 1024) -> Outline:
    """What is at the beginning of the stream; `lists` are the keys of an object whose items are looked at instead.

    Looks at no more than `most` bytes: of a longer object, the keys that begin within them.
    """
    beginning = stream.read(most).removeprefix(_BOM).lstrip(_BLANK)
    if beginning[:1] not in (b"[", b"{"):
        return Outline()
    keys = frozenset(_object_keys(beginning))
    if beginning[:1] == b"[":
        return Outline(is_json=True, is_array=True, keys=keys)
    for key in lists:
        if key in keys and (match := _array_start(key).search(beginning)):
            return Outline(is_json=True, key=key, keys=frozenset(_object_keys(beginning[match.end() :])))
    return Outline(is_json=True, keys=keys)


def _array_start(key: str) -> re.Pattern[bytes]:
    return re.compile(rb'"' + re.escape(key.encode()) + rb'"\s*:\s*\[')


def _object_keys(content: bytes) -> Iterator[str]:
    """The keys of the first object, which may be the first item of an array."""
    start = content.find(b"{")
    if start < 0 or content[:start].strip(_BLANK + b"["):
        return
    depth = 0
    for match in _TOKEN.finditer(content, start):
        token = match[0]
        if token in (b"{", b"["):
            depth += 1
        elif token in (b"}", b"]"):
            depth -= 1
            if depth == 0:
                return
        elif depth == 1 and content[match.end() : match.end() + 8].lstrip(_BLANK)[:1] == b":":
            yield token[1:-1].decode(errors="replace")


def _parsed(number: int, piece: bytes | str) -> ArrayItem:
    if isinstance(piece, str):
        return ArrayItem(number, problem=piece)
    try:
        return ArrayItem(number, json.loads(piece))
    except json.JSONDecodeError as error:
        return ArrayItem(number, problem=f"not valid JSON: {error.msg.lower()}")
    except UnicodeDecodeError:
        return ArrayItem(number, problem="not UTF-8 text")
    except (RecursionError, ValueError):  # endlessly nested lists, a number of thousands of digits
        return ArrayItem(number, problem="nested too deeply, or a number is too long")


class _Scanner:
    """A position in the bytes of a stream: what was read and not yet used, and the place in it."""

    def __init__(self, stream: ByteStream, most: int) -> None:
        self._stream, self._most = stream, most
        self._bytes, self._at = stream.read(_READ).removeprefix(_BOM), 0
        self.is_broken = False

    def enter_array(self, key: str) -> bool:
        """Move behind the opening bracket of the array; False if there is none."""
        if self._peek() == b"[":
            self._at += 1
            return True
        if not key or self._peek() != b"{":
            return False
        # The array is near the beginning: the objects that we know have a few short fields before it.
        pattern = _array_start(key)
        while not (match := pattern.search(self._bytes)):
            if len(self._bytes) > self._most or not self._read_more():
                return False
        self._at = match.end()
        return True

    def next_item(self) -> bytes | str | None:
        """The bytes of the next item, a sentence about one that cannot be read, or None after the last one."""
        mark = self._peek()
        if mark == b",":
            self._at += 1
            mark = self._peek()
        if mark == b"]":
            return None
        if mark in (b"{", b"["):
            return self._balanced()
        self.is_broken = True
        return "the file ends in the middle" if not mark else "the file is damaged here; what follows was not read"

    def _peek(self) -> bytes:
        """The next byte that is not blank; empty at the end."""
        while True:
            while self._at < len(self._bytes) and self._bytes[self._at] in _BLANK:
                self._at += 1
            if self._at < len(self._bytes):
                return self._bytes[self._at : self._at + 1]
            if not self._read_more():
                return b""

    def _read_more(self) -> bool:
        """Drop what was used and read on; False at the end of the stream."""
        more = self._stream.read(_READ)
        self._bytes, self._at = self._bytes[self._at :] + more, 0
        return bool(more)

    def _balanced(self) -> bytes | str:
        """The bytes up to the bracket that closes the one at the position; a sentence if they are too many."""
        pieces, size, depth, in_string, skip = list[bytes](), 0, 0, False, 0
        while True:
            end, depth, in_string, skip = _follow(self._bytes, self._at + skip, depth, in_string=in_string)
            used = min(end, len(self._bytes))
            size += used - self._at
            if size <= self._most:
                pieces.append(self._bytes[self._at : used])
            self._at = used
            if depth == 0 and not in_string:
                break
            if not self._read_more():
                self.is_broken = True
                return "the file ends in the middle of it"
        return b"".join(pieces) if size <= self._most else f"it is larger than {self._most // 1024 // 1024} MB"


def _follow(content: bytes, at: int, depth: int, *, in_string: bool) -> tuple[int, int, bool, int]:
    """Follow brackets and strings from a position until the outermost bracket closes, or the bytes end.

    Returns the position, the depth, whether it is within a string, and how many bytes after the end are to be skipped:
    one if the last byte escapes the next.
    """
    end = len(content)
    while at < end:
        if in_string:
            stop = _IN_STRING.match(content, at).end()  # type: ignore[union-attr]  # it matches nothing, too
            if content[stop : stop + 1] != b'"':
                return end, depth, True, end - stop  # the bytes end there, or with half an escape
            at, in_string = stop + 1, False
        elif not (match := _TO_BRACKET.match(content, at)):
            break
        else:
            at = match.end()
            mark = content[at - 1]
            in_string = mark == _QUOTE
            depth += (mark in _OPENING) - (mark in _CLOSING)
            if depth == 0 and not in_string:
                return at, 0, False, 0
    return end, depth, in_string, 0
