"""An encoder that hashes words and trigrams of letters: no model, the same vectors on every machine."""

import re
from collections.abc import Callable, Iterator, Sequence
from hashlib import blake2b
from typing import TYPE_CHECKING, Final

import numpy as np

from commonplace.encoders.base import Spans, heuristic_tokens

if TYPE_CHECKING:
    from commonplace.encoders.base import Floats

_WORD: Final = re.compile(r"\w+")
_WORD_WEIGHT: Final = 3
"""A shared word counts as much as this many shared trigrams."""


class HashingEncoder:
    """A deterministic encoder for tests and quick runs: texts that share words have similar vectors."""

    alias: Final = "hashing"
    is_remote: Final = False
    is_ready: Final = True

    def __init__(self, dim: int = 384, *, max_tokens: int = 256) -> None:
        self.dim = dim
        self.max_tokens = max_tokens
        self.version = f"hashing-{dim}"

    def encode(self, texts: Sequence[str], *, progress: Callable[[int], None] = lambda count: None) -> "Floats":
        """One row for each text."""
        vectors = np.zeros((len(texts), self.dim), np.float32)
        for row, text in enumerate(texts):
            vectors[row] = self._vector(text)
            progress(1)
        return vectors

    def tokens(self, text: str) -> Spans:
        """Tokens estimated by `heuristic_tokens`."""
        return heuristic_tokens(text)

    def _vector(self, text: str) -> "Floats":
        sums = np.zeros(self.dim)
        spans = heuristic_tokens(text)[: self.max_tokens]
        for feature, weight in _features(text[: spans[-1][1]] if spans else ""):
            digest = int.from_bytes(blake2b(feature.encode(errors="replace"), digest_size=8).digest(), "big")
            sums[(digest >> 1) % self.dim] += weight if digest & 1 else -weight
        if not sums.any():  # no words, or words whose hashes cancel out
            sums[0] = 1.0
        vector: Floats = (sums / np.sqrt(np.square(sums).sum())).astype(np.float32)
        return vector


def _features(text: str) -> Iterator[tuple[str, int]]:
    for word in _WORD.findall(text.casefold()):
        yield word, _WORD_WEIGHT
        framed = f" {word} "
        for start in range(len(framed) - 2):
            yield framed[start : start + 3], 1
