"""How well search works on one vault: questions made from its own notes, and how each mode answers them."""

from dataclasses import dataclass
from typing import Literal, get_args

from commonplace.model.query import Mode

ProbeKind = Literal["heading", "alias", "link", "definition"]
PROBE_KINDS: tuple[ProbeKind, ...] = get_args(ProbeKind)


@dataclass(frozen=True, slots=True)
class Score:
    """How many of `n` questions of one kind a mode answers; `all` is every kind together.

    `at_1`, `at_5` and `at_10` are the shares whose note is among the first so many notes, and `mrr` is the mean of
    1 / rank, 0 where the note was not found.
    """

    mode: Mode
    kind: ProbeKind | Literal["all"]
    n: int
    at_1: float
    at_5: float
    at_10: float
    mrr: float


@dataclass(frozen=True, slots=True)
class Miss:
    """A question whose note was not found, and the first notes that came instead."""

    mode: Mode
    kind: ProbeKind
    question: str
    expected: str
    instead: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What came of asking a vault about itself.

    `rows` has the scores of each mode, kind by kind and then all together. `notes` is how many were searched,
    `encoded` how many texts were never encoded before. `missing` says why there were no vectors, empty when there were.
    """

    modes: tuple[Mode, ...]
    rows: tuple[Score, ...]
    misses: tuple[Miss, ...]
    notes: int
    questions: int
    encoded: int
    seconds: float
    missing: str = ""
