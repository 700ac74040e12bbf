"""Conversations are kept, found at once beside the notes, and gone for good when they are erased."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from commonplace.errors import NotFound, Refused, UsageError, VaultUnavailable
from commonplace.flows.converse import (
    Table,
    erase_conversation,
    find_conversation,
    list_conversations,
    record_conversation,
)
from commonplace.flows.encode import text_hash
from commonplace.flows.ingest import sync, waiting_for_sync
from commonplace.flows.ingest_source import ingest_sourced, sync_source
from commonplace.flows.rebuild import rebuild
from commonplace.flows.shelf import Shelf
from commonplace.history.base import History
from commonplace.history.conversations import NewThread
from commonplace.history.sqlite import SqliteHistory
from commonplace.model import Actor, Message
from commonplace.notes.sentences import closing_of, sentences_of
from commonplace.sources.conversations import CHAT, ConversationSource
from tests.unit.flows.shelf import NOW, CountingEncoder, ask, close, found, make_shelf, save

BOAT = NewThread("claude-code", "1")
SAID = [Message("user", "My boat is called Argo."), Message("assistant", "A fine name for a ship.")]
SECRET = "The swordfish opens the third door. Nobody else knows about it."


@pytest.fixture
def history(tmp_path: Path) -> Iterator[History]:
    opened = SqliteHistory(tmp_path / "data" / "history.db")
    yield opened
    opened.close()


@pytest.fixture
def shelf(root: Path, tmp_path: Path, history: History) -> Iterator[Shelf]:
    """A shelf with conversations switched on."""
    made = make_shelf(root, tmp_path / "data", encoder=CountingEncoder(), least=1)
    source = ConversationSource(history, closing=closing_of)
    yield replace(made, history=history, sources=(source,))
    close(made)


@pytest.fixture
def table(shelf: Shelf) -> Table:
    return table_of(shelf)


def table_of(shelf: Shelf) -> Table:
    source = ConversationSource(shelf.history, closing=closing_of)
    return Table(shelf.history, source, Actor("person", "test"), clock=lambda: NOW, shelf=lambda: shelf)


def traces(folder: Path, text: str) -> list[str]:
    """The files below the folder in which the text stands."""
    return [file.name for file in folder.rglob("*") if file.is_file() and text.encode() in file.read_bytes()]


@pytest.mark.requirement("D-91")
def test_what_is_recorded_is_found_at_once(shelf: Shelf, table: Table, root: Path) -> None:
    """By its turn, beside the notes; and when it grows, so is what is new."""
    save(root, "a.md", "argo\n")
    sync(shelf)
    recorded = record_conversation(BOAT, SAID, table)
    (hit,) = ask(shelf, "boat", mode="words").hits
    record_conversation(BOAT, [*SAID, Message("user", "It lies in Kiel.")], table)
    (later,) = ask(shelf, "Kiel", mode="words").hits

    assert (hit.source_type, hit.path, hit.line, hit.text) == (CHAT, recorded.id, 1, SAID[0].text)
    assert (later.path, later.line) == (recorded.id, 3)
    assert sorted(found(shelf, "argo")) == sorted(["a.md", recorded.id])
    assert waiting_for_sync(shelf) == 0


def test_a_conversation_is_indexed_once(shelf: Shelf, table: Table) -> None:
    """Recorded again, synced, looked at: nothing is encoded anew."""
    id_ = record_conversation(BOAT, SAID, table).id
    before = shelf.history.count_calls("embed_vault_chunk")
    record_conversation(BOAT, SAID, table)
    again = ingest_sourced(shelf.sources[0], [id_, id_, "c-none"], shelf)
    synced = sync(shelf)

    assert (again.unchanged, synced.unchanged, synced.added + synced.changed) == (1, 1, 0)
    assert shelf.history.count_calls("embed_vault_chunk") == before > 0


def test_a_rebuilt_index_has_the_conversations(shelf: Shelf, table: Table, root: Path) -> None:
    """The index is a function of the vault and the history: the same hits with the same scores."""
    save(root, "a.md", "A boat is a ship.\n")
    record_conversation(BOAT, SAID, table)
    record_conversation(NewThread("x"), [Message("system", "Be kind."), Message("tool", "boat")], table)
    sync(shelf)
    before = ask(shelf, "which boat or ship", mode="hybrid").hits
    synced = rebuild(shelf, progress=lambda done, total: None)

    assert ask(shelf, "which boat or ship", mode="hybrid").hits == before
    assert {hit.source_type for hit in before} == {"chat", "vault"}
    assert (synced.added, waiting_for_sync(shelf)) == (3, 0)


def test_without_the_source_conversations_are_kept_and_not_found(shelf: Shelf, table: Table) -> None:
    """Switched off, what is recorded waits in the history, and a sync takes the rest out of the index."""
    first = record_conversation(BOAT, SAID, table)
    off = replace(shelf, sources=())
    removed = sync(off).removed
    second = record_conversation(NewThread("x"), [Message("user", "Another boat.")], table_of(off))
    while_off = found(off, "boat")
    sync(shelf)

    assert (removed, while_off, sync(off).removed) == (1, [], 2)
    sync(shelf)
    assert sorted(found(shelf, "boat")) == sorted([first.id, second.id])


def test_an_index_that_fails_does_not_fail_the_recording(
    shelf: Shelf, table: Table, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is told, and a later sync makes up for it."""

    def no_shelf() -> Shelf:
        raise VaultUnavailable("the disk is away")

    recorded = record_conversation(BOAT, SAID, replace(table, shelf=no_shelf))
    told = capsys.readouterr().err
    sync(shelf)

    assert ("ingest_failed" in told, recorded.added) == (True, 2)
    assert found(shelf, "boat") == [recorded.id]


