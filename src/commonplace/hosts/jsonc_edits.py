"""Changes one member or element of a JSON text with comments, and leaves every other byte as it is."""

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from commonplace.hosts.jsonc import BOM, Document, Item, Keys, Node, NotParsed, parse
from commonplace.hosts.jsonc_layout import indent_of, layout_of
from commonplace.hosts.trace import Edited, Trace, is_blank

_BLANKS: Final = re.compile(r"[ \t]*")


def put_member(text: str, path: Keys, value: object) -> Edited:
    """The text with this value at the end of the path of names; objects on the way are made. Raises NotParsed.

    A text that holds nothing becomes an object.
    """
    if is_blank(text):
        made = put_member(f"{text[: len(BOM)] if text.startswith(BOM) else ''}{{}}\n", path, value)
        return Edited(made.text, Trace(made=made.trace.made, blank=text))
    document = parse(text)
    depth, container = _deepest(document, path[:-1])
    known = container.member(path[depth])
    if known is not None:
        return Edited(_replaced(document, known.value, value))
    for key in reversed(path[depth + 1 :]):
        value = {key: value}
    label = f"{json.dumps(path[depth], ensure_ascii=False)}: "
    trace = _trace(document, container, path[:depth])
    new = frozenset(path[:end] for end in range(depth + 1, len(path)))
    return Edited(_added(document, container, value, label=label), replace(trace, made=new))


def add_element(text: str, path: Keys, value: object) -> Edited:
    """The text with this value at the end of the array there, which is made if need be. Raises NotParsed."""
    document = None if is_blank(text) else parse(text)
    array = document.at(path) if document else None
    if document is None or array is None:
        made = put_member(text, path, [value])
        return Edited(made.text, made.trace.followed_by(Trace(made=frozenset([path]))))
    if not isinstance(array.said, list):
        raise _not_a("list", document, array, path)
    return Edited(_added(document, array, value, label=""), _trace(document, array, path))


def replace_value(text: str, node: Node, value: object) -> str:
    """The text with this value in the place of that one."""
    return _replaced(parse(text), node, value)


def remove_member(text: str, path: Keys, trace: Trace) -> str:
    """The text without the member at the end of the path, and without what was made for it. Raises NotParsed."""
    document = parse(text)
    container = document.at(path[:-1])
    item = container.member(path[-1]) if container else None
    if container is None or item is None:
        return text
    return _tidied(_removed(document, container, item, hole=trace.holes.get(path[:-1], "")), path[:-1], trace)


def remove_element(text: str, path: Keys, place: Sequence[int | str], trace: Trace) -> str:
    """The text without an element: the last of `place`, a way of numbers and names from the array at `path`."""
    document = parse(text)
    container = document.at(path)
    for step in place[:-1]:
        item = container.member(step) if container and isinstance(step, str) else None
        container = item.value if item else container.items[int(step)].value if container else None
    if container is None:
        return text
    hole = trace.holes.get(path, "") if len(place) == 1 else ""
    text = _removed(document, container, container.items[int(place[-1])], hole=hole)
    return _tidied(text, path, trace) if len(place) == 1 else text


def _deepest(document: Document, path: Keys) -> tuple[int, Node]:
    """How many names of the path there are, and the object at the last of them."""
    node, depth = document.root, 0
    while True:
        if not isinstance(node.said, dict):
            raise _not_a("object", document, node, path[:depth])
        item = node.member(path[depth]) if depth < len(path) else None
        if item is None:
            return depth, node
        node, depth = item.value, depth + 1


def _not_a(kind: str, document: Document, node: Node, path: Keys) -> NotParsed:
    line = document.text.count("\n", 0, node.start) + 1
    return NotParsed(f"{'.'.join(path) or 'the whole'} is not {'a' if kind == 'list' else 'an'} {kind}", line=line)


def _trace(document: Document, container: Node, path: Keys) -> Trace:
    empty = not container.items
    return Trace(holes={path: document.text[container.start + 1 : container.end - 1]} if empty else {})


