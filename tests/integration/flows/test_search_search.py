"""Recall: the right passages, best first, with their reasons; and nothing that a note no longer says."""

import json
import os
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from commonplace import events
from commonplace.errors import UsageError
from commonplace.flows.ingest.sync import sync, sync_source
from commonplace.flows.stores import Stores
from commonplace.model import MODES, Mode
from commonplace.policy.sensitivity import Audience
from commonplace.ranking.options import RetrievalOptions
from commonplace.sources.base import InMemorySource, SourceItem, SourcePassage
from tests.stores import CountingEncoder, ask, close, found, make_stores, save

NASTY = (
    *('"', '"apple', "*", "apple*", "NEAR", "apple NEAR banana", "AND", "apple AND", "-", "-apple", "^apple", ":"),
    *("title:apple", "(apple", "🍎", "'; DROP TABLE memory_chunks; --", "\x00apple\x00", "apple " * 1667, "\ud800"),
)


@pytest.fixture(autouse=True)
def _quiet_again() -> Iterator[None]:
    yield
    events.listen("warning")


@pytest.mark.requirement("D-46")
def test_words_find_their_notes_in_every_field(stores: Stores, root: Path) -> None:
    """Title, aliases, headings, tags and body are searched, stemmed and without accents; Chinese text, too."""
    save(root, "quinces.md", "---\naliases: [Marmelo]\ntags: [fruit/hard]\n---\n# Café\n\nBoiled slowly.\n\n温室计划\n")
    save(root, "other.md", "Nothing of it.\n")
    sync(stores)

    for word in ("quince", "marmelo", "cafe", "CAFÉ", "fruit", "boiling", "温室"):
        assert found(stores, word) == ["quinces.md"], word


def test_every_mode_finds_the_note_that_says_it(stores: Stores, root: Path) -> None:
    """With a score from 0 to 1 of four places, falling, and what it is made of."""
    save(root, "a.md", "# Watering\n\nThe tomato beds are watered at dawn.\n")
    save(root, "b.md", "# Sensors\n\nThe humidity sensor reports hourly.\n")
    save(root, "c.md", "# Beds\n\nFour beds stand under glass.\n")
    sync(stores)

    for mode in MODES:
        answer = ask(stores, "when are tomato beds watered", mode=mode, min_score=0.0)
        scores = [hit.score for hit in answer]
        assert answer.mode == mode
        assert answer.hits[0].path == "a.md", mode
        assert answer.hits[0].heading_path == ("Watering",)
        assert scores == sorted(scores, reverse=True), mode
        assert all(0 <= score <= 1 and round(score, 4) == score for score in scores), mode
        assert all(hit.why.keys() <= {"words", "sense", "document", "place"} and hit.why for hit in answer), mode


def test_any_text_is_a_safe_question(stores: Stores, root: Path) -> None:
    """What means something to a query language means nothing here; the words beside it are still searched."""
    save(root, "a.md", "apple\n")
    sync(stores)

    for mode, text in product(MODES, NASTY):
        answer = ask(stores, text, mode=mode, min_score=0.0)
        assert answer.searched, (mode, text)
        assert [hit.path for hit in answer] == ["a.md"] or "apple" not in text, (mode, text)
        assert answer.hits or answer.empty, (mode, text)


def test_an_empty_question_is_not_searched(stores: Stores) -> None:
    """And the answer says so."""
    answer = ask(stores, "  \n ")

    assert (answer.searched, answer.hits, answer.empty) == (False, (), "The question is empty.")


@pytest.mark.requirement("D-71", "D-92")
def test_k_is_what_was_asked_or_the_default_and_never_above_the_most(stores: Stores, root: Path) -> None:
    """min(k or default_k, max_k); less than one is refused."""
    for number in range(12):
        save(root, f"{number}.md", "apple\n")
    sync(stores)
    small = replace(stores, retrieval=RetrievalOptions(default_k=3, max_k=5))

    assert [len(ask(small, "apple", k=k)) for k in (None, 1, 4, 5, 6, 1000)] == [3, 1, 4, 5, 5, 5]
    with pytest.raises(UsageError, match="k must be at least 1"):
        ask(small, "apple", k=0)


@pytest.mark.requirement("D-73")
def test_what_is_below_the_floor_is_dropped(stores: Stores, root: Path) -> None:
    """By cosine, where no word speaks for it; the answer then says how near the best was."""
    save(root, "a.md", "# a\napple trees in spring\n")
    save(root, "b.md", "# b\nquarterly budget numbers\n")
    sync(stores)
    cosines = {hit.path: hit.cosine or 0.0 for hit in ask(stores, "apple", mode="sense", min_score=0.0)}
    strict = ask(stores, "apple", mode="sense", min_score=round(cosines["a.md"], 4))
    none = ask(stores, "apple", mode="sense", min_score=0.99)

    assert [hit.path for hit in strict] == ["a.md"]
    assert none.hits == ()
    assert none.empty
    assert "min_score is 0.99" in none.empty


