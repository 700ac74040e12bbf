"""The public sets are read as they are written, and cut always alike."""

from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import pytest
from bench.datasets import check_files, read_locomo, read_longmemeval, read_scifact
from bench.questions import UNANSWERABLE, Question, cut_to

from tests.quality_sets import write_sets


def test_a_question_of_longmemeval_has_its_own_haystack_and_gold_turns_from_one(tmp_path: Path) -> None:
    """The file counts turns from 0, a hit from 1."""
    read = read_longmemeval(write_sets(tmp_path))
    second = read.questions[1]

    assert second.now == datetime(2023, 5, 30, 10, 15, tzinfo=UTC)
    assert second.gold_turns == {("bbbb", 1), ("cccc", 1)}
    assert [session.id for session in read.store("q2").sessions] == ["bbbb", "cccc", "dddd"]
    assert read.questions[2].type == UNANSWERABLE


def test_haystacks_are_joined_and_the_first_ones_dates_count(tmp_path: Path) -> None:
    """A session that is in both is there once."""
    read = read_longmemeval(write_sets(tmp_path))
    dates = {session.id: session.at.day for session in read.store("q2", "q1").sessions}

    assert dates == {"aaaa": 20, "bbbb": 20, "cccc": 21, "dddd": 22}


def test_the_place_after_the_last_question_is_the_first(tmp_path: Path) -> None:
    """Places are cyclic."""
    read = read_longmemeval(write_sets(tmp_path))

    assert read.after(read.questions[0], 17).id == "q3_abs"


def test_evidence_of_locomo_is_found_however_it_is_written(tmp_path: Path) -> None:
    """Several in one entry, a stray colon, a turn that is not there; a question without any is dropped and counted."""
    read = read_locomo(write_sets(tmp_path))
    later, earlier = reversed(read.stores["conversation_00"].sessions)
    gold = [question.gold_turns for question in read.questions[:3]]

    assert gold == [{(later.id, 1)}, {(later.id, 1), (earlier.id, 1)}, {(later.id, 2)}]
    assert (len(read.questions), read.dropped) == (8, 2)


def test_locomo_is_asked_a_day_after_its_last_session_and_pictures_are_told(tmp_path: Path) -> None:
    """Sessions come in the order of their dates; ids say nothing of their numbers."""
    read = read_locomo(write_sets(tmp_path))
    earlier, later = read.stores["conversation_00"].sessions

    assert earlier.at < later.at
    assert read.questions[0].now == datetime(2023, 5, 9, 13, 56, tzinfo=UTC)
    assert (later.turns[1].text, later.turns[1].author) == ("Look!\n[shares a lighthouse]", "Ben")
    assert len(earlier.id) == 16


def test_an_abstract_that_was_judged_not_to_fit_is_no_gold(tmp_path: Path) -> None:
    """A judgement of 0 is none."""
    read = read_scifact(write_sets(tmp_path))

    assert [(each.id, each.type, sorted(each.gold)) for each in read.questions] == [
        ("1", "test", ["11"]),
        ("2", "test", ["22", "33"]),
        ("3", "train", ["33"]),
    ]
    assert read.stores["scifact"].notes["11"] == "# Zinc\n\nZinc binds enzymes.\n"


def test_what_is_missing_is_named(tmp_path: Path) -> None:
    """Every file of the sets that are wanted, and none of the others."""
    write_sets(tmp_path)
    (tmp_path / "longmemeval_s/questions.jsonl.gz").unlink()
    check_files(tmp_path, ["locomo", "scifact"])

    with pytest.raises(SystemExit, match=r"missing: .*longmemeval_s/questions\.jsonl\.gz; name the folder"):
        check_files(tmp_path, ["longmemeval"])


def test_a_part_of_the_questions_keeps_the_share_of_each_type_and_is_always_the_same() -> None:
    """A quarter of them has a quarter of each type, in whatever order they come."""
    now = datetime(2023, 1, 1, tzinfo=UTC)
    types = ["often"] * 60 + ["seldom"] * 20
    questions = [Question(f"q{n}", "", now, "", type_, frozenset()) for n, type_ in enumerate(types)]
    part = cut_to(questions, 20)

    assert Counter(each.type for each in part) == {"often": 15, "seldom": 5}
    assert cut_to(questions[::-1], 20) == part
    assert cut_to(questions, None) == tuple(questions)
