"""What the benchmark of entries says of its times, on figures made up by hand."""

from typing import Any

import pytest
from bench import page
from bench.entries_tables import judged, tables


def asked(p95: float, longest: float, *, target: float = 20.0) -> dict[str, float]:
    return {"n": 200, "first": 300.0, "p50": 1.0, "p95": p95, "max": longest, "target": target}


def told(**groups: dict[str, dict[str, float]]) -> dict[str, Any]:
    """The figures of one size, with these questions in the place of the usual ones."""
    saved = {"n": 60, "p50": 20.0, "p95": 30.0, "max": 40.0, "repository_kb": 4.3}
    usual = {
        "usual": {"facts about an entity": asked(2, 3)},
        "topics": {"topics of a message": asked(30, 60, target=50)},
        "hub": {"facts about the hub": asked(8, 9)},
    }
    size = {
        "entries": 1000,
        "encoder": "hashing",
        "facts_of_an_entity": 7.4,
        "facts_of_the_hub": 2000,
        "saves": {"a statement": saved, "evolve": saved},
        "asked": {**usual, **groups},
        **dict.fromkeys(("first_index_s", "rebuild_s", "imported_mb", "repository_mb", "notes_mb", "data_mb"), 1.5),
    }
    real = {"entries": 1000, "encoder": "real", "saves": {"a statement": {**saved, "p50": 30.0}}, "asked": {}}
    return {"sizes": [size], "real": real}


def test_questions_are_judged_by_p95_and_the_longest_is_told() -> None:
    """One time over the target does not miss it, and each group has its own target."""
    lines = list(judged(told(usual={"timeline": asked(19, 21), "search": asked(2, 90)})))

    assert lines == [
        "1,000 entries, questions about usual entities: met, p95 of 20 ms at most; the highest is 19 ms (timeline), "
        "the longest of all times 90 ms (search)",
        "1,000 entries, inferring topics: met, p95 of 50 ms at most; the highest is 30 ms (topics of a message), "
        "the longest of all times 60 ms (topics of a message)",
        "1,000 entries, questions about the hub: met, p95 of 20 ms at most; the highest is 8 ms (facts about the hub), "
        "the longest of all times 9 ms (facts about the hub)",
    ]


@pytest.mark.parametrize(("p50", "word"), [(40.0, "met"), (41.0, "MISSED")])
def test_a_save_is_judged_by_how_much_it_has_grown(p50: float, word: str) -> None:
    """At most twice what it costs at the smallest size, the worst way to save counting."""
    small, large = told()["sizes"][0], told()["sizes"][0]
    large |= {"entries": 100_000, "saves": {**large["saves"], "evolve": {**large["saves"]["evolve"], "p50": p50}}}
    (line,) = [line for line in judged({"sizes": [small, large]}) if "saving" in line]

    assert line == (
        f"100,000 entries, saving: {word}, at most 2 times the p50 of 1,000; "
        f"the highest is {p50 / 20:.2f} times (evolve)"
    )


def test_the_hub_is_judged_apart() -> None:
    """That it misses the target says nothing of usual entities."""
    words = [line.split(": ")[1].split(",")[0] for line in judged(told(hub={"facts about the hub": asked(21, 30)}))]

    assert words == ["met", "met", "MISSED"]


def test_the_tables_name_the_encoder_and_how_many_facts_there_are() -> None:
    """The growth of the median is beside that of the smallest size with the hashing encoder."""
    lines = list(tables(told()))

    assert "| 1,000 | hashing | a statement | 60 | 20.0 | 30.0 | 40.0 | 1.00 | 4.3 |" in lines
    assert "| 1,000 | real | a statement | 60 | 30.0 | 30.0 | 40.0 | 1.50 | 4.3 |" in lines
    assert "| 1,000 | hashing | facts about the hub of 2,000 facts | 200 | 300.0 | 1.0 | 8 | 9 | 20 |" in lines
    assert "| 1,000 | hashing | facts about an entity of about 7.4 facts | 200 | 300.0 | 1.0 | 2 | 3 | 20 |" in lines


def test_the_page_shows_the_newest_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the commit and the machine, in the place of the words that there are none."""
    where = {"commit": "abc", "dirty": False, "date": "2026-01-01", "machine": {"cores": 2, "cpu": "some"}}
    monkeypatch.setattr(page, "kept", lambda name: [{**where, **told()}] if name == "entries" else [])
    written = page.written()

    assert "2026-01-01, commit `abc`, 2 cores (some)." in written
    assert "| 1,000 | hashing | evolve | 60 | 20.0 | 30.0 | 40.0 | 1.00 | 4.3 |" in written
    assert "No figures of `entries`" not in written
