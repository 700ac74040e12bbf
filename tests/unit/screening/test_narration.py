"""Narration: a statement is taken out of the bullet or label before it, and keeps every other word."""

import time

import pytest

from commonplace.screening.narration import statement_of

STRIPPED = {
    "Note: the vet is Dr. Berg.": "The vet is Dr. Berg.",
    "**Note:** Vegan.": "Vegan.",
    "- Owns a tandem.": "Owns a tandem.",
    "For the record, he is vegan.": "He is vegan.",
    "Noted: rents are due on the 3rd.": "Rents are due on the 3rd.",
    "FYI: pnpm is used everywhere.": "pnpm is used everywhere.",
    "- Note: In this conversation, the user said that the rent is due on the 3rd.": (
        "In this conversation, the user said that the rent is due on the 3rd."
    ),
}
LEFT = (
    "As far as I know, Jonas works at Tatra.",
    "Apparently the mill is closed.",
    "It turns out that the kiln is cracked.",
    "From what I understand, the tests run nightly.",
    "According to the user, the pump is broken.",
    "User mentioned that they prefer tea.",
    "The user said he is moving to Porto in May.",
    "Please note that deploys happen on Tuesdays.",
    "Remember that Anna is vegan.",
    "Remember the milk.",
    "By the way she walks, she is hurt.",
    "Preference: dark mode",
    "Update: CI runs on GitHub now.",
    "Memory: 16 GB",
    "- 18 °C is the freezer's target.",
    "– 5 °C is too warm.",
    "- [ ] Call Anna",
    "- one\n- two",
    "Note: first line\nsecond line",
    "",
)


@pytest.mark.parametrize("text", STRIPPED)
def test_a_statement_is_saved_without_bullet_and_label(text: str) -> None:
    """They say nothing about it."""
    assert statement_of(text) == STRIPPED[text]
    assert statement_of(STRIPPED[text]) == STRIPPED[text]


@pytest.mark.parametrize("text", LEFT)
def test_no_word_of_a_statement_is_lost(text: str) -> None:
    """Doubt and who said it are part of what was said; so is a label that says something."""
    assert statement_of(text) == text


@pytest.mark.parametrize("piece", ["- ", "note: ", "**", "for the record, ", "- note: "])
def test_no_text_holds_the_save_up(piece: str) -> None:
    """100,000 characters of anything take a moment."""
    begun = time.process_time()
    for start in ("", "- ", "**Note"):
        statement_of(start + piece * (100_000 // len(piece)) + " x")

    assert time.process_time() - begun < 1.0
