"""What becomes of entries with time: which are loaded always, which go to the archive. Pure decisions.

Heat is the number of days on which prompts wanted an entry, or on which it was confirmed. Nothing here changes an
entry: the jobs in `upkeep` do, or propose it to the person.
"""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final, Literal, NamedTuple

from commonplace.facts.claims import is_own_word
from commonplace.facts.profile import is_constraint
from commonplace.model import Fact, FactSnapshot

LONGEST_LOADED: Final = 600
"""Characters of an entry that heat may load before every prompt: each one costs space in every session."""

HeatAction = Literal["promote", "propose", "demote"]
ArchiveReason = Literal["ended", "superseded", "covered", "cold"]

_LASTING: Final = frozenset({"identity", "constraint"})
_FLEETING: Final = frozenset({"event", "idea"})
_INSTRUCTION: Final = re.compile(
    r"""\b(?: ignore | disregard | forget | override ) \b [^.\n]{0,40} \b
          (?: previous | above | earlier | prior | all | any | other | system ) \b [^.\n]{0,30} \b
          (?: instruction | prompt | rule | message | direction | guideline | context )s? \b
      | \b (?: system | developer ) \s+ (?: prompt | message ) \b
      | \b (?: you \s are \s now | act \s as | pretend \s (?: to \s be | you ) | from \s now \s on \s you ) \b
      | \b (?: reveal | exfiltrate | leak | send | post | upload | curl ) \b [^.\n]{0,40} \b
          (?: secret | password | token | credential | key | system \s prompt | https? )s? \b
      | \b (?: do \s not | don['’]?t | never ) \s (?: tell | mention | inform | ask ) \b [^.\n]{0,20} \b
          (?: user | person | owner | human )s? \b
      | < /? (?: system | assistant | tool | instructions? | memory | context ) \b
      | \b (?: always \s approve | approve \s (?: every | all | this | itself ) ) \b""",
    re.VERBOSE | re.IGNORECASE,
)


def looks_injected(text: str) -> bool:
    """True if the text reads like an instruction to a model instead of a statement: no job gives it more weight."""
    return _INSTRUCTION.search(text) is not None


class UsedFact(NamedTuple):
    """An entry at a moment, its days of use within the window of promotion, and its last day of use, or empty.

    `is_pinned` says that the person fixed how it is loaded.
    """

    snapshot: FactSnapshot
    days: int
    last: str = ""
    is_pinned: bool = False

    @property
    def fact(self) -> Fact:
        """The entry itself."""
        return self.snapshot.fact


@dataclass(frozen=True, slots=True, kw_only=True)
class HeatLimits:
    """When entries are loaded always, and when no longer.

    `promote_days` of use within `window_days` heat an entry, `cold_days` without any use cool it: between the two it
    stays as it is. At most `most` entries are loaded always.
    """

    window_days: int
    promote_days: int
    cold_days: int
    most: int


@dataclass(frozen=True, slots=True)
class HeatChange:
    """One change of what is always loaded, and why."""

    action: HeatAction
    fact: Fact
    reason: str


def heat_changes(facts: Iterable[UsedFact], *, now: str, limits: HeatLimits) -> tuple[HeatChange, ...]:
    """What should be loaded always, and what no longer; the coldest and the hottest first.

    What is not the person's own word is only proposed. What is demoted makes room at once.
    """
    every = sorted(facts, key=lambda each: each.fact.id)
    loaded = [each for each in every if each.fact.always_load]
    cold = sorted((each for each in loaded if _is_cold(each, now, limits)), key=lambda each: (each.last, each.fact.id))
    hot = [each for each in every if not each.fact.always_load and _is_hot(each, now, limits)]
    hot.sort(key=lambda each: (-heat_of(each, now, limits), -each.snapshot.importance, each.fact.id))
    room = max(0, limits.most - (len(loaded) - len(cold)))
    return (*(_demotion(each, limits) for each in cold), *(_promotion(each, now, limits) for each in hot[:room]))


def heat_of(used: UsedFact, now: str, limits: HeatLimits) -> int:
    """Days of use or of confirmation within the window, whichever are more: both may fall on one day."""
    since = days_before(now, limits.window_days)
    return max(used.days, sum(since <= day <= now[:10] for day in used.fact.confirmed))


