"""Words weighed in plain arithmetic: BM25 of chunks, and of whole documents."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from commonplace.index.base import Weighing
from commonplace.model import Chunk

_BODY = 4
_MOST = 255  # counts above it count as it


@dataclass(frozen=True, slots=True)
class Worths:
    """What each word of a question is worth, and which are too common to count."""

    of: Mapping[str, float]
    dropped: tuple[str, ...]
    weighing: Weighing

    @property
    def most(self) -> float:
        """What a text full of every word would come near to."""
        return sum(self.of.values()) * (self.weighing.k1 + 1)

    def shares(self, often: Mapping[str, float], *, longer: float) -> dict[str, float]:
        """What a text has of each word's worth that has the words so often and is so much longer than others."""
        k1, b = self.weighing.k1, self.weighing.b
        return {
            word: worth * (often[word] * (k1 + 1)) / (often[word] + k1 * (1 - b + b * longer))
            for word, worth in self.of.items()
            if often.get(word)
        }


def worths(words: Sequence[str], chunks: Sequence[Chunk], *, weighing: Weighing) -> Worths:
    """The worth of the words among all chunks that can be found."""
    spread = {word: sum(word in chunk.words for chunk in chunks) for word in dict.fromkeys(words)}
    common = [word for word, df in spread.items() if df > weighing.common * len(chunks)]
    dropped = tuple(common) if sum(df > 0 and word not in common for word, df in spread.items()) > 1 else ()
    of = {
        word: math.log(1 + (len(chunks) - df + 0.5) / (df + 0.5)) for word, df in spread.items() if word not in dropped
    }
    return Worths(of, dropped, weighing)


def length_of(chunk: Chunk) -> int:
    """How many words the body of the chunk has."""
    return sum(counts[_BODY] for counts in chunk.words.values())


def weighed_words(chunk: Chunk, weighing: Weighing) -> dict[str, float]:
    """How often each word stands in the chunk, by the weights of the fields."""
    return {
        word: sum(weight * min(count, _MOST) for weight, count in zip(weighing.fields, counts, strict=True))
        for word, counts in chunk.words.items()
    }


def whole_length(chunks: Sequence[Chunk], weighing: Weighing) -> float:
    """How long the chunks are as one text, replies counting by their weight."""
    replied = sum(length_of(chunk) for chunk in chunks if chunk.voice == "assistant")
    return sum(map(length_of, chunks)) - replied + weighing.reply * replied


def whole_words(chunks: Sequence[Chunk], weighing: Weighing) -> dict[str, float]:
    """How often each word stands in the chunks as one text: in all their bodies, but once in what they repeat."""
    return {word: _whole(word, chunks, weighing) for chunk in chunks for word in chunk.words}


def _whole(word: str, chunks: Sequence[Chunk], weighing: Weighing) -> float:
    having = [
        (chunk.voice, [min(count, _MOST) for count in chunk.words[word]]) for chunk in chunks if word in chunk.words
    ]
    said = sum(counts[_BODY] for voice, counts in having if voice != "assistant")
    replied = sum(counts[_BODY] for voice, counts in having if voice == "assistant")
    once = sum(weighing.fields[field] * max(counts[field] for _, counts in having) for field in range(_BODY))
    return once + weighing.fields[_BODY] * (said + weighing.reply * replied)
