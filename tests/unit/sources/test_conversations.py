"""Conversations as a source: one document each, one passage for each turn that says something."""

from datetime import UTC, datetime, timedelta

import pytest

from commonplace.history.base import NewThread
from commonplace.history.inmemory.history import InMemoryHistory
from commonplace.model import Message
from commonplace.notes.chunks import last_sentences
from commonplace.sources.base import Source, SourcePassage
from commonplace.sources.conversations import THREAD_TYPES, ConversationSource, conversation_title

NOW = datetime(2026, 3, 1, 9, 12, 44, tzinfo=UTC)
AT = "2026-03-01T09:12:44Z"


@pytest.fixture
def history() -> InMemoryHistory:
    return InMemoryHistory()


@pytest.fixture
def source(history: InMemoryHistory) -> Source:
    return ConversationSource(history, closing=last_sentences)


def test_a_conversation_is_read_turn_by_turn(history: InMemoryHistory, source: Source) -> None:
    """Each with who speaks, when, and the end of what was said before; systems, tools and silence say nothing."""
    said = [
        Message("system", "Be kind.", at=NOW),
        Message("user", "My boat is called Argo.", author="Ada", at=NOW),
        Message("tool", "lookup(argo)", at=NOW),
        Message("user", " \n", at=NOW),
        Message("assistant", "A fine name.", at=NOW + timedelta(minutes=1)),
        Message("user", "ok", at=NOW + timedelta(minutes=2)),
    ]
    id_ = history.record_conversation(NewThread("claude-code", "1", trust="said"), said, now=NOW).id
    thing = source.read(id_)

    assert thing
    assert thing.passages == (
        SourcePassage("My boat is called Argo.", turn=2, voice="user", speaker="Ada", at=AT),
        SourcePassage(
            "A fine name.", turn=5, voice="assistant", at="2026-03-01T09:13:44Z", before="Ada: My boat is called Argo."
        ),
        SourcePassage("ok", turn=6, voice="user", at="2026-03-01T09:14:44Z", before="A fine name."),
    )
    assert (thing.source_id, thing.uri, thing.title) == (id_, f"conversation:{id_}", "My boat is called Argo.")
    assert (thing.created, thing.updated) == (AT, "2026-03-01T09:14:44Z")
    assert thing.metadata == {
        "conversation": id_,
        "interface": "claude-code",
        "trust": "said",
        "captured": False,
        "turns": 6,
    }


def test_what_is_there_is_told_by_its_stamps(history: InMemoryHistory, source: Source) -> None:
    """All stamps, or those asked for; a stamp changes when its conversation grows."""
    thread = NewThread("x", "1")
    first = history.record_conversation(thread, [Message("user", "a")], now=NOW).id
    second = history.record_conversation(NewThread("x", "2"), [Message("user", "a")], now=NOW).id
    before = source.stamps()
    history.record_conversation(thread, [Message("user", "b")], now=NOW)
    after = source.stamps()
    history.forget_conversation(second)

    assert before.keys() == after.keys() == {first, second}
    assert (before[first] == after[first], before[second] == after[second]) == (False, True)
    assert source.stamps([first, second]) == {first: after[first]}
    assert source.read(second) is None


@pytest.mark.parametrize(
    ("messages", "title"),
    [
        ([], ""),
        ([Message("assistant", "Welcome!"), Message("user", "Hi\nthere")], "Hi there"),
        ([Message("user", " "), Message("assistant", "Welcome!")], "Welcome!"),
        ([Message("user", "word " * 30)], "word word word word word word word word word word word word…"),
        ([Message("user", "x" * 100)], "x" * 60 + "…"),
    ],
    ids=["nothing", "the person first", "nobody else", "words", "one word"],
)
def test_a_title_is_what_is_said_first(messages: list[Message], title: str) -> None:
    """By the person if there is one; cut at the end of a word."""
    assert conversation_title(messages) == title


def test_a_title_that_was_given_counts(history: InMemoryHistory, source: Source) -> None:
    """Before what is said."""
    id_ = history.record_conversation(NewThread("x", title="The boat"), [Message("user", "a")], now=NOW).id
    thing = source.read(id_)

    assert thing
    assert thing.title == "The boat"


def test_a_thread_belongs_to_the_source_of_its_kind_unless_it_is_isolated() -> None:
    """By its own use, or because the settings name its program or its project."""
    history = InMemoryHistory()
    ids = {
        name: history.record_conversation(thread, [Message("user", name)], now=NOW).id
        for name, thread in {
            "chat": NewThread("web", "1"),
            "off": NewThread("web", "2", memory="off"),
            "task": NewThread("web", "3", kind="task"),
            "own": NewThread("web", "4", memory="isolated"),
            "program": NewThread("work-laptop", "5"),
            "project": NewThread("web", "6", project="secret", kind="task"),
        }.items()
    }
    chats = ConversationSource(history, closing=last_sentences, isolated=frozenset({"work-laptop", "secret"}))
    by_type = {
        type_: {name for name, id_ in ids.items() if id_ in chats.of_type(type_).stamps()} for type_ in THREAD_TYPES
    }

    assert by_type == {
        "chat": {"chat", "off"},
        "task": {"task"},
        "correction": set(),
        "isolated": {"own", "program", "project"},
    }
    assert chats.read(ids["own"]) is None
    assert (item := chats.read(ids["off"]))
    assert item.metadata["memory"] == "off"
    assert chats.lost(ids.values()) == frozenset()


def test_of_a_correction_only_what_is_right_is_searched() -> None:
    """With what it corrects beside it, and the conversation in which it was made."""
    history = InMemoryHistory()
    thread = NewThread("web", "1", kind="correction", parent="c-1")
    said = [Message("assistant", "It is red."), Message("user", "No, I meant the blue one.")]
    id_ = history.record_conversation(thread, said, now=NOW).id
    item = ConversationSource(history, closing=last_sentences).of_type("correction").read(id_)

    assert item
    assert [(each.text, each.before) for each in item.passages] == [("No, I meant the blue one.", "It is red.")]
    assert (item.metadata["corrects"], item.metadata["parent"]) == ("It is red.", "c-1")
