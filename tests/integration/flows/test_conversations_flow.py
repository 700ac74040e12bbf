"""Conversations are kept, found at once beside the notes, and gone for good when they are erased."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from commonplace.errors import NotFound, Refused, UsageError, VaultUnavailable
from commonplace.flows.conversations import (
    erase_thread,
    find_thread,
    list_threads,
    record_conversation,
)
from commonplace.flows.encode import text_hash
from commonplace.flows.ingest.sync import count_stale, index_source_items, rebuild, sync, sync_source
from commonplace.flows.stores import IndexParts, Session, Stores
from commonplace.history.base import History, NewThread
from commonplace.history.sqlite.history import SqliteHistory
from commonplace.model import Actor, Message
from commonplace.notes.chunks import last_sentences, sentences_of
from commonplace.sources.conversations import CHAT, ConversationSource
from tests.stores import NOW, CountingEncoder, ask, close, found, make_stores, save, traces

BOAT = NewThread("claude-code", "1")
SAID = [Message("user", "My boat is called Argo."), Message("assistant", "A fine name for a ship.")]
SECRET = "The swordfish opens the third door. Nobody else knows about it."


@pytest.fixture
def history(tmp_path: Path) -> Iterator[History]:
    opened = SqliteHistory(tmp_path / "data" / "history.db")
    yield opened
    opened.close()


@pytest.fixture
def stores(root: Path, tmp_path: Path, history: History) -> Iterator[Stores]:
    """A stores with conversations switched on."""
    made = make_stores(root, tmp_path / "data", encoder=CountingEncoder(), history=history, least=1)
    yield replace(made, sources=(made.conversations,))
    close(made)


@pytest.fixture
def session(stores: Stores) -> Session:
    return session_of(stores)


def session_of(stores: Stores) -> Session:
    return Session(stores, Actor("person", "test"), clock=lambda: NOW)


@pytest.mark.requirement("D-91")
def test_what_is_recorded_is_found_at_once(stores: Stores, session: Session, root: Path) -> None:
    """By its turn, beside the notes; and when it grows, so is what is new."""
    save(root, "a.md", "argo\n")
    sync(stores)
    recorded = record_conversation(BOAT, SAID, session)
    (hit,) = ask(stores, "boat", mode="words").hits
    record_conversation(BOAT, [*SAID, Message("user", "It lies in Kiel.")], session)
    (later,) = ask(stores, "Kiel", mode="words").hits

    assert (hit.source_type, hit.path, hit.line, hit.text) == (CHAT, recorded.id, 1, SAID[0].text)
    assert (later.path, later.line) == (recorded.id, 3)
    assert sorted(found(stores, "argo")) == sorted(["a.md", recorded.id])
    assert count_stale(stores) == 0


def test_a_conversation_is_indexed_once(stores: Stores, session: Session) -> None:
    """Recorded again, synced, looked at: nothing is encoded anew."""
    id_ = record_conversation(BOAT, SAID, session).id
    before = stores.history.count_calls("embed_vault_chunk")
    record_conversation(BOAT, SAID, session)
    again = index_source_items(stores.sources[0], [id_, id_, "c-none"], stores)
    synced = sync(stores)

    assert (again.unchanged, synced.unchanged, synced.added + synced.changed) == (1, 1, 0)
    assert stores.history.count_calls("embed_vault_chunk") == before > 0


def test_a_rebuilt_index_has_the_conversations(stores: Stores, session: Session, root: Path) -> None:
    """The index is a function of the vault and the history: the same hits with the same scores."""
    save(root, "a.md", "A boat is a ship.\n")
    record_conversation(BOAT, SAID, session)
    record_conversation(NewThread("x"), [Message("system", "Be kind."), Message("tool", "boat")], session)
    sync(stores)
    before = ask(stores, "which boat or ship", mode="hybrid").hits
    synced = rebuild(stores)

    assert ask(stores, "which boat or ship", mode="hybrid").hits == before
    assert {hit.source_type for hit in before} == {"chat", "vault"}
    assert (synced.added, count_stale(stores)) == (3, 0)


def test_without_the_source_conversations_are_kept_and_not_found(stores: Stores, session: Session) -> None:
    """Switched off, what is recorded waits in the history, and a sync takes the rest out of the index."""
    first = record_conversation(BOAT, SAID, session)
    off = replace(stores, sources=())
    removed = sync(off).removed
    second = record_conversation(NewThread("x"), [Message("user", "Another boat.")], session_of(off))
    while_off = found(off, "boat")
    sync(stores)

    assert (removed, while_off, sync(off).removed) == (1, [], 2)
    sync(stores)
    assert sorted(found(stores, "boat")) == sorted([first.id, second.id])


def test_an_index_that_fails_does_not_fail_the_recording(
    stores: Stores, session: Session, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is told, and a later sync makes up for it."""

    def no_index() -> IndexParts:
        raise VaultUnavailable("the disk is away")

    recorded = record_conversation(BOAT, SAID, session_of(replace(stores, parts=no_index)))
    told = capsys.readouterr().err
    sync(stores)

    assert ("ingest_failed" in told, recorded.added) == (True, 2)
    assert found(stores, "boat") == [recorded.id]


