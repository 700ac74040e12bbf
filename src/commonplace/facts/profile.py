"""The profile: which entries give a standing picture of the person and of the project at hand.

Every entry that holds, or will hold, belongs to one group. While all of them fit the budget, all are shown. Otherwise
the highest score is: importance after aging and use, and what its group adds. Constraints come first: a wrong mention
is cheap, a missed allergy is not. No group takes more than its share while another has something to say, and where a
newer entry may say otherwise, the older one waits until the rest had its turn. What programs said takes at most half
of the budget from what the person said.
"""

import re
from bisect import insort
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from operator import attrgetter
from typing import Final, Literal, NamedTuple

from commonplace.facts.claims import is_own_word
from commonplace.facts.words import FUNCTION_WORDS
from commonplace.model import Fact, FactSnapshot
from commonplace.model.text import LazyPattern

ProfileGroup = Literal[
    "Constraints",
    "The person",
    "Preferences",
    "Events and plans",
    "People, projects, things",
    "Decisions",
    "How to",
    "Ideas",
]

MAX_LINE: Final = 240
"""Characters of a statement that a line of the profile shows; the whole comes when a prompt is about it."""

_BONUS: Final[dict[ProfileGroup, float]] = {
    "Constraints": 0.6,
    "The person": 0.4,
    "Preferences": 0.3,
    "Events and plans": 0.2,
    "People, projects, things": 0.15,
    "Decisions": 0.0,
    "How to": 0.0,
    "Ideas": -0.1,
}
_THIS_PROJECT: Final = 0.3  # what an entry of this project has before one that belongs to none
_SHARE: Final = 0.4  # of the budget, that one group may take at first
_TEXTS: Final = 4096  # statements whose wording was examined: every profile examines up to 2000, mostly the same ones

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
    "decision": "Decisions",
    "crystallized": "Decisions",
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

_POSSESSIVES: Final = frozenset({"my", "our", "your", "his", "her", "their", "mein", "meine", "unser", "unsere"})
_PROFILES: Final = 8  # projects whose last ranking is kept
_FEW: Final = 32  # new lines that are put in their places one by one
_PERSONAL_KINDS: Final = frozenset({"preference", "feedback", "identity", "constraint", "insight", "idea"})


class ProfileLine(NamedTuple):
    """A line of the profile: the fact, its group, its score, and how many characters of its text are shown."""

    snapshot: FactSnapshot
    group: ProfileGroup
    score: float
    length: int


_LENGTH: Final = attrgetter("length")


def group_of(fact: Fact, *, names: Collection[str] = ()) -> ProfileGroup:
    """The group of a fact: by its words if they tell of health, diet or a ban; else by its kind, or whom it is about.

    `names` are first names of the person.
    """
    return _group(fact.text, fact.kind, fact.fact, fact.predicate, frozenset(names))


@lru_cache(maxsize=_TEXTS)
def _group(text: str, kind: str, fact: str, predicate: str, names: frozenset[str]) -> ProfileGroup:
    """The group, by all that it depends on, so that it is worked out once."""
    if kind == "constraint" or _warns(text):
        return "Constraints"
    if group := _GROUPS.get(kind):
        return group
    is_own = _is_about_person(text, kind, fact, predicate, names)
    return "The person" if is_own else "People, projects, things"


def is_constraint(fact: Fact) -> bool:
    """True if missing it may harm someone."""
    return fact.kind == "constraint" or _warns(fact.text)


@lru_cache(maxsize=_TEXTS)
def _warns(text: str) -> bool:
    return _CONSTRAINT.search(text) is not None


def is_about_person(fact: Fact, *, names: Collection[str] = ()) -> bool:
    """True if a statement is about the vault's owner, whether or not it names them as its subject.

    The kind decides, or the wording: it begins with one of the owner's names, a pronoun, or a verb without a subject.
    How things are done ("Uses Alembic", "We release on Tuesdays") is about the project, unless it names one person.
    """
    return _is_about_person(fact.text, fact.kind, fact.fact, fact.predicate, frozenset(names))


@lru_cache(maxsize=_TEXTS)
def _is_about_person(text: str, kind: str, fact: str, predicate: str, names: frozenset[str]) -> bool:
    if kind in _PERSONAL_KINDS or fact == "identity":
        return True
    first = _FIRST_WORD.match(text)
    if first and first[1].casefold() in names:
        return True
    if _ONE_PERSON.match(text):
        return True
    is_how_to = _GROUPS.get(kind) in ("Decisions", "How to")
    return not is_how_to and not predicate and _BARE_VERB.match(text) is not None


