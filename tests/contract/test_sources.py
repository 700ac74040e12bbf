"""Sources beyond notes: what the seam asks of one."""

from dataclasses import replace

import pytest

from commonplace.sources.base import InMemorySource, Source, SourceItem, SourcePassage

TURN = SourceItem(
    source_id="session-1/turn-7",
    title="About the boat",
    uri="chat://session-1#7",
    passages=(SourcePassage("It is called Argo.", ("Ada",)),),
    created="2026-03-01T09:12:44Z",
    updated="2026-03-01T09:12:44Z",
)


@pytest.mark.parametrize("type", ["chat", "task", "correction"])
def test_a_source_tells_what_it_holds_until_it_is_gone(type: str) -> None:
    """One seam for chats, tasks and corrections: what is there now, and each of it as it is."""
    held = InMemorySource(type)
    source: Source = held
    held.put(TURN)
    there, read = list(source.stamps()), source.read(TURN.source_id)
    held.remove(TURN.source_id)

    assert (source.type, there, read) == (type, [TURN.source_id], TURN)
    assert (dict(source.stamps()), source.read(TURN.source_id)) == ({}, None)


def test_a_stamp_changes_with_anything_that_is_said() -> None:
    """And only then: the same thing has the same stamp. Some may be asked for, those that are not there too."""
    source = InMemorySource("chat")
    source.put(TURN, replace(TURN, source_id="2"))
    before = source.stamps()
    source.put(TURN, replace(TURN, source_id="2", metadata={"channel": "boats"}))
    after = source.stamps()

    assert after[TURN.source_id] == before[TURN.source_id]
    assert after["2"] != before["2"]
    assert source.stamps(["2", "3"]) == {"2": after["2"]}


def test_what_was_removed_is_gone() -> None:
    """It has no stamp and cannot be read; removing it twice does no harm."""
    source = InMemorySource("task")
    source.put(TURN)
    source.remove(TURN.source_id)
    source.remove(TURN.source_id)

    assert source.stamps() == {}
    assert source.read(TURN.source_id) is None
