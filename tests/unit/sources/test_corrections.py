"""A person who corrects the assistant says so in the first words; an answer and a courtesy are no corrections."""

import pytest

from commonplace.model import Message
from commonplace.sources.corrections import corrections_in, is_correction

CLAIM = "The database is MySQL, and it runs in Berlin."
QUESTION = "Shall I delete the old table?"


@pytest.mark.parametrize(
    "words",
    [
        "No, I meant the other file.",
        "no i meant Utrecht, not Amsterdam",
        "That's not what I asked. I want a table.",
        "That\u2019s wrong, we use Postgres.",
        "No, use tabs.",
        "Not Ada, Grace.",
        "Not the blue one, the red one",
        "I said tabs, not spaces.",
        "You misunderstood: the deploy runs on Friday",
        "Actually, it's the staging server.",
        "No, my sister is called Lena.",
        "no - the port is 8080",
        "Wrong, it is 5433.",
        "I didn't ask for tests.",
        "Wait, that's not right: the limit is 20.",
        "nein, ich meinte die andere Datei",
        "No, don't touch the migrations",
        "Correction: it is on Tuesday.",
    ],
)
def test_a_correction_is_recognised_by_its_first_words(words: str) -> None:
    """In what people type: with and without commas, capitals and straight quotes."""
    assert is_correction(words, CLAIM)


@pytest.mark.parametrize(
    "words",
    [
        "No problem, thanks!",
        "No, that's all.",
        "no worries",
        "No thanks",
        "No, it's fine",
        "No idea why",
        "no",
        "Not yet",
        "Not sure, can you check?",
        "Not bad, thanks",
        "not working, see the log below",
        "Wrong directory? let me see",
        "Actually, can you also add a test?",
        "Nobody knows",
        "Notes on the plan: a, b",
        "Great. Now add docs.",
        "I have not seen it, but ok",
        "",
        "No, I meant the other. " + "x" * 2000,
    ],
)
def test_what_only_begins_like_a_correction_is_none(words: str) -> None:
    """Courtesies, new requests, and long texts in which the first words say little."""
    assert not is_correction(words, CLAIM)


def test_a_no_to_a_question_is_an_answer() -> None:
    """Unless the person says that they meant something else."""
    assert not is_correction("No, use the new one.", QUESTION)
    assert is_correction("No, I meant the index.", QUESTION)


def test_only_the_answer_right_before_can_be_corrected() -> None:
    """The person's own words before it, and what tools said in between, are not."""
    said = [
        Message("user", "No, I meant that."),
        Message("assistant", CLAIM),
        Message("tool", "ok"),
        Message("user", "No, it runs in Kiel."),
        Message("user", "No, I meant Graz."),
    ]
    (found,) = corrections_in(said)

    assert (found.turn, found.words, found.corrected) == (4, said[3], said[1])
