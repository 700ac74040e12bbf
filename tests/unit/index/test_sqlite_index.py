"""What only the files of the SQLite index can get wrong: their form, traces, permissions, damage, users, segments."""

import json
import os
import stat
import threading
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import apsw
import pytest

from commonplace.errors import IndexDamaged, UsageError, VaultUnavailable
from commonplace.index.base import FactQuery, Weighing
from commonplace.index.shrinking import shrink
from commonplace.index.sqlite import SqliteIndex, segment_file, segments
from commonplace.index.sqlite.schema import MIGRATIONS
from commonplace.index.sqlite.segment import Segment
from commonplace.index.sqlite.segment_rows import read_segment
from commonplace.index.sqlite.words import word_hash
from commonplace.model import Document, Filters
from tests.index_documents import (
    VERSION,
    PathLinker,
    PlainRules,
    document,
    entry,
    fact,
    link,
    numbers,
    paths,
    vector,
    vectors,
)
from tests.unit.index.older_forms import STEPS

NOW = 1_800_000_000.0
SECRET = "what-nobody-should-find"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "index" / "index.db"


def opened(file: Path, *, user: str = "me", least: int = 1, most: int = 64, wait: float = 5.0) -> SqliteIndex:
    return SqliteIndex(file, user=user, linker=PathLinker(), rules=PlainRules(), least=least, most=most, wait=wait)


def add(index: SqliteIndex, *documents: Document) -> None:
    for each in documents:
        index.upsert(each, vectors(each), now=NOW)


def search(index: SqliteIndex, word: str = "soil") -> list[str]:
    with index.reading() as reading:
        return paths(reading, numbers(reading.match_words([word], Filters(), limit=999, weighing=Weighing())))


def sense(index: SqliteIndex, text: str = "soil") -> list[str]:
    with index.reading() as reading:
        matches = reading.match_sense(vector(text), Filters(), version=VERSION, limit=99)
        return paths(reading, [match.number for match in matches])


def raw_bytes(folder: Path) -> bytes:
    return b"".join(each.read_bytes() for each in sorted(folder.rglob("*")) if each.is_file())


def segment_files(file: Path) -> list[Path]:
    return sorted(Path(f"{file.resolve()}.segments").glob("*.segment"))


def columns(file: Path, table: str) -> dict[str, bool]:
    """The columns of a table, and whether each must have a value."""
    with closing(apsw.Connection(str(file))) as reader:
        return {row[1]: bool(row[3]) for row in reader.execute(f"PRAGMA table_info({table})")}


@pytest.mark.requirement("D-48", "D-50", "D-54")
def test_the_tables_have_the_columns_that_were_promised(file: Path) -> None:
    """Documents and chunks, each row with its user."""
    search(opened(file))
    documents, chunks = columns(file, "memory_documents"), columns(file, "memory_chunks")

    promised = "id user_id source_type source_id title uri content_hash created_at updated_at deleted_at sensitive"
    assert {*promised.split(), "metadata_json"} <= set(documents)
    promised = "chunk_id document_id user_id chunk_index content content_hash heading_path token_count"
    assert {*promised.split(), "embedding_version", "created_at"} <= set(chunks)
    assert documents["user_id"]
    assert chunks["user_id"]


@pytest.mark.requirement("I-52", "I-60")
def test_what_a_chunk_can_be_asked_for_is_kept_in_columns(file: Path) -> None:
    """Source, topics, notes that it links to, validity, metadata, hash and time: each where a filter looks at it."""
    search(opened(file))

    promised = {"source_type", "metadata_json", "topics_json", "valid_from", "valid_until", "ends_at"}
    assert promised <= set(columns(file, "memory_documents"))
    assert {"content_hash", "created_at"} <= set(columns(file, "memory_chunks"))
    assert {"field", "label"} <= set(columns(file, "memory_labels"))
    assert {"document", "path", "relation"} <= set(columns(file, "memory_links"))
    assert {"subject", "predicate", "object", "status", "end_at"} <= set(columns(file, "memory_facts"))


