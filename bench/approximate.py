"""How much approximate vector search in PostgreSQL finds of what exact search finds, on real passages.

The passages of the garden are encoded by the real encoder and put into an index in PostgreSQL with an HNSW index; its
headings are the questions. `--conversations 100000` takes so many paragraphs of LongMemEval's conversations instead,
for as large a vault as approximate search is made for, and its questions. Recall@10 is the share of the ten nearest
passages that approximate search also has among its ten nearest: without filters, and within the passages of a tenth of
the notes. Times are those of the search in the index alone, connection and transaction included.

Run it as `python bench/approximate.py`; `--save` keeps the figures.
"""

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import mean
from typing import Any, Final

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent))
from bench import figures
from bench.datasets import check_files, read_longmemeval
from bench.equality import questions
from bench.figures import percentile, say

from commonplace.app import open_memory
from commonplace.encoders.base import EncoderProvider
from commonplace.flows.stores import Stores
from commonplace.index.postgresql.store import PostgresqlIndex
from commonplace.memory import Memory
from commonplace.model import Document, Filters
from tests.index_documents import document
from tests.postgresql import new_tenant
from tests.postgresql_index import new_postgresql_index

MOST_QUESTIONS: Final = 200
SHORTEST: Final = 60  # characters of a paragraph
LONGEST: Final = 240  # beyond which it is cut, as encoding takes by far the most time
AT_ONCE: Final = 2000  # passages between two lines of progress
NOTES_AT_ONCE: Final = 50
BEST: Final = 10
TAGS: Final = {"all": (), "a tenth": ("tenth",)}


def stores_of(memory: Memory) -> Stores:
    """The stores of a memory: the index is measured below the library."""
    return memory.context._session.stores  # noqa: SLF001


@dataclass(frozen=True, slots=True)
class Corpus:
    """The passages of each note, by its path, and what is asked."""

    passages: dict[str, list[str]]
    questions: Sequence[str]


def garden(data: Path, home: Path) -> Corpus:
    """The passages of the garden as they are indexed, and its headings."""
    vault = figures.garden(data, home / "vault")
    if vault is None:
        sys.exit("the garden is not here")
    by_path: dict[str, list[str]] = {}
    with open_memory(vault, settings={"embedding.provider": "none", "data": str(home / "d")}) as memory:
        memory.index.sync()
        with stores_of(memory).index.reader() as reader:
            for stored in reader.chunks([*range(1, 2 * reader.counts().chunks + 100)]):
                by_path.setdefault(stored.document.source_id, []).append(stored.chunk.text)
    return Corpus(by_path, questions(vault)[:MOST_QUESTIONS])


def conversations(data: Path, count: int) -> Corpus:
    """So many paragraphs of LongMemEval's conversations, each once, and its questions."""
    check_files(data, ["longmemeval"])
    found = read_longmemeval(data)
    by_path: dict[str, list[str]] = {}
    seen: set[str] = set()
    for session, turns in found.turns.items():
        for paragraph in (line.strip()[:LONGEST] for turn in turns for line in turn.text.splitlines()):
            if len(seen) < count and len(paragraph) >= SHORTEST and paragraph not in seen:
                seen.add(paragraph)
                by_path.setdefault(f"{session}.md", []).append(paragraph)
    return Corpus(by_path, [each.text for each in found.questions][:MOST_QUESTIONS])


def notes(by_path: dict[str, list[str]], version: str) -> Iterator[Document]:
    """A note for each path, of which each tenth has a tag."""
    for place, (path, texts) in enumerate(sorted(by_path.items())):
        made = document(path, *texts, version=version)
        yield replace(made, tags=() if place % 10 else TAGS["a tenth"])


def fixed(vectors: Any) -> Any:
    """Unit vectors as an index takes them."""
    return np.rint(np.asarray(vectors, np.float64) * 32767).astype(np.int16)


