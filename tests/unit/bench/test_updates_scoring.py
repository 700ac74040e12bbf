"""Whether the current value comes before the old one, on answers made up by hand."""

from collections.abc import Mapping
from datetime import UTC, datetime

import pytest
from bench.questions import Question
from bench.stores import Ask, Found, Way
from bench.updates_scoring import HALF_LIVES, KNOWLEDGE_UPDATE, Pair, figures_of, is_above, pairs_of
from bench.updates_tables import headline, tables

NOW = datetime(2023, 6, 1, tzinfo=UTC)
DATES = {"old": datetime(2023, 1, 5, tzinfo=UTC), "mid": datetime(2023, 3, 1, tzinfo=UTC), "new": NOW, "same": NOW}


def question(name: str, *gold: str, type_: str = KNOWLEDGE_UPDATE, text: str = "Where do I live?") -> Question:
    return Question(name, text, NOW, name, type_, frozenset(gold))


def answers(*asked: tuple[Question, Mapping[int, str]]) -> dict[Ask, Found]:
    """What each question finds, a letter of a session's name each, by half-life; what is not told is as without."""
    names = {name[0]: name for name in DATES} | {"x": "other"}
    return {
        Ask(each.store, each.id, Way(half_life=days)): Found(
            tuple((names[letter], 1) for letter in found.get(days, found[0])), 0.5
        )
        for each, found in asked
        for days in HALF_LIVES
    }


A, B, C = (question(name, "new", "old") for name in "abc")
OTHER = question("d", "mid", type_="multi-session", text="What did I buy in May 2023?")
DATES_OF = dict.fromkeys("abcd", DATES)


def test_the_current_session_is_the_latest_and_the_old_one_the_earliest() -> None:
    """By their dates, whatever their names; those between do not matter, nor do other types of questions."""
    some = [question("a", "old", "new", "mid"), question("b", "mid"), question("c", "new", "same"), OTHER]

    assert pairs_of(some, DATES_OF) == [Pair(some[0], "new", "old")]


@pytest.mark.parametrize(
    ("found", "above"),
    [
        (("new", "old"), True),
        (("old", "x", "new"), False),
        (("x", "new"), True),
        (("old", "x"), False),
        (("x",), False),
    ],
)
def test_what_was_not_found_comes_after_what_was(found: tuple[str, ...], above: bool) -> None:
    """And a question that finds neither does not count for the current one."""
    assert is_above(Pair(A, "new", "old"), found) is above


def test_shares_are_of_all_pairs_and_counts_of_those_that_were_both_found() -> None:
    """One in order, one the wrong way round, one that finds the current value alone."""
    told = figures_of([A, B, C], DATES_OF, answers((A, {0: "no"}), (B, {0: "on", 90: "no"}), (C, {0: "n"})))
    rows = {row.pop("half_life"): row for row in told["order"]}

    assert [rows[0][name] for name in ("n", "both", "above_of_both", "above", "share")] == [3, 2, 1, 2, 0.6667]
    assert [rows[90][name] for name in ("n", "both", "above_of_both", "above", "share")] == [3, 2, 2, 3, 1.0]
    assert rows[0] == rows[30] == rows[180] == rows[365]
    assert rows[0]["interval"][0] < rows[0]["share"] < rows[0]["interval"][1]


def test_recall_is_told_by_type_with_what_each_half_life_does_to_it() -> None:
    """The mean over the questions of a type; how many of them name a time is told beside it."""
    found = answers((A, {0: "no"}), (B, {0: "xn", 30: "xno"}), (OTHER, {0: "m", 365: "x"}))
    rows = {row["type"]: row for row in figures_of([A, B, OTHER], DATES_OF, found)["types"]}

    assert {name: (row["n"], row["timed"]) for name, row in rows.items()} == {
        "all": (3, 1),
        KNOWLEDGE_UPDATE: (2, 0),
        "multi-session": (1, 1),
    }
    assert rows[KNOWLEDGE_UPDATE]["strict@5"] == {"0": 0.5, "30": 1.0, "90": 0.5, "180": 0.5, "365": 0.5}
    assert rows["all"]["any@5"] == {"0": 1.0, "30": 1.0, "90": 1.0, "180": 1.0, "365": 0.6667}


def test_the_tables_tell_changes_in_points() -> None:
    """A row for each half-life with the share of those found both, and for each type what it gains or loses."""
    told = figures_of([A, B, OTHER], DATES_OF, answers((A, {0: "no"}), (B, {0: "xo", 30: "xno"}), (OTHER, {0: "m"})))
    lines = list(tables(told))

    assert "| off | 2 | 1 | 1 | **100.0** | 20.7 to 100.0 | 1 (50.0) | 0.0 to 100.0 |" in lines
    assert "| half-life 30 days | 2 | 2 | 2 | **100.0** | 34.2 to 100.0 | 2 (100.0) | 100.0 to 100.0 |" in lines
    assert "| knowledge-update | 2 | 0 | 50.0 | +50.0 | +0.0 | +0.0 | +0.0 |" in lines


def test_the_headline_is_of_the_questions_that_found_both() -> None:
    """One that finds the current session alone says nothing of their order; without any there is no headline."""
    found = answers((A, {0: "no"}), (B, {0: "on"}), (C, {0: "n"}))
    (line, blank) = headline(figures_of([A, B, C], DATES_OF, found))

    assert line.startswith("Of the questions with both sessions in the top 10, the current one is first: off 1 of 2")
    assert "off 1 of 2 (50.0 %), half-life 30 days 1 of 2 (50.0 %)" in line
    assert blank == ""
    assert list(headline(figures_of([C], DATES_OF, found))) == []


def test_without_a_pair_there_is_no_order_to_tell() -> None:
    """Recall is told all the same."""
    told = figures_of([OTHER], DATES_OF, answers((OTHER, {0: "m"})))

    assert told["order"] == []
    assert [row["n"] for row in told["types"]] == [1, 1]
