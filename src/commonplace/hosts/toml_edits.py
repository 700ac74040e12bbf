"""Changes one table of a TOML text, and leaves every other byte as it is."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from commonplace.hosts.appended import append_block, cut_block
from commonplace.hosts.jsonc import Keys, NotParsed
from commonplace.hosts.toml_lines import Statement, parse, statements
from commonplace.hosts.trace import Edited, Trace, is_blank, line_end_of


def put_table(text: str, path: Keys, values: Mapping[str, Any], *, owned: frozenset[str]) -> Edited:
    """The text with a table that says this. In one that is there, only the owned keys change. Raises NotParsed."""
    known = _at(parse(text), path)
    if known is None:
        edited = append_block(text, _table(path, values))
    else:
        found = [each for each in statements(text) if each.path[: len(path)] == path]
        headers = [each for each in found if each.is_header and each.path == path]
        if headers:
            edited = Edited(_with_keys(text, headers[0], found, values, owned=owned))
        else:  # written in another way: by dotted keys, or in braces
            kept = {key: value for key, value in known.items() if key not in owned}
            edited = append_block(_without(text, found), _table(path, {**values, **kept}))
    _check(edited.text, path, {**{key: value for key, value in (known or {}).items() if key not in owned}, **values})
    return edited


def remove_table(text: str, path: Keys, trace: Trace) -> str:
    """The text without that table and the tables below it. Raises NotParsed."""
    known = _at(parse(text), path)
    if known is None:
        return text
    found = [each for each in statements(text) if each.path[: len(path)] == path]
    text = _without(text, found, trace)
    _check(text, path, None)
    return trace.blank if trace.blank is not None and is_blank(text) else text


def table_at(text: str, path: Keys) -> Any:
    """What the text says there; None where it says nothing. Raises NotParsed."""
    return _at(parse(text), path)


def _at(values: Any, path: Keys) -> Any:
    for key in path:
        if not isinstance(values, dict) or key not in values:
            return None
        values = values[key]
    return values


def _check(text: str, path: Keys, wanted: object) -> None:
    """Raises NotParsed when the text does not say there what it should: it was written in a way we cannot extend."""
    name = ".".join(path[:-1])
    try:
        good = _at(parse(text), path) == wanted
    except NotParsed as error:
        lines = (text.count("\n", 0, each.start) + 1 for each in statements(text) if each.path == path[:-1])
        message = f"{name} is written in braces, so that no table can be added"
        raise NotParsed(message, line=next(lines, error.line)) from error
    if not good:
        raise NotParsed(f"{name} is written in a way that cannot be changed safely", line=1)


def _table(path: Keys, values: Mapping[str, Any]) -> str:
    header = ".".join(_key(key) for key in path)
    return "\n".join([f"[{header}]", *_lines(values)])


def _lines(values: Mapping[str, Any]) -> list[str]:
    return [f"{_key(key)} = {_shown(value)}" for key, value in values.items()]


def _key(key: str) -> str:
    plain = key.isascii() and key.replace("-", "").replace("_", "").isalnum()
    return key if plain else json.dumps(key, ensure_ascii=False)


def _shown(value: Any) -> str:
    """A value as TOML writes it. JSON's texts, numbers and flags are TOML's, but for one sign."""
    if isinstance(value, Mapping):
        return "{ " + ", ".join(_lines(value)) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_shown(each) for each in value) + "]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _with_keys(
    text: str, header: Statement, found: Iterable[Statement], values: Mapping[str, Any], *, owned: frozenset[str]
) -> str:
    """The table with these values right below its header, in the place of the keys of ours that it had."""
    depth, line_end = len(header.path), line_end_of(text)
    old = [each for each in found if len(each.path) > depth and each.path[depth] in owned]
    new = "".join(f"{line_end}{line}" for line in _lines(values))
    left = _without(text[: header.end] + new + text[header.end :], _moved(old, behind=header.end, by=len(new)))
    return left if text.endswith("\n") else left.removesuffix(line_end)  # the last line ends as it did


def _moved(found: Iterable[Statement], *, behind: int, by: int) -> list[Statement]:
    return [replace(each, start=each.start + by, end=each.end + by) if each.start >= behind else each for each in found]


def _without(text: str, found: Iterable[Statement], trace: Trace | None = None) -> str:
    """The text without these statements; lines that follow each other go as one block, comments between them too."""
    for start, end in reversed(_blocks(text, list(found))):
        text = cut_block(text, start, end, trace=trace or Trace())
    return text


def _blocks(text: str, found: list[Statement]) -> list[tuple[int, int]]:
    ours = {each.start for each in found}
    blocks: list[tuple[int, int]] = []
    follows = False
    for each in statements(text):
        if each.start not in ours:
            follows = False
            continue
        if follows:
            blocks[-1] = (blocks[-1][0], each.end)
        else:
            blocks.append((each.start, each.end))
        follows = True
    return blocks
