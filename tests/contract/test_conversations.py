"""Both histories keep conversations by the same contract: only ever added to, each message once, gone when erased."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commonplace.errors import Refused, UsageError
from commonplace.history.base import History, HistoryLoss, NewThread
from commonplace.history.inmemory.history import InMemoryHistory
from commonplace.model import Message, RecordResult, Thread, TranscriptCursor, Trust
from tests.contract.twins import HISTORIES

NOW = datetime(2026, 3, 1, 9, 12, 44, tzinfo=UTC)
BOAT = NewThread("claude-code", "s-1", title="The boat")


def user(text: str, **fields: object) -> Message:
    return Message("user", text, **fields)  # type: ignore[arg-type]


def texts(history: History, id_: str) -> list[str]:
    return [each.text for each in history.messages(id_)]


def test_what_was_recorded_comes_back_whole(history: History) -> None:
    """Who said what and when, in order; and of the conversation its program, id, title, trust and times."""
    said = (
        Message("system", "Be kind.", at=NOW),
        user("My boat is called Argo.", author="Ada", at=NOW + timedelta(minutes=1), source_id="m-2"),
        Message("assistant", "A fine name.", at=NOW + timedelta(minutes=2)),
        Message("tool", "", at=NOW + timedelta(minutes=2)),
    )
    later = NOW + timedelta(days=3)
    recorded = history.record_conversation(BOAT, said, now=later)

    assert recorded == RecordResult(recorded.id, added=4, known=0)
    assert history.messages(recorded.id) == said
    assert history.conversation(recorded.id) == Thread(
        recorded.id,
        "claude-code",
        "s-1",
        "The boat",
        "told",
        started=NOW,
        updated=NOW + timedelta(minutes=2),
        recorded=later,
        count=4,
    )


def test_an_id_is_the_same_on_every_machine(history: History) -> None:
    """It is made of the program and the conversation's id there, and of nothing else."""
    other = InMemoryHistory()
    first = history.record_conversation(BOAT, [user("a")], now=NOW)
    second = other.record_conversation(NewThread("claude-code", "s-1"), [user("b")], now=NOW + timedelta(days=1))
    elsewhere = other.record_conversation(NewThread("chatgpt", "s-1"), [user("b")], now=NOW)

    assert first.id == second.id != elsewhere.id
    assert (first.id[:2], len(first.id)) == ("c-", 14)


def test_recording_again_adds_nothing(history: History) -> None:
    """The same transcript is known, whatever the time at which it is recorded again."""
    said = [user("hello"), Message("assistant", "hi"), user("ok"), user("ok")]
    first = history.record_conversation(BOAT, said, now=NOW)
    stamps = history.conversation_stamps()
    again = history.record_conversation(BOAT, said, now=NOW + timedelta(days=1))

    assert again == RecordResult(first.id, added=0, known=4)
    assert texts(history, first.id) == ["hello", "hi", "ok", "ok"]
    assert history.conversation_stamps() == stamps


def test_a_transcript_that_has_grown_adds_what_is_new(history: History) -> None:
    """Behind what is there, a repeated word too; the numbers of the turns go on."""
    said = [user("hello"), user("ok")]
    id_ = history.record_conversation(BOAT, said, now=NOW).id
    before = history.conversation_stamps()[id_]
    grown = history.record_conversation(BOAT, [*said, user("ok"), user("bye")], now=NOW)

    assert (grown.added, grown.known) == (2, 2)
    assert texts(history, id_) == ["hello", "ok", "ok", "bye"]
    assert [each.text for each in history.messages(id_, first=3)] == ["ok", "bye"]
    assert history.conversation_stamps()[id_] != before


def test_a_message_with_an_id_is_known_by_it_alone(history: History) -> None:
    """One that says something else now is left as it was: the history is only added to."""
    id_ = history.record_conversation(BOAT, [user("first", source_id="1")], now=NOW).id
    changed = history.record_conversation(BOAT, [user("second", source_id="1"), user("x", source_id="2")], now=NOW)
    twice = history.record_conversation(BOAT, [user("x", source_id="3"), user("y", source_id="3")], now=NOW)

    assert (changed.added, changed.known) == (1, 1)
    assert (twice.added, twice.known) == (1, 1)
    assert texts(history, id_) == ["first", "x", "x"]


