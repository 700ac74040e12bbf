"""Bytes that change on the disk while nothing else does: noticed, answered from elsewhere, said, and mended."""

import hashlib
import json
import os
import random
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from commonplace.errors import CommonplaceError, IndexDamaged
from commonplace.index.base import Bm25Parameters, FactQuery, vector_texts
from commonplace.index.sqlite.store import SqliteIndex
from commonplace.index.sqlite.vector_cache import SqliteVectorCache
from commonplace.model import Document, Filters
from tests.index_documents import VERSION, PathLinker, PlainRules, document, entry, link, vector, vectors

NOW = 1_800_000_000.0
WORDS = ("soil", "rain", "wind", "seed", "stone")


def opened(folder: Path) -> SqliteIndex:
    return SqliteIndex(
        folder / "index" / "index.db",
        user="me",
        linker=PathLinker(),
        rules=PlainRules(),
        cache=SqliteVectorCache(folder / "vectors.db"),
        min_chunks=5,
        max_chunks=64,
        wait=5.0,
    )


def some_documents() -> Iterator[Document]:
    source = random.Random(1)
    for number in range(12):
        texts = [" ".join(source.choices(WORDS, k=5)) for _ in range(3)]
        sentences = [tuple(f"{text} {place}" for place in range(2)) for text in texts]
        voices = ("user", "assistant", "")
        yield document(f"{number}.md", *texts, sentences=sentences, voices=voices, links=(link("3"),), topics=("t",))
        yield entry(f"id{number}", f"e{number}.md", text=f"{texts[0]}", subject="Ann", predicate="likes", topics=("t",))


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index with one segment file and what is newer than it, and all of its vectors in the cache."""
    folder = tmp_path_factory.mktemp("whole")
    index = opened(folder)
    for each in some_documents():
        texts = [text for chunk in each.chunks for text in vector_texts(chunk)]
        kept = {hashlib.sha256(text.encode()).hexdigest(): vector(text) for text in texts}
        SqliteVectorCache(folder / "vectors.db").put(VERSION, kept)
        index.upsert(each, vectors(each), now=NOW)
    index.optimize()
    newer = document("new.md", "soil of late")
    index.upsert(newer, vectors(newer), now=NOW)
    index.close()
    return folder


@pytest.fixture
def folder(whole: Path, tmp_path: Path) -> Path:
    """A copy of it, with the times of its files."""
    shutil.copytree(whole, tmp_path / "copy")
    return tmp_path / "copy"


def answers(index: SqliteIndex) -> list[object]:
    """What searches and questions about facts say."""
    with index.reader() as reader:
        words = reader.match_words(WORDS, Filters(), limit=99, bm25=Bm25Parameters())
        near = reader.match_vector(vector("soil"), Filters(), version=VERSION, limit=99)
        numbers = [match.number for match in words.matches]
        attributes = [*reader.chunk_attributes(numbers).values()]
        return [
            words,
            near,
            attributes,
            reader.score_vector(vector("rain"), numbers, version=VERSION),
            reader.score_documents(WORDS, attributes, bm25=Bm25Parameters()),
            reader.document_similarity(attributes, version=VERSION, top=5),
            reader.chunks(numbers),
            reader.facts(FactQuery(names=("ann",))),
            [(each.topic, each.vector.tolist()) for each in reader.centroids(VERSION)],
            reader.topics(),
            reader.edges(),
            reader.problems(),
        ]


def segment_of(folder: Path) -> Path:
    (file,) = folder.glob("index/*.segments/*.segment")
    return file


def regions(file: Path) -> dict[str, range]:
    """Where each array of a segment file lies, by its name, and the header."""
    content = file.read_bytes()
    length = int.from_bytes(content[8:12], "little")
    start = -(-(44 + length) // 64) * 64
    arrays = sorted(json.loads(content[44 : 44 + length])["arrays"].items(), key=lambda each: each[1]["offset"])
    begins = [start + layout["offset"] for _, layout in arrays]
    ends = [*begins[1:], len(content)]
    found = {name: range(*edges) for (name, _), *edges in zip(arrays, begins, ends, strict=True)}
    return {"header": range(44 + length), **{name: each for name, each in found.items() if each}}


def flip(file: Path, places: list[int], by: int = 0xFF) -> None:
    """Change these bytes; the file's time stays, as when a disk forgets."""
    status, content = file.stat(), bytearray(file.read_bytes())
    for place in places:
        content[place] ^= by
    file.write_bytes(content)
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))


