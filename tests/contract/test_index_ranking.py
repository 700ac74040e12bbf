"""Every index compares sentences, returns chunk attributes and speakers, and scores whole documents."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from commonplace.index.base import Bm25Parameters, ChunkAttributes, Index, IndexReader, VectorMatch
from commonplace.model import Document, Filters
from tests.contract.test_index import NOW, add
from tests.index_documents import VERSION, document, numbers, paths, vector

BM25 = Bm25Parameters(b=0.5)


def every_number(reader: IndexReader) -> list[int]:
    return [number for number in range(1, 200) if reader.chunks([number])]


def senses(reader: IndexReader, text: str) -> Mapping[str, VectorMatch]:
    """Each chunk compared with the text, by the path of its document."""
    matches = reader.score_vector(vector(text), every_number(reader), version=VERSION)
    return dict(zip(paths(reader, [match.number for match in matches]), matches, strict=True))


def document_scores(reader: IndexReader, *words: str, bm25: Bm25Parameters = BM25) -> dict[str, float]:
    """The score of each whole document, by its path."""
    attributes = {each.document: each for each in reader.chunk_attributes(every_number(reader)).values()}
    documents = [*attributes.values()]
    scores = reader.score_documents(words, documents, bm25=bm25)
    return {each.path: score for each, score in zip(documents, scores, strict=True)}


def test_the_best_sentence_is_returned_with_the_best_part(index: Index) -> None:
    """For a chunk without sentences it is the best part."""
    add(
        index,
        document("fine.md", "soil", sentences=[("sand", "rain", "clay")]),
        document("plain.md", "rain", parts=[("water", "rain")]),
    )

    with index.reader() as reader:
        found = senses(reader, "rain")
        assert found["fine.md"].sentence == pytest.approx(1, abs=1e-3)
        assert found["fine.md"].best < 0.99
        assert found["plain.md"].sentence == found["plain.md"].best == pytest.approx(1, abs=1e-3)
        assert reader.counts().vectors == {VERSION: 6}
        assert reader.versions() == {VERSION: 2}


def test_a_chunk_is_found_by_its_parts_alone(index: Index) -> None:
    """A sentence equal to the query neither brings its chunk in nor changes the order."""
    add(
        index,
        document("near.md", "soil"),
        document("far.md", "clay", sentences=[("soil",)]),
    )

    with index.reader() as reader:
        (found,) = reader.match_vector(vector("soil"), Filters(), version=VERSION, limit=1)
        assert paths(reader, [found.number]) == ["near.md"]
        both = reader.match_vector(vector("soil"), Filters(), version=VERSION, limit=2)
        assert paths(reader, [match.number for match in both]) == ["near.md", "far.md"]
        assert both[1].sentence == pytest.approx(both[0].best, abs=1e-6)


def test_a_cosine_does_not_depend_on_how_the_chunk_was_found(index: Index) -> None:
    """Found or asked for, in any order: the same numbers to the last digit."""
    add(
        index,
        document("a.md", "soil", "sand", parts=[("soil", "x"), ("sand",)], sentences=[("y",), ()]),
        document("b.md", "rain", sentences=[("u", "v")]),
    )

    with index.reader() as reader:
        found = reader.match_vector(vector("rain"), Filters(), version=VERSION, limit=9)
        order = [match.number for match in found][::-1]
        assert reader.score_vector(vector("rain"), order, version=VERSION) == found[::-1]
        assert reader.score_vector(vector("rain"), [10**9, order[0]], version=VERSION) == (found[-1],)
        assert reader.score_vector(vector("rain"), [], version=VERSION) == ()


def test_sentences_of_a_chunk_without_parts_have_no_vectors(index: Index) -> None:
    """What may not be encoded has no parts; nothing of it is compared."""
    add(index, document("a.md", "soil", "rain", parts=[(), ("rain",)], sentences=[("soil",), ()]))

    with index.reader() as reader:
        assert len(reader.match_vector(vector("soil"), Filters(), version=VERSION, limit=9)) == 1
    assert len(index.part_hashes("vault", "a.md")) == 1


UPDATED = document("a.md").updated


def test_chunk_attributes_have_what_ranking_needs(index: Index) -> None:
    """Document, range of its chunks, path if links can point to it, line, place, speaker, last update."""
    note = document("Inbox/a.md", "soil", "rain", place="inbox")
    talk = document(
        "t1",
        "soil",
        "soil",
        source="chat",
        voices=["user", "assistant"],
        speakers=["Ann", ""],
        times=["2026-02-01T10:00:00Z", ""],
    )
    add(index, document("gone.md", "soil"), note, talk, document("s.md", "soil", place="staging"))
    index.remove("vault", "gone.md", now=NOW)

    with index.reader() as reader:
        first, second = sorted(numbers(reader.match_words(["soil"], Filters(sources=("chat",)), limit=9, bm25=BM25)))
        attributes = reader.chunk_attributes([second, first, first - 2, 10**9])
        assert set(attributes) == {first - 2, first, second}
        assert attributes[first] == ChunkAttributes(
            first,
            talk.chunks[0].id,
            talk.id,
            first,
            second,
            "",
            1,
            "",
            "user",
            "Ann",
            "2026-02-01T10:00:00Z",
            talk.updated,
            source="chat",
        )
        assert attributes[second] == ChunkAttributes(
            second, talk.chunks[1].id, talk.id, first, second, "", 2, "", "assistant", "", "", UPDATED, source="chat"
        )
        assert attributes[first - 2] == ChunkAttributes(
            first - 2,
            note.chunks[0].id,
            note.id,
            first - 2,
            first - 1,
            "Inbox/a.md",
            1,
            "inbox",
            "",
            "",
            "",
            note.updated,
            source="vault",
        )
        assert reader.chunk_attributes([]) == {}
        assert first - 3 not in reader.chunk_attributes([first - 3])


def test_speakers_are_those_of_the_current_documents(index: Index) -> None:
    """As they are written; a touch keeps them, a new version and a rename bring theirs, a removal takes them."""

    def speakers() -> set[str]:
        with index.reader() as reader:
            assert reader.speakers(sensitive=True) == reader.speakers(sensitive=True)
            return set(reader.speakers(sensitive=True))

    talk = document("a", "soil", "rain", "sand", speakers=["Ann", "Zoë \udcff", ""])
    assert speakers() == set()
    add(index, talk, document("b", "soil", speakers=["Bob"]), document("c", "soil", speakers=["Ann"]))
    assert speakers() == {"Ann", "Bob", "Zoë \ufffd"}
    index.touch(replace(talk, chunks=()), now=NOW)
    assert speakers() == {"Ann", "Bob", "Zoë \ufffd"}
    index.rename("a", document("d", "soil", "rain", "sand", speakers=["Eve", "", ""]), now=NOW)
    assert speakers() == {"Ann", "Bob", "Eve"}
    add(index, document("b", "soil"))
    assert speakers() == {"Ann", "Eve"}
    index.remove("vault", "c", now=NOW)
    assert speakers() == {"Eve"}
    index.erase("vault", "d")
    assert speakers() == set()


def test_speakers_of_sensitive_documents_are_separate(index: Index) -> None:
    """A name that occurs in both is returned; a touch that makes a document sensitive counts at once."""
    talk = document("a", "soil", "rain", speakers=["Ann", "Bob"])
    add(index, talk, document("s", "soil", "rain", speakers=["Ann", "Eve"], sensitive=True))
    with index.reader() as reader:
        assert reader.speakers(sensitive=False) == {"Ann", "Bob"}
        assert reader.speakers(sensitive=True) == {"Ann", "Bob", "Eve"}
    index.touch(replace(talk, chunks=(), sensitive=True), now=NOW)

    with index.reader() as reader:
        assert reader.speakers(sensitive=False) == set()
        assert reader.speakers(sensitive=True) == {"Ann", "Bob", "Eve"}


def expected(often: Sequence[float], worths: Sequence[float], *, longer: float) -> float:
    """The score that the contract states, from each word's count and weight."""
    shares = [
        worth * many * 2.2 / (many + 1.2 * (0.5 + 0.5 * longer)) for many, worth in zip(often, worths, strict=True)
    ]
    return sum(shares) / (sum(worths) * 2.2)


