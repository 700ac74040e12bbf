"""Several things done until a moment."""

import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from commonplace import events
from commonplace.errors import CommonplaceError, IndexDamaged
from commonplace.flows.context.build import GATHER_THREAD, gather

LONG = 20.0


@pytest.fixture
def heard() -> Iterator[list[tuple[str, Mapping[str, Any]]]]:
    """What is told while a test runs."""
    told: list[tuple[str, Mapping[str, Any]]] = []
    events.pass_to(lambda level, event, fields: told.append((event, fields)))
    yield told
    events.pass_to(None)


def ends(name: str) -> None:
    """Wait until no thread of that name is left."""
    for thread in threading.enumerate():
        if thread.name == name:
            thread.join(LONG)
            assert not thread.is_alive()


def fail(error: BaseException) -> str:
    raise error


def test_everything_is_ready_without_a_bound() -> None:
    """By name, and nothing is late."""
    gathered = gather({"one": lambda: 1, "two": lambda: 2}, within=None)

    assert (gathered.ready, gathered.late, gathered.failed) == ({"one": 1, "two": 2}, (), {})


def test_one_that_takes_long_holds_up_no_other() -> None:
    """It ends only after the two that come after it, so that they must have begun beside it."""
    after = threading.Barrier(3)
    waits = dict.fromkeys(("one", "two", "three"), lambda: after.wait(LONG))

    assert {*gather(waits, within=None).ready.values()} == {0, 1, 2}


def test_one_that_fails_is_told_beside_those_that_do_not() -> None:
    """An error of ours; any other ends everything."""
    damaged = IndexDamaged("torn")
    gathered = gather({"one": lambda: "1", "two": lambda: fail(damaged)}, within=LONG)

    assert (gathered.ready, gathered.late, gathered.failed) == ({"one": "1"}, (), {"two": damaged})
    with pytest.raises(ZeroDivisionError):
        gather({"one": lambda: "1", "two": lambda: fail(ZeroDivisionError())}, within=LONG)


@pytest.mark.parametrize("error", [CommonplaceError("torn"), ZeroDivisionError("secret words")])
def test_what_goes_wrong_after_the_moment_changes_nothing_and_is_told(
    heard: list[tuple[str, Mapping[str, Any]]], error: BaseException
) -> None:
    """As an event that names the part and the kind of error, never its words."""
    go_on = threading.Event()

    def late() -> str:
        go_on.wait(LONG)
        raise error

    gathered = gather({"late": late}, within=0.0)
    go_on.set()
    ends(GATHER_THREAD)

    assert (gathered.ready, gathered.late, gathered.failed) == ({}, ("late",), {})
    assert heard == [("late_part_failed", {"part": "late", "error": type(error).__name__})]


def test_a_program_ends_after_its_late_parts() -> None:
    """A thread that Python kills inside native code (a model being loaded) would abort the whole program."""
    program = """
import time
from commonplace.flows.context.build import GATHER_THREAD, gather
gather({"slow": lambda: (time.sleep(0.1), print("ended"))}, within=0)
"""
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert run.stdout == "ended\n"


def test_a_program_ends_after_the_model_is_loaded() -> None:
    """The same for the thread that loads it: seen as exit status 134 of a program that had asked for one context."""
    program = """
from commonplace.app.encoders import _warming
from commonplace.encoders.hashing import HashingEncoder
import time
class Slow(HashingEncoder):
    def encode(self, texts):
        time.sleep(0.1)
        print("ended")
        return super().encode(texts)
_warming(Slow(8))()
"""
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert run.stdout == "ended\n"