def fill(index: PostgresqlIndex, by_path: dict[str, list[str]], encoder: EncoderProvider) -> int:
    """Put the notes into the index, encoded; returns the number of passages."""
    documents = [*notes(by_path, encoder.version)]
    texts = [chunk.text for each in documents for chunk in each.chunks]
    encoded = np.concatenate([_encoded(encoder, texts, start) for start in range(0, len(texts), AT_ONCE)])
    start = 0
    placed = []
    for each in documents:
        placed.append((each, [row[None, :] for row in encoded[start : start + len(each.chunks)]]))
        start += len(each.chunks)
    for first in range(0, len(placed), NOTES_AT_ONCE):
        index.put_all(placed[first : first + NOTES_AT_ONCE], now=1.0)
    return len(texts)


def _encoded(encoder: EncoderProvider, texts: Sequence[str], start: int) -> Any:
    say(f"encoding from {start:,} of {len(texts):,} passages")
    return fixed(encoder.encode(texts[start : start + AT_ONCE]))


def measured(
    index: PostgresqlIndex, asked: Sequence[Any], version: str, tags: tuple[str, ...]
) -> tuple[list[Any], list[float]]:
    """The numbers of the nearest passages for each question, and the milliseconds."""
    found, took = [], []
    for vector in asked:
        start = time.perf_counter()
        with index.reader() as reader:
            matches = reader.match_vector(vector, Filters(tags=tags), version=version, limit=BEST)
        took.append((time.perf_counter() - start) * 1000)
        found.append([match.number for match in matches[:BEST]])
    return found, took


def main() -> None:
    """Compare both searches and print recall and times."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--data", type=Path, default=figures.DATA, help="folder with vaults/ and longmemeval_s/")
    options.add_argument(
        "--conversations", type=int, default=0, metavar="COUNT", help="so many paragraphs of LongMemEval instead"
    )
    options.add_argument("--model", type=Path, default=figures.MODEL, help="folder with the encoder's weights")
    options.add_argument(
        "--save", action="store_true", help="keep the figures in bench/results/approximate-<commit>.json"
    )
    chosen = options.parse_args()
    with figures.own_home() as home:
        corpus = conversations(chosen.data, chosen.conversations) if chosen.conversations else garden(chosen.data, home)
        (empty := home / "empty").mkdir()
        encoder = stores_of(open_memory(empty, settings=figures.with_model(chosen.model))).encoders.current
        assert encoder is not None
        tenant = new_tenant()
        approximate = new_postgresql_index(tenant=tenant, search="approximate", approximate_from=1000)
        count = fill(approximate, corpus.passages, encoder)
        start = time.perf_counter()
        approximate.optimize(check=True)
        built = time.perf_counter() - start
        exact = new_postgresql_index(tenant=tenant)
        asked = [*fixed(encoder.encode(corpus.questions))]
        kept: dict[str, Any] = {"passages": count, "questions": len(asked), "hnsw_built_s": round(built, 2)}
        for name, tags in TAGS.items():
            kept[name] = _compared(exact, approximate, asked, encoder.version, tags)
            print(f"{name}: {kept[name]}")
    print(f"{count} passages, {len(asked)} questions, HNSW built in {built:.1f} s")
    if chosen.save:
        print(f"saved in {figures.save('approximate', kept)}")


def _compared(
    exact: PostgresqlIndex, approximate: PostgresqlIndex, asked: Sequence[Any], version: str, tags: tuple[str, ...]
) -> dict[str, float]:
    right, exactly = measured(exact, asked, version, tags)
    found, roughly = measured(approximate, asked, version, tags)
    shares = [len({*one} & {*other}) / len(one) for one, other in zip(right, found, strict=True) if one]
    times = {"exact": exactly, "approximate": roughly}
    told = {f"{name}_p50_ms": round(percentile(each, 0.5), 1) for name, each in times.items()}
    told |= {f"{name}_p95_ms": round(percentile(each, 0.95), 1) for name, each in times.items()}
    return {"recall_at_10": round(mean(shares), 4), "least": round(min(shares), 2), **told}


if __name__ == "__main__":
    main()
