"""Markdown links, `[text](Folder/Note.md#Heading "title")`: those to files of the vault, and where all stand."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import unquote

from commonplace.model import Link
from commonplace.notes.lines import Lines

_BRACKET = re.compile(r"[\[\]]")
_BLANK_LINE = re.compile(r"\n[ \t\r]*+\n")
_LONGEST_TEXT = 4000
_DESTINATION = re.compile(
    r"""\(\s*+
    (?: < (?P<angled>[^<>\n]*+) > | (?P<bare>[^\s<>()]*+ (?:\([^\s()]*+\) [^\s()]*+)*+) )
    (?: \s++ (?: "[^"\n]*+" | '[^'\n]*+' | \([^()\n]*+\) ) )?+
    \s*+\)""",
    re.VERBOSE,
)
_ELSEWHERE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")


@dataclass(frozen=True, slots=True)
class Found:
    """A Markdown link of any kind: from `start` to `end`, its text up to `text_end`, and its destination as written."""

    start: int
    text_end: int
    end: int
    destination: str


def find_markdown_links(prose: str, body: str) -> Iterator[Found]:
    """Every Markdown link, web links too, in the order of their closing brackets."""
    opened: list[int] = []
    for bracket in _BRACKET.finditer(prose):
        end = bracket.start()
        if bracket.group() == "[":
            opened.append(end)
        elif opened:
            start = opened.pop()
            match = _DESTINATION.match(prose, end + 1)
            if match and end - start <= _LONGEST_TEXT and not _BLANK_LINE.search(prose, start, end):
                group = "bare" if match["angled"] is None else "angled"
                destination = body[match.start(group) : match.end(group)]
                yield Found(start, end, match.end(), destination)


def markdown_target(written: str, text: str | None) -> tuple[int, int, bool] | None:
    """From where to where the target stands in a whole Markdown link with that text, and whether in `<...>`.

    Heading, block and title are no part of it. Nothing if the link cannot be told from its text alone.
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


def local_link(found: Found, body: str, *, lines: Lines, base: int) -> Link | None:
    """The link, if it leads to a file of the vault or a heading of this note."""
    if _ELSEWHERE.match(found.destination):
        return None
    target, _, anchor = _ESCAPE.sub(r"\1", found.destination).partition("#")
    target, anchor = unquote(target).strip(), unquote(anchor).strip()
    if not (target or anchor.strip("^")):
        return None
    start = found.start - (found.start > 0 and body[found.start - 1] == "!")
    return Link(
        target=target,
        heading=anchor if anchor and not anchor.startswith("^") else None,
        block=anchor[1:] if anchor.startswith("^") else None,
        alias=body[found.start + 1 : found.text_end].strip() or None,
        form="markdown",
        where="body",
        line=lines.number(start),
        start=base + start,
        end=base + found.end,
    )
