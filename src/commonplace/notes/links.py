"""Find links: wikilinks and embeds (`[[target#heading|alias]]`) in prose and properties, and Markdown links.

Of Markdown links, `[text](Folder/Note.md#Heading "title")`, those to files of the vault become Links; the others are
found as well, so that their text is not searched for tags.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal
from urllib.parse import unquote

from commonplace.model import Link
from commonplace.notes.note_text import LineIndex
from commonplace.notes.yaml_tree import AliasNode, ListNode, Node, ScalarNode, parse_yaml

_WIKILINK = re.compile(r"\[\[([^\[\]\n\x01\x02]+)\]\]")
_PIPE = re.compile(r"\\?\|")
_BRACKET = re.compile(r"[\[\]]")
_BLANK_LINE = re.compile(r"\n[ \t\r]*+\n")
_MAX_LINK_TEXT = 4000
_DESTINATION = re.compile(
    r"""\(\s*+
    (?: < (?P<angled>[^<>\n]*+) > | (?P<bare>[^\s<>()]*+ (?:\([^\s()]*+\) [^\s()]*+)*+) )
    (?: \s++ (?: "[^"\n]*+" | '[^'\n]*+' | \([^()\n]*+\) ) )?+
    \s*+\)""",
    re.VERBOSE,
)
_EXTERNAL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
Where = Literal["body", "property"]


@dataclass(frozen=True, slots=True)
class WikilinkParts:
    """What is written between the brackets of a wikilink: its target, heading or block, and alias."""

    target: str
    heading: str | None
    block: str | None
    alias: str | None


@dataclass(frozen=True, slots=True)
class MarkdownLink:
    """A Markdown link of any kind, from `start` to `end`; its text ends at `text_end`."""

    start: int
    text_end: int
    end: int
    destination: str


def parse_wikilink(inner: str) -> WikilinkParts | None:
    """The parts of the text between `[[` and `]]`; None if it has no target."""
    path, *alias = _PIPE.split(inner, maxsplit=1)
    target, _, anchor = path.partition("#")
    anchor = anchor.strip()
    heading = None if anchor.startswith("^") else anchor
    block = anchor[1:].strip() if anchor.startswith("^") else None
    if not (target.strip() or heading or block):
        return None
    return WikilinkParts(target.strip(), heading or None, block or None, alias[0].strip() or None if alias else None)


def wikilink_target_span(written: str) -> tuple[int, int]:
    """The start and end of the target in a whole wikilink or embed, including its brackets."""
    start = written.index("[[") + len("[[")
    path = _PIPE.split(written[start : -len("]]")], maxsplit=1)[0].partition("#")[0]
    start += len(path) - len(path.lstrip())
    return start, start + len(path.strip())


def find_wikilinks(prose: str, body: str, *, lines: LineIndex, base: int) -> Iterator[Link]:
    """The wikilinks of a body, which begins at the offset `base` of the note."""
    for match in _WIKILINK.finditer(prose):
        parts = parse_wikilink(body[match.start(1) : match.end(1)])
        if parts:
            yield _wikilink(parts, "body", match, lines=lines, base=base)


def find_property_links(root: Node | None, block: str, *, lines: LineIndex, base: int) -> Iterator[Link]:
    """The wikilinks in the values of a frontmatter block, which begins at the offset `base` of the note."""
    for scalar in _scalars(root):
        for match in _WIKILINK.finditer(block, _content_start(scalar, block), scalar.end):
            parts = parse_wikilink(_unquoted(match.group(1), scalar.style))
            if parts:
                yield _wikilink(parts, "property", match, lines=lines, base=base)


def find_markdown_links(prose: str, body: str) -> Iterator[MarkdownLink]:
    """Every Markdown link, including web links, in the order of their closing brackets."""
    opened: list[int] = []
    for bracket in _BRACKET.finditer(prose):
        end = bracket.start()
        if bracket.group() == "[":
            opened.append(end)
        elif opened:
            start = opened.pop()
            match = _DESTINATION.match(prose, end + 1)
            if match and end - start <= _MAX_LINK_TEXT and not _BLANK_LINE.search(prose, start, end):
                group = "bare" if match["angled"] is None else "angled"
                destination = body[match.start(group) : match.end(group)]
                yield MarkdownLink(start, end, match.end(), destination)


def vault_link(link: MarkdownLink, body: str, *, lines: LineIndex, base: int) -> Link | None:
    """The link if it leads to a file of the vault or a heading of this note, else None."""
    if _EXTERNAL.match(link.destination):
        return None
    target, _, anchor = _ESCAPE.sub(r"\1", link.destination).partition("#")
    target, anchor = unquote(target).strip(), unquote(anchor).strip()
    if not (target or anchor.strip("^")):
        return None
    start = link.start - (link.start > 0 and body[link.start - 1] == "!")
    return Link(
        target=target,
        heading=anchor if anchor and not anchor.startswith("^") else None,
        block=anchor[1:] if anchor.startswith("^") else None,
        alias=body[link.start + 1 : link.text_end].strip() or None,
        form="markdown",
        where="body",
        line=lines.number(start),
        start=base + start,
        end=base + link.end,
    )


def markdown_target_span(written: str, text: str | None) -> tuple[int, int, bool] | None:
    """The start and end of the target in a whole Markdown link with this text, and whether it is in `<...>`.

    The target excludes heading, block and title. None if it cannot be located with certainty.
    """
    opening = written.index("[") + 1
    for close in re.finditer(r"\]\(", written):
        match = _DESTINATION.match(written, close.start() + 1)
        if match and match.end() == len(written) and (written[opening : close.start()].strip() or None) == text:
            angled = match["angled"] is not None
            start, end = match.span("angled" if angled else "bare")
            path = written[start:end].partition("#")[0]
            start += len(path) - len(path.lstrip())
            return start, start + len(path.strip()), angled
    return None


def _wikilink(parts: WikilinkParts, where: Where, match: re.Match[str], *, lines: LineIndex, base: int) -> Link:
    start, end = match.span()
    is_embed = match.string.startswith("!", start - 1) if start else False
    return Link(
        target=parts.target,
        heading=parts.heading,
        block=parts.block,
        alias=parts.alias,
        form="embed" if is_embed else "wikilink",
        where=where,
        line=lines.number(start),
        start=base + start - is_embed,
        end=base + end,
    )


def _scalars(node: Node | None) -> Iterator[ScalarNode]:
    """Every scalar that is a value, where it is written and not where an alias repeats it."""
    if isinstance(node, ScalarNode):
        yield node
    elif isinstance(node, ListNode):
        for item in node.items:
            yield from _scalars(item)
    elif node is not None and not isinstance(node, AliasNode):
        for _, value in node.pairs:
            yield from _scalars(value)


def _content_start(scalar: ScalarNode, block: str) -> int:
    """The start of the text: after the line of the `|` or `>` of a block scalar, which may have a comment."""
    return block.find("\n", scalar.start) + 1 if scalar.style in ("|", ">") else scalar.start


def _unquoted(inner: str, style: str) -> str:
    """The link's text without the escapes of the quotes around it."""
    if style == "'":
        return inner.replace("''", "'")
    if style == '"' and "\\" in inner:
        root = parse_yaml(f'"{inner}"').root
        return root.text if isinstance(root, ScalarNode) else inner
    return inner
