"""Decide what becomes of a candidate fact, given the facts already known: a pure decision with a reason in words.

The predicate decides before similarity does. No decision changes a text in place: a candidate either confirms a known
fact or becomes a new version. Reasons never quote a fact, because they outlive it when it is erased.

A triple is compared with the known facts that have its subject and predicate, a plain statement with those that are
similar in meaning: `similarity` says how, by words of change, by what the statements are about, and by the cosine of
their vectors.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from commonplace.facts.claims import FactRules
from commonplace.facts.similarity import Similarity, similarity, word_share
from commonplace.facts.statement_parts import parts_of
from commonplace.facts.statement_words import jaccard
from commonplace.facts.triples import ME, predicate_key
from commonplace.facts.validity import holds, until_of
from commonplace.model import Action, Bond, Candidate, Fact, SimilarFact, Verdict
from commonplace.model.text import LazyPattern

OVERLAP: Final = 0.6
"""The share of common words from which two objects may be the same value."""

WORDS_ALONE: Final = 0.34
"""The share of common words from which statements are compared that have no cosine, because there is no encoder."""

_GONE: Final = frozenset({"archived", "deleted"})
"""Statuses of facts that no longer count, for any time."""

_ACTIONS: Final[dict[Bond, tuple[Action, str]]] = {
    "update": ("supersede", "It is said to replace this fact."),
    "extend": ("extend", "It is said to add to this fact."),
    "derive": ("derive", "It is said to follow from this fact."),
    "contradict": ("contradict", "It is said to contradict this fact."),
}

_ONCE: Final = LazyPattern(r"(?i)(?:the user |they )?(?:used to|formerly|previously)\b")
_NAME: Final = LazyPattern(r"(?<!^)\b(?:[A-ZÄÖÜÅ][\w-]+|\d[\w.:]*)")
_BESIDE: Final = frozenset({"extend", "derive"})
_AGAINST: Final = frozenset({"supersede", "contradict"})

_FAMILIES: Final = (
    frozenset({"fact", "domain-reference", "insight", "crystallized", "identity", "decision", "event"}),
    frozenset({"preference", "feedback", "workflow", "procedural", "fix"}),
)
"""Kinds whose entries may say the same thing; every other kind is a family of its own."""

_PRECEDENCE: Final[tuple[Similarity, ...]] = ("same", "changed", "more", "near")
"""Of several similar facts, the one whose similarity comes first here decides."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """A candidate, the moment at which it begins, and the known facts it is compared with.

    `current` are the facts that hold at that moment, `later` those that begin after it. Both include facts that were
    replaced since, for the time in which they held.
    """

    candidate: Candidate
    begins: str
    current: tuple[SimilarFact, ...]
    later: tuple[SimilarFact, ...]
    rules: FactRules

    @property
    def is_single(self) -> bool:
        """True if the candidate's predicate has one value at a time."""
        return self.rules.predicates.is_single(self.candidate.predicate)

    @property
    def may_recur(self) -> bool:
        """True if the same thing may happen twice: temporary predicates and events."""
        if self.is_single:
            return False
        return self.candidate.fact == "event" or self.rules.predicates.is_temporary(self.candidate.predicate)

    @property
    def until(self) -> str:
        """When a known later fact replaces the candidate; empty if none does, or if the candidate ends before."""
        replaces = self.is_rival if self.is_single else self.says_the_same
        following = [each.fact.begins for each in self.later if replaces(each)]
        ends = self.candidate.valid_until
        return "" if not following or (ends and ends <= following[0]) else following[0]

    def is_rival(self, similar: SimilarFact) -> bool:
        """True if the known fact has the candidate's subject and predicate."""
        candidate, fact = self.candidate, similar.fact
        if predicate_key(candidate.predicate) != predicate_key(fact.predicate):
            return False
        return self.rules.entity(candidate.subject) == self.rules.entity(fact.subject)

    def says_the_same(self, similar: SimilarFact) -> bool:
        """True if the known fact has the same triple or, for statements, the same words about the same subject."""
        fact, candidate = similar.fact, self.candidate
        if predicate_key(fact.predicate) != predicate_key(candidate.predicate):
            return False
        return self._fingerprint(fact) == self._fingerprint(candidate) and not self.has_other_subject(fact)

    def has_other_subject(self, fact: Fact) -> bool:
        """True if both name a subject, and not the same one."""
        subject, other = self.rules.entity(self.candidate.subject), self.rules.entity(fact.subject)
        return bool(subject and other) and subject != other

    def adds_no_dates(self, similar: SimilarFact) -> bool:
        """True if the candidate states no start or end that the known fact lacks."""
        candidate = self.candidate
        if self.may_recur and candidate.valid_from and candidate.valid_from != similar.fact.begins:
            return False
        if not candidate.valid_until:
            return True
        default = self.rules.predicates.default_until(candidate.predicate, self.begins)
        return (self.until or candidate.valid_until) in (default, similar.fact.valid_until)

    def _fingerprint(self, statement: Fact | Candidate) -> str:
        return self.rules.fingerprint(
            subject=statement.subject, predicate=statement.predicate, object=statement.object, text=statement.text
        )


