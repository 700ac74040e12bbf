"""Chunk candidates: what each search mode scores, and the order of candidates.

Scores are on a scale that is the same for every question, from 0 to 1:

- words    the score of the words alone.
- sense    0.8 of the cosine of the nearest of the chunk's parts and sentences, 0.2 of that of its nearest part.
- hybrid   sense, half the words, and what the chunk's document and the question's clues add: see `hybrid`.
           Mixing scores on a fixed scale finds more than mixing ranks.
- vector   the cosine of the chunk itself, which for vectors of length 1 is 1 - d^2/2, d being their distance.
- rrf      the sum of 1 / (60 + rank) over the two streams, times 30.5 so that the first of both has 1.
- merge    0.85 * cosine + 0.05 * the share of the question's words that the chunk has, and nothing else.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Final, TypeVar

from commonplace.errors import UsageError
from commonplace.model import Mode, Place, Voice

DECIMALS: Final = 4
"""Scores are rounded to this many decimals so that all machines agree; many are equal then."""

RRF_CONSTANT: Final = 60
INBOX_WEIGHT: Final = 0.9
"""Notes in an inbox rank lower; they are never hidden."""

HYBRID_SCALE: Final = 2.0
"""The divisor of all weights in the mode hybrid, so that few scores exceed 1; those that do are shown as 1."""

WEIGHTS: Final[Mapping[Mode, tuple[float, float]]] = {
    "hybrid": (0.5 / HYBRID_SCALE, 1 / HYBRID_SCALE),
    "words": (1.0, 0.0),
    "sense": (0.0, 1.0),
    "vector": (0.0, 1.0),
    "rrf": (0.5, 0.5),
    "merge": (0.05, 0.85),
}
"""The weights of a chunk's words and sense in each mode."""

_PART, _NEAREST = 0.2, 0.8

_ID, _RANK = itemgetter(0), itemgetter(1)

Entry = TypeVar("Entry")


@dataclass(frozen=True, slots=True)
class ChunkCandidate:
    """A chunk that matched by words, by sense or by both.

    `words` is its score by words and `by` the share of each word; None and empty if no word matched.
    `cosine` is that of the chunk itself, `best` that of its nearest part and `part` which one, `sentence` that of its
    nearest sentence; None if it has no vector. They must be filled in for a chunk that matched by words alone, too.
    `quoted` are the quotations of the question that it contains.
    `halves` is the score by words and sense of the better half of a question that asks for two things, else None.
    `document` is the id of its document, which has `chunks` of them; `turn` is its position in a conversation, and
    `opens` whether it is the first.
    `updated` and `importance` are those of its document, the former empty if the note does not say it: a file's time is
    another in each copy of a vault. `at` is the time the chunk tells about, if known. `source` is the type of the
    source its document is from.
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
    halves: float | None = None
    document: str = ""
    chunks: int = 1
    turn: int = 0
    opens: bool = False
    voice: Voice = ""
    speaker: str = ""
    at: str = ""
    quoted: tuple[str, ...] = ()
    updated: str = ""
    importance: float = 0.0
    source: str = ""


def effective_k(k: int | None, *, default_k: int, max_k: int) -> int:
    """The number of hits to give: `k` or the default, at most `max_k`. Raises UsageError if `k` is below 1."""
    if k is not None and k < 1:
        raise UsageError(f"k must be at least 1, not {k}", hint="Ask for at least one hit.")
    return min(k or default_k, max_k)


def best_first(
    entries: Iterable[Entry], *, score: Callable[[Entry], float], candidate: Callable[[Entry], ChunkCandidate]
) -> list[Entry]:
    """The entries by score; of equals the more important first, then the last updated, then by id.

    All of these come from the notes, so that a rebuilt index and another copy of the vault give the same order.
    """
    keyed = []
    for entry in entries:
        chunk = candidate(entry)
        keyed.append((chunk.id, (round(score(entry), DECIMALS), chunk.importance, chunk.updated), entry))
    keyed.sort(key=_ID)
    keyed.sort(key=_RANK, reverse=True)  # a reversed sort keeps the order of equals: by id
    return [entry for _, _, entry in keyed]


def limit_per_note(
    ordered: Iterable[Entry], *, candidate: Callable[[Entry], ChunkCandidate], k: int, per_note: int
) -> list[tuple[Entry, int]]:
    """The first `k` entries with at most `per_note` of one note, 0 for any number; each with a count.

    The count, on the last entry of a note, is how many more of its entries come before the last of all. Turns of a
    conversation are not limited: of the turns that answer a question of LoCoMo, two for each conversation would leave
    0.68 instead of 0.83 among the first eight.
    """
    shown: list[Entry] = []
    counts: Counter[str] = Counter()
    for entry in ordered:
        chunk = candidate(entry)
        counts[chunk.document] += 1
        if chunk.voice or not per_note or counts[chunk.document] <= per_note:
            shown.append(entry)
        if len(shown) == k:
            break
    more = {} if not per_note else {document: max(0, count - per_note) for document, count in counts.items()}
    counted = []
    for entry in reversed(shown):
        chunk = candidate(entry)
        counted.append((entry, 0 if chunk.voice else more.pop(chunk.document, 0)))
    return counted[::-1]


def words_score(candidate: ChunkCandidate, mode: Mode, *, word_count: int) -> float | None:
    """The score of the words in this mode; None if no word matched or the mode ignores words.

    `word_count` is the number of words in the question.
    """
    if candidate.words is None or not WEIGHTS[mode][0]:
        return None
    return len(candidate.by) / max(word_count, 1) if mode == "merge" else candidate.words


def sense_score(candidate: ChunkCandidate, mode: Mode) -> float | None:
    """The score of the meaning; None without vectors.

    The modes vector and merge take the cosine of the chunk itself, the others its nearest part and sentence.
    """
    if candidate.cosine is None or candidate.best is None or candidate.sentence is None:
        return None
    if mode in ("vector", "merge"):
        return _clip(candidate.cosine)
    return combine_sense(candidate.best, candidate.sentence)


def combine_sense(best: float, sentence: float) -> float:
    """The score of the nearest part's cosine and the nearest sentence's cosine together."""
    return _PART * (best if best > 0 else 0.0) + _NEAREST * max(best, sentence, 0.0)


def best_cosine(candidate: ChunkCandidate, mode: Mode = "hybrid") -> float | None:
    """The cosine to compare with `min_score`; None without vectors.

    That of the chunk itself in the modes vector and merge, the best of all in the others.
    """
    if candidate.cosine is None or candidate.best is None or candidate.sentence is None:
        return None
    return _clip(candidate.cosine if mode in ("vector", "merge") else max(candidate.best, candidate.sentence))


def nearness(cosine: float, best: float, sentence: float) -> float:
    """How near a passage is: half its own cosine, half that of its nearest part or sentence.

    Nonsense comes near to a stray sentence, but seldom to the passage around it.
    """
    return (cosine + max(best, sentence)) / 2


def candidate_nearness(candidate: ChunkCandidate) -> float | None:
    """How near the candidate is; None without vectors."""
    if candidate.cosine is None or candidate.best is None or candidate.sentence is None:
        return None
    return nearness(candidate.cosine, candidate.best, candidate.sentence)


def place_weight(candidate: ChunkCandidate, mode: Mode) -> float:
    """The factor for the place of the document; the mode `vector` ignores places."""
    return INBOX_WEIGHT if candidate.place == "inbox" and mode != "vector" else 1.0


def _clip(cosine: float) -> float:
    return max(0.0, min(1.0, cosine))
