"""Settings of search, and the parts of hybrid ranking that can be left out."""

from dataclasses import dataclass
from typing import Final, Literal, get_args

from commonplace.model import option

RankingPart = Literal[
    "sentences",
    "whole",
    "names",
    "phrases",
    "time",
    "replies",
    "opening",
    "kinship",
    "links",
    "age",
    "length",
    "halves",
    "sources",
]
RANKING_PARTS: Final[tuple[RankingPart, ...]] = get_args(RankingPart)
"""The parts of hybrid ranking besides words and sense. Each can be left out, to measure what it is worth.

- sentences  a chunk is also compared by its sentences.
- whole      the chunks of a document also count as one text, and a chunk gains from its document.
- names      a question that names a speaker is rewritten in the first person.
- phrases    a chunk that contains the question's quotations counts more.
- time       a chunk about a time that the question mentions counts more.
- replies    what an assistant said counts less, or more if the question asks about it.
- opening    the first turn of a conversation counts more.
- kinship    similar conversations count more together.
- links      linked documents count more together.
- age        of conversations or entries about the same thing, the newer count more; see `recency_half_life_days`.
- length     a note of many chunks counts less: one of them is near by chance.
- halves     of a question that asks for two things, each half is also searched for alone.
- sources    what the person corrected counts more, and a task less the older it is.
"""


@dataclass(frozen=True, slots=True)
class RetrievalOptions:
    """The block `retrieval`."""

    default_k: int = option(
        8,
        "How many hits a search returns if the caller does not say.",
        at_least=1,
        once_called=("top_k",),
        vault_may_set=True,
    )
    min_score: float = option(
        0.25, "Cosine below which a hit is dropped.", at_least=0.0, at_most=1.0, vault_may_set=True
    )
    max_k: int = option(32, "The most hits a search may return.", at_least=1)
    per_note: int = option(
        2, "How many passages of one note may be among the hits; 0 for all.", at_least=0, vault_may_set=True
    )
    recency_half_life_days: int = option(
        30,
        "Of hits that speak of the same thing, the newest gets a bonus, and one that is this many days older half of "
        "it; 0 turns it off. Questions that mention a time never use it.",
        at_least=0,
    )
    without: tuple[RankingPart, ...] = option((), "Parts of the ranking to leave out, to measure what each is worth.")

    def __post_init__(self) -> None:
        if self.default_k > self.max_k:
            raise ValueError("default_k must not be larger than max_k")