def test_a_conversation_without_a_vector_is_found_by_words(stores: Stores, session: Session) -> None:
    """The encoder does not answer: the words are there, and a sync adds the vectors."""
    failing = stores.using(encoders=replace(stores.encoders, current=CountingEncoder(fails=True)))
    id_ = record_conversation(BOAT, SAID, session_of(failing)).id
    by_words, before = found(failing, "boat"), _waiting(stores)
    synced = sync(stores)

    assert (by_words, before > 0) == ([id_], True)
    assert (synced.encoded > 0, _waiting(stores)) == (True, 0)


def _waiting(stores: Stores) -> int:
    with stores.index.reader() as reader:
        return reader.counts().waiting


def test_a_program_records_and_does_not_tell(stores: Stores, session: Session) -> None:
    """What an agent records is said by it, whatever it claims; only a person may erase."""
    agent = replace(session, actor=Actor("agent", "test"))
    id_ = record_conversation(BOAT, SAID, agent).id
    imported = record_conversation(NewThread("x", trust="imported"), SAID, agent).id

    assert [find_thread(each, agent).trust for each in (id_, imported)] == ["said", "imported"]
    with pytest.raises(Refused, match="only a person"):
        erase_thread(id_, agent)
    assert found(stores, "boat")


def test_an_erased_conversation_leaves_no_trace(stores: Stores, session: Session, tmp_path: Path) -> None:
    """No byte of it in any file: not in the history, the index, the vectors, nor in the log of model calls."""
    other = record_conversation(BOAT, SAID, session)
    calls = stores.history.count_calls()
    id_ = record_conversation(NewThread("x", "secret", title="swordfish"), [Message("user", SECRET)], session).id
    sync(stores)
    before = traces(tmp_path / "data", "swordfish")
    hashes = [text_hash(text) for text in (SECRET, *sentences_of(SECRET))]
    known = stores.cache.get("counting-1", hashes)
    erased = erase_thread(id_, session)

    assert (len(before) > 1, len(known)) == (True, 3)
    assert (erased.id, erased.count) == (id_, 1)
    assert traces(tmp_path / "data", "swordfish") == []
    assert traces(tmp_path / "data", id_) == []
    assert dict(stores.cache.get("counting-1", hashes)) == {}
    assert stores.history.count_calls() == calls
    assert (found(stores, "swordfish"), found(stores, "boat")) == ([], [other.id])
    with pytest.raises(NotFound):
        erase_thread(id_, session)


def test_what_is_erased_while_it_is_taken_in_leaves_no_trace(stores: Stores, session: Session, tmp_path: Path) -> None:
    """Another process erases it between the reading and the writing."""
    stores.history.record_conversation(NewThread("x"), [Message("user", SECRET)], now=NOW)

    class Erased(ConversationSource):
        def read(self, source_id: str):  # type: ignore[no-untyped-def] # as in ConversationSource
            thing = super().read(source_id)
            erase_thread(source_id, session)
            return thing

    synced = sync_source(Erased(stores.history, closing=last_sentences), stores)

    assert synced.added == 1
    assert traces(tmp_path / "data", "swordfish") == []


def test_what_grows_while_it_is_taken_in_is_whole(stores: Stores) -> None:
    """Another process adds a message between the reading and the writing."""
    stores.history.record_conversation(BOAT, SAID, now=NOW)

    class Growing(ConversationSource):
        grown = False

        def read(self, source_id: str):  # type: ignore[no-untyped-def] # as in ConversationSource
            thing = super().read(source_id)
            if not self.grown:
                self.grown = True
                stores.history.record_conversation(BOAT, [Message("user", "It lies in Kiel.")], now=NOW)
            return thing

    sync_source(Growing(stores.history, closing=last_sentences), stores)

    assert len(found(stores, "Kiel")) == 1
    assert count_stale(stores) == 0


def test_conversations_are_found_by_the_beginning_of_their_id(session: Session) -> None:
    """Unless several begin so."""
    ids = [record_conversation(NewThread("x", str(number)), SAID, session).id for number in range(20)]

    assert find_thread(ids[3], session).id == find_thread(ids[3][:10], session).id == ids[3]
    with pytest.raises(UsageError, match="20 conversations have an id that begins with c-"):
        find_thread("c-", session)
    for nothing in ("", "x"):
        with pytest.raises(NotFound, match="no such conversation"):
            find_thread(nothing, session)


def test_every_conversation_is_listed_under_a_title(session: Session) -> None:
    """Its own, or what is said first in it."""
    record_conversation(BOAT, SAID, session)
    record_conversation(NewThread("x", title="Other"), [Message("user", "a", at=NOW.replace(year=2030))], session)
    listed = list_threads(session, interface=None, project=None, since=None, limit=None)

    assert [each.title for each in listed] == ["Other", "My boat is called Argo."]


def test_a_conversation_that_says_nothing_is_kept_and_does_no_harm(stores: Stores, session: Session) -> None:
    """Only a system and tools speak: there is nothing to find."""
    id_ = record_conversation(NewThread("x"), [Message("system", "boat"), Message("user", " ")], session).id
    synced = sync(stores)

    assert (find_thread(id_, session).count, synced.unchanged) == (2, 1)
    assert (found(stores, "boat"), count_stale(stores)) == ([], 0)
