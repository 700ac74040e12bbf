"""Sentences: what an entry says when only a triple was given."""

import pytest

from commonplace.facts.sentence import sentence_of


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
    assert sentence_of(*triple) == said


def test_the_id_of_the_user_is_no_subject() -> None:
    """Whoever is told by their id is the user too."""
    assert sentence_of("simon", "likes", "tea", user="simon") == "Likes tea."
