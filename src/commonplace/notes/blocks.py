"""The blocks of a note's body, by markdown-it: its headings, its paragraphs, and the lines that are no prose."""

import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Literal

from commonplace.model import Heading

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

_CODE = ("fence", "code_block")
_KINDS: dict[str, Literal["text", "code", "table"]] = {
    "inline": "text",
    "html_block": "text",
    "hr": "text",
    "table_open": "table",
    **dict.fromkeys(_CODE, "code"),
}
# Rules that cannot match a body without one of these signs; leaving them out saves a sixth of the time.
_SIGNS = {
    "table": ("|",),
    "code": ("    ", "\t"),
    "fence": ("```", "~~~"),
    "blockquote": (">",),
    "html_block": ("<",),
    "heading": ("#",),
}
_UNDERLINE = re.compile(r"\n[ \t>]*+(?:=++|-++)[ \t]*+(?=\n|\Z)")


@dataclass(frozen=True, slots=True)
class Blocks:
    """`opaque` and `paragraphs` are ranges of lines, the second number being the first line past the range."""

    headings: tuple[Heading, ...]
    opaque: tuple[tuple[int, int], ...]
    paragraphs: tuple[tuple[int, int], ...]


def blocks_of(body: str, *, first: int) -> Blocks:
    """The blocks of a body whose first line has the number `first`. Code and HTML are opaque, HTML comments are not."""
    headings: list[Heading] = []
    opaque: list[tuple[int, int]] = []
    paragraphs: list[tuple[int, int]] = []
    before: Token | None = None
    text = _one_kind_of_line_end(body)
    for token in _parser_for(text).parse(text):
        if token.map:
            lines = (token.map[0] + first, token.map[1] + first)
            if token.type == "inline":
                paragraphs.append(lines)
                if before and before.type == "heading_open" and before.level == 0:
                    headings.append(_heading(before, token, line=lines[0]))
            elif token.type in _CODE or _is_html(token):
                opaque.append(lines)
        before = token
    return Blocks(tuple(headings), tuple(opaque), tuple(paragraphs))


@dataclass(frozen=True, slots=True)
class Leaf:
    """A block that holds no other: a paragraph (of a list or a quote too), code, a table. It begins at `line`."""

    kind: Literal["text", "code", "table"]
    line: int


def leaves_of(text: str) -> tuple[Leaf, ...]:
    """The leaves of a text in order, its first line being 0; each goes up to the next, blank lines included."""
    leaves = [Leaf("text", 0)]
    past = 0
    plain = _one_kind_of_line_end(text)
    for token in _parser_for(plain).parse(plain):
        kind = _KINDS.get(token.type)
        if kind is None or token.map is None or token.map[0] < past:
            continue
        if token.map[0] == leaves[-1].line:
            leaves.pop()
        leaves.append(Leaf(kind, token.map[0] if leaves else 0))
        past = token.map[1]
    return tuple(leaves)


def _parser_for(text: str) -> "MarkdownIt":
    idle = [rule for rule, signs in _SIGNS.items() if not any(sign in text for sign in signs)]
    if not _UNDERLINE.search(text):
        idle.append("lheading")
    return _parser_without(*idle)


@cache
def _parser_without(*rules: str) -> "MarkdownIt":
    """A parser of blocks alone, without these rules; link definitions are left as text."""
    from markdown_it import MarkdownIt  # a search that reads no note does not pay for it

    parser = MarkdownIt("commonmark").enable("table").disable(["reference", *rules])
    parser.core.ruler.enableOnly(["normalize", "block"])
    return parser


def _heading(opening: "Token", inline: "Token", *, line: int) -> Heading:
    return Heading(text=" ".join(inline.content.split()), level=int(opening.tag[1]), line=line)


def _is_html(token: "Token") -> bool:
    return token.type == "html_block" and not token.content.lstrip().startswith("<!--")


def _one_kind_of_line_end(body: str) -> str:
    """The body with line feeds alone: markdown-it would take a lone carriage return for the end of a line."""
    return body.replace("\r\n", "\n").replace("\r", " ") if "\r" in body else body