@pytest.mark.requirement("D-49", "D-50")
def test_the_keys_and_indexes_are_there(file: Path) -> None:
    """One document for each source and path of a user; deleting it deletes its chunks and their vectors."""
    index = opened(file)
    told = fact("x", "a.md", origin="line", topics=("t",), bonds=(("extend", "y"),))
    add(index, document("a.md", "soil", links=(link("b"),), tags=("x",), facts=(told,)))

    with closing(apsw.Connection(str(file))) as other:
        named = {
            name: other.execute("SELECT group_concat(name) FROM pragma_index_info(?)", (name,)).get
            for (name,) in other.execute("SELECT name FROM sqlite_schema WHERE type = 'index'").fetchall()
        }
        assert named["ux_memory_doc_user_source"] == "user_id,source_type,source_id"
        assert {"user_id,updated_at", "user_id,embedding_version"} <= set(named.values())
        assert named["memory_documents_by_removal"].startswith("user_id,deleted_at,")
        assert named["memory_chunks_by_document"].startswith("document_id")
        other.execute("PRAGMA foreign_keys = ON; DELETE FROM memory_documents")
        of_documents = ("chunks", "vectors", "labels", "names", "links", "link_names")
        of_facts = ("facts", "fact_topics", "bonds", "entities")
        for table in (*of_documents, *of_facts):
            assert other.execute(f"SELECT count(*) FROM memory_{table}").get == 0, table


@pytest.mark.requirement("D-51")
def test_a_heading_path_is_a_json_list(file: Path) -> None:
    """So that other programs can cite a section too."""
    add(opened(file), document("a.md", "soil", title="Schema"))

    with closing(apsw.Connection(str(file))) as reader:
        assert json.loads(reader.execute("SELECT heading_path FROM memory_chunks").get) == ["Schema", "Part 0"]


@pytest.mark.requirement("D-59")
def test_the_file_is_opened_with_a_log_and_foreign_keys(file: Path) -> None:
    """Readers do not wait for a writer, and no row is left without its document."""
    index = opened(file)
    search(index)

    with index._database.reading() as connection:
        assert connection.pragma("journal_mode") == "wal"
        assert connection.pragma("foreign_keys") == 1


@pytest.mark.requirement("D-52")
def test_vectors_of_one_version_have_one_length(file: Path) -> None:
    """Another length is refused, in a document and in a question."""
    index = opened(file)
    add(index, document("a.md", "soil"))
    other = document("b.md", "rain")

    with pytest.raises(UsageError, match="8 numbers, and this one 5"):
        index.upsert(other, [vector("rain", dim=5)[None, :]], now=NOW)
    with index.reading() as reading, pytest.raises(UsageError):
        reading.match_sense(vector("rain", dim=5), Filters(), version=VERSION, limit=1)


@pytest.mark.requirement("D-54", "D-74")
def test_users_of_one_file_do_not_see_each_other(file: Path) -> None:
    """Neither words, nor meaning, nor links, nor counts; and what one removes the other keeps."""
    mine, theirs = opened(file), opened(file, user="you")
    add(mine, document("a.md", "soil", links=(link("b"),)))
    add(theirs, document("a.md", "soil", user="you"), document("b.md", "soil soil", user="you"))
    mine.settle()

    assert (search(mine), sense(mine)) == (["a.md"], ["a.md"])
    assert sorted(search(theirs)) == ["a.md", "b.md"]
    with mine.reading() as reading, theirs.reading() as other:
        assert [edge.path for edge in reading.edges()] == [None]
        assert (reading.counts().chunks, other.counts().chunks) == (1, 2)
        match = reading.match_words(["soil"], Filters(), limit=9, weighing=Weighing()).matches[0]
        assert other.found([match.number]) == ()
        assert other.sense_of(vector("soil"), [match.number], version=VERSION) == ()
    assert not mine.erase("vault", "b.md")
    assert mine.erase("vault", "a.md")
    assert set(theirs.stamps("vault")) == {"a.md", "b.md"}


