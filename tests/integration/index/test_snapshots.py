"""What a process holds in memory of an index is brought up to date by what changed alone, and is never different."""

import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import apsw
import pytest

from commonplace.index.base import Bm25Parameters
from commonplace.index.sqlite import snapshots
from commonplace.index.sqlite.queries import SqliteReader
from commonplace.index.sqlite.store import SqliteIndex
from commonplace.model import Document, Filters
from tests.index_documents import VERSION, PathLinker, PlainRules, document, entry, vector, vectors

NOW = 1_800_000_000.0
WORDS = ("soil", "rain", "wind", "seed", "stone")
MOMENTS = ("2025-06-01T00:00:00Z", "2026-02-01T00:00:00Z", "2026-08-01T00:00:00Z")
FILTERS = (
    Filters(),
    Filters(archived=True),
    *(Filters(at=at) for at in MOMENTS),
    Filters(at=MOMENTS[1], tags=("red",)),
    Filters(at=MOMENTS[2], tags=("red",)),
    Filters(path="folder", sensitive="out"),
    Filters(sensitive="only", archived=True),
    Filters(kinds=("fact",)),
    Filters(since="2026-03-02T00:00:00Z"),
    Filters(entities=("3",)),
)


def opened(file: Path) -> SqliteIndex:
    return SqliteIndex(file, user="me", linker=PathLinker(), rules=PlainRules(), min_chunks=6, max_chunks=24, wait=5.0)


def some_document(source: random.Random, number: int) -> Document:
    """A note or an entry, in whatever state."""
    path = f"{source.choice(('', 'folder/'))}{number}.md"
    texts = [" ".join(source.choices(WORDS, k=3)) for _ in range(source.randrange(4))]
    until = source.choice(("", "", "2026-01-15T00:00:00Z", "2026-07-15T00:00:00Z"))
    fields: dict[str, Any] = {
        "status": source.choice(("active", "active", "active", "superseded")),
        "place": source.choice(("", "", "", "archive", "staging")),
        "sensitive": source.random() < 0.2,
    }
    if source.random() < 0.4:
        begins = f"2026-0{source.randrange(1, 9)}-01T00:00:00Z"
        claim = {"subject": str(source.randrange(3)), "predicate": "is", "valid_from": begins, "kind": "fact"}
        return entry(f"id{number}", path, text=" ".join(source.choices(WORDS, k=4)), **claim, **fields)
    day = f"2026-03-0{source.randrange(1, 4)}T00:00:00Z"
    tags = source.choice(((), ("red",)))
    speakers = source.choices(("Ann", "Bob", ""), k=len(texts))
    return document(path, *texts, valid_until=until, updated=day, tags=tags, speakers=speakers, **fields)


def change(index: SqliteIndex, source: random.Random, known: dict[str, Document]) -> None:
    """One change of any sort; `known` are the documents in the index, by path."""
    path = source.choice([*known, ""])
    roll = source.random()
    if not path or roll < 0.4:
        fresh = some_document(source, source.randrange(12))
        index.upsert(fresh, vectors(fresh), now=NOW)
        known[fresh.source_id] = fresh
    elif roll < 0.55:
        changed = replace(some_document(source, 0), **{each: getattr(known[path], each) for each in OWN})
        index.touch(changed, now=NOW)
        known[path] = changed
    elif roll < 0.65:
        index.remove("vault", path, now=NOW)
    elif roll < 0.75:
        index.erase("vault", path)
        del known[path]
    elif roll < 0.8:
        index.purge(before=NOW + 1)
        for each in {*known} - {*index.stamps("vault")}:
            del known[each]
    else:
        index.optimize()


OWN = ("id", "source_id", "uri", "made_from", "content_hash", "chunks", "version", "title", "facts")


def answers(reader: SqliteReader) -> list[object]:
    """Everything that a query can take from memory."""
    told: list[object] = [dict(reader.versions()), reader.speakers(sensitive=False), reader.speakers(sensitive=True)]
    for filters in FILTERS:
        words = reader.match_words(WORDS[:3], filters, limit=99, bm25=Bm25Parameters())
        near = reader.match_vector(vector("soil"), filters, version=VERSION, limit=99)
        attributes = reader.chunk_attributes([match.number for match in words.matches])
        scores = reader.score_documents(WORDS[:3], [*attributes.values()], bm25=Bm25Parameters())
        told += [words, near, attributes, scores]
    return told


@pytest.mark.parametrize("seed", range(6))
def test_a_process_that_stays_answers_as_one_that_begins(tmp_path: Path, seed: int) -> None:
    """After any change: masks, counts and attributes are those that are read anew from the file."""
    source, file, known = random.Random(seed), tmp_path / "index.db", dict[str, Document]()
    index = opened(file)
    for step in range(60):
        change(index, source, known)
        if step % source.randrange(1, 4) == 0:
            with index.reader() as warm:
                stays = answers(warm)
            other = opened(file)
            with other.reader() as cold:
                assert stays == answers(cold), f"after step {step}"
            other.close()


def counting(connection: apsw.Connection) -> Callable[[], int]:
    """How many rows of documents the connection's statements have read: steps of scans, as SQLite counts them."""
    steps = 0

    def trace(event: dict[str, Any]) -> None:
        nonlocal steps
        steps += event["stmt_status"]["SQLITE_STMTSTATUS_VM_STEP"]

    connection.trace_v2(apsw.SQLITE_TRACE_PROFILE, trace)
    return lambda: steps


def work_after_a_save(file: Path, documents: int) -> int:
    """The steps of SQLite's machine for a save and the first search after it, in an index of so many documents."""
    index = opened(file)
    for number in range(documents):
        each = entry(f"e{number}", f"folder/{number}.md", text=f"soil {number}", valid_until="2026-01-15T00:00:00Z")
        index.upsert(each, vectors(each), now=NOW)
    index.optimize()
    with index.reader() as reader:
        answers(reader)
    with index._database.write_transaction() as connection:
        steps = counting(connection)
    new = entry("new", "folder/new.md", text="soil and rain")
    index.upsert(new, vectors(new), now=NOW)
    index.optimize()
    with index.reader() as reader:
        reader.versions()
        for filters in FILTERS[:-1]:
            reader.match_words(["soil"], filters, limit=3, bm25=Bm25Parameters())
            reader.match_vector(vector("soil"), filters, version=VERSION, limit=3)
    return steps()


def test_a_save_does_not_read_all_documents_again(tmp_path: Path) -> None:
    """The work of the database for a save and the search after it is the same in an index ten times as large."""
    few, many = (work_after_a_save(tmp_path / str(size) / "index.db", size) for size in (40, 400))

    assert many < 1.5 * few


def test_what_is_too_long_ago_is_read_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the last changes are listed; a process that slept longer reads everything once."""
    monkeypatch.setattr(snapshots, "KEPT_GENERATIONS", 3)
    index, other = opened(tmp_path / "index.db"), opened(tmp_path / "index.db")
    with index.reader() as reader:
        answers(reader)
    for number in range(8):
        each = document(f"{number}.md", "soil rain")
        other.upsert(each, vectors(each), now=NOW)
    with index.reader() as warm, other.reader() as cold:
        assert answers(warm) == answers(cold)
