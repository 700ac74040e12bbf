"""Probes: questions made from notes without a model, each with the note that should be found and the text to hold out.

- heading     the text of a heading that is unique in the vault; its line is held out.
- alias       another name of the note; it is held out of the frontmatter.
- link        the text of links in other notes, where it is not the note's name; the links keep the name instead.
- definition  what the first sentence of a note or section says about something; the sentence is held out.

A sample has as many probes as requested, spread over kinds and notes, and is the same for the same vault and seed.
"""

import hashlib
import json
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any, Final, NamedTuple

from commonplace.errors import Refused
from commonplace.model import PROBE_KINDS, Link, Note, ProbeKind
from commonplace.model.text import LazyPattern, lower_name
from commonplace.notes.frontmatter_edit import remove_key, set_key
from commonplace.notes.link_resolver import LinkResolver
from commonplace.notes.note_text import LineIndex, strip_markup
from commonplace.notes.parse import parse

_ALIAS_KEYS: Final = ("aliases", "alias")
_COMMA = re.compile(r"\s*,\s*")


@dataclass(frozen=True, slots=True)
class TextRemoval:
    """Text to remove from the note at `path`, from `start` to `end`, and the text to put there `instead`.

    Line feeds stay, so that everything below keeps its line number.
    """

    path: str
    start: int
    end: int
    instead: str = ""


@dataclass(frozen=True, slots=True)
class AliasRemoval:
    """An alias to remove from the note at `path`."""

    path: str
    alias: str


Removal = TextRemoval | AliasRemoval


@dataclass(frozen=True, slots=True)
class Probe:
    """A question, the path of the note that answers it, and what must be held out to make it a fair test."""

    kind: ProbeKind
    question: str
    path: str
    removals: tuple[Removal, ...]


@dataclass(slots=True)
class ProbeSample:
    """The probes chosen so far, and the notes without their text (`without`), by path.

    `is_large` decides whether enough of a note is left for it to be found at all.
    """

    notes: Mapping[str, Note]
    is_large: Callable[[Note], bool]
    probes: list[Probe] = field(default_factory=list)
    without: dict[str, Note] = field(default_factory=dict)
    _removals: dict[str, tuple[Removal, ...]] = field(default_factory=dict)
    _chosen: set[tuple[ProbeKind, str]] = field(default_factory=set)

    def try_add(self, probe: Probe) -> bool:
        """Add the probe if it is compatible with the others; True if it was added."""
        if (probe.kind, probe.path) in self._chosen or not self.is_large(self._current(probe.path)):
            return False
        removals = dict(self._removals)
        for removal in probe.removals:
            removals[removal.path] = (*removals.get(removal.path, ()), removal)
        without: dict[str, Note] = {}
        for path in {removal.path for removal in probe.removals}:
            note = hold_out(self.notes[path], removals[path])
            if note is None or (self._is_target(path, probe) and not self.is_large(note)):
                return False
            without[path] = note
        self.probes.append(probe)
        self._chosen.add((probe.kind, probe.path))
        self._removals = removals
        self.without.update(without)
        return True

    def _current(self, path: str) -> Note:
        return self.without.get(path, self.notes[path])

    def _is_target(self, path: str, probe: Probe) -> bool:
        return path == probe.path or any((kind, path) in self._chosen for kind in PROBE_KINDS)


def sample_probes(
    probes: Iterable[Probe], notes: Mapping[str, Note], *, count: int, seed: int, is_large: Callable[[Note], bool]
) -> ProbeSample:
    """Up to `count` of the probes, taking the kinds in turn, with at most one of a kind for each note."""
    sample = ProbeSample(notes, is_large)
    # A note may define a word twice: equal questions keep the order of their texts, however the probes come.
    shuffled = sorted(probes, key=lambda probe: (_shuffle_key(probe, seed), repr(probe.removals)))
    by_kind = [iter([probe for probe in shuffled if probe.kind == kind]) for kind in PROBE_KINDS]
    while by_kind:
        for remaining in tuple(by_kind):
            if len(sample.probes) >= count:
                return sample
            if not any(sample.try_add(probe) for probe in remaining):  # adds the next compatible one, if any
                by_kind.remove(remaining)
    return sample


def hold_out(note: Note, removals: Sequence[Removal]) -> Note | None:
    """The note without these texts and aliases; None if anything else would change.

    A note with a Problem is not changed: the offsets in it are not certain.
    """
    texts = sorted(
        (each for each in removals if isinstance(each, TextRemoval)), key=lambda each: (each.start, each.end)
    )
    if note.problems or any(one.end > other.start for one, other in pairwise(texts)):
        return None
    raw = _without_texts(note.text, texts).encode()
    try:
        raw = _without_aliases(
            raw, note, {lower_name(each.alias) for each in removals if isinstance(each, AliasRemoval)}
        )
    except Refused:  # the block is written in a way that cannot be edited line by line
        return None
    again = parse(raw, path=note.path, mtime=note.mtime)
    return again if _is_otherwise_unchanged(note, again, texts) else None


