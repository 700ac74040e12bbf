"""Every index keeps the contract of the seam: SQLite's, with tiny segments or with none, and the one in memory."""

import hashlib
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from commonplace.errors import Conflict, NotFound, UsageError
from commonplace.index.base import Bm25Parameters, Edge, FactQuery, Index, WrittenNote
from commonplace.index.inmemory.store import InMemoryIndex
from commonplace.model import Document, Filters, Problem
from tests.index_documents import (
    VERSION,
    PathLinker,
    PlainRules,
    document,
    entry,
    link,
    numbers,
    paths,
    stored_chunk,
    texts,
    vector,
    vectors,
)

NOW = 1_800_000_000.5
BM25 = Bm25Parameters()


def add(index: Index, *documents: Document) -> None:
    for each in documents:
        index.upsert(each, vectors(each), now=NOW)
        index.optimize()


def by_words(index: Index, *words: str, filters: Filters | None = None, limit: int = 10) -> list[str]:
    """The paths that a search finds, best first."""
    with index.reader() as reader:
        matches = reader.match_words(words, filters or Filters(), limit=limit, bm25=BM25)
        return paths(reader, numbers(matches))


def by_vector(index: Index, text: str, *, filters: Filters | None = None, limit: int = 10) -> list[str]:
    with index.reader() as reader:
        matches = reader.match_vector(vector(text), filters or Filters(), version=VERSION, limit=limit)
        return paths(reader, [match.number for match in matches])


@pytest.mark.requirement("D-48", "D-50", "D-51")
def test_what_was_put_in_comes_back_whole(index: Index) -> None:
    """Every field of a document and its chunk, the heading path too; words, parts and sentences are not returned."""
    whole = document(
        "Projects/Plan.md",
        "soil and seed",
        title="The 'Plan' é",
        sensitive=True,
        kind="idea",
        place="inbox",
        aliases=("P",),
        tags=("a/b",),
        topics=("garden",),
        problems=(Problem("Projects/Plan.md", 3, "broken", "yaml"),),
        metadata={"n": 1, "deep": {"list": [1, None, "x"]}},
        sentences=[("soil", "seed")],
        voices=["user"],
        speakers=["Zoë"],
        times=["2026-02-01T10:00:00Z"],
    )
    add(index, whole)

    with index.reader() as reader:
        matches = reader.match_words(["soil"], Filters(), limit=1, bm25=BM25)
        found = stored_chunk(reader, numbers(matches)[0])
    assert found.document == replace(whole, chunks=(), links=())
    assert found.chunk == replace(whole.chunks[0], words={}, parts=(), sentences=())


@pytest.mark.requirement("D-65")
def test_a_stamp_says_enough_to_see_a_change(index: Index) -> None:
    """Id, hashes, version, times and size, of one document or all of a source; None for a missing one."""
    plan = document("Plan.md", "soil")
    add(index, plan, document("t1", "task", source="task"))
    index.remove("vault", "Plan.md", now=NOW)

    stamp = index.stamp("vault", "Plan.md")
    assert stamp
    assert index.stamps("vault") == {"Plan.md": stamp}
    assert (stamp.id, stamp.content_hash, stamp.made_from) == (plan.id, plan.content_hash, plan.made_from)
    assert (stamp.version, stamp.mtime, stamp.size, stamp.seen, stamp.deleted) == (VERSION, 12.5, plan.size, NOW, True)
    assert index.stamp("task", "Plan.md") is None


@pytest.mark.requirement("D-61")
def test_put_adds_and_never_replaces(index: Index) -> None:
    """An existing key is a Conflict, and its document stays."""
    index.put(document("a.md", "soil"), vectors(document("a.md", "soil")), now=NOW)
    other = document("a.md", "rain")

    with pytest.raises(Conflict):
        index.put(other, vectors(other), now=NOW)
    assert (by_words(index, "soil"), by_words(index, "rain")) == (["a.md"], [])


@pytest.mark.requirement("D-61")
def test_put_all_gives_what_documents_one_by_one_give(index: Index) -> None:
    """Words, vectors, links between the new documents, facts that end each other, and topics."""
    linked = document("a.md", "soil", links=(link("b"),), topics=("garden",))
    entries = [entry("f1", subject="Ada", predicate="lives_in"), entry("f2", subject="Ada", predicate="lives_in")]
    documents = [linked, document("b.md", "soil", "rain"), document("empty.md"), *entries]
    index.put_all([(each, vectors(each)) for each in documents], now=NOW)
    other = InMemoryIndex(user="me", linker=PathLinker(), rules=PlainRules())
    add(other, *documents)

    assert by_words(index, "soil") == by_words(other, "soil") == ["a.md", "b.md"]
    assert by_vector(index, "rain") == by_vector(other, "rain")
    with index.reader() as one, other.reader() as two:
        assert one.edges() == two.edges()
        assert one.facts(FactQuery()) == two.facts(FactQuery())
        assert one.topics() == two.topics()
        assert one.counts().documents == two.counts().documents


