"""Edit a note's frontmatter: set or remove one key, or merge an incoming note; all other lines stay byte for byte.

The change is spliced into the block's text, and the result is parsed again: unless it says exactly what it should,
the edit is refused and nothing is changed.
"""

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from commonplace.errors import Refused
from commonplace.model import Problem
from commonplace.notes.frontmatter import frontmatter_from_tree, read_frontmatter
from commonplace.notes.note_text import NoteText, render_note, split_note
from commonplace.notes.yaml_emit import emit_yaml, plain_value, same_value
from commonplace.notes.yaml_tree import AliasNode, ListNode, MapNode, Node, ScalarNode, key_text, parse_yaml

_BY_HAND = "Edit this property by hand."
_COLON = re.compile(r"[ \t]*:")
_TAIL = re.compile(r"(?P<comment>[ \t]+\#[^\n]*?)?[ \t]*\r?\n", re.VERBOSE)
_PLAIN_KEY = re.compile(r"(?P<key>\w+):[ \t]+(?:[^\s\[{>|][^\n]*|[\[{][^\n]*[\]}][ \t]*\r?)\n\Z")
_BLANKS = re.compile(r"[ \t]*")


@dataclass(frozen=True, slots=True)
class _KeyLines:
    """The lines of one key, from `start` to `end`, without the comments and blank lines around them.

    `lead` is the key as written up to its colon, `gap` the blanks after it, `comment` the one on the key's line.
    `own_indent` is the indentation of the key, `indent` that of its list's dashes.
    `has_inner_comment` is True if there are comments on its other lines, which a change would lose.
    """

    start: int
    end: int
    lead: str
    gap: str
    comment: str
    own_indent: str
    indent: str
    has_inner_comment: bool
    value: Node


def set_key(raw: bytes, key: str, value: object, *, path: str, order: Sequence[str] = ()) -> bytes:
    """The note with this key set to this value; the same bytes if it already has that value.

    A new key goes after the nearest one that precedes it in `order`, or last if there is none; with an order, a list
    is written in brackets.
    Raises Refused if the change would touch more than the key's own lines or could not be verified, and UsageError
    for a value that frontmatter cannot hold.
    """
    new_value = plain_value(value, path=path)
    key = plain_value(key, path=path)
    note = _split_editable(raw, path)
    if not note.opening:
        return _add_block(note, key, new_value, path=path)
    root, before = _keys_of(note.block, path)
    if key in before and same_value(before[key], new_value):
        return raw
    if root and root.flow:
        raise _refusal("its frontmatter is written in braces", path, _BY_HAND)
    if root and key in before:
        block = _replace_value(note, root, key, new_value, path=path)
    else:
        after = _preceding_key(key, before, order=order)
        offset = _insert_offset(root, note.block, after)
        lines = _new_lines(note, root, key, new_value, path=path, inline=bool(order))
        block = note.block[:offset] + lines + note.block[offset:]
        before = _insert_key(before, key, after=after if offset < len(note.block) else None)
    return _verify(note, block, {**before, key: new_value}, path=path)


def without_repeats(raw: bytes, keys: Collection[str]) -> bytes:
    """The note with only the last line of each of these keys that its frontmatter has on several lines.

    A key whose value continues on the next line stays as it is.
    """
    note = split_note(raw)
    lines = re.split(r"(?<=\n)", note.block)
    names = [match["key"] if (match := _PLAIN_KEY.match(line)) else "" for line in lines]
    last = {name: place for place, name in enumerate(names)}
    kept = [line for place, line in enumerate(lines) if names[place] not in keys or last[names[place]] == place]
    return render_note(replace(note, block="".join(kept)))


def remove_key(raw: bytes, key: str, *, path: str) -> bytes:
    """The note without this key and its lines; the same bytes if it has no such key.

    Raises Refused if the change would touch more than the key's own lines or could not be verified.
    """
    note = _split_editable(raw, path)
    if not note.opening:
        return raw
    root, before = _keys_of(note.block, path)
    if root is None or key not in before:
        return raw
    lines = _lines_of(root, note.block, key, path=path)
    block = note.block[: lines.start] + note.block[lines.end :]
    return _verify(note, block, {name: value for name, value in before.items() if name != key}, path=path)


def merge_note(existing: bytes | None, incoming: bytes, *, path: str) -> bytes:
    """The incoming body under both frontmatters: incoming keys win, existing keys that it leaves out are kept.

    The existing block is edited key by key, so a person's comments, order and quoting stay.
    Raises Refused if a block is broken, or if a key cannot be changed without losing something.
    """
    if existing is None:
        return incoming
    old, new = split_note(existing), split_note(incoming)
    if old.unclosed or new.unclosed:
        which = "existing" if old.unclosed else "incoming"
        message = f"the frontmatter of the {which} note is never closed"
        raise Refused(message, path=path, hint="Close it with a line of three dashes.")
    if not old.opening:
        return incoming
    merged = render_note(old)[: len((old.bom + old.head).encode("utf-8", "surrogateescape"))]
    for key, value in _incoming_keys(new.block, path=path).items():
        merged = set_key(merged, key, value, path=path)
    return merged + new.body.encode("utf-8", "surrogateescape")


