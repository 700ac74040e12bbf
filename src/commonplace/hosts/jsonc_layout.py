"""How new lines look in a JSON text: as those that are there."""

import json
import re
from dataclasses import dataclass
from typing import Final

from commonplace.hosts.jsonc import Document, Node
from commonplace.hosts.trace import line_end_of

_TWO_BLANKS: Final = "  "
_INDENT: Final = re.compile(r"[ \t]*")


@dataclass(frozen=True, slots=True)
class Layout:
    """How new lines look in this text: their end, one step of indentation, and whether they are lines at all."""

    line_end: str
    step: str
    in_one_line: bool

    def show(self, value: object, indent: str) -> str:
        """The value as text, its further lines indented by that much."""
        if self.in_one_line:
            return json.dumps(value, ensure_ascii=False)
        return json.dumps(value, ensure_ascii=False, indent=self.step).replace("\n", f"{self.line_end}{indent}")


def layout_of(document: Document, node: Node) -> Layout:
    """How a value looks in this object or array, or in the place of this value."""
    text, first = document.text, document.root.items[:1]
    step = _TWO_BLANKS
    if first and "\n" in text[document.root.start : first[0].start]:
        step = indent_of(text, first[0].start) or _TWO_BLANKS
    return Layout(line_end_of(text), step, _is_in_one_line(document, node))


def _is_in_one_line(document: Document, node: Node) -> bool:
    """Whether the nearest object or array around it that holds something is written without a line end."""
    around = document.root
    for holder in _holders(document.root, node):
        if holder.items:
            around = holder
    return bool(around.items) and "\n" not in document.text[around.start : around.end]


def _holders(root: Node, node: Node) -> list[Node]:
    """The objects and arrays from the root down to this one."""
    way, here = [root], root
    while here is not node:
        inside = [item.value for item in here.items if item.value.start <= node.start and node.end <= item.value.end]
        if not inside:
            break
        here = inside[0]
        way.append(here)
    return way


def indent_of(text: str, place: int) -> str:
    """The blanks with which the line of this place begins."""
    found = _INDENT.match(text, text.rfind("\n", 0, place) + 1)
    return found.group() if found else ""
