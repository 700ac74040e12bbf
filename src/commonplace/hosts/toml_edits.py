"""Changes one table of a TOML text, and leaves every other byte as it is.

The standard library decides whether a text is valid and what it says; here a valid text is divided into statements,
so that whole lines can be replaced.
"""

import json
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from commonplace.hosts.jsonc import BOM, InvalidSyntax, Keys
from commonplace.hosts.text_edits import EditedText, UndoInfo, append_block, cut_block, is_blank, line_end_of

_BETWEEN: Final = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_KEY: Final = re.compile(r"[ \t]*(?:\"((?:[^\"\\]|\\.)*)\"|'([^']*)'|([A-Za-z0-9_-]+))[ \t]*")
_STRINGS: Final = re.compile(
    r'"""(?:\\.|[^\\])*?"{3,5}|' + r"'''.*?'{3,5}|" + r'"(?:[^"\\\n]|\\.)*"|' + r"'[^'\n]*'", re.DOTALL
)
_REST_OF_LINE: Final = re.compile(r"[ \t]*(?:#[^\r\n]*)?")
_AT_LINE: Final = re.compile(r" \(at line (\d+), column \d+\)$")


@dataclass(frozen=True, slots=True)
class TomlStatement:
    """A table header, or a key with its value: whole lines from `start` to `end`, without the last line's end."""

    path: Keys
    start: int
    end: int
    is_header: bool = False


def put_table(text: str, path: Keys, values: Mapping[str, Any], *, owned: frozenset[str]) -> EditedText:
    """The text with these values in the table. In an existing table only owned keys change. Raises InvalidSyntax."""
    table = _at(parse_toml(text), path)
    if table is None:
        edited = append_block(text, _table_text(path, values))
    else:
        lines = [each for each in statements(text) if each.path[: len(path)] == path]
        headers = [each for each in lines if each.is_header and each.path == path]
        if headers:
            edited = EditedText(_with_keys(text, headers[0], lines, values, owned=owned))
        else:  # written in another way: with dotted keys, or inline
            others = {key: value for key, value in table.items() if key not in owned}
            edited = append_block(_without(text, lines), _table_text(path, {**values, **others}))
    others = {key: value for key, value in (table or {}).items() if key not in owned}
    _check(edited.text, path, {**others, **values})
    return edited


def put_keys(text: str, path: Keys, values: Mapping[str, Any], *, owned: frozenset[str]) -> str:
    """The text with these values in the table, or above all tables if the path is empty. Raises InvalidSyntax."""
    if path:
        return put_table(text, path, values, owned=owned).text
    mark = BOM if text.startswith(BOM) else ""
    new = "".join(f"{line}{line_end_of(text)}" for line in _lines(values))
    return mark + new + remove_keys(text, (), owned).removeprefix(mark)


def remove_keys(text: str, path: Keys, names: frozenset[str]) -> str:
    """The text without these keys of the table, or of those above all tables if the path is empty.

    Raises InvalidSyntax if the table is written in a way that cannot be changed safely.
    """
    depth, table = len(path), _at(parse_toml(text), path)
    if not isinstance(table, dict) or not names & table.keys():
        return text
    keys = [each for each in statements(text) if each.path[:depth] == path and len(each.path) > depth]
    rest = _without(text, [each for each in keys if each.path[depth] in names])
    if (_at(parse_toml(rest), path) or {}) != {key: value for key, value in table.items() if key not in names}:
        name = ".".join(path)
        raise InvalidSyntax(f"{name} is written in a way that cannot be changed safely", line=1)
    return rest


def remove_table(text: str, path: Keys, undo: UndoInfo) -> str:
    """The text without that table and the tables below it. Raises InvalidSyntax."""
    if _at(parse_toml(text), path) is None:
        return text
    text = _without(text, [each for each in statements(text) if each.path[: len(path)] == path], undo)
    _check(text, path, None)
    return undo.blank if undo.blank is not None and is_blank(text) else text


def table_at(text: str, path: Keys) -> Any:
    """The value at the path; None if there is none. Raises InvalidSyntax."""
    return _at(parse_toml(text), path)


def parse_toml(text: str) -> dict[str, Any]:
    """The values in the text. Raises InvalidSyntax if it is not TOML."""
    try:
        return tomllib.loads(text.removeprefix(BOM))
    except tomllib.TOMLDecodeError as error:
        line = _AT_LINE.search(str(error))
        number = int(line.group(1)) if line else text.count("\n") + 1
        message = _AT_LINE.sub("", str(error)).removesuffix(" (at end of document)")
        raise InvalidSyntax(message[:1].lower() + message[1:], line=number) from error


def statements(text: str) -> Iterator[TomlStatement]:
    """The statements of a valid text, in order; the path of a key starts with that of its table."""
    table: Keys = ()
    position = len(BOM) if text.startswith(BOM) else 0
    while (position := _end_of(_BETWEEN, text, position)) < len(text):
        start = text.rfind("\n", 0, position) + 1
        if start == 0 and text.startswith(BOM):
            start = len(BOM)
        if text[position] == "[":
            table, position = _header(text, position)
            end = _end_of(_REST_OF_LINE, text, position)
            yield TomlStatement(table, start, end, is_header=True)
        else:
            keys, position = _keys(text, position)
            end = _end_of(_REST_OF_LINE, text, _value_end(text, position + 1))
            yield TomlStatement(table + keys, start, end)
        position = end


