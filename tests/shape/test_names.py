"""The house stays readable: modules of a size, few with one importer, names in plain English, one meaning for each."""

import tomllib
from collections.abc import Iterable
from pathlib import Path
from statistics import median
from typing import Final

import pytest

from tools.shape import LONG, Module, classes_defined_twice, importers, read_modules

ROOT: Final = Path(__file__).parents[2]
MOST_MODULES: Final = 640  # a module for each page; twins in PostgreSQL of index, history and vault
LEAST_MEDIAN: Final = 120
MOST_WITH_ONE_IMPORTER: Final = 0.20
MOST_LONG_FUNCTIONS: Final = 0.01

GERUNDS_THAT_ARE_NOUNS: Final = {"hashing", "learning", "ranking", "screening", "testing"}
"""Words in -ing that name a thing or a trade, not a deed."""
EMPTY_WORDS: Final = {"common", "core", "data", "helpers", "info", "misc", "utils"}
PARTICIPLES_AND_PRONOUNS: Final = {
    *("about", "around", "given", "held", "here", "it", "kept", "known", "made", "meant", "ours", "others", "said"),
    *("seen", "sent", "taken", "that", "them", "there", "those", "together", "told", "when", "where", "which", "who"),
}


CONTRACTS: Final = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
IMPLEMENTATIONS: Final[list[str]] = next(
    each["protected_modules"] for each in CONTRACTS if each["id"] == "implementations"
)


@pytest.fixture(scope="module")
def modules() -> dict[str, Module]:
    """Every module of the program."""
    return read_modules()


def unclear(names: Iterable[str]) -> list[str]:
    """Module names that are participles, pronouns or empty words."""
    found = []
    for name in names:
        last = name.split(".")[-1]
        words = last.strip("_").split("_")
        is_participle = last.endswith(("ing", "ed")) and last not in GERUNDS_THAT_ARE_NOUNS
        if last in EMPTY_WORDS | PARTICIPLES_AND_PRONOUNS or (is_participle and len(words) == 1):
            found.append(name)
    return found


def is_implementation(name: str) -> bool:
    """Whether the module is, or is part of, an implementation of a seam.

    A job implements that of `upkeep/job.py`, and a page is one of `PAGES` in `web/page/app.py`.
    """
    is_page = name.startswith("commonplace.web.page.") and name.endswith("_page")
    return (
        is_page
        or name.startswith("commonplace.upkeep.")
        or any(name == each or name.startswith(f"{each}.") for each in IMPLEMENTATIONS)
    )


def test_no_module_is_named_by_a_participle_a_pronoun_or_an_empty_word(modules: dict[str, Module]) -> None:
    """A module's name is a noun for a thing or a verb for a deed."""
    assert unclear(modules) == []


@pytest.mark.parametrize("name", ["commonplace.flows.asked", "commonplace.flows.fitting", "commonplace.utils"])
def test_an_unclear_name_is_caught(name: str) -> None:
    """The rule above can fail."""
    assert unclear([name]) == [name]


def test_a_class_name_means_one_thing_in_the_whole_program(modules: dict[str, Module]) -> None:
    """No public class name is defined in two modules."""
    assert classes_defined_twice(modules) == {}


def test_what_is_read_together_stands_together(modules: dict[str, Module]) -> None:
    """Few modules, not too small, and few that exist for one importer; only `app` may import an implementation."""
    imported_by = importers(modules)
    once = [name for name in modules if len(imported_by[name]) == 1 and not is_implementation(name)]

    assert len(modules) <= MOST_MODULES
    assert median(module.lines for module in modules.values()) >= LEAST_MEDIAN
    assert len(once) / len(modules) < MOST_WITH_ONE_IMPORTER, once


def test_functions_are_short(modules: dict[str, Module]) -> None:
    """Almost no function is longer than a screen."""
    lines = [each for module in modules.values() for each in module.functions]

    assert sum(each > LONG for each in lines) / len(lines) < MOST_LONG_FUNCTIONS
