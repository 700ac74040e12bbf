"""The verb `search` of `Memory`: what is ranked, and the moment from which a question counts."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from commonplace import Memory, UsageError, open_memory
from commonplace.app import put_under_git

NOW = datetime(2026, 3, 15, 12, 0, tzinfo=UTC)
LATE = datetime(2026, 3, 15, 23, 30, tzinfo=UTC)
EAST = timezone(timedelta(hours=3))


@pytest.fixture
def memory(sample: Path) -> Iterator[Memory]:
    """The sample vault and a conversation of the first of March, searched with the hashing encoder."""
    put_under_git(sample)
    with open_memory(sample, settings={"embedding.provider": "hashing"}) as opened:
        opened.index.sync()
        opened.conversations.record(
            [
                {"role": "user", "content": "Which varnish suits an oak table?", "at": "2026-03-01T09:00:00Z"},
                {"role": "assistant", "content": "Linseed oil.", "at": "2026-03-01T09:01:00Z"},
            ]
        )
        yield opened


def window(memory: Memory, text: str, **fields: Any) -> tuple[str, str]:
    """The time of which the question was understood to speak."""
    (found,) = memory.search(text, **fields).understood["windows"]
    return found["start"], found["end"]


def test_chunks_or_documents_are_ranked(memory: Memory) -> None:
    """A recorded conversation is one document; nothing else can be asked for."""
    chunks = memory.search("oak varnish", sources=("chat",), min_score=0)
    documents = memory.search("oak varnish", by="document", sources=("chat",), min_score=0)

    assert (len(chunks), len(documents)) == (2, 1)
    assert documents.hits[0].metadata["turn"] == 1
    with pytest.raises(UsageError, match="nothing can be ranked by 'page'"):
        memory.search("oak", by="page")


def test_a_question_counts_from_the_moment_that_is_given(memory: Memory) -> None:
    """Two weeks before it lies the conversation; for another moment it does not."""
    asked: dict[str, Any] = {"sources": ("chat",), "min_score": 0.0, "by": "document"}
    then = memory.search("What did I ask two weeks ago about varnish?", now=NOW, **asked)
    later = memory.search("What did I ask two weeks ago about varnish?", now=NOW + timedelta(days=90), **asked)

    assert then.hits[0].score > later.hits[0].score
    assert window(memory, "varnish of yesterday", now=NOW) == ("2026-03-14T00:00:00Z", "2026-03-15T00:00:00Z")


def test_days_are_those_of_the_zone(memory: Memory) -> None:
    """Of the one that is given, whatever zone the moment is written in; a moment without one is of that zone."""
    bare = datetime(2026, 3, 16, 2, 30)

    expected = ("2026-03-14T21:00:00Z", "2026-03-15T21:00:00Z")
    assert window(memory, "varnish of yesterday", now=LATE, zone=EAST) == expected
    assert window(memory, "varnish of yesterday", now=bare, zone=EAST) == expected
    assert window(memory, "varnish of yesterday", now=bare) == ("2026-03-15T00:00:00Z", "2026-03-16T00:00:00Z")


def test_a_question_about_the_past_counts_from_its_day(memory: Memory) -> None:
    """Unless another moment is given."""
    today = datetime.now(UTC).date()
    yesterday = f"{today - timedelta(days=1)}T00:00:00Z"

    assert window(memory, "varnish of yesterday", as_of=today.isoformat())[0] == yesterday
    assert window(memory, "varnish of yesterday", as_of=today.isoformat(), now=NOW)[0] == "2026-03-14T00:00:00Z"


def test_a_source_that_is_none_cannot_be_asked(memory: Memory) -> None:
    """The caller is told which there are."""
    with pytest.raises(UsageError, match="no source is called 'foo'") as told:
        memory.search("oak", sources=("foo",))

    assert told.value.hint == "Sources: vault, chat."