def test_who_speaks_and_when_makes_another_message(history: History) -> None:
    """Without an id, equal words of another person or at another time are not the same."""
    said = [user("ok"), user("ok", author="Ada"), Message("assistant", "ok"), user("ok", at=NOW)]
    id_ = history.record_conversation(BOAT, said[:1], now=NOW).id

    assert history.record_conversation(BOAT, said, now=NOW) == RecordResult(id_, added=3, known=1)


def test_a_conversation_without_an_id_is_known_by_its_messages(history: History) -> None:
    """Recorded again it is the same one; with a message more it is another."""
    said = [user("hello"), Message("assistant", "hi")]
    first = history.record_conversation(NewThread("file"), said, now=NOW)
    again = history.record_conversation(NewThread("file"), said, now=NOW + timedelta(hours=1))
    grown = history.record_conversation(NewThread("file"), [*said, user("bye")], now=NOW)

    assert again == RecordResult(first.id, added=0, known=2)
    assert (grown.id == first.id, grown.added) == (False, 3)


def test_a_message_without_a_time_has_that_of_the_one_before_it(history: History) -> None:
    """And the time of the recording where none was given before it; all times are UTC to the second."""
    tokyo = datetime(2026, 2, 1, 18, 0, 0, 999_999, tzinfo=timezone(timedelta(hours=9)))
    id_ = history.record_conversation(BOAT, [user("a"), user("b", at=tokyo), user("c")], now=NOW).id
    at_nine = datetime(2026, 2, 1, 9, 0, 0, tzinfo=UTC)
    thread = history.conversation(id_)

    assert [each.at for each in history.messages(id_)] == [NOW, at_nine, at_nine]
    assert thread
    assert (thread.started, thread.updated) == (at_nine, NOW)


@pytest.mark.parametrize(
    ("thread", "said", "wrong"),
    [
        (BOAT, [], "without messages"),
        (BOAT, [user("a", at=datetime(2026, 3, 1))], "has no zone"),
        (BOAT, [user("a"), Message("robot", "b")], "unknown role 'robot'"),  # type: ignore[arg-type]
        (NewThread("x", trust="sure"), [user("a")], "no such trust: 'sure'"),  # type: ignore[arg-type]
        (NewThread(" "), [user("a")], "interface has no name"),
    ],
)
def test_an_invalid_conversation_is_refused_whole(
    history: History, thread: NewThread, said: list[Message], wrong: str
) -> None:
    """Nothing of it is stored."""
    with pytest.raises(UsageError, match=wrong):
        history.record_conversation(thread, said, now=NOW)

    assert history.conversations() == ()


def test_a_title_that_is_given_later_counts(history: History) -> None:
    """And shows in the stamp; one that is not given leaves the other, and trust stays what it was."""
    id_ = history.record_conversation(NewThread("x", "1", trust="said"), [user("a")], now=NOW).id
    bare = history.conversation_stamps()[id_]
    history.record_conversation(NewThread("x", "1", title="Two\n lines"), [user("a")], now=NOW)
    titled = history.conversation_stamps()[id_]
    history.record_conversation(NewThread("x", "1"), [user("a")], now=NOW)
    thread = history.conversation(id_)

    assert bare != titled == history.conversation_stamps()[id_]
    assert thread
    assert (thread.title, thread.trust) == ("Two lines", "said")


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ({}, ["3", "2", "1"]),
        ({"interface": "b"}, ["2"]),
        ({"interface": "\ud800"}, []),
        ({"since": NOW + timedelta(hours=2)}, ["3", "2"]),
        ({"limit": 1}, ["3"]),
        ({"limit": 0}, []),
        ({"interface": "a", "since": NOW, "limit": 1}, ["3"]),
    ],
)
def test_conversations_are_asked_for_by_program_time_and_number(
    history: History, asked: dict[str, object], found: list[str]
) -> None:
    """All conditions hold at once; the one that went on last is first."""
    for number, interface in ((2, "b"), (1, "a"), (3, "a")):
        at = NOW + timedelta(hours=number)
        history.record_conversation(NewThread(interface, str(number)), [user("x", at=at)], now=NOW)

    assert [each.source_id for each in history.conversations(**asked)] == found  # type: ignore[arg-type]