def _incoming_keys(block: str, *, path: str) -> dict[str, object]:
    keys, problems = read_frontmatter(block, path=path)
    if problems:
        raise Refused(
            f"the incoming note is broken at line {problems[0].line}: {problems[0].message}",
            path=path,
            hint="Correct its frontmatter and write it again.",
        )
    return keys


def _split_editable(raw: bytes, path: str) -> NoteText:
    """The note's parts. Raises Refused if it is not UTF-8 or its frontmatter is not closed."""
    note = split_note(raw)
    if note.bad_line:
        raise _refusal(f"line {note.bad_line} is not UTF-8 text", path, "Save the note as UTF-8.")
    if note.unclosed:
        raise _refusal("its frontmatter is never closed", path, "Close the frontmatter with a line of three dashes.")
    return note


def _keys_of(block: str, path: str) -> tuple[MapNode | None, dict[str, Any]]:
    """The block's mapping (None if it is empty) and its values. Raises Refused if a key is given twice."""
    tree = parse_yaml(block)
    values, problems = frontmatter_from_tree(tree, block, path=path)
    root = tree.root
    if problems and not isinstance(root, MapNode):
        raise _refusal(f"line {problems[0].line}: {problems[0].message}", path, "Correct the frontmatter by hand.")
    if tree.marked or not isinstance(root, MapNode | None) or (root and root.anchored):
        raise _refusal("its frontmatter is not a simple mapping", path, _BY_HAND)
    names = [key_text(name) for name, _ in root.pairs] if root else []
    if len(set(names)) < len(names):
        raise _refusal("a key of its frontmatter is given twice", path, "Remove one of the two.")
    return root, values


def _replace_value(note: NoteText, root: MapNode, key: str, value: Any, *, path: str) -> str:
    """The block with the key's value replaced."""
    block = note.block
    lines = _lines_of(root, block, key, path=path)
    if lines.has_inner_comment:
        raise _refusal(f"the value of {key!r} has comments that the change would lose", path, _BY_HAND)
    emitted = emit_yaml("key", value, like=lines.value, one_line=bool(lines.comment))
    first, _, rest = emitted.removeprefix("key:").partition("\n")
    first = first.strip()
    head = lines.lead + (lines.gap + first if first else "") + lines.comment + "\n"
    indent = lines.indent if not first else lines.own_indent + "  "
    text = head + _reindent(rest, indent, is_list=not first)
    return block[: lines.start] + text.replace("\n", _newline(note)) + block[lines.end :]


def _new_lines(note: NoteText, root: MapNode | None, key: str, value: Any, *, path: str, inline: bool = False) -> str:
    """The lines of a new key, indented like its neighbours."""
    own_indent = " " * _column(root, note.block)
    first, _, rest = emit_yaml(key, value, inline=inline).partition("\n")
    if first.startswith("? "):
        raise _refusal(f"the key {key!r} does not fit on one line", path, "Choose a shorter key.")
    is_list = first.endswith(":") and bool(rest)
    text = own_indent + first.rstrip() + "\n" + _reindent(rest, own_indent + "  ", is_list=is_list)
    return text.replace("\n", _newline(note))


def _preceding_key(key: str, present: Collection[str], *, order: Sequence[str]) -> str | None:
    """The last of the present keys that precedes this one in the order."""
    earlier = order[: order.index(key)] if key in order else ()
    return next((name for name in reversed(earlier) if name in present), None)


def _insert_key(keys: Mapping[str, Any], key: str, *, after: str | None) -> dict[str, Any]:
    """The keys with a new one after the given one, or last."""
    names = [*keys]
    names.insert(names.index(after) + 1 if after else len(names), key)
    return {name: keys.get(name) for name in names}


def _insert_offset(root: MapNode | None, block: str, after: str | None) -> int:
    """The offset at which the lines of that key end, or the block's end."""
    lines = _find_key(root, block, after) if root and after else None
    return lines.end if lines else len(block)


def _reindent(lines: str, indent: str, *, is_list: bool) -> str:
    """The lines below the key, with this indentation."""
    margin = len(lines) - len(lines.lstrip(" ")) if is_list else 2
    return re.sub(rf"^ {{{margin}}}(?=[^\n])", indent, lines, flags=re.MULTILINE)


def _column(root: MapNode | None, block: str) -> int:
    if root is None:
        return 0
    return root.start - block.rfind("\n", 0, root.start) - 1


def _add_block(note: NoteText, key: str, value: Any, *, path: str) -> bytes:
    """The note with a new frontmatter of this one key."""
    newline = _newline(note)
    fenced = replace(note, opening="---" + newline, closing="---" + newline)
    return _verify(fenced, _new_lines(fenced, None, key, value, path=path), {key: value}, path=path)


