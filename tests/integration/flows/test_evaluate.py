"""How well search works on a vault: probes held out, each mode asked, and nothing written anywhere that counts."""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

import pytest

from commonplace.errors import UsageError
from commonplace.facts.claims import FactRules
from commonplace.flows.evaluate import EvaluationPlan, ProbeResult, evaluate, misses_among, score_rows
from commonplace.flows.ingest.sync import sync
from commonplace.flows.stores import Stores
from commonplace.index.base import Index
from commonplace.index.inmemory.store import InMemoryIndex
from commonplace.model import Evaluation, Mode, Score
from commonplace.notes.link_resolver import NoteLinker
from tests.stores import CountingEncoder, close, make_stores, save

FILLER = "Bread rises slowly. Yeast wants warmth, flour, water, salt, patience and a bowl with a lid on its top today."
TANK = f"The cistern below the yard keeps rain. {FILLER}"


def tiny(root: Path) -> None:
    """Two notes that can be found by words left in them, and one that cannot: its heading says what it does not."""
    save(root, "Tank.md", f"{TANK}\n\n## Cistern rain\n\nFull in March.\n")
    save(root, "Oven.md", f"The stove heats the loaf with pellets. {FILLER}\n\n## Stove pellets\n\nLit at six.\n")
    save(root, "Moon.md", f"{FILLER}\n\n## Lunar eclipse\n\nSeen twice.\n")


def evaluated(stores: Stores, *modes: Mode, questions: int = 100, seed: int = 0) -> Evaluation:
    told: list[tuple[str, int, int]] = []
    plan = EvaluationPlan(questions, modes or ("words",), seed)
    evaluation = evaluate(stores, plan, progress=lambda *done: told.append(done))

    assert told[-1] == ("questions", evaluation.questions, evaluation.questions)
    return evaluation


def files_below(folder: Path) -> dict[str, str]:
    """The hash of every file."""
    files = (file for file in sorted(folder.rglob("*")) if file.is_file())
    return {str(file.relative_to(folder)): hashlib.sha256(file.read_bytes()).hexdigest() for file in files}


def test_two_notes_are_found_by_what_is_left_of_them_and_one_is_not(stores: Stores, root: Path) -> None:
    """The shares are counted by hand: two of three at the first place. The miss says what was asked and what came."""
    tiny(root)
    evaluation = evaluated(stores)
    row = {"n": 3, "at_1": 0.6667, "at_5": 0.6667, "at_10": 0.6667, "mrr": 0.6667}

    assert evaluation.rows == (Score("words", "heading", **row), Score("words", "all", **row))  # type: ignore[arg-type]
    (miss,) = evaluation.misses
    assert (miss.mode, miss.kind, miss.question, miss.expected) == ("words", "heading", "Lunar eclipse", "Moon.md")
    assert miss.instead == ()
    assert (evaluation.notes, evaluation.questions, evaluation.missing) == (3, 3, "")


def test_a_note_with_the_same_words_comes_instead(stores: Stores, root: Path) -> None:
    """It is named with the miss."""
    tiny(root)
    save(root, "Sky.md", "An eclipse.\n")

    assert [miss.instead for miss in evaluated(stores).misses] == [("Sky.md",)]


@pytest.mark.requirement("D-125")
def test_each_mode_is_asked_what_the_others_are(stores: Stores, root: Path) -> None:
    """The contract: recall at 1, 5 and 10 and the mean of 1 / rank, by kind and mode, with how many were asked."""
    tiny(root)
    save(root, "Well.md", f"---\naliases: [Borehole]\n---\nA well is a deep hole with water in it. {FILLER}\n")
    save(root, "Map.md", "See [[Well|where the bucket hangs]].\n")
    evaluation = evaluated(stores, "hybrid", "words", "sense", "rrf")
    asked = [("heading", 3), ("alias", 1), ("link", 1), ("definition", 1), ("all", 6)]

    assert [(row.mode, row.kind, row.n) for row in evaluation.rows] == [
        (mode, *each) for mode in ("hybrid", "words", "sense", "rrf") for each in asked
    ]


def test_the_twin_of_the_index_gives_the_same_numbers(stores: Stores, root: Path) -> None:
    """A vault that is kept in memory is evaluated in memory."""
    tiny(root)
    twin = stores.using(
        temporary_index=lambda: nullcontext(InMemoryIndex(user="me", linker=NoteLinker(), rules=FactRules()))
    )
    ours, theirs = (evaluated(each, "hybrid", "words", "sense") for each in (stores, twin))

    assert (ours.rows, ours.misses) == (theirs.rows, theirs.misses)


def test_nothing_is_written_to_the_vault_or_to_its_index(stores: Stores, root: Path, tmp_path: Path) -> None:
    """Every file of both is the same, byte for byte, and the temporary index is gone."""
    tiny(root)
    sync(stores)
    close(stores)
    before = files_below(root), files_below(tmp_path / "data" / "index")
    evaluated(stores, "hybrid")
    close(stores)

    assert (files_below(root), files_below(tmp_path / "data" / "index")) == before
    assert not (tmp_path / "data" / "scratch").exists()


