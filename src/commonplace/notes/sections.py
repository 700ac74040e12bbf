"""A note's sections: each heading with everything below it."""

import re

from commonplace.model import Note, Section
from commonplace.model.text import fold_heading
from commonplace.notes.note_text import LineIndex

_SEPARATOR = re.compile(r"\s*#\s*|\s+>\s+")


def sections(note: Note) -> tuple[Section, ...]:
    """Every section of the note, in the order of their headings; text before the first heading is in none."""
    lines = LineIndex(note.text)
    past_end = note.text.count("\n") + (not note.text.endswith("\n")) + 1
    every = []
    path: list[tuple[int, str]] = []
    ends = _section_ends(note, past_end)
    for heading, end in zip(note.headings, ends, strict=True):
        path = [step for step in path if step[0] < heading.level] + [(heading.level, heading.text)]
        text = note.text[lines.start(heading.line) : lines.start(end)]
        every.append(Section(tuple(text for _, text in path), heading.level, heading.line, end, text))
    return tuple(every)


def section_named(note: Note, name: str) -> Section | None:
    """The first section with this heading, ignoring case; `A > B` and `A#B` name a B somewhere below A."""
    heading = fold_heading(name.lstrip("#"))
    every = sections(note)
    for section in every:
        if fold_heading(section.path[-1]) == heading:
            return section
    steps = [fold_heading(step) for step in _SEPARATOR.split(name.strip().strip("#")) if step.strip()]
    return next((section for section in every if _matches(section.path, steps)), None)


def _section_ends(note: Note, past_end: int) -> list[int]:
    """For each heading, the line of the next one of the same or a higher level."""
    ends = [past_end] * len(note.headings)
    open_sections: list[int] = []
    for index, heading in enumerate(note.headings):
        while open_sections and note.headings[open_sections[-1]].level >= heading.level:
            ends[open_sections.pop()] = heading.line
        open_sections.append(index)
    return ends


def _matches(path: tuple[str, ...], steps: list[str]) -> bool:
    """True if the path ends in the last step and has the others before it, in order."""
    *above, last = [fold_heading(text) for text in path]
    if not steps or last != steps[-1]:
        return False
    remaining = iter(above)
    return all(step in remaining for step in steps[:-1])
