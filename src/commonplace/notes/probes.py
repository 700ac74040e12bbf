"""Probes: questions made from notes without a model, each with the note that should be found and the text to hold out.

- heading     the words of a heading that stands once in the vault; its line is held out.
- alias       another name of the note; it is held out of the frontmatter.
- link        the words that links elsewhere show for the note; each link is left with the note's own name.
- definition  what the first sentence of a note or section says of a thing; the sentence is held out.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from commonplace.model import Note, ProbeKind
from commonplace.notes.definitions import definitions_in
from commonplace.notes.held_out import Cut, Taking, Unnaming
from commonplace.notes.lines import Lines
from commonplace.notes.plain import plain

ContentWords = Callable[[str], Sequence[str]]
"""The words of a text that say something, as a search compares them."""

LEAST_WORDS: Final = 2  # of a heading or a link: one word alone is rarely a question
_LEAST_SAID: Final = 3  # words by which a definition can be known
_LONGEST: Final = 200  # characters of a question


@dataclass(frozen=True, slots=True)
class Probe:
    """A question, the path of the note that answers it, and what is held out so that it is a fair one."""

    kind: ProbeKind
    question: str
    path: str
    takings: tuple[Taking, ...]


class Wording:
    """The words of a whole vault: which headings and names stand in it more than once.

    `tells` is whether a note's words may be made into questions; those of a note with a Problem never are.
    """

    def __init__(self, notes: Iterable[Note], content: ContentWords, *, tells: Callable[[Note], bool]) -> None:
        self.content = content
        self._notes = tuple(notes)
        self._tells = tells

    def may_ask(self, note: Note) -> bool:
        """Whether questions may be made from this note and about it."""
        return not note.problems and self._tells(note)

    def key(self, text: str) -> tuple[str, ...]:
        """How texts are compared: two with the same content words are one question."""
        return tuple(self.content(text)) or (text.casefold(),)

    def is_question(self, text: str, *, least: int) -> bool:
        """Whether the text says enough to be asked: so many content words, and no address."""
        return len(self.content(text)) >= least and len(text) <= _LONGEST and "://" not in text

    def is_said_once(self, heading: str) -> bool:
        """Whether no other heading and no note is called so."""
        return self._headings[self.key(heading)] == 1 and not self.is_name(heading)

    def is_name(self, text: str) -> bool:
        """Whether a note is called so."""
        return self._names[self.key(text)] > 0

    def is_own_name(self, alias: str) -> bool:
        """Whether one note is called so and no other."""
        return self._names[self.key(alias)] == 1

    @cached_property
    def _headings(self) -> Counter[tuple[str, ...]]:
        """How many headings have these words; those that merely repeat their note's title do not count."""
        return Counter(
            self.key(plain(heading.text))
            for note in self._notes
            for heading in note.headings
            if heading.level > 1 or self.key(plain(heading.text)) != self.key(note.title)
        )

    @cached_property
    def _names(self) -> Counter[tuple[str, ...]]:
        """How many notes have these words for a name."""
        return Counter(key for note in self._notes for key in self._names_of(note))

    def _names_of(self, note: Note) -> set[tuple[str, ...]]:
        """What the note is called, by its title, its file and its aliases."""
        return {self.key(name) for name in (note.title, file_name(note.path), *note.aliases)}


def file_name(path: str) -> str:
    """The last part of a path, without `.md`."""
    name = path.rpartition("/")[2]
    return name[:-3] if name.lower().endswith(".md") else name


def probes_of(note: Note, wording: Wording) -> Iterator[Probe]:
    """The probes that the note's own text gives; none where it may not be asked about."""
    if not wording.may_ask(note):
        return
    yield from _heading_probes(note, wording)
    yield from _alias_probes(note, wording)
    yield from _definition_probes(note, wording)


def _heading_probes(note: Note, wording: Wording) -> Iterator[Probe]:
    lines = Lines(note.text)
    for heading in note.headings:
        words = plain(heading.text)
        start = lines.start(heading.line)
        line = note.text[start : lines.start(heading.line + 1)].rstrip("\r\n")
        is_underlined = not line.lstrip(" ").startswith("#")  # its second line would be left
        if heading.level < 2 or is_underlined:
            continue
        if wording.is_question(words, least=LEAST_WORDS) and wording.is_said_once(words):
            yield Probe("heading", words, note.path, (Cut(note.path, start, start + len(line)),))


def _alias_probes(note: Note, wording: Wording) -> Iterator[Probe]:
    own = {wording.key(note.title), wording.key(file_name(note.path))}
    for alias in note.aliases:
        is_another = wording.key(alias) not in own and wording.is_own_name(alias)
        if is_another and wording.is_question(alias, least=1):
            yield Probe("alias", alias, note.path, (Unnaming(note.path, alias),))


def _definition_probes(note: Note, wording: Wording) -> Iterator[Probe]:
    for found in definitions_in(note):
        if wording.content(found.named) and wording.is_question(found.asked, least=_LEAST_SAID):
            yield Probe("definition", found.asked, note.path, (Cut(note.path, found.start, found.end),))
