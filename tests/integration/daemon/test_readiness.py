"""What /ready answers: anybody may ask, as often as they like, and the indexes are looked at once in a while."""

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from commonplace.daemon.server.http_server import Readiness


class Looks:
    """Counts the looks; each waits for the gate."""

    def __init__(self) -> None:
        self.count = 0
        self.gate, self.is_looking = threading.Event(), threading.Event()
        self.gate.set()

    def __call__(self) -> Sequence[str]:
        self.count += 1
        self.is_looking.set()
        self.gate.wait(60)
        return (f"look {self.count}",)


def test_many_who_ask_cause_one_look_until_it_is_old() -> None:
    """Whoever asks later gets a new one."""
    now, looks = [100.0], Looks()
    readiness = Readiness(looks, clock=lambda: now[0])
    first = [readiness.reasons() for _ in range(1000)]
    now[0] += 60
    later = readiness.reasons()

    assert {*first} == {("look 1",)}
    assert (later, looks.count) == (("look 2",), 2)


def test_whoever_asks_while_somebody_looks_gets_the_last_answer() -> None:
    """A database that does not answer holds one thread, and not one for each caller."""
    now, looks = [100.0], Looks()
    readiness = Readiness(looks, clock=lambda: now[0])
    readiness.reasons()
    now[0] += 60
    looks.gate.clear()
    looks.is_looking.clear()
    with ThreadPoolExecutor(1) as pool:
        slow = pool.submit(readiness.reasons)
        assert looks.is_looking.wait(60)
        meanwhile = readiness.reasons()
        looks.gate.set()

        assert meanwhile == ("look 1",)
        assert slow.result() == ("look 2",)
