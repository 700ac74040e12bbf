"""Both histories count use by the same contract: by day, permanently, until erased."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commonplace.errors import UsageError
from commonplace.history.base import MOST_CONTEXTS, GivenContext, GivenPiece, History, NewThread, Use
from commonplace.model import Message, TopicLock
from tests.contract.twins import HISTORIES

NOW = datetime(2026, 3, 1, 9, 12, 44, tzinfo=UTC)
BOAT, TEA = str(UUID(int=1)), str(UUID(int=2))
LOCK = TopicLock("c-1", ("boats", "crête"), "2026-03-01T09:12:44Z")


@pytest.mark.requirement("V-03", "V-23", "A-34")
def test_a_recall_is_a_use_on_its_day(history: History) -> None:
    """A retrieval hit refreshes when the fact was last used; how often and on how many days is counted apart."""
    history.record_use([BOAT, TEA], now=NOW)
    history.record_use([BOAT], now=NOW + timedelta(hours=1))
    history.record_use([BOAT], now=NOW + timedelta(days=2))

    assert history.uses([BOAT, TEA]) == {
        BOAT: Use(times=3, days=2, last="2026-03-03"),
        TEA: Use(times=1, days=1, last="2026-03-01"),
    }


def test_what_was_never_used_is_left_out(history: History) -> None:
    """It has no row of zeros, and no ids give no result."""
    history.record_use([], now=NOW)
    history.record_use([BOAT], now=NOW)

    assert history.uses([TEA, "", "\ud800", "' OR 1=1 --"]) == {}
    assert history.uses([]) == {}


def test_a_fact_that_is_named_twice_in_one_recall_is_used_once(history: History) -> None:
    """It was shown to someone once."""
    history.record_use([BOAT, TEA, BOAT], now=NOW)

    assert history.uses(iter([BOAT, BOAT])) == {BOAT: Use(1, 1, "2026-03-01")}


def test_a_day_is_a_day_of_utc(history: History) -> None:
    """Of whatever zone the moment is: half past eight in Tokyo is still the day before."""
    tokyo, new_york = timezone(timedelta(hours=9)), timezone(timedelta(hours=-5))
    history.record_use([BOAT], now=datetime(2026, 3, 2, 8, 30, tzinfo=tokyo))
    history.record_use([BOAT], now=datetime(2026, 3, 1, 18, 59, 59, 999_999, tzinfo=new_york))
    history.record_use([TEA], now=datetime(2026, 3, 1, 19, 0, tzinfo=new_york))

    assert history.uses([BOAT, TEA]) == {BOAT: Use(2, 1, "2026-03-01"), TEA: Use(1, 1, "2026-03-02")}


@pytest.mark.parametrize(
    ("since", "found"),
    [
        (NOW - timedelta(days=9), {BOAT: Use(4, 3, "2026-03-03")}),
        (datetime(2026, 3, 2, 23, 59, 59, tzinfo=UTC), {BOAT: Use(3, 2, "2026-03-03")}),
        (datetime(2026, 3, 2, 0, 0, tzinfo=timezone(timedelta(hours=9))), {BOAT: Use(4, 3, "2026-03-03")}),
        (datetime(2026, 3, 4, tzinfo=UTC), {}),
    ],
)
def test_uses_are_asked_for_from_a_day_on(history: History, since: datetime, found: dict[str, Use]) -> None:
    """The whole day of that moment in UTC is within; what was used only before it is left out."""
    for days in (2, 0, 1, 1):
        history.record_use([BOAT], now=NOW + timedelta(days=days))

    assert history.uses([BOAT, TEA], since=since) == found


def test_a_time_without_a_zone_has_no_day(history: History) -> None:
    """Neither in a use nor in a query; nothing is counted."""
    bare = datetime(2026, 3, 1)
    with pytest.raises(UsageError, match="has no zone"):
        history.record_use([BOAT], now=bare)
    with pytest.raises(UsageError, match="has no zone"):
        history.uses([BOAT], since=bare)

    assert history.uses([BOAT]) == {}


def test_ten_thousand_facts_are_one_call(history: History) -> None:
    """However many there are, all are counted, returned and forgotten."""
    many = [str(UUID(int=number)) for number in range(10_000)]
    history.record_use(many, now=NOW)
    history.record_use(many[:5_000], now=NOW + timedelta(days=1))
    found = history.uses(many)

    assert len(found) == 10_000
    assert (found[many[0]], found[many[-1]]) == (Use(2, 2, "2026-03-02"), Use(1, 1, "2026-03-01"))
    assert len(history.uses(many, since=NOW + timedelta(days=1))) == 5_000
    assert history.forget_uses(many[1:]) == 14_998
    assert list(history.uses(many)) == [many[0]]


def test_forgotten_uses_are_gone_and_others_stay(history: History) -> None:
    """Returns how many rows were removed, one for each day; a later use is the first one."""
    for days in (0, 0, 1):
        history.record_use([BOAT, TEA], now=NOW + timedelta(days=days))

    assert (history.forget_uses([BOAT, "nobody"]), history.forget_uses([BOAT]), history.forget_uses([])) == (2, 0, 0)
    assert history.uses([BOAT, TEA]) == {TEA: Use(3, 2, "2026-03-02")}
    history.record_use([BOAT], now=NOW)
    assert history.uses([BOAT]) == {BOAT: Use(1, 1, "2026-03-01")}


def test_the_topics_of_a_conversation_are_kept(history: History) -> None:
    """One lock for each conversation, with its topics in order: the last that was given, also for none at all."""
    other = TopicLock("c-2", ("tea",), "2026-03-01T10:00:00Z")
    moved = TopicLock("c-1", (), "2026-03-02T09:00:00Z")
    history.lock_topics(LOCK)
    history.lock_topics(other)

    assert (history.topic_lock("c-1"), history.topic_lock("c-2")) == (LOCK, other)
    history.lock_topics(moved)
    assert (history.topic_lock("c-1"), history.topic_lock("c-2")) == (moved, other)
    assert history.topic_lock("c-3") is None


@pytest.mark.parametrize("lock", [TopicLock(" ", (), LOCK.at), TopicLock("c-1", (), ""), TopicLock("c-1", (), "today")])
def test_a_lock_of_no_conversation_or_time_is_refused(history: History, lock: TopicLock) -> None:
    """It could not be found again."""
    with pytest.raises(UsageError) as refused:
        history.lock_topics(lock)

    assert refused.value.hint
    assert history.topic_lock(lock.conversation) is None


@pytest.mark.parametrize("name", ["id", "source"])
def test_a_forgotten_conversation_takes_its_topics_along(history: History, name: str) -> None:
    """By whichever of its two names they were locked; those of others stay."""
    id_ = history.record_conversation(NewThread("x", "s-1"), [Message("user", "My boat.")], now=NOW).id
    locked = id_ if name == "id" else "s-1"
    history.lock_topics(TopicLock(locked, ("boats",), LOCK.at))
    history.lock_topics(LOCK)
    history.forget_conversation(id_)

    assert (history.topic_lock(locked), history.topic_lock("c-1")) == (None, LOCK)


def test_uses_and_topics_outlive_what_is_open(history: History) -> None:
    """`close` releases files; the next call opens them again."""
    history.record_use([BOAT], now=NOW)
    history.lock_topics(LOCK)
    history.close()

    assert history.uses([BOAT]) == {BOAT: Use(1, 1, "2026-03-01")}
    assert history.topic_lock("c-1") == LOCK


@settings(max_examples=30)
@given(
    recalls=st.lists(st.tuples(st.lists(st.sampled_from("abcd"), max_size=4), st.integers(0, 3)), max_size=8),
    gone=st.sets(st.sampled_from("abcd"), max_size=2),
    since=st.none() | st.integers(0, 3),
)
def test_all_twins_count_the_same(
    tmp_path_factory: pytest.TempPathFactory,
    recalls: list[tuple[list[str], int]],
    gone: set[str],
    since: int | None,
) -> None:
    """Any recalls in any order of days, some forgotten."""
    told = []
    for make in HISTORIES.values():
        twin = make(tmp_path_factory.mktemp("twin"))
        for ids, day in recalls:
            twin.record_use(ids, now=NOW + timedelta(days=day))
        went = twin.forget_uses(gone)
        told.append((went, twin.uses("abcd", since=None if since is None else NOW + timedelta(days=since))))
        twin.close()

    assert all(each == told[0] for each in told)


def test_contexts_that_were_given_are_remembered_and_forgotten(history: History) -> None:
    """Newest first, so many at most; those of a conversation go with it, all with a path that is erased."""
    piece = GivenPiece("facts", "f1", "Agent/Memory/fact/a.md", "named by the prompt é", 40)
    one = GivenContext(at=NOW, origin="mcp", conversation="one", prompt="hi", chars=9, silence="", pieces=(piece,))
    about = replace(one, conversation="two", pieces=(piece._replace(key="one", path="one"),))
    other = replace(one, conversation="three", pieces=(), silence="nothing to search")
    for each in (one, about, other):
        history.record_context(each)

    assert history.contexts(limit=2) == (other, about)
    history.forget_conversation("one")
    assert history.contexts(limit=9) == (other,)
    for _ in range(MOST_CONTEXTS):
        history.record_context(one)
    assert history.contexts(limit=MOST_CONTEXTS + 1) == (one,) * MOST_CONTEXTS
    history.forget_path("Agent/Memory/fact/a.md")
    assert history.contexts(limit=9) == ()