class _Match(NamedTuple):
    similar: SimilarFact
    similarity: Similarity
    nearness: float


def integrate(candidate: Candidate, similar: Sequence[SimilarFact], *, rules: FactRules, now: str) -> Verdict:
    """What to do with the candidate.

    `similar` are the known facts that say the same, that have its subject and predicate, or that are similar in
    meaning; of any status and in any order. The target of an `insert` keeps its status and ends when the candidate
    begins: it was replaced already, or holds until a moment in the future.
    """
    comparison = compare(candidate, similar, rules=rules, now=now)
    verdict = _verdict(comparison)
    if verdict.action == "confirm":
        return verdict
    if verdict.action == "supersede" and comparison.begins > now:
        verdict = replace(verdict, action="insert", reason="The known value is valid until this begins.")
    return replace(verdict, until=comparison.until)


def compare(candidate: Candidate, similar: Sequence[SimilarFact], *, rules: FactRules, now: str) -> Comparison:
    """The candidate with the known facts that count for it, in an order that does not depend on the order given."""
    begins = candidate.valid_from or now
    valid = sorted(filter(_counts, similar), key=lambda each: (each.fact.begins, each.fact.id))
    return Comparison(
        candidate=candidate,
        begins=begins,
        current=tuple(each for each in valid if holds(each.record, begins)),
        later=tuple(each for each in valid if each.fact.begins > begins and _lasts(each)),
        rules=rules,
    )


def _verdict(comparison: Comparison) -> Verdict:
    for similar in reversed(comparison.current):
        if comparison.says_the_same(similar):
            return _integrate_repeat(comparison, similar)
    is_triple = bool(predicate_key(comparison.candidate.predicate))
    verdict = _integrate_triple(comparison) if is_triple else _integrate_statement(comparison)
    return _apply_stated_bond(comparison, verdict)


def _integrate_repeat(comparison: Comparison, similar: SimilarFact) -> Verdict:
    """The verdict on a candidate whose triple or words are known and hold when it begins."""
    target = similar.fact.id
    if comparison.adds_no_dates(similar):
        return Verdict("confirm", target, "This is already known.")
    if comparison.may_recur:
        return Verdict("insert", "", "It happened again.")
    if _is_replaceable(similar):
        return Verdict("supersede", target, "It adds the end of what is known.")
    return Verdict("confirm", target, "This is already known, and its end is not known.")


def _apply_stated_bond(comparison: Comparison, verdict: Verdict) -> Verdict:
    """The verdict, or the bond that the caller stated; a single-valued predicate still ends its old value.

    What replaces or contradicts a known statement does so even if the caller says that it only adds to one.
    """
    stated = comparison.candidate.bonds
    if not stated or (comparison.is_single and verdict.target):
        return verdict
    bond, target = stated[0]
    action, reason = _ACTIONS[bond]
    if action in _BESIDE and verdict.action in _AGAINST:
        return verdict
    return replace(verdict, action=action, target=target, reason=reason, is_grey=False)


def _integrate_triple(comparison: Comparison) -> Verdict:
    """The verdict on a triple that is not known yet, by the rule of its predicate."""
    return _integrate_single(comparison) if comparison.is_single else _integrate_many(comparison)


def _integrate_single(comparison: Comparison) -> Verdict:
    """One value at a time: the new value ends the one that holds when it begins."""
    one = f"`{predicate_key(comparison.candidate.predicate)}` has one value at a time"
    rivals = [similar for similar in comparison.current if comparison.is_rival(similar)]
    for similar in reversed(rivals):
        if _is_replaceable(similar):
            return Verdict("supersede", similar.fact.id, f"{one}, and this one begins later.")
        if not _is_active(similar):
            return Verdict("insert", similar.fact.id, f"{one}, and this one falls between two of them.")
    if rivals:
        return Verdict("insert", rivals[-1].fact.id, f"{one}, and this one ends what a note says.")
    if comparison.until:
        return Verdict("insert", "", f"{one}, and a later one is known.")
    return Verdict("insert", "", "Nothing similar is known for that time.")


def _integrate_many(comparison: Comparison) -> Verdict:
    """Several values at a time: only an object in nearly the same words is the same value."""
    rivals = [similar for similar in comparison.current if _is_active(similar) and comparison.is_rival(similar)]
    for similar in sorted(rivals, key=lambda similar: -_overlap(comparison, similar)):
        if _overlap(comparison, similar) < OVERLAP or not comparison.adds_no_dates(similar):
            continue
        result = similarity(comparison.candidate.object, similar.fact.object, cosine=None)
        if result == "same":
            return Verdict("confirm", similar.fact.id, "This is already known in other words.")
        if result == "more" and _is_replaceable(similar):
            return Verdict("supersede", similar.fact.id, "It says the same more precisely.")
    if rivals:
        return Verdict("insert", "", "It can be true alongside what is known.")
    return Verdict("insert", "", "Nothing similar is known.")


