"""Entities, predicates and their rules, and triples as sentences."""

import pytest

from commonplace.facts.options import FactsOptions
from commonplace.facts.triples import (
    EPHEMERAL,
    Predicates,
    entity_key,
    predicate_key,
    predicates_of,
    strip_links,
    triple_sentence,
)

BEGINS = "2026-03-01T09:00:00Z"


@pytest.mark.parametrize("spelling", ["works_at", "Works at", " works-at ", "worksAt", "WORKS_AT", "works  at:"])
def test_a_predicate_has_one_spelling(spelling: str) -> None:
    """Case, spaces, dashes and humps do not make another predicate."""
    assert predicate_key(spelling) == "works_at"


def test_no_predicate_has_no_key() -> None:
    """Nothing but signs is no predicate."""
    assert predicate_key(" - ") == ""


@pytest.mark.requirement("I-56")
@pytest.mark.parametrize(
    ("predicate", "single", "temporary"),
    [
        ("name", True, False),
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
    """Five have one value at a time, two hold for a while; every other may have many values."""
    usual = Predicates()

    assert usual.is_single(predicate) is single
    assert usual.is_temporary(predicate) is temporary


@pytest.mark.requirement("I-57")
@pytest.mark.parametrize("predicate", ["interested_in", "completed", "acquired", "disposed_of", "traveled_to"])
def test_what_expires_ends_after_ninety_days(predicate: str) -> None:
    """An expiring predicate without an end of its own lasts 90 days from its beginning."""
    assert Predicates().default_until(predicate, BEGINS) == "2026-05-30T09:00:00Z"


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


@pytest.mark.parametrize(
    "spelling",
    [
        "Ada Lindqvist",
        " ada  LINDQVIST ",
        "[[Ada Lindqvist]]",
        "[[People/Ada Lindqvist|Ada]]",
        "[[Ada Lindqvist#Work]]",
        "people/Ada Lindqvist.md",
        "**Ada Lindqvist**,",
        "\u201cAda Lindqvist\u201d",
    ],
)
def test_all_spellings_of_a_name_are_one_entity(spelling: str) -> None:
    """Case, spaces, links, folders, emphasis and quotes do not make another entity."""
    assert entity_key(spelling) == "ada lindqvist"


@pytest.mark.parametrize("name", ["I", "me", "Myself", "simon", " Simon "])
def test_the_user_is_me_by_any_name(name: str) -> None:
    """`I`, `me`, `myself` and the id of the user mean the user."""
    assert entity_key(name, user="simon") == "me"


@pytest.mark.parametrize("name", ["TCP/IP", "24/7", "Vue/React", "> 25", "C#", ".NET", "C++", "Who?", "-5", "$5"])
def test_signs_that_belong_to_a_name_stay(name: str) -> None:
    """A slash is a folder only in a link or before `.md`; other signs are part of the name."""
    assert entity_key(name) == name.casefold()


def test_accents_compare_however_they_are_written() -> None:
    """Composed and decomposed letters are the same letter."""
    assert entity_key("Zoe\u0308") == entity_key("zo\u00eb")


def test_no_name_is_no_entity() -> None:
    """An empty name stays empty, and is not the user."""
    assert entity_key("  ", user="") == ""


def test_links_within_a_text_become_the_names_of_their_notes() -> None:
    """Brackets, folders, headings and shown words go; all else stays."""
    assert strip_links("met [[People/Ada|her]] at ![[Acme#Office]].") == "met Ada at Acme."


@pytest.mark.requirement("V-04")
@pytest.mark.parametrize(
    ("triple", "said"),
    [
        (("Ada Lindqvist", "works_at", "Acme"), "Ada Lindqvist works at Acme."),
        (("[[Ada Lindqvist]]", "works_at", "[[Acme]]"), "[[Ada Lindqvist]] works at [[Acme]]."),
        (("me", "works_at", "Acme"), "Works at Acme."),
        (("I", "Lives in", " Berlin "), "Lives in Berlin."),
        (("Ada", "works_at", "Acme Inc."), "Ada works at Acme Inc."),
        (("ada", "likes", "tea"), "Ada likes tea."),
    ],
)
def test_a_triple_is_one_short_sentence(triple: tuple[str, str, str], said: str) -> None:
    """Subject, predicate and object with one full stop; of the user without a subject; links stay."""
    assert triple_sentence(*triple) == said


def test_the_id_of_the_user_is_no_subject() -> None:
    """Whoever is told by their id is the user too."""
    assert triple_sentence("simon", "likes", "tea", user="simon") == "Likes tea."
