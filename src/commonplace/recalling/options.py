"""What a person may set about search."""

from dataclasses import dataclass

from commonplace.model import option
from commonplace.recalling.parts import Part


@dataclass(frozen=True, slots=True)
class RetrievalOptions:
    """The block `retrieval`."""

    default_k: int = option(
        8, "How many hits a search gives when it is not told.", at_least=1, once_called=("top_k",), vault_may_set=True
    )
    min_score: float = option(
        0.25, "Cosine below which a hit is dropped.", at_least=0.0, at_most=1.0, vault_may_set=True
    )
    max_k: int = option(32, "The most hits that a search may give.", at_least=1)
    recency_half_life_days: int = option(
        0,
        "Days after which what being recent adds to a hit is halved; 0 does not weigh age. "
        "Questions that name a time never do.",
        at_least=0,
    )
    without: tuple[Part, ...] = option((), "Parts of the ranking to leave out, to see what each is worth.")

    def __post_init__(self) -> None:
        if self.default_k > self.max_k:
            raise ValueError("default_k must not be larger than max_k")