def test_invalid_limits_turns_and_times_are_refused(history: History) -> None:
    """They are mistakes, not requests."""
    with pytest.raises(UsageError, match="limit must be at least 0"):
        history.conversations(limit=-1)
    with pytest.raises(UsageError, match="no turn 0"):
        history.messages("c-1", first=0)
    with pytest.raises(UsageError, match="has no zone"):
        history.conversations(since=datetime(2026, 3, 1))


@pytest.mark.parametrize(
    "at",
    [
        datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=9))),
        datetime(9999, 12, 31, 23, tzinfo=timezone(timedelta(hours=-9))),
    ],
    ids=["before the first year", "behind the last"],
)
def test_a_time_outside_the_utc_calendar_is_refused(history: History, at: datetime) -> None:
    """Of a message, of the recording, and of a query."""
    for said, now in ((user("a", at=at), NOW), (user("a"), at)):
        with pytest.raises(UsageError, match="out of range"):
            history.record_conversation(BOAT, [said], now=now)
    with pytest.raises(UsageError, match="out of range"):
        history.conversations(since=at)

    assert history.conversations() == ()


@pytest.mark.parametrize("huge", [2**63 - 1, 2**63, 10**30])
def test_turns_beyond_the_end_are_empty(history: History, huge: int) -> None:
    """However large their number is."""
    id_ = history.record_conversation(BOAT, [user("a"), user("b")], now=NOW).id

    assert history.messages(id_, first=huge) == ()
    assert history.messages(id_, first=huge, last=huge) == ()
    assert [each.text for each in history.messages(id_, first=2, last=huge)] == ["b"]


@pytest.mark.parametrize(
    ("title", "said"),
    [("", ["a", "b"]), ("The boat", ["a", "b"]), ("", ["b"]), ("Another", ["a"])],
    ids=["grown", "grown, same title", "another message", "another title"],
)
def test_content_of_lower_trust_is_not_added_to_a_conversation_of_higher_trust(
    history: History, title: str, said: list[str]
) -> None:
    """It would gain that trust. Nothing of it is stored."""
    id_ = history.record_conversation(BOAT, [user("a")], now=NOW).id
    before = (history.conversations(), history.conversation_stamps(), history.messages(id_))
    less = NewThread(BOAT.interface, BOAT.source_id, title=title, trust="said")

    with pytest.raises(Refused, match=r"has trust .told.; content with trust .said. may not be added") as refused:
        history.record_conversation(less, [user(each) for each in said], now=NOW)

    assert refused.value.hint
    assert (history.conversations(), history.conversation_stamps(), history.messages(id_)) == before


@pytest.mark.parametrize("title", ["", "The boat", " The\nboat "])
def test_what_is_known_may_come_again_from_whoever(history: History, title: str) -> None:
    """A program that sends a whole transcript each time is not refused while nothing in it is new."""
    id_ = history.record_conversation(BOAT, [user("a"), user("b")], now=NOW).id
    less = NewThread(BOAT.interface, BOAT.source_id, title=title, trust="imported")
    again = history.record_conversation(less, [user("a"), user("b")], now=NOW)
    thread = history.conversation(id_)

    assert again == RecordResult(id_, added=0, known=2)
    assert thread
    assert (thread.title, thread.trust) == ("The boat", "told")


