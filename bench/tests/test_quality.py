"""The benchmark of recall, run whole on tiny sets whose figures are known by hand."""

import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from bench.plan import Plan
from bench.quality import measure

from commonplace.errors import CommonplaceError
from tests.quality_sets import write_sets

ROOT = Path(__file__).parents[2]
HALF = 1 / (1 + 1 / math.log2(3))
"""The nDCG of two gold items of which the first alone is found, at the top."""


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The figures of the three sets, in two modes, with the hashing encoder."""
    return measured(tmp_path_factory.mktemp("quality"), "longmemeval", "locomo", "scifact")


def measured(folder: Path, *sets: str) -> dict[str, Any]:
    """The figures of these sets; all stores share one file of vectors."""
    plan = Plan(write_sets(folder / "sets"), sets, ("words", "hybrid"), None)
    cache = folder / "shared/vectors.db"
    return measure(plan, {"embedding.provider": "hashing", "embedding.cache_file": str(cache)}, processes=1)


def test_sessions_are_found_by_words_as_reckoned_by_hand(told: dict[str, Any]) -> None:
    """One question finds its session first; the other finds one of two, for the other shares no word with it."""
    rows = told["sets"]["longmemeval"]["documents"]["words"]

    assert rows["single-session-user"] == {"n": 1, **dict.fromkeys(list(rows["all"])[1:], 1.0)}
    assert (rows["multi-session"]["strict@5"], rows["multi-session"]["fractional@5"]) == (0, 0.5)
    assert rows["all"]["n"] == 2
    assert (rows["all"]["any@5"], rows["all"]["strict@10"], rows["all"]["fractional@5"]) == (1, 0.5, 0.75)
    assert rows["all"]["nDCG@10"] == pytest.approx((1 + HALF) / 2, abs=1e-4)


def test_turns_are_counted_as_the_set_counts_them(told: dict[str, Any]) -> None:
    """The first turn of the session that shares words, and none of the one that shares none."""
    rows = told["sets"]["longmemeval"]["turns"]["words"]

    assert rows["all"] == {"n": 2, "fraction@5": 0.75, "fraction@10": 0.75, "any@5": 1.0}


def test_speakers_and_pictures_of_locomo_are_found(told: dict[str, Any]) -> None:
    """A caption is text; a question without a shared word finds nothing; one over two sessions finds both."""
    sessions, turns = (told["sets"]["locomo"][level]["words"] for level in ("documents", "turns"))

    assert {group: row["strict@5"] for group, row in sessions.items()} == {
        "1": 1,
        "1-4": pytest.approx(2 / 3, abs=1e-4),
        "2": 0,
        "4": 1,
        "5": 1,
    }
    assert (turns["1"]["fraction@5"], turns["2"]["fraction@5"], turns["5"]["any@5"]) == (1, 0, 1)
    assert told["sets"]["locomo"]["dropped"] == 2


def test_notes_are_found_by_words_as_reckoned_by_hand(told: dict[str, Any]) -> None:
    """One claim finds its abstract, one finds the first of two."""
    rows = told["sets"]["scifact"]["documents"]["words"]

    assert rows["test"]["nDCG@10"] == pytest.approx((1 + HALF) / 2, abs=1e-4)
    assert (rows["test"]["n"], rows["test"]["fractional@10"], rows["train"]["nDCG@10"]) == (2, 0.75, 1)


def test_the_default_mode_finds_what_words_find(told: dict[str, Any]) -> None:
    """Whatever the hashing encoder adds, a session that alone shares the question's words stays first."""
    sessions = told["sets"]["longmemeval"]["documents"]["hybrid"]["single-session-user"]

    assert (sessions["nDCG@10"], sessions["strict@5"]) == (1, 1)
    assert told["sets"]["longmemeval"]["documents"]["hybrid"]["multi-session"]["any@5"] == 1
    assert told["sets"]["locomo"]["documents"]["hybrid"]["4"]["any@5"] == 1
    assert told["sets"]["scifact"]["documents"]["hybrid"]["train"]["nDCG@10"] == 1


def test_confidence_is_higher_where_the_answer_is(tmp_path: Path) -> None:
    """No question shares a word with the haystack of another, so every one is surer on its own."""
    told = measured(tmp_path, "rejection")["rejection"]
    own_or_another = told["auc"][1]

    assert (own_or_another["answerable"], own_or_another["not"], own_or_another["auc"]) == (2, 2, 1.0)
    assert sum(each["n"] for each in told["calibration"]) == 4


def test_the_program_prints_tables_from_two_processes(tmp_path: Path) -> None:
    """As a person runs it; the stores leave nothing behind."""
    write_sets(tmp_path / "sets")
    done = run(tmp_path, "--sets", "longmemeval", "--modes", "words,hybrid", "--ablate", "all")

    assert done.returncode == 0, done.stderr
    assert "| words, all | 2 | 100.0 | 50.0 | 50.0 | 75.0 | 80.7 |" in done.stdout.splitlines()
    assert "2 of 2 stores" in done.stderr
    assert "| hybrid, % | n | with all | no sentences | no whole |" in done.stdout
    assert list((tmp_path / "temporary").iterdir()) == []


def test_a_question_that_fails_ends_the_run(tmp_path: Path) -> None:
    """Nothing is left out in silence."""
    (tmp_path / "shared/vectors.db").mkdir(parents=True)

    with pytest.raises(CommonplaceError):
        measured(tmp_path, "longmemeval")


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The program on the sets in the folder."""
    (folder / "temporary").mkdir()
    command = [sys.executable, str(ROOT / "bench/quality.py"), "--data", str(folder / "sets"), "--encoder", "hashing"]
    return subprocess.run(
        [*command, "--cache", str(folder / "cache"), *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "TMPDIR": str(folder / "temporary")},
    )
