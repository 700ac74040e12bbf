"""Caches in memory: the daemon runs for months, so each has a bound."""

import importlib
import inspect
import pkgutil
from typing import Any, Final

import commonplace

MOST: Final = 20_000
"""Entries of one cache. Those of words held 131,072: each thousand questions added 0.7 MB to the daemon."""

CONSTANT: Final = frozenset({"commonplace.notes.markdown._parser_without", "commonplace.screening.junk_phrases.any_of"})
"""Called with texts of the program alone."""


def _caches() -> dict[str, Any]:
    names = [each.name for each in pkgutil.walk_packages(commonplace.__path__, "commonplace.")]
    modules = [importlib.import_module(name) for name in names if not name.endswith("__main__")]
    return {
        f"{module.__name__}.{name}": value
        for module in modules
        for name, value in vars(module).items()
        if hasattr(value, "cache_parameters") and value.__module__ == module.__name__
    }


def test_no_cache_of_a_function_grows_without_a_bound() -> None:
    """A function with arguments has at most so many answers kept; one without has one."""
    caches = _caches()
    unbounded = [
        name
        for name, function in caches.items()
        if name not in CONSTANT
        if inspect.signature(function).parameters and not 0 < (function.cache_parameters()["maxsize"] or 0) <= MOST
    ]

    assert len(caches) > 10
    assert not unbounded
