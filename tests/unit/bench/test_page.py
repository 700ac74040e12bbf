"""The page of the benchmarks, with figures and before there are any."""

import pytest
from bench import page

TITLES = (
    "## Updated values, and ranking by age",
    "## Screening of new entries",
    "## Entries and facts at scale",
)


def test_sections_say_how_they_are_measured_before_there_are_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    """And that there are none yet."""
    monkeypatch.setattr(page, "kept", lambda name: [])
    written = page.written()

    for name, title in zip(("updates", "gate", "entries"), TITLES, strict=True):
        section = written.split(title)[1].split("\n## ")[0]
        assert "**What this does not show**" in section
        assert f"No figures of `{name}` yet." in section


def test_every_section_has_its_title_once_with_the_figures_that_are_kept() -> None:
    """Whatever figures lie there now, all sections are written, and writing again changes nothing in the rest."""
    written = page.written()

    assert [written.count(f"\n{title}\n") for title in TITLES] == [1, 1, 1]
    assert written.startswith(page.PAGE.read_text().split(page.BEGIN)[0])
