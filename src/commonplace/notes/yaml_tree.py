"""A YAML block as a tree of nodes, each with its offsets in the text; syntax errors are listed, never raised.

The tree is built from the parser's events with a stack of our own, because libyaml's composer overflows the C stack
at some 100,000 open brackets.
A node knows its size with all aliases expanded, so an alias bomb is detected before anything is built from it.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from commonplace.model.text import LazyPattern

MAX_DEPTH = 100
ALIAS_ALLOWANCE = 100_000
"""Characters that expanded aliases may add to twice the block's length."""
FIRST_LINE = 2
"""The line of a file on which its frontmatter block begins."""
MAX_DEFECTS = 100

_UNPRINTABLE = LazyPattern("[^\t\n\r -~\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_TEXT_TAGS = ("!", "tag:yaml.org,2002:str")


# In every node, `start` and `end` are offsets in the block, including the node's tag and anchor;
# `size` and `height` are those of the node with its aliases expanded.


@dataclass(frozen=True, slots=True)
class ScalarNode:
    """One scalar. `style` is its quote or block sign, empty if plain; `is_text` is True if it can only be text."""

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
    """A list, in brackets (`flow`) or with dashes."""

    items: "tuple[Node, ...]"
    flow: bool
    anchored: bool
    start: int
    end: int
    size: int
    height: int


@dataclass(frozen=True, slots=True)
class MapNode:
    """A mapping, in braces (`flow`) or on lines."""

    pairs: "tuple[tuple[Node, Node], ...]"
    flow: bool
    anchored: bool
    start: int
    end: int
    size: int
    height: int


@dataclass(frozen=True, slots=True)
class AliasNode:
    """`*name`, and the node it refers to."""

    target: "Node"
    start: int
    end: int
    size: int
    height: int
    anchored: bool = True


Node = ScalarNode | ListNode | MapNode | AliasNode


@dataclass(frozen=True, slots=True)
class Defect:
    """Something wrong with the block, at the offset `index`."""

    index: int
    message: str
    code: str


@dataclass(frozen=True, slots=True)
class YamlTree:
    """The root, None if the block is empty or unreadable; the defects; whether it has document markers (`---`)."""

    root: Node | None
    defects: tuple[Defect, ...]
    marked: bool


def parse_yaml(block: str, *, first_line: int = FIRST_LINE) -> YamlTree:
    """The block's tree. Accepts any text; `first_line` is the line of the file on which the block begins."""
    import yaml  # 20 ms, and many commands parse no note

    builder = _TreeBuilder(block, first_line)
    try:
        for event in yaml.parse(block, Loader=yaml_parser()):
            builder.add_event(event)
            if builder.stopped:
                break
    except (yaml.YAMLError, ValueError, OverflowError) as error:
        return YamlTree(None, (_syntax_defect(error, block),), marked=False)
    return YamlTree(None if builder.stopped else builder.root, tuple(builder.defects), builder.marked)


def yaml_parser() -> Any:
    """PyYAML's loader on libyaml, or the one in Python if PyYAML was built without libyaml."""
    import yaml

    return getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def key_text(node: Node) -> str | None:
    """The name of a key; None for a key that is a list, a mapping or missing."""
    if isinstance(node, AliasNode):
        return key_text(node.target)
    if isinstance(node, ScalarNode) and (node.text or node.is_text):
        return node.text
    return None


def line_of(block: str, index: int, *, first_line: int = FIRST_LINE) -> int:
    """The line of the file that contains this offset of the block; only a line feed ends a line."""
    return block.count("\n", 0, min(index, max(len(block) - 1, 0))) + first_line


@dataclass(slots=True)
class _OpenCollection:
    """A list or mapping whose end has not been read yet."""

    event: Any
    children: list[Node] = field(default_factory=list)


@dataclass(slots=True)
class _TreeBuilder:
    """Builds the tree event by event; `stopped` after a defect that makes the block unreadable."""

    block: str
    first_line: int
    root: Node | None = None
    documents: int = 0
    marked: bool = False
    stopped: bool = False
    defects: list[Defect] = field(default_factory=list)
    stack: list[_OpenCollection] = field(default_factory=list)
    anchors: dict[str, Node | None] = field(default_factory=dict)

    def add_event(self, event: Any) -> None:
        match type(event).__name__:
            case "ScalarEvent":
                self._add(self._scalar(event), event)
            case "SequenceStartEvent" | "MappingStartEvent":
                self._open(event)
            case "SequenceEndEvent" | "MappingEndEvent":
                self._close(event)
            case "AliasEvent":
                self._alias(event)
            case "DocumentStartEvent":
                self._document(event)
            case "DocumentEndEvent":
                self.marked = self.marked or bool(event.explicit)

    def _document(self, event: Any) -> None:
        self.documents += 1
        self.marked = self.marked or bool(event.explicit)
        if self.documents > 1:
            self._stop(event.start_mark.index, "a second YAML document begins here", "invalid-yaml")

    def _scalar(self, event: Any) -> ScalarNode:
        style = event.style or ""
        if style == '"' and _SURROGATE.search(event.value):
            self._stop(event.start_mark.index, "the text contains half of a Unicode character", "invalid-yaml")
        start, end = event.start_mark.index, event.end_mark.index
        is_text = style != "" or event.tag in _TEXT_TAGS
        return ScalarNode(event.value, style, is_text, event.anchor is not None, start, end, 1 + len(event.value))

    def _open(self, event: Any) -> None:
        if event.anchor is not None:
            self.anchors[event.anchor] = None
        self.stack.append(_OpenCollection(event))
        if len(self.stack) > MAX_DEPTH:
            self._too_deep(event.start_mark.index)

    def _close(self, end_event: Any) -> None:
        opened = self.stack.pop()
        event, children = opened.event, opened.children
        start = event.start_mark.index
        end = end_event.end_mark.index if event.flow_style or not children else children[-1].end
        size = 1 + sum(child.size for child in children)
        height = 1 + max((child.height for child in children), default=0)
        flow, anchored = bool(event.flow_style), event.anchor is not None
        if type(event).__name__ == "SequenceStartEvent":
            self._add(ListNode(tuple(children), flow, anchored, start, end, size, height), event)
            return
        pairs = tuple(zip(children[::2], children[1::2], strict=True))
        if len(self.defects) < MAX_DEFECTS:
            self.defects += islice(_key_defects(pairs, self.block, first_line=self.first_line), MAX_DEFECTS)
        self._add(MapNode(pairs, flow, anchored, start, end, size, height), event)

    def _alias(self, event: Any) -> None:
        start, name = event.start_mark.index, event.anchor
        if name not in self.anchors:
            self._stop(start, f"the alias *{name} has no anchor before it", "invalid-yaml")
        elif target := self.anchors[name]:
            node = AliasNode(target, start, event.end_mark.index, target.size, target.height)
            self._add(node, event)
        else:
            self._stop(start, f"the alias *{name} refers to a value that contains it", "recursive-alias")

    def _add(self, node: Node, event: Any) -> None:
        if not isinstance(node, AliasNode) and event.anchor is not None:
            self.anchors[event.anchor] = node
        if node.size > 2 * len(self.block) + ALIAS_ALLOWANCE:
            self._stop(node.start, "its aliases would expand to far more than the note itself", "alias-bomb")
        elif node.height > MAX_DEPTH:
            self._too_deep(node.start)
        elif self.stack:
            self.stack[-1].children.append(node)
        else:
            self.root = node

    def _too_deep(self, index: int) -> None:
        self._stop(index, f"values are nested more than {MAX_DEPTH} levels deep", "too-deep")

    def _stop(self, index: int, message: str, code: str) -> None:
        self.stopped = True
        self.defects = [Defect(index, message, code)]


def _key_defects(pairs: tuple[tuple[Node, Node], ...], block: str, *, first_line: int) -> Iterator[Defect]:
    """The unusable and the duplicate keys of one mapping."""
    seen: dict[str, int] = {}
    for key, _ in pairs:
        name = key_text(key)
        if name is None:
            message = "a key must be text; put quotes around a value that begins with a brace"
            yield Defect(key.start, message, "unusable-key")
        elif name in seen:
            first, second = (line_of(block, offset, first_line=first_line) for offset in (seen[name], key.start))
            message = f"the key {name!r} is given twice, in lines {first} and {second}"
            yield Defect(key.start, message, "duplicate-key")
        else:
            seen[name] = key.start


def _syntax_defect(error: Exception, block: str) -> Defect:
    mark = getattr(error, "problem_mark", None)
    context = getattr(error, "context_mark", None)
    if mark is None:
        character = _UNPRINTABLE.search(block)
        reason = "it contains a character that YAML does not allow" if character else str(error)
        return Defect(character.start() if character else 0, f"this is not valid YAML: {reason}", "invalid-yaml")
    if context is not None and mark.index >= len(block.rstrip()):
        mark = context
    return Defect(mark.index, f"this is not valid YAML: {getattr(error, 'problem', None) or error}", "invalid-yaml")
