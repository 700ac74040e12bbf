"""Write a key and its value as YAML text, in the style of the value it replaces.

PyYAML's emitter does the writing; this module checks the value and chooses styles.
Text that YAML 1.1 or 1.2 would read as something else is quoted, except dates, which stay plain.
"""

import math
import re
from collections.abc import Iterator
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any

from commonplace.errors import UsageError
from commonplace.notes.frontmatter import python_value
from commonplace.notes.yaml_tree import MAX_DEPTH, ListNode, MapNode, Node, ScalarNode, key_text

if TYPE_CHECKING:
    from yaml import events

_UNLIMITED = 1_000_000_000
_TIMESTAMP = "tag:yaml.org,2002:timestamp"
_NUMBER = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|0o[0-7]+|0x[0-9a-fA-F]+")
_QUOTES = ("'", '"')
_MAX_INTEGER_BITS = 3000  # Python prints no integer of more than 4300 digits


def emit_yaml(key: str, value: Any, *, like: Node | None = None, one_line: bool = False, inline: bool = False) -> str:
    """`key: value` on its lines, with line feeds; the dashes of a list are not indented.

    The value must come from `plain_value`. `like` is the old value, whose style is kept if possible.
    A text of several lines becomes a `|` block, or a quoted one if it must be `one_line`.
    With `inline`, a new list is written in brackets.
    """
    style = like.style if isinstance(like, ScalarNode) and like.style in _QUOTES else ""
    if isinstance(value, str) and "\n" in value:
        block = _emit_pair(key, value, like, style="|")
        if not (one_line or style or value.endswith("\n\n") or len(value) == 1) and _opens_block(block):
            return block
        return _emit_pair(key, value, like, style='"')
    return _emit_pair(key, value, like, style=style, inline=inline)


def plain_value(value: object, *, path: str, depth: int = 0) -> Any:
    """The value as text, numbers, booleans, None, lists and dicts: dates become ISO text, times ISO text in UTC.

    Raises UsageError for any other value, a time without a time zone, and a number that is not finite.
    """
    if depth > MAX_DEPTH:
        raise _invalid_value("it is nested too deeply", path)
    if isinstance(value, str):
        return _checked_text(value, path)
    if isinstance(value, list):
        return [plain_value(item, path=path, depth=depth + 1) for item in value]
    if isinstance(value, dict):
        return {_checked_key(key, path): plain_value(item, path=path, depth=depth + 1) for key, item in value.items()}
    if isinstance(value, date):
        return _iso_text(value, path)
    return _checked_number(value, path)


def same_value(one: Any, other: Any) -> bool:
    """True if two plain values are equal in type too, and their keys in order: 1 is neither 1.0 nor true."""
    if type(one) is not type(other):
        return False
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same_value, one, other))
    if isinstance(one, dict):
        return list(one) == list(other) and all(map(same_value, one.values(), other.values()))
    return bool(one == other)


def _opens_block(emitted: str) -> bool:
    return emitted.partition("\n")[0].endswith(("|", "|-", "|2", "|2-"))


def _emit_pair(key: str, value: Any, like: Node | None, *, style: str, inline: bool = False) -> str:
    import yaml  # 20 ms, and most commands write no frontmatter
    from yaml import events

    stream = (
        events.StreamStartEvent(),
        events.DocumentStartEvent(explicit=False),
        events.MappingStartEvent(anchor=None, tag=None, implicit=True, flow_style=False),
        _text_event(key, ""),
        *_events(value, like, style=style, nested=inline and isinstance(value, list)),
        events.MappingEndEvent(),
        events.DocumentEndEvent(explicit=False),
        events.StreamEndEvent(),
    )
    return str(yaml.emit(stream, Dumper=yaml.SafeDumper, width=_UNLIMITED, allow_unicode=True))


def _events(value: Any, like: Node | None, *, style: str, nested: bool = False) -> "Iterator[events.Event]":
    from yaml import events

    if isinstance(value, list):
        yield from _list_events(value, like if isinstance(like, ListNode) else None, nested=nested)
    elif isinstance(value, dict):
        yield from _map_events(value, like if isinstance(like, MapNode) else None, nested=nested)
    elif isinstance(value, str):
        was_plain = isinstance(like, ScalarNode) and not like.style and same_value(python_value(like), value)
        yield _text_event(value, style, may_be_plain=was_plain)
    else:
        yield events.ScalarEvent(None, None, (True, False), _scalar_text(value, nested=nested))


