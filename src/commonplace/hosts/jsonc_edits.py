"""Changes one member or element of a JSON text with comments, and leaves every other byte as it is.

New lines are laid out like those that are there.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from commonplace.hosts.jsonc import BOM, InvalidSyntax, JsoncDocument, JsoncItem, JsoncNode, Keys, parse_jsonc
from commonplace.hosts.text_edits import EditedText, UndoInfo, is_blank, line_end_of

_DEFAULT_INDENT: Final = "  "
_BLANKS: Final = re.compile(r"[ \t]*")
_BLANK_LINE_END: Final = re.compile(r"[ \t]*(?:\r?\n)")


def put_member(text: str, path: Keys, value: object) -> EditedText:
    """The text with this value at the path; missing objects on the path are made. Raises InvalidSyntax.

    A blank text becomes an object.
    """
    if is_blank(text):
        edited = put_member(f"{text[: len(BOM)] if text.startswith(BOM) else ''}{{}}\n", path, value)
        return EditedText(edited.text, UndoInfo(made=edited.undo.made, blank=text))
    document = parse_jsonc(text)
    depth, container = _deepest_object(document, path[:-1])
    member = container.member(path[depth])
    if member is not None:
        return EditedText(_replace(document, member.node, value))
    for key in reversed(path[depth + 1 :]):
        value = {key: value}
    label = f"{json.dumps(path[depth], ensure_ascii=False)}: "
    undo = _undo_info(document, container, path[:depth])
    made = frozenset(path[:end] for end in range(depth + 1, len(path)))
    return EditedText(_add(document, container, value, label=label), replace(undo, made=made))


def add_element(text: str, path: Keys, value: object) -> EditedText:
    """The text with this value at the end of the array at the path, which is made if missing. Raises InvalidSyntax."""
    document = None if is_blank(text) else parse_jsonc(text)
    array = document.at(path) if document else None
    if document is None or array is None:
        edited = put_member(text, path, [value])
        return EditedText(edited.text, edited.undo.followed_by(UndoInfo(made=frozenset([path]))))
    if not isinstance(array.value, list):
        raise _wrong_type("list", document, array, path)
    return EditedText(_add(document, array, value, label=""), _undo_info(document, array, path))


def replace_value(text: str, node: JsoncNode, value: object) -> str:
    """The text with this value in place of the node's."""
    return _replace(parse_jsonc(text), node, value)


def remove_member(text: str, path: Keys, undo: UndoInfo) -> str:
    """The text without the member at the path, and without what was made for it. Raises InvalidSyntax."""
    document = parse_jsonc(text)
    container = document.at(path[:-1])
    item = container.member(path[-1]) if container else None
    if container is None or item is None:
        return text
    return _tidy(_remove(document, container, item, hole=undo.holes.get(path[:-1], "")), path[:-1], undo)


def remove_element(text: str, path: Keys, steps: Sequence[int | str], undo: UndoInfo) -> str:
    """The text without the element that `steps`, numbers and keys, lead to from the array at `path`."""
    document = parse_jsonc(text)
    container = document.at(path)
    for step in steps[:-1]:
        item = container.member(step) if container and isinstance(step, str) else None
        container = item.node if item else container.items[int(step)].node if container else None
    if container is None:
        return text
    hole = undo.holes.get(path, "") if len(steps) == 1 else ""
    text = _remove(document, container, container.items[int(steps[-1])], hole=hole)
    return _tidy(text, path, undo) if len(steps) == 1 else text


def value_at(text: str, path: Keys) -> Any:
    """The value at the path; None if there is none. Raises InvalidSyntax."""
    node = None if is_blank(text) else parse_jsonc(text).at(path)
    return None if node is None else node.value


@dataclass(frozen=True, slots=True)
class Layout:
    """How new lines look in a text: their line end, one step of indentation, or everything on one line."""

    line_end: str
    step: str
    is_one_line: bool

    def format(self, value: object, indent: str) -> str:
        """The value as text, its further lines indented by `indent`."""
        if self.is_one_line:
            return json.dumps(value, ensure_ascii=False)
        return json.dumps(value, ensure_ascii=False, indent=self.step).replace("\n", f"{self.line_end}{indent}")


def _layout_of(document: JsoncDocument, node: JsoncNode) -> Layout:
    """The layout for a value in this object or array, or in place of this value."""
    text, first = document.text, document.root.items[:1]
    step = _DEFAULT_INDENT
    if first and "\n" in text[document.root.start : first[0].start]:
        step = _indent_at(text, first[0].start) or _DEFAULT_INDENT
    return Layout(line_end_of(text), step, _is_on_one_line(document, node))


def _is_on_one_line(document: JsoncDocument, node: JsoncNode) -> bool:
    """True if the nearest non-empty object or array around the node is written without a line end."""
    nearest = document.root
    for container in _containers(document.root, node):
        if container.items:
            nearest = container
    return bool(nearest.items) and "\n" not in document.text[nearest.start : nearest.end]


def _containers(root: JsoncNode, node: JsoncNode) -> list[JsoncNode]:
    """The objects and arrays from the root down to the node."""
    containers, current = [root], root
    while current is not node:
        inside = [item.node for item in current.items if item.node.start <= node.start and node.end <= item.node.end]
        if not inside:
            break
        current = inside[0]
        containers.append(current)
    return containers


