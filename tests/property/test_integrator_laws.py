"""Laws of the integrator: whatever arrives in whatever order, one value at a time, nothing lost, every step an edge."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.facts.claims import FactRules, is_beside, is_rivalling
from commonplace.facts.integrate import integrate
from commonplace.facts.validity import holds
from commonplace.model import Candidate, Fact, FactEnd, FactRecord, Verdict

RULES = FactRules()
NOW = "2026-06-01T00:00:00Z"
MOMENTS = [f"2026-{month:02}-01T00:00:00Z" for month in range(1, 10)]

moments = st.sampled_from(MOMENTS)
places = st.sampled_from(("Acme", "Globex", "Initech", "the Acme office in Ulm", "the big Acme office in Ulm"))
predicates = st.sampled_from(("works_at", "works at", "likes", "visiting", "interested_in"))


@dataclass
class Store:
    """Facts as a vault would keep them, changed by verdicts alone."""

    facts: dict[str, Fact] = field(default_factory=dict)

    def known(self) -> list[FactRecord]:
        """Every fact, with the End that follows from the others."""
        claims = defaultdict[str, list[Fact]](list)
        for fact in self.facts.values():
            claims[RULES.claim(fact)].append(fact)
        ends = {id: end for claim, facts in claims.items() if claim for id, end in RULES.ends(facts).items()}
        return [FactRecord(fact, ends.get(fact.id)) for fact in self.facts.values()]

    def take(self, candidate: Candidate, *, now: str = NOW) -> Verdict:
        """The verdict on the candidate, after doing what it says."""
        verdict = integrate(candidate, self.known(), rules=RULES, now=now)
        if verdict.action == "confirm":
            old = self.facts[verdict.target]
            self.facts[old.id] = replace(old, confirmed=(*old.confirmed, now))
            return verdict
        new = _fact_of(candidate, id=f"{len(self.facts):04}", now=now, until=verdict.until)
        if verdict.target:
            self._end(self.facts[verdict.target], new, is_superseded=verdict.action == "supersede", now=now)
        for id in {*verdict.also} - {verdict.target}:
            self._end(self.facts[id], new, is_superseded=False, now=now)
        supersedes = verdict.target if verdict.action == "supersede" else ""
        self.facts[new.id] = replace(new, supersedes=supersedes)
        return verdict

    def _end(self, old: Fact, new: Fact, *, is_superseded: bool, now: str) -> None:
        until = max(min(filter(None, (old.valid_until, new.begins))), old.begins)
        stated = old.was_valid_until if old.invalidated_at else old.valid_until
        old = replace(old, valid_until=until, invalidated_at=now, was_valid_until=stated)
        if is_superseded:
            old = replace(old, status="superseded", place="archive", superseded_by=new.id, superseded_at=now)
        self.facts[old.id] = old

    def values(self, predicate: str, at: str) -> list[str]:
        """The objects that hold at that moment, but for those that stand beside others."""
        rivals = [known for known in self.known() if known.fact.predicate == predicate and is_rivalling(known.fact)]
        return [known.fact.object for known in rivals if holds(known, at)]


def _fact_of(candidate: Candidate, *, id: str, now: str, until: str) -> Fact:
    stated = candidate.valid_until or RULES.predicates.default_until(candidate.predicate, candidate.valid_from or now)
    ends = min(filter(None, (stated, until)), default="")
    return Fact(
        id=id,
        path=f"{id}.md",
        line=1,
        origin="entry",
        text=candidate.text,
        subject=candidate.subject,
        predicate=candidate.predicate,
        object=candidate.object,
        valid_from=candidate.valid_from,
        valid_until=ends,
        invalidated_at=now if ends != stated else "",
        was_valid_until=stated if ends != stated else "",
        recorded=now,
    )


def _said(object: str, *, begins: str = "", until: str = "", predicate: str = "works_at") -> Candidate:
    text = f"Ada {predicate} {object}."
    return Candidate(text=text, subject="Ada", predicate=predicate, object=object, valid_from=begins, valid_until=until)


@st.composite
def candidates(draw: st.DrawFn) -> Candidate:
    """Anything that may be said of Ada; windows are never empty."""
    begins = draw(st.one_of(st.just(""), moments))
    until = draw(st.one_of(st.just(""), moments))
    until = until if until > (begins or NOW) else ""
    return _said(draw(places), begins=begins, until=until, predicate=draw(predicates))


@st.composite
def single_values(draw: st.DrawFn) -> list[Candidate]:
    """Different employers, each from a moment of its own."""
    begins = draw(st.lists(moments, min_size=1, max_size=5, unique=True))
    return [_said(f"Employer {place}", begins=moment) for place, moment in enumerate(begins)]


@pytest.mark.requirement("I-55")
@given(st.lists(candidates(), max_size=12))
def test_a_single_valued_predicate_has_at_most_one_value_at_any_moment(arriving: list[Candidate]) -> None:
    """Whatever arrives in whatever order, no two values of one single-valued predicate hold at the same moment."""
    store = Store()
    for candidate in arriving:
        store.take(candidate)

    assert all(len(store.values("works_at", at) + store.values("works at", at)) <= 1 for at in MOMENTS)


@given(st.lists(candidates(), max_size=8), candidates())
def test_what_was_just_said_holds_at_the_moment_it_begins(arriving: list[Candidate], last: Candidate) -> None:
    """Nothing is lost: each candidate is confirmed by a fact that holds then, or becomes one."""
    store = Store()
    for candidate in arriving:
        store.take(candidate)
    before = len(store.facts)
    verdict = store.take(last)
    standing = [known.fact.id for known in store.known() if holds(known, last.valid_from or NOW)]

    assert (verdict.target in standing) if verdict.action == "confirm" else (f"{before:04}" in standing)


@given(st.lists(candidates(), max_size=8), candidates())
def test_a_repeat_changes_nothing_but_confirms(arriving: list[Candidate], last: Candidate) -> None:
    """The same candidate again makes no new version and ends nothing."""
    store = Store()
    for candidate in (*arriving, last):
        store.take(candidate)
    before = {id: replace(fact, confirmed=()) for id, fact in store.facts.items()}
    verdict = store.take(last)

    assert verdict.action == "confirm"
    assert {id: replace(fact, confirmed=()) for id, fact in store.facts.items()} == before


@pytest.mark.requirement("V-05", "V-18", "A-31")
@given(st.lists(candidates(), max_size=12))
def test_every_replacing_keeps_the_old_and_links_both_ways(arriving: list[Candidate]) -> None:
    """Old versions stay with their words; each supersede is an edge from the new to the old and back."""
    store = Store()
    made = [store.take(candidate) for candidate in arriving]
    new = [verdict for verdict in made if verdict.action != "confirm"]
    replaced = [fact for fact in store.facts.values() if fact.status == "superseded"]

    assert len(store.facts) == len(new)
    assert all(store.facts[fact.superseded_by].supersedes == fact.id for fact in replaced)
    assert len(replaced) == sum(verdict.action == "supersede" for verdict in made)
    assert {fact.object for fact in store.facts.values()} <= {each.object for each in arriving}


@given(single_values(), st.data())
def test_the_order_of_arrival_does_not_change_what_held_when(said: list[Candidate], data: st.DataObject) -> None:
    """Values that begin at different moments give the same history, whichever is learned first."""
    store = Store()
    for candidate in data.draw(st.permutations(said)):
        store.take(candidate)

    for at in MOMENTS:
        begun = [each for each in said if each.valid_from <= at]
        latest = [max(begun, key=lambda each: each.valid_from).object] if begun else []
        assert store.values("works_at", at) == latest


@given(st.lists(candidates(), max_size=8), candidates(), st.data())
def test_the_order_of_what_is_near_does_not_matter(
    arriving: list[Candidate], last: Candidate, data: st.DataObject
) -> None:
    """The verdict depends on what is known, not on the order in which it is found."""
    store = Store()
    for candidate in arriving:
        store.take(candidate)
    near = data.draw(st.permutations(store.known()))

    assert integrate(last, near, rules=RULES, now=NOW) == integrate(last, store.known(), rules=RULES, now=NOW)


@st.composite
def active_facts(draw: st.DrawFn) -> list[Fact]:
    """Facts of one claim that several devices wrote without knowing of each other."""
    windows = draw(st.lists(st.tuples(moments, st.one_of(st.just(""), moments)), max_size=5))
    return [
        _fact_of(_said(f"Employer {place}", begins=begins, until=until), id=f"{place:04}", now=NOW, until="")
        for place, (begins, until) in enumerate(windows)
    ]


@given(active_facts())
def test_merged_facts_of_one_claim_hold_one_at_a_time(facts: list[Fact]) -> None:
    """Whatever two devices wrote, `ends` leaves one at any moment; each end is by a fact that is there."""
    ends = RULES.ends(facts)

    for at in MOMENTS:
        assert sum(holds(FactRecord(fact, ends.get(fact.id)), at) for fact in facts) <= 1
    assert all(end.by in {fact.id for fact in facts} - {id} for id, end in ends.items())
    assert all(_ends_before(facts, id, end) for id, end in ends.items())


@given(active_facts(), st.data())
def test_of_values_said_to_hold_together_only_others_end_each(facts: list[Fact], data: st.DataObject) -> None:
    """Whichever are said to hold beside which, no two others hold at once, and none ends by one that is beside it."""
    ids = [fact.id for fact in facts] or ["none"]
    bonds = data.draw(st.lists(st.lists(st.sampled_from(ids), max_size=2), min_size=len(facts), max_size=len(facts)))
    facts = [replace(fact, bonds=tuple(("both", id) for id in named)) for fact, named in zip(facts, bonds, strict=True)]
    ends, by_id = RULES.ends(facts), {fact.id: fact for fact in facts}

    assert not any(is_beside(by_id[id], by_id[end.by]) for id, end in ends.items())
    for at in MOMENTS:
        standing = [fact for fact in facts if holds(FactRecord(fact, ends.get(fact.id)), at)]
        assert all(is_beside(one, other) for one, other in combinations(standing, 2))


@given(active_facts())
def test_ends_do_not_depend_on_the_order_of_the_facts(facts: list[Fact]) -> None:
    """Two indexes that met the same facts in another order tell the same ends."""
    told = {frozenset(RULES.ends(each).items()) for each in permutations(facts)}

    assert len(told) == 1


@given(active_facts())
def test_the_latest_begun_of_a_claim_holds_as_long_as_its_own_window(facts: list[Fact]) -> None:
    """Merging never ends everything: the winner of the last beginning is ended by nothing."""
    lasting = [fact for fact in facts if not fact.valid_until or fact.begins < fact.valid_until]
    ends = RULES.ends(facts)

    assert not lasting or max(lasting, key=lambda fact: (fact.begins, fact.id)).id not in ends


def _ends_before(facts: Sequence[Fact], id: str, end: FactEnd) -> bool:
    """Whether the end is earlier than the one that the fact has of itself."""
    own = next(fact for fact in facts if fact.id == id).valid_until
    return not own or end.at < own
