"""Whether what was found is worth a place before a prompt, and the name under which it stands there."""

import re
from collections.abc import Iterable, Sequence
from typing import Final

from commonplace.model import Hit
from commonplace.recalling.stop_words import STOP_WORDS

# Chosen on 64 messages to a vault of 60 notes, by all-MiniLM-L6-v2, as `context.min_score` was: at 0.3 none of 32 that
# ask for nothing in it recalls anything, and 30 of the 32 that do bring their note. A playbook that fits may score
# less, but is near in meaning; those that do not fit were below one of these or the other.
PLAYBOOK_SCORE: Final = 0.25
PLAYBOOK_COSINE: Final = 0.25

_FAR: Final = 0.1
"""The cosine below which words are all that a passage shares with a prompt: in a large vault many share some."""

_CHATTY: Final = """
hello hi hey ok okay yes yeah thanks thank like look looks great good nice fine well right wrong today
"""
"""Words that say nothing to look for in a message that has no others."""

_LITTLE: Final = STOP_WORDS.union(_CHATTY.split())

_BESIDE: Final = 0.6
"""The part of the best score that the others must reach: below it they share a word with the prompt, no more."""

_LEAST_LETTERS: Final = 20
"""Letters beside links below which a passage leads elsewhere and says nothing: `Part of [[Plan]]. See [[Budget]].`"""

_FIRST_OF_CJK: Final = "\u2e80"
_WHOLE_WORD: Final = 4  # letters that a sign is worth in a script whose signs are words

_LINK = re.compile(r"!?\[\[[^\]\n]*\]\]|!?\[[^\]\n]*\]\([^)\n]*\)|<?https?://\S+|(?<!\S)#[\w/-]+")
_PROMPT_WORD = re.compile(r"\w+")
_HEADING = re.compile(r"\A#{1,6}[ \t]+([^\n]*?)[ \t#]*(?:\n|\Z)\s*")


def least_score(scores: Iterable[float], *, least: float) -> float:
    """The score from which on one of them may stand beside the best, and never less than `least`."""
    return max([least, *(_BESIDE * score for score in scores)])


def is_far(hit: Hit) -> bool:
    """Whether what was found means something else, whatever its words are."""
    return hit.cosine is not None and hit.cosine < _FAR


def is_near_playbook(hit: Hit) -> bool:
    """Whether a playbook is about what the prompt wants done."""
    return hit.score >= PLAYBOOK_SCORE and (hit.cosine is None or hit.cosine >= PLAYBOOK_COSINE)


def holds_only_links(text: str) -> bool:
    """Whether a passage only leads elsewhere: links, and hardly a word beside them."""
    rest, links = _LINK.subn(" ", text)
    letters = sum(_WHOLE_WORD if sign >= _FIRST_OF_CJK else 1 for sign in rest if sign.isalpha())
    return letters < (_LEAST_LETTERS if links else 1)


def has_only_little_words(prompt: str) -> bool:
    """Whether a prompt names nothing that could be looked for: `what can you do?`, `no, not like that`."""
    words = [word.replace("'", "") for word in _PROMPT_WORD.findall(prompt.casefold().replace("’", "'"))]
    return all(word in _LITTLE for word in words)


def title_beside(path: str, headings: Sequence[str]) -> str:
    """The headings above a passage, less what the name of its note says already."""
    name = _name_of(path)
    return " > ".join(heading for heading in headings if heading.strip().casefold() not in name)


def without_own_heading(text: str, *, path: str) -> str:
    """The text of a note without a first heading that only says again how the note is called."""
    heading = _HEADING.match(text)
    return text[heading.end() :] if heading and heading[1].casefold() == _name_of(path) else text


def _name_of(path: str) -> str:
    return path.rpartition("/")[2].removesuffix(".md").casefold()
