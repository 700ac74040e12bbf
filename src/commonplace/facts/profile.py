"""The profile: which entries give a standing picture of the person and of the project at hand.

Every entry that holds, or will hold, belongs to one group. While all of them fit the budget, all are shown. Otherwise
the highest score is: importance after aging and use, and what its group adds. Constraints come first: a wrong mention
is cheap, a missed allergy is not. No group takes more than its share while another has something to say, and an entry
that repeats a shown one in other words waits until the rest had its turn. What programs said takes at most half of the
budget from what the person said.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from commonplace.facts.claims import is_own_word
from commonplace.facts.statement_words import FUNCTION_WORDS, POSSESSIVES, claim_stems
from commonplace.model import Fact, FactSnapshot
from commonplace.model.text import LazyPattern

ProfileGroup = Literal[
    "Constraints", "The person", "Preferences", "Events and plans", "People, projects, things", "How to", "Ideas"
]

MAX_LINE: Final = 240
"""Characters of a statement that a line of the profile shows; the whole comes when a prompt is about it."""

_BONUS: Final[dict[ProfileGroup, float]] = {
    "Constraints": 0.6,
    "The person": 0.4,
    "Preferences": 0.3,
    "Events and plans": 0.2,
    "People, projects, things": 0.15,
    "How to": 0.0,
    "Ideas": -0.1,
}
_THIS_PROJECT: Final = 0.3  # what an entry of this project has before one that belongs to none
_SHARE: Final = 0.4  # of the budget, that one group may take at first
_ALL, _SAID = "all", "said by programs"  # limits of the budget besides those of the groups
_REPEATS: Final = 0.6  # share of common claim words from which two lines say nearly the same

_GROUPS: Final[dict[str, ProfileGroup]] = {
    "constraint": "Constraints",
    "identity": "The person",
    "preference": "Preferences",
    "feedback": "Preferences",
    "insight": "Preferences",
    "event": "Events and plans",
    "workflow": "How to",
    "procedural": "How to",
    "fix": "How to",
    "skill-pointer": "How to",
    "domain-reference": "How to",
    "decision": "How to",
    "crystallized": "How to",
    "idea": "Ideas",
}

_CONSTRAINT: Final = LazyPattern(
    r"""\b(?:allerg\w*|intoleran\w*|coeliac|celiac|diabet\w*|asthma\w*|epilep\w*|migraines?|pregnan\w*|anaphyla\w*
    | (?:colou?r-?)?blind|deaf|dyslex\w*|wheelchair|injur\w*|chronic|pacemaker|medication|prescri\w*
    | vegan|vegetarian|halal|kosher|teetotal\w*
    | (?:must|may|can|should|shall|is|are|do|does)\ ?(?:n't|not|never)\ (?:be\ )?
      (?:eat|drink|leave|sign|touch|take|lift|fly|drive|share|use|run)
    | bad\ (?:\w+\ )?(?:knee|back|hip|shoulder|eye|heart)
    | no\ (?:meat|fish|nuts|gluten|alcohol|dairy|pork|running))\b""",
    re.IGNORECASE | re.VERBOSE,
)
"""Words about health, diet and access, and bans: what harms if it is missed."""

_FIRST_WORD: Final = LazyPattern(r"\W*([A-Z]\w+)")
_ONE_PERSON: Final = LazyPattern(r"\A\W*(?:I|I'm|I've|My|The user|User|He|She|They|His|Her|Their)\b")
_BARE_VERB: Final = LazyPattern(
    r"""\A\W*(?:we|our|(?:(?:always|never|usually|often|still|no\ longer|also)\ )?
    (?:is|has|was|got|would|used|doesn't|don't|can't|won't|bad|allergic|vegan|vegetarian|born|married
    |[a-z]+s\b(?!\s+(?:are|is|was|were|have|has|must|may|can|should|will|do|use|run|come|go|need|live|fail|take|store
      |cache|expect|require|return|start|work|build|happen|belong|contain)s?\b)))\b""",
    re.IGNORECASE | re.VERBOSE,
)
"""A verb without a subject, `Lives in Graz`, but no plural or name before its verb, `Tests use pytest`; or we."""

_PERSONAL_KINDS: Final = frozenset({"preference", "feedback", "identity", "constraint", "insight", "idea"})


@dataclass(frozen=True, slots=True)
class ProfileLine:
    """A line of the profile: the fact, its group and its score."""

    snapshot: FactSnapshot
    group: ProfileGroup
    score: float


def group_of(fact: Fact, *, names: Collection[str] = ()) -> ProfileGroup:
    """The group of a fact: by its words if they tell of health, diet or a ban; else by its kind, or whom it is about.

    `names` are first names of the person.
    """
    if is_constraint(fact):
        return "Constraints"
    if group := _GROUPS.get(fact.kind):
        return group
    return "The person" if is_about_person(fact, names=names) else "People, projects, things"


def is_constraint(fact: Fact) -> bool:
    """True if missing it may harm someone."""
    return fact.kind == "constraint" or _CONSTRAINT.search(fact.text) is not None


def is_about_person(fact: Fact, *, names: Collection[str] = ()) -> bool:
    """True if a statement is about the vault's owner, whether or not it names them as its subject.

    The kind decides, or the wording: it begins with one of the owner's names, a pronoun, or a verb without a subject.
    How things are done ("Uses Alembic", "We release on Tuesdays") is about the project, unless it names one person.
    """
    if fact.kind in _PERSONAL_KINDS or fact.fact == "identity":
        return True
    first = _FIRST_WORD.match(fact.text)
    if first and first[1].casefold() in names:
        return True
    if _ONE_PERSON.match(fact.text):
        return True
    return _GROUPS.get(fact.kind) != "How to" and not fact.predicate and _BARE_VERB.match(fact.text) is not None


def person_names(facts: Iterable[Fact], *, user: str) -> frozenset[str]:
    """The first names of the person, folded: from the settings, and from how entries of the kind identity begin."""
    begin = (_FIRST_WORD.match(fact.text) for fact in facts if fact.kind == "identity")
    words = {*user.casefold().split()[:1], *(word[1].casefold() for word in begin if word)}
    return frozenset(words - FUNCTION_WORDS - POSSESSIVES)


def rank_profile(snapshots: Sequence[FactSnapshot], *, project: str, user: str) -> list[ProfileLine]:
    """The lines of a profile, the highest score first."""
    names = person_names((each.fact for each in snapshots), user=user)
    grouped = ((each, group_of(each.fact, names=names)) for each in snapshots)
    lines = [ProfileLine(each, group, _score(each, group, project=project)) for each, group in grouped]
    return sorted(lines, key=lambda line: (-line.score, line.snapshot.fact.id))


def choose_profile(lines: Sequence[ProfileLine], *, budget: int) -> tuple[list[ProfileLine], list[ProfileLine]]:
    """The ranked lines that fit into so many characters, and those that do not."""
    if sum(_length(line) for line in lines) <= budget:
        return [*lines], []
    own = sum(_length(line) for line in lines if is_own_word(line.snapshot.fact))
    said = max(budget // 2, budget - own)
    chosen: list[ProfileLine] = []
    for share, repeats in ((int(budget * _SHARE), False), (budget, False), (budget, True)):
        chosen = _take(lines, chosen, budget=_Budget(budget, share, said), repeats=repeats)
    taken = {line.snapshot.fact.id for line in chosen}
    return (
        sorted(chosen, key=lambda line: (-line.score, line.snapshot.fact.id)),
        [line for line in lines if line.snapshot.fact.id not in taken],
    )


class _Budget(NamedTuple):
    """Characters for all lines, for the lines of one group, and for all that programs said."""

    whole: int
    group: int
    said: int


def _take(
    lines: Sequence[ProfileLine], chosen: Sequence[ProfileLine], *, budget: _Budget, repeats: bool
) -> list[ProfileLine]:
    """The chosen lines and as many others as fit the budget; without `repeats` only those that say something new."""
    taken, stems = [*chosen], [_stems(line) for line in chosen]
    ids = {line.snapshot.fact.id for line in chosen}
    limits = {_ALL: budget.whole, _SAID: budget.said}
    used = Counter[str]()
    for line in chosen:
        used.update(_lengths(line))
    for line in lines:
        wanted = _lengths(line)
        if line.snapshot.fact.id in ids or any(
            used[key] + n > limits.get(key, budget.group) for key, n in wanted.items()
        ):
            continue
        own = _stems(line)
        if not repeats and any(_overlap(own, other) >= _REPEATS for other in stems):
            continue
        taken.append(line)
        stems.append(own)
        used.update(wanted)
    return taken


def _lengths(line: ProfileLine) -> dict[str, int]:
    """The characters of a line, for each of the limits that it counts for."""
    said = () if is_own_word(line.snapshot.fact) else (_SAID,)
    return dict.fromkeys((_ALL, line.group, *said), _length(line))


def _score(snapshot: FactSnapshot, group: ProfileGroup, *, project: str) -> float:
    is_here = bool(project) and snapshot.fact.project.casefold() == project.casefold()
    return round(snapshot.importance + _BONUS[group] + (_THIS_PROJECT if is_here else 0.0), 4)


def _length(line: ProfileLine) -> int:
    return min(len(line.snapshot.fact.text), MAX_LINE)


def _stems(line: ProfileLine) -> frozenset[str]:
    return frozenset(claim_stems(line.snapshot.fact.text[:MAX_LINE]))


def _overlap(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / len(one | other) if one and other else 0.0
