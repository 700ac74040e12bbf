"""Chores: one at a time, each every so often; one that fails is told and tried again, and stops no other."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

from commonplace.daemon.jobs import Chore, ChoreRunner
from commonplace.errors import VaultUnavailable
from tests.polling import wait_for


@contextmanager
def at_work(*chores: Chore, is_quiet: Callable[[], bool] = lambda: True) -> Iterator[ChoreRunner]:
    made = ChoreRunner(chores, is_quiet=is_quiet, tick=0.01)
    made.begin()
    try:
        yield made
    finally:
        assert made.end(within=60.0)


def test_a_chore_runs_again_and_again_and_its_outcome_is_told() -> None:
    """When it ran, how long it took, what it said, and when it runs next."""
    runs: list[int] = []

    def count() -> str:
        runs.append(len(runs))
        return f"{len(runs)} runs"

    with at_work(Chore("count", count, every=0.01)) as chores:
        wait_for(lambda: len(runs) >= 3)
        (told,) = chores.status()

    assert (told["chore"], told["ok"]) == ("count", True)
    assert told["said"].endswith("runs")
    assert {"ran", "seconds", "next"} <= told.keys()


def test_a_chore_that_fails_is_told_and_the_others_go_on() -> None:
    """Be it an error of ours, or a bug."""
    runs: list[str] = []

    def fail() -> str:
        raise VaultUnavailable("the disk is away")

    def break_() -> str:
        raise ZeroDivisionError

    def work() -> str:
        runs.append("ran")
        return "done"

    chores = [Chore("fail", fail, every=0.01), Chore("break", break_, every=0.01), Chore("work", work, every=0.01)]
    with at_work(*chores) as made:
        wait_for(lambda: len(runs) >= 3)
        told = {each["chore"]: (each["ok"], each["said"]) for each in made.status()}

    assert told == {"fail": (False, "the disk is away"), "break": (False, "ZeroDivisionError"), "work": (True, "done")}


def test_a_chore_may_wait_for_quiet_and_for_its_time() -> None:
    """One that waits for quiet does not run while somebody asks for something; another not before its time."""
    runs: list[str] = []
    quiet: list[bool] = []

    def run(name: str) -> str:
        runs.append(name)
        return ""

    chores = [
        Chore("tidy", partial(run, "tidy"), every=60.0, waits_for_quiet=True),
        Chore("later", partial(run, "later"), every=60.0, first=60.0),
        Chore("now", partial(run, "now"), every=0.01),
    ]
    with at_work(*chores, is_quiet=lambda: bool(quiet)):
        wait_for(lambda: runs.count("now") >= 3)
        before = set(runs)
        quiet.append(True)
        wait_for(lambda: "tidy" in runs)

    assert before == {"now"}
    assert runs.count("tidy") == 1
    assert "later" not in runs


def test_chores_that_never_began_end_at_once() -> None:
    """A daemon that cannot listen has no chores to end."""
    made = ChoreRunner([Chore("never", lambda: "", every=1.0)], is_quiet=lambda: True)

    assert made.end(within=0.0)
