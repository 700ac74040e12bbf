"""Ingest: what is in the vault is in the index, and nothing else is."""

import hashlib
import json
import os
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from commonplace import events
from commonplace.encoders.base import to_fixed_point
from commonplace.errors import NotFound, VaultUnavailable
from commonplace.flows.encode import text_hash
from commonplace.flows.ingest.documents import VAULT, document_id
from commonplace.flows.ingest.index_notes import BATCH, index_notes
from commonplace.flows.ingest.sync import count_stale, rebuild, sync, sync_source
from commonplace.flows.search.noise import PROBES
from commonplace.flows.stores import Stores
from commonplace.index.base import StoredChunk
from commonplace.model import Document, Filters
from commonplace.policy.options import SafetyOptions
from commonplace.settings.load import load_settings
from commonplace.sources.base import InMemorySource, SourceItem, SourcePassage
from commonplace.vault.base import Blob, Listing, Locator, Skip
from commonplace.vault.local import DeviceLocal
from tests.stores import CountingEncoder, ask, close, found, make_stores, save

if TYPE_CHECKING:
    from commonplace.index.base import Fixed

LONG_AGO = 1_700_000_000.0


@pytest.fixture
def encoder() -> CountingEncoder:
    return CountingEncoder()


@pytest.fixture(autouse=True)
def _quiet_again() -> Iterator[None]:
    yield
    events.listen("warning")


def document(stores: Stores, path: str, *, source_type: str = VAULT) -> StoredChunk:
    """The first chunk of the note, as the index keeps it."""
    with stores.index.reader() as reading:
        every = reading.match_vector(_any_vector(stores), Filters(archived=True), version=_version(stores), limit=1000)
        return next(
            each
            for each in reading.chunks(sorted(match.number for match in every))
            if (each.document.source_id, each.document.source_type) == (path, source_type)
        )


def _any_vector(stores: Stores) -> "Fixed":
    assert stores.encoders.current
    vector: Fixed = to_fixed_point(stores.encoders.current.encode(["anything"]))[0]
    return vector


def _version(stores: Stores) -> str:
    assert stores.encoders.current
    return stores.encoders.current.version


def as_of_old(file: Path, *, at: float = LONG_AGO) -> None:
    """Give the file a time at which nothing is in doubt."""
    os.utime(file, (at, at))


# What a document says


@pytest.mark.requirement("D-55", "D-56", "D-57")
def test_a_note_is_known_by_its_path_and_its_body(stores: Stores, root: Path) -> None:
    """source_id is the path with slashes, uri is vault:path, the title is the key `title` or else the file's stem, the
    content hash is the sha256 of the body, that of a chunk the sha256 of the chunk."""
    save(root, "Projects/deep/Plan of the year.md", "---\ntags: [x]\n---\nOne paragraph.\n")
    save(root, "Named.md", "---\ntitle: The real title\n---\nText.\n")
    sync(stores)
    plan, named = document(stores, "Projects/deep/Plan of the year.md"), document(stores, "Named.md")

    assert (plan.document.source_id, plan.document.uri) == (
        "Projects/deep/Plan of the year.md",
        "vault:Projects/deep/Plan of the year.md",
    )
    assert (plan.document.title, named.document.title) == ("Plan of the year", "The real title")
    assert plan.document.content_hash == hashlib.sha256(b"One paragraph.\n").hexdigest()
    assert (plan.chunk.text, plan.chunk.hash) == ("One paragraph.", hashlib.sha256(b"One paragraph.").hexdigest())


@pytest.mark.requirement("D-58")
def test_a_document_carries_time_size_and_frontmatter(stores: Stores, root: Path) -> None:
    """As JSON: mtime, size and the frontmatter, cut off where it is very long; a date stays readable."""
    file = save(root, "a.md", f"---\nrole: cook\nsince: 2026-03-01\nlong: {'x' * 5000}\n---\nText.\n")
    sync(stores)
    metadata = document(stores, "a.md").document.metadata

    assert (metadata["mtime"], metadata["size"]) == (file.stat().st_mtime, file.stat().st_size)
    assert metadata["frontmatter"] == {"role": "cook", "since": "2026-03-01"}
    assert json.loads(json.dumps(metadata)) == metadata


def test_updated_is_the_notes_own_word_or_else_the_files_time(stores: Stores, root: Path) -> None:
    """In UTC with T and Z, so that windows of time compare as text; a key that is no time counts for nothing."""
    save(root, "own.md", "---\nupdated: 2026-03-01 10:00:00+02:00\n---\nText.\n")
    save(root, "day.md", "---\ndate: 2026-03-02\n---\nText.\n")
    as_of_old(save(root, "file.md", "---\nupdated: soon\n---\nText.\n"))
    sync(stores)

    assert document(stores, "own.md").document.updated == "2026-03-01T08:00:00Z"
    assert document(stores, "day.md").document.updated == "2026-03-02T00:00:00Z"
    assert document(stores, "file.md").document.updated == "2023-11-14T22:13:20Z"
    assert found(stores, "text", since="2026-03-01T00:00:00Z", until="2026-03-02T00:00:00Z") == ["own.md"]
    assert found(stores, "text", since="2026-03-02T00:00:00Z") == ["day.md"]