def test_every_byte_of_a_segment_that_changes_is_noticed_and_mended(folder: Path) -> None:
    """Searches never fail; what addresses other arrays is noticed at once, everything by a check, which mends it."""
    source, file = random.Random(2), segment_of(folder)
    right, content, status = answers(opened(folder)), file.read_bytes(), file.stat()
    for name, region in regions(file).items():
        for by in (0xFF, 0x01, 0x80):
            flip(file, source.sample(region, k=min(3, len(region))), by)
            told = answers(opened(folder))
            if name.rpartition("/")[2] not in ("rows", "codes", "scales"):
                assert told == right, name
            assert opened(folder).damaged_files() == (file.name,), name
            file.write_bytes(content)
            os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))

    assert opened(folder).damaged_files() == ()


@pytest.mark.parametrize("array", ["rows", "codes", "0/rows", "0/scales", "0/fine/rows", "header", "starts"])
def test_a_damaged_segment_is_written_again_by_a_check(folder: Path, array: str) -> None:
    """What a sync does: afterwards every answer is right to the last digit."""
    file = segment_of(folder)
    right, region = answers(opened(folder)), regions(file)[array]
    flip(file, [*region][:40])

    index = opened(folder)
    index.optimize(check=True)
    assert segment_of(folder) != file
    assert answers(index) == right
    assert opened(folder).damaged_files() == ()


def test_damage_that_a_search_meets_is_mended_by_the_next_save(folder: Path) -> None:
    """Rows of postings that lie outside the file: a search fails on them, and reads `index.db` instead."""
    file, right = segment_of(folder), answers(opened(folder))
    region = regions(file)["rows"]
    flip(file, [place for place in region if place % 4 == 3], by=0x7F)

    index = opened(folder)
    assert answers(index) == right
    index.optimize()
    assert segment_of(folder) != file
    assert answers(opened(folder)) == right


@pytest.mark.parametrize("seed", range(40))
def test_bytes_of_the_index_that_change_never_end_in_a_raw_error(folder: Path, seed: int) -> None:
    """Whatever is read or written: it works, or an error of ours says what to do."""
    source, file = random.Random(seed), folder / "index" / "index.db"
    size = file.stat().st_size
    page = source.randrange(0, size, 4096)
    flip(file, source.choices(range(page, page + 4096), k=source.choice((1, 8, 64))), source.choice((0x01, 0x80, 0xFF)))
    index, fresh = opened(folder), document("fresh.md", "soil and rain", links=(link("new"),))
    verbs = (
        lambda: answers(index),
        lambda: index.stamps("vault"),
        lambda: index.part_hashes("vault", "3.md"),
        lambda: index.upsert(fresh, vectors(fresh), now=NOW),
        lambda: index.touch(fresh, now=NOW),
        lambda: index.remove("vault", "4.md", now=NOW),
        lambda: index.optimize(check=True),
        index.damaged_files,
    )
    told: list[CommonplaceError] = []
    for verb in verbs:
        try:
            verb()
        except CommonplaceError as error:
            told.append(error)
    assert all(error.hint for error in told)


def test_text_that_is_no_text_any_more_is_damage(folder: Path) -> None:
    """A title whose bytes are not UTF-8: SQLite reads it, Python does not."""
    file = folder / "index" / "index.db"
    content = file.read_bytes()
    place = content.index(b"soil of late")
    flip(file, [place], by=0xFF)

    with pytest.raises(IndexDamaged, match=r"index\.db is damaged") as told:
        answers(opened(folder))
    assert told.value.hint == "Run `commonplace rebuild`."


def test_an_error_of_who_reads_is_not_taken_for_damage(folder: Path) -> None:
    """Only the index's own code is."""
    with pytest.raises(KeyError), opened(folder).reader():
        raise KeyError("mine")