def test_a_conversation_without_a_vector_is_found_by_words(shelf: Shelf, table: Table) -> None:
    """The encoder does not answer: the words are there, and a sync adds the vectors."""
    failing = replace(shelf, encoders=replace(shelf.encoders, current=CountingEncoder(fails=True)))
    id_ = record_conversation(BOAT, SAID, table_of(failing)).id
    by_words = found(failing, "boat")
    synced = sync(shelf)

    assert (by_words, synced.changed) == ([id_], 1)


def test_a_program_records_and_does_not_tell(shelf: Shelf, table: Table) -> None:
    """What an agent records is said by it, whatever it claims; only a person may erase."""
    agent = replace(table, actor=Actor("agent", "test"))
    id_ = record_conversation(BOAT, SAID, agent).id
    imported = record_conversation(NewThread("x", trust="imported"), SAID, agent).id

    assert [find_conversation(each, agent).trust for each in (id_, imported)] == ["said", "imported"]
    with pytest.raises(Refused, match="only a person"):
        erase_conversation(id_, agent)
    assert found(shelf, "boat")


def test_an_erased_conversation_leaves_no_trace(shelf: Shelf, table: Table, tmp_path: Path) -> None:
    """No byte of it in any file: not in the history, the index, the vectors, nor in the log of model calls."""
    other = record_conversation(BOAT, SAID, table)
    calls = shelf.history.count_calls()
    id_ = record_conversation(NewThread("x", "secret", title="swordfish"), [Message("user", SECRET)], table).id
    sync(shelf)
    before = traces(tmp_path / "data", "swordfish")
    hashes = [text_hash(text) for text in (SECRET, *sentences_of(SECRET))]
    known = shelf.cache.get("counting-1", hashes)
    erased = erase_conversation(id_, table)

    assert (len(before) > 1, len(known)) == (True, 3)
    assert (erased.id, erased.count) == (id_, 1)
    assert traces(tmp_path / "data", "swordfish") == []
    assert traces(tmp_path / "data", id_) == []
    assert dict(shelf.cache.get("counting-1", hashes)) == {}
    assert shelf.history.count_calls() == calls
    assert (found(shelf, "swordfish"), found(shelf, "boat")) == ([], [other.id])
    with pytest.raises(NotFound):
        erase_conversation(id_, table)


def test_what_is_erased_while_it_is_taken_in_leaves_no_trace(shelf: Shelf, table: Table, tmp_path: Path) -> None:
    """Another process erases it between the reading and the writing."""
    shelf.history.record_conversation(NewThread("x"), [Message("user", SECRET)], now=NOW)

    class Erased(ConversationSource):
        def read(self, source_id: str):  # type: ignore[no-untyped-def] # as in ConversationSource
            thing = super().read(source_id)
            erase_conversation(source_id, table)
            return thing

    synced = sync_source(Erased(shelf.history, closing=closing_of), shelf)

    assert synced.added == 1
    assert traces(tmp_path / "data", "swordfish") == []


def test_what_grows_while_it_is_taken_in_is_whole(shelf: Shelf) -> None:
    """Another process adds a message between the reading and the writing."""
    shelf.history.record_conversation(BOAT, SAID, now=NOW)

    class Growing(ConversationSource):
        grown = False

        def read(self, source_id: str):  # type: ignore[no-untyped-def] # as in ConversationSource
            thing = super().read(source_id)
            if not self.grown:
                self.grown = True
                shelf.history.record_conversation(BOAT, [Message("user", "It lies in Kiel.")], now=NOW)
            return thing

    sync_source(Growing(shelf.history, closing=closing_of), shelf)

    assert len(found(shelf, "Kiel")) == 1
    assert waiting_for_sync(shelf) == 0


def test_conversations_are_found_by_the_beginning_of_their_id(table: Table) -> None:
    """Unless several begin so."""
    ids = [record_conversation(NewThread("x", str(number)), SAID, table).id for number in range(20)]

    assert find_conversation(ids[3], table).id == find_conversation(ids[3][:10], table).id == ids[3]
    with pytest.raises(UsageError, match="20 conversations have an id that begins with c-"):
        find_conversation("c-", table)
    for nothing in ("", "x"):
        with pytest.raises(NotFound, match="no such conversation"):
            find_conversation(nothing, table)


def test_every_conversation_is_listed_under_a_title(table: Table) -> None:
    """Its own, or what is said first in it."""
    record_conversation(BOAT, SAID, table)
    record_conversation(NewThread("x", title="Other"), [Message("user", "a", at=NOW.replace(year=2030))], table)
    listed = list_conversations(table, interface=None, since=None, limit=None)

    assert [each.title for each in listed] == ["Other", "My boat is called Argo."]


def test_a_conversation_that_says_nothing_is_kept_and_does_no_harm(shelf: Shelf, table: Table) -> None:
    """Only a system and tools speak: there is nothing to find."""
    id_ = record_conversation(NewThread("x"), [Message("system", "boat"), Message("user", " ")], table).id
    synced = sync(shelf)

    assert (find_conversation(id_, table).count, synced.unchanged) == (2, 1)
    assert (found(shelf, "boat"), waiting_for_sync(shelf)) == ([], 0)
