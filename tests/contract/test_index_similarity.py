"""Every index computes the similarity of documents, to the same six places."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from commonplace.index.base import SIMILARITY_CHUNKS, SIMILARITY_REACH, ChunkAttributes, Index, IndexReader
from commonplace.model import Document
from tests.contract.test_index import NOW, add
from tests.contract.test_index_ranking import every_number
from tests.contract.twins import INDEXES
from tests.index_documents import VERSION, document, vector, vectors

OTHER = "other@1"


def attributes(reader: IndexReader, *paths: str) -> list[ChunkAttributes]:
    """The attributes of a chunk of each document at these paths, in this order."""
    found = {each.path: each for each in reader.chunk_attributes(every_number(reader)).values()}
    return [found[path] for path in paths]


def similarity(index: Index, *paths: str, top: int = 9, version: str = VERSION) -> list[list[float]]:
    with index.reader() as reader:
        return reader.document_similarity(attributes(reader, *paths), version=version, top=top)


def cosine(one: Sequence[str], other: Sequence[str]) -> float:
    """That of the averages of these texts, as the contract states it."""
    sums = [np.sum([vector(text).astype(float) for text in texts], axis=0) for texts in (one, other)]
    return float(sums[0] @ sums[1] / np.linalg.norm(sums[0]) / np.linalg.norm(sums[1]))


def near(value: float) -> object:
    """Vectors are kept in 8 bits, which costs the third place."""
    return pytest.approx(value, abs=1e-2)


def test_documents_are_as_similar_as_their_means(index: Index) -> None:
    """A cosine of each with each of the first, to six places; a document has a cosine of 1 with itself."""
    texts = {"a.md": ("soil", "rain"), "b.md": ("rain", "sand", "sun"), "c.md": ("moss",)}
    add(index, *(document(path, *said) for path, said in texts.items()))
    found = similarity(index, *texts, top=2)

    assert found == [[near(cosine(one, texts[other])) for other in ("a.md", "b.md")] for one in texts.values()]
    assert (found[0][0], found[1][1]) == (1.0, 1.0)
    assert found[0][1] == found[1][0]
    assert all(round(each, 6) == each for row in found for each in row)


def test_every_index_says_the_same_to_six_places(tmp_path: Path) -> None:
    """Whatever the order in which the documents came, and however they are spread over segments."""
    texts = [document(f"{n}.md", *(f"n{n} p{part}" for part in range(n + 1))) for n in range(9)]
    paths = [each.source_id for each in texts]
    told: list[list[list[float]]] = []
    for name, make in INDEXES.items():
        for order in (texts, texts[::-1]):
            index = make(tmp_path / f"{name}-{len(told)}")
            add(index, *order)
            told.append(similarity(index, *paths, top=4))
            index.close()

    assert len(told) == 2 * len(INDEXES)
    assert all(each == told[0] for each in told)


def test_the_result_has_the_order_of_the_arguments(index: Index) -> None:
    """The first `top` are those given first; a document may be given twice."""
    add(index, document("a.md", "soil"), document("b.md", "rain"))
    one, other = similarity(index, "a.md", "b.md", top=2)

    assert similarity(index, "b.md", "a.md", top=1) == [[1.0], [one[1]]]
    assert similarity(index, "a.md", "b.md", "a.md", top=3) == [[*one, one[0]], [*other, other[0]], [*one, one[0]]]


def test_the_vector_of_a_chunk_is_that_of_its_first_part(index: Index) -> None:
    """Neither its other parts nor its sentences count."""
    add(
        index,
        document("a.md", "soil"),
        document("b.md", "soil", parts=[("soil", "rain", "sun")], sentences=[("moss", "fern")]),
    )

    assert similarity(index, "a.md", "b.md") == [[1.0, 1.0], [1.0, 1.0]]


def test_replies_are_left_out(index: Index) -> None:
    """A conversation is about what people say in it; one of replies alone is similar to nothing."""
    add(
        index,
        document("a.md", "soil"),
        document("b.md", "rain", "soil", "sun", voices=["assistant", "user", "assistant"]),
        document("c.md", "soil", voices=["assistant"]),
    )

    assert similarity(index, "a.md", "b.md", "c.md", top=1) == [[1.0], [1.0], [0.0]]


def test_the_first_chunks_are_averaged(index: Index) -> None:
    """SIMILARITY_CHUNKS among the first SIMILARITY_REACH: later chunks change nothing, replies before them do."""
    some = [f"n{number}" for number in range(SIMILARITY_CHUNKS)]
    late = ["soil"] * SIMILARITY_REACH
    add(
        index,
        document("plain.md", *some),
        document("long.md", *some, "rain", "sun"),
        document("soil.md", "soil"),
        document("late.md", *late, "rain", voices=["assistant"] * (SIMILARITY_REACH - 1) + ["user", "user"]),
        document("too-late.md", *late, "soil", voices=["assistant"] * SIMILARITY_REACH + ["user"]),
    )
    plain, long, soil, last, beyond = similarity(index, "plain.md", "long.md", "soil.md", "late.md", "too-late.md")

    assert plain == long
    assert last == soil
    assert beyond == [0.0] * 5


def test_documents_of_another_version_are_similar_to_nothing(index: Index) -> None:
    """Nor are those that have no vectors, or chunks that have none."""
    other = document("other.md", "soil", version=OTHER)
    waiting = document("waiting.md", "soil", version="")
    add(index, document("a.md", "soil"), other, waiting, document("bare.md", "soil", parts=[()]))
    paths = ("a.md", "other.md", "waiting.md", "bare.md")

    assert similarity(index, *paths, top=2) == [[1.0, 0.0], [0.0, 0.0], [0.0, 0.0], [0.0, 0.0]]
    assert similarity(index, *paths, top=2, version=OTHER) == [[0.0, 0.0], [0.0, 1.0], [0.0, 0.0], [0.0, 0.0]]
    assert similarity(index, *paths, top=1, version="nobody@1") == [[0.0]] * 4


def test_a_chunk_without_a_vector_does_not_count(index: Index) -> None:
    """Beside others that have one."""
    add(index, document("a.md", "soil"), document("b.md", "rain", "soil", "sun", parts=[(), ("soil",), ()]))

    assert similarity(index, "a.md", "b.md", top=1) == [[1.0], [1.0]]


def test_without_documents_the_result_is_empty(index: Index) -> None:
    """No documents, none to compare with, an index without any."""
    with index.reader() as reader:
        assert reader.document_similarity([], version=VERSION, top=3) == []
    add(index, document("a.md", "soil"))

    assert similarity(index) == []
    assert similarity(index, "a.md", top=0) == [[]]


def test_removed_chunks_do_not_count(index: Index) -> None:
    """A replaced document is compared by its current text, not by chunks that are gone."""
    add(index, document("gone.md", "soil"), document("a.md", "rain", "moss"), document("b.md", "soil"))
    before = similarity(index, "a.md", "b.md", top=1)
    index.remove("vault", "gone.md", now=NOW)
    removed = similarity(index, "a.md", "b.md", top=1)
    add(index, document("a.md", "soil"))

    assert removed == before
    assert similarity(index, "a.md", "b.md", top=1) == [[1.0], [1.0]]
    with index.reader() as reader:
        assert {each.path for each in reader.chunk_attributes(every_number(reader)).values()} == {"a.md", "b.md"}


def test_chunk_attributes_have_the_turn(index: Index) -> None:
    """It is the line of the chunk: that of a note, or the number of the turn, through a touch and a rename."""

    def turns() -> list[int]:
        with index.reader() as reader:
            return [each.turn for each in reader.chunk_attributes(every_number(reader)).values()]

    talk = with_turns(document("a", "soil", "rain", "sand"), 3, 7, 7)
    add(index, talk)
    added = turns()
    index.touch(replace(talk, chunks=(), title="new"), now=NOW)
    touched = turns()
    index.rename("a", with_turns(document("b", "soil", "rain", "sand"), 3, 7, 7), now=NOW)

    assert added == touched == turns() == [3, 7, 7]


def with_turns(talk: Document, *turns: int) -> Document:
    chunks = tuple(replace(chunk, line=turn) for chunk, turn in zip(talk.chunks, turns, strict=True))
    return replace(talk, chunks=chunks)


def test_a_reader_compares_what_it_sees(index: Index) -> None:
    """Though documents come and go meanwhile."""
    add(index, document("a.md", "soil"), document("b.md", "rain"))
    with index.reader() as reader:
        both = attributes(reader, "a.md", "b.md")
        before = reader.document_similarity(both, version=VERSION, top=2)
        index.upsert(document("b.md", "soil"), vectors(document("b.md", "soil")), now=NOW)
        assert reader.document_similarity(both, version=VERSION, top=2) == before

    assert similarity(index, "a.md", "b.md", top=1) == [[1.0], [1.0]]