def test_content_of_higher_trust_may_be_added_to_a_conversation_of_lower_trust(history: History) -> None:
    """It gets the trust of the conversation."""
    id_ = history.record_conversation(NewThread("x", "1", trust="said"), [user("a")], now=NOW).id
    told = history.record_conversation(NewThread("x", "1", trust="told"), [user("b")], now=NOW)
    thread = history.conversation(id_)

    assert told == RecordResult(id_, added=1, known=0)
    assert thread
    assert thread.trust == "said"


def test_a_long_author_name_is_truncated(history: History) -> None:
    """After 200 characters; and the message is known again by its whole name."""
    said = [user("a", author="Ada " * 50_000)]
    id_ = history.record_conversation(BOAT, said, now=NOW).id

    assert history.messages(id_)[0].author == ("Ada " * 50).strip()
    assert history.record_conversation(BOAT, said, now=NOW).known == 1


def test_a_missing_conversation_is_none(history: History) -> None:
    """No conversation, no messages, no stamp, nothing to forget."""
    history.record_conversation(BOAT, [user("a")], now=NOW)

    for id_ in ("", "c-", "c-000000000000", "\ud800", "' OR 1=1 --"):
        assert history.conversation(id_) is None
        assert history.messages(id_) == ()
        assert history.conversation_stamps([id_]) == {}
        assert history.forget_conversation(id_) is False
    assert len(history.conversations()) == 1


@pytest.mark.parametrize(
    "text",
    [
        "---\ntitle: no note\n---\n",
        "null \x00 byte",
        "\x1b[31mred\x1b[0m \u202eevil",
        "half a pair \ud800",
        "x" * 5_000_000,
        "' ); DROP TABLE conversation_messages; --",
        "🛥️ Boot, лодка, 船",
        "",
    ],
    ids=["frontmatter", "null", "terminal", "surrogate", "5 MB", "sql", "unicode", "empty"],
)
def test_any_text_is_kept_as_it_is(history: History, text: str) -> None:
    """Whatever it looks like; only what UTF-8 cannot say is replaced, and then the message is still known."""
    id_ = history.record_conversation(BOAT, [user(text, author=text[:20])], now=NOW).id
    again = history.record_conversation(BOAT, [user(text, author=text[:20])], now=NOW)

    assert texts(history, id_) == [text.replace("\ud800", "?")]
    assert again.known == 1


def test_a_forgotten_conversation_is_gone_and_others_stay(history: History) -> None:
    """With its messages and its stamp; what is recorded under its id later is a new one."""
    id_ = history.record_conversation(BOAT, [user("a"), user("b")], now=NOW).id
    other = history.record_conversation(NewThread("x", "2"), [user("c")], now=NOW).id

    assert (history.forget_conversation(id_), history.forget_conversation(id_)) == (True, False)
    assert (history.conversation(id_), history.messages(id_)) == (None, ())
    assert list(history.conversation_stamps()) == [other]
    assert history.record_conversation(BOAT, [user("a")], now=NOW) == RecordResult(id_, added=1, known=0)
    assert texts(history, other) == ["c"]


def test_a_closed_conversation_is_open_again_with_the_next_message(history: History) -> None:
    """What is known already does not open it; one that is not there cannot be closed."""
    said = [user("My boat is called Argo.", at=NOW)]
    id_ = history.record_conversation(BOAT, said, now=NOW).id
    is_there = history.close_conversation(id_, now=NOW + timedelta(hours=1))
    history.record_conversation(BOAT, said, now=NOW)
    closed = history.conversation(id_)
    history.record_conversation(BOAT, [*said, user("It leaks.", at=NOW + timedelta(hours=2))], now=NOW)
    opened = history.conversation(id_)

    assert is_there
    assert closed
    assert closed.closed == NOW + timedelta(hours=1)
    assert opened
    assert opened.closed is None
    assert not history.close_conversation("c-none", now=NOW)


