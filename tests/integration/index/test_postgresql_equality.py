"""The index in PostgreSQL gives the answers of the one in SQLite: the same hits in the same order, with every digit."""

import random
from collections.abc import Iterator
from dataclasses import asdict, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from commonplace.app import open_memory
from commonplace.index.base import Bm25Parameters, FactQuery, Index, IndexReader
from commonplace.index.sqlite.store import SqliteIndex
from commonplace.memory import Memory
from commonplace.model import Document, Filters
from tests.components import require
from tests.index_documents import VERSION, PathLinker, PlainRules, document, fact, link, vector, vectors
from tests.postgresql_index import new_postgresql_index, postgresql_settings
from tests.vaults import sample_vault

NOW = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
QUESTIONS = (
    "Who works on the garden?",
    "what did Ada decide about the roof last week",
    "soil and seeds",
    "meeting",
    "What is the plan for the next project?",
    "zzz nothing of that kind",
    "people",
    "review of the month",
)
RESTRICTIONS: tuple[dict[str, Any], ...] = (
    {},
    {"mode": "words"},
    {"mode": "sense"},
    {"by": "document"},
    {"path": "Projects"},
    {"kinds": ("person",)},
    {"since": "2026-01-01", "until": "2026-10-01"},
    {"include_archive": True, "per_note": 0},
)
WORDS = [f"word{number}" for number in range(400)]
MOMENTS = ("2025-06-01T00:00:00Z", "2026-02-01T00:00:00Z", "2026-03-01T00:00:00Z")
FILTERS = (
    Filters(),
    Filters(path="Projects"),
    Filters(tags=("garden",)),
    Filters(topics=("soil", "rain")),
    Filters(entities=("n7", "Ann")),
    Filters(archived=True),
    Filters(sensitive="only"),
    Filters(sources=("chat",)),
    *(Filters(at=moment) for moment in MOMENTS),
)


# ---------------------------------------------------------------- the sample vault, through the library


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    """The sample vault with a history of two commits."""
    return sample_vault(tmp_path / "vault")


def opened(vault: Path, data: Path, **settings: object) -> Memory:
    chosen = {"data": str(data), "embedding.provider": "hashing", **settings}
    return open_memory(vault, settings=chosen)


@pytest.fixture
def pair(vault: Path, tmp_path: Path) -> Iterator[tuple[Memory, Memory]]:
    """The same vault with an index in SQLite and one in PostgreSQL, both up to date."""
    require("postgres")
    one = opened(vault, tmp_path / "one")
    other = opened(vault, tmp_path / "other", **postgresql_settings())
    one.entries.save("Ada works at Acme since 2024.")
    one.facts.add("Ada", "lives in", "Oslo")
    one.entries.save("The greenhouse has a new roof.", topics=["garden"])
    for memory in (one, other):
        memory.index.rebuild()
    yield one, other
    one.close()
    other.close()


def told(memory: Memory, question: str, **restrictions: Any) -> dict[str, Any]:
    """The whole answer but for the time it took."""
    answer = asdict(memory.search(question, now=NOW, **restrictions))
    return {key: value for key, value in answer.items() if key not in ("took_ms", "times")}


def test_every_question_to_the_sample_vault_has_the_same_answer(pair: tuple[Memory, Memory]) -> None:
    """By words, by meaning and both, for passages and notes, with filters."""
    sqlite, postgresql = pair
    answers = [
        (told(sqlite, question, **each), told(postgresql, question, **each))
        for question in QUESTIONS
        for each in RESTRICTIONS
    ]

    assert [one for one, other in answers if one != other] == []
    assert sum(len(one["hits"]) for one, _ in answers) > 100


def test_facts_topics_and_the_past_are_the_same(pair: tuple[Memory, Memory]) -> None:
    """What holds, what was known then, who is named, and what the vault said on an earlier day."""
    today, tomorrow = (datetime.now(UTC) + timedelta(days=days) for days in (0, 1))

    def everything(memory: Memory) -> list[object]:
        return [
            memory.facts.about("Ada"),
            memory.facts.about(every=True),
            memory.facts.about("Ada", as_of="2026-11-01", known=str(tomorrow.date())),
            memory.facts.list(),
            memory.facts.count(),
            memory.facts.entities(),
            memory.facts.graph(),
            memory.facts.timeline("Ada"),
            memory.topics.list(),
            memory.index.problems(),
            replace(memory.index.stats(), size=0, synced=None),
            [(hit.path, hit.score) for hit in memory.search("greenhouse roof", as_of=str(today.date()), now=NOW)],
        ]

    sqlite, postgresql = map(everything, pair)

    assert sqlite == postgresql


# ---------------------------------------------------------------- generated notes, question by question


