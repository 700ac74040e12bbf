"""Remembering: the one road into memory. A candidate -> the gate -> what is known -> an entry, or a confirmation.

Everything goes through `flows/write`, one commit for each verb, and the writer reads its own writes. Nothing is ever
overwritten: what is said anew becomes a new entry, and the old one goes to the archive with a link both ways.
"""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from commonplace.errors import Conflict, UsageError
from commonplace.facts.integrate import integrate
from commonplace.facts.validity import holds
from commonplace.flows.admit import admit, completed, refuse_secrets
from commonplace.flows.amend import confirm_fact, standing_entry
from commonplace.flows.entering import Entering
from commonplace.flows.keeper import Keeper
from commonplace.flows.neighbours import bring_up_to_date, surroundings
from commonplace.model import Action, Candidate, Fact, Known, Remembered, Verdict

if TYPE_CHECKING:
    from commonplace.policy.gate import Gated

_ATTEMPTS: Final = 5  # looks at what is known, while notes change and a model is asked


def save(candidate: Candidate, keeper: Keeper, *, dry_run: bool = False) -> Remembered:
    """Keep what is said: a new entry, or a confirmation of what is known already. Never overwrites.

    A model is asked, if there is one, where rules cannot tell; nobody waits for it. Raises Refused for a secret and
    for what is worth nothing, Conflict, UsageError, VaultUnavailable and IndexDamaged.
    """
    candidate = completed(candidate, keeper)
    gated = admit(candidate, keeper)
    asked: dict[str, Action] = {}
    for _ in range(_ATTEMPTS):
        with keeper.turn():
            met = _meet(candidate, keeper.at_this_moment(), asked)
            if met.is_up_to_date and not met.wants_judge:
                return _settled(met, gated, dry_run=dry_run)
        if met.wants_judge and met.old and keeper.judge:
            asked[met.old.id] = keeper.judge(met.candidate, met.old)
    raise Conflict("what is known changes all the time", hint="Try again in a moment.")


def evolve(name: str, candidate: Candidate, keeper: Keeper, *, reason: str, dry_run: bool = False) -> Remembered:
    """Replace an entry by a new version of it; the old one goes to the archive, and each names the other.

    Fields of the candidate that are empty are taken over from the entry; so is its window, where it does not hold now:
    then it is corrected. Raises as `save` does, NotFound, and Conflict for an entry that was replaced or forgotten
    already, or whose new words another entry has.
    """
    if not reason.strip():
        raise UsageError("an entry is not replaced without a reason", hint="Say why: --reason 'moved to Berlin'.")
    refuse_secrets(reason)
    with keeper.turn():
        here = keeper.at_this_moment()
        old = standing_entry(name, here)
        heir = completed(_heir(candidate, old, here), here)
        gated = admit(heir, here)
        if _says_nothing_new(heir, old.fact):
            return _confirmed(old.fact, "it says this already", heir, gated, here, dry_run=dry_run)
        met = _meet(heir, here, {}, instead_of=old.fact)
        if met.verdict.action == "confirm" and met.old:
            raise Conflict(
                f"the entry {met.old.id} says this already", path=met.old.path, hint="Forget the old one instead."
            )
        contradicts = met.verdict.action == "contradict"
        entering = Entering(
            met.candidate,
            Verdict("supersede", old.fact.id, reason.strip()),
            old.fact,
            here,
            gated,
            holds=holds(old, here.now),
            contradicts=contradicts,
        )
        return entering.carry_out(dry_run=dry_run)


@dataclass(frozen=True, slots=True)
class _Met:
    """A candidate that has met what is known, at one moment."""

    candidate: Candidate
    verdict: Verdict
    old: Fact | None
    waiting: Fact | None
    keeper: Keeper
    is_up_to_date: bool
    was_forgotten: bool

    @property
    def wants_judge(self) -> bool:
        """Whether a model is to be asked before anything is done."""
        return self.verdict.is_grey and self.keeper.judge is not None


def _meet(candidate: Candidate, keeper: Keeper, asked: dict[str, Action], *, instead_of: Fact | None = None) -> _Met:
    """What becomes of the candidate, by the rules, or by what a model has said of the fact that it is about."""
    around = surroundings(candidate, keeper)
    near = [each for each in around.near if not instead_of or each.known.fact.id != instead_of.id]
    verdict = integrate(candidate, near, rules=keeper.rules, now=keeper.now)
    old = next((each.known.fact for each in near if each.known.fact.id == verdict.target), None)
    is_up_to_date = old is None or bring_up_to_date(old, keeper.shelf())
    if verdict.is_grey and verdict.target in asked:
        action = asked[verdict.target]
        target = "" if action == "insert" else verdict.target
        verdict = Verdict(action, target, f"a model was asked: {action}", verdict.until)
    return _Met(candidate, verdict, old, around.waiting, keeper, is_up_to_date, around.was_forgotten)


def _settled(met: _Met, gated: "Gated", *, dry_run: bool) -> Remembered:
    verdict, old, keeper = met.verdict, met.old, met.keeper
    if verdict.action == "confirm" and old:
        return _confirmed(old, verdict.reason, met.candidate, gated, keeper, dry_run=dry_run)
    about = old if verdict.target else None
    entering = Entering(met.candidate, verdict, about, keeper, gated, was_forgotten=met.was_forgotten)
    if met.waiting and entering.staged_because:
        return Remembered("confirm", met.waiting, "it waits already", old=met.waiting.id, staged=True, changed=False)
    return entering.carry_out(dry_run=dry_run)


def _confirmed(
    old: Fact, reason: str, candidate: Candidate, gated: "Gated", keeper: Keeper, *, dry_run: bool
) -> Remembered:
    """The known fact, confirmed; one that stands in a line of a note, or is said by a doubtful source, is only told."""
    if dry_run or old.origin == "line" or gated.verdict == "stage":
        return Remembered("confirm", old, reason, old=old.id, changed=False)
    return confirm_fact(old, keeper, reason=reason, bonds=candidate.bonds)


def _heir(candidate: Candidate, old: Known, keeper: Keeper) -> Candidate:
    """The candidate with what it does not say taken over from the fact that it replaces."""
    fact, now = old.fact, keeper.now
    text, object_ = candidate.text, candidate.object
    if fact.predicate and not object_:  # of a triple, the words that are given are its new object
        text, object_ = "", candidate.text.strip()
    lasting = fact.valid_until if fact.valid_until > now else ""
    begins, until = ("", lasting) if holds(old, now) else (fact.begins, fact.valid_until)
    return replace(
        candidate,
        text=text,
        kind=candidate.kind or fact.kind,
        fact=candidate.fact or fact.fact,
        subject=fact.subject,
        predicate=fact.predicate,
        object=object_,
        topics=candidate.topics or fact.topics,
        importance=fact.importance if candidate.importance is None else candidate.importance,
        valid_from=candidate.valid_from or begins,
        valid_until=candidate.valid_until or until,
        always_load=candidate.always_load or fact.always_load,
        bonds=candidate.bonds or fact.bonds,
    )


def _says_nothing_new(heir: Candidate, old: Fact) -> bool:
    said = (heir.text, heir.object, heir.topics, heir.importance, heir.valid_until)
    is_same = said == (old.text, old.object, old.topics, old.importance, old.valid_until)
    return is_same and heir.valid_from in ("", old.begins)
