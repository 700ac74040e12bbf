"""The vault as it stood: what was written, changed and removed since is as it was."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast

import pytest

from commonplace import open_memory
from commonplace.errors import NotFound, UsageError
from commonplace.flows.ingest.documents import VAULT
from commonplace.flows.ingest.past_lines import LARGEST_PAST
from commonplace.flows.ingest.sync import sync
from commonplace.flows.notes.erase import erase_note
from commonplace.flows.notes.move import move_note
from commonplace.flows.search.search import SearchQuery, search
from commonplace.flows.stores import Stores
from commonplace.history.base import NewThread
from commonplace.index.base import Index
from commonplace.model import Answer, Filters, Message, Terms
from commonplace.notes.chunks import last_sentences
from commonplace.policy.sensitivity import Audience
from commonplace.sources.conversations import ConversationSource
from commonplace.vault.base import StorageBackend
from commonplace.vault.obsidian import ObsidianVault
from tests.gitvault import AUTHOR, git, new_vault
from tests.stores import NOW, CountingEncoder, close, commit_by_hand, make_session, make_stores, save

BEGINS = "2026-03-01T12:00:00Z"
APRIL = "2026-04-01T00:00:00Z"
OWN = Terms(personal=True)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A vault with a commit in March and one in May: a note changed, one moved, one removed, one added."""
    root = tmp_path / "vault"
    root.mkdir()
    git(root, "init", "--quiet")
    save(root, "Lead.md", "Ada leads the greenhouse.\n")
    save(root, "Old/moved.md", "The greenhouse has four beds.\n")
    save(root, "gone.md", "The greenhouse leaks.\n")
    save(root, "Templates/t.md", "The greenhouse template.\n")
    commit_by_hand(root, BEGINS)
    save(root, "Lead.md", "Jonas leads the greenhouse.\n")
    (root / "New").mkdir()
    (root / "Old/moved.md").rename(root / "New/moved.md")
    (root / "gone.md").unlink()
    save(root, "new.md", "The greenhouse has sensors.\n")
    commit_by_hand(root, "2026-05-01T12:00:00Z")
    return root


@pytest.fixture
def encoder() -> CountingEncoder:
    return CountingEncoder()


@pytest.fixture
def backend(root: Path) -> StorageBackend:
    return ObsidianVault(root, author=AUTHOR)


def as_of(stores: Stores, when: str, text: str = "greenhouse", *, audience: Audience = "person") -> Answer:
    return search(SearchQuery(text, "words", as_of=when), stores, audience=audience)


def test_a_day_in_the_past_has_the_notes_of_that_day(stores: Stores) -> None:
    """Changed, moved and removed notes as they were; what came later is not there, nor what is ignored."""
    sync(stores)
    answer = as_of(stores, "2026-04-01T00:00:00Z")

    assert sorted(hit.path for hit in answer) == ["Lead.md", "Old/moved.md", "gone.md"]
    assert [hit.text for hit in answer if hit.path == "Lead.md"] == ["Ada leads the greenhouse."]
    assert (answer.as_of, answer.history_begins) == ("2026-03-31T23:59:59Z", BEGINS)


def test_the_moment_of_a_commit_belongs_to_what_it_brought(stores: Stores) -> None:
    """`as_of` is the end of a window: the second before it counts, the second itself does not."""
    at, after = as_of(stores, "2026-05-01T12:00:00Z"), as_of(stores, "2026-05-01T12:00:01Z")

    assert "gone.md" in [hit.path for hit in at]
    assert sorted(hit.path for hit in after) == ["Lead.md", "New/moved.md", "new.md"]


def test_before_history_there_is_nothing_to_ask(stores: Stores) -> None:
    """The error says where history begins."""
    with pytest.raises(NotFound, match=f"it begins {BEGINS}"):
        as_of(stores, "2026-02-01T00:00:00Z")


def test_a_vault_without_history_says_so(root: Path, tmp_path: Path) -> None:
    """Its notes are only as they are now."""
    plain = make_stores(root, tmp_path / "plain")

    with pytest.raises(UsageError, match="keeps no history"):
        as_of(plain, "2026-04-01T00:00:00Z")
    close(plain)


