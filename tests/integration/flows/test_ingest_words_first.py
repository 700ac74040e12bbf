"""Words first: what takes long to encode is found by its words at once, and by meaning as soon as it is encoded."""

import os
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from commonplace.flows.doctor import examine
from commonplace.flows.ingest import sync as sync_module
from commonplace.flows.ingest.index_notes import BATCH
from commonplace.flows.ingest.sync import count_stale, index_new_vault, rebuild, sync
from commonplace.flows.search.search import SearchQuery
from commonplace.flows.stores import Stores
from commonplace.memory import Memory
from commonplace.model import Answer, Filters
from commonplace.model.diagnostics import Finding
from commonplace.model.request import SearchRequest
from commonplace.sources.base import InMemorySource, SourceItem, SourcePassage
from tests.memories import make_memory
from tests.polling import wait_for
from tests.stores import CountingEncoder, ask, close, found, index_contents, make_stores, save

NOTES = BATCH * 2 + 3
ASKS = [SearchQuery(text, mode, k=40) for text in ("apple 7", "pear tree") for mode in ("hybrid", "words", "sense")]


class Killed(BaseException):
    """The process ends here."""


@pytest.fixture
def encoder() -> CountingEncoder:
    return CountingEncoder()


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> int:
    """Nothing is encoded at once, so that a small vault is as one that takes minutes."""
    monkeypatch.setattr(sync_module, "AT_ONCE", 0)
    return 0


@pytest.fixture
def garden(root: Path, at_once: int) -> Path:
    """Notes of many days, none of them encoded."""
    for number in range(NOTES):
        name, day = f"{number:02}", number % 28 + 1
        file = save(root, f"{name}.md", f"---\nupdated: 2026-03-{day:02}\n---\n# {name}\n\napple {number}\n")
        os.utime(file, (1_700_000_000.0 + number, 1_700_000_000.0 + number))
    return root


def encoded(stores: Stores) -> set[str]:
    """The paths of the notes that have vectors."""
    return {path for path, stamp in stores.index.stamps("vault").items() if stamp.version}


def test_the_first_answer_by_words_comes_before_anything_is_encoded(
    stores: Stores, garden: Path, encoder: CountingEncoder
) -> None:
    """A search of another process answers and says how much is missing, and that it is on its way."""
    answers: list[Answer] = []

    def look(what: str, done: int, total: int) -> None:
        if what == "texts" and not answers:
            assert (done, encoder.texts) == (0, [])
            answers.append(ask(stores, "apple 7"))

    report = sync(stores, progress=look)
    (early,) = answers

    assert (early.mode, early.hits[0].path) == ("words", "07.md")
    assert early.degraded == (
        f"search by meaning: {NOTES} of {NOTES} passages are not encoded yet and are found by words only"
        " (catching up, newest notes first)",
    )
    assert (report.added, report.changed, report.waiting, report.encoded) == (NOTES, 0, 0, len(encoder.texts))
    assert ask(stores, "apple 7").degraded == ()


def test_each_batch_is_found_by_meaning_as_it_comes_newest_notes_first(stores: Stores, garden: Path) -> None:
    """By the note's own date, or else by the file's."""
    seen: list[set[str]] = []

    def look(what: str, done: int, total: int) -> None:
        if what == "texts" and (not seen or encoded(stores) != seen[-1]):
            seen.append(encoded(stores))

    sync(stores, progress=look)
    newest = sorted(range(NOTES), key=lambda number: (-(number % 28), number))

    assert [len(each) for each in seen] == [0, BATCH, BATCH * 2, NOTES]
    assert seen[1] == {f"{number:02}.md" for number in newest[:BATCH]}


def test_while_most_notes_wait_a_search_goes_by_words(stores: Stores, garden: Path) -> None:
    """Ranked by both, the few that are encoded would come before a note that has every word of the question."""
    modes: dict[int, str] = {}

    def look(what: str, done: int, total: int) -> None:
        if what == "texts":
            answer = ask(stores, "apple 7")
            modes[len(encoded(stores))] = answer.mode
            assert answer.hits[0].path == "07.md"

    sync(stores, progress=look)

    assert modes == {0: "words", BATCH: "words", BATCH * 2: "hybrid", NOTES: "hybrid"}
    assert BATCH * 2 >= 0.9 * NOTES


def test_entries_are_encoded_before_notes(stores: Stores, garden: Path, encoder: CountingEncoder) -> None:
    """They are what prompts need first, however old they are."""
    save(garden, "Agent/Memory/preference/2020-01/tea-0a1b2c.md", "---\nupdated: 2020-01-01\n---\nLikes tea.\n")
    sync(stores)

    assert encoder.texts[0] == "Likes tea."