def worth(df: int, total: int) -> float:
    return math.log(1 + (total - df + 0.5) / (df + 0.5))


def test_a_document_is_scored_as_one_text(index: Index) -> None:
    """Words of all its bodies count together, its title once; its length is that of all its chunks."""
    add(
        index,
        document("a.md", "soil soil x", "soil rain", "y y y y", title="rain"),
        document("b.md", "rain"),
        document("c.md", "z z"),
        document("empty.md"),
        document("staged.md", "soil " * 50, place="staging"),
    )
    total, average = 5, 12 / 3
    worths = [worth(2, total), worth(4, total)]

    with index.reader() as reader:
        found = document_scores(reader, "soil", "rain", bm25=replace(BM25, common=1.0))
    assert found["a.md"] == pytest.approx(expected([3, 3 + 1], worths, longer=9 / average), abs=1e-12)
    assert found["b.md"] == pytest.approx(expected([0, 1], worths, longer=1 / average), abs=1e-12)
    assert found["c.md"] == 0


def test_what_a_program_said_counts_less(index: Index) -> None:
    """Its words and its length by the weight of a reply; what it repeats of the title counts whole."""
    said = document("said.md", "soil", "rain rain", title="sun", voices=["user", "user"])
    replied = document("replied.md", "soil", "rain rain", title="sun", voices=["user", "assistant"])
    add(index, said, replied)
    average = (1 + 2 + 1 + 0.2 * 2) / 2

    with index.reader() as reader:
        found = document_scores(reader, "rain", bm25=replace(BM25, common=1.0))
        whole = document_scores(reader, "sun", bm25=replace(BM25, common=1.0))
    assert found["said.md"] == pytest.approx(expected([2], [1], longer=3 / average), abs=1e-12)
    assert found["replied.md"] == pytest.approx(expected([0.4], [1], longer=1.4 / average), abs=1e-12)
    assert whole["replied.md"] == pytest.approx(expected([3], [1], longer=1.4 / average), abs=1e-12)