def _added(document: Document, container: Node, value: object, *, label: str) -> str:
    text, layout = document.text, layout_of(document, container)
    if not container.items:
        return _filled(document, container, value, label=label)
    last = container.items[-1]
    indent = indent_of(text, last.start)
    before = " " if layout.in_one_line else f"{layout.line_end}{indent}"
    new = f"{before}{label}{layout.show(value, indent)}"
    if last.comma is not None:
        anchor = _behind_comments(document, last.comma + 1)
        return f"{text[:anchor]}{new},{text[anchor:]}"
    anchor = _behind_comments(document, last.end)
    return f"{text[: last.end]},{text[last.end : anchor]}{new}{text[anchor:]}"


def _filled(document: Document, container: Node, value: object, *, label: str) -> str:
    """The first thing in an empty object or array; what stood in it, blanks or a comment, stays behind it."""
    text, layout, place = document.text, layout_of(document, container), container.start + 1
    outer = indent_of(text, container.start)
    if layout.in_one_line:
        return f"{text[:place]}{label}{layout.show(value, outer)}{text[place:]}"
    indent = outer + layout.step
    inner = text[place : container.end - 1]
    closes = "" if re.match(r"[ \t]*\r?\n", inner) else f"{layout.line_end}{outer}"
    return f"{text[:place]}{layout.line_end}{indent}{label}{layout.show(value, indent)}{closes}{text[place:]}"


def _behind_comments(document: Document, place: int) -> int:
    """Behind the comments that follow in the same line, since they speak of what stands before them."""
    while True:
        blanks = _BLANKS.match(document.text, place)
        end = document.comment_from(blanks.end() if blanks else place)
        if end is None or "\n" in document.text[place:end]:
            return place
        place = end


def _replaced(document: Document, node: Node, value: object) -> str:
    if node.said == value:
        return document.text
    indent = indent_of(document.text, node.start)
    return document.text[: node.start] + layout_of(document, node).show(value, indent) + document.text[node.end :]


def _removed(document: Document, container: Node, item: Item, *, hole: str) -> str:
    """The text without this item, its comma, and the blanks before it; comments stay."""
    text, number = document.text, container.items.index(item)
    start = len(text[: item.start].rstrip(" \t\r\n"))
    behind = re.compile(r"[ \t]*(?:\r?\n)").match(text, item.end if item.comma is None else item.comma + 1)
    if document.is_line_comment_before(start) and behind is None:
        start = text.index("\n", start) + 1  # else what follows would become part of the comment
    cuts = [(start, item.end)]
    if item.comma is not None:
        cuts.append((item.comma, item.comma + 1))
    elif number and (comma := container.items[number - 1].comma) is not None:
        cuts.insert(0, (comma, comma + 1))
    left, place = "", container.start + 1
    for begin, end in cuts:
        left, place = left + text[place:begin], end
    left += text[place : container.end - 1]
    if len(container.items) == 1:
        left = _hole_of(left, hole)
    return text[: container.start + 1] + left + text[container.end - 1 :]


def _hole_of(left: str, hole: str) -> str:
    """What stood in the object or array before it was filled; a comment that came since is kept."""
    if left.endswith(hole) and not left.removesuffix(hole).strip():
        return hole
    return left if left.strip() else ""


def _tidied(text: str, path: Keys, trace: Trace) -> str:
    """The text without the objects and arrays on this path that were made for what is gone, and are empty now."""
    document = parse(text)
    node = document.at(path)
    if node is None or node.items or text[node.start + 1 : node.end - 1].strip():
        return text
    if path in trace.made:
        return remove_member(text, path, trace)
    if not path and trace.blank is not None and is_blank(text[: node.start] + text[node.end :]):
        return trace.blank
    return text


def values_at(text: str, path: Keys) -> Any:
    """What the text says there; None where it says nothing. Raises NotParsed."""
    node = None if is_blank(text) else parse(text).at(path)
    return None if node is None else node.said
