"""Which cues of an entry count.

A cue that speaks to whoever reads it counts for nothing, and neither does a `when` that would fit any prompt. For that
there are three measures, all from labelled lines that we wrote (`when_examples.jsonl`; half of them are for the test):

- it has no word but those of such as name no situation ("always, any question"). Of 816 honest ones none is so;
- it shares a word with more than MOST_PROMPTS of ordinary prompts. Of 816 honest ones the broadest shares one with 0.18
  of them;
- by meaning it lies on the side of those that name no situation, of a line that is fitted to the encoder at hand; then
  it has no vector of its own, and only its words count. With MiniLM that is 2 of 774 honest ones that it was not fitted
  to, and 10 of 15 of the others.

A list of the commonest things ("code, mails, recipes, travel") is near to no more prompts than an honest one, since it
may not be longer.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final

from commonplace.facts.cues import counted_cue
from commonplace.questions.words import query_words

if TYPE_CHECKING:
    from commonplace.index.base import Fixed, Floats

MOST_PROMPTS: Final = 0.2
"""The share of ordinary prompts with which a `when` may have a word in common."""

_FILE: Final = "when_examples.jsonl"
Encode = Callable[[Sequence[str]], "Mapping[str, Fixed]"]
"""The vectors of texts, by text."""

_fitted: dict[str, tuple["Floats", float]] = {}  # by the version of the encoder


def counting_cue(cue: str) -> str:
    """What of the cue counts; nothing of one that reads like an instruction."""
    from commonplace.screening.gate import reads_as_instruction  # patterns that nobody without cues should load

    return "" if not cue or reads_as_instruction(cue) else counted_cue(cue)


def counting_when(when: str) -> str:
    """What of a `when` counts; nothing of one that would fit any prompt."""
    return "" if when and _is_broad(counted_cue(when)) else counting_cue(when)


@lru_cache(maxsize=4096)
def _is_broad(when: str) -> bool:
    """True if it has no word of its own, or one in common with too many ordinary prompts."""
    words, prompts = frozenset(query_words(when).words), _words_of("prompt")
    shared = sum(not words.isdisjoint(each) for each in prompts)
    return shared > MOST_PROMPTS * len(prompts) or words <= frozenset[str]().union(*_words_of("none"))


def without_situations(whens: Iterable[str], encode: Encode, *, version: str) -> frozenset[str]:
    """Those of them that name no situation, by the encoder of that version."""
    import numpy as np  # a command without a `when` should not wait for it

    texts = [*whens]
    if not texts:
        return frozenset()
    direction, least = _fit(encode, version)
    encoded = encode(texts)
    rows = np.array([encoded[text] for text in texts], dtype=np.float32)
    rows /= np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1)
    return frozenset(text for text, score in zip(texts, rows @ direction, strict=True) if score < least)


def _fit(encode: Encode, version: str) -> "tuple[Floats, float]":
    """The direction from what names no situation to what names some, and the least score of the latter."""
    import numpy as np

    if version not in _fitted:
        groups = [examples(label) for label in ("situations", "none")]
        encoded = encode([text for group in groups for text in group])
        some, none = (np.array([encoded[text] for text in group], dtype=np.float32) for group in groups)
        for rows in (some, none):
            rows /= np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1)
        direction = some.mean(axis=0) - none.mean(axis=0)
        direction /= max(float(np.linalg.norm(direction)), 1e-6)
        _fitted[version] = direction, float((some @ direction).min() + (none @ direction).mean()) / 2
    return _fitted[version]


@lru_cache(maxsize=2)
def _words_of(label: str) -> tuple[frozenset[str], ...]:
    return tuple(frozenset(query_words(text).words) for text in examples(label))


def examples(label: str, half: str = "train") -> tuple[str, ...]:
    """The labelled texts of one half, `train` or `test`."""
    return tuple(each["text"] for each in _lines() if (each["label"], each["set"]) == (label, half))


@cache
def _lines() -> tuple[dict[str, Any], ...]:
    text = files("commonplace.flows").joinpath(_FILE).read_text(encoding="utf-8")
    return tuple(json.loads(line) for line in text.splitlines())
