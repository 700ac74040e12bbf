"""Every history keeps the contract of the seam: in SQLite, in PostgreSQL and in memory."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commonplace.errors import UsageError
from commonplace.history.base import AuditEntry, History, ModelCall
from tests.contract.twins import HISTORIES

NOW = datetime(2026, 3, 1, 9, 12, 44, tzinfo=UTC)
ENTRY = AuditEntry(
    mutation="m1",
    when=NOW,
    verb="write",
    path="Inbox/a.md",
    actor="agent",
    origin="mcp",
    reason="commonplace: write Inbox/a.md",
    before=None,
    after="f" * 64,
    commit="c1",
    in_digest=True,
    person="ada",
)


def entry(number: int, **fields: object) -> AuditEntry:
    """One of many mutations, a minute apart, each with a commit of its own."""
    when = NOW + timedelta(minutes=number)
    return replace(ENTRY, mutation=f"m{number}", commit=f"c{number}", when=when, **fields)  # type: ignore[arg-type]


@pytest.mark.requirement("V-28")
def test_what_was_recorded_comes_back_whole(history: History) -> None:
    """Who, what, why, before and after, the commit: every state change is a row, and no row replaces another."""
    moved = entry(2, verb="move", destination="People/é 'b'.md", actor="person", before="e" * 64, in_digest=False)
    bare = AuditEntry("m3", NOW + timedelta(hours=1), "undo", "x.md", "job", "cli", "")
    history.record(entry(1))
    history.record(moved)
    history.record(bare)

    assert history.entries() == (bare, moved, entry(1))


def test_rows_are_newest_first_by_their_time(history: History) -> None:
    """Also when an older one is added later; of one second, the later addition counts as newer."""
    history.record(entry(5, path="first.md"), entry(5, path="second.md"))
    history.record(entry(1))

    assert [row.path for row in history.entries()] == ["second.md", "first.md", "Inbox/a.md"]


def test_recording_nothing_adds_nothing(history: History) -> None:
    """A mutation that touched no note has no row."""
    history.record()

    assert history.entries() == ()


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ({"path": "a.md"}, ["m4", "m1"]),
        ({"path": "b.md"}, ["m4", "m2"]),
        ({"path": "A.md"}, []),
        ({"actor": "job"}, ["m3"]),
        ({"since": NOW + timedelta(minutes=3)}, ["m4", "m3"]),
        ({"since": datetime(2026, 3, 1, 4, 15, 44, tzinfo=timezone(timedelta(hours=-5)))}, ["m4", "m3"]),
        ({"until": NOW + timedelta(minutes=2)}, ["m2", "m1"]),
        ({"verb": "move"}, ["m4"]),
        ({"limit": 1}, ["m4"]),
        ({"limit": 0}, []),
        ({"path": "a.md", "actor": "person", "since": NOW, "limit": 5}, ["m4"]),
        ({}, ["m4", "m3", "m2", "m1"]),
    ],
)
def test_rows_are_asked_for_by_path_actor_time_and_number(
    history: History, asked: dict[str, object], found: list[str]
) -> None:
    """All conditions hold at once; a move is a row of both of its paths; `since` is the first moment that counts."""
    history.record(entry(1, path="a.md"), entry(2, path="b.md"), entry(3, path="c.md", actor="job"))
    history.record(entry(4, path="b.md", destination="a.md", verb="move", actor="person"))

    assert [row.mutation for row in history.entries(**asked)] == found  # type: ignore[arg-type]


def test_times_are_utc_to_the_second(history: History) -> None:
    """Another zone is the same moment; what is below a second is dropped, as commits do."""
    tokyo = timezone(timedelta(hours=9))
    history.record(replace(ENTRY, when=datetime(2026, 3, 1, 18, 12, 44, 999_999, tzinfo=tokyo)))

    (row,) = history.entries()
    assert (row.when, row.when.tzinfo) == (NOW, UTC)


def test_a_time_without_a_zone_is_refused(history: History) -> None:
    """It does not name a moment."""
    with pytest.raises(UsageError, match="has no zone"):
        history.entries(since=datetime(2026, 3, 1))
    with pytest.raises(UsageError, match="has no zone"):
        replace(ENTRY, when=datetime(2026, 3, 1))


def test_a_limit_below_zero_is_refused(history: History) -> None:
    """It is a mistake, not a request for everything."""
    with pytest.raises(UsageError, match="limit must be at least 0"):
        history.entries(limit=-1)


def test_the_newest_commit_is_the_latest_in_time(history: History) -> None:
    """Whatever the order in which commits became known; rows without a commit do not count."""
    assert history.newest_commit() is None
    history.record(entry(2))
    history.record(entry(1))
    history.record(replace(entry(9), commit=None))

    assert history.newest_commit() == "c2"


def test_a_lost_history_is_recovered_once(history: History) -> None:
    """Rows made from commits are added when their commit is not known, and only then."""
    history.record(entry(2))
    from_git = [entry(1), replace(entry(2), reason="as git tells it"), entry(3), entry(3, path="b.md")]

    assert history.recover(iter(from_git)) == 3
    assert history.recover(from_git) == 0
    assert history.entries() == (entry(3, path="b.md"), entry(3), entry(2), entry(1))


def test_rows_without_a_commit_are_not_recovered(history: History) -> None:
    """They could not be told from rows that are there already."""
    assert history.recover([replace(ENTRY, commit=None)]) == 0
    assert history.entries() == ()


def test_a_forgotten_path_is_in_no_row(history: History) -> None:
    """Neither as the path changed, nor as a destination, nor in the reason of a mutation shared with other notes."""
    both = "commonplace: write a.md and b.md"
    history.record(replace(entry(1), path="a.md", reason=both), replace(entry(1), path="b.md", reason=both))
    history.record(entry(2, path="c.md", destination="a.md"), entry(3, path="d.md", reason="like a.md"))

    assert history.forget_path("a.md") == 2
    assert [(row.path, row.reason) for row in history.entries()] == [
        ("d.md", "like a.md"),
        ("b.md", "commonplace: write [erased] and b.md"),
    ]
    assert history.forget_path("a.md") == 0


def test_a_forgotten_path_is_not_recovered(history: History) -> None:
    """git may still name it; its commits stay known, by their hashes alone."""
    history.record(entry(1), entry(2, path="b.md"))
    history.forget_path("b.md")

    assert history.recover([entry(1), entry(2, path="b.md")]) == 0
    assert history.newest_commit() == "c2"
    assert history.entries() == (entry(1),)


def test_a_grant_works_once(history: History) -> None:
    """A personal note is written by a separate, explicit, authorised call: each takes a grant of its own."""
    token = history.give_grant("Diary.md", now=NOW)

    assert history.has_grant(token, "Diary.md", now=NOW)
    assert history.has_grant(token, "Diary.md", now=NOW)  # asking does not use it up
    assert history.use_grant(token, "Diary.md", now=NOW)
    assert not history.use_grant(token, "Diary.md", now=NOW)
    assert not history.has_grant(token, "Diary.md", now=NOW)


def test_a_grant_works_for_exactly_its_path(history: History) -> None:
    """Another path is refused, another spelling too, and the grant is not used up by that."""
    token = history.give_grant("Diary.md", now=NOW)

    assert not history.use_grant(token, "Letters.md", now=NOW)
    assert not history.use_grant(token, "diary.md", now=NOW)
    assert history.use_grant(token, "Diary.md", now=NOW)


@pytest.mark.parametrize(("after", "good"), [(timedelta(minutes=3, seconds=-1), True), (timedelta(minutes=3), False)])
def test_a_grant_ends(history: History, after: timedelta, good: bool) -> None:
    """Its minutes are a half-open window."""
    token = history.give_grant("Diary.md", now=NOW, minutes=3)

    assert history.use_grant(token, "Diary.md", now=NOW + after) is good


def test_grants_do_not_disturb_each_other(history: History) -> None:
    """Two for one path are two calls; giving a new one leaves the older one alone."""
    tokens = [history.give_grant("Diary.md", now=NOW + timedelta(seconds=each)) for each in range(2)]

    assert tokens[0] != tokens[1]
    assert [history.use_grant(token, "Diary.md", now=NOW + timedelta(minutes=1)) for token in tokens] == [True, True]


def test_a_grant_is_forgotten_with_its_path(history: History) -> None:
    """An erased note leaves no open grant behind."""
    token = history.give_grant("Diary.md", now=NOW)
    history.forget_path("Diary.md")

    assert not history.use_grant(token, "Diary.md", now=NOW)


@pytest.mark.parametrize("token", ["", "guess", "\ud800", "' OR 1=1 --"])
def test_a_token_that_was_never_given_is_not_a_grant(history: History, token: str) -> None:
    """Whatever it looks like."""
    history.give_grant("Diary.md", now=NOW)

    assert not history.use_grant(token, "Diary.md", now=NOW)


def test_a_grant_for_no_time_is_refused(history: History) -> None:
    """It would allow nothing."""
    with pytest.raises(UsageError, match="at least 1 minute, not 0"):
        history.give_grant("Diary.md", now=NOW, minutes=0)


def test_a_closed_history_opens_again(history: History) -> None:
    """`close` releases files; the next call opens them again."""
    history.record(entry(1))
    history.close()
    history.close()

    assert history.entries() == (entry(1),)


CALL = ModelCall(
    at=NOW,
    task_type="embed_vault_chunk",
    model_alias="minilm-l6-v2",
    input_hash="a" * 64,
    version="minilm-l6-v2@1",
    duration_ms=1.25,
)


def call(number: int, **fields: object) -> ModelCall:
    """One of many calls, a minute apart, each with a text of its own."""
    return replace(CALL, at=NOW + timedelta(minutes=number), input_hash=f"{number:064x}", **fields)  # type: ignore[arg-type]


@pytest.mark.requirement("D-76")
def test_every_text_given_to_a_model_is_a_row(history: History) -> None:
    """One row a text, of both kinds: what for, which model, the text's sha256; no tokens and no cost by default."""
    query = call(2, task_type="embed_memory_query")
    paid = call(3, task_type="extract", model_alias="other", tokens=1200, cost=0.0125)
    history.log_calls([call(1), query])
    history.log_calls([paid])

    assert history.calls() == (paid, query, call(1))
    assert (query.tokens, query.cost, query.model_alias) == (0, 0.0, "minilm-l6-v2")