@pytest.mark.requirement("D-61")
def test_put_all_adds_all_documents_or_none(index: Index) -> None:
    """A document that exists, or is given twice, is a Conflict; vectors that do not match are refused."""
    add(index, document("a.md", "soil"))
    new = document("b.md", "rain")
    for others in ([document("a.md", "seed")], [new]):
        with pytest.raises(Conflict):
            index.put_all([(each, vectors(each)) for each in (new, *others)], now=NOW)
    with pytest.raises(UsageError):
        index.put_all([(new, vectors(new)), (document("c.md", "seed"), ())], now=NOW)

    assert (by_words(index, "soil"), by_words(index, "rain"), by_words(index, "seed")) == (["a.md"], [], [])


@pytest.mark.requirement("D-62", "D-68")
def test_upsert_replaces_all_of_a_document(index: Index) -> None:
    """Old chunks, words and vectors go with the change that brings the new ones."""
    add(index, document("a.md", "soil", "seed"), document("b.md", "soil"), document("a.md", "rain"))

    assert by_words(index, "seed") == []
    assert by_words(index, "rain") == ["a.md"]
    assert by_words(index, "soil") == ["b.md"]
    assert sorted(by_vector(index, "rain")) == ["a.md", "b.md"]


def test_vectors_that_do_not_match_are_refused_and_change_nothing(index: Index) -> None:
    """A row for each part and each sentence of each chunk, or no version and no vectors."""
    plan = document("a.md", "soil", "seed", sentences=[("soil", "rain"), ()])

    for bad in ([], vectors(plan)[:1], [each[:0] for each in vectors(plan)], [each[:1] for each in vectors(plan)]):
        with pytest.raises(UsageError):
            index.upsert(plan, bad, now=NOW)
    with pytest.raises(UsageError):
        index.upsert(replace(plan, version=""), vectors(plan), now=NOW)
    assert index.stamps("vault") == {}


@pytest.mark.requirement("D-63", "D-69")
def test_a_removed_document_is_found_by_nothing_at_once_and_comes_back(index: Index) -> None:
    """Its vectors are kept: a touch restores it. `remove` returns whether it was there."""
    plan = document("a.md", "soil", links=(link("b"),), problems=(Problem("a.md", 1, "odd", "x"),))
    add(index, plan, document("b.md", "rain"))

    assert [index.remove("vault", "a.md", now=NOW) for _ in range(2)] == [True, False]
    assert not index.remove("vault", "none.md", now=NOW)
    assert by_words(index, "soil") == []
    assert by_vector(index, "soil") == ["b.md"]
    with index.reader() as reader:
        counts = reader.counts()
        assert (counts.chunks, counts.removed, counts.links, reader.problems(), reader.edges()) == (1, 1, 0, (), ())
        assert reader.versions() == {VERSION: 1}
    index.touch(replace(plan, chunks=()), now=NOW)
    assert by_words(index, "soil") == ["a.md"]
    assert by_vector(index, "soil", limit=1) == ["a.md"]


def test_a_document_that_another_writer_has_replaced_is_not_touched(index: Index) -> None:
    """A writer that saw earlier chunks must not put its metadata on the current ones."""
    seen, written_since = document("a.md", "soil"), document("a.md", "rain and seed")
    add(index, written_since)

    with pytest.raises(Conflict):
        index.touch(replace(seen, chunks=()), now=NOW)
    assert index.stamps("vault")["a.md"].made_from == written_since.made_from
    assert by_words(index, "rain") == ["a.md"]


def test_a_removed_document_can_be_replaced(index: Index) -> None:
    """Its key is free for the note that is at its path now."""
    add(index, document("a.md", "soil"))
    index.remove("vault", "a.md", now=NOW)
    add(index, document("a.md", "rain"))

    assert (by_words(index, "soil"), by_words(index, "rain")) == ([], ["a.md"])


def test_purge_drops_what_was_removed_long_ago(index: Index) -> None:
    """What was removed later stays, and can come back."""
    add(index, document("old.md", "soil"), document("new.md", "soil"), document("live.md", "soil"))
    index.remove("vault", "old.md", now=NOW - 100)
    index.remove("vault", "new.md", now=NOW)

    assert index.purge(before=NOW - 50) == 1
    assert set(index.stamps("vault")) == {"new.md", "live.md"}
    assert index.purge(before=NOW - 50) == 0


def test_erase_takes_removed_and_live_documents(index: Index) -> None:
    """Returns whether it was there; other documents are untouched."""
    add(index, document("a.md", "soil"), document("b.md", "soil"), document("c.md", "soil"))
    index.remove("vault", "b.md", now=NOW)

    assert [index.erase("vault", path) for path in ("a.md", "b.md", "b.md")] == [True, True, False]
    assert by_words(index, "soil") == ["c.md"]
    assert by_vector(index, "soil") == ["c.md"]
    assert set(index.stamps("vault")) == {"c.md"}


