"""Read a note's frontmatter: plain values, title, aliases and tags, and everything wrong with it as Problems.

Scalars have the meaning of YAML 1.2, and stay text where a number would lose what is written.
`true` and `false` are booleans; `null`, `~` and nothing are None; decimal numbers without leading zeros are numbers.
Everything else is text exactly as written: `01234`, `12:30:00`, `2026-03-01`, `+49`, `yes`, `12e45`.
"""

import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

from commonplace.model import Problem
from commonplace.notes.yaml_tree import (
    AliasNode,
    ListNode,
    MapNode,
    Node,
    ScalarNode,
    YamlTree,
    key_text,
    line_of,
    parse_yaml,
)

_KEYWORDS = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
# Python refuses to parse integers of more than 4300 digits.
_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]{0,999})")
_FLOAT = re.compile(r"-?(?:0|[1-9][0-9]*)\.[0-9]+(?:[eE][-+]?[0-9]+)?")
_COMMA = re.compile(r"\s*,\s*")
_COMMA_OR_SPACE = re.compile(r"[,\s]+")


def read_frontmatter(block: str, *, path: str) -> tuple[dict[str, Any], tuple[Problem, ...]]:
    """The block's keys and values as plain data, and the problems in it. Accepts any text."""
    return frontmatter_from_tree(parse_yaml(block), block, path=path)


def frontmatter_from_tree(tree: YamlTree, block: str, *, path: str) -> tuple[dict[str, Any], tuple[Problem, ...]]:
    """The keys and values of a parsed block, and the problems in it."""
    problems = [
        Problem(path, line_of(block, defect.index), f"frontmatter: {defect.message}", defect.code)
        for defect in tree.defects
    ]
    root = tree.root
    if isinstance(root, MapNode):
        return _dict_value(root), tuple(problems)
    if root is not None and not _is_null(root):
        message = "frontmatter: not a mapping of keys to values"
        problems.append(Problem(path, line_of(block, root.start), message, "not-a-mapping"))
    return {}, tuple(problems)


def python_value(node: Node) -> Any:
    """The node's value: text, number, boolean, None, or lists and dicts of them."""
    if isinstance(node, ScalarNode):
        return node.text if node.is_text else _scalar_value(node.text)
    if isinstance(node, ListNode):
        return [python_value(item) for item in node.items]
    if isinstance(node, AliasNode):
        return python_value(node.target)
    return _dict_value(node)


def title_of(frontmatter: Mapping[str, Any], *, path: str) -> str:
    """The `title` if there is one, else the file's name without `.md`."""
    title = _property_text(frontmatter.get("title"))
    if title:
        return title
    name = path.rpartition("/")[2]
    return name[:-3] if name.lower().endswith(".md") and len(name) > 3 else name


def aliases_of(frontmatter: Mapping[str, Any]) -> tuple[str, ...]:
    """The note's other names, without duplicates, in the order written."""
    names = (name for key in ("aliases", "alias") for name in _property_items(frontmatter.get(key), _COMMA))
    return tuple(dict.fromkeys(name.strip() for name in names if isinstance(name, str) and name.strip()))


def tags_of(frontmatter: Mapping[str, Any]) -> Iterator[str]:
    """The tags under `tags` and `tag`, without their `#`, in the order written."""
    for key in ("tags", "tag"):
        for item in _property_items(frontmatter.get(key), _COMMA_OR_SPACE):
            tag = _property_text(item).lstrip("#").strip()
            if tag:
                yield tag


def _dict_value(node: MapNode) -> dict[str, Any]:
    pairs = ((key_text(key), value) for key, value in node.pairs)
    return {name: python_value(value) for name, value in pairs if name is not None}


def _scalar_value(text: str) -> Any:
    if text in _KEYWORDS:
        return _KEYWORDS[text]
    if _INTEGER.fullmatch(text):
        return int(text)
    if _FLOAT.fullmatch(text) and math.isfinite(number := float(text)):
        return number
    return text


def _is_null(node: Node) -> bool:
    return isinstance(node, ScalarNode) and not node.is_text and _scalar_value(node.text) is None


def _property_items(value: Any, separator: re.Pattern[str]) -> list[Any]:
    if isinstance(value, str):
        return separator.split(value)
    return value if isinstance(value, list) else [value]


def _property_text(value: Any) -> str:
    """A text or number as text; an empty text for anything else."""
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        return str(value).strip()
    return ""