def _shuffle_key(probe: Probe, seed: int) -> str:
    """A pseudo-random sort key that is the same on every run."""
    text = json.dumps([seed, probe.kind, probe.path, probe.question])
    return hashlib.sha256(text.encode()).hexdigest()


def _without_texts(text: str, removals: Iterable[TextRemoval]) -> str:
    pieces: list[str] = []
    done = 0
    for each in removals:
        pieces += (text[done : each.start], each.instead, "\n" * text.count("\n", each.start, each.end))
        done = each.end
    return "".join((*pieces, text[done:]))


def _without_aliases(raw: bytes, note: Note, names: set[str]) -> bytes:
    """The note without these aliases, ignoring their case. Raises Refused."""
    for key in _ALIAS_KEYS:
        value = note.frontmatter.get(key)
        entries = _COMMA.split(value) if isinstance(value, str) else value if isinstance(value, list) else []
        left = [entry for entry in entries if not (isinstance(entry, str) and lower_name(entry.strip()) in names)]
        if len(left) == len(entries):
            continue
        new_value: Any = ", ".join(map(str, left)) if isinstance(value, str) else left
        raw = set_key(raw, key, new_value, path=note.path) if left else remove_key(raw, key, path=note.path)
    return raw


def _is_otherwise_unchanged(note: Note, again: Note, removals: Sequence[TextRemoval]) -> bool:
    """True if everything outside the removed text is the same: headings, links, the other keys."""
    lines = LineIndex(note.text)
    headings = [
        each for each in note.headings if not _is_removed(lines.start(each.line), lines.start(each.line) + 1, removals)
    ]
    links = [link for link in note.links if not _is_removed(link.start, link.end, removals)]
    return (
        not again.problems
        and [(each.text, each.level) for each in again.headings] == [(each.text, each.level) for each in headings]
        and list(map(_link_fields, again.links)) == list(map(_link_fields, links))
        and set(again.tags) <= set(note.tags)
        and _other_keys(again) == _other_keys(note)
    )


def _is_removed(start: int, end: int, removals: Sequence[TextRemoval]) -> bool:
    """True if one of the removals, which are in order, covers the whole range."""
    before = bisect_right(removals, start, key=lambda each: each.start) - 1
    return before >= 0 and end <= removals[before].end


def _link_fields(link: Link) -> tuple[str | None, ...]:
    return link.target, link.heading, link.block, link.form, link.where


def _other_keys(note: Note) -> dict[str, Any]:
    return {key: value for key, value in note.frontmatter.items() if key not in _ALIAS_KEYS}


ContentWords = Callable[[str], Sequence[str]]
"""Returns the content words of a text, as a search compares them."""

MIN_WORDS: Final = 2  # of a heading or link: one word alone is rarely a question
_MIN_DEFINITION_WORDS: Final = 3  # content words by which a definition can be recognised
_MAX_QUESTION: Final = 200  # characters
_MIN_SENTENCE_WORDS: Final = 6
_MAX_SENTENCE: Final = 400  # characters: anything longer is not a sentence
_MAX_ABBREVIATION: Final = 8  # characters
_MAX_SUBJECT_WORDS: Final = 8

_BLANK_LINES = LazyPattern(r"(?:[ \t]*+\r?\n)*+")
_BLANKS = LazyPattern(r"[ \t]*+")
_BULLET = LazyPattern(r" {0,3}[-*+] ++(?!\[[ xX]\] )")
_OPENING = LazyPattern(r" {0,3}(?![ \t#>|`~<=+]|[-*] |\d+[.)] |\[\^|\[[^\]\n]*\]:)")
_PARAGRAPH_END = LazyPattern(r"\r?\n(?=[ \t]*(?:\r?\n|[-*+] |\d+[.)] |#|>|\||```|~~~|\Z))|\r?\n?\Z")
_SENTENCE_END = LazyPattern(r"[.!?]++[\"'\u2019\u201d)*_]*+(?=\s|\Z)")
_ABBREVIATION = LazyPattern(
    r"(?:\b(?:e\.?g|i\.?e|dr|mrs?|ms|prof|st|vs|cf|etc|approx|no|vol|fig|\w)\.)\Z", re.IGNORECASE
)
_NOT_PROSE = LazyPattern(r"[`<>${}]|%%|://")
# "are" alone begins many sentences that define nothing: "they are running", "they are not".
_DEFINITION = LazyPattern(
    r"""(?P<subject>\S.*?) \s
    (?: is\s(?:an?|the|any|one\sof(?:\sthe)?)
      | are(?!\s(?:not?|now|here|that|like|to|\S+(?:ing|ed|ly|en|[ai]ble))\s)
      | means | refers\sto ) \s
    (?:(?:an?|the|any)\s)? (?P<meaning>.+?) [^\w)%]*""",
    re.IGNORECASE | re.DOTALL | re.VERBOSE,
)
_PIPE = LazyPattern(r"\\?\|")
_BRACKET = LazyPattern(r"([\[\]\\])")


