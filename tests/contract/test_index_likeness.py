"""Every index says how alike documents are, and to the same six places."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from commonplace.index.base import AVERAGED, REACH, Index, Reading, Standing
from commonplace.model import Document
from tests.contract.test_index import NOW, TWINS, add
from tests.contract.test_index_sentences import every_number
from tests.index_documents import VERSION, document, vector, vectors

OTHER = "other@1"


@pytest.fixture(params=TWINS, ids=str)
def index(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Index]:
    """An empty index."""
    opened = TWINS[request.param](tmp_path)
    yield opened
    opened.close()


def standings(reading: Reading, *paths: str) -> list[Standing]:
    """How the documents at these paths stand, in this order."""
    found = {each.path: each for each in reading.standings(every_number(reading)).values()}
    return [found[path] for path in paths]


def likeness(index: Index, *paths: str, top: int = 9, version: str = VERSION) -> list[list[float]]:
    with index.reading() as reading:
        return reading.likeness(standings(reading, *paths), version=version, top=top)


def cosine(one: Sequence[str], other: Sequence[str]) -> float:
    """That of the averages of these texts, as the contract states it."""
    sums = [np.sum([vector(text).astype(float) for text in texts], axis=0) for texts in (one, other)]
    return float(sums[0] @ sums[1] / np.linalg.norm(sums[0]) / np.linalg.norm(sums[1]))


def near(value: float) -> object:
    """Vectors are kept in 8 bits, which costs the third place."""
    return pytest.approx(value, abs=1e-2)


def test_documents_are_as_alike_as_their_averages(index: Index) -> None:
    """A cosine of each with each of the first, to six places; a document is wholly like itself."""
    texts = {"a.md": ("soil", "rain"), "b.md": ("rain", "sand", "sun"), "c.md": ("moss",)}
    add(index, *(document(path, *said) for path, said in texts.items()))
    found = likeness(index, *texts, top=2)

    assert found == [[near(cosine(one, texts[other])) for other in ("a.md", "b.md")] for one in texts.values()]
    assert (found[0][0], found[1][1]) == (1.0, 1.0)
    assert found[0][1] == found[1][0]
    assert all(round(each, 6) == each for row in found for each in row)


def test_every_index_says_the_same_to_six_places(tmp_path: Path) -> None:
    """Whatever the order in which the documents came, and however they are spread over segments."""
    texts = [document(f"{n}.md", *(f"n{n} p{part}" for part in range(n + 1))) for n in range(9)]
    paths = [each.source_id for each in texts]
    told: list[list[list[float]]] = []
    for name, make in TWINS.items():
        for order in (texts, texts[::-1]):
            index = make(tmp_path / f"{name}-{len(told)}")
            add(index, *order)
            told.append(likeness(index, *paths, top=4))
            index.close()

    assert len(told) == 6
    assert all(each == told[0] for each in told)


def test_the_order_is_that_of_the_question(index: Index) -> None:
    """The first so many are those that were named first; a document may be named twice."""
    add(index, document("a.md", "soil"), document("b.md", "rain"))
    one, other = likeness(index, "a.md", "b.md", top=2)

    assert likeness(index, "b.md", "a.md", top=1) == [[1.0], [one[1]]]
    assert likeness(index, "a.md", "b.md", "a.md", top=3) == [[*one, one[0]], [*other, other[0]], [*one, one[0]]]


def test_the_meaning_of_a_chunk_is_that_of_its_first_part(index: Index) -> None:
    """Neither its other parts nor its sentences have a say."""
    add(
        index,
        document("a.md", "soil"),
        document("b.md", "soil", parts=[("soil", "rain", "sun")], sentences=[("moss", "fern")]),
    )

    assert likeness(index, "a.md", "b.md") == [[1.0, 1.0], [1.0, 1.0]]


def test_replies_are_left_out(index: Index) -> None:
    """A conversation is about what people say in it; one of replies alone is like nothing."""
    add(
        index,
        document("a.md", "soil"),
        document("b.md", "rain", "soil", "sun", voices=["assistant", "user", "assistant"]),
        document("c.md", "soil", voices=["assistant"]),
    )

    assert likeness(index, "a.md", "b.md", "c.md", top=1) == [[1.0], [1.0], [0.0]]


def test_the_first_chunks_are_averaged(index: Index) -> None:
    """As many as AVERAGED among the first REACH: what comes after them changes nothing, replies before them do."""
    some = [f"n{number}" for number in range(AVERAGED)]
    late = ["soil"] * REACH
    add(
        index,
        document("plain.md", *some),
        document("long.md", *some, "rain", "sun"),
        document("soil.md", "soil"),
        document("late.md", *late, "rain", voices=["assistant"] * (REACH - 1) + ["user", "user"]),
        document("too-late.md", *late, "soil", voices=["assistant"] * REACH + ["user"]),
    )
    plain, long, soil, last, beyond = likeness(index, "plain.md", "long.md", "soil.md", "late.md", "too-late.md")

    assert plain == long
    assert last == soil
    assert beyond == [0.0] * 5


def test_documents_of_another_version_are_like_nothing(index: Index) -> None:
    """Nor are those that have no vectors, or chunks that have none."""
    other = document("other.md", "soil", version=OTHER)
    waiting = document("waiting.md", "soil", version="")
    add(index, document("a.md", "soil"), other, waiting, document("bare.md", "soil", parts=[()]))
    paths = ("a.md", "other.md", "waiting.md", "bare.md")

    assert likeness(index, *paths, top=2) == [[1.0, 0.0], [0.0, 0.0], [0.0, 0.0], [0.0, 0.0]]
    assert likeness(index, *paths, top=2, version=OTHER) == [[0.0, 0.0], [0.0, 1.0], [0.0, 0.0], [0.0, 0.0]]
    assert likeness(index, *paths, top=1, version="nobody@1") == [[0.0]] * 4


def test_a_chunk_without_a_vector_has_no_say(index: Index) -> None:
    """Beside others that have one."""
    add(index, document("a.md", "soil"), document("b.md", "rain", "soil", "sun", parts=[(), ("soil",), ()]))

    assert likeness(index, "a.md", "b.md", top=1) == [[1.0], [1.0]]


def test_nothing_asked_is_nothing_told(index: Index) -> None:
    """No documents, none to compare with, an index without any."""
    with index.reading() as reading:
        assert reading.likeness([], version=VERSION, top=3) == []
    add(index, document("a.md", "soil"))

    assert likeness(index) == []
    assert likeness(index, "a.md", top=0) == [[]]


def test_what_was_removed_has_no_say(index: Index) -> None:
    """A document that is replaced means what it says now, beside those that are gone."""
    add(index, document("gone.md", "soil"), document("a.md", "rain", "moss"), document("b.md", "soil"))
    before = likeness(index, "a.md", "b.md", top=1)
    index.remove("vault", "gone.md", now=NOW)
    removed = likeness(index, "a.md", "b.md", top=1)
    add(index, document("a.md", "soil"))

    assert removed == before
    assert likeness(index, "a.md", "b.md", top=1) == [[1.0], [1.0]]
    with index.reading() as reading:
        assert {each.path for each in reading.standings(every_number(reading)).values()} == {"a.md", "b.md"}


def test_a_standing_knows_the_turn(index: Index) -> None:
    """It is the line of the chunk: that of a note, or the number of the turn, through a touch and a rename."""

    def turns() -> list[int]:
        with index.reading() as reading:
            return [each.turn for each in reading.standings(every_number(reading)).values()]

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


def test_a_reading_compares_what_it_saw(index: Index) -> None:
    """Though documents come and go meanwhile."""
    add(index, document("a.md", "soil"), document("b.md", "rain"))
    with index.reading() as reading:
        both = standings(reading, "a.md", "b.md")
        before = reading.likeness(both, version=VERSION, top=2)
        index.upsert(document("b.md", "soil"), vectors(document("b.md", "soil")), now=NOW)
        assert reading.likeness(both, version=VERSION, top=2) == before

    assert likeness(index, "a.md", "b.md", top=1) == [[1.0], [1.0]]
