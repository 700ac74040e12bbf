"""Every index compares sentences, knows who speaks, and weighs whole documents, as the contract of the seam says."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from commonplace.index.base import Index, Reading, SenseMatch, Standing, Weighing
from commonplace.model import Document, Filters
from tests.contract.test_index import NOW, TWINS, add
from tests.index_documents import VERSION, document, numbers, paths, vector

WEIGHING = Weighing(b=0.5)


@pytest.fixture(params=TWINS, ids=str)
def index(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Index]:
    """An empty index."""
    opened = TWINS[request.param](tmp_path)
    yield opened
    opened.close()


def every_number(reading: Reading) -> list[int]:
    return [number for number in range(1, 200) if reading.found([number])]


def senses(reading: Reading, text: str) -> Mapping[str, SenseMatch]:
    """How near each chunk is to the text, by the path of its document."""
    matches = reading.sense_of(vector(text), every_number(reading), version=VERSION)
    return dict(zip(paths(reading, [match.number for match in matches]), matches, strict=True))


def wholes(reading: Reading, *words: str, weighing: Weighing = WEIGHING) -> dict[str, float]:
    """The score of each whole document, by its path."""
    standings = {each.document: each for each in reading.standings(every_number(reading)).values()}
    documents = [*standings.values()]
    scores = reading.match_whole(words, documents, weighing=weighing)
    return {each.path: score for each, score in zip(documents, scores, strict=True)}


def test_the_best_sentence_is_told_beside_the_best_part(index: Index) -> None:
    """A chunk without sentences has its best part in their place."""
    add(
        index,
        document("fine.md", "soil", sentences=[("sand", "rain", "clay")]),
        document("plain.md", "rain", parts=[("water", "rain")]),
    )

    with index.reading() as reading:
        found = senses(reading, "rain")
        assert found["fine.md"].sentence == pytest.approx(1, abs=1e-3)
        assert found["fine.md"].best < 0.99
        assert found["plain.md"].sentence == found["plain.md"].best == pytest.approx(1, abs=1e-3)
        assert reading.counts().vectors == {VERSION: 6}
        assert reading.versions() == {VERSION: 2}


def test_a_chunk_is_found_by_its_parts_alone(index: Index) -> None:
    """A sentence that is the question itself does not bring its chunk in, nor does it change the order."""
    add(
        index,
        document("near.md", "soil"),
        document("far.md", "clay", sentences=[("soil",)]),
    )

    with index.reading() as reading:
        (found,) = reading.match_sense(vector("soil"), Filters(), version=VERSION, limit=1)
        assert paths(reading, [found.number]) == ["near.md"]
        both = reading.match_sense(vector("soil"), Filters(), version=VERSION, limit=2)
        assert paths(reading, [match.number for match in both]) == ["near.md", "far.md"]
        assert both[1].sentence == both[0].best


def test_how_near_a_chunk_is_does_not_depend_on_who_asks(index: Index) -> None:
    """Found or asked for, in any order: the same numbers to the last digit."""
    add(
        index,
        document("a.md", "soil", "sand", parts=[("soil", "x"), ("sand",)], sentences=[("y",), ()]),
        document("b.md", "rain", sentences=[("u", "v")]),
    )

    with index.reading() as reading:
        found = reading.match_sense(vector("rain"), Filters(), version=VERSION, limit=9)
        order = [match.number for match in found][::-1]
        assert reading.sense_of(vector("rain"), order, version=VERSION) == found[::-1]
        assert reading.sense_of(vector("rain"), [10**9, order[0]], version=VERSION) == (found[-1],)
        assert reading.sense_of(vector("rain"), [], version=VERSION) == ()


def test_sentences_of_a_chunk_without_parts_have_no_vectors(index: Index) -> None:
    """What may not be encoded has no parts; nothing of it is compared."""
    add(index, document("a.md", "soil", "rain", parts=[(), ("rain",)], sentences=[("soil",), ()]))

    with index.reading() as reading:
        assert len(reading.match_sense(vector("soil"), Filters(), version=VERSION, limit=9)) == 1
    assert len(index.part_hashes("vault", "a.md")) == 1


UPDATED = document("a.md").updated


def test_a_standing_says_what_a_ranking_must_know(index: Index) -> None:
    """Its document with all its chunks, the path where links may mean it, line, place, who speaks, its last update."""
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

    with index.reading() as reading:
        first, second = sorted(
            numbers(reading.match_words(["soil"], Filters(sources=("chat",)), limit=9, weighing=WEIGHING))
        )
        standings = reading.standings([second, first, first - 2, 10**9])
        assert set(standings) == {first - 2, first, second}
        assert standings[first] == Standing(
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
        )
        assert standings[second] == Standing(
            second, talk.chunks[1].id, talk.id, first, second, "", 2, "", "assistant", "", "", UPDATED
        )
        assert standings[first - 2] == Standing(
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
        )
        assert reading.standings([]) == {}
        assert first - 3 not in reading.standings([first - 3])


def test_speakers_are_those_of_the_documents_that_are_there(index: Index) -> None:
    """As they are written; a touch keeps them, a new version and a rename bring theirs, a removal takes them."""

    def speakers() -> set[str]:
        with index.reading() as reading:
            assert reading.speakers(sensitive=True) == reading.speakers(sensitive=True)
            return set(reading.speakers(sensitive=True))

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


def test_speakers_of_sensitive_documents_are_told_apart(index: Index) -> None:
    """A name that is spoken under in both is told; a touch that makes a document sensitive counts at once."""
    talk = document("a", "soil", "rain", speakers=["Ann", "Bob"])
    add(index, talk, document("s", "soil", "rain", speakers=["Ann", "Eve"], sensitive=True))
    with index.reading() as reading:
        assert reading.speakers(sensitive=False) == {"Ann", "Bob"}
        assert reading.speakers(sensitive=True) == {"Ann", "Bob", "Eve"}
    index.touch(replace(talk, chunks=(), sensitive=True), now=NOW)

    with index.reading() as reading:
        assert reading.speakers(sensitive=False) == set()
        assert reading.speakers(sensitive=True) == {"Ann", "Bob", "Eve"}


def expected(often: Sequence[float], worths: Sequence[float], *, longer: float) -> float:
    """A score as the contract states it: for each word how often it is there and what it is worth."""
    shares = [
        worth * many * 2.2 / (many + 1.2 * (0.5 + 0.5 * longer)) for many, worth in zip(often, worths, strict=True)
    ]
    return sum(shares) / (sum(worths) * 2.2)


def worth(df: int, total: int) -> float:
    return math.log(1 + (total - df + 0.5) / (df + 0.5))


def test_a_whole_document_is_weighed_as_one_text(index: Index) -> None:
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

    with index.reading() as reading:
        found = wholes(reading, "soil", "rain", weighing=replace(WEIGHING, common=1.0))
    assert found["a.md"] == pytest.approx(expected([3, 3 + 1], worths, longer=9 / average), abs=1e-12)
    assert found["b.md"] == pytest.approx(expected([0, 1], worths, longer=1 / average), abs=1e-12)
    assert found["c.md"] == 0


def test_what_a_program_said_counts_less(index: Index) -> None:
    """Its words and its length by the weight of a reply; what it repeats of the title counts whole."""
    said = document("said.md", "soil", "rain rain", title="sun", voices=["user", "user"])
    replied = document("replied.md", "soil", "rain rain", title="sun", voices=["user", "assistant"])
    add(index, said, replied)
    average = (1 + 2 + 1 + 0.2 * 2) / 2

    with index.reading() as reading:
        found = wholes(reading, "rain", weighing=replace(WEIGHING, common=1.0))
        whole = wholes(reading, "sun", weighing=replace(WEIGHING, common=1.0))
    assert found["said.md"] == pytest.approx(expected([2], [1], longer=3 / average), abs=1e-12)
    assert found["replied.md"] == pytest.approx(expected([0.4], [1], longer=1.4 / average), abs=1e-12)
    assert whole["replied.md"] == pytest.approx(expected([3], [1], longer=1.4 / average), abs=1e-12)


def test_a_long_document_over_several_segments_is_still_one(index: Index) -> None:
    """The score of a document of twenty chunks, written before and after others, is that of its text."""
    add(index, *(document(f"{n}.md", "sand") for n in range(5)))
    long = document("long.md", *[f"soil n{n}" for n in range(20)])
    add(index, long, *(document(f"{n}.md", "sand") for n in range(5, 12)))

    with index.reading() as reading:
        average = (40 + 12) / 13
        assert wholes(reading, "soil", "n7")["long.md"] == pytest.approx(
            expected([20, 1], [worth(20, 32), worth(1, 32)], longer=40 / average), abs=1e-12
        )


def test_words_too_common_are_left_out_of_whole_documents_too(index: Index) -> None:
    """The same words are dropped as where chunks are weighed; none, unknown ones and no documents score nothing."""
    add(index, document("a.md", "the soil rain"), *(document(f"{n}.md", f"the n{n}") for n in range(9)))

    with index.reading() as reading:
        assert wholes(reading, "the", "soil", "rain") == wholes(reading, "soil", "rain")
        assert wholes(reading, "the", "soil") != wholes(reading, "soil")
        assert wholes(reading, "soil", "soil") == wholes(reading, "soil")
        assert set(wholes(reading).values()) == set(wholes(reading, "nowhere").values()) == {0}
        assert reading.match_whole(["soil"], [], weighing=WEIGHING) == []


def test_whole_documents_come_in_the_order_in_which_they_were_asked_for(index: Index) -> None:
    """A document may be asked for twice, by any of its chunks."""
    one, other = document("a.md", "soil", "x"), document("b.md", "y", "soil soil")
    add(index, one, other)

    with index.reading() as reading:
        standings = [*reading.standings(every_number(reading)).values()]
        scores = dict(zip(standings, reading.match_whole(["soil"], standings, weighing=WEIGHING), strict=True))
        backwards = reading.match_whole(["soil"], standings[::-1], weighing=WEIGHING)
        assert backwards == [scores[each] for each in standings[::-1]]
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

    with index.reading() as reading:
        standings = [*reading.standings(every_number(reading)).values()]
        told = {(each.voice, each.speaker) for each in standings}
        scores = wholes(reading, "rain")
    assert told == {("user", "Ann" if change == "touch" else "Eve"), ("assistant", "")}
    assert [*scores.values()] == [pytest.approx(expected([0.2], [1], longer=1), abs=1e-12)]