@dataclass(frozen=True, slots=True)
class Definition:
    """A sentence of a note's text from `start` to `end`, including the blanks after it: a subject and its meaning."""

    subject: str
    meaning: str
    start: int
    end: int


class _LinkText(NamedTuple):
    """The text that a link in the note `source` shows for the note at `path`."""

    source: Note
    link: Link
    words: str
    path: str


class Vocabulary:
    """The headings and names of a whole vault, and how often each occurs.

    `is_usable` decides whether questions may be made from a note; they never are from a note with a Problem.
    """

    def __init__(self, notes: Iterable[Note], content: ContentWords, *, is_usable: Callable[[Note], bool]) -> None:
        self.content = content
        self._notes = tuple(notes)
        self._is_usable = is_usable

    def may_use(self, note: Note) -> bool:
        """True if questions may be made from this note and about it."""
        return not note.problems and self._is_usable(note)

    def key(self, text: str) -> tuple[str, ...]:
        """The form in which texts are compared: two with the same content words are one question."""
        return tuple(self.content(text)) or (text.casefold(),)

    def is_question(self, text: str, *, min_words: int) -> bool:
        """True if the text can be a question: enough content words, not too long, and not a web address."""
        return len(self.content(text)) >= min_words and len(text) <= _MAX_QUESTION and "://" not in text

    def is_unique_heading(self, heading: str) -> bool:
        """True if no other heading and no note has this name."""
        return self._headings[self.key(heading)] == 1 and not self.is_name(heading)

    def is_name(self, text: str) -> bool:
        """True if a note has this name."""
        return self._names[self.key(text)] > 0

    def is_unique_name(self, alias: str) -> bool:
        """True if exactly one note has this name."""
        return self._names[self.key(alias)] == 1

    @cached_property
    def _headings(self) -> Counter[tuple[str, ...]]:
        """The number of headings by key; a heading that only repeats its note's title does not count."""
        return Counter(
            self.key(strip_markup(heading.text))
            for note in self._notes
            for heading in note.headings
            if heading.level > 1 or self.key(strip_markup(heading.text)) != self.key(note.title)
        )

    @cached_property
    def _names(self) -> Counter[tuple[str, ...]]:
        """The number of notes by the key of each name."""
        return Counter(key for note in self._notes for key in self._names_of(note))

    def _names_of(self, note: Note) -> set[tuple[str, ...]]:
        """The keys of the note's title, file name and aliases."""
        return {self.key(name) for name in (note.title, file_name(note.path), *note.aliases)}


def file_name(path: str) -> str:
    """The last part of a path, without `.md`."""
    name = path.rpartition("/")[2]
    return name[:-3] if name.lower().endswith(".md") else name


def probes_of(note: Note, vocabulary: Vocabulary) -> Iterator[Probe]:
    """The probes from the note's own text; none if it may not be used."""
    if not vocabulary.may_use(note):
        return
    yield from _heading_probes(note, vocabulary)
    yield from _alias_probes(note, vocabulary)
    yield from _definition_probes(note, vocabulary)


def link_probes(notes: Mapping[str, Note], vocabulary: Vocabulary, *, resolver: LinkResolver) -> Iterator[Probe]:
    """One probe for each note and each text that links show for it and for no other note.

    The text is held out of all these links. Texts that occur in a note which may not be used are skipped.
    """
    by_words: dict[tuple[str, ...], list[_LinkText]] = {}
    for link_text in _link_texts(notes.values(), resolver):
        by_words.setdefault(vocabulary.key(link_text.words), []).append(link_text)
    for alike in by_words.values():
        words, path = alike[0].words, alike[0].path
        if path not in notes or not vocabulary.may_use(notes[path]) or vocabulary.is_name(words):
            continue
        is_certain = all(each.path == path and vocabulary.may_use(each.source) for each in alike)
        if is_certain and vocabulary.is_question(words, min_words=MIN_WORDS):
            yield Probe("link", words, path, tuple(_link_removal(each) for each in alike))


