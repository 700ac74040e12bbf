"""What a score is made of in each mode, always from 0 to 1 on a scale that is the same for every question.

- words    the score of the words alone.
- sense    the nearest of the chunk's parts, by cosine.
- hybrid   sense + 0.6 * words, divided by 1.6. Mixing scores on a fixed scale finds more than mixing ranks.
- vector   the cosine of the chunk itself, which for vectors of length 1 is 1 - d^2/2, d being their distance.
- rrf      the sum of 1 / (60 + rank) over the two streams, times 30.5 so that the first of both has 1.
- merge    0.85 * cosine + 0.05 * the share of the question's words that the chunk has. Nothing else is added.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from commonplace.errors import UsageError
from commonplace.model import Mode, Place

RRF_CONSTANT: Final = 60
INBOX_WEIGHT: Final = 0.9
"""What stands in an inbox is ranked lower and never hidden."""

_HYBRID_WORDS: Final = 0.6
WEIGHTS: Final[Mapping[Mode, tuple[float, float]]] = {
    "hybrid": (_HYBRID_WORDS / (1 + _HYBRID_WORDS), 1 / (1 + _HYBRID_WORDS)),
    "words": (1.0, 0.0),
    "sense": (0.0, 1.0),
    "vector": (0.0, 1.0),
    "rrf": (0.5, 0.5),
    "merge": (0.05, 0.85),
}
"""How much the words and the sense of a chunk weigh."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A chunk that one stream or both have found.

    `words` and `by` are its score by words and the share of each; None where no word matched.
    `cosine` is that of the chunk itself, `sense` the best of its parts and `part` which one; None where it has no
    vector. A chunk found by words alone must be given its cosine if it has a vector.
    """

    key: int
    id: str
    place: Place = ""
    words: float | None = None
    by: Mapping[str, float] = field(default_factory=dict)
    cosine: float | None = None
    sense: float | None = None
    part: int = 0


def effective_k(k: int | None, *, default_k: int, max_k: int) -> int:
    """How many hits to give. Raises UsageError for less than one."""
    if k is not None and k < 1:
        raise UsageError(f"k is {k}", hint="Ask for at least one hit.")
    return min(k or default_k, max_k)


def clipped(cosine: float) -> float:
    """The cosine as a score."""
    return max(0.0, min(1.0, cosine))


def nearness(candidate: Candidate, mode: Mode) -> float | None:
    """The cosine that counts, as a score: in the modes vector and merge of the chunk itself, else of its best part."""
    cosine = candidate.cosine if mode in ("vector", "merge") else candidate.sense
    return None if cosine is None else clipped(cosine)


def word_share(candidate: Candidate, mode: Mode, *, asked: int) -> float | None:
    """The score of the words that counts in this mode; None where no word matched or words do not count."""
    if candidate.words is None or not WEIGHTS[mode][0]:
        return None
    return len(candidate.by) / max(asked, 1) if mode == "merge" else candidate.words


def place_weight(candidate: Candidate, mode: Mode) -> float:
    """What the score is multiplied by for where the document stands; places mean nothing to the mode `vector`."""
    return INBOX_WEIGHT if candidate.place == "inbox" and mode != "vector" else 1.0