def _indent_at(text: str, position: int) -> str:
    """The indentation of the line at this position."""
    match = _BLANKS.match(text, text.rfind("\n", 0, position) + 1)
    return match.group() if match else ""


def _deepest_object(document: JsoncDocument, path: Keys) -> tuple[int, JsoncNode]:
    """How many keys of the path exist, and the object at the last of them."""
    node, depth = document.root, 0
    while True:
        if not isinstance(node.value, dict):
            raise _wrong_type("object", document, node, path[:depth])
        item = node.member(path[depth]) if depth < len(path) else None
        if item is None:
            return depth, node
        node, depth = item.node, depth + 1


def _wrong_type(expected: str, document: JsoncDocument, node: JsoncNode, path: Keys) -> InvalidSyntax:
    line = document.text.count("\n", 0, node.start) + 1
    article = "a" if expected == "list" else "an"
    return InvalidSyntax(f"{'.'.join(path) or 'the whole file'} is not {article} {expected}", line=line)


def _undo_info(document: JsoncDocument, container: JsoncNode, path: Keys) -> UndoInfo:
    is_empty = not container.items
    return UndoInfo(holes={path: document.text[container.start + 1 : container.end - 1]} if is_empty else {})


def _add(document: JsoncDocument, container: JsoncNode, value: object, *, label: str) -> str:
    text, layout = document.text, _layout_of(document, container)
    if not container.items:
        return _fill(document, container, value, label=label)
    last = container.items[-1]
    indent = _indent_at(text, last.start)
    separator = " " if layout.is_one_line else f"{layout.line_end}{indent}"
    new = f"{separator}{label}{layout.format(value, indent)}"
    if last.comma is not None:
        anchor = _after_comments(document, last.comma + 1)
        return f"{text[:anchor]}{new},{text[anchor:]}"
    anchor = _after_comments(document, last.end)
    return f"{text[: last.end]},{text[last.end : anchor]}{new}{text[anchor:]}"


def _fill(document: JsoncDocument, container: JsoncNode, value: object, *, label: str) -> str:
    """Add the first item to an empty object or array; blanks or a comment that stood in it stay after the item."""
    text, layout, position = document.text, _layout_of(document, container), container.start + 1
    outer = _indent_at(text, container.start)
    if layout.is_one_line:
        return f"{text[:position]}{label}{layout.format(value, outer)}{text[position:]}"
    indent = outer + layout.step
    inner = text[position : container.end - 1]
    closing = "" if _BLANK_LINE_END.match(inner) else f"{layout.line_end}{outer}"
    new = f"{layout.line_end}{indent}{label}{layout.format(value, indent)}{closing}"
    return f"{text[:position]}{new}{text[position:]}"


def _after_comments(document: JsoncDocument, position: int) -> int:
    """The position after the comments that follow on the same line, since they belong to what precedes them."""
    while True:
        blanks = _BLANKS.match(document.text, position)
        end = document.comment_end(blanks.end() if blanks else position)
        if end is None or "\n" in document.text[position:end]:
            return position
        position = end


def _replace(document: JsoncDocument, node: JsoncNode, value: object) -> str:
    if node.value == value:
        return document.text
    new = _layout_of(document, node).format(value, _indent_at(document.text, node.start))
    return document.text[: node.start] + new + document.text[node.end :]


def _remove(document: JsoncDocument, container: JsoncNode, item: JsoncItem, *, hole: str) -> str:
    """The text without this item, its comma, and the blanks before it; comments stay."""
    text, number = document.text, container.items.index(item)
    start = len(text[: item.start].rstrip(" \t\r\n"))
    line_end = _BLANK_LINE_END.match(text, item.end if item.comma is None else item.comma + 1)
    if document.is_line_comment_before(start) and line_end is None:
        start = text.index("\n", start) + 1  # otherwise what follows would become part of the comment
    cuts = [(start, item.end)]
    if item.comma is not None:
        cuts.append((item.comma, item.comma + 1))
    elif number and (comma := container.items[number - 1].comma) is not None:
        cuts.insert(0, (comma, comma + 1))
    rest, position = "", container.start + 1
    for begin, end in cuts:
        rest, position = rest + text[position:begin], end
    rest += text[position : container.end - 1]
    if len(container.items) == 1:
        rest = _restore_hole(rest, hole)
    return text[: container.start + 1] + rest + text[container.end - 1 :]


def _restore_hole(rest: str, hole: str) -> str:
    """The text in the empty object or array before it was filled; a comment that was added since is kept."""
    if rest.endswith(hole) and not rest.removesuffix(hole).strip():
        return hole
    return rest if rest.strip() else ""


def _tidy(text: str, path: Keys, undo: UndoInfo) -> str:
    """The text without the objects and arrays on this path that were made for the removed item and are empty now."""
    document = parse_jsonc(text)
    node = document.at(path)
    if node is None or node.items or text[node.start + 1 : node.end - 1].strip():
        return text
    if path in undo.made:
        return remove_member(text, path, undo)
    if not path and undo.blank is not None and is_blank(text[: node.start] + text[node.end :]):
        return undo.blank
    return text
