"""What a person may set about facts. None of it may be set from inside a vault."""

from dataclasses import dataclass

from commonplace.facts.predicates import keys_of
from commonplace.model import Trust, option


@dataclass(frozen=True, slots=True)
class FactsOptions:
    """The block `facts`."""

    single_valued: tuple[str, ...] = option(
        (), "Predicates of your own with one value at a time, beside `works_at`, `lives_in`, `has_role`, `has_status`."
    )
    temporary: tuple[str, ...] = option(
        (), "Predicates of your own that hold for a while beside others, beside `staying_in` and `visiting`."
    )
    expiring: tuple[str, ...] = option(
        (),
        "Predicates of your own that end by themselves, beside `interested_in`, `completed`, `acquired`, "
        "`disposed_of` and `traveled_to`.",
    )
    expiring_days: int = option(90, "After how many days such a fact ends, when it is not told.", at_least=1)
    kinds: tuple[str, ...] = option((), "Kinds of entries of your own, beside the usual ones.")
    max_knowledge_facts: int = option(20, "The most facts that are put before a prompt.", at_least=0)
    staged_trusts: tuple[Trust, ...] = option(
        ("read", "imported"), "Sources whose facts wait for a person, unless a person saves them."
    )

    def __post_init__(self) -> None:
        if both := keys_of(self.single_valued) & keys_of(self.temporary):
            raise ValueError(f"single_valued and temporary must not both name {min(both)}")
