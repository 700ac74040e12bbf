"""Importance by age, by confirmation and by use."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest

from commonplace.facts.aging import HALF_LIVES, USE_BOOST, USE_DAYS, USE_WINDOW, aged
from commonplace.model import Fact, FactClass

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

    assert aged(fact, at=day(0)) == 0.7
    assert aged(fact, at=day(half_life)) == pytest.approx(0.35)
    assert aged(fact, at=day(2 * half_life)) == pytest.approx(0.175)


@pytest.mark.requirement("V-22")
def test_half_of_the_importance_of_an_event_is_left_after_fourteen_days() -> None:
    """What happened matters for a while."""
    assert aged(replace(BASE, fact="event"), at=day(14)) == pytest.approx(0.35)


@pytest.mark.requirement("V-19", "V-24")
@pytest.mark.parametrize("sort", HALF_LIVES)
def test_over_400_days_the_importance_is_worked_out_from_the_base_each_day_and_never_compounds(sort: FactClass) -> None:
    """It falls day by day as the half-life says, whatever was read before, and never to nothing."""
    fact = replace(BASE, fact=sort)
    by_day = [aged(fact, at=day(number)) for number in range(401)]

    assert by_day == [pytest.approx(0.7 * 0.5 ** (number / HALF_LIVES[sort])) for number in range(401)]
    assert all(later < earlier for earlier, later in pairwise(by_day))
    assert by_day[-1] > 0


@pytest.mark.requirement("V-23")
@pytest.mark.parametrize("importance", [0.0, 0.3, 0.7, 0.99])
def test_over_400_days_of_daily_use_the_boost_stays_bounded_and_never_adds_up(importance: float) -> None:
    """Use adds at most a tenth of what is missing to 1, on the last day as on the tenth."""
    fact = replace(BASE, importance=importance)
    for number in range(401):
        unused = aged(fact, at=day(number))
        used = aged(fact, at=day(number), use_days=min(number, USE_WINDOW))

        assert used - unused == pytest.approx((1 - unused) * USE_BOOST * min(number, USE_DAYS) / USE_DAYS)
        assert unused <= used < 1


@pytest.mark.requirement("V-23")
def test_ten_uses_within_a_week_never_reach_1_and_fade_with_the_window() -> None:
    """The boost depends on the days of use within the last thirty: when they are over, it is gone."""
    fact = replace(BASE, importance=0.95)
    in_use = [aged(fact, at=day(number), use_days=uses) for number, uses in enumerate(range(1, 11))]

    assert max(in_use) < 0.96
    assert aged(fact, at=day(45), use_days=0) == pytest.approx(0.95 * 0.5**0.5)


def test_more_days_of_use_than_count_add_nothing() -> None:
    """Ten days are as good as thirty."""
    assert aged(BASE, at=day(5), use_days=10) == aged(BASE, at=day(5), use_days=30)


@pytest.mark.requirement("V-23")
def test_a_confirmation_makes_a_fact_fresh_again_from_its_day_on() -> None:
    """The age counts from the last confirmation that has happened by then."""
    fact = replace(BASE, confirmed=("2026-04-01",))

    assert aged(fact, at=day(89)) == pytest.approx(0.7 * 0.5 ** (89 / 90))
    assert aged(fact, at="2026-04-01T00:00:00Z") == 0.7
    assert aged(fact, at="2026-06-30T00:00:00Z") == pytest.approx(0.35)


def test_from_three_confirmations_on_a_fact_ages_half_as_fast() -> None:
    """Only those that have happened count."""
    days = ("2026-01-01", "2026-02-01", "2026-03-01")

    assert aged(replace(BASE, confirmed=days), at="2026-08-28T00:00:00Z") == pytest.approx(0.35)
    assert aged(replace(BASE, confirmed=days[:2]), at="2026-05-02T00:00:00Z") == pytest.approx(0.35)
    assert aged(replace(BASE, confirmed=days), at="2026-02-15T00:00:00Z") == pytest.approx(0.7 * 0.5 ** (14 / 90))


@pytest.mark.requirement("V-12")
def test_of_two_facts_the_more_important_or_else_the_newer_stands_higher() -> None:
    """What breaks a tie is importance and recency in one number."""
    newer = replace(BASE, recorded=day(10))
    better = replace(BASE, importance=0.8)

    assert aged(newer, at=day(20)) > aged(BASE, at=day(20))
    assert aged(better, at=day(20)) > aged(BASE, at=day(20))


def test_a_fact_is_as_old_as_its_note_where_it_was_never_recorded() -> None:
    """So it is with facts of lines; what has no date at all does not age."""
    line = replace(BASE, origin="line", recorded="")

    assert aged(line, at=day(90)) == pytest.approx(0.35)
    assert aged(replace(line, updated=""), at=day(90)) == 0.7


def test_importance_stays_within_its_bounds() -> None:
    """Also before it was recorded, and for numbers that a person mistyped."""
    assert aged(BASE, at=day(-50)) == 0.7
    assert aged(replace(BASE, importance=7.0), at=day(0), use_days=30) == 1.0
    assert aged(replace(BASE, importance=-1.0), at=day(0)) == 0.0