def _header(text: str, position: int) -> tuple[Keys, int]:
    brackets = 2 if text.startswith("[[", position) else 1
    keys, position = _keys(text, position + brackets)
    return keys, position + brackets


def _keys(text: str, position: int) -> tuple[Keys, int]:
    """The dotted key that starts here, and the position after it."""
    keys: list[str] = []
    while True:
        match = _KEY.match(text, position)
        if match is None:
            raise InvalidSyntax("a key is missing", line=text.count("\n", 0, position) + 1)
        basic, literal, bare = match.groups()
        keys.append(_unescape(basic) if basic is not None else literal if literal is not None else bare)
        position = match.end()
        if not text.startswith(".", position):
            return tuple(keys), position
        position += 1


def _unescape(basic: str) -> str:
    return str(tomllib.loads(f'key = "{basic}"')["key"])


def _value_end(text: str, position: int) -> int:
    """The position after the value that starts here: the end of its line, once its brackets are closed."""
    open_brackets = 0
    while position < len(text):
        character = text[position]
        if string := _STRINGS.match(text, position):
            position = string.end()
            continue
        if character == "#":
            if not open_brackets:
                return position
            position = _end_of(_REST_OF_LINE, text, position)
            continue
        if character == "\n" and not open_brackets:
            return position - (text[position - 1] == "\r")
        open_brackets += (character in "[{") - (character in "]}")
        position += 1
    return position


def _end_of(pattern: re.Pattern[str], text: str, position: int) -> int:
    match = pattern.match(text, position)
    return match.end() if match else position


def _at(values: Any, path: Keys) -> Any:
    for key in path:
        if not isinstance(values, dict) or key not in values:
            return None
        values = values[key]
    return values


def _check(text: str, path: Keys, expected: object) -> None:
    """Raise InvalidSyntax unless the value at the path is the expected one: some notations cannot be extended."""
    name = ".".join(path[:-1])
    try:
        is_expected = _at(parse_toml(text), path) == expected
    except InvalidSyntax as error:
        lines = (text.count("\n", 0, each.start) + 1 for each in statements(text) if each.path == path[:-1])
        message = f"{name} is an inline table, to which no table can be added"
        raise InvalidSyntax(message, line=next(lines, error.line)) from error
    if not is_expected:
        raise InvalidSyntax(f"{name} is written in a way that cannot be changed safely", line=1)


def _table_text(path: Keys, values: Mapping[str, Any]) -> str:
    header = ".".join(_key_text(key) for key in path)
    return "\n".join([f"[{header}]", *_lines(values)])


def _lines(values: Mapping[str, Any]) -> list[str]:
    return [f"{_key_text(key)} = {_value_text(value)}" for key, value in values.items()]


def _key_text(key: str) -> str:
    is_bare = key.isascii() and key.replace("-", "").replace("_", "").isalnum()
    return key if is_bare else json.dumps(key, ensure_ascii=False)


def _value_text(value: Any) -> str:
    """A value as TOML. Strings, numbers and booleans are written as in JSON, except for one control character."""
    if isinstance(value, Mapping):
        return "{ " + ", ".join(_lines(value)) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_value_text(each) for each in value) + "]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _with_keys(
    text: str,
    header: TomlStatement,
    lines: Iterable[TomlStatement],
    values: Mapping[str, Any],
    *,
    owned: frozenset[str],
) -> str:
    """The text with these values right below the header, in place of the owned keys that were there."""
    depth, line_end = len(header.path), line_end_of(text)
    old = [each for each in lines if len(each.path) > depth and each.path[depth] in owned]
    new = "".join(f"{line_end}{line}" for line in _lines(values))
    moved = _shift(old, after=header.end, by=len(new))
    rest = _without(text[: header.end] + new + text[header.end :], moved)
    return rest if text.endswith("\n") else rest.removesuffix(line_end)  # the last line ends as it did


def _shift(lines: Iterable[TomlStatement], *, after: int, by: int) -> list[TomlStatement]:
    return [replace(each, start=each.start + by, end=each.end + by) if each.start >= after else each for each in lines]


def _without(text: str, lines: Iterable[TomlStatement], undo: UndoInfo | None = None) -> str:
    """The text without these statements; consecutive ones go as one block, with the comments between them."""
    for start, end in reversed(_blocks(text, list(lines))):
        text = cut_block(text, start, end, undo=undo or UndoInfo())
    return text


def _blocks(text: str, lines: list[TomlStatement]) -> list[tuple[int, int]]:
    starts = {each.start for each in lines}
    blocks: list[tuple[int, int]] = []
    is_consecutive = False
    for each in statements(text):
        if each.start not in starts:
            is_consecutive = False
            continue
        if is_consecutive:
            blocks[-1] = (blocks[-1][0], each.end)
        else:
            blocks.append((each.start, each.end))
        is_consecutive = True
    return blocks