def test_files_are_for_their_owner_alone(file: Path) -> None:
    """The database, its log, its segments and the folders that hold them."""
    index = opened(file)
    add(index, document("a.md", "soil"))
    index.settle()
    with index.rebuilding() as fresh:
        add(fresh, document("a.md", "soil"))

    every = [each for each in file.parent.rglob("*") if not each.is_symlink()]
    assert len(segment_files(file)) == 1
    assert {stat.S_IMODE(each.stat().st_mode) for each in every if each.is_file()} == {0o600}
    assert {stat.S_IMODE(each.stat().st_mode) for each in [file.parent, *every] if each.is_dir()} == {0o700}


def test_nothing_is_made_before_the_first_use(file: Path) -> None:
    """A command that does not search leaves no file behind."""
    opened(file).close()

    assert not file.parent.exists()


def test_an_erased_document_is_in_no_file(file: Path) -> None:
    """Raw bytes of text, names, speakers, words and vectors, in the database, its log and the segments."""
    index = opened(file)
    add(index, *(document(f"{n}.md", f"soil number {n}") for n in range(30)))
    secret = document(f"{SECRET}.md", f"soil {SECRET}", title=SECRET, aliases=(SECRET,), tags=(SECRET,))
    secret = replace(secret, chunks=(replace(secret.chunks[0], sentences=("a sentence",), speaker=SECRET),))
    add(index, secret, document("after.md", "soil", links=(link("x"),)))
    index.settle()
    blob = shrink(vectors(secret)[0]).rows.tobytes()
    assert SECRET.encode() in raw_bytes(file.parent)
    assert blob in raw_bytes(file.parent)
    with index.reading() as reading:
        near = reading.match_sense(vector(f"soil {SECRET}"), Filters(), version=VERSION, limit=1)[0].number
    before = segment_files(file)

    assert index.erase("vault", f"{SECRET}.md")
    assert SECRET.encode() not in raw_bytes(file.parent)
    assert not any(row.tobytes() in raw_bytes(file.parent) for row in shrink(vectors(secret)[0]).rows)
    assert len(search(index)) == 31
    assert not set(before) & set(segment_files(file))
    with index.reading() as reading:
        assert all(near not in segment.numbers for segment in index._views.at(reading._connection).segments)  # type: ignore[union-attr]


def test_users_of_one_file_do_not_see_each_others_facts(file: Path) -> None:
    """Neither facts, nor bonds, nor topics; and no fact of one ends a fact of the other."""
    mine, theirs = opened(file), opened(file, user="you")
    add(mine, entry("a", subject="Ann", predicate="p", topics=("soil",), bonds=(("extend", "b"),)))
    theirs.upsert(replace(entry("b", subject="Ann", predicate="p"), id="other"), vectors(entry("b")), now=NOW)

    with mine.reading() as reading, theirs.reading() as other:
        assert [(each.fact.id, each.end) for each in reading.facts(FactQuery(names=("ann",)))] == [("a", None)]
        assert [(each.fact.id, each.end) for each in other.facts(FactQuery(names=("ann",)))] == [("b", None)]
        assert (other.topics(), other.bonds(["a", "b"]), other.edges(), other.contests()) == ((), (), (), ())


