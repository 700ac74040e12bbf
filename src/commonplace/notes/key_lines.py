"""Where a key of a frontmatter block stands: its lines, and the pieces an edit keeps."""

import re
from dataclasses import dataclass

from commonplace.notes.yaml_nodes import AliasNode, ListNode, MapNode, Node, ScalarNode, key_text

_COLON = re.compile(r"[ \t]*:")
_TAIL = re.compile(r"(?P<comment>[ \t]+\#[^\n]*?)?[ \t]*\r?\n", re.VERBOSE)
_BLANKS = re.compile(r"[ \t]*")


@dataclass(frozen=True, slots=True)
class KeyLines:
    """One key's whole lines, `start` to `end`, without the comments and blank lines around them.

    `lead` is the key as written up to its colon, `gap` the blanks behind it, `comment` the one on the key's line.
    `own_indent` is what stands before the key, `indent` what stands before its list's dashes.
    `has_inner_comment` tells of comments on its further lines, which a change would lose.
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


def find_key(root: MapNode, block: str, key: str) -> KeyLines | None:
    """The lines of a key of the block; nothing if it does not stand alone on lines of its own."""
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
    return KeyLines(
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


def names_anything(node: Node) -> bool:
    """Whether an anchor or an alias stands in it."""
    if node.anchored or isinstance(node, AliasNode):
        return True
    return any(names_anything(child) for child in _children(node))


def _children(node: Node) -> tuple[Node, ...]:
    if isinstance(node, ListNode):
        return node.items
    if isinstance(node, MapNode):
        return tuple(child for pair in node.pairs for child in pair)
    return ()


def _line_start(block: str, index: int) -> int:
    return block.rfind("\n", 0, index) + 1


def _end_of_text(value: Node, block: str) -> int:
    """Where the value's last visible character ends: block texts reach over the blank lines behind them."""
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
    """Whether a `#` stands between the texts of a list or a set of keys."""
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
    """The old list's indentation, two more than the key's for a new one."""
    before = block[_line_start(block, value.start) : value.start]
    is_on_lines = isinstance(value, ListNode | MapNode) and not value.flow
    return before if is_on_lines and before.strip(" ") == "" else own + "  "
