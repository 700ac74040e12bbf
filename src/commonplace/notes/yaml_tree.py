"""A frontmatter block as a tree of nodes, each with its place in the text; what is wrong is listed, never raised.

The tree is built from the parser's events with a stack of our own, because libyaml's composer overflows the C stack
at some 100,000 open brackets.
A node knows how large it is with its aliases written out, so an alias bomb is seen before anything is built from it.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import yaml
from yaml import events

from commonplace.notes.yaml_nodes import AliasNode, Defect, ListNode, MapNode, Node, ScalarNode, Tree, key_text

PARSER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
DEPTH = 100
SPARE = 100_000
FIRST_LINE = 2
SHOWN = 100

_UNPRINTABLE = re.compile("[^\t\n\r -~\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_TEXT_TAGS = ("!", "tag:yaml.org,2002:str")


@dataclass(slots=True)
class _Open:
    """A collection whose end has not come yet."""

    event: Any
    children: list[Node] = field(default_factory=list)


@dataclass(slots=True)
class _Builder:
    """Takes events one by one; `stopped` once the rest cannot matter."""

    block: str
    first_line: int
    root: Node | None = None
    documents: int = 0
    marked: bool = False
    stopped: bool = False
    defects: list[Defect] = field(default_factory=list)
    stack: list[_Open] = field(default_factory=list)
    anchors: dict[str, Node | None] = field(default_factory=dict)

    def take(self, event: Any) -> None:
        if isinstance(event, events.ScalarEvent):
            self._add(self._scalar(event), event)
        elif isinstance(event, events.CollectionStartEvent):
            self._open(event)
        elif isinstance(event, events.CollectionEndEvent):
            self._close(event)
        elif isinstance(event, events.AliasEvent):
            self._alias(event)
        elif isinstance(event, events.DocumentStartEvent):
            self._document(event)
        elif isinstance(event, events.DocumentEndEvent):
            self.marked = self.marked or bool(event.explicit)

    def _document(self, event: Any) -> None:
        self.documents += 1
        self.marked = self.marked or bool(event.explicit)
        if self.documents > 1:
            self._stop(event.start_mark.index, "a second YAML document begins here", "invalid-yaml")

    def _scalar(self, event: Any) -> ScalarNode:
        style = event.style or ""
        if style == '"' and _SURROGATE.search(event.value):
            self._stop(event.start_mark.index, "the text holds half of a Unicode character", "invalid-yaml")
        start, end = event.start_mark.index, event.end_mark.index
        is_text = style != "" or event.tag in _TEXT_TAGS
        return ScalarNode(event.value, style, is_text, event.anchor is not None, start, end, 1 + len(event.value))

    def _open(self, event: Any) -> None:
        if event.anchor is not None:
            self.anchors[event.anchor] = None
        self.stack.append(_Open(event))
        if len(self.stack) > DEPTH:
            self._too_deep(event.start_mark.index)

    def _close(self, end_event: Any) -> None:
        opened = self.stack.pop()
        event, children = opened.event, opened.children
        start = event.start_mark.index
        end = end_event.end_mark.index if event.flow_style or not children else children[-1].end
        size = 1 + sum(child.size for child in children)
        height = 1 + max((child.height for child in children), default=0)
        flow, anchored = bool(event.flow_style), event.anchor is not None
        if isinstance(event, events.SequenceStartEvent):
            self._add(ListNode(tuple(children), flow, anchored, start, end, size, height), event)
            return
        pairs = tuple(zip(children[::2], children[1::2], strict=True))
        if len(self.defects) < SHOWN:
            self.defects += islice(_key_defects(pairs, self.block, first_line=self.first_line), SHOWN)
        self._add(MapNode(pairs, flow, anchored, start, end, size, height), event)

    def _alias(self, event: Any) -> None:
        start, name = event.start_mark.index, event.anchor
        if name not in self.anchors:
            self._stop(start, f"the alias *{name} stands for nothing before it", "invalid-yaml")
        elif target := self.anchors[name]:
            node = AliasNode(target, start, event.end_mark.index, target.size, target.height)
            self._add(node, event)
        else:
            self._stop(start, f"the alias *{name} stands for something it is part of", "recursive-alias")

    def _add(self, node: Node, event: Any) -> None:
        if not isinstance(node, AliasNode) and event.anchor is not None:
            self.anchors[event.anchor] = node
        if node.size > 2 * len(self.block) + SPARE:
            self._stop(node.start, "written out, the aliases would fill far more than the note itself", "alias-bomb")
        elif node.height > DEPTH:
            self._too_deep(node.start)
        elif self.stack:
            self.stack[-1].children.append(node)
        else:
            self.root = node

    def _too_deep(self, index: int) -> None:
        self._stop(index, f"values stand in one another more than {DEPTH} deep", "too-deep")

    def _stop(self, index: int, message: str, code: str) -> None:
        self.stopped = True
        self.defects = [Defect(index, message, code)]


def compose(block: str, *, first_line: int = FIRST_LINE) -> Tree:
    """The block's tree, for any text; `first_line` is the line of the file that it begins on."""
    builder = _Builder(block, first_line)
    try:
        for event in yaml.parse(block, Loader=PARSER):
            builder.take(event)
            if builder.stopped:
                break
    except (yaml.YAMLError, ValueError, OverflowError) as error:
        return Tree(None, (_unreadable(error, block),), marked=False)
    return Tree(None if builder.stopped else builder.root, tuple(builder.defects), builder.marked)


def line_of(block: str, index: int, *, first_line: int = FIRST_LINE) -> int:
    """The line of the file that holds this place of the block; only a line feed ends a line."""
    return block.count("\n", 0, min(index, max(len(block) - 1, 0))) + first_line


def _key_defects(pairs: tuple[tuple[Node, Node], ...], block: str, *, first_line: int) -> Iterator[Defect]:
    """The keys that cannot be used and those given twice, in one set of keys."""
    seen: dict[str, int] = {}
    for key, _ in pairs:
        name = key_text(key)
        if name is None:
            yield Defect(
                key.start,
                "a key must be a word or a text; a value that begins with a brace wants quotes",
                "unusable-key",
            )
        elif name in seen:
            first, second = (line_of(block, place, first_line=first_line) for place in (seen[name], key.start))
            lines = f"lines {first} and {second}"
            yield Defect(key.start, f"the key {name!r} is given twice, in {lines}", "duplicate-key")
        else:
            seen[name] = key.start


def _unreadable(error: Exception, block: str) -> Defect:
    mark = getattr(error, "problem_mark", None)
    context = getattr(error, "context_mark", None)
    if mark is None:
        found = _UNPRINTABLE.search(block)
        reason = "it holds a character that YAML does not allow" if found else str(error)
        return Defect(found.start() if found else 0, f"this is not valid YAML: {reason}", "invalid-yaml")
    if context is not None and mark.index >= len(block.rstrip()):
        mark = context
    return Defect(mark.index, f"this is not valid YAML: {getattr(error, 'problem', None) or error}", "invalid-yaml")
