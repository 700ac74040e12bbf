"""Diagnostics: findings of `doctor`, and how well each search mode answers questions made from a vault's own notes."""

from dataclasses import dataclass
from typing import Literal, get_args

from commonplace.model.query import Mode


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check: what was checked, whether it is fine, what was seen, and what to do if it is not."""

    what: str
    ok: bool
    said: str
    remedy: str = ""
    path: str | None = None
    line: int = 0


ProbeKind = Literal["heading", "alias", "link", "definition"]
PROBE_KINDS: tuple[ProbeKind, ...] = get_args(ProbeKind)


@dataclass(frozen=True, slots=True)
class Score:
    """How well a mode answers the `n` questions of one kind; `all` is every kind together.

    `at_1`, `at_5` and `at_10` are the shares whose note is among the first 1, 5 and 10, and `mrr` is the mean
    reciprocal rank, counting 0 for a note that was not found.
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
    """A question whose note was not found, and the first notes that were found instead."""

    mode: Mode
    kind: ProbeKind
    question: str
    expected: str
    instead: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The result of evaluating search on a vault.

    `rows` has the scores of each mode, by kind and then for all together. `notes` is the number of notes searched,
    `encoded` the number of texts encoded for the first time. `missing` says why there were no vectors; empty if there
    were.
    """

    modes: tuple[Mode, ...]
    rows: tuple[Score, ...]
    misses: tuple[Miss, ...]
    notes: int
    questions: int
    encoded: int
    seconds: float
    missing: str = ""