def find_definitions(note: Note) -> Iterator[Definition]:
    """The sentences `X is a Y that does Z.` that begin the note and its sections."""
    lines = LineIndex(note.text)
    starts = [len(note.text) - len(note.body), *(lines.start(heading.line + 1) for heading in note.headings)]
    headings = {heading.line for heading in note.headings}
    for start in starts:
        definition = _definition_at(note.text, start)
        if definition and lines.number(definition.start) not in headings:  # an underlined heading may be a sentence
            yield definition


def _heading_probes(note: Note, vocabulary: Vocabulary) -> Iterator[Probe]:
    lines = LineIndex(note.text)
    for heading in note.headings:
        words = strip_markup(heading.text)
        start = lines.start(heading.line)
        line = note.text[start : lines.start(heading.line + 1)].rstrip("\r\n")
        is_underlined = not line.lstrip(" ").startswith("#")  # its second line would be left
        if heading.level < 2 or is_underlined:
            continue
        if vocabulary.is_question(words, min_words=MIN_WORDS) and vocabulary.is_unique_heading(words):
            yield Probe("heading", words, note.path, (TextRemoval(note.path, start, start + len(line)),))


def _alias_probes(note: Note, vocabulary: Vocabulary) -> Iterator[Probe]:
    own = {vocabulary.key(note.title), vocabulary.key(file_name(note.path))}
    for alias in note.aliases:
        is_another = vocabulary.key(alias) not in own and vocabulary.is_unique_name(alias)
        if is_another and vocabulary.is_question(alias, min_words=1):
            yield Probe("alias", alias, note.path, (AliasRemoval(note.path, alias),))


def _definition_probes(note: Note, vocabulary: Vocabulary) -> Iterator[Probe]:
    for each in find_definitions(note):
        if vocabulary.content(each.subject) and vocabulary.is_question(each.meaning, min_words=_MIN_DEFINITION_WORDS):
            yield Probe("definition", each.meaning, note.path, (TextRemoval(note.path, each.start, each.end),))


def _link_texts(notes: Iterable[Note], resolver: LinkResolver) -> Iterator[_LinkText]:
    """The links in the bodies of these notes that show another text than their target."""
    for note in notes:
        for link in note.links:
            if not (link.alias and link.target) or link.where != "body" or link.form == "embed":
                continue
            path = resolver.resolve(link, source=note.path)
            if path and path != note.path and not note.text.startswith("!", link.start):
                yield _LinkText(note, link, strip_markup(link.alias).strip("| "), path)


def _link_removal(link_text: _LinkText) -> TextRemoval:
    """Removes a link's text: a wikilink shows its target then, a Markdown link the name of the file."""
    source, link = link_text.source, link_text.link
    written = source.text[link.start : link.end]
    if link.form == "markdown":
        start = written.index(link.alias or "", written.index("[") + 1)
        name = _BRACKET.sub(r"\\\1", file_name(link_text.path))
        return TextRemoval(source.path, link.start + start, link.start + start + len(link.alias or ""), name)
    pipe = _PIPE.search(written)
    start = pipe.start() if pipe else len(written) - len("]]")
    return TextRemoval(source.path, link.start + start, link.end - len("]]"))


def _definition_at(text: str, start: int) -> Definition | None:
    """The definition that begins with the first words after this offset, or None."""
    start = _match_end(_BLANK_LINES, text, start)
    start = _match_end(_BULLET, text, start) or start
    opening = _OPENING.match(text, start)
    if opening is None:
        return None
    start = opening.end()
    end = _sentence_end(text, start)
    sentence = text[start:end]
    if len(sentence) > _MAX_SENTENCE or _NOT_PROSE.search(sentence):
        return None
    words = strip_markup(sentence)
    match = None if "|" in words else _DEFINITION.fullmatch(words)  # a `|` that is not in a link is a table row
    if match is None or len(words.split()) < _MIN_SENTENCE_WORDS or len(match["subject"].split()) > _MAX_SUBJECT_WORDS:
        return None
    return Definition(match["subject"], match["meaning"], start, _match_end(_BLANKS, text, end))


def _match_end(pattern: LazyPattern, text: str, start: int) -> int:
    match = pattern.match(text, start)
    return match.end() if match else 0


def _sentence_end(text: str, start: int) -> int:
    """Where the sentence ends, or its paragraph if that is earlier."""
    paragraph_end = _PARAGRAPH_END.search(text, start)
    last = min(paragraph_end.start() if paragraph_end else len(text), start + _MAX_SENTENCE + 1)
    for end in _SENTENCE_END.finditer(text, start, last):
        if not _ABBREVIATION.search(text, max(start, end.end() - _MAX_ABBREVIATION), end.end()):
            return end.end()
    return last
