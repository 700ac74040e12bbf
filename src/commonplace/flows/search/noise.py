"""How near a passage must be to a question none of whose words occurs: nearer than to questions about something else.

In a large vault something is always near. How near depends on the vault, on the filters and on the encoder, so it is
measured with everyday prompts, and kept in memory. A word that the encoder knows only by letters and syllables has no
meaning to it, and neither has gibberish: such a question must be nearer than every one of these prompts.

Measured with minilm-l6-v2. In a garden of 748 notes the levels are 0.35 and 0.49, in the sample vault 0.17 and 0.35.
Of 75 nonsense queries 74 find nothing in the garden and all in the sample vault; none of 21 queries such as
`timepiece`, a word that no note has but several are about, loses its hits. Of the questions of SciFact, LoCoMo and
LongMemEval each has a word that occurs; if none had, all 841 that find their answer would still reach the lower level.

Few passages are near to no prompt at all, yet near to gibberish: in 31 vaults of one short note, 70 nonsense queries
come as near as 0.21 in the middle, and one in a hundred nearer than 0.34. So that is the least for such a query; of
nine real words that the encoder breaks up, such as `nginx` for a note on a web server, eight are nearer.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import log2
from typing import TYPE_CHECKING, Final

from commonplace.flows.encode import query_vectors
from commonplace.flows.stores import Stores
from commonplace.index.base import IndexReader
from commonplace.model import Filters
from commonplace.ranking.candidates import nearness

if TYPE_CHECKING:
    from commonplace.index.base import Fixed

PROBES: Final = (
    "Why is the build failing?",
    "Write a short poem about the sea.",
    "What is the capital of Australia?",
    "Refactor this function so that it is easier to read.",
    "How do I center a div?",
    "Translate this sentence into French.",
    "Plan a birthday party for a child.",
    "What does this error message mean?",
    "Explain how a car engine works.",
    "Give me three ideas for dinner.",
    "Commit the changes and push them.",
    "What happened in the news today?",
)
"""Everyday prompts, which few vaults are about."""

_GIBBERISH: Final = 0.34  # how near it comes to a single note, one time in a hundred
_STEPS: Final = 4  # for each doubling of the index
_NEAREST: Final = 48  # passages of each probe that are compared
_KEPT: Final = 64  # measured levels in memory
_SYLLABLE: Final = (
    2.3  # letters in a token: 73 of 75 nonsense queries have fewer, and of 45 real ones 11 such as `tmux`
)
_UNSPACED: Final = (
    "\u0e00"  # from here on, scripts whose words are written without spaces, a token being a letter or two
)


def size_step(chunks: int) -> int:
    """The size of an index in steps, four for each doubling: within a step, its noise is not measured again."""
    return round(log2(chunks + 1) * _STEPS)


def needed_nearness(words: Sequence[str], reader: IndexReader, filters: Filters, stores: Stores) -> float:
    """How near a passage that passes the filters must be to a question of these words, if none of them occurs.

    Nearer than to a quarter of the probes; for words without a meaning, than to all of them, and nearer than gibberish
    is to a single note. 0 if the probes cannot be encoded. Raises IndexDamaged.
    """
    levels = _levels(reader, filters, stores)
    if not levels:
        return 0.0
    return max(levels[-1], _GIBBERISH) if _are_fragments(words, stores) else levels[len(levels) // 4]


def _are_fragments(words: Sequence[str], stores: Stores) -> bool:
    """True if the encoder breaks the words into letters and syllables, or there are none."""
    text, encoder = " ".join(words), stores.encoders.current
    if encoder is None or any(sign >= _UNSPACED for sign in text):
        return False
    return sum(map(str.isalnum, text)) < _SYLLABLE * len(encoder.tokens(text)) or not words


def _levels(reader: IndexReader, filters: Filters, stores: Stores) -> tuple[float, ...]:
    """How near the nearest passage is to each of the probes, in ascending order; empty if one cannot be encoded."""
    versions = dict(reader.versions())
    key = (size_step(sum(count for version, count in versions.items() if version)), replace(filters, at=""))
    if key not in stores.nearness_levels:
        levels = [_nearest(query_vectors(probe, versions, stores)[0], reader, filters) for probe in PROBES]
        if None in levels:
            return ()
        if len(stores.nearness_levels) >= _KEPT:
            stores.nearness_levels.clear()
        stores.nearness_levels[key] = tuple(sorted(level for level in levels if level is not None))
    return stores.nearness_levels[key]


def _nearest(vectors: "Mapping[str, Fixed]", reader: IndexReader, filters: Filters) -> float | None:
    """How near the nearest passage is to these vectors of a probe; None without any."""
    near = [
        nearness(match.cosine, match.best, match.sentence)
        for version, vector in vectors.items()
        for match in reader.match_vector(vector, filters, version=version, limit=_NEAREST)
    ]
    return max(near, default=0.0) if vectors else None