def test_a_note_that_was_changed_comes_before_those_that_are_new(
    stores: Stores, root: Path, encoder: CountingEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It had vectors, and is without them for the shortest time, however old its own date is."""
    save(root, "old.md", "---\nupdated: 2020-01-01\n---\nplum\n")
    sync(stores)
    encoder.texts.clear()
    monkeypatch.setattr(sync_module, "AT_ONCE", 0)
    save(root, "new.md", "apple\n")
    save(root, "old.md", "---\nupdated: 2020-01-01\n---\nplum and pear\n")
    sync(stores)

    assert encoder.texts == ["plum and pear", "apple", "new"]


def test_a_small_change_is_encoded_at_once(stores: Stores, root: Path, encoder: CountingEncoder) -> None:
    """Up to the limit nothing is indexed twice: the first thing that is counted is all there is."""
    counted: set[str] = set()
    save(root, "a.md", "apple\n")
    sync(stores, progress=lambda what, done, total: counted.add(what))

    assert (counted, encoder.texts) == ({"notes"}, ["apple", "a"])
    assert encoded(stores) == {"a.md"}


def test_what_is_cached_does_not_wait(stores: Stores, garden: Path, encoder: CountingEncoder) -> None:
    """A rebuild with all vectors in the cache indexes each note once."""
    sync(stores)
    counted: set[str] = set()
    rebuild(stores, progress=lambda what, done, total: counted.add(what))

    assert counted == {"notes"}


def test_the_end_is_that_of_encoding_at_once(
    stores: Stores, garden: Path, tmp_path: Path, encoder: CountingEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To the last digit; with conversations too."""
    talks = InMemorySource("talk")
    for number in range(BATCH + 2):
        passages, at = (SourcePassage(f"apple pear tree {number}"),), "2026-03-01T09:00:00Z"
        talks.put(SourceItem(f"t{number}", f"Talk {number}", f"chat:{number}", passages, created=at, updated=at))
    both = replace(stores, sources=(talks,))
    sync(both)
    once = replace(make_stores(garden, tmp_path / "once", encoder=encoder), sources=(talks,))
    monkeypatch.setattr(sync_module, "AT_ONCE", 100_000)
    sync(once)

    assert index_contents(both, ASKS) == index_contents(once, ASKS)
    assert (count_stale(both), count_stale(once)) == (0, 0)
    close(once)


def test_a_sync_that_is_stopped_goes_on_where_it_was(stores: Stores, garden: Path, encoder: CountingEncoder) -> None:
    """What was encoded stays, what was not is still found by words, and no text is encoded twice."""
    stop = threading.Event()

    def stop_soon(what: str, done: int, total: int) -> None:
        if what == "texts" and done:
            stop.set()

    report = sync(stores, progress=stop_soon, stop=stop)
    left = NOTES - len(encoded(stores))
    with stores.index.reader() as reader:
        searched = reader.count_documents(Filters())
    rest = sync(stores)

    assert (report.waiting, 0 < left < NOTES) == (left, True)
    assert searched == NOTES
    assert (rest.added, rest.changed, rest.unchanged, rest.waiting) == (0, 0, NOTES, 0)
    assert len(encoder.texts) == len({*encoder.texts}) == NOTES


def test_a_sync_that_is_killed_goes_on_where_it_was(stores: Stores, garden: Path, encoder: CountingEncoder) -> None:
    """Also if the process ends in the middle of a batch."""

    def die(what: str, done: int, total: int) -> None:
        if what == "texts" and done > BATCH:
            raise Killed

    with pytest.raises(Killed):
        sync(stores, progress=die)
    stale = count_stale(stores)
    sync(stores)

    assert (stale, count_stale(stores)) == (NOTES - BATCH, 0)
    assert len(encoder.texts) == len({*encoder.texts}) == NOTES


def test_an_encoder_that_fails_on_the_way_leaves_words_and_says_why(
    stores: Stores, garden: Path, encoder: CountingEncoder
) -> None:
    """What it had encoded stays; the next sync asks it again."""

    def fail(what: str, done: int, total: int) -> None:
        encoder.fails = what == "texts" and done >= BATCH

    report = sync(stores, progress=fail)
    had = len(encoded(stores))
    encoder.fails = False
    again = sync(stores)

    assert (had, report.waiting, report.missing) == (BATCH, NOTES - BATCH, "the server does not answer")
    assert (again.waiting, again.missing, len(encoded(stores))) == (0, "", NOTES)


def test_two_that_sync_at_once_encode_each_text_once(
    stores: Stores, garden: Path, encoder: CountingEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One encodes; the other waits for it, tells how far it is, and does what is left."""
    monkeypatch.setattr(sync_module, "_POLL_S", 0.01)
    told: list[tuple[int, int]] = []

    def tell(what: str, done: int, total: int) -> None:
        if what == "texts":
            told.append((done, total))

    with stores.encode_lock():
        other = threading.Thread(target=sync, args=(stores,), kwargs={"progress": tell})
        other.start()
        wait_for(lambda: len(told) > 2)
        waited = [*encoder.texts]
    first = sync(stores)
    other.join(60)

    assert (waited, told[0], told[-1]) == ([], (0, NOTES), (NOTES, NOTES))
    assert (count_stale(stores), len(encoder.texts)) == (0, len({*encoder.texts}))
    assert first.waiting == 0


# ---------------------------------------------------------------- the first search


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    made = make_memory(tmp_path)
    save(tmp_path / "vault", "a.md", "The apple tree stands by the wall.\n")
    yield made
    made.close()


def test_the_first_search_of_a_vault_indexes_it(memory: Memory) -> None:
    """Nobody has to know of `sync` to get a first answer."""
    counted: list[tuple[str, int, int]] = []

    answer = memory.search.run(SearchRequest("apple tree"), progress=lambda *each: counted.append(each))

    assert [hit.path for hit in answer] == ["a.md"]
    assert (answer.degraded, counted) == ((), [("notes", 1, 1)])


def test_the_first_recall_of_a_vault_indexes_it(memory: Memory, tmp_path: Path) -> None:
    """Entries that came with the vault are found, such as those of a clone."""
    _entry_of_another_machine(tmp_path)
    counted: list[tuple[str, int, int]] = []

    answer = memory.entries.recall("green tea", progress=lambda *each: counted.append(each))

    assert [hit.text for hit in answer] == ["Drinks green tea."]
    assert (answer.degraded, counted[-1]) == ((), ("notes", 2, 2))


def test_the_first_context_of_a_vault_indexes_it(memory: Memory) -> None:
    """Passages of its notes are recalled at once."""
    context = memory.context("what do my notes say about the apple tree?", notes="always", within=None)

    assert "The apple tree stands by the wall." in context.text
    assert context.degraded == ()


def test_a_context_in_the_daemon_does_not_index(tmp_path: Path) -> None:
    """A prompt must not wait for a vault to be read: the daemon syncs by itself, and the context says what it lacks."""
    with make_memory(tmp_path, is_patient=False) as memory:
        save(tmp_path / "vault", "a.md", "The apple tree stands by the wall.\n")
        context = memory.context("what do my notes say about the apple tree?", notes="always", within=None)

        assert "apple tree stands" not in context.text
        assert memory.index.stats().synced is None


def _entry_of_another_machine(tmp_path: Path) -> None:
    with make_memory(tmp_path / "other") as other:
        path = other.entries.save("Drinks green tea.", kind="preference").fact.path
    save(tmp_path / "vault", path, (tmp_path / "other/vault" / path).read_text())


def test_a_vault_that_would_take_long_is_not_indexed_by_a_search(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The answer says what to do instead."""
    monkeypatch.setattr(sync_module, "FIRST_SEARCH_BYTES", 10)

    assert memory.search("apple tree").degraded == ("index: the vault was never synced (run `commonplace sync`)",)


def test_a_search_during_the_first_sync_says_that_it_is_under_way(stores: Stores, garden: Path) -> None:
    """Such as the daemon's: nobody is told to run a command that is running."""
    answers: list[Answer] = []
    sync(stores, progress=lambda what, done, total: answers.append(ask(stores, "apple", mode="words")))

    assert answers[0].degraded == (
        "index: the vault is being indexed for the first time: not every note can be found yet",
    )


def test_only_a_vault_that_was_never_synced_is_new(stores: Stores, root: Path) -> None:
    """A search does not sync what was synced before."""
    sync(stores)
    save(root, "a.md", "apple\n")

    assert (index_new_vault(stores), found(stores, "apple")) == (False, [])


def test_doctor_does_not_call_a_vault_ill_that_is_catching_up(stores: Stores, garden: Path) -> None:
    """It says what is under way; once nothing is, what is missing is a finding with a remedy."""
    during: list[Finding] = []
    stop = threading.Event()

    def look(what: str, done: int, total: int) -> None:
        if what == "texts" and not during:
            during.extend(each for each in examine(stores) if each.what == "index")
            stop.set()

    sync(stores, progress=look, stop=stop)
    (after,) = [each for each in examine(stores) if each.what == "index"]

    assert [(each.ok, f"{NOTES} are being indexed or encoded at the moment" in each.said) for each in during] == [
        (True, True)
    ]
    assert (after.ok, after.remedy) == (False, "Run `commonplace sync`.")
