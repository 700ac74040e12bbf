"""What the ranks at which questions found their notes come to: shares and means, by mode and kind."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from commonplace.model import PROBE_KINDS, Miss, Mode, ProbeKind, Score

_PLACES: Final = 4  # digits of a share
_SHOWN_INSTEAD: Final = 3


@dataclass(frozen=True, slots=True)
class Asked:
    """A question as a mode answered it: the note it should find, and those that came, best first, each once."""

    mode: Mode
    kind: ProbeKind
    question: str
    expected: str
    came: tuple[str, ...]

    @property
    def rank(self) -> int | None:
        """At which place the note came; None when it did not."""
        return self.came.index(self.expected) + 1 if self.expected in self.came else None


def score_rows(asked: Sequence[Asked], modes: Sequence[Mode]) -> Iterator[Score]:
    """The scores of each mode: of every kind that was asked, then of all."""
    for mode in modes:
        of_mode = [each for each in asked if each.mode == mode]
        for kind in PROBE_KINDS:
            of_kind = [each for each in of_mode if each.kind == kind]
            if of_kind:
                yield _score(of_kind, mode, kind)
        yield _score(of_mode, mode, "all")


def misses_among(asked: Sequence[Asked]) -> Iterator[Miss]:
    """Those that did not find their note."""
    for each in asked:
        if each.rank is None:
            yield Miss(each.mode, each.kind, each.question, each.expected, each.came[:_SHOWN_INSTEAD])


def _score(asked: Sequence[Asked], mode: Mode, kind: ProbeKind | Literal["all"]) -> Score:
    ranks = [each.rank for each in asked]
    found = [rank for rank in ranks if rank is not None]

    def share(most: int) -> float:
        return round(sum(rank <= most for rank in found) / len(ranks), _PLACES)

    mrr = round(sum(1 / rank for rank in found) / len(ranks), _PLACES)
    return Score(mode, kind, len(ranks), share(1), share(5), share(10), mrr)
