"""Narration: a statement is taken out of the words around it, and never changes its subject."""

import time

import pytest

from commonplace.screening.narration import statement_of

STRIPPED = {
    "User mentioned that the cat is called Otto.": "The cat is called Otto.",
    "The user also told me that Sam's brother works at Volvo.": "Sam's brother works at Volvo.",
    "The user said the old office is closed.": "The old office is closed.",
    "The user said he is moving to Porto in May.": "The user is moving to Porto in May.",
    "The user says they're allergic to nuts.": "The user is allergic to nuts.",
    "User mentioned that they prefer tea.": "The user prefers tea.",
    "User mentioned that they usually study at night.": "The user usually studies at night.",
    "User said that they don’t eat meat.": "The user doesn't eat meat.",
    "User says she'd like shorter answers.": "The user would like shorter answers.",
    "User mentioned that their daughter is called Mia.": "The user's daughter is called Mia.",
    "I learned that their shop runs on one server.": "Their shop runs on one server.",
    "I noticed the user prefers tabs.": "The user prefers tabs.",
    "Remember that Anna is vegan.": "Anna is vegan.",
    "The user wants me to remember that the bins go out on Monday.": "The bins go out on Monday.",
    "Please note that deploys happen on Tuesdays.": "Deploys happen on Tuesdays.",
    "The user mentioned that pnpm is used everywhere.": "pnpm is used everywhere.",
    "Note: the vet is Dr. Berg.": "The vet is Dr. Berg.",
    "**Note:** Vegan.": "Vegan.",
    "According to the user, the pump is broken.": "The pump is broken.",
    "- Owns a tandem.": "Owns a tandem.",
    "It turns out that the kiln is cracked.": "The kiln is cracked.",
    "Turns out she is allergic to nuts.": "She is allergic to nuts.",
    "As discussed, the fence is green.": "The fence is green.",
    "As we agreed last week, invoices go out on Fridays.": "Invoices go out on Fridays.",
    "For the record, he is vegan.": "He is vegan.",
    "Apparently the mill is closed.": "The mill is closed.",
    "As far as I know, Jonas works at Tatra.": "Jonas works at Tatra.",
    "From what I understand, the tests run nightly.": "The tests run nightly.",
    "It has been agreed that the gate stays open.": "The gate stays open.",
    "Just so you know, the landlord is Mr. Ruiz.": "The landlord is Mr. Ruiz.",
    "I learned today that their shop runs on one server.": "Their shop runs on one server.",
    "Noted: rents are due on the 3rd.": "Rents are due on the 3rd.",
    "The user has stated a preference for tabs.": "The user prefers tabs.",
    "- Note: In this conversation, the user said that the rent is due on the 3rd.": "The rent is due on the 3rd.",
}
LEFT = (
    "As a nurse, she works nights.",
    "By the way she walks, she is hurt.",
    "It looks like rain.",
    "It is known for its cheese.",
    "From what was left she made soup.",
    "Apparently vegan.",
    "The user has a preference for a hotel near the station.",
    "The user prefers tea.",
    "The user mentioned Lisbon.",
    "The user said good evening.",
    "The user confirmed the flight.",
    "The user explained the process that is used for deploys.",
    "The user said that I should answer briefly.",
    'The user said: "I hate mornings".',
    "The user explained that when he says 'the doc' he means the proposal.",
    "The user mentioned that painting helps her relax.",
    "The user mentioned that the dog died and asked for a poem.",
    "User said that they live in Ghent and work in Brussels.",
    "User said she's moved.",
    "Remember the milk.",
    "Remember to water the plants.",
    "Preference: dark mode",
    "Update: CI runs on GitHub now.",
    "Memory: 16 GB",
    "- [ ] Call Anna",
    "- one\n- two",
    "Note: first line\nsecond line",
    "",
)


@pytest.mark.parametrize("text", STRIPPED)
def test_a_statement_is_saved_without_the_words_around_it(text: str) -> None:
    """Who said it, a label, a bullet: none of them is part of what is known."""
    assert statement_of(text) == STRIPPED[text]
    assert statement_of(STRIPPED[text]) == STRIPPED[text]


@pytest.mark.parametrize("text", LEFT)
def test_what_would_lose_its_subject_or_its_meaning_stays(text: str) -> None:
    """A thing that is mentioned is no statement, and a pronoun needs the person it stands for."""
    assert statement_of(text) == text


@pytest.mark.parametrize("piece", ["- ", "note: ", "user said that ", "they only ", "really ", "the a ", "and said "])
def test_no_text_holds_the_save_up(piece: str) -> None:
    """100,000 characters of anything take a moment, also after words of narration."""
    begun = time.process_time()
    for start in ("", "User said that they ", "User said the "):
        statement_of(start + piece * (100_000 // len(piece)) + " x")

    assert time.process_time() - begun < 1.0
