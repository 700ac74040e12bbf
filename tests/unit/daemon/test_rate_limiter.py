"""Rates."""

from commonplace.daemon.server.guard import RateLimiter


def test_a_caller_may_make_its_burst_at_once_and_then_waits() -> None:
    """The wait is what one more request takes to be earned."""
    rates = RateLimiter(per_second=2.0, burst=3)

    assert [rates.draw("a", now=100.0) for _ in range(4)] == [0.0, 0.0, 0.0, 0.5]


def test_what_is_earned_with_time_may_be_spent_and_never_more_than_the_burst() -> None:
    """Half a second earns one request here; an hour earns three."""
    rates = RateLimiter(per_second=2.0, burst=3)
    for _ in range(3):
        rates.draw("a", now=100.0)

    assert [rates.draw("a", now=100.5) > 0 for _ in range(2)] == [False, True]
    assert [rates.draw("a", now=3700.0) > 0 for _ in range(4)] == [False, False, False, True]


def test_one_caller_does_not_use_up_what_another_has() -> None:
    """Each has a bucket of its own."""
    rates = RateLimiter(per_second=1.0, burst=1)
    rates.draw("a", now=0.0)

    assert rates.draw("a", now=0.0) > 0
    assert rates.draw("b", now=0.0) == 0.0


def test_a_clock_that_is_set_back_gives_and_takes_nothing() -> None:
    """Time goes on from where the clock is now."""
    rates = RateLimiter(per_second=1.0, burst=2)
    rates.draw("a", now=1000.0)

    assert rates.draw("a", now=500.0) == 0.0
    assert rates.draw("a", now=500.0) == 1.0
    assert rates.draw("a", now=501.0) == 0.0


def test_names_do_not_pile_up() -> None:
    """A thousand callers are remembered; one that still has to wait is not forgotten for idle ones."""
    rates = RateLimiter(per_second=1.0, burst=2)
    for number in range(999):
        rates.draw(f"idle-{number}", now=0.0)
    for _ in range(3):
        rates.draw("busy", now=5.0)
    for number in range(500):
        rates.draw(f"new-{number}", now=5.0)

    assert rates.draw("busy", now=5.0) > 0
    assert len(rates._buckets) <= 1000
