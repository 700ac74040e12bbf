"""Structured lines: `- [kind] text #topic` states something, `- predicate [[Object]] #topic` relates two notes."""

import re
from collections.abc import Iterator

from commonplace.model import Observation, Relation
from commonplace.notes.lines import Lines
from commonplace.notes.prose import COMMENT
from commonplace.notes.tags import find_tags
from commonplace.notes.wikilinks import place_of

_BULLET = re.compile(r"\n[ \t]*+[-*+][ \t]++")
_OBSERVATION = re.compile(r"\[([^\W\d_][\w -]{0,38}[\w-])\][ \t]++([^\n]++)")
_RELATION = re.compile(r"([^\W\d_][\w-]*+(?:[ ][\w-]++){0,3}+)[ \t]++\[\[([^\[\]\n\x01\x02]+)\]\]([^\n]*+)")
_BLOCK_ID = re.compile(r"(?<!\S)\^[A-Za-z0-9-]++$")


def observations(prose: str, body: str, *, lines: Lines) -> Iterator[Observation]:
    """The statements in a body. Task boxes, links and footnotes are none."""
    for match in _after_bullets(_OBSERVATION, prose):
        end, topics = _topics(prose, *match.span(2))
        text = _shown(body, prose, match.start(2), end)
        if text:
            yield Observation(match.group(1), text, topics, lines.number(match.start(1)))


def relations(prose: str, body: str, *, lines: Lines) -> Iterator[Relation]:
    """The relations in a body: nothing but topics may follow the link."""
    for match in _after_bullets(_RELATION, prose):
        predicate = match.group(1)
        place = place_of(body[match.start(2) : match.end(2)])
        end, topics = _topics(prose, *match.span(3))
        is_bare = not _shown(body, prose, match.start(3), end)
        if place and place.target and is_bare and predicate == predicate.lower():
            yield Relation(predicate, place.target, topics, lines.number(match.start(1)))


def _after_bullets(pattern: re.Pattern[str], prose: str) -> Iterator[re.Match[str]]:
    """What the pattern finds right behind the bullets of lists."""
    for bullet in _BULLET.finditer("\n" + prose):
        match = pattern.match(prose, bullet.end() - 1)
        if match:
            yield match


def _topics(prose: str, start: int, end: int) -> tuple[int, tuple[str, ...]]:
    """Where the words before a line's last tags end, and those tags; a block id behind them is passed over."""
    line = prose[start:end].rstrip(COMMENT + " \t\r")
    line = _BLOCK_ID.sub("", line).rstrip(COMMENT + " \t\r")
    names: list[str] = []
    words_end = len(line)
    for tag in reversed(list(find_tags(line))):
        if line[tag.end() : words_end].strip(COMMENT + " \t"):
            break
        names.append(tag.group(1).strip("/"))
        words_end = tag.start()
    return start + words_end, tuple(reversed(names))


def _shown(body: str, prose: str, start: int, end: int) -> str:
    """The text as written, without the comments in it."""
    if COMMENT in prose[start:end]:
        return "".join(body[at] for at in range(start, end) if prose[at] != COMMENT).strip()
    return body[start:end].strip()
