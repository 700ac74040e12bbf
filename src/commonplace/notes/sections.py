"""A note's sections: each heading with all that stands below it."""

import re
from unicodedata import normalize

from commonplace.model import Note, Section
from commonplace.notes.lines import Lines

_STEP = re.compile(r"\s*#\s*|\s+>\s+")


def sections(note: Note) -> tuple[Section, ...]:
    """Every section of the note, in the order of their headings; text before the first heading is in none."""
    lines = Lines(note.text)
    past_end = note.text.count("\n") + (not note.text.endswith("\n")) + 1
    found = []
    path: list[tuple[int, str]] = []
    ends = _ends(note, past_end)
    for heading, end in zip(note.headings, ends, strict=True):
        path = [step for step in path if step[0] < heading.level] + [(heading.level, heading.text)]
        text = note.text[lines.start(heading.line) : lines.start(end)]
        found.append(Section(tuple(text for _, text in path), heading.level, heading.line, end, text))
    return tuple(found)


def section_named(note: Note, name: str) -> Section | None:
    """The first section with this heading, whatever its case; `A > B` and `A#B` name B somewhere below A."""
    wanted = _folded(name.lstrip("#"))
    every = sections(note)
    for section in every:
        if _folded(section.path[-1]) == wanted:
            return section
    steps = [_folded(step) for step in _STEP.split(name.strip().strip("#")) if step.strip()]
    return next((section for section in every if _leads_to(section.path, steps)), None)


def _ends(note: Note, past_end: int) -> list[int]:
    """For each heading, the line of the next one of the same or a higher level."""
    ends = [past_end] * len(note.headings)
    open_ones: list[int] = []
    for index, heading in enumerate(note.headings):
        while open_ones and note.headings[open_ones[-1]].level >= heading.level:
            ends[open_ones.pop()] = heading.line
        open_ones.append(index)
    return ends


def _leads_to(path: tuple[str, ...], steps: list[str]) -> bool:
    """Whether the path ends in the last step and passes the others before it, in order."""
    *above, last = [_folded(text) for text in path]
    if not steps or last != steps[-1]:
        return False
    remaining = iter(above)
    return all(step in remaining for step in steps[:-1])


def _folded(text: str) -> str:
    return " ".join(normalize("NFC", text).split()).casefold()