@pytest.mark.parametrize(
    ("question", "filters", "says"),
    [
        ("zebra", {}, "`zebra`"),
        ("apple", {"path": "Nowhere"}, "None of the 2 documents matches the filters"),
        ("?!", {}, "no words to search for"),
    ],
)
def test_an_empty_answer_says_why(
    stores: Stores, root: Path, question: str, filters: dict[str, Any], says: str
) -> None:
    """Which words stand nowhere, that no document fits, or that there was no word."""
    save(root, "a.md", "apple\n")
    save(root, "b.md", "banana\n")
    sync(stores)
    answer = ask(stores, question, mode="words", **filters)

    assert (answer.searched, answer.hits) == (True, ())
    assert answer.empty
    assert says in answer.empty


@pytest.mark.parametrize("mode", ["hybrid", "rrf"])
def test_an_empty_index_says_that_it_wants_a_sync(stores: Stores, mode: Mode) -> None:
    """Nothing is missing but notes: the mode is the one that was asked for."""
    before = ask(stores, "apple", mode=mode)
    sync(stores)
    after = ask(stores, "apple", mode=mode)

    assert (before.mode, after.degraded) == (mode, ())
    assert before.degraded == ("index: the vault was never synced (run `commonplace sync`)",)
    assert before.empty == "The index is empty: run `commonplace sync` to read the vault."
    assert after.empty == "The vault has no notes to search."


def test_filters_do_not_starve(stores: Stores, root: Path) -> None:
    """A thousand better chunks elsewhere do not hide the few that pass the filter, by words or by meaning."""
    save(root, "many.md", "\n\n".join(f"# h{number}\napple apple apple" for number in range(1000)))
    save(root, "Deep/one.md", "# one\nA long text in which somewhere an apple is named, beside many other things.\n")
    sync(stores)

    for mode in MODES:
        assert found(stores, "apple apple apple", mode=mode, path="Deep", min_score=0.0) == ["Deep/one.md"], mode


def test_each_filter_leaves_what_fits(stores: Stores, root: Path) -> None:
    """Source, kind, folder, tag with those below it, topic, entity with those that link to it, and time."""
    save(
        root,
        "People/Ada.md",
        "---\nkind: person\ntags: [team/lead]\ntopics: [garden]\naliases: [A.L.]\nupdated: 2026-03-01\n---\nwords\n",
    )
    save(root, "Peoples.md", "---\nupdated: 2026-04-01\n---\nwords with [[Ada]]\n")
    save(root, "c.md", "---\nupdated: 2026-05-01\n---\nwords\n")
    chat = InMemorySource("chat")
    june = "2026-06-01T00:00:00Z"
    chat.put(SourceItem("1", title="t", uri="chat:1", passages=(SourcePassage("words"),), created=june, updated=june))
    sync(stores)
    sync_source(chat, stores)

    assert found(stores, "words", sources=("chat",)) == ["1"]
    assert found(stores, "words", kinds=("Person",)) == ["People/Ada.md"]
    assert found(stores, "words", path="People") == ["People/Ada.md"]
    assert found(stores, "words", tags=("team",)) == ["People/Ada.md"]
    assert found(stores, "words", topics=("garden",)) == ["People/Ada.md"]
    for name in ("Ada", "A.L.", "People/Ada.md"):
        assert sorted(found(stores, "words", entities=(name,))) == ["People/Ada.md", "Peoples.md"], name
    assert found(stores, "words", since="2026-04-01T00:00:00Z", until="2026-05-01T00:00:00Z") == ["Peoples.md"]


@pytest.mark.requirement("A-49", "A-50")
def test_the_inbox_is_ranked_lower_the_archive_asked_for_and_staging_never_shown(stores: Stores, root: Path) -> None:
    """An inbox that is hidden would hide most of what was captured; staged text waits for a person."""
    for path in ("Inbox/a.md", "Notes/a.md", "Agent/Memory/_inbox/a.md", "Agent/_archive/a.md"):
        save(root, path, "# a\nwords\n")
    save(root, "Agent/Memory/_staging/a.md", "# a\nwords\n")
    sync(stores)
    plain = [(hit.path, hit.score) for hit in ask(stores, "words")]
    (notes, best), *inboxes = plain

    assert notes == "Notes/a.md"
    assert sorted(path for path, _ in inboxes) == ["Agent/Memory/_inbox/a.md", "Inbox/a.md"]
    assert all(score == pytest.approx(best * 0.9, abs=1e-4) for _, score in inboxes)
    assert "Agent/_archive/a.md" in found(stores, "words", archived=True)
    assert "Agent/Memory/_staging/a.md" not in found(stores, "words", archived=True)