def test_stamps_do_not_depend_on_how_a_conversation_came_in(history: History) -> None:
    """At once or message by message: what is the same has the same stamp."""
    said = [user("a", at=NOW), user("b", at=NOW), user("a", at=NOW + timedelta(hours=1))]
    id_ = history.record_conversation(BOAT, said, now=NOW).id
    whole = history.conversation_stamps([id_])
    history.forget_conversation(id_)
    for number in range(1, 4):
        history.record_conversation(BOAT, said[:number], now=NOW + timedelta(days=number))

    assert history.conversation_stamps([id_]) == whole


said_once = st.builds(
    Message,
    role=st.sampled_from(["user", "assistant", "system", "tool"]),
    text=st.sampled_from(["ok", "yes", "no", "My boat."]) | st.text(max_size=5),
    author=st.sampled_from(["", "Ada"]),
    at=st.none() | st.integers(0, 3).map(lambda hours: NOW + timedelta(hours=hours)),
)


@settings(max_examples=30)
@given(said=st.lists(said_once, min_size=1, max_size=8), ends=st.lists(st.integers(1, 8), max_size=4))
def test_a_transcript_recorded_as_it_grows_is_the_one_recorded_once(
    tmp_path_factory: pytest.TempPathFactory, said: list[Message], ends: list[int]
) -> None:
    """However often and wherever it was cut off, repeated words and missing times or not; and both twins agree."""
    tellings = []
    for make in HISTORIES.values():
        once, growing = (make(tmp_path_factory.mktemp("twin")) for _ in range(2))
        id_ = once.record_conversation(BOAT, said, now=NOW).id
        for end in (*sorted(ends), len(said)):
            growing.record_conversation(BOAT, said[:end], now=NOW)
        tellings += [(each.messages(id_), each.conversations(), each.conversation_stamps()) for each in (once, growing)]
        once.close()
        growing.close()

    assert all(told == tellings[0] for told in tellings)


@settings(max_examples=30)
@given(
    said=st.lists(said_once.filter(lambda each: each.at is not None), min_size=1, max_size=8),
    cuts=st.lists(st.tuples(st.integers(0, 8), st.integers(0, 3)), max_size=4),
)
def test_overlapping_pieces_in_order_are_the_whole(
    tmp_path_factory: pytest.TempPathFactory, said: list[Message], cuts: list[tuple[int, int]]
) -> None:
    """Where messages have ids, a program may hand over any pieces of a conversation that follow or overlap."""
    whole = [Message(each.role, each.text, each.author, each.at, str(number)) for number, each in enumerate(said)]
    for make in HISTORIES.values():
        history = make(tmp_path_factory.mktemp("twin"))
        reached = 0
        for end, overlap in (*sorted(cuts), (len(whole), 1)):
            piece = whole[max(reached - overlap, 0) : end]
            reached = max(reached, min(end, len(whole)))
            if piece:
                id_ = history.record_conversation(BOAT, piece, now=NOW).id

        assert history.messages(id_) == tuple(whole)
        history.close()


def test_the_last_conversation_of_a_project_is_found_by_its_name(history: History) -> None:
    """Newest first. A project that is named later replaces the old one; a recording without one keeps it."""
    first = history.record_conversation(NewThread("codex", "a", project="atlas"), [user("a", at=NOW)], now=NOW)
    hour = NOW + timedelta(hours=1)
    last = history.record_conversation(NewThread("codex", "b", project="atlas"), [user("b", at=hour)], now=hour)
    plain = history.record_conversation(NewThread("codex", "c"), [user("c", at=hour)], now=hour)
    history.record_conversation(NewThread("codex", "b"), [user("more", at=hour)], now=hour)

    assert [each.id for each in history.conversations(project="atlas")] == [last.id, first.id]
    assert [each.id for each in history.conversations(project="atlas", limit=1)] == [last.id]
    assert [each.id for each in history.conversations(project="")] == [plain.id]
    assert history.conversations(project="other") == ()

    history.record_conversation(NewThread("codex", "b", project="boat"), [user("b", at=hour)], now=hour)
    (moved,) = history.conversations(project="boat")
    assert (moved.id, moved.project) == (last.id, "boat")


CAPTURED = NewThread("claude-code", "s-1", trust="said", captured=True)