def test_an_index_knows_the_hashes_of_what_was_encoded(index: Index) -> None:
    """Of a live and of a removed document, in order, sentences after parts; none without vectors, or a document."""
    add(index, document("a.md", "soil", "rain", sentences=[("rain",), ()]), document("b.md", "soil"))
    index.upsert(replace(document("c.md", "soil"), version=""), (), now=NOW)
    index.remove("vault", "b.md", now=NOW)
    soil, rain = (hashlib.sha256(text.encode()).hexdigest() for text in ("soil", "rain"))

    assert index.part_hashes("vault", "a.md") == (soil, rain, rain)
    assert index.part_hashes("vault", "b.md") == (soil,)
    assert index.part_hashes("vault", "c.md") == index.part_hashes("vault", "d.md") == ()


@pytest.mark.requirement("D-66")
def test_a_renamed_document_keeps_its_words_and_vectors(index: Index) -> None:
    """Nothing is encoded again: path, ids and metadata are new, and the old path is gone."""
    add(index, document("a.md", "soil", "seed"))
    index.rename("a.md", document("Projects/b.md", "soil", "seed", kind="idea"), now=NOW)

    assert by_words(index, "soil", filters=Filters(kinds=("idea",))) == ["Projects/b.md"]
    assert by_vector(index, "seed", limit=1) == ["Projects/b.md"]
    assert set(index.stamps("vault")) == {"Projects/b.md"}
    with index.reader() as reader:
        matches = reader.match_words(["seed"], Filters(), limit=1, bm25=BM25)
        found = stored_chunk(reader, numbers(matches)[0])
        assert reader.versions() == {VERSION: 2}
    wanted = document("Projects/b.md", "soil", "seed")
    assert (found.document.id, found.chunk.id) == (wanted.id, wanted.chunks[1].id)


OTHER_CHUNKS: dict[str, Document] = {
    "words": document("b.md", "soil", title="New"),
    "parts": document("b.md", "soil", title="Old", parts=[("soil", "New")]),
    "sentences": document("b.md", "soil", title="Old", parts=[("soil", "water")], sentences=[("New",)]),
    "a sentence that is a part": document("b.md", "soil", title="Old", parts=[("soil", "water", "sand")]),
    "voice": document(
        "b.md", "soil", title="Old", parts=[("soil", "water")], sentences=[("sand",)], voices=["assistant"]
    ),
    "more": document("b.md", "soil", "rain", title="Old"),
    "none": document("b.md", title="Old"),
}


@pytest.mark.parametrize("other", OTHER_CHUNKS)
def test_a_rename_to_other_chunks_is_refused(index: Index, other: str) -> None:
    """The vector of another text is worse than none; nothing changes, not even a removed document at the path."""
    old = document("a.md", "soil", title="Old", parts=[("soil", "water")], sentences=[("sand",)])
    add(index, old, document("b.md", "rain"))
    index.remove("vault", "b.md", now=NOW)

    with pytest.raises(Conflict) as refused:
        index.rename("a.md", OTHER_CHUNKS[other], now=NOW)
    assert refused.value.hint == "Replace it instead."
    assert (by_words(index, "old"), by_vector(index, "soil")) == (["a.md"], ["a.md"])
    assert set(index.stamps("vault")) == {"a.md", "b.md"}


def test_a_rename_of_what_is_not_encoded_looks_at_words_alone(index: Index) -> None:
    """There are no vectors that could be wrong."""
    add(index, document("a.md", "soil", version="", parts=[("soil", "Old")]))
    index.rename("a.md", document("b.md", "soil", parts=[("soil", "New")]), now=NOW)

    stamp = index.stamp("vault", "b.md")
    assert stamp
    assert stamp.version == ""
    assert (by_words(index, "soil"), by_vector(index, "soil")) == (["b.md"], [])


def test_a_rename_onto_the_path_of_a_removed_document_takes_it(index: Index) -> None:
    """Its key is freed, with everything that depends on it."""
    add(index, document("a.md", "soil"), document("b.md", "rain"))
    index.remove("vault", "b.md", now=NOW)
    index.rename("a.md", document("b.md", "soil"), now=NOW)

    assert by_words(index, "soil") == ["b.md"]
    assert by_words(index, "rain") == []
    assert set(index.stamps("vault")) == {"b.md"}


def test_a_rename_onto_a_live_document_is_refused(index: Index) -> None:
    """Nothing is lost; nor by renaming or touching a missing document."""
    add(index, document("a.md", "soil"), document("b.md", "rain"))

    with pytest.raises(Conflict):
        index.rename("a.md", document("b.md", "soil"), now=NOW)
    with pytest.raises(NotFound):
        index.rename("none.md", document("c.md", "soil"), now=NOW)
    with pytest.raises(NotFound):
        index.touch(document("c.md", "soil"), now=NOW)
    assert (by_words(index, "soil"), by_words(index, "rain")) == (["a.md"], ["b.md"])