def test_the_past_is_built_once_with_the_vectors_that_are_known(stores: Stores, encoder: CountingEncoder) -> None:
    """A text that is still in the vault is not encoded for it; the second search builds nothing."""
    sync(stores)
    encoder.texts.clear()
    as_of(stores, "2026-04-01T00:00:00Z")
    encoded = set(encoder.texts)
    encoder.texts.clear()
    as_of(stores, "2026-04-15T00:00:00Z")

    assert encoded == {"Ada leads the greenhouse.", "The greenhouse leaks.", "gone"}
    assert encoder.texts == []


def test_a_search_of_the_past_changes_nothing_of_today(stores: Stores) -> None:
    """The index of now has what it had."""
    sync(stores)
    before = search(SearchQuery("greenhouse"), stores, audience="person").hits
    as_of(stores, "2026-04-01T00:00:00Z")

    assert search(SearchQuery("greenhouse"), stores, audience="person").hits == before


def test_an_encoder_that_fails_leaves_the_words_of_the_past(stores: Stores, encoder: CountingEncoder) -> None:
    """And what was left out is made up for when it works again."""
    encoder.fails = True
    failing = search(SearchQuery("greenhouse leaks", as_of="2026-04-01T00:00:00Z"), stores, audience="person")
    encoder.fails = False
    working = search(SearchQuery("greenhouse leaks", as_of="2026-04-01T00:00:00Z"), stores, audience="person")

    assert (failing.hits[0].path, failing.mode) == ("gone.md", "words")
    assert failing.degraded
    assert (working.hits[0].path, working.mode, working.degraded) == ("gone.md", "hybrid", ())


def building(stores: Stores, *, meanwhile: Callable[[], None]) -> Stores:
    """The stores, where something happens once, after the first notes were put into a new index of the past."""
    left = [meanwhile]

    class Disturbed:
        def __init__(self, index: Index) -> None:
            self.index = index

        def __getattr__(self, name: str) -> object:
            return getattr(self.index, name)

        def put_all(self, documents: Any, *, now: float) -> None:
            self.index.put_all(documents, now=now)
            if left:
                left.pop()()

        @contextmanager
        def replacement(self) -> Iterator[Index]:
            with self.index.replacement() as fresh:
                yield cast("Index", Disturbed(fresh))

    return stores.using(past_index=lambda commit: cast("Index", Disturbed(stores.parts().past_index(commit))))


def test_a_past_whose_building_was_cut_short_is_built_by_the_next_search(stores: Stores, tmp_path: Path) -> None:
    """A process was killed while it built it: nothing of its work counts."""

    class Killed(Exception):
        pass

    def die() -> None:
        raise Killed

    with pytest.raises(Killed):
        as_of(building(stores, meanwhile=die), APRIL)
    (place,) = (tmp_path / "data/past").iterdir()
    left = stores.parts().past_index(place.name)
    with left.reader() as reading:
        counts = reading.counts()
    left.close()

    assert (counts.documents, counts.synced) == ({}, None)
    assert len(as_of(stores, APRIL)) == 3


def test_a_past_that_is_removed_while_it_is_built_is_built_again(stores: Stores) -> None:
    """Another process dropped it, because a note was erased or there are too many: the answer is whole all the same."""
    answer = as_of(building(stores, meanwhile=stores.parts().forget_past), APRIL)

    assert len(answer) == 3
    assert len(as_of(stores, APRIL)) == 3


def test_what_was_erased_is_not_in_the_past(stores: Stores, root: Path) -> None:
    """Git still holds it, and no search shows it: not where it was before it was moved, nor from an index that another
    machine built before."""
    sync(stores)
    before = {hit.path for hit in as_of(stores, APRIL)}
    session = make_session(root)
    move_note("New/moved.md", "Beds.md", session, OWN)
    erase_note("Beds.md", session, OWN)
    erase_note("gone.md", session, OWN)
    built_before = {hit.path for hit in as_of(stores, APRIL)}
    stores.parts().forget_past()
    built_anew = {hit.path for hit in as_of(stores, APRIL)}

    assert before == {"Lead.md", "Old/moved.md", "gone.md"}
    assert built_before == built_anew == {"Lead.md"}  # also as it was called before a rename in the editor
    assert {hit.path for hit in as_of(stores, "2026-05-02T00:00:00Z")} == {"Lead.md", "new.md"}