def generated(count: int, *, seed: int) -> list[Document]:
    """Notes and conversations that share words, names, topics, links and claims."""
    chance = random.Random(seed)

    def text() -> str:
        return " ".join(chance.choices(WORDS, weights=[1 / (1 + at) for at in range(len(WORDS))], k=40))

    return [_note(number, [text() for _ in range(chance.randint(0, 4))], chance) for number in range(count)]


def _note(number: int, texts: list[str], chance: random.Random) -> Document:
    path = f"{chance.choice(('Projects/', 'People/', ''))}n{number}.md"
    facts = [
        fact(
            f"f{number}-{place}",
            path,
            origin="line",
            subject=chance.choice(("Ann", "Bo", f"n{number // 2}")),
            predicate=chance.choice(("works_at", "likes", "")),
            object=chance.choice(("Acme", "n3", "")),
            topics=chance.choice(((), ("Soil",))),
            valid_from=chance.choice(("", *MOMENTS)),
            updated=chance.choice(MOMENTS),
        )
        for place in range(chance.randint(0, 2))
    ]
    return document(
        path,
        *texts,
        source=chance.choice(("vault", "vault", "chat")),
        title=f"Note {number} {chance.choice(WORDS[:20])}",
        sentences=[tuple(each[:30] for each in chance.sample(WORDS, 2)) for _ in texts],
        voices=[chance.choice(("", "user", "assistant")) for _ in texts],
        tags=chance.choice(((), ("garden",), ("Garden/beds",))),
        topics=chance.choice(((), ("soil",), ("Rain", "soil"))),
        place=chance.choice(("", "", "", "archive", "staging")),
        sensitive=chance.random() < 0.1,
        links=tuple(link(f"n{chance.randint(0, 60)}") for _ in range(2)),
        facts=tuple(facts),
        valid_until=chance.choice(("", "", "", MOMENTS[1])),
        updated=chance.choice(MOMENTS),
    )


def fill(index: Index, documents: list[Document]) -> None:
    for each in documents:
        index.put(each, vectors(each), now=1.0)
    for each in documents[::7]:
        index.remove(each.source_type, each.source_id, now=2.0)
    for each in documents[3::11]:
        index.upsert(replace(each, chunks=each.chunks[:1]), vectors(replace(each, chunks=each.chunks[:1])), now=3.0)
    index.optimize()


def results(index: Index) -> list[object]:
    """What every query returns; chunks by their ids."""
    chance = random.Random(1)
    with index.reader() as reader:
        found: list[object] = []
        for filters in FILTERS:
            found += [_search(reader, chance.sample(WORDS, 4), filters) for _ in range(4)]
        found += [reader.facts(FactQuery(names=(name,), limit=9)) for name in ("ann", "bo", "acme", "n3")]
        found += [reader.facts(FactQuery(topics=("soil",))), reader.facts(FactQuery(text="OF F1", staged=True))]
        found += [reader.count_facts(FactQuery()), reader.entity_counts(sensitive=True), reader.claim_conflicts()]
        found += [reader.topics(), reader.edges(), reader.note_rows(), reader.mentions(sensitive=False)]
        found += [reader.titles_with("N", sensitive=is_seen) for is_seen in (True, False)]
        found += [(each.topic, each.vector.tolist()) for each in reader.centroids(VERSION)]
        return found


def _search(reader: IndexReader, words: list[str], filters: Filters) -> list[object]:
    by_words = reader.match_words(words, filters, limit=12, bm25=Bm25Parameters())
    near = reader.match_vector(vector(words[0]), filters, version=VERSION, limit=12)
    numbers = [*(each.number for each in by_words.matches), *(each.number for each in near)]
    attributes = reader.chunk_attributes(numbers)
    documents = sorted({each.document: each for each in attributes.values()}.values(), key=lambda each: each.document)
    ids = {number: each.chunk_id for number, each in attributes.items()}
    return [
        sorted((each.score, ids[each.number], sorted(each.by.items())) for each in by_words.matches),
        sorted((each.best, ids[each.number], *each[1:]) for each in near),
        reader.score_documents(words, documents, bm25=Bm25Parameters()),
        reader.document_similarity(documents, version=VERSION, top=3),
        len(reader.chunks_with(words[:2], filters)),
        reader.count_documents(filters),
    ]


def test_generated_notes_give_the_same_results_to_the_last_digit(tmp_path: Path) -> None:
    """Postings in many buckets and segments, removed and replaced notes, filters that few documents pass."""
    documents = generated(160, seed=7)
    sqlite = SqliteIndex(tmp_path / "index.db", user="me", linker=PathLinker(), rules=PlainRules(), min_chunks=50)
    postgresql = new_postgresql_index(min_chunks=50, max_chunks=200)
    fill(sqlite, documents)
    fill(postgresql, documents)

    assert results(postgresql) == results(sqlite)
