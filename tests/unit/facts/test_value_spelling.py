"""Values in one spelling: what is written in two ways is the same text afterwards, and what only looks so is left."""

import time

import pytest

from commonplace.facts.value_spelling import with_plain_values


@pytest.mark.parametrize(
    "spellings",
    [
        ("year nine", "year 9"),
        ("seventy-two kilos", "seventy two kilos", "72 kg"),
        ("a hundred and forty ewes", "one hundred and forty ewes", "140 ewes"),
        ("two thousand five hundred euros", "2,500 euros", "\u20ac2,500", "2.5k euros"),
        ("45 dollars", "$45", "45 USD"),
        ("twenty percent", "20 percent", "20%", "20 %"),
        ("half an hour", "30 minutes", "30 min"),
        ("one and a half hours", "an hour and a half", "1.5 hours", "90 minutes"),
        ("the third floor", "the 3rd floor"),
        ("drei Katzen", "3 Katzen"),
    ],
)
def test_numbers_and_amounts_have_one_spelling(spellings: tuple[str, ...]) -> None:
    """Words, digits, separators, currencies and short units."""
    assert len({with_plain_values(each) for each in spellings}) == 1


@pytest.mark.parametrize(
    "spellings",
    [
        ("14:00-16:00", "from 14:00 to 16:00", "between 14:00 and 16:00", "2 pm to 4 pm", "2-4pm", "2 p.m. to 4 p.m."),
        ("half past four", "4:30", "04:30", "4:30 am"),
        ("seven o'clock in the morning", "7:00", "07:00", "seven in the morning", "7 am"),
        ("a quarter to nine in the evening", "8:45 pm", "20:45"),
        ("one at night", "1 am"),
        ("noon", "12:00", "12 pm"),
    ],
)
def test_times_of_day_have_one_spelling(spellings: tuple[str, ...]) -> None:
    """Hours of a day of 24; the part of the day goes into them."""
    assert len({with_plain_values(f"at {each}") for each in spellings}) == 1


@pytest.mark.parametrize(
    "spellings",
    [
        ("1 June", "June 1st", "June 1", "1st of June", "first of June", "Jun 1"),
        ("1 June 2026", "June 1, 2026", "2026-06-01"),
        ("5 May", "May 5th", "fifth of May"),
        ("twice a week", "two times weekly", "2x a week", "two times per week"),
        ("quarterly", "four times a year", "every three months", "once a quarter"),
        ("every week", "once a week", "weekly", "per week"),
        ("every other week", "every two weeks", "fortnightly", "biweekly"),
        ("12 euros a month", "12 euros per month", "\u20ac12/month"),
        ("every Friday", "each Friday", "on Friday"),
    ],
)
def test_dates_and_frequencies_have_one_spelling(spellings: tuple[str, ...]) -> None:
    """A day before its month, a number of times in a period."""
    assert len({with_plain_values(each) for each in spellings}) == 1


@pytest.mark.parametrize(
    "text",
    [
        "One of the rams is lame.",
        "Takes a day off.",
        "The host is 10.4.1.30.",
        "Call +34 600 555 018.",
        "Uses Python 3.12 on port 8443.",
        "A second child, and a third of the cake.",
        "Has a quarter of the shares.",
        "Once the tests pass, merge.",
    ],
)
def test_what_is_no_value_stays(text: str) -> None:
    """Addresses, versions, phone numbers, and words that are a number only elsewhere."""
    assert with_plain_values(text) == text


def test_a_modal_verb_is_no_month() -> None:
    """`may` becomes another word for the same, so that May is a month wherever it is left."""
    assert with_plain_values("Everyone may push in May.") == "Everyone might push in May."


def test_a_plain_spelling_stays_as_it_is() -> None:
    """A second reading changes nothing."""
    plain = with_plain_values("Meets twice a week from 2 to 4 pm, next on June 1st, for \u20ac2,000 in total.")

    assert with_plain_values(plain) == plain


@pytest.mark.parametrize("text", ["{}", "a {} b", "${}", "{}k", "{}.5 hours"])
def test_a_long_run_of_digits_stays_and_takes_no_time(text: str) -> None:
    """A key or a dump of numbers is no amount."""
    long = text.format("7" * 20_000)

    start = time.thread_time()

    assert with_plain_values(long) == long
    assert time.thread_time() - start < 0.2