def test_an_erased_fact_is_in_no_file(file: Path) -> None:
    """Text, entities, topics, kind, bonds and what it means, in the database and its log; what it ended holds again."""
    index = opened(file)
    job = {"subject": "Ann", "predicate": "works_at"}
    told: dict[str, Any] = {
        "text": SECRET,
        "object": SECRET,
        "topics": (SECRET, "soil"),
        "kind": SECRET,
        "fingerprint": SECRET,
    }
    add(index, entry("first", topics=("soil",), **job), *(entry(f"{n}", subject="Bob") for n in range(30)))
    before = index_sum(file, "soil")
    bonds = (("extend", f"to-{SECRET}"),)
    add(index, entry(SECRET, recorded="2026-02-01T00:00:00Z", reason=SECRET, bonds=bonds, **told, **job))
    assert index_sum(file, "soil") != before
    index.settle()

    assert index.erase("vault", f"{SECRET}.md")
    assert SECRET.encode() not in raw_bytes(file.parent)
    assert index_sum(file, "soil") == before
    with index.reading() as reading:
        assert [each.end for each in reading.facts(FactQuery(names=("ann",)))] == [None]


def index_sum(file: Path, topic: str) -> bytes:
    """What all documents about a topic mean together."""
    with closing(apsw.Connection(str(file))) as reader:
        total: bytes = reader.execute("SELECT sum FROM memory_topics WHERE topic = ?", (topic,)).get
        return total


@pytest.mark.requirement("I-12")
def test_a_mask_is_kept_until_something_begins_or_ends(file: Path) -> None:
    """Every search has its own moment: it may not look at all documents anew because a second has passed."""
    index = opened(file)
    add(index, entry("a", valid_from="2026-01-01T00:00:00Z", valid_until="2026-03-01T00:00:00Z"), document("b.md", "x"))

    def masks(*moments: str) -> int:
        with index.reading() as reading:
            for at in moments:
                reading.match_words(["text"], Filters(at=at), limit=9, weighing=Weighing())
            return len(reading._view.live)

    assert masks("2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z", "2026-02-28T23:59:59Z") == 2
    assert masks("2026-03-01T00:00:00Z", "2027-01-01T00:00:00Z") == 3
    assert masks("2025-01-01T00:00:00Z", "2024-01-01T00:00:00Z") == 4


def test_an_erased_document_leaves_no_trace_of_its_earlier_versions(file: Path) -> None:
    """Segments that were made of them hold hashes of their words and small vectors: those are written anew too."""
    index = opened(file, least=4)
    add(index, document("a.md", f"soil {SECRET}"), *(document(f"{n}.md", "soil") for n in range(30)))
    index.settle()
    add(index, document("a.md", "rain"), *(document(f"{n}.md", "rain") for n in range(30, 38)))
    index.settle()
    trace = word_hash(SECRET).to_bytes(8, "little")
    assert len(segment_files(file)) == 2
    assert trace in raw_bytes(file.parent)

    assert index.erase("vault", "a.md")
    assert trace not in raw_bytes(file.parent)
    assert (len(search(index)), len(search(index, "rain"))) == (30, 8)


def test_erasing_what_was_purged_clears_the_segments_too(file: Path) -> None:
    """No row tells of it any more, and still its words are to be forgotten."""
    index = opened(file, least=4)
    add(index, document("a.md", f"soil {SECRET}"), *(document(f"{n}.md", "soil") for n in range(8)))
    index.settle()
    index.remove("vault", "a.md", now=NOW)
    index.purge(before=NOW + 1)
    trace = word_hash(SECRET).to_bytes(8, "little")
    assert trace in raw_bytes(file.parent)

    assert not index.erase("vault", "a.md")
    assert trace not in raw_bytes(file.parent)


def test_purging_nothing_keeps_the_view(file: Path) -> None:
    """It happens at every sync: the next search has nothing to read anew."""
    index = opened(file)
    add(index, document("a.md", "soil"), document("b.md", "soil"))
    index.remove("vault", "b.md", now=NOW)
    search(index)
    view = index._views._newest

    assert index.purge(before=NOW - 1) == 0
    search(index)
    assert index._views._newest is view
    assert index.purge(before=NOW + 1) == 1
    search(index)
    assert index._views._newest is not view