@pytest.mark.parametrize("at", [1e12, -1e12])
def test_a_time_that_no_calendar_has_is_no_obstacle(stores: Stores, root: Path, at: float) -> None:
    """A file of the year 33,658, and keys whose time falls out of the calendar in UTC, are indexed all the same."""
    as_of_old(save(root, "a.md", "One beginning.\n"), at=at)
    save(root, "b.md", "---\nupdated: 0001-01-01T00:00:00+05:00\n---\nOther beginning.\n")
    sync(stores)

    assert sorted(found(stores, "beginning")) == ["a.md", "b.md"]


@pytest.mark.requirement("D-87", "D-88")
@pytest.mark.parametrize("mark", ["sensitive: true", "donna: local-only", "donna_sensitive: yes", "local: local-only"])
def test_a_sensitive_mark_reaches_every_hit(stores: Stores, root: Path, mark: str) -> None:
    """Each chunk of the note says so, in the hit and in its metadata; that of another note does not."""
    key = load_settings(flags={}).settings.safety.local_only_frontmatter_key
    save(root, "secret.md", f"---\n{mark.replace('local:', f'{key}:')}\n---\n# One\nwords\n\n# Two\nwords\n")
    save(root, "open.md", "words\n")
    sync(stores)
    hits = ask(stores, "words", mode="words").hits
    secret = [hit for hit in hits if hit.path == "secret.md"]

    assert len(secret) == 2
    assert all(hit.sensitive and hit.metadata["sensitive"] for hit in secret)
    assert [(hit.sensitive, hit.metadata["sensitive"]) for hit in hits if hit.path == "open.md"] == [(False, False)]


def test_a_mark_set_or_taken_away_reaches_the_hits_without_encoding(
    stores: Stores, root: Path, encoder: CountingEncoder
) -> None:
    """Only the frontmatter changes: what is sensitive is so at once, and nothing is encoded for it."""
    for text in ("---\nsensitive: false\n---\nwords\n", "---\nsensitive: true\n---\nwords\n"):
        save(root, "a.md", text)
        sync(stores)
    before = len(encoder.texts)

    assert ask(stores, "words", mode="words").hits[0].sensitive
    assert len(encoder.texts) == before == 2  # the text and the title, once


# What is taken in, and what is not


@pytest.mark.requirement("D-13", "D-80", "D-122")
def test_only_notes_that_are_not_ignored_are_indexed(root: Path, tmp_path: Path) -> None:
    """`.md` alone; the globs of the vault and those of the source are layered, and a folder named without `**` counts
    with all below it, also for a writer's or a watcher's word."""
    stores = make_stores(root, tmp_path / "data", globs=(".obsidian/**", "Templates/**", "Private"))
    ignored = ["Templates/t.md", ".obsidian/o.md", "Private/p.md", "Private/deep/q.md"]
    for path in ("a.md", "B.MD", "c.txt", *ignored):
        save(root, path, "words\n")
    sync(stores)
    told = index_notes(["c.txt", *ignored], stores)

    assert sorted(found(stores, "words")) == ["B.MD", "a.md"]
    assert (told.added, told.changed) == (0, 0)
    close(stores)


def test_a_note_that_is_ignored_from_now_on_is_forgotten(stores: Stores, root: Path) -> None:
    """Whether all is looked at, or that note alone."""
    for path in ("Old/a.md", "Old/b.md", "c.md"):
        save(root, path, "words\n")
    sync(stores)
    stricter = replace(stores, unindexed=lambda path: path.startswith("Old/"))
    index_notes(["Old/a.md"], stricter)
    after_one = found(stricter, "words")
    sync(stricter)

    assert sorted(after_one) == ["Old/b.md", "c.md"]
    assert found(stricter, "words") == ["c.md"]


@pytest.mark.requirement("D-80", "A-54")
def test_sync_takes_in_what_is_new_changed_and_restored(stores: Stores, root: Path) -> None:
    """And says how many; after it, nothing waits."""
    a, b = save(root, "a.md", "apple\n"), save(root, "b.md", "banana\n")
    first = sync(stores)
    a.write_text("apricot and more\n")
    b.unlink()
    save(root, "c.md", "cherry\n")
    waiting = count_stale(stores)
    second = sync(stores)
    save(root, "b.md", "banana\n")
    third = sync(stores)

    assert (first.added, waiting, count_stale(stores)) == (2, 3, 0)
    assert (second.added, second.changed, second.removed, second.renamed) == (1, 1, 1, 0)
    assert [found(stores, word) for word in ("apple", "apricot", "banana", "cherry")] == [
        [],
        ["a.md"],
        ["b.md"],
        ["c.md"],
    ]
    assert third.encoded == 0