@pytest.mark.parametrize("audience", ["person", "prompt", "mcp"])
def test_sensitive_text_is_for_its_owner_alone(stores: Stores, root: Path, audience: Audience) -> None:
    """Others find the note by its title, and are given title and path: no text, line, headings, score or reason."""
    save(root, "Vault door.md", "---\nsensitive: true\npin: 1234\n---\n# Swordfish\nthe password of the door\n")
    sync(stores)
    (hit,) = ask(stores, "door", audience=audience, mode="words").hits

    assert (hit.path, hit.title, hit.sensitive) == ("Vault door.md", "Vault door", True)
    assert hit.metadata["sensitive"] is True
    if audience != "person":
        assert (hit.text, hit.line, hit.cosine, hit.score, hit.heading_path) == ("", 0, None, 0.0, ())
        assert (hit.snippet, hit.marks, hit.metadata) == ("", (), {"sensitive": True})
        assert not any(word in str(hit) for word in ("1234", "wordfish", "password"))


def test_no_answer_tells_an_agent_what_stands_in_a_sensitive_note(stores: Stores, root: Path) -> None:
    """A guess at its words finds nothing, by words or by meaning, nor does one at its tags."""
    save(root, "Vault door.md", "---\nsensitive: true\ntags: [black]\n---\n# Swordfish\nthe password is lobster\n")
    save(root, "other.md", "a shellfish\n")
    sync(stores)

    for mode in MODES:
        for text in ("lobster", "swordfish password"):
            guess = ask(stores, text, audience="prompt", mode=mode, min_score=0.0)
            assert all(hit.path == "other.md" for hit in guess), (mode, text)
        tagged = ask(stores, "lobster", audience="prompt", mode=mode, min_score=0.0, tags=("black",))
        assert tagged.hits == (), mode


@pytest.mark.requirement("A-48")
def test_no_hit_is_of_a_note_that_no_longer_says_it(stores: Stores, root: Path) -> None:
    """A note that was changed or removed since it was indexed is looked at again before it is shown; so is the next
    one that comes in its place."""
    for path in ("a.md", "b.md", "c.md"):
        save(root, path, f"# {path}\napple\n")
    save(root, "d.md", "# d\nan apple among other things\n")
    sync(stores)
    save(root, "a.md", "# a\nbanana now\n")
    (root / "b.md").unlink()
    save(root, "c.md", "# c\ncherry now\n")
    answers = [ask(stores, "apple", k=1, mode=mode) for mode in ("words", "hybrid")]

    assert [[hit.path for hit in answer] for answer in answers] == [["d.md"], ["d.md"]]
    assert found(stores, "banana") == ["a.md"]


