"""TOML by its statements: which lines of a valid text say what. Whether it is valid, the standard library says."""

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from commonplace.hosts.jsonc import BOM, Keys, NotParsed

_BETWEEN: Final = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_KEY: Final = re.compile(r"[ \t]*(?:\"((?:[^\"\\]|\\.)*)\"|'([^']*)'|([A-Za-z0-9_-]+))[ \t]*")
_STRINGS: Final = re.compile(
    r'"""(?:\\.|[^\\])*?"{3,5}|' + r"'''.*?'{3,5}|" + r'"(?:[^"\\\n]|\\.)*"|' + r"'[^'\n]*'", re.DOTALL
)
_REST_OF_LINE: Final = re.compile(r"[ \t]*(?:#[^\r\n]*)?")
_AT_LINE: Final = re.compile(r" \(at line (\d+), column \d+\)$")


@dataclass(frozen=True, slots=True)
class Statement:
    """A header of a table, or a key with its value: whole lines from `start` to `end`, without the last line's end."""

    path: Keys
    start: int
    end: int
    is_header: bool = False


def parse(text: str) -> dict[str, Any]:
    """What the text says. Raises NotParsed where it is no TOML."""
    try:
        return tomllib.loads(text.removeprefix(BOM))
    except tomllib.TOMLDecodeError as error:
        line = _AT_LINE.search(str(error))
        number = int(line.group(1)) if line else text.count("\n") + 1
        message = _AT_LINE.sub("", str(error)).removesuffix(" (at end of document)")
        raise NotParsed(message[:1].lower() + message[1:], line=number) from error


def statements(text: str) -> Iterator[Statement]:
    """The statements of a valid text, in order; a key's path begins with that of the table it stands in."""
    table: Keys = ()
    place = len(BOM) if text.startswith(BOM) else 0
    while (place := _end_of(_BETWEEN, text, place)) < len(text):
        start = text.rfind("\n", 0, place) + 1
        if start == 0 and text.startswith(BOM):
            start = len(BOM)
        if text[place] == "[":
            table, place = _header(text, place)
            end = _end_of(_REST_OF_LINE, text, place)
            yield Statement(table, start, end, is_header=True)
        else:
            keys, place = _keys(text, place)
            end = _end_of(_REST_OF_LINE, text, _behind_value(text, place + 1))
            yield Statement(table + keys, start, end)
        place = end


def _header(text: str, place: int) -> tuple[Keys, int]:
    brackets = 2 if text.startswith("[[", place) else 1
    keys, place = _keys(text, place + brackets)
    return keys, place + brackets


def _keys(text: str, place: int) -> tuple[Keys, int]:
    """The dotted key that begins here, and the place behind it."""
    keys: list[str] = []
    while True:
        found = _KEY.match(text, place)
        if found is None:
            raise NotParsed("a key is missing", line=text.count("\n", 0, place) + 1)
        basic, literal, bare = found.groups()
        keys.append(_unescaped(basic) if basic is not None else literal if literal is not None else bare)
        place = found.end()
        if not text.startswith(".", place):
            return tuple(keys), place
        place += 1


def _unescaped(basic: str) -> str:
    return str(tomllib.loads(f'key = "{basic}"')["key"])


def _behind_value(text: str, place: int) -> int:
    """The place behind the value that begins here: the end of its line, once its brackets are closed."""
    open_brackets = 0
    while place < len(text):
        sign = text[place]
        if string := _STRINGS.match(text, place):
            place = string.end()
            continue
        if sign == "#":
            if not open_brackets:
                return place
            place = _end_of(_REST_OF_LINE, text, place)
            continue
        if sign == "\n" and not open_brackets:
            return place - (text[place - 1] == "\r")
        open_brackets += (sign in "[{") - (sign in "]}")
        place += 1
    return place


def _end_of(pattern: re.Pattern[str], text: str, place: int) -> int:
    found = pattern.match(text, place)
    return found.end() if found else place
