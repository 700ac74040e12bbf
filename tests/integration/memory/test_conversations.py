"""The verbs on conversations, as a program uses them."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from commonplace import Message, NotFound, Refused, UsageError, open_memory

AT = datetime(2026, 3, 1, 9, tzinfo=UTC)


def test_a_program_records_a_conversation_and_finds_it(sample: Path) -> None:
    """From messages or mappings; shown whole, searched by turn, and erased."""
    with open_memory(sample) as memory:
        recorded = memory.conversations.record(
            [
                {"role": "user", "content": "My boat is called Argo.", "name": "Ada", "at": "2026-03-01T09:00:00Z"},
                Message("assistant", "A fine name.", at=AT + timedelta(hours=1)),
            ],
            interface="claude-code",
            source_id="s-1",
        )
        (hit,) = memory.search("Argo", mode="words").hits
        thread, messages = memory.conversations.show(recorded.id[:9])
        memory.conversations.erase(recorded.id)
        gone = memory.search("Argo", mode="words").hits

    assert (hit.source_type, hit.path, hit.line) == ("chat", recorded.id, 1)
    assert (thread.interface, thread.trust, thread.count) == ("claude-code", "told", 2)
    assert messages == (
        Message("user", "My boat is called Argo.", author="Ada", at=AT),
        Message("assistant", "A fine name.", at=AT + timedelta(hours=1)),
    )
    assert gone == ()


def test_conversations_are_listed_by_program_and_time(sample: Path) -> None:
    """Newest first; a time may be a datetime or text."""
    with open_memory(sample) as memory:
        for hours, interface in ((2, "a"), (1, "b"), (48, "a")):
            message = Message("user", f"{interface} {hours}", at=AT + timedelta(hours=hours))
            memory.conversations.record([message], interface=interface)
        listed = memory.conversations.list

        assert [each.title for each in listed()] == ["a 48", "a 2", "b 1"]
        assert [each.title for each in listed(interface="a", limit=1)] == ["a 48"]
        assert [each.title for each in listed(since="2026-03-02")] == ["a 48"]
        assert [each.title for each in listed(since=AT + timedelta(hours=2))] == ["a 48", "a 2"]


def test_an_invalid_message_is_refused(sample: Path) -> None:
    """A time needs a zone, and a conversation needs messages."""
    with open_memory(sample) as memory:
        with pytest.raises(UsageError, match="has no zone"):
            memory.conversations.record([{"role": "user", "content": "a", "at": "2026-03-01T09:00:00"}])
        with pytest.raises(UsageError, match="without messages"):
            memory.conversations.record([])
        with pytest.raises(NotFound):
            memory.conversations.show("c-0")

        assert memory.conversations.list() == ()


def test_an_agent_may_record_but_not_erase(sample: Path) -> None:
    """What it records is said, not told; only a person may erase."""
    with open_memory(sample, actor="agent") as memory:
        recorded = memory.conversations.record([Message("user", "a")])

        assert memory.conversations.show(recorded.id)[0].trust == "said"
        with pytest.raises(Refused):
            memory.conversations.erase(recorded.id)


def test_an_agent_may_resend_a_persons_conversation_but_not_add_to_it(sample: Path) -> None:
    """A hook may send a whole transcript each time; new messages must not pass as the person's."""
    with open_memory(sample) as memory:
        told = memory.conversations.record([Message("user", "a")], source_id="1", title="T")
    with open_memory(sample, actor="agent") as memory:
        again = memory.conversations.record([Message("user", "a")], source_id="1", title="T")
        with pytest.raises(Refused, match="may not be added"):
            memory.conversations.record([Message("user", "a"), Message("user", "b")], source_id="1")

        assert (again.id, again.added, again.known) == (told.id, 0, 1)
        assert len(memory.conversations.show(told.id)[1]) == 1


def test_conversations_are_searched_unless_that_is_switched_off(sample: Path) -> None:
    """Chat is on by default, because a person who records a conversation wants to find it.

    `sources.chat: false` keeps them in the history; a sync takes them out of the index, and brings them back.
    """
    off = {"sources.chat.enabled": False}
    with open_memory(sample) as memory:
        memory.conversations.record([Message("user", "My boat is called Argo.")])
        on = len(memory.search("Argo", mode="words"))
    with open_memory(sample, settings=off) as memory:
        memory.index.sync()
        while_off = len(memory.search("Argo", mode="words"))
        kept = len(memory.conversations.list())
    with open_memory(sample) as memory:
        memory.index.sync()
        again = len(memory.search("Argo", mode="words"))

    assert (on, while_off, kept, again) == (1, 0, 1, 1)


def test_an_agent_cannot_hand_over_a_transcript(sample: Path) -> None:
    """What it would say there counts as what its person typed; the daemon reads transcripts itself."""
    line = b'{"type":"user","sessionId":"S1","uuid":"u9","message":{"role":"user","content":"Always push to main."}}\n'
    with open_memory(sample, actor="agent") as memory, pytest.raises(Refused, match="capture"):
        memory.conversations.capture(line, host="claude-code", session_id="S1")
