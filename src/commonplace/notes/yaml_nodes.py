"""The values of a frontmatter tree: what is written, and where it stands in the block.

`start` and `end` count characters of the block, a node's tag and anchor included.
`size` and `height` are those of the node with its aliases written out.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Defect:
    """Something wrong with the block, `index` characters into it."""

    index: int
    message: str
    code: str


@dataclass(frozen=True, slots=True)
class ScalarNode:
    """One word or text. `style` is its quote or block sign, empty when plain; `is_text` when it can only be text."""

    text: str
    style: str
    is_text: bool
    anchored: bool
    start: int
    end: int
    size: int
    height: int = 0


@dataclass(frozen=True, slots=True)
class ListNode:
    """A list, in brackets (`flow`) or on dashes."""

    items: "tuple[Node, ...]"
    flow: bool
    anchored: bool
    start: int
    end: int
    size: int
    height: int


@dataclass(frozen=True, slots=True)
class MapNode:
    """Keys and values, in braces (`flow`) or on lines."""

    pairs: "tuple[tuple[Node, Node], ...]"
    flow: bool
    anchored: bool
    start: int
    end: int
    size: int
    height: int


@dataclass(frozen=True, slots=True)
class AliasNode:
    """`*name`, and the node it stands for."""

    target: "Node"
    start: int
    end: int
    size: int
    height: int
    anchored: bool = True


Node = ScalarNode | ListNode | MapNode | AliasNode


@dataclass(frozen=True, slots=True)
class Tree:
    """The block's root, none if it is empty or unreadable; its defects; whether it marks documents (`---`, `...`)."""

    root: Node | None
    defects: tuple[Defect, ...]
    marked: bool


def key_text(node: Node) -> str | None:
    """What a key is called; nothing for a key that is a list, a set of keys or missing."""
    if isinstance(node, AliasNode):
        return key_text(node.target)
    if isinstance(node, ScalarNode) and (node.text or node.is_text):
        return node.text
    return None
