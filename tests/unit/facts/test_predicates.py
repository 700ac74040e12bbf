"""Predicates: one spelling for each, and the rule that it has."""

import pytest

from commonplace.facts.options import FactsOptions
from commonplace.facts.predicates import EPHEMERAL, Predicates, predicate_key, predicates_of

BEGINS = "2026-03-01T09:00:00Z"


@pytest.mark.parametrize("spelling", ["works_at", "Works at", " works-at ", "worksAt", "WORKS_AT", "works  at:"])
def test_a_predicate_has_one_spelling(spelling: str) -> None:
    """Case, spaces, dashes and humps do not make another predicate."""
    assert predicate_key(spelling) == "works_at"


def test_no_predicate_has_no_key() -> None:
    """Nothing but signs is no predicate."""
    assert predicate_key(" - ") == ""


@pytest.mark.requirement("I-55", "I-56", "I-58")
@pytest.mark.parametrize(
    ("predicate", "single", "temporary"),
    [
        ("works_at", True, False),
        ("Lives in", True, False),
        ("has_role", True, False),
        ("has_status", True, False),
        ("staying_in", False, True),
        ("visiting", False, True),
        ("likes", False, False),
        ("decided", False, False),
    ],
)
def test_the_usual_predicates_have_their_rules(predicate: str, single: bool, temporary: bool) -> None:
    """Four have one value at a time, two hold for a while; every other may have many values."""
    usual = Predicates()

    assert usual.is_single(predicate) is single
    assert usual.is_temporary(predicate) is temporary


@pytest.mark.requirement("I-57")
@pytest.mark.parametrize("predicate", ["interested_in", "completed", "acquired", "disposed_of", "traveled_to"])
def test_what_expires_ends_after_ninety_days(predicate: str) -> None:
    """An expiring predicate without an end of its own lasts 90 days from its beginning."""
    assert Predicates().default_until(predicate, BEGINS) == "2026-05-30T09:00:00Z"


@pytest.mark.requirement("I-57")
def test_a_decision_lasts() -> None:
    """`decided` tells of something that happened, but it does not end by itself."""
    assert "decided" in EPHEMERAL
    assert Predicates().default_until("decided", BEGINS) == ""


def test_an_end_after_the_last_year_is_no_end() -> None:
    """What would expire beyond the calendar lasts."""
    assert Predicates().default_until("completed", "9999-12-30T00:00:00Z") == ""


def test_a_person_may_add_predicates_of_their_own() -> None:
    """The options add to each rule, in any spelling, and set the days."""
    options = FactsOptions(single_valued=("drives",), temporary=("On call",), expiring=("reading",), expiring_days=7)
    own = predicates_of(options)

    assert own.is_single("drives")
    assert own.is_single("works_at")
    assert own.is_temporary("on_call")
    assert own.default_until("reading", BEGINS) == "2026-03-08T09:00:00Z"


def test_what_a_person_says_of_a_usual_predicate_counts() -> None:
    """A usual single-valued predicate that the options call temporary is no longer single-valued, and the reverse."""
    own = predicates_of(FactsOptions(single_valued=("visiting",), temporary=("has_status",)))

    assert (own.is_single("has_status"), own.is_temporary("has_status")) == (False, True)
    assert (own.is_single("visiting"), own.is_temporary("visiting")) == (True, False)


def test_a_predicate_cannot_be_both_single_valued_and_temporary() -> None:
    """The two rules say the opposite of each other, in whatever spelling."""
    with pytest.raises(ValueError, match="must not both name on_call"):
        FactsOptions(single_valued=("On call",), temporary=("on_call",))
