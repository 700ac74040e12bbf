"""One key of a note's frontmatter set or removed; every other line stays as it is, byte for byte.

The change is spliced into the block's text, and the result is parsed again: unless it says exactly what it should,
the edit is refused and nothing is changed.
"""

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from commonplace.errors import Refused
from commonplace.model import Problem
from commonplace.notes.document import Document, render, split
from commonplace.notes.frontmatter import read, read_tree
from commonplace.notes.key_lines import KeyLines, find_key, names_anything
from commonplace.notes.yaml_emit import emit
from commonplace.notes.yaml_nodes import MapNode, key_text
from commonplace.notes.yaml_tree import compose
from commonplace.notes.yaml_values import plain_value, same

_BY_HAND = "Edit this property by hand."


def set_key(raw: bytes, key: str, value: object, *, path: str, order: Sequence[str] = ()) -> bytes:
    """The note with this key at this value; the same bytes if it says so already.

    A new key stands behind the nearest one that comes before it in `order`, and last where there is none; with an
    order, a list stands in brackets.
    Raises Refused when the change would touch more than the key's own lines or could not be verified,
    and UsageError for a value that no frontmatter can hold.
    """
    wanted = plain_value(value, path=path)
    key = plain_value(key, path=path)
    document = _editable(raw, path)
    if not document.opening:
        return _with_new_block(document, key, wanted, path=path)
    root, before = _keys_of(document.block, path)
    if key in before and same(before[key], wanted):
        return raw
    if root and root.flow:
        raise _refused("its frontmatter stands in braces", path, _BY_HAND)
    if root and key in before:
        block = _changed(document, root, key, wanted, path=path)
    else:
        after = _before(key, before, order=order)
        at = _place(root, document.block, after)
        lines = _new_lines(document, root, key, wanted, path=path, inline=bool(order))
        block = document.block[:at] + lines + document.block[at:]
        before = _with_key(before, key, after=after if at < len(document.block) else None)
    return _verified(document, block, {**before, key: wanted}, path=path)


def remove_key(raw: bytes, key: str, *, path: str) -> bytes:
    """The note without this key and its lines; the same bytes if it has no such key.

    Raises Refused when the change would touch more than the key's own lines or could not be verified.
    """
    document = _editable(raw, path)
    if not document.opening:
        return raw
    root, before = _keys_of(document.block, path)
    if root is None or key not in before:
        return raw
    lines = _lines_of(root, document.block, key, path=path)
    block = document.block[: lines.start] + document.block[lines.end :]
    return _verified(document, block, {name: value for name, value in before.items() if name != key}, path=path)


def _editable(raw: bytes, path: str) -> Document:
    document = split(raw)
    if document.bad_line:
        raise _refused(f"line {document.bad_line} is not UTF-8 text", path, "Save the note as UTF-8.")
    if document.unclosed:
        raise _refused("its frontmatter is never closed", path, "Close the frontmatter with a line of three dashes.")
    return document


def _keys_of(block: str, path: str) -> tuple[MapNode | None, dict[str, Any]]:
    """The block's keys, no node if it is empty, and their values; refused unless each key is given once."""
    tree = compose(block)
    values, problems = read_tree(tree, block, path=path)
    root = tree.root
    if problems and not isinstance(root, MapNode):
        raise _refused(f"line {problems[0].line}: {problems[0].message}", path, "Mend the frontmatter by hand.")
    if tree.marked or not isinstance(root, MapNode | None) or (root and root.anchored):
        raise _refused("its frontmatter is not simply a set of keys", path, _BY_HAND)
    names = [key_text(name) for name, _ in root.pairs] if root else []
    if len(set(names)) < len(names):
        raise _refused("a key of its frontmatter is given twice", path, "Remove one of the two.")
    return root, values


def _lines_of(root: MapNode, block: str, key: str, *, path: str) -> KeyLines:
    lines = find_key(root, block, key)
    if lines is None:
        raise _refused(f"the key {key!r} does not stand on lines of its own", path, _BY_HAND)
    if any(names_anything(value) or name.anchored for name, value in root.pairs if key_text(name) == key):
        raise _refused(f"the value of {key!r} has an anchor or an alias", path, _BY_HAND)
    return lines