@pytest.mark.requirement("I-17")
def test_two_sources_may_say_the_same(index: Index) -> None:
    """Equal text has equal hashes; removing one leaves the other."""
    add(index, document("a.md", "soil"), document("b.md", "soil"), document("a.md", "soil", source="chat"))
    index.erase("vault", "a.md")

    with index.reader() as reader:
        matches = reader.match_words(["soil"], Filters(), limit=9, bm25=BM25).matches
        found = {
            (each.document.source_type, each.document.source_id) for each in reader.chunks([m.number for m in matches])
        }
    assert found == {("vault", "b.md"), ("chat", "a.md")}
    assert len({match.score for match in matches}) == 1


def test_a_document_may_have_no_chunks(index: Index) -> None:
    """An empty note is known, and found by nothing."""
    add(index, document("a.md"), document("b.md", "soil"), document("c.md"))

    assert set(index.stamps("vault")) == {"a.md", "b.md", "c.md"}
    assert by_words(index, "soil") == ["b.md"]
    index.rename("a.md", document("d.md"), now=NOW)
    assert index.erase("vault", "d.md")


@pytest.mark.requirement("D-125", "A-52")
def test_the_chunk_that_says_more_of_the_rarer_words_is_first(index: Index) -> None:
    """A score is from 0 to 1, the sum of the words' contributions."""
    add(
        index,
        document("both.md", "soil and rain"),
        document("title.md", "something else", title="rain"),
        document("often.md", "rain rain rain on the roof"),
        *(document(f"{n}.md", f"and {n}") for n in range(9)),
    )

    with index.reader() as reader:
        matches = reader.match_words(["soil", "rain"], Filters(), limit=9, bm25=BM25).matches
        assert paths(reader, [match.number for match in matches]) == ["both.md", "title.md", "often.md"]
    for match in matches:
        assert 0 < match.score < 1
        assert sum(match.by.values()) == pytest.approx(match.score, abs=1e-12)
    assert set(matches[0].by) == {"soil", "rain"}
    assert set(matches[1].by) == {"rain"}


def test_the_chunks_with_all_of_several_words_are_found_without_a_score(index: Index) -> None:
    """However common the words are, and in whatever field they stand; in the order of their numbers."""
    add(
        index,
        document("Agent/both.md", "soil and rain"),
        document("title.md", "soil", title="rain"),
        document("one.md", "rain and wind"),
        document("again.md", "rain on soil"),
        *(document(f"{n}.md", "soil and wind") for n in range(9)),
    )
    index.remove("vault", "again.md", now=NOW)

    with index.reader() as reader:

        def found(*words: str, filters: Filters | None = None) -> list[str]:
            numbers = reader.chunks_with(words, filters or Filters())
            assert [*numbers] == sorted(numbers)
            return paths(reader, numbers)

        assert found("rain", "soil") == found("soil", "rain", "soil") == ["Agent/both.md", "title.md"]
        assert found("soil", "rain", filters=Filters(path="Agent/")) == ["Agent/both.md"]
        assert found("rain") == ["Agent/both.md", "title.md", "one.md"]
        assert len(found("soil", "wind")) == 9
        assert found("rain", "snow") == found("snow") == found() == []


def test_words_too_common_are_dropped_while_two_rarer_remain(index: Index) -> None:
    """`the` stands everywhere; alone, or with one other word, it counts."""
    add(index, document("a.md", "the soil rain"), *(document(f"{n}.md", f"the n{n}") for n in range(9)))

    with index.reader() as reader:

        def dropped(*words: str) -> tuple[str, ...]:
            return reader.match_words(words, Filters(), limit=9, bm25=BM25).dropped

        assert dropped("the", "soil", "rain") == ("the",)
        assert dropped("the", "soil") == ()
        assert dropped("the", "soil", "nowhere") == ()
        assert len(reader.match_words(["the"], Filters(), limit=99, bm25=BM25).matches) == 10


def test_repeated_words_count_once(index: Index) -> None:
    """A query with a word twice is the same query."""
    add(index, document("a.md", "soil rain"), document("b.md", "soil soil"))

    with index.reader() as reader:
        once = reader.match_words(["soil", "rain"], Filters(), limit=9, bm25=BM25)
        assert reader.match_words(["soil", "rain", "soil"], Filters(), limit=9, bm25=BM25) == once


def test_ties_are_not_cut(index: Index) -> None:
    """Equal matches are all returned: the caller decides which to show."""
    add(index, *(document(f"{n}.md", "soil") for n in range(20)), document("more.md", "soil soil"))

    assert by_words(index, "soil", limit=1) == ["more.md"]
    assert len(by_words(index, "soil", limit=3)) == 21
    assert len(by_vector(index, "soil", limit=3)) == 20
    assert by_words(index, "soil", limit=0) == []
    assert by_vector(index, "soil", limit=0) == []


def test_a_search_without_known_words_finds_nothing(index: Index) -> None:
    """No words, unknown words, an empty index: no error."""
    assert by_words(index, "soil") == []
    assert by_vector(index, "soil") == []
    add(index, document("a.md", "soil"))

    assert by_words(index) == []
    assert by_words(index, "unknown") == []


