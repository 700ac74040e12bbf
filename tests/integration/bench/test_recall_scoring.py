"""From what was found to the figures, on answers made up by hand."""

from pathlib import Path

import pytest
from bench.plan import Plan, jobs
from bench.scoring import figures_of
from bench.stores import Ask, Found, Way

from tests.quality_sets import write_sets


def answered(plan: Plan) -> dict[Ask, Found]:
    """Every question finds its gold where that is in the store and is sure of it, .9; elsewhere it is not, .2."""
    answers = {}
    for job in jobs(plan):
        ids = [*(session.id for session in job.store.sessions), *job.store.notes]
        for question, way in job.asks:
            gold = question.gold_turns if way.by == "chunk" else {(id_, 1) for id_ in question.gold}
            places = tuple(sorted(place for place in gold if place[0] in ids))
            answers[Ask(job.name, question.id, way)] = Found(places, 0.9 if places else 0.2)
    return answers


def test_each_store_is_made_once_and_asked_each_thing_once(tmp_path: Path) -> None:
    """Sets share stores: rejection asks those of LongMemEval and of LoCoMo."""
    plan = Plan(write_sets(tmp_path), ("longmemeval", "rejection"), ("hybrid",), None)
    made = {job.name: job for job in jobs(plan)}

    assert sorted(made) == ["conversation_00", "conversation_02", "q1", "q2", "q3_abs"]
    assert [(question.id, way.by) for question, way in made["q1"].asks] == [("q1", "document"), ("q1", "chunk")]
    assert [question.id for question, _ in made["q3_abs"].asks] == ["q1", "q2", "q3_abs"]


def test_confidence_is_judged_by_whether_it_tells_answerable_questions_apart(tmp_path: Path) -> None:
    """The question without an answer is as sure as the others; on another's haystack nobody is."""
    plan = Plan(write_sets(tmp_path), ("rejection",), ("hybrid",), None)
    told = figures_of(plan, answered(plan))["rejection"]

    assert [(each["answerable"], each["not"], each["auc"]) for each in told["auc"]] == [
        (2, 1, 0.5),
        (2, 2, 1.0),
        (6, 6, 1.0),
    ]


def test_calibration_is_over_own_haystacks_and_others(tmp_path: Path) -> None:
    """Two questions are found at .9 and none of two at .2: the error is a tenth and a fifth, each for half of them."""
    plan = Plan(write_sets(tmp_path), ("rejection",), ("hybrid",), None)
    told = figures_of(plan, answered(plan))["rejection"]

    assert [(each["n"], each["confidence"], each["found"]) for each in told["calibration"]] == [
        (2, 0.2, 0),
        (2, 0.9, 1),
    ]
    assert told["calibration_error"] == pytest.approx(0.15)


def test_hits_without_a_confidence_end_the_run(tmp_path: Path) -> None:
    """No figure is made of a confidence that is not there."""
    plan = Plan(write_sets(tmp_path), ("rejection",), ("hybrid",), None)
    answers = {ask: Found(found.places, None) for ask, found in answered(plan).items()}

    with pytest.raises(ValueError, match="hits and no confidence"):
        figures_of(plan, answers)


def test_a_part_is_worth_what_is_lost_without_it_on_the_same_questions(tmp_path: Path) -> None:
    """One of the two questions is not found without names, so half of every measure is lost."""
    plan = Plan(write_sets(tmp_path), ("longmemeval",), ("hybrid",), None, parts=("names", "time"))
    answers = answered(plan)
    for way in (Way(without=("names",)), Way("hybrid", "chunk", 30, ("names",))):
        answers[Ask("q1", "q1", way)] = Found((), 0.1)
    told = figures_of(plan, answers)["ablation"]

    assert [(each["measure"], each["n"], each["value"], each["without"]) for each in told] == [
        ("any@5", 2, 1.0, {"names": -0.5, "time": 0.0}),
        ("strict@5", 2, 1.0, {"names": -0.5, "time": 0.0}),
        ("strict@10", 2, 1.0, {"names": -0.5, "time": 0.0}),
        ("fraction@5", 2, 1.0, {"names": -0.5, "time": 0.0}),
    ]


def test_the_adversarial_category_is_told_apart(tmp_path: Path) -> None:
    """Categories 1 to 4 are one row, 5 is another and in no other."""
    plan = Plan(write_sets(tmp_path), ("locomo",), ("hybrid",), None)
    rows = figures_of(plan, answered(plan))["sets"]["locomo"]["documents"]["hybrid"]

    assert {group: row["n"] for group, row in rows.items()} == {"1": 2, "1-4": 6, "2": 2, "4": 2, "5": 2}


def test_a_part_of_the_questions_is_asked_of_every_set(tmp_path: Path) -> None:
    """SciFact's two halves are cut each for itself."""
    plan = Plan(write_sets(tmp_path), ("locomo", "scifact"), ("hybrid",), 1)

    assert len(plan.questions("locomo")) == 1
    assert [question.type for question in plan.questions("scifact")] == ["test", "train"]
