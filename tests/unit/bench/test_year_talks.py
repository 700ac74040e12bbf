"""The person and the talks of the simulated year that `bench/year.py` lives."""

import pytest
from bench.year_person import attributes_said, year_of
from bench.year_talk import talks_of


def test_the_same_seed_gives_the_same_year() -> None:
    assert year_of(3) == year_of(3)
    assert year_of(3) != year_of(4)
    assert talks_of(5, year_of(3), seed=3) == talks_of(5, year_of(3), seed=3)


def test_every_statement_of_the_year_is_said_in_its_conversations() -> None:
    year = year_of(1, 60)
    texts = [
        message["content"] for day in range(60) for talk in talks_of(day, year, seed=1) for message in talk.messages
    ]

    assert all(any(each.sentence in text for text in texts) for each in year.statements)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("The bank is Starling now instead of Triodos.", {"bank": "Starling"}),
        ("my doctor is Dr Feld now, Dr Okafor retired.", {"doctor": "Dr Feld"}),
        ("Stopped taking cetirizine.", {}),
        ("Nils goes to Harbour Nursery.", {"Nils's nursery": "Harbour Nursery"}),
    ],
)
def test_a_text_states_the_value_that_holds_and_not_the_former_one(text: str, said: dict[str, str]) -> None:
    assert attributes_said(text, year_of(1)) == said