@pytest.mark.requirement("D-72", "D-52")
def test_a_cosine_is_that_of_the_vectors(index: Index) -> None:
    """Half the squared distance of unit vectors taken from 1 is their cosine, but for what 8 bits leave out."""
    add(index, document("a.md", "soil"), document("b.md", "rain"))

    with index.reader() as reader:
        matches = reader.match_vector(vector("soil"), Filters(), version=VERSION, limit=9)
        for match, text in zip(matches, texts(reader, [each.number for each in matches]), strict=True):
            apart = np.linalg.norm((vector("soil").astype(float) - vector(text)) / 32767)
            assert match.best == pytest.approx(1 - apart**2 / 2, abs=1e-2)
        assert [match.best for match in matches] == sorted((match.best for match in matches), reverse=True)


def test_the_best_part_of_a_chunk_counts(index: Index) -> None:
    """A chunk with several vectors is one match, with the cosine of the chunk itself beside that of its best part."""
    add(
        index,
        document("many.md", "soil", "sand", parts=[("soil", "water", "rain"), ("sand",)]),
        document("one.md", "clay"),
    )

    with index.reader() as reader:
        matches = reader.match_vector(vector("rain"), Filters(), version=VERSION, limit=9)
        assert len(matches) == len({match.number for match in matches}) == 3
        best = matches[0]
        assert texts(reader, [best.number]) == ["soil"]
        assert best.part == 2
        assert best.best == pytest.approx(1, abs=1e-3)
        (itself,) = reader.score_vector(vector("soil"), [best.number], version=VERSION)
        assert (itself.part, itself.cosine) == (0, itself.best)
        assert reader.counts().vectors == {VERSION: 5}


def test_the_limit_counts_chunks_though_each_has_many_vectors(index: Index) -> None:
    """As many chunks come back as were asked for."""
    parts = [tuple(f"{n} {part}" for part in range(30)) for n in range(40)]
    add(index, document("a.md", *(f"text {n}" for n in range(40)), parts=parts))

    with index.reader() as reader:
        assert len(reader.match_vector(vector("x"), Filters(), version=VERSION, limit=40)) == 40


def test_vectors_of_two_versions_are_never_compared(index: Index) -> None:
    """A search sees the vectors of one encoder alone; chunks without any are counted under ""."""
    old, new = document("old.md", "soil"), document("new.md", "soil", version="test@2")
    bare = document("bare.md", "soil", version="")
    add(index, old, new, bare)

    with index.reader() as reader:
        for version, path in ((VERSION, "old.md"), ("test@2", "new.md")):
            matches = reader.match_vector(vector("soil"), Filters(), version=version, limit=9)
            assert paths(reader, [match.number for match in matches]) == [path]
        every = numbers(reader.match_words(["soil"], Filters(), limit=9, bm25=BM25))
        assert len(every) == 3
        assert len(reader.score_vector(vector("soil"), every, version=VERSION)) == 1
        assert reader.match_vector(vector("soil"), Filters(), version="test@3", limit=9) == ()
        assert reader.versions() == {VERSION: 1, "test@2": 1, "": 1}
        assert reader.counts().waiting == 1


def test_a_chunk_may_have_no_vector_in_a_document_that_has_a_version(index: Index) -> None:
    """What may not be shown to the encoder is found by words, and waits for nothing."""
    add(index, document("a.md", "soil", "rain", parts=[(), ("rain",)]))

    assert by_vector(index, "soil") == ["a.md"]
    assert by_words(index, "soil") == ["a.md"]
    with index.reader() as reader:
        assert reader.versions() == {VERSION: 1}
        assert reader.counts().waiting == 0