@pytest.mark.requirement("D-78")
def test_a_search_tells_what_it_did(stores: Stores, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`memory_retrieval` with k, the number of hits, the time it took and its parts, and the sources asked for."""
    save(root, "a.md", "apple\n")
    sync(stores)
    events.listen("info")
    ask(stores, "apple", k=4, sources=("vault",))
    (told,) = (json.loads(line) for line in capsys.readouterr().err.splitlines())

    assert told["event"] == "memory_retrieval"
    assert (told["k"], told["hits"], told["sources"], told["mode"]) == (4, 1, ["vault"], "hybrid")
    assert told["latency_ms"] > 0
    assert told["times"].keys() == {"understand", "encode", "sense", "words", "rank", "hits"}


@pytest.mark.requirement("I-14")
def test_a_search_asks_no_model_but_the_encoder(root: Path, tmp_path: Path) -> None:
    """One call, for the question; a search by words makes none."""
    encoder = CountingEncoder()
    stores = make_stores(root, tmp_path / "data", encoder=encoder)
    save(root, "a.md", "apple\n")
    sync(stores)
    encoder.texts.clear()
    ask(stores, "apple", mode="words")
    by_words = list(encoder.texts)
    ask(stores, "apple")

    assert (by_words, encoder.texts) == ([], ["apple"])
    assert stores.history.count_calls("embed_memory_query") == 1
    close(stores)


@pytest.mark.parametrize("mode", ["hybrid", "sense", "vector"])
def test_an_encoder_that_fails_now_leaves_words(root: Path, tmp_path: Path, mode: Mode) -> None:
    """The answer is in words mode and says what is missing."""
    encoder = CountingEncoder()
    stores = make_stores(root, tmp_path / "data", encoder=encoder)
    save(root, "a.md", "apple\n")
    sync(stores)
    encoder.fails = True
    answer = ask(stores, "apple", mode=mode)

    assert ([hit.path for hit in answer], answer.mode) == (["a.md"], "words")
    assert answer.degraded == ("search by meaning: the server does not answer",)
    close(stores)


def test_vectors_of_an_encoder_that_is_away_are_not_used(root: Path, tmp_path: Path) -> None:
    """With no encoder set the search is by words, though an older one could be found."""
    encoder = CountingEncoder()
    save(root, "a.md", "apple\n")
    first = make_stores(root, tmp_path / "data", encoder=encoder)
    sync(first)
    close(first)
    second = make_stores(root, tmp_path / "data", encoder=None, others=(encoder,))
    answer = ask(second, "apple")

    assert (answer.mode, answer.degraded) == ("words", ("search by meaning: no encoder is installed",))
    assert answer.hits[0].cosine is None
    close(second)


def test_chunks_that_wait_for_vectors_are_told(root: Path, tmp_path: Path) -> None:
    """An encoder came after the notes: until a sync, meaning finds only what it has encoded."""
    save(root, "a.md", "apple\n")
    first = make_stores(root, tmp_path / "data", encoder=None)
    sync(first)
    close(first)
    second = make_stores(root, tmp_path / "data")
    answer = ask(second, "apple")

    assert (answer.mode, [hit.path for hit in answer]) == ("words", ["a.md"])
    assert answer.degraded == (
        "search by meaning: 1 of 1 passages are not encoded yet and are found by words only (run `commonplace sync`)",
    )
    close(second)


def test_a_filter_changes_what_is_found_and_no_score(stores: Stores, root: Path) -> None:
    """Words are weighed over all notes, never over those that pass a filter: that would be another ranking."""
    for number in range(20):
        save(root, f"Many/{number}.md", f"# {number}\nbanana {'and more ' * number}\n")
    for number in range(3):
        save(root, f"Few/{number}.md", f"# few {number}\napple banana {'pie ' * number}\n")
    sync(stores)

    for mode in (mode for mode in MODES if mode != "rrf"):
        every = {hit.path: hit.score for hit in ask(stores, "apple banana pie", mode=mode, k=32, min_score=0.0)}
        few = {hit.path: hit.score for hit in ask(stores, "apple banana pie", mode=mode, path="Few", min_score=0.0)}
        assert few == {path: score for path, score in every.items() if path.startswith("Few/")}, mode
        assert len(few) == 3, mode


def test_age_takes_nothing_from_a_score(stores: Stores, root: Path) -> None:
    """A question about the past is answered by what is old."""
    for year in (1990, 2026):
        save(root, f"{year}.md", f"---\ntitle: Beds\nupdated: {year}-01-01\n---\nThe beds were watered by hand.\n")
    sync(stores)
    one, other = ask(stores, "how were the beds watered").hits

    assert one.score == other.score


def test_a_hit_that_is_left_out_at_last_leaves_a_reason(stores: Stores, root: Path) -> None:
    """An answer without hits says why, also when its only note changes all the time."""
    save(root, "a.md", "apple\n")
    sync(stores)
    times = iter(range(1_700_000_000, 1_800_000_000))

    class Restless:
        def __getattr__(self, name: str) -> object:
            os.utime(root / "a.md", (0, next(times)))
            return getattr(stores.vault, name)

    answer = ask(replace(stores, vault=Restless()), "apple")  # type: ignore[arg-type]

    assert answer.hits == ()
    assert answer.empty == "All hits are being changed at this moment: search again."


def test_what_begins_later_is_found_and_says_from_when(stores: Stores, root: Path) -> None:
    """What has begun says nothing of it, and what has ended is not found."""
    save(root, "later.md", "---\nvalid_from: 2999-12-03\n---\nThe quince harvest moves to the hill.\n")
    save(root, "now.md", "---\nvalid_from: 2001-01-01\n---\nThe quince harvest is in the valley.\n")
    save(root, "over.md", "---\nvalid_until: 2001-01-01\n---\nThe quince harvest was at the lake.\n")
    sync(stores)
    planned = {hit.path: hit.metadata.get("planned_from") for hit in ask(stores, "quince harvest").hits}

    assert planned == {"later.md": "2999-12-03T00:00:00Z", "now.md": None}
