"""The figures of the gate, on judgements made up by hand."""

import pytest
from bench import page
from bench.gate import Example, Judged, apart_from, figures_of, tables


def judged(label: str, found: str, *, times: int) -> list[Judged]:
    return [Judged(Example(f"{label} {number}", label, None), found) for number in range(times)]


MADE = [*judged("keep", "keep", times=8), *judged("secret", "keep", times=2), *judged("secret", "secret", times=6)]


def test_a_text_that_stands_in_the_other_set_is_left_out_whatever_its_label() -> None:
    """Letter by letter: another spelling is another text."""
    other = [Example("Vegetarian.", "keep", None)]
    some = [Example("Vegetarian.", "junk", "x"), Example("vegetarian", "keep", None)]

    assert apart_from(some, other) == some[1:]


def test_recall_comes_with_its_interval_and_precision_with_what_was_claimed() -> None:
    """Labels that do not occur are not told."""
    told = figures_of(MADE)

    assert told["labels"] == {
        "keep": {"examples": 8, "recall": 1.0, "interval": [0.6756, 1.0], "precision": 0.8},
        "secret": {"examples": 8, "recall": 0.75, "interval": [0.4093, 0.9285], "precision": 1.0},
    }


def test_the_table_tells_n_recall_interval_precision_and_how_many_were_left_out() -> None:
    """A set that was not judged has no table."""
    lines = list(tables({"blind": {**figures_of(MADE), "left_out": 19, "ms_per_2000_characters": 3.5}}))

    assert "| secret | 8 | 75.0 | 40.9 to 92.8 | 100.0 | 2 | 6 |" in lines
    assert "19 texts that are also in the development set are left out." in lines
    assert not any("### development" in line for line in lines)


def test_the_page_shows_the_newest_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the commit and the machine, in the place of the words that there are none."""
    where = {"commit": "abc", "dirty": False, "date": "2026-01-01", "machine": {"cores": 2, "cpu": "some"}}
    blind = {**figures_of(MADE), "left_out": 0, "ms_per_2000_characters": 3.5}
    monkeypatch.setattr(page, "kept", lambda name: [{**where, "blind": blind}] if name == "gate" else [])
    written = page.written()

    assert "| keep | 8 | 100.0 | 67.6 to 100.0 | 80.0 | 8 | 0 |" in written
    assert "No figures of `gate`" not in written
    assert "are left out.\n16 examples" not in written