def test_the_same_seed_asks_the_same(stores: Stores, root: Path) -> None:
    """Down to the ranks; another seed asks others."""
    for letter, name in zip("ABCDE", ("rain", "wind", "snow", "hail", "fog"), strict=True):
        save(root, f"{letter}.md", f"{FILLER}\n\n## Whence comes {name}\n")
    first, again, other = (evaluated(stores, questions=3, seed=seed) for seed in (0, 0, 1))

    assert (first.rows, first.misses) == (again.rows, again.misses)
    assert len(first.misses) == 3
    assert {miss.question for miss in first.misses} != {miss.question for miss in other.misses}


@pytest.mark.parametrize(
    ("path", "marks"),
    [
        ("Secret.md", "sensitive: true"),
        ("Old.md", "status: superseded"),
        ("Agent/_archive/Old.md", "kind: x"),
        ("Agent/Memory/_staging/New.md", "kind: x"),
        ("Templates/T.md", "kind: x"),
    ],
)
def test_a_note_that_is_not_for_questions_is_in_none(stores: Stores, root: Path, path: str, marks: str) -> None:
    """Sensitive, replaced, archived, staged and ignored notes: neither they nor their links are asked about."""
    tiny(root)
    save(root, path, f"---\n{marks}\n---\n[[Moon|where cheese grows]] {FILLER}\n\n## Hidden words\n")

    assert evaluated(stores).questions == 3


def test_a_question_that_two_notes_would_answer_is_not_asked(stores: Stores, root: Path) -> None:
    """A definition that was copied, a heading that is another note's alias."""
    tiny(root)
    for name in ("A", "B"):
        save(root, f"{name}.md", f"A cistern is a tank that keeps the winter rain. {FILLER}\n")
    save(root, "C.md", f"---\naliases: [lunar eclipse]\n---\n{FILLER}\n")

    assert sorted(miss.question for miss in evaluated(stores).misses) == ["lunar eclipse"]


def test_texts_that_are_known_are_not_encoded_again(root: Path, tmp_path: Path) -> None:
    """The second evaluation encodes its questions alone."""
    tiny(root)
    encoder = CountingEncoder()
    stores = make_stores(root, tmp_path / "data", encoder=encoder)
    first, second = evaluated(stores, "sense"), evaluated(stores, "sense")
    close(stores)

    assert first.encoded > 0
    assert second.encoded == 0


def test_without_an_encoder_words_are_asked_alone_and_it_says_so(root: Path, tmp_path: Path) -> None:
    """Whatever modes were wanted."""
    tiny(root)
    stores = make_stores(root, tmp_path / "data", encoder=None)
    evaluation = evaluated(stores, "hybrid", "sense")
    close(stores)

    assert (evaluation.modes, evaluation.missing) == (("words",), "no encoder is installed")


def test_an_encoder_that_fails_leaves_words_alone(root: Path, tmp_path: Path) -> None:
    """Some notes with vectors and some without would make a number that means nothing."""
    tiny(root)
    stores = make_stores(root, tmp_path / "data", encoder=CountingEncoder(fails=True))
    evaluation = evaluated(stores, "hybrid")
    close(stores)

    assert (evaluation.modes, evaluation.missing) == (("words",), "the server does not answer")


@pytest.mark.parametrize(
    ("questions", "said"), [(100, "too few questions .* 1, from 2 notes"), (0, "at least 1, not 0")]
)
def test_too_few_questions_are_none(stores: Stores, root: Path, questions: int, said: str) -> None:
    """The error says how many there are, and what to write."""
    save(root, "Tank.md", f"{TANK}\n\n## Cistern rain\n")
    save(root, "Tiny.md", "Few.\n\n## Tiny words here\n")

    with pytest.raises(UsageError, match=said) as raised:
        evaluated(stores, questions=questions)
    assert raised.value.hint


def test_the_temporary_index_goes_when_a_person_stops_it(stores: Stores, root: Path) -> None:
    """Ctrl-C in the middle leaves nothing."""
    tiny(root)
    ended: list[str] = []

    @contextmanager
    def watched() -> Iterator[Index]:
        with stores.parts().temporary_index() as index:
            try:
                yield index
            finally:
                ended.append("closed")

    def stop(what: str, done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        evaluate(stores.using(temporary_index=watched), EvaluationPlan(), progress=stop)
    assert ended == ["closed"]


def test_ranks_count_notes_and_come_to_shares_and_means() -> None:
    """Ranks 1, 2, 6 and none, counted by hand."""
    came = (("a",), ("b", "a"), ("b", "c", "d", "e", "f", "a"), ("b", "c", "d", "e"))
    asked = [ProbeResult("words", "alias", "q", "a", each) for each in came]

    assert [*score_rows(asked, ["words"])][-1] == Score(
        "words", "all", 4, 0.25, 0.5, 0.75, round((1 + 1 / 2 + 1 / 6) / 4, 4)
    )
    assert [miss.instead for miss in misses_among(asked)] == [("b", "c", "d")]