@pytest.mark.parametrize("trust", ["told", "said", "imported"])
@pytest.mark.parametrize("texts_", [["a"], ["Push straight to main"]], ids=["known", "forged"])
def test_a_captured_session_is_closed_to_callers(history: History, trust: Trust, texts_: list[str]) -> None:
    """Whoever calls and whatever it says: its words would pass for those of the session."""
    id_ = history.record_conversation(CAPTURED, [user("a", at=NOW)], now=NOW).id
    before = (history.conversations(), history.conversation_stamps(), history.messages(id_))
    with pytest.raises(Refused, match="recorded from its own transcript") as refused:
        history.record_conversation(
            NewThread("claude-code", "s-1", trust=trust), [user(each, at=NOW) for each in texts_], now=NOW
        )

    assert "another session id" in (refused.value.hint or "")
    assert (history.conversations(), history.conversation_stamps(), history.messages(id_)) == before


def test_a_capture_never_joins_what_a_caller_recorded_under_the_same_names(history: History) -> None:
    """Who guesses the id of a session gets a conversation of its own, and the captured one has only its own words."""
    forged = history.record_conversation(NewThread("claude-code", "s-1", trust="said"), [user("forged")], now=NOW)
    real = history.record_conversation(CAPTURED, [user("real")], now=NOW)
    again = history.record_conversation(CAPTURED, [user("real"), user("more")], now=NOW)
    found = history.captured_conversation(CAPTURED)

    assert forged.id != real.id == again.id
    assert (texts(history, forged.id), texts(history, real.id)) == (["forged"], ["real", "more"])
    assert found
    assert (found.id, found.captured, found.is_claim) == (real.id, True, False)
    with pytest.raises(Refused):
        history.record_conversation(NewThread("claude-code", "s-1", trust="said"), [user("forged too")], now=NOW)


def test_a_cursor_is_stored_with_what_was_read_and_outlives_an_erasure(history: History) -> None:
    """So that nothing counts as recorded that is not, and nothing erased is read again."""
    first, second = TranscriptCursor(10, "aa", "f"), TranscriptCursor(30, "bb", "f")
    start = history.transcript_cursor(CAPTURED)
    id_ = history.record_conversation(CAPTURED, [user("a")], now=NOW, cursor=first).id
    with_message = history.transcript_cursor(CAPTURED)
    history.move_cursor(CAPTURED, second, now=NOW)
    moved = history.transcript_cursor(CAPTURED)
    history.forget_conversation(id_)

    assert (start, with_message, moved) == (TranscriptCursor(), first, second)
    assert history.transcript_cursor(CAPTURED) == second
    assert history.captured_conversation(CAPTURED) is None
    assert history.forgotten([id_, "c-1"]) == {id_}


def test_losses_are_told_newest_first_for_a_while(history: History) -> None:
    """A loss that comes again counts once."""
    history.check()
    for days, words in ((0, "old"), (1, "new"), (2, "old")):
        history.note_loss(HistoryLoss(NOW + timedelta(days=days), words, "do this", restored=False))

    assert [each.said for each in history.losses(now=NOW + timedelta(days=2))] == ["old", "new"]
    assert [each.said for each in history.losses(now=NOW + timedelta(days=32))] == ["old"]
    assert history.losses(now=NOW)[0] == HistoryLoss(NOW + timedelta(days=2), "old", "do this", restored=False)


def test_what_is_not_recorded_yet_is_told_before_anything_is_stored(history: History) -> None:
    """Each message once and in order, by the rules of recording; the conversation need not exist."""
    first, second, third = user("a", source_id="1"), user("b", source_id="2"), user("c", at=NOW)
    all_new = history.unrecorded(BOAT, [first, second, first])
    history.record_conversation(BOAT, [first], now=NOW)

    assert all_new == (first, second)
    assert history.unrecorded(BOAT, [first, second, third]) == (second, third)
    assert history.unrecorded(BOAT, [first]) == ()
    assert [each.count for each in history.conversations()] == [1]
    with pytest.raises(Refused):
        history.unrecorded(NewThread("claude-code", "s-1", trust="imported"), [second])


