"""The words of notes and of questions: case-folded, without accents, stemmed. No sign of a question is an operator."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import chain
from typing import Final

from commonplace.model import FIELDS, WordCounts
from commonplace.recalling.stop_words import STOP_WORDS
from commonplace.recalling.tokens import LONGEST, forms_of, token_texts

MOST_WORDS: Final = 64
"""How many words of a question are searched."""

_REMEMBERED = 1 << 17
_JOINERS = frozenset({"AND", "OR", "NOT"})


@dataclass(frozen=True, slots=True)
class QueryWords:
    """The words of a question that are searched, each once and in order, and those that are not.

    `spelled` are the searched words as they stand in the question, for people.
    """

    words: tuple[str, ...]
    left_out: tuple[str, ...]
    spelled: tuple[str, ...] = ()


def words_of(text: str) -> list[str]:
    """The words of a text in order, as often as they stand in it."""
    return list(chain.from_iterable(map(stems_of, token_texts(text))))


def stems_of(token: str) -> tuple[str, ...]:
    """The words that one token of a text can be found by."""
    return _remembered_stems(token) if len(token) <= LONGEST else tuple(map(stem, forms_of(token)))


def query_words(text: str) -> QueryWords:
    """What a question asks for. Stop words count only if there is nothing else.

    Capitals such as IT or WHO are names in a question that is not all in capitals; AND, OR and NOT are not.
    Of a very long text the words that it repeats most are taken, the earlier of two that are alike.
    """
    shouted = text.isupper()
    counts: Counter[str] = Counter()
    spelled: dict[str, str] = {}
    stops: dict[str, None] = {}
    for token in token_texts(text):
        is_name = len(token) > 1 and token.isupper() and not shouted and token not in _JOINERS
        for form in forms_of(token, pairs_only=True):
            if form in STOP_WORDS and not is_name:
                stops[form] = None
            else:
                counts[stem(form)] += 1
                spelled.setdefault(stem(form), form)
    if not counts:
        return QueryWords(tuple(dict.fromkeys(map(stem, stops)))[:MOST_WORDS], (), tuple(stops)[:MOST_WORDS])
    kept = {word for word, _ in counts.most_common(MOST_WORDS)}
    beyond = (word for word in counts if word not in kept)
    words = tuple(word for word in counts if word in kept)
    return QueryWords(words, (*stops, *beyond), tuple(spelled[word] for word in words))


def count_words(
    *, title: str, aliases: Iterable[str], headings: Iterable[str], tags: Iterable[str], body: str
) -> WordCounts:
    """How often each word stands in each field of a chunk."""
    texts = (title, "\n".join(aliases), "\n".join(headings), "\n".join(tags), body)
    fields = [Counter(words_of(text)) for text in texts]
    counts: dict[str, list[int]] = {}
    for place, field in enumerate(fields):
        for word, count in field.items():
            counts.setdefault(word, [0] * len(FIELDS))[place] = count
    return {word: (n[0], n[1], n[2], n[3], n[4]) for word, n in counts.items()}


def stem(word: str) -> str:
    """A folded word without its English ending; one that is not of Latin letters alone stays as it is."""
    return _stemmed(word) if word.isascii() and word.isalpha() else word


@lru_cache(maxsize=_REMEMBERED)
def _remembered_stems(token: str) -> tuple[str, ...]:
    return tuple(map(stem, forms_of(token)))


@lru_cache(maxsize=_REMEMBERED)
def _stemmed(word: str) -> str:
    return _stemmer()(word)


@cache
def _stemmer() -> Callable[[str], str]:
    """The stemmer, loaded with the first word. It runs under the interpreter's lock, so threads may share it."""
    import Stemmer  # type: ignore[import-not-found]

    # Our own caches remember stems: its own would be a second one.
    stemmer: Callable[[str], str] = Stemmer.Stemmer("english", 0).stemWord
    return stemmer
