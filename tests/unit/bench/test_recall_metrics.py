"""The measures of recall, beside sums done by hand."""

import math

import pytest
from bench.metrics import (
    any_at,
    auc,
    calibration,
    calibration_error,
    first_distinct,
    fraction_at,
    interval,
    ndcg_at,
    spread,
    strict_at,
)

FOUND = ("a", "b", "c", "d", "e", "f")


def test_any_counts_when_one_of_the_gold_is_early_enough() -> None:
    """The rest of the gold does not matter, nor what comes later."""
    assert any_at(5, FOUND, {"e", "z"}) == 1
    assert any_at(5, FOUND, {"f", "z"}) == 0


def test_strict_counts_only_when_all_of_the_gold_is_early_enough() -> None:
    """So more gold than places can never count."""
    assert strict_at(5, FOUND, {"a", "e"}) == 1
    assert strict_at(5, FOUND, {"a", "f"}) == 0
    assert strict_at(5, FOUND, set(FOUND)) == 0


def test_a_fraction_is_of_all_the_gold() -> None:
    """What was not found at all is in the divisor."""
    assert fraction_at(5, FOUND, {"a", "f", "z"}) == pytest.approx(1 / 3)


def test_ndcg_takes_its_ideal_from_all_gold_of_the_corpus() -> None:
    """Gold that was not found lowers it; gold beyond k cannot be asked for."""
    ideal = 1 + 1 / math.log2(3)

    assert ndcg_at(10, FOUND, {"b", "z"}) == pytest.approx((1 / math.log2(3)) / ideal)
    assert ndcg_at(2, FOUND, {"a", "b", "c"}) == pytest.approx(1)
    assert ndcg_at(2, FOUND, {"c"}) == 0


def test_a_place_that_is_found_twice_counts_where_it_stands_first() -> None:
    """A long turn has several chunks."""
    assert first_distinct(("a", "b", "a", "c", "b")) == ("a", "b", "c")


def test_auc_is_how_often_the_right_one_is_surer_and_a_tie_is_half() -> None:
    """Three of four pairs, and one tie."""
    assert auc([0.9, 0.5], [0.5, 0.1]) == pytest.approx(3.5 / 4)


def test_calibration_sets_confidence_beside_what_was_found() -> None:
    """A bin without a question is left out; the surest question of all is in the last bin, and wrong."""
    bins = calibration([(0.55, True), (0.65, True), (0.55, False), (1.0, False)])

    assert [(each.start, each.n, each.found) for each in bins] == [(0.5, 2, 0.5), (0.6, 1, 1.0), (0.9, 1, 0.0)]
    assert calibration_error(bins) == pytest.approx((2 * 0.05 + 0.35 + 1.0) / 4)


def test_the_spread_is_over_the_means_of_folds() -> None:
    """Equal values have none, and the same questions always fall into the same folds."""
    ids = [f"question {number}" for number in range(50)]
    mean, deviation = spread(dict.fromkeys(ids, 0.25))
    values = {id_: float(number % 2) for number, id_ in enumerate(ids)}

    assert (mean, deviation) == (0.25, 0)
    assert spread(values) == spread(dict(reversed(values.items())))
    assert spread(values)[1] > 0


def test_an_interval_holds_the_mean_and_narrows_with_more_questions() -> None:
    """95 of 100 draws; the same values give the same interval."""
    few, many = [0.0, 1.0] * 10, [0.0, 1.0] * 200
    low, high = interval(few)

    assert low < 0.5 < high
    assert interval(many)[1] - interval(many)[0] < high - low
    assert interval(few) == (low, high)