def test_a_file_deleted_while_no_one_watched_is_found_no_more(stores: Stores, root: Path, tmp_path: Path) -> None:
    """The process was down: the next sync reconciles both ways."""
    file = save(root, "a.md", "apple\n")
    sync(stores)
    close(stores)
    file.unlink()
    again = make_stores(root, tmp_path / "data", encoder=CountingEncoder())
    sync(again)
    with again.index.reader() as reading:
        counts = reading.counts()

    assert ask(again, "apple").hits == ()
    assert (dict(counts.documents), counts.removed) == ({}, 1)
    close(again)


@pytest.mark.requirement("D-67", "D-77", "I-17")
def test_an_unchanged_note_is_touched_and_nothing_is_encoded(
    stores: Stores, root: Path, encoder: CountingEncoder
) -> None:
    """A sync client gave it another time: the time is taken over; no chunk is made, no text encoded or logged."""
    file = save(root, "a.md", "---\nupdated: 2026-01-01\n---\napple\n")
    sync(stores)
    before, calls = document(stores, "a.md"), stores.history.count_calls("embed_vault_chunk")
    encoder.texts.clear()
    as_of_old(file)
    synced = sync(stores)
    after = document(stores, "a.md")

    assert (synced.unchanged, synced.changed, synced.encoded, synced.reused) == (1, 0, 0, 0)
    assert after.document.mtime == LONG_AGO
    assert after.number == before.number
    assert encoder.texts == ["anything"]  # asked by this test
    assert stores.history.count_calls("embed_vault_chunk") == calls


def test_a_note_saved_again_in_the_instant_in_which_it_was_read_is_looked_at_again(stores: Stores, root: Path) -> None:
    """A disk with coarse times gives both saves one mtime; with one size too, only the text tells them apart."""
    file = save(root, "a.md", "apple\n")
    sync(stores)
    first = file.stat()
    file.write_text("grape\n")
    os.utime(file, ns=(first.st_atime_ns, first.st_mtime_ns))
    synced = sync(stores)

    assert (file.stat().st_mtime_ns, file.stat().st_size) == (first.st_mtime_ns, first.st_size)
    assert synced.changed == 1
    assert (found(stores, "apple"), found(stores, "grape")) == ([], ["a.md"])


@pytest.mark.requirement("D-67", "D-69")
def test_a_restored_note_is_found_again_without_encoding(stores: Stores, root: Path, encoder: CountingEncoder) -> None:
    """A removal hides the note and keeps its chunks and vectors; the same text at its path brings it back."""
    file = save(root, "a.md", "apple\n")
    sync(stores)
    number = document(stores, "a.md").number
    file.unlink()
    sync(stores)
    hidden = [found(stores, "apple"), found(stores, "apple", mode="sense", min_score=-1.0)]
    encoder.texts.clear()
    save(root, "a.md", "apple\n")
    sync(stores)

    assert hidden == [[], []]
    assert document(stores, "a.md").number == number
    assert encoder.texts == ["anything"]


def test_only_frontmatter_changed_and_every_part_of_it_counts(stores: Stores, root: Path) -> None:
    """Title, aliases and tags are searched, links and kind asked for: a sync takes over each, and the lines move."""
    save(root, "a.md", "---\ntags: [old]\n---\nText.\n")
    sync(stores)
    marks = "title: Quince\naliases: [Marmelo]\ntags: [fruit]\ntopics: [garden]\nkind: recipe\nstatus: active"
    save(root, "a.md", f"---\n{marks}\n---\nText.\n")
    sync(stores)

    assert [found(stores, word) for word in ("quince", "marmelo", "fruit", "old")] == [["a.md"]] * 3 + [[]]
    assert found(stores, "text", kinds=("recipe",), topics=("garden",), tags=("fruit",)) == ["a.md"]
    assert ask(stores, "text", mode="words").hits[0].line == 9


def test_a_status_in_the_frontmatter_takes_the_note_out_of_search(stores: Stores, root: Path) -> None:
    """Superseded, expired, archived and deleted notes are found only when asked for."""
    for status in ("active", "superseded", "expired", "archived", "deleted"):
        save(root, f"{status}.md", f"---\nstatus: {status}\n---\nwords\n")
    sync(stores)

    assert found(stores, "words") == ["active.md"]
    assert len(found(stores, "words", archived=True)) == 5


@pytest.mark.requirement("D-62", "D-86")
def test_notes_are_encoded_sixteen_at_a_time(
    stores: Stores, root: Path, encoder: CountingEncoder, capsys: pytest.CaptureFixture[str]
) -> None:
    """One call of the encoder for each batch of up to 16 documents, and one event."""
    for number in range(BATCH + 4):
        save(root, f"{number:02}.md", f"# {number:02}\nword{number}\n")
    events.listen("info")
    sync(stores)
    told = [json.loads(line) for line in capsys.readouterr().err.splitlines()]

    assert BATCH == 16
    assert encoder.batches == [16, 4]
    assert [each["documents"] for each in told if each["event"] == "memory_ingest_batch"] == [16, 4]


