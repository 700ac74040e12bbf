"""Laws of the two clocks: one value at a time, and what was known stays what was known."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from commonplace.facts.claims import FactRules, is_rivalling
from commonplace.facts.validity import as_known, holds, merge_names, state_of, until_of
from commonplace.model import Fact, FactRecord

RULES = FactRules()
START = datetime(2026, 1, 1, tzinfo=UTC)
DAYS = st.integers(0, 40)


def day(number: int) -> str:
    return f"{START + timedelta(days=number):%Y-%m-%dT%H:%M:%SZ}"


MOMENTS = [day(number) for number in range(-1, 60)]
WINDOWS = st.tuples(st.none() | DAYS, st.none() | DAYS, DAYS)


def value(id: str, *, valid_from: int | None, valid_until: int | None, recorded: int) -> Fact:
    return Fact(
        id=id,
        path=f"{id}.md",
        line=0,
        origin="entry",
        text="x",
        subject="Ada",
        predicate="works_at",
        object=id,
        valid_from="" if valid_from is None else day(valid_from),
        valid_until="" if valid_until is None else day(valid_until),
        recorded=day(recorded),
        updated=day(recorded),
    )


def with_ends(facts: list[Fact]) -> list[FactRecord]:
    """The facts as an index keeps them."""
    claims = defaultdict[str, list[Fact]](list)
    for fact in facts:
        claims[RULES.claim(fact)].append(fact)
    ends = {id: end for claim, alike in claims.items() if claim for id, end in RULES.ends(alike).items()}
    return [FactRecord(fact, ends.get(fact.id)) for fact in facts]


@st.composite
def histories(draw: st.DrawFn) -> list[list[Fact]]:
    """All versions of a small store: one step a day, each adds a value or changes one as the verbs do."""
    facts: dict[str, Fact] = {}
    versions: list[list[Fact]] = []
    for number in range(draw(st.integers(1, 12))):
        step = draw(st.sampled_from(("add", "add", "replace", "forget", "invalidate", "confirm")))
        standing = sorted(id for id, fact in facts.items() if fact.status == "active" and not fact.invalidated_at)
        id = draw(st.sampled_from(standing)) if standing else ""
        begins = draw(st.none() | DAYS)
        new = value(f"{number:02}", valid_from=begins, valid_until=draw(st.none() | DAYS), recorded=number)
        if step == "add" or not standing:
            facts[new.id] = new
        elif step == "replace":
            facts |= {new.id: replace(new, supersedes=id), id: _replaced(facts[id], new)}
        else:
            facts[id] = _changed(facts[id], step, number, until=draw(DAYS))
        versions.append([*facts.values()])
    return versions


def _replaced(old: Fact, new: Fact) -> Fact:
    return replace(
        old,
        status="superseded",
        place="archive",
        valid_until=min(new.begins, old.valid_until or new.begins),
        invalidated_at=new.recorded,
        was_valid_until=old.valid_until,
        superseded_by=new.id,
        superseded_at=new.recorded,
        updated=new.recorded,
    )


def _changed(fact: Fact, step: str, number: int, *, until: int) -> Fact:
    now = day(number)
    if step == "confirm":
        return replace(fact, confirmed=(*fact.confirmed, now[:10]), updated=now)
    if step == "forget":
        return replace(fact, status="deleted", deleted_at=now, reason="wrong", updated=now)
    return replace(fact, valid_until=day(until), invalidated_at=now, was_valid_until=fact.valid_until, updated=now)


def shown(knowns: Sequence[FactRecord]) -> list[FactRecord]:
    """All but the moment of the last change, of which only the newest is kept."""
    return [FactRecord(replace(known.fact, updated=""), known.end) for known in knowns]


@given(st.lists(WINDOWS, max_size=8), st.randoms(use_true_random=False))
def test_at_every_moment_at_most_one_fact_of_a_claim_holds(
    windows: list[tuple[int | None, int | None, int]], random: Random
) -> None:
    """Whatever their windows, and in whatever order they come; what has a stated end stands beside the others."""
    facts = [
        value(f"{number:02}", valid_from=start, valid_until=end, recorded=recorded)
        for number, (start, end, recorded) in enumerate(windows)
    ]
    random.shuffle(facts)
    knowns = with_ends(facts)

    for at in MOMENTS:
        assert sum(holds(known, at) for known in knowns if is_rivalling(known.fact)) <= 1


@given(histories(), st.lists(st.sampled_from(("Ada", "Ada Lovelace", "Countess")), min_size=12, max_size=12))
def test_at_every_moment_at_most_one_value_holds_over_all_names(versions: list[list[Fact]], names: list[str]) -> None:
    """Whichever of an entity's names each value is told of."""
    facts = [replace(fact, subject=name) for fact, name in zip(versions[-1], names, strict=False)]
    among = {RULES.entity(name) for name in names}
    knowns = merge_names(with_ends(facts), names=among, subject="Ada", rules=RULES)

    assert [known.fact for known in knowns] == facts
    for at in MOMENTS:
        assert sum(holds(known, at) for known in knowns if is_rivalling(known.fact)) <= 1


@given(histories())
def test_what_was_known_does_not_change_by_what_is_recorded_later(versions: list[list[Fact]]) -> None:
    """Turned back to any step, the last version of the store is the one of that step."""
    last = with_ends(versions[-1])
    for number, facts in enumerate(versions):
        then = as_known(last, known_at=day(number), rules=RULES)

        assert shown(then) == shown(with_ends(facts))


@given(histories())
def test_what_is_known_now_is_what_is_kept(versions: list[list[Fact]]) -> None:
    """Turned back not at all, nothing changes; and turned back twice is turned back to the earlier."""
    now = len(versions)
    kept = with_ends(versions[-1])
    half = as_known(kept, known_at=day(now // 2), rules=RULES)

    assert as_known(kept, known_at=day(now), rules=RULES) == tuple(kept)
    assert as_known(half, known_at=day(now), rules=RULES) == half


@given(histories())
def test_a_fact_holds_only_within_its_window(versions: list[list[Fact]]) -> None:
    """From its beginning to its end and never beyond, and never once it is forgotten."""
    for known in with_ends(versions[-1]):
        until, _ = until_of(known)
        for at in MOMENTS:
            if holds(known, at):
                assert known.fact.begins <= at
                assert not until or at < until
                assert known.fact.status != "deleted"
            elif known.fact.status == "active" and known.fact.begins <= at:
                assert state_of(known, at=at) == "ended"
