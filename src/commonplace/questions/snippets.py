"""Snippets: the part of a text with the most words of a question, and where those words are."""

from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Final

from commonplace.questions.words import find_tokens, fold, letters_of, stems_of

ELLIPSIS: Final = "…"


@dataclass(frozen=True, slots=True)
class Snippet:
    """Text on one line; `marks` are the spans that match."""

    text: str
    marks: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class _Match:
    start: int
    end: int
    words: frozenset[str]


def cut_snippet(text: str, words: Collection[str], *, width: int) -> Snippet:
    """At most `width` characters of the text, where most of these words are; `words` are stemmed as by `words_of`.

    White space becomes single spaces; an ellipsis marks an end that was cut off.
    """
    line = " ".join(text.split())
    matches = list(_matches(line, frozenset(words)))
    if len(line) <= width:
        return Snippet(line, tuple((match.start, match.end) for match in matches))
    inside = max(width - 2 * len(ELLIPSIS), 1)
    start, end = _window(line, _densest(matches, inside), inside)
    before, after = ELLIPSIS if start else "", ELLIPSIS if end < len(line) else ""
    offset = len(before) - start
    marks = (
        (match.start + offset, match.end + offset) for match in matches if start <= match.start and match.end <= end
    )
    return Snippet(f"{before}{line[start:end]}{after}"[:width], tuple(mark for mark in marks if mark[1] <= width))


def _matches(line: str, words: frozenset[str]) -> Iterator[_Match]:
    for token in find_tokens(line):
        matched = words.intersection(stems_of(token.group()))
        if not matched:
            continue
        if any(_is_pair(word) for word in matched):
            yield from _pair_matches(token.group(), token.start(), matched)
        else:
            yield _Match(token.start(), token.end(), matched)


def _is_pair(word: str) -> bool:
    """True for a word of a script without spaces, which can be anywhere within a longer run."""
    return not word.isascii() and len(letters_of(word)) <= 2


def _pair_matches(token: str, offset: int, matched: frozenset[str]) -> Iterator[_Match]:
    """The characters of a run that are one of the words or part of one; overlapping pairs are one match."""
    letters = letters_of(token)
    starts = [0]
    for letter in letters:
        starts.append(starts[-1] + len(letter))
    start = end = -1
    words: set[str] = set()
    for position, letter in enumerate(letters):
        for length in (2, 1):
            word = fold("".join(letters[position : position + length])) if length > 1 else fold(letter)
            if word not in matched:
                continue
            if start >= 0 and position > end:
                yield _Match(offset + starts[start], offset + starts[end], frozenset(words))
                start, words = -1, set()
            start = position if start < 0 else start
            end = max(end, min(position + length, len(letters)))
            words.add(word)
    if start >= 0:
        yield _Match(offset + starts[start], offset + starts[end], frozenset(words))


def _densest(matches: list[_Match], width: int) -> tuple[int, int]:
    """The span of matches within `width` characters that has the most words; the first of equals."""
    best, best_count = (0, 0), (0, 0)
    inside: Counter[str] = Counter()
    first = 0
    for last, match in enumerate(matches):
        inside.update(match.words)
        while first < last and match.end - matches[first].start > width:
            inside.subtract(matches[first].words)
            inside += Counter()
            first += 1
        count = (len(inside), last - first + 1)
        if count > best_count:
            best, best_count = (matches[first].start, match.end), count
    return best


def _window(line: str, span: tuple[int, int], width: int) -> tuple[int, int]:
    """A range of at most `width` characters around the span, moved to spaces if they are near."""
    start = max(0, min(span[0] - max(width - (span[1] - span[0]), 0) // 2, len(line) - width))
    end = min(len(line), start + width)
    if start and line[start - 1] != " " and (space := line.find(" ", start, span[0] + 1)) >= 0:
        start = space + 1
    if end < len(line) and line[end] != " " and (space := line.rfind(" ", max(span[1], start + 1), end)) >= 0:
        end = space
    return start, end