FILTERED: dict[str, tuple[Filters, set[str]]] = {
    "source": (Filters(sources=("task", "chat")), {"t1"}),
    "kind": (Filters(kinds=("IDEA",)), {"Projects/x.md"}),
    "folder": (Filters(path="Projects"), {"Projects/x.md", "Projects/sub/y.md"}),
    "folder/": (Filters(path="Projects/sub/"), {"Projects/sub/y.md"}),
    "file": (Filters(path="Projects/x.md"), {"Projects/x.md"}),
    "outside a folder": (Filters(outside=("Projects",)), {"Projects2/z.md", "it's 100%_\".md", "t1"}),
    "outside a folder/": (
        Filters(outside=("Projects/sub/",)),
        {"Projects/x.md", "Projects2/z.md", "it's 100%_\".md", "t1"},
    ),
    "outside two folders": (Filters(outside=("Projects", "Projects2")), {"it's 100%_\".md", "t1"}),
    "in a folder, outside another": (Filters(path="Projects", outside=("Projects/sub",)), {"Projects/x.md"}),
    "outside what it is in": (Filters(path="Projects/sub", outside=("Projects",)), set()),
    "part of a name": (Filters(path="Proj"), set()),
    "wildcard in a path": (Filters(path="Pr%"), set()),
    "wildcard in another path": (Filters(path="Project_"), set()),
    "case of a path": (Filters(path="projects"), set()),
    "tag": (Filters(tags=("home/Garden",)), {"Projects/x.md"}),
    "parent of a tag": (Filters(tags=("home",)), {"Projects/x.md", "Projects2/z.md"}),
    "part of a tag": (Filters(tags=("hom", "%", "home/gard")), set()),
    "topic": (Filters(topics=("WATER",)), {"Projects2/z.md"}),
    "since": (Filters(since="2026-04-01T00:00:00Z"), {"Projects2/z.md"}),
    "until": (Filters(until="2026-03-01T09:12:44Z"), set()),
    "until just after": (
        Filters(until="2026-03-01T09:12:45Z"),
        {"Projects/x.md", "Projects/sub/y.md", "t1", "it's 100%_\".md"},
    ),
    "since and source": (Filters(since="2026-04-01T00:00:00Z", sources=("task",)), set()),
    "odd path": (Filters(path="it's 100%_\".md"), {"it's 100%_\".md"}),
    "archived": (
        Filters(archived=True, path="Old"),
        {"Old/archived.md", "Old/superseded.md", "Old/deleted.md"},
    ),
    "not archived": (Filters(path="Old"), set()),
    "entity by title": (Filters(entities=("Project X",)), {"Projects/x.md", "Projects/sub/y.md"}),
    "entity by alias": (Filters(entities=("ex",)), {"Projects/x.md", "Projects/sub/y.md"}),
    "entity by path": (Filters(entities=("Projects/x.md",)), {"Projects/x.md", "Projects/sub/y.md"}),
    "entity unknown": (Filters(entities=("nobody",)), set()),
    "one of two entities": (Filters(entities=("nobody", "z")), {"Projects2/z.md"}),
    "sensitive only": (Filters(sensitive="only"), {"Projects/sub/y.md"}),
    "sensitive out": (Filters(path="Projects", sensitive="out"), {"Projects/x.md"}),
}


@pytest.mark.requirement("D-74", "D-75")
@pytest.mark.parametrize("name", FILTERED)
def test_filters_keep_what_fits_and_nothing_else(index: Index, name: str) -> None:
    """By words and by vector alike; the text of a filter is never a pattern."""
    filters, expected = FILTERED[name]
    add(
        index,
        document("Projects/x.md", "soil", title="Project X", kind="idea", tags=("Home/Garden",), aliases=("ex",)),
        document("Projects/sub/y.md", "soil", links=(link("ex"),), sensitive=True),
        document("Projects2/z.md", "soil", topics=("Water",), tags=("home",), updated="2026-04-01T00:00:00Z"),
        document("it's 100%_\".md", "soil"),
        document("t1", "soil", source="task"),
        document("Old/archived.md", "soil", place="archive"),
        document("Old/superseded.md", "soil", status="superseded"),
        document("Old/deleted.md", "soil", status="deleted"),
        document("Old/staged.md", "soil", place="staging"),
    )

    assert set(by_words(index, "soil", filters=filters)) == expected
    assert set(by_vector(index, "soil", filters=filters)) == expected


@pytest.mark.requirement("D-74")
def test_a_folder_as_a_filter_keeps_no_path_that_only_begins_with_its_name(index: Index) -> None:
    """Names whose next character sorts before a slash, and names whose next character sorts after it, are outside."""
    outside = ("Projects.md", "Projects-old/x.md", "Projects old/x.md", "Projects0/x.md", "Projectsx.md")
    add(index, *(document(path, "soil") for path in ("Projects/x.md", "Projects/.md", *outside)))

    for path in ("Projects", "Projects/"):
        assert set(by_words(index, "soil", filters=Filters(path=path))) == {"Projects/x.md", "Projects/.md"}
        assert set(by_vector(index, "soil", filters=Filters(path=path))) == {"Projects/x.md", "Projects/.md"}


@pytest.mark.requirement("D-70")
@pytest.mark.parametrize("index", ["sqlite", "large-segments", "in-memory"], indirect=True)
def test_a_filter_that_keeps_one_of_two_thousand_does_not_starve(index: Index) -> None:
    """The one is found though all others are nearer; its word score is the same as without the filter."""
    many = document("many.md", *["soil"] * 2000)
    add(index, many, document("one.md", "soil rain rain rain rain"))
    only = Filters(path="one.md")

    assert by_words(index, "soil", filters=only, limit=1) == ["one.md"]
    assert by_vector(index, "soil", filters=only, limit=1) == ["one.md"]
    with index.reader() as reader:
        (alone,) = reader.match_words(["soil"], only, limit=1, bm25=BM25).matches
        among = reader.match_words(["soil"], Filters(), limit=2001, bm25=BM25).matches
        assert alone in among


