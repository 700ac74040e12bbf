"""Slugs: a few words of a text, fit for the name of a file."""

import pytest

from commonplace.facts.slug import LONGEST, slug_of


@pytest.mark.parametrize(
    ("text", "slug"),
    [
        ("Prefers TypeScript over JavaScript", "prefers-typescript-over-javascript"),
        ("\n\n# **Größe** der Straße\n\nmore", "grosse-der-strasse"),
        ("Don't push on Fridays", "dont-push-on-fridays"),
        ("Łukasz knows Øystein", "lukasz-knows-oystein"),
        ("../../etc/passwd", "etc-passwd"),
        ("ﬁne ½", "fine-1-2"),
    ],
)
def test_a_slug_is_the_first_line_in_plain_letters(text: str, slug: str) -> None:
    """Accents, signs and further lines are dropped."""
    assert slug_of(text) == slug


def test_a_slug_ends_at_the_end_of_a_word() -> None:
    """It is as long as it may be, and no word is cut."""
    slug = slug_of("alpha beta gamma delta epsilon zeta eta theta iota kappa lambda")

    assert slug == "alpha-beta-gamma-delta-epsilon-zeta-eta-theta"
    assert len(slug) <= LONGEST


def test_a_first_word_that_is_too_long_is_cut() -> None:
    """A slug is never longer than it may be."""
    assert slug_of("x" * 300) == "x" * LONGEST


@pytest.mark.parametrize("text", ["", "  \n", "...", "日本語", "🎉"])
def test_a_text_without_letters_of_ours_still_has_a_slug(text: str) -> None:
    """A slug is never empty."""
    assert slug_of(text) == "entry"