def test_no_word_stands_in_clear_outside_the_text(file: Path) -> None:
    """Segments hold hashes."""
    index = opened(file)
    add(index, document("a.md", f"soil {SECRET}"))
    index.settle()

    assert SECRET.encode() not in raw_bytes(Path(f"{file}.segments"))


@pytest.mark.parametrize(
    "content", [b"this is no database at all, whatever its name may be" * 40, b"SQLite format 3\0" * 99]
)
def test_a_file_that_is_no_database_is_told_and_rebuilt(file: Path, content: bytes) -> None:
    """The error says what to do, and doing it mends the index."""
    file.parent.mkdir()
    file.write_bytes(content)
    index = opened(file)

    with pytest.raises(IndexDamaged, match=r"index\.db is (not a database|damaged)") as refused:
        search(index)
    assert refused.value.hint == "Run `commonplace rebuild`."
    with index.rebuilding() as fresh:
        add(fresh, document("a.md", "soil"))
    assert search(index) == search(opened(file)) == ["a.md"]


def test_a_damaged_or_truncated_page_is_told(file: Path) -> None:
    """Damage below the header is found when the page is read."""
    index = opened(file)
    add(index, *(document(f"{n}.md", "soil " * 50) for n in range(100)))
    index.close()
    whole = file.read_bytes()

    for damaged in (whole[:4096] + b"\xff" * (len(whole) - 4096), whole[: len(whole) // 2]):
        file.write_bytes(damaged)
        with pytest.raises(IndexDamaged, match="is damaged") as refused:
            search(index)
        assert refused.value.hint == "Run `commonplace rebuild`."


def test_a_file_of_a_newer_form_is_left_alone(file: Path) -> None:
    """An older Commonplace does not write into what it does not know."""
    index = opened(file)
    search(index)
    index.close()
    with closing(apsw.Connection(str(file))) as newer:
        newer.pragma("user_version", len(MIGRATIONS) + 1)

    with pytest.raises(IndexDamaged, match="newer form") as refused:
        search(index)
    assert refused.value.hint == "Upgrade Commonplace, or run `commonplace rebuild`."


DOCUMENT_ROWS = """
INSERT INTO memory_documents VALUES
  (1, 'd', 'me', 'vault', 'a.md', 'A', 'vault:a.md', 'h', 'm', 'test@1', '2026-01-01T00:00:00Z', '2026-01-01T00:00:00Z',
   NULL, 0.0, 4, 0.0, 0, '', 'active', '', '[]', '[]', '[]', '[]', '{}', 1, 1, 1, 1);
INSERT INTO memory_encoders VALUES ('test@1', 5);
INSERT INTO memory_labels VALUES (1, 'title', 'a');
INSERT INTO memory_names VALUES ('a', 1);
INSERT INTO memory_links VALUES (1, 1, 0, 1, 'b', '{}', NULL);
INSERT INTO memory_link_names VALUES ('b', 1);
INSERT INTO memory_segments VALUES (1, 1, 1, 'old.segment', 8, 0);
INSERT INTO memory_syncs VALUES ('me', '2026-01-01T00:00:00Z');
"""
CHUNK_ROWS = (
    """
INSERT INTO memory_chunks VALUES
  (1, 'c', 'd', 'me', 0, 'h', '[]', 1, 1, 'test@1', '2026-01-01T00:00:00Z', 1, x'00000000000000000000000001', 'soil');
INSERT INTO memory_vectors VALUES (1, 'test@1', 1, zeroblob(32), zeroblob(10));
""",
    """
INSERT INTO memory_chunks VALUES
  (1, 'c', 'd', 'me', 0, 'h', '[]', 1, 1, '', '', '', 'test@1', '2026-01-01T00:00:00Z', 1,
   x'00000000000000000000000001', 'soil');
INSERT INTO memory_vectors VALUES (1, 'test@1', 1, 0, zeroblob(32), zeroblob(4), zeroblob(5));
""",
)


def make_old(file: Path, form: int) -> None:
    """An index of that earlier form, with a document, and a segment file."""
    folder = Path(f"{file}.segments")
    folder.mkdir(parents=True)
    (folder / "old.segment").write_bytes(b"CPSEGMT2")
    with closing(apsw.Connection(str(file))) as old:
        old.execute("PRAGMA journal_mode = WAL")
        for step in STEPS[:form]:
            old.execute(step)
        old.execute(DOCUMENT_ROWS + CHUNK_ROWS[form - 1])
        old.pragma("user_version", form)


@pytest.mark.parametrize("form", [1, 2])
def test_an_index_of_an_earlier_form_is_emptied_and_works(file: Path, form: int) -> None:
    """It knows no document and was never synced, so the next sync fills it; nothing of its old form is left."""
    make_old(file, form)
    index = opened(file)

    assert index.stamps("vault") == {}
    assert (search(index), sense(index)) == ([], [])
    with index.reading() as reading:
        assert (reading.synced(), reading.counts().links, reading.versions()) == (None, 0, {})
    add(index, document("a.md", "soil", sentences=[("rain",)]), document("b.md", "soil"))
    index.settle()
    assert (search(index), sense(index)) == (["a.md", "b.md"], ["a.md", "b.md"])
    assert [each.name for each in segment_files(file)] != ["old.segment"]
    assert len(segment_files(file)) == 1
    with closing(apsw.Connection(str(file))) as reader:
        assert reader.pragma("user_version") == len(MIGRATIONS)
        assert reader.pragma("foreign_key_check") is None


@pytest.mark.parametrize("form", [1, 2])
def test_an_index_of_an_earlier_form_has_the_same_tables_afterwards_as_a_new_one(
    file: Path, tmp_path: Path, form: int
) -> None:
    """Both have taken the same steps."""
    make_old(file, form)
    fresh = tmp_path / "fresh.db"
    search(opened(file))
    search(opened(fresh))

    def tables(of: Path) -> set[str]:
        with closing(apsw.Connection(str(of))) as reader:
            return {sql for (sql,) in reader.execute("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL")}

    assert tables(file) == tables(fresh)


def test_a_segment_of_an_older_form_is_answered_from_the_rows(file: Path) -> None:
    """Its header is not trusted; `settle` writes the file anew."""
    index = opened(file)
    add(index, document("a.md", "soil", "rain", sentences=[("x",), ("y", "z")]))
    index.settle()
    before = (search(index), sense(index))
    index.close()
    (segment,) = segment_files(file)
    content = segment.read_bytes()
    stamp = segment.stat().st_mtime_ns
    segment.write_bytes(b"CPSEGMT2" + content[8:])
    os.utime(segment, ns=(stamp, stamp))

    assert (search(index), sense(index)) == before
    index.settle()
    assert segment_files(file) != [segment]


def test_a_search_by_meaning_reads_no_row(file: Path) -> None:
    """Once the view is made: neither for the chunks that it finds nor for those that it is asked about."""
    index = opened(file)
    add(index, document("a.md", "soil", "rain", sentences=[("x",), ()]), document("b.md", "sand"))
    index.settle()
    add(index, document("c.md", "clay"))
    asked: list[str] = []
    sense(index)

    def note(_cursor: Any, sql: str, _values: Any) -> bool:
        asked.append(sql)
        return True

    with index.reading() as reading:
        reading._connection.exec_trace = note
        matches = reading.match_sense(vector("soil"), Filters(), version=VERSION, limit=2)
        again = reading.sense_of(vector("soil"), [match.number for match in matches], version=VERSION)
        reading._connection.exec_trace = None
    assert (len(matches), again, asked) == (2, matches, [])


def test_a_locked_index_says_so_after_the_wait(file: Path) -> None:
    """It is not damaged: another process is at work. Reading goes on meanwhile."""
    index = opened(file, wait=0.05)
    add(index, document("a.md", "soil"))
    with closing(apsw.Connection(str(file))) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(VaultUnavailable) as refused:
            add(index, document("b.md", "soil"))
        assert search(index) == ["a.md"]

    assert refused.value.reason == "locked"


def garble(file: Path) -> None:
    content = bytearray(file.read_bytes())
    for place in range(len(content) // 2, len(content)):
        content[place] ^= 0x5A
    file.write_bytes(content)


SPOILS: dict[str, Callable[[Path], object]] = {
    "missing": Path.unlink,
    "empty": lambda file: file.write_bytes(b""),
    "truncated": lambda file: file.write_bytes(file.read_bytes()[:-1]),
    "no header": lambda file: file.write_bytes(b"\0" * 50 + file.read_bytes()[50:]),
    "garbled": garble,
}


@pytest.mark.parametrize("spoil", SPOILS)
def test_a_spoilt_segment_gives_right_answers_and_is_written_anew(file: Path, spoil: str) -> None:
    """The rows are the record: answers are slower for a while and never wrong."""
    index = opened(file)
    add(index, document("a.md", "soil", "rain"), document("b.md", "soil soil"))
    index.settle()
    before = (search(index), sense(index))
    index.close()
    (segment,) = segment_files(file)
    os.utime(segment, ns=(0, 0))
    SPOILS[spoil](segment)

    assert (search(index), sense(index)) == before
    index.settle()
    (mended,) = segment_files(file)
    assert mended != segment
    assert (search(opened(file)), sense(opened(file))) == before


def test_a_segment_that_was_copied_is_taken_as_it_is(file: Path) -> None:
    """A backup changes times, not content."""
    index = opened(file)
    add(index, document("a.md", "soil"))
    index.settle()
    index.close()
    (segment,) = segment_files(file)
    os.utime(segment, ns=(0, 0))

    assert search(index) == ["a.md"]
    index.settle()
    assert segment_files(file) == [segment]


def test_settling_waits_until_it_is_worth_it_and_keeps_segments_few(file: Path) -> None:
    """A segment is made of `least` new chunks at once; small ones are taken into larger ones, none is over `most`."""
    index = opened(file, least=4, most=32)
    for number in range(100):
        add(index, document(f"{number}.md", "soil"))
        index.settle()
        assert len(segment_files(file)) <= number // 32 + 4
        if number < 3:
            assert segment_files(file) == []

    assert len(search(index)) == 100
    with index._database.reading() as connection:
        sizes = [size for (size,) in connection.execute("SELECT chunks FROM memory_segments")]
    assert max(sizes) <= 32


def test_a_segment_of_mostly_dead_chunks_is_written_anew(file: Path) -> None:
    """Replaced chunks do not pile up."""
    index = opened(file, least=4)
    add(index, *(document(f"{n}.md", "soil") for n in range(8)))
    index.settle()
    before = segment_files(file)
    add(index, *(document(f"{n}.md", "rain") for n in range(5)))
    index.settle()

    assert not set(before) & set(segment_files(file))
    assert len(search(index)) == 3


def test_files_of_a_killed_settle_are_cleared_away(file: Path) -> None:
    """Nobody names them, so nobody misses them."""
    index = opened(file)
    add(index, document("a.md", "soil"))
    index.settle()
    folder = Path(f"{file}.segments")
    (folder / "half.segment.new").write_bytes(b"x")
    (folder / "unnamed.segment").write_bytes(b"x")
    index.settle()

    assert [each.name for each in folder.iterdir()] == [segment_files(file)[0].name]


def test_files_of_a_killed_rebuild_are_cleared_away(file: Path) -> None:
    """The next one begins with it, and leaves one index."""
    index = opened(file)
    add(index, document("a.md", "soil"))
    index.settle()
    file.with_name("index.db.new-dead").write_bytes(b"x")
    file.with_name("index.db.new-dead.segments").mkdir()
    for _ in range(2):
        with index.rebuilding() as fresh:
            add(fresh, document("a.md", "soil"))

    assert search(index) == ["a.md"]
    left = {each.name for each in file.parent.iterdir() if not each.name.endswith(("-wal", "-shm", ".segments"))}
    assert left == {"index.db", file.resolve().name, "index.db.lock", "index.db.lock-segments"}
    assert len(list(file.parent.glob("*.segments"))) == 1


def test_a_rebuild_is_seen_by_those_who_have_the_old_index_open(file: Path) -> None:
    """Their next look and their next change go to the new one, and a change that waits for its turn is not lost."""
    index, other = opened(file), opened(file)
    add(index, document("a.md", "soil"))
    assert search(other) == ["a.md"]
    with index.rebuilding() as fresh:
        add(fresh, document("b.md", "soil"))

    assert search(other) == ["b.md"]
    add(other, document("c.md", "soil"))
    assert search(index) == ["b.md", "c.md"]


def left_in(file: Path) -> set[str]:
    """What is beside the index that counts and does not belong to it."""
    counting = file.resolve().name
    kept = {file.name, counting, f"{counting}-wal", f"{counting}-shm", f"{counting}.segments"}
    return {each.name for each in file.parent.iterdir()} - kept - {"index.db.lock", "index.db.lock-segments"}


def test_a_rebuild_in_the_middle_of_settling_ends_it(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is written for the old index counts for nothing and is not left behind; the next one settles the new."""
    index, other = opened(file), opened(file)
    add(index, document("a.md", "soil"))

    def rebuild_and_read(*args: Any) -> Segment:
        monkeypatch.undo()
        with other.rebuilding() as fresh:
            add(fresh, document("b.md", "soil"))
        return read_segment(*args)

    monkeypatch.setattr(segments, "read_segment", rebuild_and_read)
    index.settle()

    assert left_in(file) == set()
    assert search(index) == ["b.md"]


def test_a_folder_that_a_rebuild_takes_away_under_the_pen_ends_settling(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is no error: the index is another now."""
    index, other = opened(file), opened(file)
    add(index, document("a.md", "soil"))
    write = segment_file._write

    def rebuild_and_write(*args: Any) -> None:
        monkeypatch.undo()
        with other.rebuilding() as fresh:
            add(fresh, document("b.md", "soil"))
        write(*args)

    monkeypatch.setattr(segment_file, "_write", rebuild_and_write)
    index.settle()

    assert left_in(file) == set()
    assert search(index) == ["b.md"]


def test_an_error_of_who_rebuilds_is_not_one_of_the_index(file: Path) -> None:
    """A note that cannot be read is not an index that cannot be opened."""
    index = opened(file)

    with pytest.raises(PermissionError), index.rebuilding():
        raise PermissionError("a note")


def test_only_one_rebuilds_at_a_time(file: Path) -> None:
    """The second is told to wait."""
    index, other = opened(file), opened(file, wait=0.05)

    with index.rebuilding(), pytest.raises(VaultUnavailable) as refused, other.rebuilding():
        pass
    assert refused.value.reason == "locked"


def test_threads_read_while_one_writes(file: Path) -> None:
    """A reading sees whole documents, and none is lost."""
    index = opened(file, least=16)
    add(index, document("0.md", "soil", "soil"))
    done = threading.Event()
    seen: list[int] = []

    def read() -> None:
        while not done.is_set():
            seen.append(len(search(index)))

    readers = [threading.Thread(target=read) for _ in range(4)]
    for each in readers:
        each.start()
    for number in range(1, 60):
        add(index, document(f"{number}.md", "soil", "soil"))
        index.settle()
    done.set()
    for each in readers:
        each.join()

    assert all(count % 2 == 0 for count in seen)
    assert len(search(index)) == 120