def test_links_follow_the_notes_that_come_and_go(index: Index) -> None:
    """Resolved when the note comes, moved with it, and unresolved when it is removed; other links stay."""
    add(index, document("a.md", "x", links=(link("b", 3), link("Nobody", 4), link("", 5))))

    def edges(*of: str) -> list[Edge]:
        with index.reader() as reader:
            return list(reader.edges(of))

    nobody = Edge("a.md", "Nobody", None, 4)
    assert edges() == [Edge("a.md", "b", None, 3), nobody]
    add(index, document("b.md", "y"))
    assert edges() == [Edge("a.md", "b", "b.md", 3), nobody]
    assert edges("b.md") == [Edge("a.md", "b", "b.md", 3)]
    index.rename("b.md", document("z/c.md", "y", aliases=("B",)), now=NOW)
    assert edges("z/c.md") == [Edge("a.md", "b", "z/c.md", 3)]
    index.touch(document("z/c.md", "y"), now=NOW)
    assert edges("z/c.md") == []
    index.touch(document("z/c.md", "y", aliases=("nobody",)), now=NOW)
    assert edges() == [Edge("a.md", "b", None, 3), Edge("a.md", "Nobody", "z/c.md", 4)]
    index.remove("vault", "z/c.md", now=NOW)
    assert [edge.path for edge in edges()] == [None, None]
    add(index, document("z/c.md", "new", aliases=("b",)))
    assert [edge.path for edge in edges()] == ["z/c.md", None]
    with index.reader() as reader:
        assert (reader.counts().links, reader.counts().unresolved) == (2, 1)
    index.erase("vault", "z/c.md")
    assert [edge.path for edge in edges()] == [None, None]


def test_links_resolve_to_notes_only(index: Index) -> None:
    """A task may link to a note, and is not itself a note."""
    add(index, document("t1", "x", source="task", links=(link("b"), link("t1"))), document("b.md", "y"))

    with index.reader() as reader:
        assert [edge.path for edge in reader.edges()] == ["b.md", None]


@pytest.mark.requirement("V-33")
def test_marked_notes_are_listed_with_the_hash_of_their_text(index: Index) -> None:
    """By `memory: source` in the frontmatter, in whatever case; not sensitive ones, and not what is no note."""

    def marked(path: str, mark: object, **fields: Any) -> Document:
        return replace(document(path, "soil", **fields), metadata={"frontmatter": {"memory": mark}})

    own = marked("a.md", " Source ")
    others = [marked("b.md", "off"), marked("c.md", ["source"]), marked("d.md", None), document("e.md", "rain")]
    add(index, own, *others, marked("f.md", "source", sensitive=True), marked("t", "source", source="task"))

    with index.reader() as reader:
        assert reader.memory_sources() == {"a.md": own.content_hash}


def test_notes_of_templates_are_found_by_their_key(index: Index) -> None:
    """Wherever they are, sensitive ones too; what is no note, or has another key, is not."""

    def written(path: str, key: object, template: str = "meeting", **fields: Any) -> Document:
        keys = {"idempotency_key": key, "template": template, "source_version": "v1"}
        return replace(document(path, "soil", **fields), metadata={"frontmatter": keys})

    notes = [written("b.md", "e1"), written("a.md", "e2", sensitive=True), written("c.md", "day", "daily")]
    add(index, *notes, written("d.md", ["e1"]), written("t", "e1", source="task"), document("e.md", "rain"))

    with index.reader() as reader:
        assert reader.written_notes(key="e1") == (WrittenNote("b.md", "e1", "meeting", "v1"),)
        assert [each.path for each in reader.written_notes(template="meeting")] == ["a.md", "b.md"]
        assert [each.path for each in reader.written_notes()] == ["a.md", "b.md", "c.md"]


def test_counts_and_problems(index: Index) -> None:
    """By source, with what is sensitive and what is wrong."""
    odd = Problem("b.md", 2, "odd", "x"), Problem("a.md", 9, "worse", "y")
    add(index, document("b.md", "soil", "rain", problems=odd, sensitive=True), document("t", "x", source="task"))
    index.record_sync("2026-03-01T09:12:44Z")

    with index.reader() as reader:
        counts = reader.counts()
        assert reader.problems() == (odd[1], odd[0])
    assert (counts.documents, counts.chunks, counts.sensitive, counts.problems) == ({"vault": 1, "task": 1}, 3, 1, 2)
    assert (counts.vectors, counts.waiting, counts.synced) == ({VERSION: 3}, 0, "2026-03-01T09:12:44Z")


def test_it_remembers_up_to_which_commit_it_follows_the_history(index: Index) -> None:
    """With what was derived until then; it is moved on only from the commit that the caller knew."""
    assert index.followed_history() == ("", "")
    index.advance_history("a", "b")
    assert index.followed_history() == ("", "")

    index.follow_history("a", "derived")
    index.advance_history("x", "b")
    assert index.followed_history() == ("a", "derived")
    index.advance_history("a", "b")

    assert index.followed_history() == ("b", "derived")
    with index.replacement() as fresh:
        assert fresh.followed_history() == ("", "")


