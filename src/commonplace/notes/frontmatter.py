"""The quick reader of a note's frontmatter: plain values, and everything wrong with the block as Problems.

Words mean what YAML 1.2 says they mean, and less where a number would lose what is written.
`true` and `false` are booleans; `null`, `~` and nothing are None; decimal numbers without leading zeros are numbers.
All else is text exactly as written: `01234`, `12:30:00`, `2026-03-01`, `+49`, `yes`, `12e45`.
"""

import math
import re
from typing import Any

from commonplace.model import Problem
from commonplace.notes.yaml_nodes import AliasNode, ListNode, MapNode, Node, ScalarNode, Tree, key_text
from commonplace.notes.yaml_tree import compose, line_of

_WORDS = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
# Python refuses to read integers of more than 4300 digits.
_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]{0,999})")
_FLOAT = re.compile(r"-?(?:0|[1-9][0-9]*)\.[0-9]+(?:[eE][-+]?[0-9]+)?")


def read(block: str, *, path: str) -> tuple[dict[str, Any], tuple[Problem, ...]]:
    """The block's keys and values as plain data, and what is wrong with the block; both for any text."""
    return read_tree(compose(block), block, path=path)


def read_tree(tree: Tree, block: str, *, path: str) -> tuple[dict[str, Any], tuple[Problem, ...]]:
    """The same for a block already taken apart."""
    problems = [
        Problem(path, line_of(block, defect.index), f"frontmatter: {defect.message}", defect.code)
        for defect in tree.defects
    ]
    root = tree.root
    if isinstance(root, MapNode):
        return _mapping(root), tuple(problems)
    if root is not None and not _is_nothing(root):
        message = "frontmatter: not a set of keys with values"
        problems.append(Problem(path, line_of(block, root.start), message, "not-a-mapping"))
    return {}, tuple(problems)


def plain(node: Node) -> Any:
    """The node's value: text, number, boolean, None, or lists and dicts of them."""
    if isinstance(node, ScalarNode):
        return node.text if node.is_text else _word(node.text)
    if isinstance(node, ListNode):
        return [plain(item) for item in node.items]
    if isinstance(node, AliasNode):
        return plain(node.target)
    return _mapping(node)


def _mapping(node: MapNode) -> dict[str, Any]:
    named = ((key_text(key), value) for key, value in node.pairs)
    return {name: plain(value) for name, value in named if name is not None}


def _word(text: str) -> Any:
    if text in _WORDS:
        return _WORDS[text]
    if _INTEGER.fullmatch(text):
        return int(text)
    if _FLOAT.fullmatch(text) and math.isfinite(number := float(text)):
        return number
    return text


def _is_nothing(node: Node) -> bool:
    return isinstance(node, ScalarNode) and not node.is_text and _word(node.text) is None