def test_a_note_made_anew_where_another_was_erased_is_in_the_past(stores: Stores, root: Path) -> None:
    """It is another note: what was erased is what was there before."""
    erase_note("gone.md", make_session(root), OWN)
    save(root, "gone.md", "The greenhouse is new.\n")
    commit_by_hand(root, "2027-01-01T12:00:00Z")
    later = as_of(stores, "2027-02-01T00:00:00Z")

    assert [hit.text for hit in later if hit.path == "gone.md"] == ["The greenhouse is new."]
    assert "gone.md" not in {hit.path for hit in as_of(stores, APRIL)}


def test_what_is_sensitive_today_is_withheld_in_the_past(stores: Stores, root: Path) -> None:
    """A mark counts for every version, in an index that is built already, and for a note that was moved since."""
    before = [hit.text for hit in as_of(stores, APRIL, audience="prompt")]
    save(root, "Lead.md", "---\nsensitive: true\n---\nJonas leads the greenhouse.\n")
    save(root, "Old/moved.md", "The greenhouse has four beds.\n")
    (root / "New/moved.md").unlink()
    move_note("Old/moved.md", "Beds.md", make_session(root), OWN)
    save(root, "Beds.md", "---\nsensitive: true\n---\nThe greenhouse has four beds.\n")
    agent, person = as_of(stores, APRIL, audience="prompt"), as_of(stores, APRIL)
    stores.parts().forget_past()
    built_later = as_of(stores, APRIL, audience="prompt")

    assert len(before) == 3
    assert all(before)
    assert built_later.hits == agent.hits
    assert {hit.path: hit.text for hit in agent if hit.text} == {"gone.md": "The greenhouse leaks."}
    assert {hit.path for hit in person if hit.sensitive} == {"Lead.md", "Old/moved.md"}
    assert all(hit.text for hit in person)


def test_what_is_sensitive_today_is_not_sent_to_a_remote_encoder(stores: Stores, root: Path) -> None:
    """Not as it was before it was marked, either."""
    remote = CountingEncoder(is_remote=True)
    save(root, "Lead.md", "---\nsensitive: true\n---\nJonas leads the greenhouse.\n")
    as_of(stores.using(encoders=replace(stores.encoders, current=remote)), APRIL)

    assert "The greenhouse leaks." in remote.texts
    assert [text for text in remote.texts if "leads" in text] == []


def test_a_search_of_the_past_says_that_it_leaves_conversations_out(stores: Stores) -> None:
    """Where there are any and they are wanted: what is found today is missed on no other day without a word."""
    source = ConversationSource(stores.history, closing=last_sentences)
    stores = replace(stores, sources=(source,))
    without = as_of(stores, APRIL)
    stores.history.record_conversation(NewThread("x"), [Message("user", "The greenhouse is warm.")], now=NOW)
    sync(stores)
    said = "conversations: a search of the past covers notes only"
    ask_notes = SearchQuery("greenhouse", "words", as_of=APRIL, filters=Filters(sources=(VAULT,)))

    assert said not in without.degraded
    assert said in as_of(stores, APRIL).degraded
    assert said not in search(ask_notes, stores, audience="person").degraded
    assert said not in as_of(replace(stores, sources=()), APRIL).degraded
    assert all(hit.source_type == VAULT for hit in as_of(stores, APRIL))


def test_a_huge_note_of_the_past_is_not_read(tmp_path: Path) -> None:
    """A sparse file is nothing in a repository and 200 MB in memory; the limit on reading holds for any day."""
    root = tmp_path / "vault"
    new_vault(root, note="# A note\n\nApples.\n")
    with (root / "huge.md").open("wb") as file:
        file.write(b"# Huge\n\nApples.\n")
        file.truncate(LARGEST_PAST + 1)
    git(root, "add", "-A")
    git(root, "commit", "--quiet", "--message", "huge")
    tomorrow = (datetime.now(UTC) + timedelta(days=1)).date().isoformat()
    with open_memory(root, settings={"embedding.provider": "none"}) as memory:
        found = memory.search("apples", as_of=tomorrow).hits

    assert [hit.path for hit in found] == ["note.md"]
