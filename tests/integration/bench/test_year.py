"""Some weeks of the simulated year, in short: `bench/year.py` lives all of it."""

from pathlib import Path

import pytest
from bench.year import live_year
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


@pytest.mark.timeout(240)
def test_some_weeks_with_a_model_stays_true_and_can_be_taken_back(tmp_path: Path) -> None:
    """Every attribute has its value and no old one, no note of the person changes, all commands of the digest work,
    and a rebuilt index answers the same."""
    result = live_year(tmp_path, days=18, checkpoints=1, questions=20, has_model=True)

    assert result.broken == []
    assert result.is_equal
    assert result.commands
    assert result.checkpoints[-1].known == result.checkpoints[-1].attributes > 30
    assert result.recall["day 18"]["in_context"] > 0.9
