"""Which stretches of a note's body are chunked on their own: the text between one heading and the next."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from commonplace.model import Heading, Note
from commonplace.notes.lines import Lines
from commonplace.notes.plain import plain

_ATX = re.compile(r"[ \t]{0,3}#{1,6}(?:\s|\Z)")
_UNDERLINE = re.compile(r"\n[ \t]{0,3}(?:=+|-+)[ \t\r]*+(?:\n|\Z)")

Path = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Stretch:
    """A part of the body under these headings."""

    path: Path
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _Titled:
    """A heading with the offsets where it and its own text begin and where they end, and the headings above it."""

    start: int
    text_start: int
    end: int
    above: "tuple[_Titled, ...]"
    level: int
    name: str


def stretches_of(note: Note, lines: Lines) -> Iterator[Stretch]:
    """The stretches that have text, in order.

    A heading that has none and is above none that has some is a text itself, together with its neighbours alike.
    """
    first = lines.start(note.headings[0].line) if note.headings else len(note.body)
    if _has_text(note.body, 0, first):
        yield Stretch((), 0, first)
    bare: list[_Titled] = []
    for titled in _titled(note, lines):
        if not _has_text(note.body, titled.text_start, titled.end):
            bare.append(titled)
            continue
        yield from _bare_ones(bare, below=titled)
        bare = []
        yield Stretch((*_names(titled.above), *_names((titled,))), titled.text_start, titled.end)
    yield from _bare_ones(bare, below=None)


def _titled(note: Note, lines: Lines) -> Iterator[_Titled]:
    starts = [lines.start(heading.line) for heading in note.headings]
    above: tuple[_Titled, ...] = ()
    for heading, start, end in zip(note.headings, starts, [*starts[1:], len(note.body)], strict=False):
        above = tuple(each for each in above if each.level < heading.level)
        titled = _Titled(start, _text_start(note.body, start, end), end, above, heading.level, _name(heading))
        yield titled
        above = (*above, titled)


def _text_start(body: str, start: int, end: int) -> int:
    """Past the heading's own line, or past the line of signs that makes the lines above it one."""
    if not _ATX.match(body, start, end):
        underline = _UNDERLINE.search(body, start, end)
        return underline.end() if underline else end
    return body.find("\n", start, end) + 1 or end


def _bare_ones(bare: list[_Titled], *, below: _Titled | None) -> Iterator[Stretch]:
    """Neighbours among the headings without text, those left out that the text below them names."""
    named = {each.start for each in below.above} if below else set()
    run: list[_Titled] = []
    for titled in bare:
        if titled.start not in named:
            run.append(titled)
        elif run:
            yield _together(run)
            run = []
    if run:
        yield _together(run)


def _together(run: list[_Titled]) -> Stretch:
    paths = [each.above for each in run]
    shared = 0
    while all(len(path) > shared and path[shared] is paths[0][shared] for path in paths):
        shared += 1
    return Stretch(_names(paths[0][:shared]), run[0].start, run[-1].end)


def _names(headings: tuple[_Titled, ...]) -> Path:
    return tuple(each.name for each in headings if each.name)


def _name(heading: Heading) -> str:
    return plain(heading.text)


def _has_text(body: str, start: int, end: int) -> bool:
    return bool(body[start:end].strip())
