"""Laws of the index: step by step equals rebuilt, to the last digit; and both equal a plain count of everything."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commonplace.index.base import Bm25Parameters, FactQuery, Index, IndexReader
from commonplace.index.inmemory.store import InMemoryIndex
from commonplace.index.sqlite.store import SqliteIndex
from commonplace.model import Bond, Document, Fact, Filters
from tests.index_documents import VERSION, PathLinker, PlainRules, document, fact, link, vector, vectors
from tests.postgresql_index import new_postgresql_index
from tests.run_length import rounds

NOW = 1_800_000_000.0
WORDS = ("soil", "rain", "seed", "sun", "the")
PATHS = ("a.md", "b.md", "Projects/a.md", "Projects/c.md")
MOMENTS = ("2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z", "2026-03-01T00:00:00Z")
FILTERS = (
    Filters(),
    Filters(path="Projects"),
    Filters(tags=("x",)),
    Filters(entities=("a",)),
    Filters(archived=True),
    *(Filters(at=moment) for moment in ("2025-06-01T00:00:00Z", *MOMENTS)),
    Filters(at=MOMENTS[1], entities=("alias",)),
)
IDS = ("x1", "x2", "x3", "x4")
QUERIES = (
    FactQuery(staged=True),
    FactQuery(sensitive=False, statuses=("active",), limit=3),
    FactQuery(names=("a", "ann"), limit=2),
    FactQuery(names=("alias",)),
    FactQuery(claims=("ann|works_at", "f1")),
    FactQuery(topics=("soil",), origins=("entry",)),
    FactQuery(prefix="x", fingerprint="f1"),
)


@dataclass(frozen=True, slots=True)
class Step:
    """One change: what is done, to which path, and the note that is written there."""

    verb: str
    path: str
    note: Document
    target: str


texts = st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join), max_size=4)


def fact_of(identity: str, origin: str, **fields: Any) -> Fact:
    return fact(identity, "to be said", origin=origin, **fields)


def facts(origin: str) -> st.SearchStrategy[Fact]:
    """Facts that often have an id or a claim in common with others."""
    return st.builds(
        fact_of,
        st.sampled_from(IDS),
        st.just(origin),
        subject=st.sampled_from(("Ann", "Ann", "a", "alias", "")),
        predicate=st.sampled_from(("works_at", "works_at", "")),
        object=st.sampled_from(("", "a", "Acme")),
        fingerprint=st.sampled_from(("f1", "")),
        valid_from=st.sampled_from(("", *MOMENTS)),
        valid_until=st.sampled_from(("", "", MOMENTS[1])),
        updated=st.sampled_from(MOMENTS),
        importance=st.sampled_from((0.25, 0.5)),
        status=st.sampled_from(("active", "active", "active", "superseded")),
        topics=st.sampled_from(((), ("Soil",))),
        supersedes=st.sampled_from(("", "", "x1")),
        bonds=st.lists(st.tuples(st.sampled_from(get_args(Bond)), st.sampled_from(IDS)), max_size=2).map(tuple),
    )


@st.composite
def notes(draw: st.DrawFn) -> Document:
    chunks = draw(texts)
    return document(
        "to be said",
        *chunks,
        title=draw(st.sampled_from(("", "the plan", "sun"))),
        version=draw(st.sampled_from((VERSION, VERSION, VERSION, ""))),
        parts=[(text, *draw(st.lists(st.sampled_from(WORDS), max_size=2))) for text in chunks],
        sentences=[tuple(draw(st.lists(st.sampled_from(WORDS), max_size=2))) for _ in chunks],
        voices=[draw(st.sampled_from(("", "user", "assistant"))) for _ in chunks],
        speakers=[draw(st.sampled_from(("", "Ann", "Bob"))) for _ in chunks],
        tags=draw(st.sampled_from(((), ("x",), ("X/y",)))),
        place=draw(st.sampled_from(("", "", "archive", "staging"))),
        status=draw(st.sampled_from(("active", "active", "superseded"))),
        sensitive=draw(st.sampled_from((False, False, False, True))),
        aliases=draw(st.sampled_from(((), ("alias",)))),
        links=tuple(
            link(target, relation=draw(st.sampled_from(("", "works_at"))))
            for target in draw(st.lists(st.sampled_from(("a", "c", "alias", "nobody")), max_size=2))
        ),
        topics=draw(st.sampled_from(((), ("soil",), ("Soil", "SOIL", "sun")))),
        facts=draw(st.tuples(facts("entry")) | st.lists(facts("line"), max_size=2).map(tuple)),
        valid_from=draw(st.sampled_from(("", MOMENTS[0]))),
        valid_until=draw(st.sampled_from(("", "", MOMENTS[2]))),
        updated=draw(st.sampled_from(MOMENTS)),
    )


@st.composite
def tellers(draw: st.DrawFn) -> Document:
    """Notes that say little beside their facts."""
    return document(
        "to be said",
        draw(st.sampled_from(WORDS)),
        place=draw(st.sampled_from(("", "", "", "archive"))),
        topics=draw(st.sampled_from(((), ("soil",), ("Soil",)))),
        links=(link("a"),),
        facts=draw(st.tuples(facts("entry")) | st.lists(facts("line"), min_size=1, max_size=2).map(tuple)),
    )


fact_steps = st.builds(
    Step,
    verb=st.sampled_from(("upsert", "upsert", "upsert", "upsert", "touch", "rename", "remove", "purge")),
    path=st.sampled_from(PATHS),
    note=tellers(),
    target=st.sampled_from(PATHS),
)
steps = st.builds(
    Step,
    verb=st.sampled_from(
        ("upsert", "upsert", "upsert", "touch", "rename", "remove", "optimize", "reopen", "purge", "rebuild")
    ),
    path=st.sampled_from(PATHS),
    note=notes(),
    target=st.sampled_from(PATHS),
)


def at(path: str, note: Document) -> Document:
    """The note as it is at that path."""
    whole = document(path, *(chunk.text for chunk in note.chunks), parts=[chunk.parts for chunk in note.chunks])
    chunks = tuple(replace(old, id=new.id) for new, old in zip(whole.chunks, note.chunks, strict=True))
    facts = tuple(replace(each, path=path, place=note.place) for each in note.facts)
    return replace(
        note, id=whole.id, source_id=path, uri=whole.uri, title=note.title or path, chunks=chunks, facts=facts
    )


def do(index: Index, step: Step, held: dict[str, Document]) -> None:
    """Do the step, and keep account of what should be there."""
    if step.verb == "upsert":
        held[step.path] = at(step.path, step.note)
        index.upsert(held[step.path], vectors(held[step.path]), now=NOW)
    elif step.verb == "touch" and step.path in held:
        old = held[step.path]
        note = at(step.path, step.note)
        held[step.path] = replace(note, chunks=old.chunks, version=old.version, made_from=old.made_from)
        index.touch(held[step.path], now=NOW)
    elif step.verb == "rename" and step.path in held and step.target not in held:
        held[step.target] = at(step.target, held.pop(step.path))
        index.rename(step.path, held[step.target], now=NOW)
    elif step.verb == "remove":
        assert index.remove("vault", step.path, now=NOW) == (held.pop(step.path, None) is not None)
    elif step.verb == "optimize":
        index.optimize()
    elif step.verb == "reopen":
        index.close()
    elif step.verb == "purge":
        index.purge(before=NOW + 1)
    elif step.verb == "rebuild":
        with index.replacement() as fresh:
            build(fresh, [*held.values()][::-1])


def build(index: Index, documents: Sequence[Document]) -> None:
    for each in documents:
        index.put(each, vectors(each), now=NOW)


def answers(index: Index) -> list[object]:
    """All that a search can tell, in terms of ids; of equal scores the lower id is first."""
    told: list[object] = []
    with index.reader() as reader:
        for filters in FILTERS:
            for words in (("soil",), ("the", "rain", "seed"), ("sun", "nowhere", "soil")):
                by_words = reader.match_words(words, filters, limit=4, bm25=Bm25Parameters())
                ids = {each.number: each.chunk.id for each in reader.chunks([m.number for m in by_words.matches])}
                rows = [(-m.score, ids[m.number], tuple(sorted(m.by.items()))) for m in by_words.matches]
                told.append((filters, words, by_words.dropped, sorted(rows)))
        told.append((reader.edges(), reader.versions(), reader.problems(), reader.speakers(sensitive=True)))
        told.append(document_scores(reader))
        told.append(known(reader))
        told.append(replace(reader.counts(), size=0, removed=0))
    return told


def known(reader: IndexReader) -> list[object]:
    """All that is told of facts, topics and names."""
    names = [reader.entity_names(name) for name in ("a", "alias", "Ann")]
    paths = [reader.edges([path]) for path in PATHS]
    told = [
        reader.claim_conflicts(),
        reader.duplicate_ids(),
        reader.topics(),
        reader.bonds(IDS),
        reader.bonds(IDS[:1]),
    ]
    return [*map(reader.facts, QUERIES), *told, *names, *paths]


def document_scores(reader: IndexReader) -> list[object]:
    """How every chunk stands, what its whole document scores, and how alike documents are."""
    by_words = reader.match_words(WORDS, Filters(archived=True), limit=99, bm25=Bm25Parameters(common=1.0))
    attributes = sorted(
        reader.chunk_attributes([match.number for match in by_words.matches]).values(), key=lambda each: each.chunk_id
    )
    told: list[object] = []
    for words in (("soil",), ("the", "rain", "sun")):
        scores = reader.score_documents(words, attributes, bm25=Bm25Parameters(b=0.5))
        told += [
            (
                each.chunk_id,
                each.document,
                each.last - each.first,
                each.path,
                each.turn,
                each.voice,
                each.speaker,
                each.updated,
                each.importance,
                score,
            )
            for each, score in zip(attributes, scores, strict=True)
        ]
    documents = sorted({each.document: each for each in attributes}.values(), key=lambda each: each.document)
    return [*told, *reader.document_similarity(documents, version=VERSION, top=3)]


def senses(index: Index) -> list[object]:
    """All that a search by meaning can tell, in terms of ids."""
    told: list[object] = []
    with index.reader() as reader:
        for filters in FILTERS:
            near = reader.match_vector(vector("rain"), filters, version=VERSION, limit=3)
            ids = {each.number: each.chunk.id for each in reader.chunks([m.number for m in near])}
            told.append(sorted((-m.best, ids[m.number], m.cosine, m.part, m.sentence) for m in near))
            assert near == reader.score_vector(vector("rain"), [match.number for match in near], version=VERSION)
        told += [(each.topic, each.vector.tolist()) for each in reader.centroids(VERSION)]
    return told


def nearly(one: object, other: object) -> bool:
    """Whether they are equal but for the last digits of numbers."""
    if isinstance(one, float) and isinstance(other, float):
        return one == pytest.approx(other, abs=1e-9)
    if isinstance(one, tuple | list) and isinstance(other, tuple | list):
        return len(one) == len(other) and all(map(nearly, one, other))
    return one == other


@pytest.mark.requirement("D-68", "D-66", "V-27")
@settings(max_examples=rounds(25, long=500))
@given(st.lists(steps, max_size=14))
def test_step_by_step_is_the_same_as_from_nothing(todo: list[Step]) -> None:
    """Whatever came before, the same ids, order and scores, bit by bit; and those of a plain count.

    By meaning the plain count agrees bit by bit too; by words it adds up in another order.
    """
    with TemporaryDirectory() as folder:
        stepped = SqliteIndex(
            Path(folder, "a.db"), user="me", linker=PathLinker(), rules=PlainRules(), min_chunks=2, max_chunks=6
        )
        held: dict[str, Document] = {}
        for step in todo:
            do(stepped, step, held)
        shuffled = sorted(held.values(), key=lambda each: each.title + each.id)
        rebuilt = SqliteIndex(Path(folder, "b.db"), user="me", linker=PathLinker(), rules=PlainRules())
        counted = InMemoryIndex("me", PathLinker(), PlainRules())
        build(rebuilt, shuffled)
        build(counted, [*held.values()])

        try:
            assert answers(stepped) == answers(rebuilt)
            assert senses(stepped) == senses(rebuilt) == senses(counted)
            assert nearly(answers(stepped), answers(counted))
        finally:
            stepped.close()
            rebuilt.close()


@settings(max_examples=rounds(6, long=200))
@given(st.lists(steps, min_size=4, max_size=14))
def test_postgresql_step_by_step_is_the_same_as_sqlite_from_nothing(todo: list[Step]) -> None:
    """Every result, bit by bit, whatever came before."""
    stepped = new_postgresql_index(min_chunks=2, max_chunks=6)
    held: dict[str, Document] = {}
    for step in todo:
        do(stepped, step, held)
    with TemporaryDirectory() as folder:
        rebuilt = SqliteIndex(Path(folder, "b.db"), user="me", linker=PathLinker(), rules=PlainRules())
        build(rebuilt, [*held.values()][::-1])

        try:
            assert answers(stepped) == answers(rebuilt)
            assert senses(stepped) == senses(rebuilt)
        finally:
            rebuilt.close()


@pytest.mark.requirement("I-53")
@settings(max_examples=rounds(40, long=1000))
@given(st.lists(fact_steps, min_size=3, max_size=9))
def test_facts_step_by_step_are_the_same_as_from_nothing(todo: list[Step]) -> None:
    """Facts, their ends, bonds, topics and what is valid when, whatever came before and whatever competes."""
    with TemporaryDirectory() as folder:
        stepped = SqliteIndex(Path(folder, "a.db"), user="me", linker=PathLinker(), rules=PlainRules())
        held: dict[str, Document] = {}
        for step in todo:
            do(stepped, step, held)
        rebuilt = SqliteIndex(Path(folder, "b.db"), user="me", linker=PathLinker(), rules=PlainRules())
        counted = InMemoryIndex("me", PathLinker(), PlainRules())
        build(rebuilt, [*held.values()][::-1])
        build(counted, [*held.values()])

        try:
            assert told_of_facts(stepped) == told_of_facts(rebuilt) == told_of_facts(counted)
        finally:
            stepped.close()
            rebuilt.close()


def told_of_facts(index: Index) -> list[object]:
    """All that is told of facts, and how many documents are valid at each moment."""
    with index.reader() as reader:
        middles = [(each.topic, each.vector.tolist()) for each in reader.centroids(VERSION)]
        return [known(reader), middles, [reader.count_documents(filters) for filters in FILTERS]]