@pytest.mark.requirement("D-77")
def test_texts_that_were_not_given_to_a_model_add_no_row(history: History) -> None:
    """Of a note that did not change nothing is encoded: no calls, no rows; the count of each type shows it."""
    history.log_calls([call(1), call(2), call(3, task_type="embed_memory_query")])
    history.log_calls([])

    assert history.count_calls("embed_vault_chunk") == 2
    assert history.count_calls("embed_memory_query") == 1
    assert (history.count_calls(), history.count_calls("other")) == (3, 0)


def test_one_text_given_twice_is_two_rows(history: History) -> None:
    """The log counts calls, not texts; of one second, the later addition counts as newer."""
    history.log_calls([CALL, CALL, replace(CALL, duration_ms=9)])

    assert [row.duration_ms for row in history.calls()] == [9, 1.25, 1.25]


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ({}, [4, 3, 2, 1]),
        ({"task_type": "embed_memory_query"}, [4, 2]),
        ({"since": NOW + timedelta(minutes=3)}, [4, 3]),
        ({"since": datetime(2026, 3, 1, 4, 15, 44, tzinfo=timezone(timedelta(hours=-5)))}, [4, 3]),
        ({"limit": 2}, [4, 3]),
        ({"limit": 0}, []),
        ({"task_type": "embed_vault_chunk", "since": NOW, "limit": 1}, [3]),
        ({"task_type": "other"}, []),
    ],
)
def test_calls_are_asked_for_by_type_time_and_number(
    history: History, asked: dict[str, object], found: list[int]
) -> None:
    """All conditions hold at once; newest first, whatever the order in which they were added."""
    of_type = {number: "embed_memory_query" if number % 2 == 0 else "embed_vault_chunk" for number in range(1, 5)}
    history.log_calls([call(number, task_type=of_type[number]) for number in (3, 1, 4, 2)])

    assert [int(row.input_hash, 16) for row in history.calls(**asked)] == found  # type: ignore[arg-type]


