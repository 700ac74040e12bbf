"""Two peers on the same chunks, vectors and questions: sqlite-vec with FTS5, and chromadb.

`bench/search.py` runs this as its own process, in a virtual environment of its own (`.bench-venv`):
`python baselines.py FOLDER sqlite-vec|chromadb`. The folder holds texts.json, questions.json, vectors.npy and
asked.npy; the figures go to standard output as JSON. The vectors of the questions are given, so their encoding is not
in the times.
"""

import json
import re
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

POOL = 200
K = 10
RRF = 60
Ask = Callable[[str, Any, bool], list[int]]
"""Answers a question with its vector, among all chunks or a tenth of them, with numbers of chunks."""


def with_sqlite_vec(folder: Path) -> Ask:
    """A vec0 table of float32 and an FTS5 table with the porter stemmer, joined by reciprocal ranks."""
    import apsw
    import sqlite_vec  # type: ignore[import-not-found]

    texts, vectors = json.loads((folder / "texts.json").read_text()), np.load(folder / "vectors.npy")
    database = apsw.Connection(str(folder / "baseline.db"))
    database.enable_load_extension(True)  # noqa: FBT003
    database.load_extension(sqlite_vec.loadable_path())
    database.execute("PRAGMA journal_mode = WAL")
    database.execute(f"CREATE VIRTUAL TABLE near USING vec0(vector float[{vectors.shape[1]}], tenth INTEGER)")
    database.execute("CREATE VIRTUAL TABLE said USING fts5(text, tokenize = 'porter unicode61', content = '')")
    with database:
        rows = ((at, vector.tobytes(), is_tenth(at)) for at, vector in enumerate(vectors))
        database.executemany("INSERT INTO near (rowid, vector, tenth) VALUES (?, ?, ?)", rows)
        database.executemany("INSERT INTO said (rowid, text) VALUES (?, ?)", enumerate(texts))
    nearest = f"SELECT rowid FROM near WHERE vector MATCH ? AND k = {POOL}"
    wording = f"SELECT rowid FROM said WHERE said MATCH ? ORDER BY bm25(said) LIMIT {POOL}"
    tenth = "SELECT rowid FROM said WHERE said MATCH ? AND (rowid / 5) % 10 = 3 ORDER BY bm25(said)" + f" LIMIT {POOL}"

    def ask(question: str, vector: Any, narrow: bool) -> list[int]:  # noqa: FBT001
        near = [row for (row,) in database.execute(nearest + (" AND tenth = 1" if narrow else ""), (vector.tobytes(),))]
        words = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", question))
        said = [row for (row,) in database.execute(tenth if narrow else wording, (words,))] if words else []
        scores: dict[int, float] = {}
        for found in (near, said):
            for rank, row in enumerate(found):
                scores[row] = scores.get(row, 0.0) + 1 / (RRF + rank)
        return sorted(scores, key=lambda row: -scores[row])[:K]

    return ask


def with_chromadb(folder: Path) -> Ask:
    """A persistent collection with its default graph (HNSW): vectors alone, approximate."""
    import chromadb  # type: ignore[import-not-found]
    from chromadb.config import Settings  # type: ignore[import-not-found]

    texts, vectors = json.loads((folder / "texts.json").read_text()), np.load(folder / "vectors.npy")
    client = chromadb.PersistentClient(str(folder / "chroma"), settings=Settings(anonymized_telemetry=False))
    collection = client.create_collection("bench", metadata={"hnsw:space": "cosine"})
    for start in range(0, len(texts), 2000):
        places = range(start, min(start + 2000, len(texts)))
        collection.add(
            ids=[str(at) for at in places],
            embeddings=vectors[start : start + 2000],
            documents=texts[start : start + 2000],
            metadatas=[{"tenth": is_tenth(at)} for at in places],
        )

    def ask(question: str, vector: Any, narrow: bool) -> list[int]:  # noqa: FBT001
        where = {"tenth": 1} if narrow else None
        answer = collection.query(query_embeddings=[vector], n_results=K, where=where)
        return [int(number) for number in answer["ids"][0]]

    return ask


def is_tenth(chunk: int) -> int:
    """Whether the chunk is of a document in the folder `tenth`, as in bench/corpus.py."""
    return int((chunk // 5) % 10 == 3)


def recall_of(asked: Any, vectors: Any, answers: list[list[int]]) -> float:
    """The share of the true ten nearest that was found."""
    found = 0
    for vector, answer in zip(asked, answers, strict=True):
        best = np.argpartition(-(vectors @ vector), K)[:K]
        found += len(set(best.tolist()) & set(answer))
    return round(found / (K * len(answers)), 3)


def main() -> None:
    """Build, warm up, ask, and print the figures."""
    folder, name = Path(sys.argv[1]), sys.argv[2]
    begun = time.perf_counter()
    ask = {"sqlite-vec": with_sqlite_vec, "chromadb": with_chromadb}[name](folder)
    figures: dict[str, Any] = {"build_s": round(time.perf_counter() - begun, 1)}
    questions, asked = json.loads((folder / "questions.json").read_text()), np.load(folder / "asked.npy")
    for narrow in (False, True):
        for question, vector in zip(questions[:20], asked[:20], strict=True):
            ask(question, vector, narrow)
        times, answers = [], []
        for question, vector in zip(questions, asked, strict=True):
            start = time.perf_counter()
            answers.append(ask(question, vector, narrow))
            times.append((time.perf_counter() - start) * 1000)
        times.sort()
        figures["filter 10 %" if narrow else "all"] = {
            "p50": round(times[len(times) // 2], 2),
            "p95": round(times[int(len(times) * 0.95)], 2),
        }
        if name == "chromadb" and not narrow:
            figures["recall_at_10"] = recall_of(asked, np.load(folder / "vectors.npy"), answers)
    status = Path("/proc/self/status").read_text()
    figures["rss_mb"] = round(int(re.findall(r"VmRSS:\s+(\d+)", status)[0]) / 1024)
    shutil.rmtree(folder / "chroma", ignore_errors=True)
    (folder / "baseline.db").unlink(missing_ok=True)
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
