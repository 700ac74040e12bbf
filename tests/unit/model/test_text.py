"""Folding of names: what compares equal, and where the functions differ."""

import re

import pytest

from commonplace.model.text import LazyPattern, fold_heading, fold_name, fold_phrase, fold_stored, lower_name

FOLDS = (fold_name, fold_phrase, fold_heading, fold_stored, lower_name)


@pytest.mark.parametrize(("one", "other"), [("Ada", "ADA"), ("K\u00e4se", "Ka\u0308SE"), ("\u00c4", "a\u0308")])
def test_case_and_composition_do_not_count(one: str, other: str) -> None:
    """For every function."""
    for fold in FOLDS:
        assert fold(one) == fold(other), fold.__name__


def test_where_the_functions_differ() -> None:
    """Links keep sharp s apart; phrases and headings collapse spaces; headings are not composed again."""
    assert fold_name("Straße") == fold_name("STRASSE")
    assert lower_name("Straße") != lower_name("Strasse")
    assert fold_phrase(" Ada \n Lovelace") == fold_heading("ada lovelace") == "ada lovelace"
    assert fold_name("a  b") == "a  b"
    assert fold_phrase("\u0390") == "\u0390"
    assert fold_heading("\u0390") == "\u03b9\u0308\u0301"


def test_a_lazy_pattern_matches_like_a_compiled_one() -> None:
    """It compiles at first use, and only then sees a bad expression."""
    lazy, eager = LazyPattern(r"(\d)x", re.IGNORECASE), re.compile(r"(\d)x", re.IGNORECASE)
    text = "1x 2X 3y"

    assert [match.span() for match in lazy.finditer(text)] == [match.span() for match in eager.finditer(text)]
    assert lazy.findall(text) == eager.findall(text)
    assert lazy.split(text) == eager.split(text)
    assert lazy.sub("-", text) == eager.sub("-", text)
    assert (lazy.search(text, 1) is None, lazy.match("a1x"), lazy.fullmatch("1xx")) == (False, None, None)
    with pytest.raises(re.error):
        LazyPattern("(").search("")