def _list_events(value: list[Any], like: ListNode | None, *, nested: bool) -> "Iterator[events.Event]":
    from yaml import events

    flow = like.flow if like else nested
    yield events.SequenceStartEvent(anchor=None, tag=None, implicit=True, flow_style=flow)
    items = like.items if like else ()
    styles = {item.style if isinstance(item, ScalarNode) else "" for item in items}
    common_style = styles.pop() if len(styles) == 1 else ""
    old_texts = {item.text: item for item in items if isinstance(item, ScalarNode)}
    for item in value:
        old = old_texts.get(item) if isinstance(item, str) else None
        style = old.style if old else common_style
        yield from _events(item, old, style=_quote(item, style), nested=True)
    yield events.SequenceEndEvent()


def _map_events(value: dict[str, Any], like: MapNode | None, *, nested: bool) -> "Iterator[events.Event]":
    from yaml import events

    flow = nested or like is None or like.flow
    yield events.MappingStartEvent(anchor=None, tag=None, implicit=True, flow_style=flow)
    old_values = {key_text(key): old for key, old in like.pairs} if like else {}
    for key, item in value.items():
        old = old_values.get(key)
        yield _text_event(key, _quote(key, ""))
        style = old.style if isinstance(old, ScalarNode) else ""
        yield from _events(item, old, style=_quote(item, style), nested=True)
    yield events.MappingEndEvent()


def _quote(value: Any, style: str) -> str:
    """The quote for a text inside a list or mapping, which must stay on one line."""
    if isinstance(value, str) and "\n" in value:
        return '"'
    return style if style in _QUOTES else ""


def _text_event(text: str, style: str, *, may_be_plain: bool = False) -> "events.Event":
    from yaml import events

    plain_allowed = may_be_plain or not _needs_quotes(text)
    if any(sign in text for sign in "\r\x85\u2028\u2029"):
        style = '"'
    return events.ScalarEvent(None, None, (plain_allowed, True), text, style=style or None)


def _needs_quotes(text: str) -> bool:
    """True if a YAML 1.1 or 1.2 reader could take the plain text for a number, a boolean or null."""
    from yaml import SafeDumper

    resolvers = SafeDumper.yaml_implicit_resolvers.get(text[:1], ())
    in_yaml_1_1 = any(tag != _TIMESTAMP and pattern.match(text) for tag, pattern in resolvers)
    return in_yaml_1_1 or _NUMBER.fullmatch(text) is not None


def _scalar_text(value: bool | float | None, *, nested: bool) -> str:  # noqa: FBT001
    if value is None:
        return "null" if nested else ""
    if isinstance(value, bool):
        return "true" if value else "false"
    text = repr(value)
    return text.replace("e", ".0e") if "e" in text and "." not in text else text


def _checked_text(value: str, path: str) -> str:
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        raise _invalid_value("it contains half of a Unicode character", path) from None
    return str.__str__(value)


def _checked_key(key: object, path: str) -> str:
    if not isinstance(key, str):
        raise _invalid_value(f"the key {key!r} is not text", path)
    return _checked_text(key, path)


def _iso_text(value: date, path: str) -> str:
    if not isinstance(value, datetime):
        return value.isoformat()
    if value.tzinfo is None:
        raise _invalid_value("the time has no time zone", path)
    return value.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def _checked_number(value: object, path: str) -> bool | int | float | None:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int) and value.bit_length() <= _MAX_INTEGER_BITS:
        return int(value)
    if isinstance(value, float) and math.isfinite(value):
        return float(value)
    raise _invalid_value(f"this {type(value).__name__} value cannot be written", path)


def _invalid_value(reason: str, path: str) -> UsageError:
    hint = "Use text, finite numbers, booleans, None, dates, times with a time zone, or lists and dicts of them."
    return UsageError(f"invalid frontmatter value: {reason}", path=path, hint=hint)