def _newline(note: NoteText) -> str:
    """The line ending of the note's first line."""
    first, line_feed, _ = note.text.partition("\n")
    return "\r\n" if line_feed and first.endswith("\r") else "\n"


def _verify(note: NoteText, block: str, expected: Mapping[str, Any], *, path: str) -> bytes:
    """The note with this block. Raises Refused unless parsing it again gives exactly the expected values."""
    edited = replace(note, block=block)
    raw = render_note(edited)
    values, problems = read_frontmatter(block, path=path)
    new_problems = _count_codes(problems) - _count_codes(read_frontmatter(note.block, path=path)[1])
    if split_note(raw) != edited or not same_value(values, dict(expected)) or new_problems:
        raise _refusal("the change could not be written without touching something else", path, _BY_HAND)
    return raw


def _count_codes(problems: tuple[Problem, ...]) -> Counter[str]:
    return Counter(problem.code for problem in problems)


def _refusal(reason: str, path: str, hint: str) -> Refused:
    return Refused(f"the note's properties were not changed: {reason}", path=path, hint=hint)


def _lines_of(root: MapNode, block: str, key: str, *, path: str) -> _KeyLines:
    """The lines of a key. Raises Refused if they cannot be edited alone."""
    lines = _find_key(root, block, key)
    if lines is None:
        raise _refusal(f"the key {key!r} is not on lines of its own", path, _BY_HAND)
    if any(_has_anchor_or_alias(value) or name.anchored for name, value in root.pairs if key_text(name) == key):
        raise _refusal(f"the value of {key!r} has an anchor or an alias", path, _BY_HAND)
    return lines


def _find_key(root: MapNode, block: str, key: str) -> _KeyLines | None:
    """The lines of a key of the block; None if it shares a line with something else."""
    name, value = next((name, value) for name, value in root.pairs if key_text(name) == key)
    start = _line_start(block, name.start)
    colon = _COLON.match(block, name.end)
    if not (colon and _BLANKS.fullmatch(block, start, name.start)):
        return None
    value_end = max(_end_of_text(value, block), colon.end())
    tail = _TAIL.match(block, value_end)
    if not tail:
        return None
    comment, has_inner = _comments(value, block, colon_end=colon.end(), last=tail["comment"] or "")
    return _KeyLines(
        start=start,
        end=tail.end(),
        lead=block[start : colon.end()],
        gap=_gap(value, block, colon.end()),
        comment=comment,
        own_indent=block[start : name.start],
        indent=_indent(value, block, own=block[start : name.start]),
        has_inner_comment=has_inner,
        value=value,
    )


def _has_anchor_or_alias(node: Node) -> bool:
    if node.anchored or isinstance(node, AliasNode):
        return True
    return any(_has_anchor_or_alias(child) for child in _children(node))


def _children(node: Node) -> tuple[Node, ...]:
    if isinstance(node, ListNode):
        return node.items
    if isinstance(node, MapNode):
        return tuple(child for pair in node.pairs for child in pair)
    return ()


def _line_start(block: str, index: int) -> int:
    return block.rfind("\n", 0, index) + 1


def _end_of_text(value: Node, block: str) -> int:
    """The end of the value's last visible character: block scalars include the blank lines after them."""
    return value.start + len(block[value.start : value.end].rstrip())


def _comments(value: Node, block: str, *, colon_end: int, last: str) -> tuple[str, bool]:
    """The comment on the key's own line, and whether there are others that a change would lose."""
    if "\n" not in block[colon_end : value.end].rstrip():
        return last, False
    header_end = block.index("\n", colon_end)
    if value.start > header_end:
        header = _TAIL.match(block, colon_end)
        between = block[header_end : value.start]
        comment = (header["comment"] or "") if header else ""
        return comment, "#" in between or bool(last) or _has_comment(value, block)
    is_block_text = isinstance(value, ScalarNode) and value.style in ("|", ">")
    return "", bool(last) or (is_block_text and "#" in block[value.start : header_end]) or _has_comment(value, block)


def _has_comment(value: Node, block: str) -> bool:
    """True if there is a `#` between the items of a list or mapping."""
    if not isinstance(value, ListNode | MapNode):
        return False
    position = value.start
    for child in _children(value):
        if "#" in block[position : child.start] or _has_comment(child, block):
            return True
        position = max(position, child.end)
    return "#" in block[position : value.end]


def _gap(value: Node, block: str, colon_end: int) -> str:
    gap = block[colon_end : value.start]
    return gap if gap and gap.strip(" \t") == "" else " "


def _indent(value: Node, block: str, *, own: str) -> str:
    """The indentation of the old list; two more than the key's for a new one."""
    before = block[_line_start(block, value.start) : value.start]
    is_on_lines = isinstance(value, ListNode | MapNode) and not value.flow
    return before if is_on_lines and before.strip(" ") == "" else own + "  "