def _integrate_statement(comparison: Comparison) -> Verdict:
    """The verdict on a statement whose words are not known yet, by the most similar known fact."""
    comparable = [similar for similar in comparison.current if _is_comparable(comparison, similar)]
    matches = [match for similar in comparable if (match := _match(comparison, similar)).similarity != "apart"]
    if not matches:
        return Verdict("insert", "", "Nothing similar is known.")
    return _verdict_on(comparison, max(matches, key=_weight))


def _verdict_on(comparison: Comparison, match: _Match) -> Verdict:
    fact = match.similar.fact
    if match.similarity == "same" and comparison.adds_no_dates(match.similar):
        return Verdict("confirm", fact.id, "This is already known in other words.")
    if match.similarity in ("same", "more") and _is_replaceable(match.similar) and not fact.predicate:
        return Verdict("supersede", fact.id, "It says the same more precisely.")
    if match.similarity == "changed":
        return _verdict_on_change(comparison, match.similar)
    return Verdict("extend", fact.id, "It adds to what is known.", is_grey=True)


def _verdict_on_change(comparison: Comparison, similar: SimilarFact) -> Verdict:
    """The candidate gives a known statement another value; a model may be asked if no word says that it changed."""
    if _speaks_of_another_past(comparison.candidate.text, similar.fact.text):
        return Verdict("insert", "", "It speaks of the past, and of something else than what is known.")
    statement = parts_of(comparison.candidate.text)
    is_said = statement.ends or statement.turns
    reason = "It says that this has changed." if is_said else "It says otherwise of the same thing."
    action: Action = "supersede" if _is_replaceable(similar) else "contradict"
    return Verdict(action, similar.fact.id, reason, is_grey=not is_said)


def _speaks_of_another_past(text: str, known: str) -> bool:
    """True for "Used to live in Oslo" beside "Moved to Bergen": what was once ends only what names the same thing."""
    names = {word.casefold() for word in _NAME.findall(known)}
    return bool(_ONCE.match(text) and names and not names & {word.casefold() for word in _NAME.findall(text)})


def _weight(match: _Match) -> tuple[int, float, str, str]:
    """Sort key: the better match last; on a tie the fact that begins later, then the higher id."""
    fact = match.similar.fact
    return -_PRECEDENCE.index(match.similarity), match.nearness, fact.begins, fact.id


def _match(comparison: Comparison, similar: SimilarFact) -> _Match:
    """How the candidate relates to a known statement, by its cosine; without one, by the words in common."""
    new, old = (_without_user(text, comparison.rules.user) for text in (comparison.candidate.text, similar.fact.text))
    if similar.cosine is not None:
        return _Match(similar, similarity(new, old, cosine=similar.cosine), similar.cosine)
    share = word_share(new, old)
    return _Match(similar, similarity(new, old, cosine=None) if share >= WORDS_ALONE else "apart", share)


def _without_user(text: str, user: str) -> str:
    """The statement without the user's name in front: one without a subject is about the user.

    The first name alone counts as well, unless another name follows it.
    """
    if not user.strip() or user.casefold() == ME:
        return text
    for name in (user.strip(), user.split()[0]):
        rest = text[len(name) :]
        if not text.casefold().startswith(name.casefold()) or rest[1:2].isupper():
            continue
        if rest.startswith(("'s ", "\u2019s ")):
            return f"My{rest[2:]}"
        if rest.startswith(" "):
            return rest[1:]
    return text


def _overlap(comparison: Comparison, similar: SimilarFact) -> float:
    return jaccard(comparison.candidate.object, similar.fact.object)


def _is_comparable(comparison: Comparison, similar: SimilarFact) -> bool:
    """True if similarity may count: the fact is active, of the same family, and shares the subject or a topic."""
    fact, candidate = similar.fact, comparison.candidate
    if not _is_active(similar) or comparison.has_other_subject(fact) or not _is_family(candidate.kind, fact.kind):
        return False
    return _has_same_subject(comparison, fact) or _share_topics(candidate.topics, fact.topics)


def _has_same_subject(comparison: Comparison, fact: Fact) -> bool:
    subject = comparison.rules.entity(comparison.candidate.subject)
    return bool(subject) and subject == comparison.rules.entity(fact.subject)


def _share_topics(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """True if a topic is common; a statement without topics may be about any of them."""
    topics = {topic.casefold() for topic in one}
    return not one or not other or not topics.isdisjoint(topic.casefold() for topic in other)


def _is_family(one: str, other: str) -> bool:
    return one == other or not one or not other or any({one, other} <= family for family in _FAMILIES)


def _is_active(similar: SimilarFact) -> bool:
    return similar.fact.status == "active"


def _is_replaceable(similar: SimilarFact) -> bool:
    """True for an active entry. A line belongs to the writer of its note and ends only by a fact that begins later."""
    return _is_active(similar) and similar.fact.origin == "entry"


def _counts(similar: SimilarFact) -> bool:
    fact = similar.fact
    is_put_away = _is_active(similar) and fact.place == "archive"
    return fact.place != "staging" and fact.status not in _GONE and not is_put_away


def _lasts(similar: SimilarFact) -> bool:
    until, _ = until_of(similar.record)
    return not until or similar.fact.begins < until
