"""What a message is about, and what its conversation is about."""

from time import perf_counter
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pytest

from commonplace.facts.topics import MARGIN, MOST, THRESHOLD, infer, settle_lock
from commonplace.model import TopicLock

NOW, LATER = "2026-03-01T09:00:00Z", "2026-03-01T09:05:00Z"
LOCK = TopicLock("c", ("coding", "music"), NOW)


class Middle(NamedTuple):
    topic: str
    vector: npt.NDArray[np.float32]


def middles(**cosines: float) -> list[Middle]:
    """Middles of topics that have these cosines with the first axis."""
    return [Middle(topic, np.array([cosine, (1 - cosine**2) ** 0.5], np.float32)) for topic, cosine in cosines.items()]


MESSAGE = np.array([1, 0], np.float32)


@pytest.mark.requirement("V-07", "V-09")
def test_a_message_is_about_the_topics_near_it_nearest_first() -> None:
    """Those beyond the threshold, with how near each is."""
    found = infer(MESSAGE, middles(music=0.5, coding=0.8, health=THRESHOLD - 0.01))

    assert [topic for topic, _ in found] == ["coding", "music"]
    assert [cosine for _, cosine in found] == [pytest.approx(0.8), pytest.approx(0.5)]


def test_a_message_is_about_few_topics_and_about_none_where_there_are_none() -> None:
    """Equally near ones in the order of their names."""
    found = infer(MESSAGE, middles(e=0.5, d=0.5, c=0.5, b=0.5, a=0.4))

    assert [topic for topic, _ in found] == ["b", "c", "d"]
    assert len(found) == MOST
    assert infer(MESSAGE, []) == ()
    assert infer(MESSAGE, middles(far=0.0)) == ()


@pytest.mark.requirement("V-09")
def test_a_thousand_topics_are_compared_in_far_less_than_50_milliseconds() -> None:
    """The quickest of five times, so that a busy machine does not count."""
    vectors = np.random.default_rng(7).normal(size=(1000, 384)).astype(np.float32)
    known = [Middle(str(number), vector) for number, vector in enumerate(vectors)]

    def seconds() -> float:
        start = perf_counter()
        infer(vectors[0], known)
        return perf_counter() - start

    assert min(seconds() for _ in range(5)) < 0.02


@pytest.mark.requirement("V-10")
def test_the_first_message_about_something_locks_the_conversation() -> None:
    """What came before it about nothing locks nothing, and nothing has drifted."""
    nothing, _ = settle_lock(None, (), conversation="c", at=NOW)

    assert nothing == TopicLock("c", (), NOW)
    assert settle_lock(None, [("coding", 0.3)], conversation="c", at=NOW) == (TopicLock("c", ("coding",), NOW), False)
    assert settle_lock(nothing, [("coding", 0.3)], conversation="c", at=LATER) == (
        TopicLock("c", ("coding",), LATER),
        False,
    )


@pytest.mark.requirement("V-10")
@pytest.mark.parametrize(
    "inferred",
    [
        (),
        (("coding", 0.5),),
        (("travel", 0.6), ("music", 0.3)),
        (("travel", THRESHOLD + MARGIN / 2),),
    ],
    ids=["about nothing", "about a locked topic", "about a locked topic too", "barely about another"],
)
def test_the_lock_stays_while_a_message_is_not_clearly_about_others_alone(
    inferred: tuple[tuple[str, float], ...],
) -> None:
    """It keeps its moment."""
    assert settle_lock(LOCK, inferred, conversation="c", at=LATER) == (LOCK, False)


@pytest.mark.requirement("V-10")
def test_a_message_clearly_about_others_alone_moves_the_lock() -> None:
    """It has drifted, and the lock is new."""
    inferred = [("travel", THRESHOLD + MARGIN), ("family", THRESHOLD)]

    assert settle_lock(LOCK, inferred, conversation="c", at=LATER) == (
        TopicLock("c", ("travel", "family"), LATER),
        True,
    )
