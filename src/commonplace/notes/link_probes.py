"""Probes from links: the words that other notes show for a note, where they are not its name."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from commonplace.model import Link, Note
from commonplace.notes.held_out import Cut
from commonplace.notes.names import Names
from commonplace.notes.plain import plain
from commonplace.notes.probes import LEAST_WORDS, Probe, Wording, file_name

_PIPE = re.compile(r"\\?\|")
_BRACKET = re.compile(r"([\[\]\\])")


class _Shown(NamedTuple):
    source: Note
    link: Link
    words: str
    path: str


def link_probes(notes: Mapping[str, Note], wording: Wording, *, names: Names) -> Iterator[Probe]:
    """One probe for each note and each text that links show for it, and for no other note.

    The text is held out of all these links; one that stands in a note which may not be asked about is left alone.
    """
    by_words: dict[tuple[str, ...], list[_Shown]] = {}
    for shown in _shown_in(notes.values(), names):
        by_words.setdefault(wording.key(shown.words), []).append(shown)
    for alike in by_words.values():
        words, path = alike[0].words, alike[0].path
        if path not in notes or not wording.may_ask(notes[path]) or wording.is_name(words):
            continue
        is_certain = all(each.path == path and wording.may_ask(each.source) for each in alike)
        if is_certain and wording.is_question(words, least=LEAST_WORDS):
            yield Probe("link", words, path, tuple(_cut(each) for each in alike))


def _shown_in(notes: Iterable[Note], names: Names) -> Iterator[_Shown]:
    """The links in the bodies of these notes that show other words than their target."""
    for note in notes:
        for link in note.links:
            if not (link.alias and link.target) or link.where != "body" or link.form == "embed":
                continue
            path = names.resolve(link, source=note.path)
            if path and path != note.path and not note.text.startswith("!", link.start):
                yield _Shown(note, link, plain(link.alias).strip("| "), path)


def _cut(shown: _Shown) -> Cut:
    """What a link shows, taken out: a wikilink shows its target then, a Markdown link the name of the file."""
    source, link = shown.source, shown.link
    written = source.text[link.start : link.end]
    if link.form == "markdown":
        start = written.index(link.alias or "", written.index("[") + 1)
        name = _BRACKET.sub(r"\\\1", file_name(shown.path))
        return Cut(source.path, link.start + start, link.start + start + len(link.alias or ""), name)
    pipe = _PIPE.search(written)
    start = pipe.start() if pipe else len(written) - len("]]")
    return Cut(source.path, link.start + start, link.end - len("]]"))
