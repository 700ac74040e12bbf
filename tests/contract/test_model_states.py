"""Both histories keep what language models cost and how they failed."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from commonplace.history.base import History, ModelCall, ModelState, Spending, TaskSpending

NOW = datetime(2026, 3, 1, 9, 12, 44, tzinfo=UTC)
CALL = ModelCall(
    at=NOW,
    task_type="extract",
    model_alias="scripted-1@127.0.0.1",
    input_hash="a" * 64,
    version="extract.v1",
    duration_ms=0.0,
    tokens=600,
    cost=0.25,
)
BUDGET = Spending(tokens=1000, cost=1.0)


def reserve(history: History, call: ModelCall = CALL, budget: Spending = BUDGET) -> int:
    """The number of a call that the budget allows."""
    number = history.reserve_call(call, budget=budget)
    assert number is not None
    return number


def test_a_reserved_call_is_in_the_log_and_settled_later(history: History) -> None:
    """What it came to replaces what was reserved."""
    number = reserve(history)
    before = history.calls()
    history.settle_call(number, tokens=150, cost=0.5, duration_ms=12.5)

    assert before == (CALL,)
    assert history.calls() == (replace(CALL, tokens=150, cost=0.5, duration_ms=12.5),)
    assert history.spending(NOW) == Spending(1, 150, 0.5)


@pytest.mark.parametrize("call", [replace(CALL, tokens=401, cost=0.0), replace(CALL, tokens=1, cost=0.76)])
def test_a_call_that_could_exceed_the_budget_is_not_added(history: History, call: ModelCall) -> None:
    """Neither in tokens nor in dollars; exactly the budget is allowed."""
    reserve(history)

    assert history.reserve_call(call, budget=BUDGET) is None
    assert history.count_calls() == 1
    assert history.reserve_call(replace(CALL, tokens=400, cost=0.75), budget=BUDGET) is not None


def test_a_budget_of_nothing_allows_nothing_that_costs(history: History) -> None:
    """Not one token."""
    assert history.reserve_call(replace(CALL, tokens=1, cost=0.0), budget=Spending()) is None


def test_each_utc_day_has_its_own_spending(history: History) -> None:
    """The budget of a day begins at midnight UTC."""
    midnight = datetime(2026, 3, 2, tzinfo=UTC)
    reserve(history, replace(CALL, at=midnight - timedelta(seconds=1)))
    reserve(history, replace(CALL, at=midnight))

    assert history.spending(NOW).tokens == 600
    assert history.spending(midnight).tokens == 600
    assert history.spending(midnight + timedelta(days=1)) == Spending()


def test_calls_of_encoders_are_no_spending(history: History) -> None:
    """They have no tokens."""
    history.log_calls([replace(CALL, task_type="embed_vault_chunk", tokens=0, cost=0.0)] * 3)

    assert history.spending(NOW) == Spending()


def test_spending_is_listed_by_day_and_task(history: History) -> None:
    """From the whole UTC day of the first moment on, oldest first; encoders cost nothing."""
    reserve(history, replace(CALL, at=NOW - timedelta(days=2)))
    reserve(history, replace(CALL, at=NOW.replace(hour=0, minute=0), tokens=100, cost=0.0))
    reserve(history, replace(CALL, at=NOW, task_type="judge", tokens=10, cost=0.25))
    history.log_calls([replace(CALL, at=NOW, tokens=0, cost=0.0)])

    assert history.spending_by_task(since=NOW) == (
        TaskSpending("2026-03-01", "extract", 1, 100, 0.0),
        TaskSpending("2026-03-01", "judge", 1, 10, 0.25),
    )
    assert history.spending_by_task(since=NOW - timedelta(days=2))[0].day == "2026-02-27"


def test_settling_one_call_leaves_the_others(history: History) -> None:
    """Also calls that are equal in every field."""
    first, second = reserve(history, replace(CALL, tokens=400)), reserve(history, replace(CALL, tokens=400))
    history.settle_call(second, tokens=7, cost=0.0, duration_ms=1.0)

    assert first != second
    assert sorted(call.tokens for call in history.calls()) == [7, 400]


def test_the_state_of_a_model_comes_back_as_it_was_saved(history: History) -> None:
    """Each model has its own; one that nothing is known of has no failures."""
    paused = ModelState("m1", 3, "busy", "the server responded 503", NOW + timedelta(minutes=5))
    disabled = ModelState("m2", 1, "auth", "the server responded 401")
    history.save_model_state(replace(paused, failures=2), now=NOW)
    history.save_model_state(paused, now=NOW)
    history.save_model_state(disabled, now=NOW)

    assert [history.model_state(name) for name in ("m1", "m2", "m3")] == [paused, disabled, ModelState("m3")]


def test_states_can_be_forgotten_and_old_ones_go(history: History) -> None:
    """A model with other settings leaves its state behind; after a month it is dropped."""
    history.save_model_state(ModelState("old", 1, "auth"), now=NOW - timedelta(days=31))
    history.save_model_state(ModelState("new", 1, "auth"), now=NOW)

    assert history.model_state("old") == ModelState("old")
    assert history.forget_model_states() == 1
    assert history.model_state("new") == ModelState("new")
