"""What of a body is prose: code, comments, math and HTML blanked out, every character kept in its place.

Links, tags and structured lines are looked for in the result, so that what is found has exact offsets.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator

from commonplace.notes.blocks import Blocks
from commonplace.notes.lines import Lines

CODE = "\x00"
MATH = "\x01"
COMMENT = "\x02"

_NOT_LINE_FEED = re.compile(r"[^\n]")
_SIGN = re.compile(r"[\\`%<$]")
_OPENER = re.compile(
    r"""\\[!-/:-@\[-`{-~]                     # an escaped sign
    | `+                                      # a code span
    | %% | <!-- | \$\$                        # a comment, math
    | (?<!\]\()</?[A-Za-z][A-Za-z0-9-]*+(?:\s[^<>\n]*+)?/?>   # an HTML tag, but not the <place> of a Markdown link
    """,
    re.VERBOSE,
)
_BACKTICKS = re.compile("`+")
_PAIRS = {"%%": ("%%", COMMENT), "<!--": ("-->", COMMENT), "$$": ("$$", MATH)}
_LEAD = re.compile(r"[ \t>*+-]*")
_LONGEST_LEAD = 100

Span = tuple[int, int, str]


def prose_of(body: str, blocks: Blocks, lines: Lines) -> str:
    """The body with everything that is not prose blanked out; line feeds stay."""
    text = blank(body, ((lines.start(start), lines.start(end), CODE) for start, end in blocks.opaque))
    return blank(text, _Quiet(text, blocks, lines).spans())


def blank(text: str, spans: Iterable[Span]) -> str:
    """The text with each span filled by its sign; spans come in order, one inside the one before it is skipped."""
    pieces: list[str] = []
    done = 0
    for start, end, sign in spans:
        if start >= done:
            pieces += (text[done:start], _filled(text[start:end], sign))
            done = end
    return "".join((*pieces, text[done:])) if pieces else text


def _filled(piece: str, sign: str) -> str:
    return _NOT_LINE_FEED.sub(sign, piece) if "\n" in piece else sign * len(piece)


class _Quiet:
    """Finds the spans that are not prose, in one pass from left to right."""

    def __init__(self, text: str, blocks: Blocks, lines: Lines) -> None:
        self._text = text
        self._lines = lines
        self._starts = [lines.start(start) for start, _ in blocks.paragraphs]
        self._ends = [lines.start(end) for _, end in blocks.paragraphs]
        self._closers: dict[str, int] = {}
        self._runs: dict[int, list[int]] | None = None

    def spans(self) -> Iterator[Span]:
        position = 0
        while sign := _SIGN.search(self._text, position):
            match = _OPENER.match(self._text, sign.start())
            span = self._span(match) if match else None
            if span:
                yield span
            position = (span or (match or sign).span())[1]

    def _span(self, match: re.Match[str]) -> Span | None:
        start, opener = match.start(), match.group()
        if opener[0] == "\\":
            return start + 1, start + 2, CODE
        if opener[0] == "`":
            return self._code_span(start, len(opener))
        if opener in _PAIRS:
            return self._pair(start, opener)
        return start, match.end(), CODE

    def _code_span(self, start: int, length: int) -> Span | None:
        """From a run of backticks to the next one of the same length in the paragraph."""
        if self._runs is None:
            self._runs = {}
            for run in _BACKTICKS.finditer(self._text):
                self._runs.setdefault(len(run.group()), []).append(run.start())
        runs = self._runs.get(length, [])
        index = bisect_right(runs, start)
        if index < len(runs) and runs[index] < self._paragraph_end(start):
            return start, runs[index] + length, CODE
        return None

    def _pair(self, start: int, opener: str) -> Span | None:
        """From an opening sign to its closing one; past the paragraph's end only if it begins its line."""
        closer, sign = _PAIRS[opener]
        end = self._next(closer, start + len(opener))
        if end < 0 or (end >= self._paragraph_end(start) and not self._begins_line(start)):
            return None
        return start, end + len(closer), sign

    def _next(self, closer: str, position: int) -> int:
        known = self._closers.get(closer, 0)
        if 0 <= known < position:
            known = self._closers[closer] = self._text.find(closer, position)
        return known

    def _paragraph_end(self, offset: int) -> int:
        index = bisect_right(self._starts, offset) - 1
        return self._ends[index] if index >= 0 else 0

    def _begins_line(self, offset: int) -> bool:
        start = self._lines.start(self._lines.number(offset))
        return offset - start <= _LONGEST_LEAD and _LEAD.fullmatch(self._text, start, offset) is not None
