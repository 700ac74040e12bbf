"""How the suite runs: an order by seed, a failure named at once, figures at the end."""

import re
from pathlib import Path

import pytest

TESTS = """
def test_one(): pass
def test_two(): assert 1 + 1 == 3, "sums"
def test_three(): pass
def test_four(): pass
"""


@pytest.fixture(autouse=True)
def _project(monkeypatch: pytest.MonkeyPatch) -> None:
    """The plugin is found in whatever folder pytest runs, which loads no others."""
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")


def lines_of(pytester: pytest.Pytester, *options: str) -> list[str]:
    pytester.makepyfile(test_sample=TESTS, test_other=TESTS)
    return pytester.runpytest_subprocess("-p", "tests.suite", "-v", "--color", "no", *options).outlines


def order(lines: list[str]) -> list[str]:
    return [line.split()[0] for line in lines if re.match(r"test_\w+\.py::test_\w+ (PASSED|FAILED)", line)]


def test_a_seed_decides_the_order_and_the_tests_of_a_module_stay_together(pytester: pytest.Pytester) -> None:
    """The same seed gives the same order, another seed another one, and 0 the order of the files."""
    first, again, other, files = (order(lines_of(pytester, "--seed", seed)) for seed in ("3", "3", "4", "0"))

    assert first == again != other
    assert sorted(first) == sorted(other) == sorted(files)
    assert files == [
        f"{file}.py::test_{n}" for file in ("test_other", "test_sample") for n in ("one", "two", "three", "four")
    ]
    assert len({name.split("::")[0] for name in first[:4]}) == 1


def test_a_failure_is_named_when_it_happens_and_again_at_the_end(pytester: pytest.Pytester) -> None:
    """With its assertion; a test in another worker, too."""
    lines = lines_of(pytester, "-p", "xdist", "-n", "1", "--figures", "--seed", "0")
    named = [number for number, line in enumerate(lines) if line == "FAILED test_other.py::test_two (call)"]

    assert ["sums" in lines[number + 1] for number in named] == [True, True]
    assert named[0] < next(number for number, line in enumerate(lines) if "test_sample.py::test_four" in line)
    assert any(line.endswith("order: --seed 0") for line in lines)
