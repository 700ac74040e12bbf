"""A key and its value as YAML text, in the style of the value that stood there before.

PyYAML's emitter does the writing; this module only chooses styles.
Text that YAML 1.1 or 1.2 would take for something else is quoted, except dates, which stay plain.
"""

import re
from collections.abc import Iterator
from typing import Any

import yaml
from yaml import events

from commonplace.notes.frontmatter import plain
from commonplace.notes.yaml_nodes import ListNode, MapNode, Node, ScalarNode, key_text
from commonplace.notes.yaml_values import same

_UNLIMITED = 1_000_000_000
_TIMESTAMP = "tag:yaml.org,2002:timestamp"
_NUMBER = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|0o[0-7]+|0x[0-9a-fA-F]+")
_QUOTES = ("'", '"')


def emit(key: str, value: Any, *, like: Node | None = None, one_line: bool = False, inline: bool = False) -> str:
    """`key: value` on its lines, ended by line feeds, a list's dashes at the margin.

    The value is a plain one. `like` is the old value, whose style is kept where it fits.
    A text of several lines becomes a `|` block, or a quoted one when all must stand on `one_line`.
    A list that has no style yet stands in brackets where `inline` says so.
    """
    style = like.style if isinstance(like, ScalarNode) and like.style in _QUOTES else ""
    if isinstance(value, str) and "\n" in value:
        block = _write(key, value, like, style="|")
        if not (one_line or style or value.endswith("\n\n") or len(value) == 1) and _opens_block(block):
            return block
        return _write(key, value, like, style='"')
    return _write(key, value, like, style=style, inline=inline)


def _opens_block(emitted: str) -> bool:
    return emitted.partition("\n")[0].endswith(("|", "|-", "|2", "|2-"))


def _write(key: str, value: Any, like: Node | None, *, style: str, inline: bool = False) -> str:
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


def _events(value: Any, like: Node | None, *, style: str, nested: bool = False) -> Iterator[events.Event]:
    if isinstance(value, list):
        yield from _list_events(value, like if isinstance(like, ListNode) else None, nested=nested)
    elif isinstance(value, dict):
        yield from _map_events(value, like if isinstance(like, MapNode) else None, nested=nested)
    elif isinstance(value, str):
        was_plain = isinstance(like, ScalarNode) and not like.style and same(plain(like), value)
        yield _text_event(value, style, may_be_plain=was_plain)
    else:
        yield events.ScalarEvent(None, None, (True, False), _word(value, nested=nested))


def _list_events(value: list[Any], like: ListNode | None, *, nested: bool) -> Iterator[events.Event]:
    flow = like.flow if like else nested
    yield events.SequenceStartEvent(anchor=None, tag=None, implicit=True, flow_style=flow)
    items = like.items if like else ()
    styles = {item.style if isinstance(item, ScalarNode) else "" for item in items}
    usual = styles.pop() if len(styles) == 1 else ""
    old_texts = {item.text: item for item in items if isinstance(item, ScalarNode)}
    for item in value:
        old = old_texts.get(item) if isinstance(item, str) else None
        style = old.style if old else usual
        yield from _events(item, old, style=_quote(item, style), nested=True)
    yield events.SequenceEndEvent()


def _map_events(value: dict[str, Any], like: MapNode | None, *, nested: bool) -> Iterator[events.Event]:
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
    """The quote for a text inside a list or a set of keys, which must stay on one line."""
    if isinstance(value, str) and "\n" in value:
        return '"'
    return style if style in _QUOTES else ""


def _text_event(text: str, style: str, *, may_be_plain: bool = False) -> events.Event:
    plain_allowed = may_be_plain or not _is_more_than_text(text)
    if any(sign in text for sign in "\r\x85\u2028\u2029"):
        style = '"'
    return events.ScalarEvent(None, None, (plain_allowed, True), text, style=style or None)


def _is_more_than_text(text: str) -> bool:
    """Whether a YAML reader, old or new, could take the bare text for a number, a boolean or nothing."""
    resolvers = yaml.SafeDumper.yaml_implicit_resolvers.get(text[:1], ())
    by_old_rules = any(tag != _TIMESTAMP and pattern.match(text) for tag, pattern in resolvers)
    return by_old_rules or _NUMBER.fullmatch(text) is not None


def _word(value: bool | float | None, *, nested: bool) -> str:  # noqa: FBT001
    if value is None:
        return "null" if nested else ""
    if isinstance(value, bool):
        return "true" if value else "false"
    text = repr(value)
    return text.replace("e", ".0e") if "e" in text and "." not in text else text
