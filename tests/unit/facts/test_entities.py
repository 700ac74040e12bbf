"""Entities: one name for all its spellings."""

import pytest

from commonplace.facts.entities import entity_key, unlinked


@pytest.mark.parametrize(
    "spelling",
    [
        "Ada Lindqvist",
        " ada  LINDQVIST ",
        "[[Ada Lindqvist]]",
        "[[People/Ada Lindqvist|Ada]]",
        "[[Ada Lindqvist#Work]]",
        "People/Ada Lindqvist",
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


@pytest.mark.parametrize("name", ["TCP/IP", "24/7", "client/server", "C#", ".NET", "C++", "A/B", "3/4"])
def test_signs_that_belong_to_a_name_stay(name: str) -> None:
    """A slash is a folder only in a link, before `.md`, or after a word that begins as folders do."""
    assert entity_key(name) == name.casefold()


def test_accents_compare_however_they_are_written() -> None:
    """Composed and decomposed letters are the same letter."""
    assert entity_key("Zoe\u0308") == entity_key("zo\u00eb")


def test_no_name_is_no_entity() -> None:
    """An empty name stays empty, and is not the user."""
    assert entity_key("  ", user="") == ""


def test_links_within_a_text_become_the_names_of_their_notes() -> None:
    """Brackets, folders, headings and shown words go; all else stays."""
    assert unlinked("met [[People/Ada|her]] at ![[Acme#Office]].") == "met Ada at Acme."
