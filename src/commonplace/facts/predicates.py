"""Predicates and their rules: how many values each may have at a time, and how long they last."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final
from unicodedata import normalize

if TYPE_CHECKING:
    from commonplace.facts.options import FactsOptions

SINGLE: Final = frozenset({"works_at", "lives_in", "has_role", "has_status"})
TEMPORARY: Final = frozenset({"staying_in", "visiting"})
EXPIRING: Final = frozenset({"interested_in", "completed", "acquired", "disposed_of", "traveled_to"})
EPHEMERAL: Final = EXPIRING | {"decided"}
"""Predicates that tell of something that happened; `decided` is one of them, but it lasts."""

_HUMP: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")
_GAP: Final = re.compile(r"[\W_]+")
_MOMENT: Final = "%Y-%m-%dT%H:%M:%SZ"


@dataclass(frozen=True, slots=True)
class Predicates:
    """Which predicates have which rule; any other may have many values, each for as long as nobody ends it."""

    single: frozenset[str] = SINGLE
    temporary: frozenset[str] = TEMPORARY
    expiring: frozenset[str] = EXPIRING
    expiring_days: int = 90

    def is_single(self, predicate: str) -> bool:
        """Whether a new value ends the old one."""
        return predicate_key(predicate) in self.single

    def is_temporary(self, predicate: str) -> bool:
        """Whether it holds for a while beside others, and may come again."""
        return predicate_key(predicate) in self.temporary

    def is_expiring(self, predicate: str) -> bool:
        """Whether it ends by itself."""
        return predicate_key(predicate) in self.expiring

    def default_until(self, predicate: str, begins: str) -> str:
        """The moment at which such a fact ends when nobody says so; empty where it lasts."""
        if not self.is_expiring(predicate):
            return ""
        try:
            ends = datetime.strptime(begins, _MOMENT) + timedelta(days=self.expiring_days)
        except OverflowError:
            return ""
        return f"{ends:%Y-%m-%dT%H:%M:%SZ}"


def predicates_of(options: "FactsOptions") -> Predicates:
    """The usual predicates and those that the options name; what the options say of a usual one counts instead."""
    single, temporary = keys_of(options.single_valued), keys_of(options.temporary)
    return Predicates(
        single=(SINGLE - temporary) | single,
        temporary=(TEMPORARY - single) | temporary,
        expiring=EXPIRING | keys_of(options.expiring),
        expiring_days=options.expiring_days,
    )


def predicate_key(predicate: str) -> str:
    """The predicate as it compares and is written: `works_at` for "Works at"; empty for none."""
    apart = _HUMP.sub("_", normalize("NFKC", predicate.strip()))
    return _GAP.sub("_", normalize("NFKC", apart.casefold())).strip("_")


def keys_of(predicates: Iterable[str]) -> frozenset[str]:
    """These predicates as they compare."""
    return frozenset(filter(None, map(predicate_key, predicates)))
