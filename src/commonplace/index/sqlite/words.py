"""The words of a chunk as the index keeps them: hashes with counts, so that no word stands in clear beside the text."""

from functools import lru_cache
from hashlib import blake2b
from itertools import chain
from typing import Final

import numpy as np

from commonplace.model import WordCounts

ENTRY: Final = np.dtype([("hash", "<u8"), ("counts", "u1", (5,))])
"""One word of one chunk: its hash, and how often it stands in each of the FIELDS."""

_MOST: Final = 255


@lru_cache(maxsize=65536)
def word_hash(word: str) -> int:
    """The number that stands for this stemmed word."""
    return int.from_bytes(blake2b(word.encode(errors="surrogatepass")).digest()[:8], "little")


def pack_words(words: WordCounts) -> bytes:
    """The words as ENTRY after ENTRY, in the order of their hashes; counts above 255 count as 255."""
    hashes = np.fromiter(map(word_hash, words), np.uint64, len(words))
    counts = np.fromiter(chain.from_iterable(words.values()), np.int64).reshape(-1, 5)
    order = np.argsort(hashes)
    entries = np.empty(len(words), ENTRY)
    entries["hash"] = hashes[order]
    entries["counts"] = np.minimum(counts[order], _MOST)
    return entries.tobytes()


def body_length(words: WordCounts) -> int:
    """How many words the body of the chunk has."""
    return sum(counts[-1] for counts in words.values())
