"""Settings of facts. None of them may be set from inside a vault."""

from dataclasses import dataclass

from commonplace.facts.triples import predicate_keys
from commonplace.model import Trust, option


@dataclass(frozen=True, slots=True)
class FactsOptions:
    """The settings block `facts`."""

    single_valued: tuple[str, ...] = option(
        (),
        "Your own predicates with one value at a time, besides `name`, `works_at`, `lives_in`, `has_role` and "
        "`has_status`.",
    )
    temporary: tuple[str, ...] = option(
        (), "Your own predicates that hold for a while alongside others, besides `staying_in` and `visiting`."
    )
    expiring: tuple[str, ...] = option(
        (),
        "Your own predicates that end by themselves, besides `interested_in`, `completed`, `acquired`, "
        "`disposed_of` and `traveled_to`.",
    )
    expiring_days: int = option(90, "Days after which such a fact ends, if no end is stated.", at_least=1)
    kinds: tuple[str, ...] = option((), "Your own kinds of entries, besides the built-in ones.")
    max_knowledge_facts: int = option(20, "The most facts shown before a prompt.", at_least=0)
    staged_trusts: tuple[Trust, ...] = option(
        ("read", "imported"), "Sources whose facts wait for the person's approval, unless a person saves them."
    )

    def __post_init__(self) -> None:
        if both := predicate_keys(self.single_valued) & predicate_keys(self.temporary):
            raise ValueError(f"single_valued and temporary must not both name {min(both)}")
