"""Options: converting a value to the type and range of its option."""

from dataclasses import FrozenInstanceError

import pytest

from commonplace.settings.schema import OPTIONS, Settings, convert


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("retrieval.default_k", "many", "'many' is not a number"),
        ("retrieval.default_k", 2.5, "2.5 is not a whole number"),
        ("retrieval.default_k", 0, "must be at least 1, not 0"),
        ("retrieval.default_k", True, "True is not a number"),
        ("retrieval.default_k", "9" * 5000, "is not a number"),
        ("retrieval.min_score", 1.5, "must be at most 1.0, not 1.5"),
        ("retrieval.min_score", float("nan"), "nan is not a number"),
        ("safety.path_allowlist", [1], r"\[1\] is not a list of strings"),
        ("sources.vault.enabled", "perhaps", "'perhaps' is neither true nor false"),
        ("safety.autonomy", "mediun", r"'mediun' is not one of low, medium, high; did you mean medium\?"),
        ("retrieval.without", ["kinships"], r"did you mean kinship\?"),
        ("vault.root", "", "must not be empty"),
        ("vault.root", 5, "5 is not a text"),
        ("facts.kinds", "[" * 50_000 + "," + "]" * 50_000, "is not a list: write a, b, c without brackets"),
        ("vault.root", "~nosuchuser/x", "there is no such user"),
        ("vault.root", "a\0b", "is not a path"),
    ],
)
def test_a_value_that_does_not_fit_is_refused_with_what_would(key: str, value: object, message: str) -> None:
    """The message has the value, what is wrong with it, and the most similar valid one."""
    with pytest.raises(ValueError, match=message):
        convert(value, OPTIONS[key])


@pytest.mark.parametrize(
    ("key", "value", "converted"),
    [
        ("retrieval.default_k", "12", 12),
        ("retrieval.default_k", 3.0, 3),
        ("retrieval.min_score", "0.5", 0.5),
        ("capture.enabled", "off", False),
        ("capture.enabled", " Yes ", True),
        ("safety.path_allowlist", "Inbox, Daily,", ("Inbox", "Daily")),
        ("retrieval.without", "links, kinship", ("links", "kinship")),
        ("data", None, None),
    ],
)
def test_text_becomes_the_type_of_its_option(key: str, value: object, converted: object) -> None:
    """Variables and flags are text; files have types of their own."""
    assert convert(value, OPTIONS[key]) == converted


def test_options_are_frozen() -> None:
    """A room cannot change what another reads."""
    with pytest.raises(FrozenInstanceError):
        Settings().retrieval.default_k = 3  # type: ignore[misc]
