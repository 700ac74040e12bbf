"""JSON with comments and trailing commas, as a tree that knows where each part stands in the text."""

import json
import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

BOM: Final = "\ufeff"
_DEEPEST: Final = 200  # no program's settings are nested deeper; the reader would fall over its own feet
_SPACE: Final = re.compile(r"[ \t\r\n]+")
_LINE_COMMENT: Final = re.compile(r"//[^\r\n]*")
_BLOCK_COMMENT: Final = re.compile(r"/\*.*?\*/", re.DOTALL)
_STRING: Final = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_SCALAR: Final = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null")

Keys = tuple[str, ...]
"""The names on the way from the root to a value."""


class NotParsed(ValueError):
    """The text is not what it should be; `line` says where, counted from one."""

    def __init__(self, message: str, *, line: int) -> None:
        super().__init__(message)
        self.message, self.line = message, line


@dataclass(frozen=True, slots=True)
class Item:
    """A member of an object or an element of an array, from `start` to `end`; `comma` is where its comma stands."""

    key: str
    start: int
    value: "Node"
    comma: int | None

    @property
    def end(self) -> int:
        """Where it ends: behind its value."""
        return self.value.end


@dataclass(frozen=True, slots=True)
class Node:
    """A value: what it says, and the part of the text that says it."""

    start: int
    end: int
    said: Any
    items: tuple[Item, ...] = ()

    def member(self, key: str) -> Item | None:
        """The member of that name; of several, the last, which is the one that counts."""
        return next((item for item in reversed(self.items) if item.key == key), None)


@dataclass(frozen=True, slots=True)
class Document:
    """A text, its value, and its comments by where they begin and end."""

    text: str
    root: Node
    comments: tuple[tuple[int, int], ...]

    def at(self, path: Keys) -> Node | None:
        """The value at the end of this path of names; None where there is none."""
        node = self.root
        for key in path:
            item = node.member(key) if isinstance(node.said, dict) else None
            if item is None:
                return None
            node = item.value
        return node

    def comment_from(self, place: int) -> int | None:
        """Where the comment ends that begins here; None where none does."""
        number = bisect_left(self.comments, (place, 0))
        found = self.comments[number : number + 1]
        return found[0][1] if found and found[0][0] == place else None

    def is_line_comment_before(self, place: int) -> bool:
        """Whether a comment that lasts to the end of its line ends here."""
        return any(end == place and self.text.startswith("//", start) for start, end in self.comments)


def parse(text: str) -> Document:
    """The text as a tree. Raises NotParsed where it is no JSON, comments and trailing commas aside."""
    reader = _Reader(text)
    root = reader.value(depth=0)
    reader.skip()
    if reader.place < len(text):
        raise reader.trouble("something follows the end")
    return Document(text, root, tuple(reader.comments))


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.place = len(BOM) if text.startswith(BOM) else 0
        self.comments: list[tuple[int, int]] = []

    def trouble(self, message: str) -> NotParsed:
        return NotParsed(message, line=self.text.count("\n", 0, self.place) + 1)

    def skip(self) -> None:
        """Go on to the next thing that is neither blank nor a comment."""
        while True:
            if blank := _SPACE.match(self.text, self.place):
                self.place = blank.end()
            comment = _LINE_COMMENT.match(self.text, self.place) or _BLOCK_COMMENT.match(self.text, self.place)
            if comment is None:
                return
            self.comments.append(comment.span())
            self.place = comment.end()

    def value(self, *, depth: int) -> Node:
        self.skip()
        start, sign = self.place, self.text[self.place : self.place + 1]
        if depth > _DEEPEST:
            raise self.trouble("it is nested too deep")
        if sign in ("{", "["):
            items = tuple(self._items(sign, depth=depth))
            values = [item.value.said for item in items]
            holds = dict(zip([item.key for item in items], values, strict=True)) if sign == "{" else values
            return Node(start, self.place, holds, items)
        if sign == '"':
            said = self._string()
            return Node(start, self.place, said)
        scalar = _SCALAR.match(self.text, self.place)
        if scalar is None:
            raise self.trouble("a value is missing" if sign else "it ends too early")
        self.place = scalar.end()
        return Node(start, self.place, json.loads(scalar.group()))

    def _items(self, opening: str, *, depth: int) -> Iterator[Item]:
        closing = "}" if opening == "{" else "]"
        self.place += 1
        while True:
            self.skip()
            if self._takes(closing):
                return
            start = self.place
            key = self._key() if opening == "{" else ""
            value = self.value(depth=depth + 1)
            self.skip()
            comma = self.place - 1 if self._takes(",") else None
            yield Item(key, start, value, comma)
            self.skip()
            if comma is None and not self.text.startswith(closing, self.place):
                raise self.trouble(f"a comma or {closing} is missing")

    def _key(self) -> str:
        if not self.text.startswith('"', self.place):
            raise self.trouble("a name in quotes is missing")
        key = self._string()
        self.skip()
        if not self._takes(":"):
            raise self.trouble(f"a colon is missing after {key!r}")
        return key

    def _string(self) -> str:
        found = _STRING.match(self.text, self.place)
        if found is None:
            raise self.trouble("a text has no closing quote")
        try:
            said = str(json.loads(found.group()))
        except ValueError as error:
            raise self.trouble("a text holds an escape that is none") from error
        self.place = found.end()
        return said

    def _takes(self, sign: str) -> bool:
        if not self.text.startswith(sign, self.place):
            return False
        self.place += 1
        return True
