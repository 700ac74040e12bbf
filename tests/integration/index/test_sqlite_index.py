"""What only the files of the SQLite index can get wrong: schema, traces, permissions, damage, users, segments."""

import hashlib
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
from commonplace.index.base import Bm25Parameters, FactQuery, VectorMatch, vector_texts
from commonplace.index.segments import segment_file
from commonplace.index.segments.quantize import quantize, stored_bytes
from commonplace.index.segments.segment import Segment, word_hash
from commonplace.index.sqlite import maintenance
from commonplace.index.sqlite.schema import MIGRATIONS
from commonplace.index.sqlite.snapshots import read_segment
from commonplace.index.sqlite.store import SqliteIndex
from commonplace.index.sqlite.vector_cache import SqliteVectorCache
from commonplace.model import Document, Filters
from tests.index_documents import (
    DIM,
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
from tests.integration.index.older_forms import OLDER_TABLES
from tests.raw_files import raw_bytes

NOW = 1_800_000_000.0
SECRET = "what-nobody-should-find"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "index" / "index.db"


def opened(
    file: Path, *, user: str = "me", min_chunks: int = 1, max_chunks: int = 64, wait: float = 5.0
) -> SqliteIndex:
    return SqliteIndex(
        file,
        user=user,
        linker=PathLinker(),
        rules=PlainRules(),
        cache=cache_of(file),
        min_chunks=min_chunks,
        max_chunks=max_chunks,
        wait=wait,
    )


def cache_of(file: Path) -> SqliteVectorCache:
    """The cache that belongs to that index, outside its folder."""
    return SqliteVectorCache(file.parent.parent / "vectors.db")


def add(index: SqliteIndex, *documents: Document) -> None:
    for each in documents:
        index.upsert(each, vectors(each), now=NOW)


def search(index: SqliteIndex, word: str = "soil") -> list[str]:
    with index.reader() as reader:
        return paths(reader, numbers(reader.match_words([word], Filters(), limit=999, bm25=Bm25Parameters())))


def sense(index: SqliteIndex, text: str = "soil") -> list[str]:
    with index.reader() as reader:
        matches = reader.match_vector(vector(text), Filters(), version=VERSION, limit=99)
        return paths(reader, [match.number for match in matches])


def segment_files(file: Path) -> list[Path]:
    return sorted(Path(f"{file.resolve()}.segments").glob("*.segment"))


def columns(file: Path, table: str) -> dict[str, bool]:
    """The columns of a table, and whether each must have a value."""
    with closing(apsw.Connection(str(file))) as reader:
        return {row[1]: bool(row[3]) for row in reader.execute(f"PRAGMA table_info({table})")}


@pytest.mark.requirement("D-48", "D-50", "D-54")
def test_the_tables_have_the_columns_that_were_promised(file: Path) -> None:
    """Documents and chunks; every row has its user."""
    search(opened(file))
    documents, chunks = columns(file, "memory_documents"), columns(file, "memory_chunks")

    promised = "id user_id source_type source_id title uri content_hash created_at updated_at deleted_at sensitive"
    assert {*promised.split(), "metadata_json"} <= set(documents)
    promised = "chunk_id document_id user_id chunk_index content content_hash heading_path token_count"
    assert {*promised.split(), "embedding_version", "created_at"} <= set(chunks)
    assert documents["user_id"]
    assert chunks["user_id"]


@pytest.mark.requirement("I-52", "I-60")
def test_everything_that_filters_read_has_a_column(file: Path) -> None:
    """Source, topics, linked notes, validity, metadata, hash and time."""
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

    with index._database.read_transaction() as connection:
        assert connection.pragma("journal_mode") == "wal"
        assert connection.pragma("foreign_keys") == 1


@pytest.mark.requirement("D-52")
def test_vectors_of_one_version_have_one_length(file: Path) -> None:
    """Another length is refused, in a document and in a query."""
    index = opened(file)
    add(index, document("a.md", "soil"))
    other = document("b.md", "rain")

    with pytest.raises(UsageError, match="have 8 numbers, but this one has 5"):
        index.upsert(other, [vector("rain", dim=5)[None, :]], now=NOW)
    with index.reader() as reader, pytest.raises(UsageError):
        reader.match_vector(vector("rain", dim=5), Filters(), version=VERSION, limit=1)


@pytest.mark.requirement("D-54")
def test_users_of_one_file_do_not_see_each_other(file: Path) -> None:
    """Neither words, vectors, links nor counts; a document that one user removes stays for the other."""
    mine, theirs = opened(file), opened(file, user="you")
    add(mine, document("a.md", "soil", links=(link("b"),)))
    add(theirs, document("a.md", "soil", user="you"), document("b.md", "soil soil", user="you"))
    mine.optimize()

    assert (search(mine), sense(mine)) == (["a.md"], ["a.md"])
    assert sorted(search(theirs)) == ["a.md", "b.md"]
    with mine.reader() as reader, theirs.reader() as other:
        assert [edge.path for edge in reader.edges()] == [None]
        assert (reader.counts().chunks, other.counts().chunks) == (1, 2)
        match = reader.match_words(["soil"], Filters(), limit=9, bm25=Bm25Parameters()).matches[0]
        assert other.chunks([match.number]) == ()
        assert other.score_vector(vector("soil"), [match.number], version=VERSION) == ()
    assert not mine.erase("vault", "b.md")
    assert mine.erase("vault", "a.md")
    assert set(theirs.stamps("vault")) == {"a.md", "b.md"}


def test_files_are_for_their_owner_alone(file: Path) -> None:
    """The database, its log, its segments and the folders that hold them."""
    index = opened(file)
    add(index, document("a.md", "soil"))
    index.optimize()
    with index.replacement() as fresh:
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
    index.optimize()
    scales, numbers = stored_bytes(quantize(vectors(secret)[0]), parts=1)
    rows = [numbers[:DIM], scales[4:]]  # the vector of the part, and the scale of that of the sentence
    assert SECRET.encode() in raw_bytes(file.parent)
    assert all(row in raw_bytes(file.parent) for row in rows)
    with index.reader() as reader:
        near = reader.match_vector(vector(f"soil {SECRET}"), Filters(), version=VERSION, limit=1)[0].number
    before = segment_files(file)

    assert index.erase("vault", f"{SECRET}.md")
    assert SECRET.encode() not in raw_bytes(file.parent)
    assert not any(row in raw_bytes(file.parent) for row in rows)
    assert len(search(index)) == 31
    assert not set(before) & set(segment_files(file))
    with index.reader() as reader:
        assert all(near not in segment.numbers for segment in index._snapshots.at(reader._open).segments)  # type: ignore[union-attr]


def test_users_of_one_file_do_not_see_each_others_facts(file: Path) -> None:
    """Neither facts, bonds nor topics; and no fact of one user ends a fact of the other."""
    mine, theirs = opened(file), opened(file, user="you")
    add(mine, entry("a", subject="Ann", predicate="p", topics=("soil",), bonds=(("extend", "b"),)))
    theirs.upsert(replace(entry("b", subject="Ann", predicate="p"), id="other"), vectors(entry("b")), now=NOW)

    with mine.reader() as reader, theirs.reader() as other:
        assert [(each.fact.id, each.end) for each in reader.facts(FactQuery(names=("ann",)))] == [("a", None)]
        assert [(each.fact.id, each.end) for each in other.facts(FactQuery(names=("ann",)))] == [("b", None)]
        assert (other.topics(), other.bonds(["a", "b"]), other.edges(), other.claim_conflicts()) == ((), (), (), ())


def test_an_erased_fact_is_in_no_file(file: Path) -> None:
    """Text, entities, topics, kind, bonds and vector, in database and log; a fact that it ended is valid again."""
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
    index.optimize()

    assert index.erase("vault", f"{SECRET}.md")
    assert SECRET.encode() not in raw_bytes(file.parent)
    assert index_sum(file, "soil") == before
    with index.reader() as reader:
        assert [each.end for each in reader.facts(FactQuery(names=("ann",)))] == [None]


def index_sum(file: Path, topic: str) -> bytes:
    """The sum of the vectors of all documents about a topic."""
    with closing(apsw.Connection(str(file))) as reader:
        total: bytes = reader.execute("SELECT sum FROM memory_topics WHERE topic = ?", (topic,)).get
        return total


@pytest.mark.requirement("I-12")
def test_a_selection_is_cached_until_some_validity_begins_or_ends(file: Path) -> None:
    """Every search has its own moment, and must not read all documents again because a second has passed."""
    index = opened(file)
    add(index, entry("a", valid_from="2026-01-01T00:00:00Z", valid_until="2026-03-01T00:00:00Z"), document("b.md", "x"))

    def masks(*moments: str) -> int:
        with index.reader() as reader:
            for at in moments:
                reader.match_words(["text"], Filters(at=at), limit=9, bm25=Bm25Parameters())
            return len(reader._snapshot.selections)

    assert masks("2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z", "2026-02-28T23:59:59Z") == 2
    assert masks("2026-03-01T00:00:00Z", "2027-01-01T00:00:00Z") == 3
    assert masks("2025-01-01T00:00:00Z", "2024-01-01T00:00:00Z") == 3


def test_an_erased_document_leaves_no_trace_of_its_earlier_versions(file: Path) -> None:
    """Segments with earlier versions hold hashes of their words and quantized vectors: they are rewritten too."""
    index = opened(file, min_chunks=4)
    add(index, document("a.md", f"soil {SECRET}"), *(document(f"{n}.md", "soil") for n in range(30)))
    index.optimize()
    add(index, document("a.md", "rain"), *(document(f"{n}.md", "rain") for n in range(30, 38)))
    index.optimize()
    trace = word_hash(SECRET).to_bytes(8, "little")
    assert len(segment_files(file)) == 2
    assert trace in raw_bytes(file.parent)

    assert index.erase("vault", "a.md")
    assert trace not in raw_bytes(file.parent)
    assert (len(search(index)), len(search(index, "rain"))) == (30, 8)


def test_erasing_what_was_purged_clears_the_segments_too(file: Path) -> None:
    """No row mentions it any more, but its words must be forgotten all the same."""
    index = opened(file, min_chunks=4)
    add(index, document("a.md", f"soil {SECRET}"), *(document(f"{n}.md", "soil") for n in range(8)))
    index.optimize()
    index.remove("vault", "a.md", now=NOW)
    index.purge(before=NOW + 1)
    trace = word_hash(SECRET).to_bytes(8, "little")
    assert trace in raw_bytes(file.parent)

    assert not index.erase("vault", "a.md")
    assert trace not in raw_bytes(file.parent)


def test_purging_nothing_keeps_the_snapshot(file: Path) -> None:
    """Every sync purges; the next search must not read everything again."""
    index = opened(file)
    add(index, document("a.md", "soil"), document("b.md", "soil"))
    index.remove("vault", "b.md", now=NOW)
    search(index)
    snapshot = index._snapshots._newest

    assert index.purge(before=NOW - 1) == 0
    search(index)
    assert index._snapshots._newest is snapshot
    assert index.purge(before=NOW + 1) == 1
    search(index)
    assert index._snapshots._newest is not snapshot


def test_no_word_is_readable_outside_the_text(file: Path) -> None:
    """Segments hold hashes."""
    index = opened(file)
    add(index, document("a.md", f"soil {SECRET}"))
    index.optimize()

    assert SECRET.encode() not in raw_bytes(Path(f"{file}.segments"))


@pytest.mark.parametrize(
    "content", [b"this is no database at all, whatever its name may be" * 40, b"SQLite format 3\0" * 99]
)
def test_a_file_that_is_not_a_database_is_reported_and_rebuilt(file: Path, content: bytes) -> None:
    """The error says what to do, and doing it repairs the index."""
    file.parent.mkdir()
    file.write_bytes(content)
    index = opened(file)

    with pytest.raises(IndexDamaged, match=r"index\.db is (not a database|damaged)") as refused:
        search(index)
    assert refused.value.hint == "Run `commonplace rebuild`."
    with index.replacement() as fresh:
        add(fresh, document("a.md", "soil"))
    assert search(index) == search(opened(file)) == ["a.md"]


def test_a_damaged_or_truncated_page_is_reported(file: Path) -> None:
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


def test_a_file_with_a_newer_schema_is_left_alone(file: Path) -> None:
    """An older Commonplace does not write to a file it does not know."""
    index = opened(file)
    search(index)
    index.close()
    with closing(apsw.Connection(str(file))) as newer:
        newer.pragma("user_version", len(MIGRATIONS) + 1)

    with pytest.raises(IndexDamaged, match="newer schema") as refused:
        search(index)
    assert refused.value.hint == "Upgrade Commonplace, or run `commonplace rebuild`."


OLDER_ROWS = """
INSERT INTO memory_documents VALUES
  (1, 'd', 'me', 'vault', 'a.md', 'A', 'vault:a.md', 'h', 'm', 'test@1', '2026-01-01T00:00:00Z', '2026-01-01T00:00:00Z',
   NULL, 0.0, 4, 0.0, 0, '', 'active', '', '[]', '[]', '["t"]', '[]', '{}', '', '', '', 0.0, 1, 1, 1, 1);
INSERT INTO memory_encoders VALUES ('test@1', 5);
INSERT INTO memory_links VALUES (1, 1, 0, 1, 'b', '', '{}', NULL);
INSERT INTO memory_segments VALUES (1, 1, 1, 'old.segment', 8, 0);
INSERT INTO memory_facts VALUES
  (1, 1, 0, 'me', 'f', 1, 'a.md', '', 0, 'line', 'active', 0, '', '', '', '', '', '2026-01-01', '', '', '{}');
INSERT INTO memory_fact_topics VALUES ('t', 1);
INSERT INTO memory_topics VALUES ('me', 't', 't', 'test@1', 1, zeroblob(40));
INSERT INTO memory_syncs VALUES ('me', '2026-01-01T00:00:00Z');
INSERT INTO memory_chunks VALUES
  (1, 'c', 'd', 'me', 0, 'h', '[]', 1, 1, '', '', '', 'test@1', '2026-01-01T00:00:00Z', 'soil');
INSERT INTO memory_words VALUES (1, 1, zeroblob(13));
INSERT INTO memory_vectors VALUES (1, 'test@1', 1, 0, zeroblob(32), zeroblob(9));
INSERT INTO memory_new_vectors VALUES (1, zeroblob(4), zeroblob(5));
"""


def make_old(file: Path) -> None:
    """An index with that earlier schema, with a document and a segment file."""
    folder = Path(f"{file}.segments")
    folder.mkdir(parents=True)
    (folder / "old.segment").write_bytes(b"CPSEGMT2")
    with closing(apsw.Connection(str(file))) as old:
        old.execute("PRAGMA journal_mode = WAL")
        old.execute(OLDER_TABLES + OLDER_ROWS)
        old.pragma("user_version", 4)


def test_an_index_with_an_earlier_schema_is_emptied_and_works(file: Path) -> None:
    """It has no document and no sync, so the next sync fills it; nothing of the old schema is left."""
    make_old(file)
    index = opened(file)

    assert index.stamps("vault") == {}
    assert (search(index), sense(index)) == ([], [])
    with index.reader() as reader:
        assert (reader.last_sync(), reader.counts().links, reader.versions()) == (None, 0, {})
    add(index, document("a.md", "soil", sentences=[("rain",)]), document("b.md", "soil"))
    index.optimize()
    assert (search(index), sense(index)) == (["a.md", "b.md"], ["a.md", "b.md"])
    assert [each.name for each in segment_files(file)] != ["old.segment"]
    assert len(segment_files(file)) == 1
    with closing(apsw.Connection(str(file))) as reader:
        assert reader.pragma("user_version") == len(MIGRATIONS)
        assert reader.pragma("foreign_key_check") is None


def test_a_migrated_index_has_the_tables_of_a_new_one(file: Path, tmp_path: Path) -> None:
    """Both have applied the same migrations."""
    make_old(file)
    fresh = tmp_path / "fresh.db"
    search(opened(file))
    search(opened(fresh))

    def tables(of: Path) -> set[str]:
        with closing(apsw.Connection(str(of))) as reader:
            return {sql for (sql,) in reader.execute("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL")}

    assert tables(file) == tables(fresh)


def test_a_segment_of_an_older_format_is_read_from_rows_and_cache(file: Path) -> None:
    """Its header is not trusted; `optimize` writes the file again."""
    index = opened(file)
    add(index, remembered(file, document("a.md", "soil", "rain", sentences=[("x",), ("y", "z")])))
    index.optimize()
    before = (search(index), sense(index))
    index.close()
    (segment,) = segment_files(file)
    content = segment.read_bytes()
    stamp = segment.stat().st_mtime_ns
    segment.write_bytes(b"CPSEGMT2" + content[8:])
    os.utime(segment, ns=(stamp, stamp))

    assert (search(index), sense(index)) == before
    index.optimize()
    assert segment_files(file) != [segment]


def test_a_vector_search_reads_no_row(file: Path) -> None:
    """Once the snapshot is loaded: neither for the chunks it finds nor for those it is asked to score."""
    index = opened(file)
    add(index, document("a.md", "soil", "rain", sentences=[("x",), ()]), document("b.md", "sand"))
    index.optimize()
    add(index, document("c.md", "clay"))
    asked: list[str] = []
    sense(index)

    def note(_cursor: Any, sql: str, _values: Any) -> bool:
        asked.append(sql)
        return True

    with index.reader() as reader:
        reader._open.exec_trace = note
        matches = reader.match_vector(vector("soil"), Filters(), version=VERSION, limit=2)
        again = reader.score_vector(vector("soil"), [match.number for match in matches], version=VERSION)
        reader._open.exec_trace = None
    assert (len(matches), again, asked) == (2, matches, [])


def test_a_locked_index_says_so_after_the_wait(file: Path) -> None:
    """It is not damaged: another process is writing. Readers go on meanwhile."""
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


def remembered(file: Path, of: Document) -> Document:
    """The document, with all its vectors in the cache, as after a sync."""
    texts = [text for chunk in of.chunks for text in vector_texts(chunk)]
    cache_of(file).put(VERSION, {hashlib.sha256(text.encode()).hexdigest(): vector(text) for text in texts})
    return of


def cosines(index: SqliteIndex) -> list[VectorMatch]:
    with index.reader() as reader:
        return [*reader.match_vector(vector("soil"), Filters(), version=VERSION, limit=99)]


@pytest.mark.parametrize("spoil", SPOILS)
def test_a_damaged_segment_gives_right_results_and_is_rewritten(file: Path, spoil: str) -> None:
    """Words come from the rows and vectors from the cache: slower for a while and never wrong, to the last digit."""
    index = opened(file)
    add(index, remembered(file, document("a.md", "soil", "rain", sentences=[("dry soil", "wet"), ()])))
    add(index, remembered(file, document("b.md", "soil soil")))
    index.optimize()
    before = (search(index), sense(index), cosines(index))
    index.close()
    (segment,) = segment_files(file)
    os.utime(segment, ns=(0, 0))
    SPOILS[spoil](segment)

    assert (search(index), sense(index), cosines(index)) == before
    index.optimize()
    (rewritten,) = segment_files(file)
    assert rewritten != segment
    again = opened(file)
    assert (search(again), sense(again), cosines(again)) == before


def test_a_damaged_segment_whose_vectors_are_in_no_cache_asks_for_a_rebuild(file: Path) -> None:
    """Its vectors would have to be encoded again: that is what a rebuild does."""
    index = opened(file)
    add(index, document("a.md", "soil"))
    index.optimize()
    index.close()
    (segment,) = segment_files(file)
    segment.unlink()

    with pytest.raises(IndexDamaged, match="the cache does not have its vectors") as refused:
        sense(index)
    assert "commonplace rebuild" in (refused.value.hint or "")
    with index.replacement() as fresh:
        add(fresh, document("a.md", "soil"))
    assert sense(index) == ["a.md"]


def test_vectors_are_in_the_rows_until_a_segment_has_them(file: Path) -> None:
    """Merging, erasing and rewriting take them from the files; the rows of the database hold none twice."""

    def rows() -> int:
        with index._database.read_transaction() as connection:
            held: int = connection.execute("SELECT count(*) FROM memory_new_vectors").get
        return held

    index = opened(file, min_chunks=2)
    add(index, document("a.md", "soil", sentences=[("x",)]), document("b.md", "rain", "sand"))
    first, held = cosines(index), rows()
    index.optimize()
    assert (held, rows(), cosines(index)) == (3, 0, first)
    add(index, document("c.md", "clay"), document("d.md", "loam"))
    assert rows() == 2
    index.optimize()
    assert (rows(), len(segment_files(file))) == (0, 1)
    assert [each for each in cosines(index) if each.number <= 3] == first
    index.erase("vault", "b.md")
    assert [each for each in cosines(index) if each.number <= 3] == [each for each in first if each.number == 1]


def test_an_index_gives_back_the_space_of_vectors_that_moved_to_a_segment(file: Path) -> None:
    """Without that a first sync would leave half of the database empty."""
    index = opened(file, min_chunks=30)
    texts = [[tuple(f"{n} {each}" for each in range(300))] for n in range(30)]
    add(index, *(document(f"{n}.md", "soil", sentences=each) for n, each in enumerate(texts)))
    index._database.shrink()
    before = index._database.size()
    index.optimize()

    moved = 30 * 301 * len(vector("soil"))
    assert index._database.size() < before - moved
    with index._database.read_transaction() as connection:
        assert connection.pragma("freelist_count") == 0


def test_a_copied_segment_is_used_as_it_is(file: Path) -> None:
    """A backup changes times, not content."""
    index = opened(file)
    add(index, document("a.md", "soil"))
    index.optimize()
    index.close()
    (segment,) = segment_files(file)
    os.utime(segment, ns=(0, 0))

    assert search(index) == ["a.md"]
    index.optimize()
    assert segment_files(file) == [segment]


def test_optimize_waits_until_it_is_worth_it_and_keeps_segments_few(file: Path) -> None:
    """A segment needs `min_chunks` new chunks; small ones are merged into larger ones, up to `max_chunks`."""
    index = opened(file, min_chunks=4, max_chunks=32)
    for number in range(100):
        add(index, document(f"{number}.md", "soil"))
        index.optimize()
        assert len(segment_files(file)) <= number // 32 + 4
        if number < 3:
            assert segment_files(file) == []

    assert len(search(index)) == 100
    with index._database.read_transaction() as connection:
        sizes = [size for (size,) in connection.execute("SELECT chunks FROM memory_segments")]
    assert max(sizes) <= 32


def test_a_segment_of_mostly_dead_chunks_is_rewritten(file: Path) -> None:
    """Replaced chunks do not pile up."""
    index = opened(file, min_chunks=4)
    add(index, *(document(f"{n}.md", "soil") for n in range(8)))
    index.optimize()
    before = segment_files(file)
    add(index, *(document(f"{n}.md", "rain") for n in range(5)))
    index.optimize()

    assert not set(before) & set(segment_files(file))
    assert len(search(index)) == 3


def test_files_of_a_killed_optimize_are_deleted(file: Path) -> None:
    """No row lists them."""
    index = opened(file)
    add(index, document("a.md", "soil"))
    index.optimize()
    folder = Path(f"{file}.segments")
    (folder / "half.segment.new").write_bytes(b"x")
    (folder / "unnamed.segment").write_bytes(b"x")
    index.optimize()

    assert [each.name for each in folder.iterdir()] == [segment_files(file)[0].name]


def test_files_of_a_killed_rebuild_are_deleted(file: Path) -> None:
    """The next rebuild starts with that, and leaves one index."""
    index = opened(file)
    add(index, document("a.md", "soil"))
    index.optimize()
    file.with_name("index.db.new-dead").write_bytes(b"x")
    file.with_name("index.db.new-dead.segments").mkdir()
    for _ in range(2):
        with index.replacement() as fresh:
            add(fresh, document("a.md", "soil"))

    assert search(index) == ["a.md"]
    left = {each.name for each in file.parent.iterdir() if not each.name.endswith(("-wal", "-shm", ".segments"))}
    assert left == {"index.db", file.resolve().name, "index.db.lock", "index.db.lock-segments"}
    assert len(list(file.parent.glob("*.segments"))) == 1


def test_a_rebuild_is_seen_by_processes_that_have_the_old_index_open(file: Path) -> None:
    """Their next read and write go to the new one, and a write that waits for the lock is not lost."""
    index, other = opened(file), opened(file)
    add(index, document("a.md", "soil"))
    assert search(other) == ["a.md"]
    with index.replacement() as fresh:
        add(fresh, document("b.md", "soil"))

    assert search(other) == ["b.md"]
    add(other, document("c.md", "soil"))
    assert search(index) == ["b.md", "c.md"]


def left_in(file: Path) -> set[str]:
    """The files next to the current index that do not belong to it."""
    counting = file.resolve().name
    kept = {file.name, counting, f"{counting}-wal", f"{counting}-shm", f"{counting}.segments"}
    return {each.name for each in file.parent.iterdir()} - kept - {"index.db.lock", "index.db.lock-segments"}


def test_a_rebuild_during_optimize_ends_it(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A segment written for the old index is neither listed nor left behind; the next call handles the new one."""
    index, other = opened(file), opened(file)
    add(index, document("a.md", "soil"))

    def rebuild_and_read(*args: Any) -> Segment:
        monkeypatch.undo()
        with other.replacement() as fresh:
            add(fresh, document("b.md", "soil"))
        return read_segment(*args)

    monkeypatch.setattr(maintenance, "read_segment", rebuild_and_read)
    index.optimize()

    assert left_in(file) == set()
    assert search(index) == ["b.md"]


def test_a_folder_that_a_rebuild_deletes_during_optimize_ends_it(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """That is not an error: the index has been replaced."""
    index, other = opened(file), opened(file)
    add(index, document("a.md", "soil"))
    write = segment_file._write

    def rebuild_and_write(*args: Any) -> None:
        monkeypatch.undo()
        with other.replacement() as fresh:
            add(fresh, document("b.md", "soil"))
        write(*args)

    monkeypatch.setattr(segment_file, "_write", rebuild_and_write)
    index.optimize()

    assert left_in(file) == set()
    assert search(index) == ["b.md"]


def test_an_error_of_the_rebuild_is_not_an_error_of_the_index(file: Path) -> None:
    """A note that cannot be read is not an index that cannot be opened."""
    index = opened(file)

    with pytest.raises(PermissionError), index.replacement():
        raise PermissionError("a note")


def test_only_one_rebuilds_at_a_time(file: Path) -> None:
    """The second gets an error that says to wait."""
    index, other = opened(file), opened(file, wait=0.05)

    with index.replacement(), pytest.raises(VaultUnavailable) as refused, other.replacement():
        pass
    assert refused.value.reason == "locked"


def test_threads_read_while_one_writes(file: Path) -> None:
    """A reader sees whole documents, and none is lost."""
    index = opened(file, min_chunks=16)
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
        index.optimize()
    done.set()
    for each in readers:
        each.join()

    assert all(count % 2 == 0 for count in seen)
    assert len(search(index)) == 120
