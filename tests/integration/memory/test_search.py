"""The verb `search` of `Memory`: what is ranked, and the moment from which a question counts."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from commonplace import Memory, UsageError, open_memory
from tests.vaults import sample_vault

NOW = datetime(2026, 3, 15, 12, 0, tzinfo=UTC)
LATE = datetime(2026, 3, 15, 23, 30, tzinfo=UTC)
EAST = timezone(timedelta(hours=3))


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    """The sample vault and a conversation of the first of March, searched with the hashing encoder."""
    with open_memory(sample_vault(tmp_path / "vault"), settings={"embedding.provider": "hashing"}) as opened:
        opened.index.sync()
        opened.conversations.record(
            [
                {"role": "user", "content": "Which varnish suits an oak table?", "at": "2026-03-01T09:00:00Z"},
                {"role": "assistant", "content": "Linseed oil.", "at": "2026-03-01T09:01:00Z"},
            ]
        )
        yield opened


def window(memory: Memory, text: str, **fields: Any) -> tuple[str, str]:
    """The time window that the question was understood to mean."""
    (found,) = memory.search(text, **fields).understood["windows"]
    return found["start"], found["end"]


def test_chunks_or_documents_are_ranked(memory: Memory) -> None:
    """A recorded conversation is one document; nothing else can be ranked."""
    chunks = memory.search("oak varnish", sources=("chat",), min_score=0)
    documents = memory.search("oak varnish", by="document", sources=("chat",), min_score=0)

    assert (len(chunks), len(documents)) == (2, 1)
    assert documents.hits[0].metadata["turn"] == 1
    with pytest.raises(UsageError, match="cannot rank by 'page'"):
        memory.search("oak", by="page")


def test_time_phrases_are_relative_to_now(memory: Memory) -> None:
    """The conversation is two weeks before the given moment, and not before another."""
    asked: dict[str, Any] = {"sources": ("chat",), "min_score": 0.0, "by": "document"}
    then = memory.search("What did I ask two weeks ago about varnish?", now=NOW, **asked)
    later = memory.search("What did I ask two weeks ago about varnish?", now=NOW + timedelta(days=90), **asked)

    assert then.hits[0].score > later.hits[0].score
    assert window(memory, "varnish of yesterday", now=NOW) == ("2026-03-14T00:00:00Z", "2026-03-15T00:00:00Z")


def test_days_are_those_of_the_zone(memory: Memory) -> None:
    """Of `zone`, whatever zone `now` is in; a `now` without a zone is in `zone`."""
    bare = datetime(2026, 3, 16, 2, 30)

    expected = ("2026-03-14T21:00:00Z", "2026-03-15T21:00:00Z")
    assert window(memory, "varnish of yesterday", now=LATE, zone=EAST) == expected
    assert window(memory, "varnish of yesterday", now=bare, zone=EAST) == expected
    assert window(memory, "varnish of yesterday", now=bare) == ("2026-03-15T00:00:00Z", "2026-03-16T00:00:00Z")


def test_time_phrases_of_a_past_search_are_relative_to_its_day(memory: Memory) -> None:
    """Unless `now` is given."""
    today = datetime.now(UTC).date()
    yesterday = f"{today - timedelta(days=1)}T00:00:00Z"

    assert window(memory, "varnish of yesterday", as_of=today.isoformat())[0] == yesterday
    assert window(memory, "varnish of yesterday", as_of=today.isoformat(), now=NOW)[0] == "2026-03-14T00:00:00Z"


def test_an_unknown_source_is_refused(memory: Memory) -> None:
    """The hint lists the sources."""
    with pytest.raises(UsageError, match="no source is called 'foo'") as told:
        memory.search("oak", sources=("foo",))

    assert told.value.hint == "Sources: vault, chat, task, correction, isolated."
