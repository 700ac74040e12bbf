"""Which facts belong before a prompt: who the person is, always, and whatever the prompt is about.

Facts that tell of something that happened, such as what was bought, come only where the prompt is about them.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from commonplace.facts.claims import FactRules
from commonplace.facts.entities import ME
from commonplace.facts.predicates import EPHEMERAL, predicate_key
from commonplace.model import Fact, Held

_WORD: Final = re.compile(r"[\w'’&.-]+")
_LONGEST: Final = 5  # words of a name
_MOST_WORDS: Final = 400  # of a prompt that are looked at


def names_in(prompt: str, rules: FactRules) -> tuple[str, ...]:
    """Every name that may stand in the prompt, as entities compare: one word, or a few in a row."""
    words = [word.strip("'’.-") for word in _WORD.findall(prompt)[:_MOST_WORDS]]
    runs = (
        " ".join(words[start : start + length])
        for length in range(1, _LONGEST + 1)
        for start in range(len(words) - length + 1)
    )
    return tuple(dict.fromkeys(key for run in runs if (key := rules.entity(run)) and key != ME))


class Relevant(NamedTuple):
    """A fact that belongs before a prompt; `is_named` says that the prompt is about it, not the person."""

    held: Held
    is_named: bool


def relevant(facts: Iterable[Held], *, names: Sequence[str], rules: FactRules, most: int) -> tuple[Relevant, ...]:
    """The facts that belong before a prompt with these names, at most so many.

    What the prompt is about goes first, then what is known of the person; each by its importance.
    """
    asked = frozenset(names)
    about = [held for held in facts if held.state == "current"]
    named = [held for held in about if _is_named(held.fact, asked, rules)]
    known = {held.fact.id for held in named}
    own = [held for held in about if held.fact.id not in known and _is_identity(held.fact, rules)]
    told = [Relevant(held, is_named=True) for held in sorted(named, key=_first)]
    return (*told, *(Relevant(held, is_named=False) for held in sorted(own, key=_first)))[:most]


def _is_named(fact: Fact, names: frozenset[str], rules: FactRules) -> bool:
    return rules.entity(fact.subject) in names or rules.entity(fact.object) in names


def _is_identity(fact: Fact, rules: FactRules) -> bool:
    """Whether it is about the person, and no passing thing."""
    return rules.entity(fact.subject) == ME and predicate_key(fact.predicate) not in EPHEMERAL


def _first(held: Held) -> tuple[float, str]:
    return -held.importance, held.fact.id
