"""The Markdown structure of a body: its headings and blocks, by markdown-it, and which characters are prose.

In the prose, code, comments, math and HTML are blanked out and every character keeps its offset. Links, tags and
structured lines are searched for in it, so that they are found with exact offsets.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Literal, NamedTuple

from commonplace.model import Heading
from commonplace.notes.note_text import LineIndex

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

CODE = "\x00"
MATH = "\x01"
COMMENT = "\x02"

_CODE_TOKENS = ("fence", "code_block")
_KINDS: dict[str, Literal["text", "code", "table"]] = {
    "inline": "text",
    "html_block": "text",
    "hr": "text",
    "table_open": "table",
    **dict.fromkeys(_CODE_TOKENS, "code"),
}
# Rules that cannot match a body without one of these strings; leaving them out saves a sixth of the time.
_RULE_TRIGGERS = {
    "table": ("|",),
    "code": ("    ", "\t"),
    "fence": ("```", "~~~"),
    "blockquote": (">",),
    "html_block": ("<",),
    "heading": ("#",),
}
_UNDERLINE = re.compile(r"\n[ \t>]*+(?:=++|-++)[ \t]*+(?=\n|\Z)")
_NOT_LINE_FEED = re.compile(r"[^\n]")
_OPENER_START = re.compile(r"[\\`%<$]")
_OPENER = re.compile(
    r"""\\[!-/:-@\[-`{-~]                     # an escaped character
    | `+                                      # a code span
    | %% | <!-- | \$\$                        # a comment, math
    | (?<!\]\()</?[A-Za-z][A-Za-z0-9-]*+(?:\s[^<>\n]*+)?/?>   # an HTML tag, but not the <target> of a Markdown link
    """,
    re.VERBOSE,
)
_BACKTICKS = re.compile("`+")
_PAIRS = {"%%": ("%%", COMMENT), "<!--": ("-->", COMMENT), "$$": ("$$", MATH)}
_LEAD = re.compile(r"[ \t>*+-]*")
_MAX_LEAD = 100
_TOP_BLOCKS: dict[tuple[str, int], Literal["paragraph", "item"]] = {
    ("paragraph_open", 0): "paragraph",
    ("list_item_open", 1): "item",
}
_LIST_MARK = re.compile(r"\A(?:[-*+]|\d+[.)])\s+(?:\[[ xX]\]\s+)?")

Mask = tuple[int, int, str]
"""From which to which offset, and the character to fill with."""


@dataclass(frozen=True, slots=True)
class Blocks:
    """The blocks of a body. `opaque` (code and HTML) and `paragraphs` are line ranges that exclude their end."""

    headings: tuple[Heading, ...]
    opaque: tuple[tuple[int, int], ...]
    paragraphs: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class LeafBlock:
    """A block that contains no other block: a paragraph (also in a list or quote), code, a table."""

    kind: Literal["text", "code", "table"]
    line: int


class TopBlock(NamedTuple):
    """A paragraph that is in no other block, or an item of a list that is in no other block."""

    kind: Literal["paragraph", "item"]
    text: str


def find_blocks(body: str, *, first: int) -> Blocks:
    """The blocks of a body whose first line has the number `first`. HTML comments are not opaque."""
    headings: list[Heading] = []
    opaque: list[tuple[int, int]] = []
    paragraphs: list[tuple[int, int]] = []
    before: Token | None = None
    text = _with_line_feeds(body)
    for token in _parser_for(text).parse(text):
        if token.map:
            lines = (token.map[0] + first, token.map[1] + first)
            if token.type == "inline":
                paragraphs.append(lines)
                if before and before.type == "heading_open" and before.level == 0:
                    headings.append(_heading(before, token, line=lines[0]))
            elif token.type in _CODE_TOKENS or _is_html(token):
                opaque.append(lines)
        before = token
    return Blocks(tuple(headings), tuple(opaque), tuple(paragraphs))


def leaf_blocks(text: str) -> tuple[LeafBlock, ...]:
    """The leaf blocks of a text in order, its first line being 0; each extends to the next, with the blank lines."""
    leaves = [LeafBlock("text", 0)]
    past = 0
    normalized = _with_line_feeds(text)
    for token in _parser_for(normalized).parse(normalized):
        kind = _KINDS.get(token.type)
        if kind is None or token.map is None or token.map[0] < past:
            continue
        if token.map[0] == leaves[-1].line:
            leaves.pop()
        leaves.append(LeafBlock(kind, token.map[0] if leaves else 0))
        past = token.map[1]
    return tuple(leaves)


def top_blocks(text: str) -> Iterator[TopBlock]:
    """The paragraphs at the top level of a text, and the items of its top-level lists without their marks.

    What is neither (headings, code, tables, quotations) is left out.
    """
    normalized = _with_line_feeds(text)
    lines = normalized.split("\n")
    for token in _parser_for(normalized).parse(normalized):
        if token.map and (token.type, token.level) in _TOP_BLOCKS:
            kind = _TOP_BLOCKS[token.type, token.level]
            block = "\n".join(lines[slice(*token.map)]).strip()
            yield TopBlock(kind, _LIST_MARK.sub("", block) if kind == "item" else block)


def mask_non_prose(body: str, blocks: Blocks, lines: LineIndex) -> str:
    """The body with everything that is not prose blanked out; line feeds stay."""
    text = blank_out(body, ((lines.start(start), lines.start(end), CODE) for start, end in blocks.opaque))
    return blank_out(text, _NonProseScanner(text, blocks, lines).masks())


def blank_out(text: str, masks: Iterable[Mask]) -> str:
    """The text with each masked range filled. Masks are in order; one inside the one before it is skipped."""
    pieces: list[str] = []
    done = 0
    for start, end, fill in masks:
        if start >= done:
            pieces += (text[done:start], _filled(text[start:end], fill))
            done = end
    return "".join((*pieces, text[done:])) if pieces else text


def _parser_for(text: str) -> "MarkdownIt":
    unused = [rule for rule, triggers in _RULE_TRIGGERS.items() if not any(each in text for each in triggers)]
    if not _UNDERLINE.search(text):
        unused.append("lheading")
    return _parser_without(*unused)


@cache
def _parser_without(*rules: str) -> "MarkdownIt":
    """A parser for blocks only, without these rules; link definitions are left as text."""
    from markdown_it import MarkdownIt  # a search that reads no note does not pay for it

    parser = MarkdownIt("commonmark").enable("table").disable(["reference", *rules])
    parser.core.ruler.enableOnly(["normalize", "block"])
    return parser


def _heading(opening: "Token", inline: "Token", *, line: int) -> Heading:
    return Heading(text=" ".join(inline.content.split()), level=int(opening.tag[1]), line=line)


def _is_html(token: "Token") -> bool:
    return token.type == "html_block" and not token.content.lstrip().startswith("<!--")


def _with_line_feeds(body: str) -> str:
    """The body with line feeds only: markdown-it would take a lone carriage return for the end of a line."""
    return body.replace("\r\n", "\n").replace("\r", " ") if "\r" in body else body


def _filled(piece: str, fill: str) -> str:
    return _NOT_LINE_FEED.sub(fill, piece) if "\n" in piece else fill * len(piece)


class _NonProseScanner:
    """Finds the ranges that are not prose, in one pass from left to right."""

    def __init__(self, text: str, blocks: Blocks, lines: LineIndex) -> None:
        self._text = text
        self._lines = lines
        self._starts = [lines.start(start) for start, _ in blocks.paragraphs]
        self._ends = [lines.start(end) for _, end in blocks.paragraphs]
        self._closers: dict[str, int] = {}
        self._runs: dict[int, list[int]] | None = None

    def masks(self) -> Iterator[Mask]:
        position = 0
        while opener := _OPENER_START.search(self._text, position):
            match = _OPENER.match(self._text, opener.start())
            mask = self._mask(match) if match else None
            if mask:
                yield mask
            position = (mask or (match or opener).span())[1]

    def _mask(self, match: re.Match[str]) -> Mask | None:
        start, opener = match.start(), match.group()
        if opener[0] == "\\":
            return start + 1, start + 2, CODE
        if opener[0] == "`":
            return self._code_span(start, len(opener))
        if opener in _PAIRS:
            return self._pair(start, opener)
        return start, match.end(), CODE

    def _code_span(self, start: int, length: int) -> Mask | None:
        """From a run of backticks to the next run of the same length in the paragraph."""
        if self._runs is None:
            self._runs = {}
            for run in _BACKTICKS.finditer(self._text):
                self._runs.setdefault(len(run.group()), []).append(run.start())
        runs = self._runs.get(length, [])
        index = bisect_right(runs, start)
        if index < len(runs) and runs[index] < self._paragraph_end(start):
            return start, runs[index] + length, CODE
        return None

    def _pair(self, start: int, opener: str) -> Mask | None:
        """From an opener to its closer; past the paragraph's end only if the opener begins its line."""
        closer, fill = _PAIRS[opener]
        end = self._next(closer, start + len(opener))
        if end < 0 or (end >= self._paragraph_end(start) and not self._begins_line(start)):
            return None
        return start, end + len(closer), fill

    def _next(self, closer: str, position: int) -> int:
        """The offset of the next closer, cached; -1 if there is none."""
        offset = self._closers.get(closer, 0)
        if 0 <= offset < position:
            offset = self._closers[closer] = self._text.find(closer, position)
        return offset

    def _paragraph_end(self, offset: int) -> int:
        index = bisect_right(self._starts, offset) - 1
        return self._ends[index] if index >= 0 else 0

    def _begins_line(self, offset: int) -> bool:
        start = self._lines.start(self._lines.number(offset))
        return offset - start <= _MAX_LEAD and _LEAD.fullmatch(self._text, start, offset) is not None
