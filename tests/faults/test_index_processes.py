"""One index, many processes: nothing is lost, and one that is killed leaves an index that is whole."""

import subprocess
import sys
from pathlib import Path

import apsw
import pytest

from commonplace.index.base import Bm25Parameters
from commonplace.index.sqlite.snapshots import Snapshot, SnapshotCache
from commonplace.index.sqlite.store import SqliteIndex
from commonplace.model import Filters
from tests.index_documents import VERSION, PathLinker, PlainRules, document, vector, vectors

OPENING = """
import sys
from pathlib import Path
from commonplace.index.sqlite.store import SqliteIndex
from tests.index_documents import PathLinker, PlainRules, document, link, vectors
def opened():
    return SqliteIndex(
        Path(sys.argv[1]), user="me", linker=PathLinker(), rules=PlainRules(), min_chunks=5, max_chunks=40, wait=60
    )
index = opened()
def add(name, *texts):
    each = document(name, *texts, links=(link("0-0"),))
    index.upsert(each, vectors(each), now=1.8e9)
"""
ADD = f"""{OPENING}
for number in range(25):
    add(f"{{sys.argv[2]}}-{{number}}.md", f"soil {{number}}", "rain")
    index.optimize()
"""
ADD_FOR_EVER = f"""{OPENING}
for number in range(10 ** 6):
    add(f"{{number % 37}}.md", f"soil {{number}}", f"rain {{number}}", f"soil {{number}}")
    print(number, flush=True)
"""
OPTIMIZE_FOR_EVER = f"""{OPENING}
for number in range(10 ** 6):
    for place in range(6):
        add(f"{{number % 7}}-{{place}}.md", f"soil {{number}}", f"rain {{number}}", f"soil {{number}}")
    print(number, flush=True)
    index.optimize()
"""
REBUILD_FOR_EVER = f"""{OPENING}
for number in range(10 ** 6):
    with index.replacement() as index:
        for place in range(6):
            add(f"{{place}}.md", f"soil {{number}}", f"rain {{number}}", f"soil {{number}}")
    index = opened()
    print(number, flush=True)
"""


def start(program: str, *args: object) -> subprocess.Popen[str]:
    root = Path(__file__).parents[2]
    command = [sys.executable, "-c", program, *map(str, args)]
    return subprocess.Popen(command, text=True, stdout=subprocess.PIPE, cwd=root)


def opened(file: Path) -> SqliteIndex:
    return SqliteIndex(file, user="me", linker=PathLinker(), rules=PlainRules(), min_chunks=5, max_chunks=40, wait=60)


def check_whole(file: Path) -> None:
    """Every document has all its chunks, words and meaning agree, and a change is possible."""
    index = opened(file)
    with index.reader() as reader:
        soil = reader.match_words(["soil"], Filters(), limit=9999, bm25=Bm25Parameters()).matches
        rain = reader.match_words(["rain"], Filters(), limit=9999, bm25=Bm25Parameters()).matches
        near = reader.match_vector(vector("soil"), Filters(), version=VERSION, limit=9999)
        documents = reader.counts().documents.get("vault", 0)
        assert (len(soil), len(rain), len(near)) == (2 * documents, documents, 3 * documents)
        assert {m.number for m in soil} | {m.number for m in rain} == {m.number for m in near}
        found = reader.chunks([match.number for match in near])
        assert len(found) == 3 * documents
        of = {
            each.document.id: {other.chunk.text.split()[1] for other in found if other.document == each.document}
            for each in found
        }
        assert all(len(numbers) == 1 for numbers in of.values())
    note = document("after.md", "unheard")
    index.upsert(note, vectors(note), now=1.9e9)
    index.optimize()
    with index.reader() as reader:
        assert len(reader.match_words(["unheard"], Filters(), limit=9, bm25=Bm25Parameters()).matches) == 1


def test_processes_that_write_and_optimize_at_once_lose_nothing(tmp_path: Path) -> None:
    """Four processes with twenty-five documents each, from before the file exists."""
    file = tmp_path / "index.db"
    for process in [start(ADD, file, name) for name in range(4)]:
        process.communicate(timeout=120)
        assert process.returncode == 0

    index = opened(file)
    with index.reader() as reader:
        assert len(index.stamps("vault")) == 100
        assert len(reader.match_words(["rain"], Filters(), limit=999, bm25=Bm25Parameters()).matches) == 100
        assert len(reader.match_vector(vector("rain"), Filters(), version=VERSION, limit=999)) == 200
        assert {edge.path for edge in reader.edges()} == {"0-0.md"}


@pytest.mark.requirement("D-68")
@pytest.mark.parametrize(
    "program", [ADD_FOR_EVER, OPTIMIZE_FOR_EVER, REBUILD_FOR_EVER], ids=["add", "optimize", "rebuild"]
)
@pytest.mark.parametrize("after", [1, 6])
def test_a_killed_process_leaves_a_whole_index(tmp_path: Path, program: str, after: int) -> None:
    """kill -9 in the middle: what it acknowledged is there, and of a document all or nothing."""
    file = tmp_path / "index.db"
    with start(program, file) as process:
        assert process.stdout
        for _ in range(after):
            process.stdout.readline()
        process.kill()

    assert opened(file).stamps("vault")
    check_whole(file)


def test_readers_go_on_while_others_write_optimize_and_rebuild(tmp_path: Path) -> None:
    """Each look is at one moment; files that are taken away meanwhile are not missed."""
    file = tmp_path / "index.db"
    with start(OPTIMIZE_FOR_EVER, file) as one, start(REBUILD_FOR_EVER, file) as two:
        assert one.stdout
        assert two.stdout
        one.stdout.readline()
        index = opened(file)
        for _ in range(60):
            with index.reader() as reader:
                soil = reader.match_words(["soil"], Filters(), limit=9999, bm25=Bm25Parameters()).matches
                near = reader.match_vector(vector("soil"), Filters(), version=VERSION, limit=9999)
                assert len(near) * 2 == len(soil) * 3
                assert len(reader.chunks([match.number for match in near])) == len(near)
        one.kill()
        two.kill()
    check_whole(file)


@pytest.mark.parametrize("already", [0, 1], ids=["the first index", "a rebuilt index"])
def test_a_reader_that_opened_the_index_just_before_it_was_replaced_reads_the_new_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, already: int
) -> None:
    """The files of the old one are gone by then, and nothing is damaged."""
    file, at = tmp_path / "index.db", SnapshotCache.at
    for number in range(already + 1):
        rebuild(file, f"{number}.md")
    replaced: list[str] = []

    def at_after_a_rebuild(self: SnapshotCache, connection: apsw.Connection) -> Snapshot | None:
        if not replaced:
            replaced.append(connection.filename)
            rebuild(file, "new.md")
        return at(self, connection)

    index = opened(file)
    monkeypatch.setattr(SnapshotCache, "at", at_after_a_rebuild)
    with index.reader() as reader:
        near = reader.match_vector(vector("soil"), Filters(), version=VERSION, limit=99)
        paths = {each.document.source_id for each in reader.chunks([match.number for match in near])}

    assert replaced
    assert paths == {"new.md"}


def rebuild(file: Path, path: str) -> None:
    """Replace the index by one with this document alone, whose vectors are in a segment file."""
    note = document(path, "soil one", "rain", "soil two", "soil three", "soil four", "soil five")
    with opened(file).replacement() as fresh:
        fresh.upsert(note, vectors(note), now=1.9e9)
