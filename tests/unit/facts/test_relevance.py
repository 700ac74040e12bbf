"""Which facts belong before a prompt, their aged importance, and doubts about them."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.facts.claims import FactRules
from commonplace.facts.relevance import (
    HALF_LIVES,
    USE_BOOST,
    USE_DAYS,
    USE_WINDOW,
    aged_importance,
    doubt_of,
    is_naming,
    possible_names,
    relevant_facts,
)
from commonplace.model import Fact, FactClass, FactSnapshot, Origins, Trust

RULES = FactRules(user="robin")
WORDS = [
    "Ada",
    "ada",
    "Ada's",
    "Lovelace",
    "Lovelace.",
    "O'Neil",
    "Zoë",
    "ZOE\u0308",
    "AT&T",
    "of",
    "the",
    "Adam",
    "robin",
]
NAMES = ["ada", "ada lovelace", "lovelace", "o'neil", "zoë", "at&t", "the ada", "adam of the ada lovelace", "robin"]


def held(id: str, subject: str, predicate: str = "", object: str = "", *, importance: float = 0.5) -> FactSnapshot:
    fact = Fact(
        id=id,
        path=f"{id}.md",
        line=1,
        origin="entry",
        text=f"{subject} {predicate} {object}.",
        subject=subject,
        predicate=predicate,
        object=object,
    )
    return FactSnapshot(fact, "current", "", "", importance)


def chosen(prompt: str, *facts: FactSnapshot, most: int = 10) -> list[str]:
    return [
        each.snapshot.fact.id
        for each in relevant_facts(facts, names=possible_names(prompt, RULES), rules=RULES, limit=most)
    ]


def test_names_are_found_in_the_words_of_a_prompt() -> None:
    """One word or a few in a row, whatever their case, without marks around them."""
    names = possible_names("Did Ada Lindqvist (of Acme Corp.) call?", RULES)

    assert {"ada", "ada lindqvist", "acme corp", "acme"} <= set(names)


@given(st.lists(st.sampled_from(WORDS), max_size=12), st.sets(st.sampled_from(NAMES), min_size=1, max_size=3))
def test_a_text_names_an_entity_if_the_name_is_among_its_possible_names(words: list[str], names: set[str]) -> None:
    """Two ways to ask one thing: the quick one compares only the runs that begin like a name."""
    text = " ".join(words)

    assert is_naming(text, names, RULES) == bool(names & {*possible_names(text, RULES)})


@pytest.mark.parametrize("text", ["Ada - Lovelace called.", "Ada's Lovelace", "(ADA LOVELACE).", "[[Ada]] Lovelace"])
def test_marks_between_the_words_of_a_name_do_not_hide_it(text: str) -> None:
    assert is_naming(text, {"ada lovelace"}, RULES)


@pytest.mark.requirement("I-05")
def test_what_is_known_of_the_person_is_always_there_and_others_where_the_prompt_names_them() -> None:
    """Identity facts always, plus any fact whose subject or object stands in the prompt, which go first."""
    me = held("me", "Robin", "lives_in", "Berlin", importance=0.9)
    ada, acme = held("ada", "Ada", "likes", "tea"), held("acme", "Jonas", "works_at", "Acme")

    assert chosen("hello", me, ada, acme) == ["me"]
    assert chosen("write to ada about ACME", me, ada, acme) == ["acme", "ada", "me"]


@pytest.mark.requirement("I-06")
@pytest.mark.parametrize(
    "predicate", ["decided", "interested_in", "completed", "acquired", "disposed_of", "traveled_to"]
)
def test_passing_things_come_only_where_the_prompt_is_about_them(predicate: str) -> None:
    """Also for the person themselves."""
    bought = held("bought", "me", predicate, "kayak")

    assert chosen("what is for dinner", bought) == []
    assert chosen("is the kayak dry", bought) == ["bought"]


@pytest.mark.requirement("I-07")
def test_there_are_no_more_than_the_cap_the_most_important_first() -> None:
    """Of what is named first, then of the person."""
    facts = [held(str(number), "me", "likes", f"x{number}", importance=number / 10) for number in range(9)]

    assert chosen("x3", *facts, most=3) == ["3", "8", "7"]
    assert chosen("x3", *facts, most=0) == []


START = datetime(2026, 1, 1, 9, 30, tzinfo=UTC)


def day(number: float) -> str:
    return f"{START + timedelta(days=number):%Y-%m-%dT%H:%M:%SZ}"


BASE = Fact(
    id="a", path="a.md", line=0, origin="entry", text="x", fact="fact", importance=0.7, recorded=day(0), updated=day(0)
)


@pytest.mark.requirement("V-19", "V-20", "V-21")
@pytest.mark.parametrize(("sort", "half_life"), [("identity", 180), ("fact", 90), ("preference", 90), ("", 90)])
def test_half_of_the_importance_is_left_after_the_half_life(sort: FactClass, half_life: int) -> None:
    """180 days for identity, 90 for facts, for preferences and for what has no class."""
    fact = replace(BASE, fact=sort)

    assert aged_importance(fact, at=day(0)) == 0.7
    assert aged_importance(fact, at=day(half_life)) == pytest.approx(0.35)
    assert aged_importance(fact, at=day(2 * half_life)) == pytest.approx(0.175)


@pytest.mark.requirement("V-22")
def test_half_of_the_importance_of_an_event_is_left_after_fourteen_days() -> None:
    """What happened matters for a while."""
    assert aged_importance(replace(BASE, fact="event"), at=day(14)) == pytest.approx(0.35)


@pytest.mark.requirement("V-19", "V-24")
@pytest.mark.parametrize("sort", HALF_LIVES)
def test_over_400_days_the_importance_is_worked_out_from_the_base_each_day_and_never_compounds(sort: FactClass) -> None:
    """It falls day by day as the half-life says, whatever was read before, and never to nothing."""
    fact = replace(BASE, fact=sort)
    by_day = [aged_importance(fact, at=day(number)) for number in range(401)]

    assert by_day == [pytest.approx(0.7 * 0.5 ** (number / HALF_LIVES[sort])) for number in range(401)]
    assert all(later < earlier for earlier, later in pairwise(by_day))
    assert by_day[-1] > 0


@pytest.mark.requirement("V-23")
@pytest.mark.parametrize("importance", [0.0, 0.3, 0.7, 0.99])
def test_over_400_days_of_daily_use_the_boost_stays_bounded_and_never_adds_up(importance: float) -> None:
    """Use adds at most a tenth of what is missing to 1, on the last day as on the tenth."""
    fact = replace(BASE, importance=importance)
    for number in range(401):
        unused = aged_importance(fact, at=day(number))
        used = aged_importance(fact, at=day(number), use_days=min(number, USE_WINDOW))

        assert used - unused == pytest.approx((1 - unused) * USE_BOOST * min(number, USE_DAYS) / USE_DAYS)
        assert unused <= used < 1


def test_ten_uses_within_a_week_never_reach_1_and_fade_with_the_window() -> None:
    """The boost depends on the days of use within the last thirty: when they are over, it is gone."""
    fact = replace(BASE, importance=0.95)
    in_use = [aged_importance(fact, at=day(number), use_days=uses) for number, uses in enumerate(range(1, 11))]

    assert max(in_use) < 0.96
    assert aged_importance(fact, at=day(45), use_days=0) == pytest.approx(0.95 * 0.5**0.5)


def test_more_days_of_use_than_count_add_nothing() -> None:
    """Ten days are as good as thirty."""
    assert aged_importance(BASE, at=day(5), use_days=10) == aged_importance(BASE, at=day(5), use_days=30)


def test_a_confirmation_makes_a_fact_fresh_again_from_its_day_on() -> None:
    """The age counts from the last confirmation that has happened by then."""
    fact = replace(BASE, confirmed=("2026-04-01",))

    assert aged_importance(fact, at=day(89)) == pytest.approx(0.7 * 0.5 ** (89 / 90))
    assert aged_importance(fact, at="2026-04-01T00:00:00Z") == 0.7
    assert aged_importance(fact, at="2026-06-30T00:00:00Z") == pytest.approx(0.35)


def test_from_three_confirmations_on_a_fact_ages_half_as_fast() -> None:
    """Only those that have happened count."""
    days = ("2026-01-01", "2026-02-01", "2026-03-01")

    assert aged_importance(replace(BASE, confirmed=days), at="2026-08-28T00:00:00Z") == pytest.approx(0.35)
    assert aged_importance(replace(BASE, confirmed=days[:2]), at="2026-05-02T00:00:00Z") == pytest.approx(0.35)
    assert aged_importance(replace(BASE, confirmed=days), at="2026-02-15T00:00:00Z") == pytest.approx(
        0.7 * 0.5 ** (14 / 90)
    )


@pytest.mark.requirement("V-12")
def test_of_two_facts_the_more_important_or_else_the_newer_stands_higher() -> None:
    """What breaks a tie is importance and recency in one number."""
    newer = replace(BASE, recorded=day(10))
    better = replace(BASE, importance=0.8)

    assert aged_importance(newer, at=day(20)) > aged_importance(BASE, at=day(20))
    assert aged_importance(better, at=day(20)) > aged_importance(BASE, at=day(20))


def test_a_fact_is_as_old_as_its_note_where_it_was_never_recorded() -> None:
    """So it is with facts of lines; what has no date at all does not age."""
    line = replace(BASE, origin="line", recorded="")

    assert aged_importance(line, at=day(90)) == pytest.approx(0.35)
    assert aged_importance(replace(line, updated=""), at=day(90)) == 0.7


def test_importance_stays_within_its_bounds() -> None:
    """Also before it was recorded, and for numbers that a person mistyped."""
    assert aged_importance(BASE, at=day(-50)) == 0.7
    assert aged_importance(replace(BASE, importance=7.0), at=day(0), use_days=30) == 1.0
    assert aged_importance(replace(BASE, importance=-1.0), at=day(0)) == 0.0


def snapshot(*, importance: float = 0.5, **fields: Any) -> FactSnapshot:
    made = {"id": "1", "path": "Agent/Memory/a.md", "line": 0, "origin": "entry", "text": "x"}
    return FactSnapshot(Fact(**{**made, "recorded": "2026-01-02T00:00:00Z", **fields}), "current", "", "", importance)


@pytest.mark.parametrize(
    ("trust", "doubt"),
    [
        ("told", ""),
        ("said", ""),
        ("mined", "mined by a program, never confirmed"),
        ("imported", "imported, never confirmed"),
        ("read", "read in a note, never confirmed"),
    ],
)
def test_what_nobody_told_is_doubted_until_it_is_confirmed(trust: Trust, doubt: str) -> None:
    """One confirmation is enough."""
    by = Origins(trust=trust)

    assert doubt_of(snapshot(origins=by), below=0.2, is_contested=False) == doubt
    assert not doubt_of(snapshot(origins=by, confirmed=("2026-02-01",)), below=0.2, is_contested=False)


def test_what_rules_made_of_the_persons_own_words_is_not_doubted() -> None:
    """A model may have read something into them."""
    quoted, read = (Origins(trust="mined", extractor=by, quote="I live in Ghent") for by in ("rules", "gpt@extract.v1"))

    assert not doubt_of(snapshot(origins=quoted), below=0.2, is_contested=False)
    assert doubt_of(snapshot(origins=read), below=0.2, is_contested=False)


def test_what_has_faded_is_doubted_and_a_line_of_a_note_never_is() -> None:
    """A line is the person's own, for as long as it stands there."""
    assert doubt_of(snapshot(importance=0.1), below=0.2, is_contested=False) == "not confirmed since 2026-01-02"
    line = snapshot(importance=0.1, origin="line", origins=Origins(trust="read"))
    assert not doubt_of(line, below=0.2, is_contested=False)


def test_what_is_contested_is_doubted_whoever_said_it() -> None:
    """Even a line."""
    assert "contradicts it" in doubt_of(snapshot(origin="line"), below=0.2, is_contested=True)
