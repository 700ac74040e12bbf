"""Time as text: bars and their axis."""

import pytest

from commonplace.cli.timeline import TimeBar, axis, bar, scale_of

NOW = "2026-01-01T00:00:00Z"
OLD = TimeBar("2022-01-01T00:00:00Z", "2024-01-01T00:00:00Z")
NEW = TimeBar("2024-01-01T00:00:00Z", "")


def drawn(*spans: TimeBar, width: int = 21, now: str = NOW) -> list[str]:
    scale = scale_of(spans, now=now, width=width)
    return [*axis(scale, now=now), *(bar(span, scale, now=now) for span in spans)]


def test_each_fact_is_a_bar_from_its_begin_to_its_end() -> None:
    """What still holds goes on to the present; the end of one stands above the begin of the next."""
    assert drawn(OLD, NEW) == [
        "2022      2024   2026",
        "┼─────────┼─────────◆",
        "●━━━━━━━━━○          ",
        "          ●━━━━━━━━━▶",
    ]


def test_confirmations_are_marked_on_the_bar() -> None:
    """One outside of the bar is not drawn."""
    confirmed = TimeBar(OLD.begins, OLD.until, ("2023-01-01", "2025-06-01"))

    assert drawn(confirmed)[2] == "●━━━━╋━━━━○          "


def test_what_began_nobody_knows_when_comes_from_the_left_edge() -> None:
    """It has no mark of a begin."""
    assert drawn(TimeBar("", "2024-01-01T00:00:00Z"), OLD)[2] == "━━━━━━━━━━○          "
    assert drawn(TimeBar("", ""), OLD)[2] == "━━━━━━━━━━━━━━━━━━━━▶"


def test_what_is_to_come_stands_right_of_now() -> None:
    """The axis reaches to the last end or begin, and now is a mark on it."""
    lines = drawn(OLD, TimeBar("2025-01-01T00:00:00Z", "2032-01-01T00:00:00Z"), TimeBar("2030-01-01T00:00:00Z", ""))

    assert lines[1].index("◆") == lines[3].index("●") + 2
    assert lines[3].endswith("○")
    assert lines[4].strip() == "●"


@pytest.mark.parametrize(
    ("begins", "names"),
    [
        ("1026-01-01T00:00:00Z", ["1500", "2000"]),
        ("2023-06-01T00:00:00Z", ["2024", "2025", "2026"]),
        ("2025-11-10T00:00:00Z", ["2025-12"]),
        ("2025-12-30T12:00:00Z", ["2026-01-01"]),
    ],
)
def test_the_axis_names_years_months_or_days_as_finely_as_they_fit(begins: str, names: list[str]) -> None:
    """And no two names run into each other."""
    assert drawn(TimeBar(begins, ""))[0].split() == names


@pytest.mark.parametrize("width", [2, 5, 9, 30, 200])
@pytest.mark.parametrize("begins", ["0001-01-01T00:00:00Z", "2025-12-31T23:59:59Z", NOW])
def test_every_line_is_as_wide_as_asked_for(width: int, begins: str) -> None:
    """However narrow it is, and however long ago or new the fact."""
    assert {len(line) for line in drawn(TimeBar(begins, ""), TimeBar(begins, begins), width=width)} == {width}