@pytest.mark.requirement("D-78")
def test_a_sync_tells_what_it_did(stores: Stores, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`memory_ingest_batch` for each batch and `vault_backfill_done` at the end, with counts and times."""
    save(root, "a.md", "apple\n")
    events.listen("info")
    sync(stores)
    batch, done = (json.loads(line) for line in capsys.readouterr().err.splitlines())

    assert (batch["event"], batch["documents"], batch["encoded"]) == ("memory_ingest_batch", 1, 2)
    assert (done["event"], done["notes"], done["added"]) == ("vault_backfill_done", 1, 1)
    assert batch["latency_ms"] >= 0 <= done["latency_ms"]


@pytest.mark.requirement("D-76")
def test_every_text_that_is_encoded_has_a_row_in_the_log(stores: Stores, root: Path, encoder: CountingEncoder) -> None:
    """One row for each text, with its task, the model's alias and the text's hash; neither tokens nor cost.

    A question none of whose words occurs is measured against everyday prompts: these are queries too.
    """
    save(root, "a.md", "# a\napple\n")
    sync(stores)
    ask(stores, "what is it?")
    queries = stores.history.calls(task_type="embed_memory_query")
    (chunk,) = stores.history.calls(task_type="embed_vault_chunk")

    assert sorted(each.input_hash for each in (*queries, chunk)) == sorted(map(text_hash, encoder.texts))
    assert {each.input_hash for each in queries} == {*map(text_hash, ("what is it?", *PROBES))}
    assert {(each.model_alias, each.tokens, each.cost) for each in queries} == {("counting", 0, 0.0)}
    assert (chunk.input_hash, chunk.version) == (hashlib.sha256(b"a\napple").hexdigest(), "counting-1")


# Renames


@pytest.mark.requirement("D-66")
@pytest.mark.parametrize("told", [False, True])
def test_a_note_moved_to_another_folder_keeps_its_vectors(
    stores: Stores, root: Path, encoder: CountingEncoder, told: bool
) -> None:
    """It gets the id of its new path, as a rebuild would give it; nothing is encoded, and nothing is at the old one."""
    old = save(root, "Inbox/a.md", "apple\n")
    sync(stores)
    encoder.texts.clear()
    (root / "Notes").mkdir()
    old.rename(root / "Notes/a.md")
    synced = index_notes(["Inbox/a.md", "Notes/a.md"], stores) if told else sync(stores)
    (hit,) = ask(stores, "apple", mode="words").hits

    assert (synced.renamed, synced.added, synced.removed, encoder.texts) == (1, 0, 0, [])
    assert (hit.path, hit.document_id) == ("Notes/a.md", document_id("me", VAULT, "Notes/a.md"))
    assert stores.index.stamp(VAULT, "Inbox/a.md") is None


def test_a_renamed_file_has_its_new_name_as_title_and_encodes_that_alone(
    stores: Stores, root: Path, encoder: CountingEncoder
) -> None:
    """Where the title comes from the file's name, only the name is new."""
    save(root, "Plum.md", "A fruit with a stone.\n").rename(root / "Plum.md")
    sync(stores)
    encoder.texts.clear()
    (root / "Plum.md").rename(root / "Damson.md")
    sync(stores)

    assert encoder.texts == ["Damson"]
    assert [found(stores, word) for word in ("damson", "plum", "stone")] == [["Damson.md"], [], ["Damson.md"]]


def test_a_rename_onto_the_path_of_a_removed_note_works(stores: Stores, root: Path) -> None:
    """The row of the removed one gives way."""
    save(root, "A/x.md", "# T\napple\n")
    save(root, "B/x.md", "# T\nbanana\n").unlink()
    save(root, "B/x.md", "# T\nbanana\n")
    sync(stores)
    (root / "B/x.md").unlink()
    sync(stores)
    (root / "A/x.md").rename(root / "B/x.md")
    sync(stores)

    assert (found(stores, "apple"), found(stores, "banana")) == (["B/x.md"], [])


def test_a_rename_over_a_live_note_leaves_one(stores: Stores, root: Path) -> None:
    """The note that was there is overwritten, on the disk and in the index."""
    save(root, "A/x.md", "apple\n")
    save(root, "B/x.md", "banana\n")
    sync(stores)
    (root / "A/x.md").rename(root / "B/x.md")
    sync(stores)

    assert (found(stores, "apple"), found(stores, "banana")) == (["B/x.md"], [])


def test_two_notes_that_change_places_are_both_right(stores: Stores, root: Path) -> None:
    """Each path says what its file says now."""
    a, b = save(root, "a.md", "apple is one\n"), save(root, "b.md", "banana\n")
    sync(stores)
    a.rename(root / "tmp")
    b.rename(a)
    (root / "tmp").rename(b)
    sync(stores)

    assert (found(stores, "apple"), found(stores, "banana")) == (["b.md"], ["a.md"])


def test_two_alike_that_are_gone_are_no_rename(stores: Stores, root: Path) -> None:
    """The same text in two notes: which of them moved, no one can tell; all ends well."""
    for path in ("A/x.md", "B/x.md"):
        save(root, path, "apple\n")
    sync(stores)
    (root / "A/x.md").unlink()
    (root / "C").mkdir()
    (root / "B/x.md").rename(root / "C/x.md")
    synced = sync(stores)

    assert (synced.added, synced.removed, synced.renamed, synced.encoded) == (1, 2, 0, 0)
    assert found(stores, "apple") == ["C/x.md"]


def test_an_editors_replace_is_a_change(stores: Stores, root: Path) -> None:
    """Another file is put in the note's place: the note is never gone."""
    file = save(root, "a.md", "apple\n")
    sync(stores)
    save(root, "a.md~", "apricot\n").replace(file)
    synced = index_notes(["a.md~", "a.md"], stores)

    assert (synced.changed, synced.removed) == (1, 0)
    assert (found(stores, "apple"), found(stores, "apricot")) == ([], ["a.md"])


# Encoders


@pytest.mark.requirement("D-11", "D-64")
def test_another_version_of_the_encoder_encodes_everything_anew(root: Path, tmp_path: Path) -> None:
    """After a sync all vectors are of the new version, though no file has changed; no other is compared with them."""
    old, new = CountingEncoder("model-1"), CountingEncoder("model-2")
    as_of_old(save(root, "a.md", "# a\napple\n"))
    as_of_old(save(root, "b.md", "# b\nbanana\n"))
    first = make_stores(root, tmp_path / "data", encoder=old)
    sync(first)
    close(first)
    second = make_stores(root, tmp_path / "data", encoder=new, others=(old,))
    waiting = count_stale(second)
    synced = sync(second)
    with second.index.reader() as reading:
        versions = dict(reading.versions())

    assert (waiting, synced.changed, synced.encoded) == (2, 2, 2)
    assert (versions, len(new.texts)) == ({"model-2": 2}, 2)
    close(second)


def test_nothing_is_indexed_anew_before_everything_is_encoded(root: Path, tmp_path: Path) -> None:
    """Notes and conversations: while the new encoder is at work, search has the old one's vectors and no others."""
    old, new = CountingEncoder("model-1"), CountingEncoder("model-2", dim=32)
    for number in range(BATCH + 1):
        as_of_old(save(root, f"{number}.md", f"# {number}\napple {number}\n"))
    talks = InMemorySource("talk")
    talks.put(thing("1", "apples and pears"))
    first = replace(make_stores(root, tmp_path / "data", encoder=old), sources=(talks,))
    sync(first)
    close(first)
    first_texts = {*old.texts}
    second = replace(make_stores(root, tmp_path / "data", encoder=new, others=(old,)), sources=(talks,))
    seen: list[tuple[str, int, int, dict[str, int], tuple[str, ...]]] = []

    def look(what: str, done: int, total: int) -> None:
        with second.index.reader() as reading:
            versions = dict(reading.versions())
        seen.append((what, done, total, versions, ask(second, "apple", mode="sense", min_score=-1.0).degraded))

    sync(second, progress=look)
    ahead = [each for each in seen if "model-2" not in each[3]]
    with second.index.reader() as reading:
        versions = dict(reading.versions())

    assert {what for what, *_ in ahead} == {"texts"}
    assert [(done, total) for _, done, total, _, _ in ahead][-1] == (len(first_texts), len(first_texts))
    assert all(degraded == () for *_, degraded in ahead)
    assert [*versions] == ["model-2"]
    encoded = [text for text in new.texts if text != "apple"]  # the question
    assert len(encoded) == len({*encoded})  # each text once, though it is asked for twice
    close(second)


def test_an_encoder_that_fails_after_a_change_leaves_the_old_vectors(root: Path, tmp_path: Path) -> None:
    """They still answer; the next sync encodes everything."""
    old, new = CountingEncoder("model-1"), CountingEncoder("model-2", fails=True)
    as_of_old(save(root, "a.md", "# a\napple\n"))
    first = make_stores(root, tmp_path / "data", encoder=old)
    sync(first)
    close(first)
    second = make_stores(root, tmp_path / "data", encoder=new, others=(old,))
    failed = sync(second)
    with second.index.reader() as reading:
        between = dict(reading.versions())
    new.fails = False
    sync(second)
    with second.index.reader() as reading:
        after = dict(reading.versions())

    assert (failed.missing, between, after) == ("the server does not answer", {"model-1": 1}, {"model-2": 1})
    close(second)


def test_a_changed_encoder_ends_as_a_rebuild_does(root: Path, tmp_path: Path) -> None:
    """Step by step, stopped in the middle and taken up again: the same hits with the same scores."""
    old, new = CountingEncoder("model-1"), CountingEncoder("model-2", dim=32)
    for number in range(BATCH * 2):
        as_of_old(save(root, f"{number}.md", f"# {number}\napple {number}\npear {number % 3}\n"))
    first = make_stores(root, tmp_path / "data", encoder=old)
    sync(first)
    close(first)
    second = make_stores(root, tmp_path / "data", encoder=new, others=(old,))
    stop = threading.Event()
    sync(second, progress=lambda *done: stop.set(), stop=stop)
    save(root, "3.md", "# 3\napple pie\n")
    sync(second)
    fresh = make_stores(root, tmp_path / "fresh", encoder=new)
    rebuild(fresh)
    answers = [
        [[(hit.chunk_id, hit.score) for hit in ask(each, text, mode=mode, k=40)] for text in ("apple 7", "pie", "pear")]
        for each in (second, fresh)
        for mode in ("sense", "hybrid")
    ]

    assert answers[0] == answers[2]
    assert answers[1] == answers[3]
    close(second)
    close(fresh)


def test_search_goes_on_with_old_vectors_until_all_are_new(root: Path, tmp_path: Path) -> None:
    """The question is encoded by each encoder of which there are vectors, and compared with those alone."""
    old, new = CountingEncoder("model-1"), CountingEncoder("model-2")
    for path in ("a.md", "b.md"):
        save(root, path, f"# {path}\napple\n")
    first = make_stores(root, tmp_path / "data", encoder=old)
    sync(first)
    close(first)
    save(root, "a.md", "# a.md\napple pie\n")
    second = make_stores(root, tmp_path / "data", encoder=new, others=(old,))
    index_notes(["a.md"], second)
    answer = ask(second, "apple", mode="sense", min_score=-1.0)
    with second.index.reader() as reading:
        versions = dict(reading.versions())

    assert versions == {"model-1": 1, "model-2": 1}
    assert sorted(hit.path for hit in answer) == ["a.md", "b.md"]
    assert [said.split(" ")[3:7] for said in answer.degraded] == [["vectors", "of", "two", "encoders"]]
    assert [texts.count("apple") for texts in (old.texts, new.texts)] == [1, 1]
    close(second)


@pytest.mark.requirement("I-64", "I-65", "D-60")
def test_without_an_encoder_words_are_indexed_and_found(root: Path, tmp_path: Path) -> None:
    """Chunks and words are written, the answer is in words mode and says so; nothing fails."""
    stores = make_stores(root, tmp_path / "data", encoder=None)
    save(root, "a.md", "apple\n")
    synced = sync(stores)
    answer = ask(stores, "apple")

    assert (synced.added, synced.waiting, synced.missing) == (1, 1, "no encoder is installed")
    assert ([hit.path for hit in answer], answer.mode) == (["a.md"], "words")
    assert answer.degraded == ("search by meaning: no encoder is installed",)
    close(stores)


def test_a_failing_encoder_costs_the_vectors_alone(stores: Stores, root: Path, encoder: CountingEncoder) -> None:
    """The notes are found by words; the next sync encodes them."""
    encoder.fails = True
    for number in range(BATCH * 2):
        save(root, f"{number}.md", "apple\n")
    synced = sync(stores)
    by_words = len(found(stores, "apple", k=32))
    encoder.fails = False
    again = sync(stores)

    assert (synced.waiting, synced.missing, by_words) == (BATCH * 2, "the server does not answer", BATCH * 2)
    assert (again.unchanged, again.waiting) == (BATCH * 2, 0)  # the notes are as they were; their vectors are new
    assert ask(stores, "apple").degraded == ()


def test_an_encoder_that_is_away_leaves_known_vectors_alone(root: Path, tmp_path: Path) -> None:
    """A person who runs once without the model does not lose what it has encoded."""
    save(root, "a.md", "apple\n")
    for encoder in (CountingEncoder(), None, CountingEncoder()):
        stores = make_stores(root, tmp_path / "data", encoder=encoder)
        synced = sync(stores)
        close(stores)

    assert (synced.changed, synced.encoded, synced.missing) == (0, 0, "")


def test_a_remote_encoder_is_not_shown_what_is_sensitive(root: Path, tmp_path: Path) -> None:
    """And when the mark is set or taken away, vectors go and come as a rebuild would have them."""
    encoder = CountingEncoder(is_remote=True)
    stores = make_stores(root, tmp_path / "data", encoder=encoder)
    save(root, "a.md", "---\nsensitive: true\n---\napple\n")
    sync(stores)
    shown_first = list(encoder.texts)
    vectors = []
    for mark in ("false", "true "):
        save(root, "a.md", f"---\nsensitive: {mark}\n---\napple\n")
        sync(stores)
        with stores.index.reader() as reading:
            vectors.append(sum(reading.counts().vectors.values()))

    assert shown_first == []
    assert vectors == [2, 0]
    assert found(stores, "apple") == ["a.md"]
    close(stores)


@pytest.mark.parametrize("change", ["max_tokens", "overlap", "sensitive key"])
def test_other_settings_show_after_a_sync(stores: Stores, root: Path, change: str) -> None:
    """The index is a function of the settings, too: chunks are cut anew though no file has changed."""
    text = " ".join(f"word{number}" for number in range(300))
    as_of_old(save(root, "a.md", f"---\nprivate: true\n---\n{text}\n"))
    sync(stores)
    other = {
        "max_tokens": lambda: replace(stores, max_tokens=32),
        "overlap": lambda: replace(stores, overlap=0),
        "sensitive key": lambda: replace(stores, safety=SafetyOptions(sensitive_frontmatter_key="private")),
    }[change]()
    waiting = count_stale(other)
    sync(other)
    by_steps = ask(other, "word7 word250", k=32)
    rebuild(other)

    assert waiting == 1
    assert ask(other, "word7 word250", k=32).hits == by_steps.hits
    assert count_stale(other) == 0


@pytest.mark.requirement("D-64", "A-54")
def test_a_rebuild_encodes_nothing_twice_and_answers_the_same(
    stores: Stores, root: Path, encoder: CountingEncoder
) -> None:
    """The index is a layer over the notes: deleted and made anew, it gives the same ids, order and scores."""
    for number in range(20):
        save(root, f"{number}.md", f"apple {'pie ' * number}\n")
    sync(stores)
    save(root, "3.md", "banana\n")
    (root / "4.md").unlink()
    (root / "5.md").rename(root / "moved.md")
    sync(stores)
    before, encoder.texts[:] = ask(stores, "apple pie", k=32).hits, []
    synced = rebuild(stores)

    assert (synced.added, synced.encoded) == (19, 0)
    assert encoder.texts == []
    assert ask(stores, "apple pie", k=32).hits == before


def test_a_text_that_was_reverted_is_not_encoded_again(stores: Stores, root: Path, encoder: CountingEncoder) -> None:
    """Vectors are cached by the text, whatever becomes of the note."""
    for text in ("apple\n", "banana\n"):
        save(root, "a.md", text)
        sync(stores)
    encoder.texts.clear()
    save(root, "a.md", "apple\n")
    synced = sync(stores)

    assert (synced.changed, synced.encoded, encoder.texts) == (1, 0, [])


# What goes on meanwhile


class Meddled(DeviceLocal):
    """A vault in which something happens right after a note was read or the files were listed."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.after_read: dict[str, list[str | None]] = {}
        self.after_list: list[Callable[[], object]] = []
        self.unreadable: set[str] = set()
        self._folder = root

    def read(self, at: Locator) -> Blob:
        if at.path in self.unreadable:
            raise VaultUnavailable("the disk said no", path=at.path)
        blob = super().read(at)
        for text in self.after_read.pop(at.path, [])[:1]:
            if text is None:
                (self._folder / at.path).unlink()
            else:
                save(self._folder, at.path, text)
        return blob

    def list(self, folder: str = "", *, recursive: bool = True, skip: Skip | None = None) -> Listing:
        listing = super().list(folder, recursive=recursive, skip=skip)
        while self.after_list:
            self.after_list.pop()()
        return listing


@pytest.mark.parametrize("told", [False, True])
def test_a_note_saved_while_it_is_read_ends_as_it_is(stores: Stores, root: Path, told: bool) -> None:
    """What was taken in is compared with what is there, and looked at again."""
    vault = Meddled(root)
    meddled = replace(stores, vault=vault)
    save(root, "a.md", "apple\n")
    save(root, "b.md", "banana\n")
    vault.after_read = {"a.md": ["apricot\n"], "b.md": [None]}
    index_notes(["a.md", "b.md"], meddled) if told else sync(meddled)

    assert [found(stores, word) for word in ("apple", "apricot", "banana")] == [[], ["a.md"], []]


def test_a_note_written_during_a_sync_is_not_taken_for_gone(stores: Stores, root: Path) -> None:
    """A writer adds a note after the files were listed, and ingests it before the sync removes what is gone."""
    vault = Meddled(root)
    save(root, "b.md", "banana\n")
    sync(stores)
    (root / "b.md").unlink()

    def write() -> None:
        save(root, "a.md", "apple\n")
        save(root, "b.md", "banana\n")
        index_notes(["a.md", "b.md"], stores)

    vault.after_list = [write]
    sync(replace(stores, vault=vault))

    assert (found(stores, "apple"), found(stores, "banana")) == (["a.md"], ["b.md"])


def test_a_note_that_cannot_be_read_is_a_problem_and_hides_nothing_else(stores: Stores, root: Path) -> None:
    """It is found no more, because no one knows what it says; when it can be read again it is back."""
    vault = Meddled(root)
    meddled = replace(stores, vault=vault)
    save(root, "a.md", "apple\n")
    save(root, "b.md", "apple\n")
    sync(meddled)
    save(root, "a.md", "apple pie\n")
    vault.unreadable = {"a.md"}
    synced = sync(meddled)
    without = found(stores, "apple")
    vault.unreadable = set()
    sync(meddled)

    assert [(each.path, each.code) for each in synced.problems] == [("a.md", "unreadable-file")]
    assert without == ["b.md"]
    assert sorted(found(stores, "apple")) == ["a.md", "b.md"]


class Overtaken:
    """An index in which another process has just renamed or dropped what this one is about to change."""

    def __init__(self, stores: Stores) -> None:
        self._index = stores.index

    def __getattr__(self, name: str) -> object:
        return getattr(self._index, name)

    def rename(self, source_id: str, document: Document, *, now: float) -> None:
        self._index.rename(source_id, document, now=now)
        raise NotFound(f"{source_id} is not in the index")

    def touch(self, document: Document, *, now: float) -> None:
        raise NotFound(f"{document.source_id} is not in the index")


def test_a_sync_that_another_one_overtakes_ends_the_same(stores: Stores, root: Path) -> None:
    """What the other has renamed or dropped is taken in as a new note."""
    save(root, "A/x.md", "apple\n")
    save(root, "y.md", "banana\n")
    sync(stores)
    (root / "B").mkdir()
    (root / "A/x.md").rename(root / "B/x.md")
    as_of_old(root / "y.md")
    sync(stores.using(index=Overtaken(stores)))

    assert (found(stores, "apple"), found(stores, "banana")) == (["B/x.md"], ["y.md"])


# Other sources


def thing(source_id: str, text: str, **more: object) -> SourceItem:
    return replace(
        SourceItem(
            source_id,
            title=f"Talk {source_id}",
            uri=f"chat:{source_id}",
            passages=(SourcePassage(text, ("Ada",)),),
            created="2026-03-01T09:00:00Z",
            updated="2026-03-01T09:00:00Z",
        ),
        **more,  # type: ignore[arg-type]
    )


@pytest.mark.requirement("D-91")
def test_another_source_goes_through_the_same_queue(stores: Stores, root: Path, encoder: CountingEncoder) -> None:
    """Taken in, changed, removed, and found by its type beside the notes; ingested twice is ingested once."""
    save(root, "a.md", "apple\n")
    chat = InMemorySource("chat")
    chat.put(thing("1", "apple juice"), thing("2", "banana"))
    stores = replace(stores, sources=(chat,))
    sync(replace(stores, sources=()))
    first, encoded = sync_source(chat, stores), len(encoder.texts)
    again = sync_source(chat, stores)
    chat.put(thing("2", "blueberry"))
    chat.remove("1")
    before = found(stores, "apple", sources=("chat",))
    changed = sync_source(chat, stores)
    (hit,) = ask(stores, "blueberry", mode="words", sources=("chat",)).hits

    assert (first.added, again.unchanged, len(encoder.texts) - encoded) == (2, 2, 1)
    assert (changed.changed, changed.removed, before) == (1, 1, ["1"])
    assert (hit.source_type, hit.path, hit.heading_path) == ("chat", "2", ("Ada",))
    assert found(stores, "apple") == ["a.md"]
    assert sync(stores).removed == 0


def test_the_same_text_in_two_sources_outlives_one_of_them(stores: Stores, root: Path) -> None:
    """Each source has its own document, whatever they share."""
    file = save(root, "a.md", "apple\n")
    chat = InMemorySource("chat")
    chat.put(thing("a.md", "apple"))
    stores = replace(stores, sources=(chat,))
    sync(stores)
    file.unlink()
    sync(stores)
    after_the_note = [hit.source_type for hit in ask(stores, "apple", mode="words")]
    save(root, "a.md", "apple\n")
    sync(stores)
    chat.remove("a.md")
    sync(stores)

    assert after_the_note == ["chat"]
    assert [hit.source_type for hit in ask(stores, "apple", mode="words")] == [VAULT]


def test_things_of_a_source_follow_encoder_and_settings(root: Path, tmp_path: Path) -> None:
    """A new version or another size of chunks makes them anew, as it does notes."""
    chat = InMemorySource("chat")
    chat.put(thing("1", "apple " * 100))
    first = make_stores(root, tmp_path / "data", encoder=CountingEncoder("model-1"))
    sync_source(chat, first)
    close(first)
    second = make_stores(root, tmp_path / "data", encoder=CountingEncoder("model-2"))
    by_version, by_size = sync_source(chat, second), sync_source(chat, replace(second, max_tokens=32))

    assert (by_version.changed, by_size.changed) == (1, 1)
    close(second)


def test_a_note_that_is_gone_for_long_leaves_the_index(root: Path, tmp_path: Path) -> None:
    """Removed documents are kept for a month."""
    moment = [datetime(2026, 1, 1, tzinfo=UTC)]
    stores = make_stores(root, tmp_path / "aged", clock=lambda: moment[0])
    file = save(root, "old.md", "apple\n")
    sync(stores)
    file.unlink()
    sync(stores)
    with stores.index.reader() as reading:
        kept = reading.counts().removed
    moment[0] += timedelta(days=31)
    sync(stores)

    assert kept == 1
    with stores.index.reader() as reading:
        assert reading.counts().removed == 0
    close(stores)