def test_calls_keep_the_rules_of_times_and_limits(history: History) -> None:
    """A time has a zone and is kept to the second; a limit is not below zero."""
    history.log_calls([replace(CALL, at=NOW + timedelta(microseconds=999_999))])
    with pytest.raises(UsageError, match="has no zone"):
        replace(CALL, at=datetime(2026, 3, 1))
    with pytest.raises(UsageError, match="has no zone"):
        history.calls(since=datetime(2026, 3, 1))
    with pytest.raises(UsageError, match="limit must be at least 0"):
        history.calls(limit=-1)

    assert history.calls() == (CALL,)


def test_forgotten_texts_leave_no_call(history: History) -> None:
    """An erased note's texts are gone from the log, however often they were given; others stay."""
    history.log_calls([call(1), call(2), call(1), call(3)])

    assert history.forget_calls(f"{number:064x}" for number in (1, 3, 9)) == 3
    assert history.calls() == (call(2),)
    assert history.forget_calls([]) == 0


@settings(max_examples=50)
@given(texts=st.lists(st.tuples(st.text(st.characters(codec="utf-8"), min_size=1), st.integers(0, 3)), max_size=8))
def test_all_twins_return_the_same(tmp_path_factory: pytest.TempPathFactory, texts: list[tuple[str, int]]) -> None:
    """Any text, in any order of times, forgotten or not."""
    twins = [make(tmp_path_factory.mktemp("twin")) for make in HISTORIES.values()]
    told = []
    for twin in twins:
        twin.record(*(entry(number, path=text, reason=f"of {text}") for text, number in texts))
        gone = twin.forget_path(texts[0][0]) if texts else 0
        told.append((gone, twin.newest_commit(), twin.entries(), twin.entries(path=texts[-1][0] if texts else "")))
        twin.close()

    assert all(each == told[0] for each in told)