def test_a_reader_does_not_see_later_changes(index: Index) -> None:
    """All results of one reader are of one moment."""
    add(index, document("a.md", "soil"))

    with index.reader() as reader:
        before = reader.match_words(["soil"], Filters(), limit=9, bm25=BM25)
        add(index, document("b.md", "soil"))
        index.remove("vault", "a.md", now=NOW)
        assert reader.match_words(["soil"], Filters(), limit=9, bm25=BM25) == before
        assert paths(reader, numbers(before)) == ["a.md"]
    assert by_words(index, "soil") == ["b.md"]


def test_invalid_unicode_is_stored_with_a_replacement_character(index: Index) -> None:
    """A note with bytes that are not UTF-8 is found and shown all the same."""
    add(index, document("a.md", "soil \udcff caf\u00e9 \u0000 end", title="T\udcff", tags=("x\udcff",)))

    with index.reader() as reader:
        (match,) = reader.match_words(["soil"], Filters(), limit=9, bm25=BM25).matches
        assert texts(reader, [match.number]) == ["soil \ufffd caf\u00e9 \u0000 end"]


ODD_FILTERS: dict[str, tuple[Filters, set[str]]] = {
    "tag": (Filters(tags=("\ud800",)), {"a.md"}),
    "topic": (Filters(topics=("\ud800",)), {"a.md"}),
    "kind": (Filters(kinds=("\ud800",)), {"a.md"}),
    "entity": (Filters(entities=("\udcff",)), {"a.md", "b.md"}),
    "path": (Filters(path="\ud800"), set()),
    "source": (Filters(sources=("\ud800",)), set()),
    "since": (Filters(since="\ud800"), set()),
    "until": (Filters(until="2\ud800"), {"a.md", "b.md"}),
    "all": (
        Filters(
            tags=("\ud800",),
            entities=("\udcff",),
            path="\ud800",
            kinds=("\ud800",),
            topics=("\ud800",),
            sources=("\ud800",),
        ),
        set(),
    ),
}


@pytest.mark.parametrize("name", ODD_FILTERS)
def test_a_filter_with_invalid_unicode_is_not_an_error(index: Index, name: str) -> None:
    """In labels all invalid Unicode is equal."""
    filters, expected = ODD_FILTERS[name]
    odd = document("a.md", "soil", kind="\udcff", tags=("\udcff",), topics=("\udcff",), aliases=("\udcff",))
    add(index, odd, document("b.md", "soil", links=(link("\udcff"),)))

    assert set(by_words(index, "soil", filters=filters)) == expected
    with index.reader() as reader:
        assert reader.count_documents(filters) == len(expected)


def test_the_next_call_opens_a_closed_index_again(index: Index) -> None:
    """Closing loses nothing."""
    add(index, document("a.md", "soil"))
    index.close()

    assert by_words(index, "soil") == ["a.md"]


def test_a_rebuilt_index_takes_the_place_of_the_old_one_when_it_is_whole(index: Index) -> None:
    """Until then the old one answers; a rebuild that fails changes nothing, and one may follow another."""
    add(index, document("old.md", "soil"))
    with pytest.raises(NotFound), index.replacement() as fresh:
        fresh.touch(document("none.md"), now=NOW)
    assert by_words(index, "soil") == ["old.md"]

    for name in ("one.md", "two.md"):
        with index.replacement() as fresh:
            assert fresh.stamps("vault") == {}
            add(fresh, document(name, "soil"))
            assert name not in by_words(index, "soil")
        assert by_words(index, "soil") == [name]
    add(index, document("more.md", "soil"))
    assert by_words(index, "soil") == ["two.md", "more.md"]
    index.close()
    assert by_words(index, "soil") == ["two.md", "more.md"]
    with index.replacement():
        pass
    assert index.stamps("vault") == {}


def test_chunks_in_also_are_not_cut_off(index: Index) -> None:
    """Chunks that another search found get a word score too, if they have one of the words and pass the filters."""
    add(
        index,
        document("best.md", "soil soil"),
        document("far.md", "soil and a lot of other things"),
        document("x.md", "y"),
    )

    with index.reader() as reader:
        every = numbers(reader.match_words(["soil"], Filters(), limit=9, bm25=BM25))
        (other,) = numbers(reader.match_words(["y"], Filters(), limit=9, bm25=BM25))
        asked = reader.match_words(["soil"], Filters(), limit=1, bm25=BM25, also=[every[1], other])
        assert numbers(asked) == every
        only = Filters(path="best.md")
        assert numbers(reader.match_words(["soil"], only, limit=1, bm25=BM25, also=every)) == every[:1]


def test_counting_documents_that_pass_a_filter(index: Index) -> None:
    """Empty documents count, staged ones do not."""
    inbox = document("Inbox/a.md", "soil", place="inbox")
    add(index, inbox, document("Inbox/b.md"), document("c.md", "soil"), document("s.md", "soil", place="staging"))

    with index.reader() as reader:
        assert [reader.count_documents(each) for each in (Filters(), Filters(path="Inbox"), Filters(path="x"))] == [
            3,
            2,
            0,
        ]
