"""The requirement markers are sound, and the page made of them is the one that is committed."""

from pathlib import Path

import pytest

from tools import requirements


def test_every_marker_names_rows_that_exist() -> None:
    """At most three rows a test and three tests a row, each known, the contract in the docstring."""
    assert requirements.complaints() == []


def test_all_rows_are_listed_once() -> None:
    """303 rows of the originals and 26 of their readers, no id twice."""
    ids = [row.id for row in requirements.rows()]

    assert len(ids) == len(set(ids)) == 329


def test_a_marker_is_found_with_its_test(tmp_path: Path) -> None:
    """The generator reads markers from the source, so that a test that was not run counts too."""
    (tmp_path / "test_x.py").write_text('@pytest.mark.requirement("D-01", "D-02")\ndef test_y():\n    """Rule."""\n')

    (holder,) = requirements.holders(tmp_path)

    assert (holder.name, holder.ids, holder.docstring) == ("test_y", ("D-01", "D-02"), "Rule.")


@pytest.mark.parametrize("ci", ["true", ""])
def test_a_missing_component_is_a_skip_at_home_and_a_failure_under_ci(pytester: pytest.Pytester, ci: str) -> None:
    """One visible line says what is missing; `CI=true` lets nothing be skipped."""
    root = Path(__file__).parents[2]
    pytester.makeconftest((root / "tests/conftest.py").read_text().replace('pytest_plugins = ["pytester"]', ""))
    pytester.makepyfile("import pytest\n@pytest.mark.needs('node')\ndef test_page(): pass")
    pytester.makeini("[pytest]\nmarkers = needs(component): x")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CI", ci)
        patch.setenv("PATH", "")
        patch.syspath_prepend(root)
        run = pytester.runpytest_inprocess("-ra", "-p", "no:cacheprovider")

    run.assert_outcomes(errors=1 if ci else 0, skipped=0 if ci else 1)
    run.stdout.fnmatch_lines(["*node is missing: install Node.js*"])
