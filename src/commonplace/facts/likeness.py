"""How a new statement stands to a known one, by their words and by how near they are in meaning."""

import re
from typing import Final, Literal, NamedTuple

from commonplace.facts.contrasts import HOLLOW, OWNING, PERSONS
from commonplace.facts.entities import unlinked
from commonplace.facts.wording import changes_places, claiming, jaccard, opposes, without_user, words_of

Likeness = Literal["same", "more", "against", "near", "apart"]
"""It says the same; the same and more; it speaks against it; it is about the same; it has nothing to do with it."""

OVERLAP: Final = 0.6
"""The share of common words from which two texts may be one claim."""

PRECISER: Final = 0.5
"""The share of its own claiming words that a text may have from an older one, all of which it has, and say the same
more precisely: "engineer" is one of the two of "senior engineer"."""

# Calibrated on 142 pairs of statements of our own, English and German, encoded by minilm-l6-v2 (int8).
# Cosines, least / median / most:
#   46 in other words  0.68 0.94 0.99      12 with more detail  0.57 0.82 0.95      8 of one theme  0.18 0.47 0.58
#   54 changed values  0.55 0.86 0.99       8 of another one    0.58 0.64 0.88      6 unrelated    -0.06 -0.01 0.25
#    8 negated         0.79 0.88 0.93
# Changed values reach as far as other words do. Those above 0.92 are betrayed by `opposes`, by names or by
# `changes_places`: none of the 62 changed and negated ones is found to say the same, of the others 29 are.
CLOSE: Final = 0.70
"""The cosine from which two statements are about the same: above every pair that only shares its theme."""
SAME: Final = 0.92
"""The cosine from which two may say the same in other words: above every changed value that words do not betray."""
SAME_OF_ANOTHER: Final = 0.95
"""The same where only the words in front differ: "my sister" and "my brother" come to 0.88, film and movie to 0.96."""
FOR_EACH_WORD: Final = 0.4
"""How far apart, times the number of words, one exchanged word may bring two that say the same.

The longer the text, the less one word moves it: other words came to 0.08-0.36, changed values to 0.42 and more.
"""

_INNER_NAME: Final = re.compile(r"(?<=[^\W_][,;:]\s)[A-Z]\w*|(?<=[^\W_]\s)[A-Z]\w*|\w*[a-z][A-Z]\w*")


class Frame(NamedTuple):
    """Two statements as what they share at both ends, in words, and what each says between."""

    before: tuple[str, ...]
    new: tuple[str, ...]
    old: tuple[str, ...]
    after: tuple[str, ...]


def likeness(new: str, old: str, *, cosine: float | None) -> Likeness:
    """How the new text stands to the old one; without a cosine, by their words alone."""
    overlap = jaccard(new, old)
    if (overlap < OVERLAP) if cosine is None else (cosine < CLOSE):
        return "apart"
    if opposes(new, old):
        return "against"
    if changes_places(new, old):
        return "near"
    claimed, known = frozenset(claiming(new)), frozenset(claiming(old))
    fresh = claimed - known
    if not fresh:
        return "same"
    if known <= claimed:
        return "more" if overlap >= OVERLAP or len(known) >= PRECISER * len(claimed) else "near"
    return _of_reworded(new, old, cosine=cosine or 0.0, fresh=len(fresh))


def _of_reworded(new: str, old: str, *, cosine: float, fresh: int) -> Likeness:
    """How two stand to each other of which each has words that the other has not; `fresh` counts the new one's."""
    words, known = words_of(new), words_of(old)
    frame = _frame_of(words, known)
    is_of_another = _is_of_another(frame) and words == without_user(words)
    least = max(SAME, 1 - FOR_EACH_WORD * fresh / max(len(words), len(known)))
    names_differ = bool(_names(new) - _names(old) and _names(old) - _names(new))
    if not names_differ and cosine >= (max(least, SAME_OF_ANOTHER) if is_of_another else least):
        return "same"
    if is_of_another:
        return "apart"
    return "against" if names_differ and _is_exchanged(frame) else "near"


def _frame_of(new: tuple[str, ...], old: tuple[str, ...]) -> Frame:
    first = 0
    while first < min(len(new), len(old)) and new[first] == old[first]:
        first += 1
    last = 0
    while last < min(len(new), len(old)) - first and new[-1 - last] == old[-1 - last]:
        last += 1
    return Frame(new[:first], new[first : len(new) - last], old[first : len(old) - last], new[len(new) - last :])


def _is_of_another(frame: Frame) -> bool:
    """Whether they say the same of two things: only what stands in front differs."""
    is_in_front = all(word in HOLLOW | OWNING for word in frame.before)
    return is_in_front and len(frame.after) >= 2 and max(len(frame.new), len(frame.old)) <= 2


def _is_exchanged(frame: Frame) -> bool:
    """Whether one word of the same statement was exchanged for another."""
    return len(frame.before) >= 2 and len(frame.new) == len(frame.old) == 1


def _names(text: str) -> frozenset[str]:
    """The words that name somebody or something: with a capital within the text or the word, or for a person."""
    plain = unlinked(text)
    inner = frozenset(name.casefold() for name in _INNER_NAME.findall(plain))
    return inner | (frozenset(words_of(plain)) & PERSONS)