def _changed(document: Document, root: MapNode, key: str, value: Any, *, path: str) -> str:
    """The block with the key's value changed."""
    block = document.block
    lines = _lines_of(root, block, key, path=path)
    if lines.has_inner_comment:
        raise _refused(f"the value of {key!r} has comments that the change would lose", path, _BY_HAND)
    emitted = emit("key", value, like=lines.value, one_line=bool(lines.comment))
    first, _, further = emitted.removeprefix("key:").partition("\n")
    first = first.strip()
    head = lines.lead + (lines.gap + first if first else "") + lines.comment + "\n"
    indent = lines.indent if not first else lines.own_indent + "  "
    text = head + _further(further, indent, is_list=not first)
    return block[: lines.start] + text.replace("\n", _newline(document)) + block[lines.end :]


def _new_lines(
    document: Document, root: MapNode | None, key: str, value: Any, *, path: str, inline: bool = False
) -> str:
    """The lines of a key that is not there yet, indented as its neighbours are."""
    own = " " * _column(root, document.block)
    first, _, further = emit(key, value, inline=inline).partition("\n")
    if first.startswith("? "):
        raise _refused(f"the key {key!r} does not fit on one line", path, "Choose a shorter key.")
    is_list = first.endswith(":") and bool(further)
    text = own + first.rstrip() + "\n" + _further(further, own + "  ", is_list=is_list)
    return text.replace("\n", _newline(document))


def _before(key: str, present: Collection[str], *, order: Sequence[str]) -> str | None:
    """Of the keys that are there, the last that comes before this one in the order."""
    earlier = order[: order.index(key)] if key in order else ()
    return next((name for name in reversed(earlier) if name in present), None)


def _with_key(keys: Mapping[str, Any], key: str, *, after: str | None) -> dict[str, Any]:
    """The keys with a new one behind that one, or last."""
    names = [*keys]
    names.insert(names.index(after) + 1 if after else len(names), key)
    return {name: keys.get(name) for name in names}


def _place(root: MapNode | None, block: str, after: str | None) -> int:
    """Where the lines of that key end, or the block does."""
    lines = find_key(root, block, after) if root and after else None
    return lines.end if lines else len(block)


def _further(lines: str, indent: str, *, is_list: bool) -> str:
    """The lines below the key, moved to the indentation."""
    margin = len(lines) - len(lines.lstrip(" ")) if is_list else 2
    return re.sub(rf"^ {{{margin}}}(?=[^\n])", indent, lines, flags=re.MULTILINE)


def _column(root: MapNode | None, block: str) -> int:
    if root is None:
        return 0
    return root.start - block.rfind("\n", 0, root.start) - 1


def _with_new_block(document: Document, key: str, value: Any, *, path: str) -> bytes:
    newline = _newline(document)
    fenced = replace(document, opening="---" + newline, closing="---" + newline)
    return _verified(fenced, _new_lines(fenced, None, key, value, path=path), {key: value}, path=path)


def _newline(document: Document) -> str:
    """The note's own line ending, by its first line."""
    first, line_feed, _ = document.text.partition("\n")
    return "\r\n" if line_feed and first.endswith("\r") else "\n"


def _verified(document: Document, block: str, wanted: Mapping[str, Any], *, path: str) -> bytes:
    """The note with this block, once parsing it again has shown that it says exactly what is wanted."""
    edited = replace(document, block=block)
    raw = render(edited)
    found, problems = read(block, path=path)
    is_worse = _codes(problems) - _codes(read(document.block, path=path)[1])
    if split(raw) != edited or not same(found, dict(wanted)) or is_worse:
        raise _refused("the change could not be written without touching something else", path, _BY_HAND)
    return raw


def _codes(problems: tuple[Problem, ...]) -> Counter[str]:
    return Counter(problem.code for problem in problems)


def _refused(why: str, path: str, hint: str) -> Refused:
    return Refused(f"the note's properties were left as they are: {why}", path=path, hint=hint)