def person_names(facts: Iterable[Fact], *, user: str) -> frozenset[str]:
    """The first names of the person, folded: from the settings, and from how entries of the kind identity begin."""
    begin = (_FIRST_WORD.match(fact.text) for fact in facts if fact.kind == "identity")
    words = {*user.casefold().split()[:1], *(word[1].casefold() for word in begin if word)}
    return frozenset(words - FUNCTION_WORDS - _POSSESSIVES)


class ProfileRanking:
    """Ranks the lines of profiles. Few facts change from one to the next: what was ranked stays where it is."""

    def __init__(self) -> None:
        self._last: dict[tuple[str, frozenset[str]], list[ProfileLine]] = {}

    def rank(self, snapshots: Sequence[FactSnapshot], *, project: str, user: str) -> list[ProfileLine]:
        """The lines of a profile, the highest score first, of equal ones by id."""
        names, here = person_names((each.fact for each in snapshots), user=user), project.casefold()
        now = {each.fact.id: each for each in snapshots}
        last = self._last.get((here, names), ())
        lines = [line for line in last if now.get(line.snapshot.fact.id) is line.snapshot]
        ranked = {line.snapshot.fact.id for line in lines}
        new = [_line(each, here, names) for id, each in now.items() if id not in ranked]
        if len(new) > _FEW:
            lines = sorted([*lines, *new], key=_order)
        else:
            for line in new:
                insort(lines, line, key=_order)
        if len(self._last) >= _PROFILES:
            self._last.clear()
        self._last[here, names] = lines
        return lines

    def clear(self) -> None:
        """Forget what was ranked."""
        self._last.clear()


def _line(snapshot: FactSnapshot, here: str, names: frozenset[str]) -> ProfileLine:
    fact = snapshot.fact
    group = _group(fact.text, fact.kind, fact.fact, fact.predicate, names)
    bonus = _THIS_PROJECT if here and fact.project.casefold() == here else 0.0
    score = round(snapshot.importance + _BONUS[group] + bonus, 4)
    return ProfileLine(snapshot, group, score, min(len(fact.text), MAX_LINE))


def _order(line: ProfileLine) -> tuple[float, str]:
    return -line.score, line.snapshot.fact.id


def choose_profile(
    lines: Sequence[ProfileLine], *, budget: int, older: Collection[str] = ()
) -> tuple[list[ProfileLine], list[ProfileLine]]:
    """The ranked lines that fit into so many characters, and those that do not.

    `older` are the ids of those that give way first, because a newer one may say otherwise.
    """
    if sum(map(_LENGTH, lines)) <= budget:
        return [*lines], []
    own = sum(line.length for line in lines if is_own_word(line.snapshot.fact))
    said, shortest = max(budget // 2, budget - own), min(map(_LENGTH, lines))
    chosen: list[ProfileLine] = []
    newer = [line for line in lines if line.snapshot.fact.id not in older]
    for share, among in ((int(budget * _SHARE), newer), (budget, newer), (budget, lines)):
        chosen = _take(among, chosen, budget=_Budget(budget, share, said, budget - shortest))
    taken = {line.snapshot.fact.id for line in chosen}
    return (
        sorted(chosen, key=_order),
        [line for line in lines if line.snapshot.fact.id not in taken],
    )


class _Budget(NamedTuple):
    """Characters for all lines, for the lines of one group, and for all that programs said.

    `full` is how many must be taken until not even the shortest line fits.
    """

    whole: int
    group: int
    said: int
    full: int


def _take(lines: Sequence[ProfileLine], chosen: Sequence[ProfileLine], *, budget: _Budget) -> list[ProfileLine]:
    """The chosen lines and as many others as fit the budget."""
    taken = [*chosen]
    ids = {line.snapshot.fact.id for line in chosen}
    whole = sum(map(_LENGTH, chosen))
    said = sum(line.length for line in chosen if not is_own_word(line.snapshot.fact))
    groups = Counter[str]()
    for line in chosen:
        groups[line.group] += line.length
    for line in lines:
        if whole > budget.full:
            break
        length = line.length
        if whole + length > budget.whole or groups[line.group] + length > budget.group:
            continue
        fact = line.snapshot.fact
        said_now = 0 if is_own_word(fact) else length
        if fact.id in ids or (said_now and said + said_now > budget.said):
            continue
        taken.append(line)
        whole, said = whole + length, said + said_now
        groups[line.group] += length
    return taken
