"""Values in one spelling: what is written in two ways is the same text afterwards, and what only looks so is left."""

import pytest

from commonplace.facts.value_spelling import plain_values


@pytest.mark.parametrize(
    "spellings",
    [
        ("sixty days", "60 days"),
        ("seventy-two kilos", "seventy two kilos", "72 kg", "72kg", "72 kilograms"),
        ("2500 euros", "\u20ac2500", "\u20ac 2500", "2500 eur"),
        ("2,500 euros", "\u20ac2,500", "2,500 eur"),
        ("2,500,000 euros", "2500000 euros"),
        ("twenty percent", "20%", "20 %"),
        ("30 minutes", "thirty minutes", "30 min"),
        ("5 \u00b5g", "5 mcg", "5 micrograms"),
        ("4 pm", "4:00 p.m.", "4.00 pm", "16:00"),
        ("4:30 am", "04:30 a.m."),
        ("04:30", "4:30", "4:30 o'clock"),
        ("noon", "12 pm", "12:00"),
        ("12 am", "0:00", "00:00"),
        ("1 june", "june 1st", "june 1", "1st of june", "jun. 1", "june the 1st"),
        ("1 june 2026", "june 1, 2026", "2026-06-01"),
        ("5 may, 6 june", "may 5, june 6", "5 may, june 6th"),
    ],
)
def test_numbers_amounts_times_and_dates_have_one_spelling(spellings: tuple[str, ...]) -> None:
    """Whichever way they are written; and what has that spelling keeps it."""
    plain = {plain_values(each) for each in spellings}

    assert len(plain) == 1
    assert {plain_values(each) for each in plain} == plain


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("every friday", "on friday"),
        ("4 am", "4:00"),
        ("4 am", "4 pm"),
        ("$5", "5 cad"),
        ("5 pounds", "\u00a35"),
        ("5 mg", "5 \u00b5g"),
        ("twenty-one tickets", "twenty one-way tickets"),
        ("1.5 kg", "15 kg"),
        ("1,50 kg", "150 kg"),
        ("1,500 kg", "1500 kg"),
        ("2,500 euros", "2500 euros"),
        ("5 min temperatures", "5 minutes temperatures"),
        ("5 min. temperatures", "5 minutes temperatures"),
        ("the 3rd", "the third"),
        ("5.5.2026", "2026-05-05"),
        ("< 25", "25"),
    ],
)
def test_what_may_mean_something_else_stays_apart(one: str, other: str) -> None:
    """Only what means the same in every sentence is folded."""
    assert plain_values(one) != plain_values(other)


@pytest.mark.parametrize(
    "text",
    [
        "one of the rams is lame.",
        "the host is 10.4.1.30.",
        "call +34 600 555 018.",
        "uses python 3.12 on port 8443.",
        "a two-year-old and a second child.",
        "13 pm is no hour.",
        "\u20ac5k",
        *(piece.format("7" * 20_000) for piece in ("{}", "a {} b", "\u20ac{}", "{}k", "{}.5 hours")),
    ],
)
def test_what_is_no_value_stays(text: str) -> None:
    """Addresses, versions, phone numbers, long runs of digits, and words that are a number only elsewhere."""
    assert plain_values(text) == text