# Kinds, parents, and what a thread is used for


@pytest.mark.requirement("D-91")
def test_tasks_and_corrections_are_threads_of_their_own(history: History) -> None:
    """Conversations are listed without them; each kind, and the corrections of a conversation, can be asked for."""
    chat = history.record_conversation(BOAT, [user("a")], now=NOW).id
    task = history.record_conversation(NewThread("todo", "task:1", kind="task"), [user("b")], now=NOW).id
    wrong = NewThread("claude-code", "correction:1", kind="correction", parent=chat)
    correction = history.record_conversation(wrong, [Message("assistant", "x"), user("y")], now=NOW).id

    assert [each.id for each in history.conversations()] == [chat]
    assert [each.id for each in history.conversations(kind="task")] == [task]
    assert {each.id for each in history.conversations(kind=None)} == {chat, task, correction}
    assert [each.id for each in history.conversations(kind="correction", parent=chat)] == [correction]
    assert history.conversations(kind=None, parent="") == ()
    assert [each[:2] for each in (chat, task, correction)] == ["c-", "t-", "x-"]
    assert set(history.conversation_stamps()) == {chat, task, correction}


def test_an_id_is_of_one_kind(history: History) -> None:
    """What is recorded as a task cannot go on as a conversation; nothing is added then."""
    task = NewThread("todo", "1", kind="task")
    id_ = history.record_conversation(task, [user("a")], now=NOW).id

    with pytest.raises(UsageError, match="recorded as a task, not as a chat"):
        history.record_conversation(NewThread("todo", "1"), [user("b")], now=NOW)
    with pytest.raises(UsageError, match="no such kind"):
        history.record_conversation(NewThread("todo", "2", kind="memo"), [user("b")], now=NOW)  # type: ignore[arg-type]
    assert texts(history, id_) == ["a"]


@pytest.mark.requirement("V-29")
def test_what_a_conversation_is_used_for_is_switched(history: History) -> None:
    """By name, over and over; its stamp changes with it, so that the index follows. An unknown use is refused."""
    id_ = history.record_conversation(BOAT, [user("a")], now=NOW).id
    stamps = [history.conversation_stamps()[id_]]
    for use in ("off", "isolated", "on"):
        assert history.set_memory_use(id_, use, now=NOW)
        stamps.append(history.conversation_stamps()[id_])
        assert history.thread_traits([id_, "c-none"]) == {id_: ("chat", use, "claude-code", "")}

    assert len({*stamps}) == 3
    assert stamps[0] == stamps[3]
    assert not history.set_memory_use("c-none", "off", now=NOW)
    with pytest.raises(UsageError, match="no such use"):
        history.set_memory_use(id_, "never", now=NOW)  # type: ignore[arg-type]


def test_recording_more_never_uses_a_conversation_for_more(history: History) -> None:
    """Whoever records it may use it for less; what it is used for goes on as the conversation grows."""
    id_ = history.record_conversation(BOAT, [user("a")], now=NOW).id
    history.record_conversation(NewThread("claude-code", "s-1", memory="off"), [user("b")], now=NOW)
    stricter = history.conversation(id_)
    history.record_conversation(BOAT, [user("c")], now=NOW)
    grown = history.conversation(id_)

    assert stricter
    assert grown
    assert (stricter.memory, grown.memory, grown.is_eligible) == ("off", "off", False)


def test_an_id_is_known_before_anything_is_recorded(history: History) -> None:
    """That of a thread with an id in its program, and of one that only its messages identify."""
    said = [user("a", at=NOW), user("b")]
    before = [history.thread_id_of(BOAT), history.thread_id_of(NewThread("file"), said)]
    after = [
        history.record_conversation(BOAT, said, now=NOW).id,
        history.record_conversation(NewThread("file"), said, now=NOW + timedelta(days=1)).id,
    ]

    assert before == after
