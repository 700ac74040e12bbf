"""Labelled conversations: what is worth keeping of each, what must not be kept, and what is known before.

The form is that of `memory/extraction.jsonl` (the README beside it describes it). `Judge` decides whether a stored text
says what a labelled one says. Two texts match if

- no number of one contradicts the numbers of the other, and
- their vectors, by the real encoder, have a cosine of at least 0.75; or of at least 0.5, and the stored text has 40 %
  of the content words of the labelled one (or the other way round), folded and without endings.

That is stricter than a reader on texts that say the same in other words, and more lenient on texts that differ in one
word; so the bench prints every stored text next to what it was matched with, to be read by eye.
"""

import json
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np

from commonplace.encoders.base import EncoderProvider

EXTRACTION: Final = "extraction.jsonl"
SURE, NEAR, SHARED = 0.75, 0.5, 0.4
_WORD: Final = re.compile(r"[^\W_]+(?:[.'-][^\W_]+)*")
_DENIAL: Final = re.compile(
    r"(?i)\b(?:not|no|never|without|gone|stopped|cancelled|sold|left|over|dislikes?|hates?)\b|n't\b"
)
_NUMBER: Final = re.compile(r"\d+(?:[.,]\d+)*k?")
_EMPTY_WORDS: Final = """
    the a an of in on at to for from with and or but is are was were be been has have had does do did not no it its
    they their them user's user he she his her as by that this since until every each who which will would
"""
_EMPTY: Final = frozenset(_EMPTY_WORDS.split())


@dataclass(frozen=True, slots=True)
class LabelledFact:
    """A text that is worth keeping, with the id of the known text that it ends; or one that must not be kept."""

    text: str
    ends: str = ""
    why: str = ""


@dataclass(frozen=True, slots=True)
class LabelledConversation:
    """A conversation of one day: its turns as (role, text), what is known before by id, gold and must-not texts."""

    id: str
    day: str
    turns: tuple[tuple[str, str], ...]
    known: Mapping[str, str]
    gold: tuple[LabelledFact, ...]
    must_not: tuple[LabelledFact, ...]


def read_conversations(file: Path) -> list[LabelledConversation]:
    """The conversations of the file. Ends the program, saying what is missing, if there is no such file."""
    if not file.is_file():
        sys.exit(f"no {file}: name its folder with --data, or another file with --file")
    lines = file.read_text(encoding="utf-8").splitlines()
    return [_conversation(json.loads(line)) for line in lines if line.strip()]


def _conversation(line: Mapping[str, Any]) -> LabelledConversation:
    return LabelledConversation(
        id=line["id"],
        day=line["date"],
        turns=tuple((each["role"], each["text"]) for each in line["turns"]),
        known={each["id"]: each["text"] for each in line["known"]},
        gold=tuple(LabelledFact(each["text"], ends=each["ends"] or "") for each in line["gold"]),
        must_not=tuple(LabelledFact(each["text"], why=each["why"]) for each in line["must_not"]),
    )


@dataclass(slots=True)
class Judge:
    """Decides whether two texts say the same."""

    encoder: EncoderProvider
    _vectors: dict[str, np.ndarray] = field(default_factory=dict)

    def closeness(self, stored: str, labelled: str) -> float:
        """The cosine of two texts that match; 0 if they do not."""
        if _numbers_differ(stored, labelled):
            return 0.0
        cosine = float(np.dot(self._vector(stored), self._vector(labelled)))
        share = _share(_words(stored), _words(labelled))
        return cosine if cosine >= SURE or (cosine >= NEAR and share >= SHARED) else 0.0

    def nearest(self, stored: str, labelled: Sequence[LabelledFact]) -> tuple[float, LabelledFact | None]:
        """The labelled text that matches best, with its closeness; 0 and None if none does."""
        scores = [(self.closeness(stored, each.text), number) for number, each in enumerate(labelled)]
        score, number = max(scores, default=(0.0, -1))
        return (score, labelled[number]) if score else (0.0, None)

    def _vector(self, text: str) -> np.ndarray:
        if text not in self._vectors:
            vector = np.asarray(self.encoder.encode([text])[0], dtype=np.float32)
            self._vectors[text] = vector / (np.linalg.norm(vector) or 1.0)
        return self._vectors[text]


def agree(one: str, other: str) -> bool:
    """True if both texts deny something, or neither does: "not Postgres" does not say what "uses Postgres" says."""
    return bool(_DENIAL.search(one)) == bool(_DENIAL.search(other))


def _numbers_differ(one: str, other: str) -> bool:
    """True if both have numbers and neither has all of the other's."""
    first, second = (set(_NUMBER.findall(each.replace("k ", "000 ").replace(",", ""))) for each in (one, other))
    return bool(first and second) and not (first <= second or second <= first)


def _words(text: str) -> frozenset[str]:
    words = (word.casefold() for word in _WORD.findall(text))
    return frozenset(word[:5] if len(word) > 5 else word.rstrip("s") for word in words if word not in _EMPTY)


def _share(one: Iterable[str], other: Iterable[str]) -> float:
    first, second = frozenset(one), frozenset(other)
    return len(first & second) / (min(len(first), len(second)) or 1)
