"""The capitalised names in a question."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from commonplace.recalling.spans import MONTHS, WEEKDAYS
from commonplace.recalling.stop_words import STOP_WORDS

WORD: Final = re.compile(r"[^\W\d_]\w*(?:['’\-.&](?=\w)\w+)*")
"""A word that begins with a letter, joined to others by signs or not."""

_POSSESSIVE = re.compile(r"['’]s$|['’]$", re.IGNORECASE)
_ENDS = ".?!:;…\n"
_OPENERS = " \t\"'“”‘’«»„([*-"
_NO_NAMES = STOP_WORDS | MONTHS.keys() | WEEKDAYS.keys() | {"ok", "okay", "yes", "hi", "hello", "hey", "thanks"}
_ASKING = frozenset(
    {
        "list",
        "show",
        "find",
        "give",
        "name",
        "describe",
        "remind",
        "compare",
        "summarize",
        "summarise",
        "explain",
        "according",
        "look",
        "search",
        "get",
        "say",
        "count",
        "does",
        "did",
        "has",
        "may",
    }
)
_FEWEST_TITLED = 4


def names_in(text: str) -> tuple[str, ...]:
    """The names in order, each once: words with a capital that no sentence begins with, and runs of them.

    None where capitals say nothing: in a text all in capitals, or with a capital on every word.
    """
    words = list(WORD.finditer(text))
    capital = [word for word in words if word.group()[0].isupper()]
    if (len(words) > 1 and text.isupper()) or (len(words) >= _FEWEST_TITLED and len(capital) == len(words)):
        return ()
    names: dict[str, bool] = {}
    for run in _runs(text, capital):
        name = text[run[0].start() : run[-1].start()] + _bare(run[-1].group())
        names[name] = names.get(name, False) or len(run) > 1 or not starts_sentence(text, run[0].start())
    return tuple(name for name, sure in names.items() if sure)


def starts_sentence(text: str, place: int) -> bool:
    """Whether a word at this place has its capital from the sentence that it begins."""
    before = text[max(0, place - 8) : place].rstrip(_OPENERS)
    return before.endswith(tuple(_ENDS)) or (place <= 8 and not before)


def _is_name(word: str) -> bool:
    """Whether a word with a capital can be a name; an IT is, while an It is not."""
    bare = _bare(word)
    return len(bare) > 1 and (bare.isupper() or re.split("['’]", bare)[0].lower() not in _NO_NAMES)


def _bare(word: str) -> str:
    return _POSSESSIVE.sub("", word)


def _runs(text: str, words: Sequence[re.Match[str]]) -> Iterator[list[re.Match[str]]]:
    """Names that stand side by side, such as New York; a possessive ends a run, and a verb at the start is none."""
    run: list[re.Match[str]] = []
    for word in words:
        said = word.group()
        if not _is_name(said) or (said.lower() in _ASKING and starts_sentence(text, word.start())):
            continue
        if run and (text[run[-1].end() : word.start()] != " " or _bare(run[-1].group()) != run[-1].group()):
            yield run
            run = []
        run.append(word)
    if run:
        yield run
