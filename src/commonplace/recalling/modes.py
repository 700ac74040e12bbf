"""What a score is made of in each mode, always from 0 to 1 on a scale that is the same for every question.

- words    the score of the words alone.
- sense    0.8 of the cosine of the nearest of the chunk's parts and sentences, 0.2 of that of its nearest part.
- hybrid   sense, half the words, and what the chunk's document and the question's clues add: see `hybrid`.
           Mixing scores on a fixed scale finds more than mixing ranks.
- vector   the cosine of the chunk itself, which for vectors of length 1 is 1 - d^2/2, d being their distance.
- rrf      the sum of 1 / (60 + rank) over the two streams, times 30.5 so that the first of both has 1.
- merge    0.85 * cosine + 0.05 * the share of the question's words that the chunk has. Nothing else is added.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from commonplace.errors import UsageError
from commonplace.model import Mode, Place, Voice

RRF_CONSTANT: Final = 60
INBOX_WEIGHT: Final = 0.9
"""What stands in an inbox is ranked lower and never hidden."""

_PART, _NEAREST = 0.2, 0.8
HYBRID_SCALE: Final = 2.0
"""What the weights of the mode hybrid are divided by, so that few scores are above 1; such a one is shown as 1."""

WEIGHTS: Final[Mapping[Mode, tuple[float, float]]] = {
    "hybrid": (0.5 / HYBRID_SCALE, 1 / HYBRID_SCALE),
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
    `cosine` is that of the chunk itself, `best` that of its nearest part and `part` which one, `sentence` that of its
    nearest sentence; None where it has no vector. A chunk found by words alone must be given these if it has one.
    `quoted` are the phrases of the question that it has word by word.
    `document` is the id of its document, `turn` its place in a conversation, and `opens` whether it is the first.
    `updated` and `importance` are those of its document; `at` is the time of which the chunk tells, where it is known.
    """

    key: int
    id: str
    place: Place = ""
    words: float | None = None
    by: Mapping[str, float] = field(default_factory=dict)
    cosine: float | None = None
    best: float | None = None
    sentence: float | None = None
    part: int = 0
    document: str = ""
    turn: int = 0
    opens: bool = False
    voice: Voice = ""
    speaker: str = ""
    at: str = ""
    quoted: tuple[str, ...] = ()
    updated: str = ""
    importance: float = 0.0


def effective_k(k: int | None, *, default_k: int, max_k: int) -> int:
    """How many hits to give. Raises UsageError for less than one."""
    if k is not None and k < 1:
        raise UsageError(f"k is {k}", hint="Ask for at least one hit.")
    return min(k or default_k, max_k)


def sense_of(best: float, sentence: float) -> float:
    """How near a chunk is by its nearest part and its nearest sentence."""
    return _PART * (best if best > 0 else 0.0) + _NEAREST * max(best, sentence, 0.0)


def clipped(cosine: float) -> float:
    """The cosine as a score."""
    return max(0.0, min(1.0, cosine))


def nearness(candidate: Candidate, mode: Mode) -> float | None:
    """The cosine that counts, as a score: in the modes vector and merge of the chunk itself, else of its nearest part
    and sentence.
    """
    if candidate.cosine is None or candidate.best is None or candidate.sentence is None:
        return None
    if mode in ("vector", "merge"):
        return clipped(candidate.cosine)
    return sense_of(candidate.best, candidate.sentence)


def nearest(candidate: Candidate, mode: Mode = "hybrid") -> float | None:
    """The cosine that must reach the floor: of the chunk itself in the modes vector and merge, else the best of all."""
    if candidate.cosine is None or candidate.best is None or candidate.sentence is None:
        return None
    return clipped(candidate.cosine if mode in ("vector", "merge") else max(candidate.best, candidate.sentence))


def word_share(candidate: Candidate, mode: Mode, *, asked: int) -> float | None:
    """The score of the words that counts in this mode; None where no word matched or words do not count."""
    if candidate.words is None or not WEIGHTS[mode][0]:
        return None
    return len(candidate.by) / max(asked, 1) if mode == "merge" else candidate.words


def place_weight(candidate: Candidate, mode: Mode) -> float:
    """What the score is multiplied by for where the document stands; places mean nothing to the mode `vector`."""
    return INBOX_WEIGHT if candidate.place == "inbox" and mode != "vector" else 1.0
