"""Sentences that say what something is, where they open a note or a section: `X is a Y that does Z.`"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from commonplace.model import Note
from commonplace.notes.lines import Lines
from commonplace.notes.plain import plain

LEAST_WORDS: Final = 6
_LONGEST: Final = 400  # characters: what is longer without an end is no sentence
_LONGEST_SHORT: Final = 8  # characters of a shortened word
_MOST_NAMING: Final = 8  # words that may name what is defined

_BLANK_LINES = re.compile(r"(?:[ \t]*+\r?\n)*+")
_BLANKS = re.compile(r"[ \t]*+")
_BULLET = re.compile(r" {0,3}[-*+] ++(?!\[[ xX]\] )")
_OPENING = re.compile(r" {0,3}(?![ \t#>|`~<=+]|[-*] |\d+[.)] |\[\^|\[[^\]\n]*\]:)")
_PARAGRAPH_END = re.compile(r"\r?\n(?=[ \t]*(?:\r?\n|[-*+] |\d+[.)] |#|>|\||```|~~~|\Z))|\r?\n?\Z")
_SENTENCE_END = re.compile(r"[.!?]++[\"'\u2019\u201d)*_]*+(?=\s|\Z)")
_NO_END = re.compile(r"(?:\b(?:e\.?g|i\.?e|dr|mrs?|ms|prof|st|vs|cf|etc|approx|no|vol|fig|\w)\.)\Z", re.IGNORECASE)
_NOT_PROSE = re.compile(r"[`<>${}]|%%|://")
# "are" alone begins many a sentence that defines nothing: "they are running", "they are not".
_FORM = re.compile(
    r"""(?P<named>\S.*?) \s
    (?: is\s(?:an?|the|any|one\sof(?:\sthe)?)
      | are(?!\s(?:not?|now|here|that|like|to|\S+(?:ing|ed|ly|en|[ai]ble))\s)
      | means | refers\sto ) \s
    (?:(?:an?|the|any)\s)? (?P<asked>.+?) [^\w)%]*""",
    re.IGNORECASE | re.DOTALL | re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class Definition:
    """A sentence of a note's text from `start` to `end`, with the blanks behind it: what it names and says of it."""

    named: str
    asked: str
    start: int
    end: int


def definitions_in(note: Note) -> Iterator[Definition]:
    """The definitions with which the note and its sections begin."""
    lines = Lines(note.text)
    starts = [len(note.text) - len(note.body), *(lines.start(heading.line + 1) for heading in note.headings)]
    headings = {heading.line for heading in note.headings}
    for start in starts:
        found = _definition_at(note.text, start)
        if found and lines.number(found.start) not in headings:  # an underlined heading may read as a sentence
            yield found


def _definition_at(text: str, start: int) -> Definition | None:
    """The definition that begins at the first words after this place."""
    start = _past(_BLANK_LINES, text, start)
    start = _past(_BULLET, text, start) or start
    opening = _OPENING.match(text, start)
    if opening is None:
        return None
    start = opening.end()
    end = _sentence_end(text, start)
    sentence = text[start:end]
    if len(sentence) > _LONGEST or _NOT_PROSE.search(sentence):
        return None
    said = plain(sentence)
    form = None if "|" in said else _FORM.fullmatch(said)  # with its links read, a line of a table is one still
    if form is None or len(said.split()) < LEAST_WORDS or len(form["named"].split()) > _MOST_NAMING:
        return None
    return Definition(form["named"], form["asked"], start, _past(_BLANKS, text, end))


def _past(pattern: re.Pattern[str], text: str, start: int) -> int:
    match = pattern.match(text, start)
    return match.end() if match else 0


def _sentence_end(text: str, start: int) -> int:
    """Where the sentence ends, or the paragraph if it has no end before."""
    found = _PARAGRAPH_END.search(text, start)
    last = min(found.start() if found else len(text), start + _LONGEST + 1)
    for end in _SENTENCE_END.finditer(text, start, last):
        if not _NO_END.search(text, max(start, end.end() - _LONGEST_SHORT), end.end()):
            return end.end()
    return last
