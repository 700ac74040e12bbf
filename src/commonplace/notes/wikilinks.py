"""Wikilinks and embeds, `[[target#heading|alias]]`, in prose and in properties."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from commonplace.model import Link
from commonplace.notes.lines import Lines
from commonplace.notes.yaml_nodes import AliasNode, ListNode, Node, ScalarNode
from commonplace.notes.yaml_tree import compose

_WIKILINK = re.compile(r"\[\[([^\[\]\n\x01\x02]+)\]\]")
_PIPE = re.compile(r"\\?\|")
Where = Literal["body", "property"]


@dataclass(frozen=True, slots=True)
class Place:
    """What a link's brackets say: where it leads and what it is called."""

    target: str
    heading: str | None
    block: str | None
    alias: str | None


def place_of(inner: str) -> Place | None:
    """What stands between `[[` and `]]`, read; nothing if it leads nowhere."""
    path, *alias = _PIPE.split(inner, maxsplit=1)
    target, _, anchor = path.partition("#")
    anchor = anchor.strip()
    heading = None if anchor.startswith("^") else anchor
    block = anchor[1:].strip() if anchor.startswith("^") else None
    if not (target.strip() or heading or block):
        return None
    return Place(target.strip(), heading or None, block or None, alias[0].strip() or None if alias else None)


def wikilink_target(written: str) -> tuple[int, int]:
    """From where to where the target stands in a whole wikilink or embed, its brackets included."""
    start = written.index("[[") + len("[[")
    path = _PIPE.split(written[start : -len("]]")], maxsplit=1)[0].partition("#")[0]
    start += len(path) - len(path.lstrip())
    return start, start + len(path.strip())


def wikilinks(prose: str, body: str, *, lines: Lines, base: int) -> Iterator[Link]:
    """The links of a body, `base` being where the body begins in the note."""
    for match in _WIKILINK.finditer(prose):
        place = place_of(body[match.start(1) : match.end(1)])
        if place:
            yield _link(place, "body", match, lines=lines, base=base)


def property_links(root: Node | None, block: str, *, lines: Lines, base: int) -> Iterator[Link]:
    """The links in the texts of a frontmatter block, `base` being where the block begins in the note."""
    for scalar in _texts(root):
        for match in _WIKILINK.finditer(block, _content_start(scalar, block), scalar.end):
            place = place_of(_unquoted(match.group(1), scalar.style))
            if place:
                yield _link(place, "property", match, lines=lines, base=base)


def _link(place: Place, where: Where, match: re.Match[str], *, lines: Lines, base: int) -> Link:
    start, end = match.span()
    is_embed = match.string.startswith("!", start - 1) if start else False
    return Link(
        target=place.target,
        heading=place.heading,
        block=place.block,
        alias=place.alias,
        form="embed" if is_embed else "wikilink",
        where=where,
        line=lines.number(start),
        start=base + start - is_embed,
        end=base + end,
    )


def _texts(node: Node | None) -> Iterator[ScalarNode]:
    """Every text that is a value, where it is written, not where an alias repeats it."""
    if isinstance(node, ScalarNode):
        yield node
    elif isinstance(node, ListNode):
        for item in node.items:
            yield from _texts(item)
    elif node is not None and not isinstance(node, AliasNode):
        for _, value in node.pairs:
            yield from _texts(value)


def _content_start(scalar: ScalarNode, block: str) -> int:
    """Past the line of the `|` or `>` of a block text, which may carry a comment."""
    return block.find("\n", scalar.start) + 1 if scalar.style in ("|", ">") else scalar.start


def _unquoted(inner: str, style: str) -> str:
    """The link's text without the escapes of the quotes it stands in."""
    if style == "'":
        return inner.replace("''", "'")
    if style == '"' and "\\" in inner:
        root = compose(f'"{inner}"').root
        return root.text if isinstance(root, ScalarNode) else inner
    return inner
