"""Parses JSON with comments and trailing commas into a tree that knows the position of each part in the text."""

import json
import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

BOM: Final = "\ufeff"
_DEEPEST: Final = 200  # no program nests its settings deeper; recursion must end before Python's limit
_SPACE: Final = re.compile(r"[ \t\r\n]+")
_LINE_COMMENT: Final = re.compile(r"//[^\r\n]*")
_BLOCK_COMMENT: Final = re.compile(r"/\*.*?\*/", re.DOTALL)
_STRING: Final = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_SCALAR: Final = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null")

Keys = tuple[str, ...]
"""The keys on the path from the root to a value."""


class InvalidSyntax(ValueError):
    """The text does not have the expected format; `line` is the line number, counted from one."""

    def __init__(self, message: str, *, line: int) -> None:
        super().__init__(message)
        self.message, self.line = message, line


class NotPlainJson(InvalidSyntax):
    """The text has a comment or a trailing comma, which many programs do not accept; the message says which."""


@dataclass(frozen=True, slots=True)
class JsoncItem:
    """A member of an object or an element of an array; `comma` is the position of the comma after it."""

    key: str
    start: int
    node: "JsoncNode"
    comma: int | None

    @property
    def end(self) -> int:
        """The position after its value."""
        return self.node.end


@dataclass(frozen=True, slots=True)
class JsoncNode:
    """A value and its position in the text."""

    start: int
    end: int
    value: Any
    items: tuple[JsoncItem, ...] = ()

    def member(self, key: str) -> JsoncItem | None:
        """The member with that key; of duplicates the last, which is the one that counts."""
        return next((item for item in reversed(self.items) if item.key == key), None)


@dataclass(frozen=True, slots=True)
class JsoncDocument:
    """A text, its root value, and the start and end of each comment."""

    text: str
    root: JsoncNode
    comments: tuple[tuple[int, int], ...]

    def at(self, path: Keys) -> JsoncNode | None:
        """The value at this path; None if there is none."""
        node = self.root
        for key in path:
            item = node.member(key) if isinstance(node.value, dict) else None
            if item is None:
                return None
            node = item.node
        return node

    def comment_end(self, start: int) -> int | None:
        """The end of the comment that starts at this position; None if none does."""
        number = bisect_left(self.comments, (start, 0))
        match = self.comments[number : number + 1]
        return match[0][1] if match and match[0][0] == start else None

    def is_line_comment_before(self, position: int) -> bool:
        """True if a comment that extends to the end of its line ends at this position."""
        return any(end == position and self.text.startswith("//", start) for start, end in self.comments)


def check_plain_json(text: str) -> None:
    """Return if a program that knows neither comments nor trailing commas can read the text.

    Raises NotPlainJson for one of these, InvalidSyntax for any other mistake.
    """
    try:
        json.loads(text.removeprefix(BOM) or "{}")
    except json.JSONDecodeError as error:
        found = error.doc[error.pos : error.pos + 1]
        before = error.doc[: error.pos].rstrip()
        if found == "/":
            raise NotPlainJson("a comment", line=error.lineno) from error
        if before.endswith(",") and found in ("}", "]"):
            raise NotPlainJson("a trailing comma", line=before.count("\n") + 1) from error
        raise InvalidSyntax(error.msg, line=error.lineno) from error


def parse_jsonc(text: str) -> JsoncDocument:
    """The text as a tree. Raises InvalidSyntax if it is not JSON, apart from comments and trailing commas."""
    parser = _Parser(text)
    root = parser.value(depth=0)
    parser.skip()
    if parser.position < len(text):
        raise parser.error("unexpected text after the end")
    return JsoncDocument(text, root, tuple(parser.comments))


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.position = len(BOM) if text.startswith(BOM) else 0
        self.comments: list[tuple[int, int]] = []

    def error(self, message: str) -> InvalidSyntax:
        return InvalidSyntax(message, line=self.text.count("\n", 0, self.position) + 1)

    def skip(self) -> None:
        """Skip blanks and comments."""
        while True:
            if blank := _SPACE.match(self.text, self.position):
                self.position = blank.end()
            comment = _LINE_COMMENT.match(self.text, self.position) or _BLOCK_COMMENT.match(self.text, self.position)
            if comment is None:
                return
            self.comments.append(comment.span())
            self.position = comment.end()

    def value(self, *, depth: int) -> JsoncNode:
        self.skip()
        start, character = self.position, self.text[self.position : self.position + 1]
        if depth > _DEEPEST:
            raise self.error("nested too deeply")
        if character in ("{", "["):
            items = tuple(self._items(character, depth=depth))
            values = [item.node.value for item in items]
            value = dict(zip([item.key for item in items], values, strict=True)) if character == "{" else values
            return JsoncNode(start, self.position, value, items)
        if character == '"':
            string = self._string()
            return JsoncNode(start, self.position, string)
        scalar = _SCALAR.match(self.text, self.position)
        if scalar is None:
            raise self.error("a value is missing" if character else "unexpected end")
        self.position = scalar.end()
        return JsoncNode(start, self.position, json.loads(scalar.group()))

    def _items(self, opening: str, *, depth: int) -> Iterator[JsoncItem]:
        closing = "}" if opening == "{" else "]"
        self.position += 1
        while True:
            self.skip()
            if self._accept(closing):
                return
            start = self.position
            key = self._key() if opening == "{" else ""
            node = self.value(depth=depth + 1)
            self.skip()
            comma = self.position - 1 if self._accept(",") else None
            yield JsoncItem(key, start, node, comma)
            self.skip()
            if comma is None and not self.text.startswith(closing, self.position):
                raise self.error(f"a comma or {closing} is missing")

    def _key(self) -> str:
        if not self.text.startswith('"', self.position):
            raise self.error("a quoted key is missing")
        key = self._string()
        self.skip()
        if not self._accept(":"):
            raise self.error(f"a colon is missing after {key!r}")
        return key

    def _string(self) -> str:
        match = _STRING.match(self.text, self.position)
        if match is None:
            raise self.error("a string has no closing quote")
        try:
            string = str(json.loads(match.group()))
        except ValueError as error:
            raise self.error("a string has an invalid escape sequence") from error
        self.position = match.end()
        return string

    def _accept(self, character: str) -> bool:
        if not self.text.startswith(character, self.position):
            return False
        self.position += 1
        return True
