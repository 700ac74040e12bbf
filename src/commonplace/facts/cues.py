"""Typed links: what the words right before a link say of the two notes. A table of phrases, and no model."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final
from unicodedata import normalize

from commonplace.facts.cue_phrases import ARTICLES, BESIDE, DENIALS, LONGEST, RELATIONS, WHOLE
from commonplace.facts.predicates import predicate_key
from commonplace.model import Link, Note

_REACH: Final = 160  # characters before a link that are looked at
_BREAK: Final = re.compile(r"[.!?;](?=\s)|\n\s*\n|\n[ \t]*(?:[-*+>#|]|\d+[.)])")
_LINK: Final = re.compile(r"\[\[[^\[\]\n]*\]\]")
_MARKUP: Final = " \t\r\n:*_~\"'“”„«»(=-–—"
_WORD: Final = re.compile(r"\w+(?:['’-]\w+)*|[^\w\s*_~]")
_BETWEEN: Final = re.compile(r"(?:[ \t*_,;&/+]|\n(?![\s*+>-])|\b(?:and|or|und|oder|sowie)\b)*+")
_SHORT: Final = re.compile(r"\b(cf|vgl)\.", re.IGNORECASE)
_NEAR: Final = 4  # words before a cue among which a denial counts
_A_LINK: Final = "\ufffc"  # one sign that stands for an earlier link


def typed_links(note: Note) -> tuple[Link, ...]:
    """The note's links in their order; wikilinks of the body with what the words before them say.

    A structured line says it by its predicate. In a list, `met [[Ada]] and [[Bob]]`, what is said of the first is said
    of all.
    """
    stated = {(each.line, each.object): predicate_key(each.predicate) for each in note.relations}
    typed: list[Link] = []
    before: Link | None = None
    for link in note.links:
        if link.form != "wikilink" or link.where != "body":
            typed.append(link)
            continue
        relation = stated.get((link.line, link.target)) or _said(note.text, link, before)
        before = replace(link, relation=relation) if relation else link
        typed.append(before)
    return tuple(typed)


def relation_before(text: str) -> str:
    """What the last words of a text say of the note that is linked right behind them; empty when nothing.

    Only the sentence counts in which the link stands. What is denied is not said, and neither is what the words say of
    another link right before them.
    """
    words = _last_words(text)
    if words and words[-1] in ARTICLES:
        words = words[:-1]
    for count in range(min(LONGEST, len(words)), 0, -1):
        relation = RELATIONS.get(tuple(words[-count:]))
        if relation:
            return "" if _is_of_another(words[:-count]) else relation
    return ""


def _said(text: str, link: Link, before: Link | None) -> str:
    if before and before.relation and _BETWEEN.fullmatch(text, before.end, link.start):
        return before.relation
    return relation_before(text[max(0, link.start - _REACH) : link.start])


def _last_words(text: str) -> Sequence[str]:
    """The words of the sentence that the text ends in, with a sign for each earlier link and for what is no word."""
    text = _SHORT.sub(r"\1", _LINK.sub(f" {_A_LINK} ", normalize("NFC", text)))
    start = max((found.end() for found in _BREAK.finditer(text)), default=0)
    words = _WORD.findall(text[start:].rstrip(_MARKUP).casefold())
    return [WHOLE.get(word, word) for word in words]


def _is_of_another(words: Sequence[str]) -> bool:
    """Whether the words before a cue deny it, or name another note as the one of which it is said."""
    nearest = words[-_NEAR:]
    if any(word in DENIALS or word.endswith(("n't", "n’t")) for word in nearest):
        return True
    return _A_LINK in [word for word in nearest if word not in BESIDE][-1:]
