"""How likely it is that the answer to a question is among what was found."""

import math
from collections.abc import Collection, Sequence
from typing import Final

from commonplace.recalling.hybrid import Whole
from commonplace.recalling.modes import HYBRID_SCALE

_BEST: Final = 5  # documents whose words are looked at
_MIDDLE: Final = 1.57  # where it is as likely as not, and how fast it becomes more likely beyond: both were measured
_STEEPNESS: Final = 6.5


def confidence(wholes: Sequence[Whole], asked: Collection[str]) -> float:
    """From 0 to 1, for documents that are best first: the higher the best one scores, and the more of the question's
    words the best five have in what people say in them.

    It was fitted so that of the questions with a confidence of 0.8, about four in five find their answer, half of the
    questions having none.
    """
    best = wholes[:_BEST]
    if not best:
        return 0.0
    chunks = (one.candidate for whole in best for one in whole.chunks)
    said = {word for each in chunks if each.voice != "assistant" for word in each.by}
    covered = len(said.intersection(asked)) / len(asked) if asked else 1.0
    evidence = best[0].score * HYBRID_SCALE + covered
    return round(1 / (1 + math.exp(-_STEEPNESS * (evidence - _MIDDLE))), 4)