def _is_hot(used: UsedFact, now: str, limits: HeatLimits) -> bool:
    fact, snapshot = used.fact, used.snapshot
    may_load = snapshot.state == "current" and not (fact.place or fact.sensitive or used.is_pinned or snapshot.until)
    is_fit = fact.fact not in _FLEETING and fact.kind not in _FLEETING and len(fact.text) <= LONGEST_LOADED
    return may_load and is_fit and not looks_injected(fact.text) and heat_of(used, now, limits) >= limits.promote_days


def _is_cold(used: UsedFact, now: str, limits: HeatLimits) -> bool:
    """True if nothing wanted the entry for long. What may harm someone if it is missed never cools."""
    fact, since = used.fact, days_before(now, limits.cold_days)
    if used.is_pinned or fact.sensitive or fact.place == "staging" or is_lasting(fact):
        return False
    return max(used.last, fact.updated[:10], *fact.confirmed, "") < since


def _promotion(used: UsedFact, now: str, limits: HeatLimits) -> HeatChange:
    reason = f"it was used on {heat_of(used, now, limits)} of the last {limits.window_days} days"
    return HeatChange("promote" if is_own_word(used.fact) else "propose", used.fact, reason)


def _demotion(used: UsedFact, limits: HeatLimits) -> HeatChange:
    since = f"since {used.last}" if used.last else f"for {limits.cold_days} days or more"
    return HeatChange("demote", used.fact, f"no prompt has needed it {since}")


def is_lasting(fact: Fact) -> bool:
    """True for who the person is and for what may harm someone if it is missed: age never puts it away."""
    return fact.kind in _LASTING or fact.fact == "identity" or is_constraint(fact)


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchiveLimits:
    """When entries go to the archive, in days: after their end, after a consolidation, and when nothing uses them.

    `relevance` is the aged importance below which an entry may be cold.
    """

    ended_days: int
    covered_days: int
    cold_days: int
    relevance: float


def archive_reason(
    used: UsedFact, *, now: str, limits: ArchiveLimits, successors: Collection[str] = (), is_covered: bool = False
) -> ArchiveReason | None:
    """Why the entry goes to the archive on its own; None if it stays.

    `successors` are the ids of entries that hold now: only one of them may take the place of another. `is_covered` says
    that a consolidated entry which holds now contains it. What the person said goes only when it is over.
    """
    fact, snapshot = used.fact, used.snapshot
    if used.is_pinned or fact.always_load or fact.sensitive or fact.status != "active" or fact.place in _FIXED_PLACES:
        return None
    if snapshot.state == "ended" and snapshot.until[:10] < days_before(now, limits.ended_days):
        if not snapshot.ended_by:
            return "ended"
        return "superseded" if snapshot.ended_by in successors else None
    if snapshot.state != "current" or is_own_word(fact) or is_lasting(fact):
        return None
    freshest = max(used.last, fact.updated[:10], fact.recorded[:10], *fact.confirmed, "")
    if is_covered and freshest < days_before(now, limits.covered_days):
        return "covered"
    is_faint = snapshot.importance < limits.relevance
    return "cold" if is_faint and freshest < days_before(now, limits.cold_days) else None


_FIXED_PLACES: Final = frozenset({"archive", "staging"})


def days_before(now: str, days: int) -> str:
    """The day that lies so many days before this moment."""
    return (date.fromisoformat(now[:10]) - timedelta(days=days)).isoformat()


_OVER: Final = frozenset({"archived", "closed", "done", "completed", "finished", "cancelled", "canceled", "superseded"})


def is_over(status: object) -> bool:
    """True if a note's `status` says that what it is about is over."""
    return isinstance(status, str) and status.strip().casefold() in _OVER


def note_archive(path: str, folder: str, *, below: int) -> str:
    """Where a note goes when it is archived: `folder` directly below the first `below` folders of its path."""
    parts = path.split("/")
    top = min(below, len(parts) - 1)
    return "/".join((*parts[:top], folder, *parts[top:]))


def best_first(facts: Sequence[Fact]) -> list[Fact]:
    """These facts, the best witness first: the person's word, then what rules quote, then what was confirmed most."""
    return sorted(
        facts,
        key=lambda fact: (
            not is_own_word(fact),
            not fact.origins.is_quoted,
            -len(fact.confirmed),
            fact.begins,
            fact.id,
        ),
    )