def test_a_long_document_over_several_segments_is_still_one(index: Index) -> None:
    """The score of a document of twenty chunks, written before and after others, is that of its text."""
    add(index, *(document(f"{n}.md", "sand") for n in range(5)))
    long = document("long.md", *[f"soil n{n}" for n in range(20)])
    add(index, long, *(document(f"{n}.md", "sand") for n in range(5, 12)))

    with index.reader() as reader:
        average = (40 + 12) / 13
        assert document_scores(reader, "soil", "n7")["long.md"] == pytest.approx(
            expected([20, 1], [worth(20, 32), worth(1, 32)], longer=40 / average), abs=1e-12
        )


def test_words_too_common_are_left_out_of_whole_documents_too(index: Index) -> None:
    """The same words are dropped as for chunks; no words, unknown words and no documents score nothing."""
    add(index, document("a.md", "the soil rain"), *(document(f"{n}.md", f"the n{n}") for n in range(9)))

    with index.reader() as reader:
        assert document_scores(reader, "the", "soil", "rain") == document_scores(reader, "soil", "rain")
        assert document_scores(reader, "the", "soil") != document_scores(reader, "soil")
        assert document_scores(reader, "soil", "soil") == document_scores(reader, "soil")
        assert set(document_scores(reader).values()) == set(document_scores(reader, "nowhere").values()) == {0}
        assert reader.score_documents(["soil"], [], bm25=BM25) == []


def test_document_scores_have_the_order_of_the_arguments(index: Index) -> None:
    """A document may be given twice, by any of its chunks."""
    one, other = document("a.md", "soil", "x"), document("b.md", "y", "soil soil")
    add(index, one, other)

    with index.reader() as reader:
        attributes = [*reader.chunk_attributes(every_number(reader)).values()]
        scores = dict(zip(attributes, reader.score_documents(["soil"], attributes, bm25=BM25), strict=True))
        backwards = reader.score_documents(["soil"], attributes[::-1], bm25=BM25)
        assert backwards == [scores[each] for each in attributes[::-1]]
    by_document: dict[str, set[float]] = {}
    for each, score in scores.items():
        by_document.setdefault(each.document, set()).add(score)
    assert [len(by_document[of.id]) for of in (one, other)] == [1, 1]
    assert by_document[one.id] != by_document[other.id]


TALK = document("a", "soil", "rain", voices=["user", "assistant"], speakers=["Ann", ""])


@pytest.mark.parametrize("change", ["touch", "rename"])
def test_who_speaks_is_kept_when_the_rest_changes(index: Index, change: str) -> None:
    """A rename gives the chunks what they say now; a touch leaves them as they are."""
    add(index, TALK)
    moved: Document = document("b", "soil", "rain", voices=["user", "assistant"], speakers=["Eve", ""])
    if change == "touch":
        index.touch(replace(TALK, chunks=(), title="new"), now=NOW)
    else:
        index.rename("a", moved, now=NOW)

    with index.reader() as reader:
        attributes = [*reader.chunk_attributes(every_number(reader)).values()]
        told = {(each.voice, each.speaker) for each in attributes}
        scores = document_scores(reader, "rain")
    assert told == {("user", "Ann" if change == "touch" else "Eve"), ("assistant", "")}
    assert [*scores.values()] == [pytest.approx(expected([0.2], [1], longer=1), abs=1e-12)]
