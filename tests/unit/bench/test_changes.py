"""The benchmark of the law of memory: its sets, what is shown at a floor, and how readers' answers are counted."""

from collections import Counter

from bench.changes_neighbours import Score, by_meaning_and_words, by_words
from bench.changes_saves import is_dated
from bench.changes_sets import deciding_set
from bench.readers import CASES, drawn, score

NEAR = (Score("a", 0.5, 0.0), Score("b", 0.4, 0.4), Score("c", None, 0.9), Score("d", 0.1, 0.0))


def test_the_deciding_sets_have_the_lines_that_their_readme_names() -> None:
    """Two files, each of 382 lines; no statement is known twice."""
    told = deciding_set()

    kinds = Counter(pair.kind for pair in told.pairs)
    assert kinds == {"independent": 140, "restriction": 60, "opposite": 40, "same": 40, "changed": 64, "beside": 60}
    assert (len(told.chains), len(told.corrections), len(told.others)) == (30, 30, 300)
    assert len(told.known) == len(told.pairs) + len(told.others)


def test_shared_words_raise_an_entry_and_cosine_alone_counts_only_what_has_one() -> None:
    """The floor is met by the sum."""
    assert by_meaning_and_words(NEAR, weight=0.5, floor=0.3) == ["b", "a", "c"]
    assert by_meaning_and_words(NEAR, weight=0.0, floor=0.3) == ["a", "b"]
    assert by_words(NEAR, floor=0.5) == ["c"]


def test_a_line_is_dated_by_figures_or_by_the_name_of_the_month() -> None:
    """The year may be left out."""
    assert is_dated("- Bo lives in Oslo (bench, 2026-03-02)", "2026-03-02T12:00:00Z")
    assert is_dated("- Bo lives in Oslo, said by bench on 2 March", "2026-03-02T12:00:00Z")
    assert not is_dated("- Bo lives in Oslo", "2026-03-02T12:00:00Z")


def test_the_same_seed_draws_the_same_pairs() -> None:
    """As many of each kind as a trial has."""
    trial = drawn(deciding_set(), seed=3)

    assert trial == drawn(deciding_set(), seed=3)
    assert Counter(pair.kind for pair in trial.pairs) == CASES


def a_case(number: int, kind: str, known: str = "aaaaaa", **more: object) -> dict[str, object]:
    return {"case": number, "kind": kind, "known": [known], "near": ["aaaaaa", "cccccc"], **more}


def test_answers_of_readers_are_counted_by_what_they_end() -> None:
    """Ids may have the digits of their words; what is not shown is counted apart; restrictions may be left alone."""
    key = [
        a_case(1, "changed"),
        a_case(2, "changed", known="bbbbbb"),
        a_case(3, "same"),
        a_case(4, "restriction"),
        a_case(5, "independent"),
        a_case(6, "independent"),
        a_case(7, "opposite"),
    ]
    answers: dict[int, dict[str, object]] = {
        1: {"replaces": ["AAAAAA.3f2"]},
        2: {},
        3: {"same": "aaaaaa"},
        4: {"covers": ["aaaaaa"]},
        5: {"both": ["aaaaaa"]},
        6: {"replaces": ["aaaaaa"]},
        7: {"replaces": ["aaaaaa", "cccccc"]},
    }
    counts = score(key, answers)

    assert counts["changed"] == {"cases": 1, "answered": 1, "right": 1, "replaces": 1}
    assert counts["changed, not shown"] == {"cases": 1, "answered": 1}
    assert counts["same"]["right"] == counts["restriction"]["right"] == 1
    assert counts["independent"] == {"cases": 2, "answered": 2, "right": 1, "touched": 1, "both": 1, "replaces": 1}
    assert (counts["opposite"]["right"], counts["opposite"]["touched"]) == (0, 1)


def test_a_chain_is_right_if_no_old_value_is_left_after_both_calls() -> None:
    """Its second and its third value are saved in a case each."""
    second, third = a_case(1, "chain", chain=0), a_case(2, "chain", chain=0) | {"known": ["aaaaaa", "cccccc"]}

    assert (
        score([second, third], {1: {"replaces": ["aaaaaa"]}, 2: {"replaces": ["cccccc"]}})["whole chains"]["right"] == 1
    )
    assert score([second, third], {1: {"replaces": ["aaaaaa"]}, 2: {}})["whole chains"]["right"] == 0


def test_a_correction_is_right_if_exactly_the_facts_that_are_over_end() -> None:
    """By replacing or forgetting, with something saved where there is something new."""
    key = [a_case(1, "correction", new="Jo cycles."), a_case(2, "correction", new="")]
    answers: dict[int, dict[str, object]] = {
        1: {"calls": [{"tool": "memory_save", "text": "Jo cycles.", "replaces": ["aaaaaa"]}]},
        2: {"calls": [{"tool": "memory_forget", "id": "aaaaaa"}, {"tool": "memory_forget", "id": "cccccc"}]},
    }
    counts = score(key, answers)["correction"]

    assert (counts["cases"], counts["right"], counts["touched"]) == (2, 1, 1)
