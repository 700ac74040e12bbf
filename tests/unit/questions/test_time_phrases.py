"""The times that a question mentions. Unless a test says otherwise, it is asked on Wednesday, 15 May 2024."""

from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest

from commonplace.questions.question import MAX_WINDOWS, time_windows, understand

NOW = datetime(2024, 5, 15, 10, 0, tzinfo=UTC)
FIRST, LAST = "0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z"

SAID = """
What did I eat today?                       | 2024-05-15 2024-05-16 0.5
Who called yesterday?                       | 2024-05-14 2024-05-15 0.5
What was yesterday’s plan?                  | 2024-05-14 2024-05-15 0.5
Who called the day before yesterday?        | 2024-05-13 2024-05-14 0.5
Who called this morning?                    | 2024-05-15 2024-05-15T12 0.5
Who called this afternoon?                  | 2024-05-15T12 2024-05-15T18 0.5
Who called this evening?                    | 2024-05-15T18 2024-05-16 0.5
What is on tonight?                         | 2024-05-15T18 2024-05-16T06 0.5
What did I dream last night?                | 2024-05-14T18 2024-05-15T06 0.5
What did I buy 3 days ago?                  | 2024-05-12 2024-05-13 1
What did I buy ten days ago?                | 2024-05-05 2024-05-06 1.2
What did I buy twenty-one days ago?         | 2024-04-24 2024-04-25 2.52
What did I buy twenty one days ago?         | 2024-04-24 2024-04-25 2.52
What did I dream two nights ago?            | 2024-05-13 2024-05-14 1
What did I buy a week ago?                  | 2024-05-08 2024-05-09 2.24
What did I buy two weeks ago?               | 2024-05-01 2024-05-02 3.08
What did I buy exactly two weeks ago?       | 2024-05-01 2024-05-02 3.08
What did I buy about two weeks ago?         | 2024-05-01 2024-05-02 6.16
What did I buy roughly 2 weeks ago?         | 2024-05-01 2024-05-02 6.16
What did I buy a couple of weeks ago?       | 2024-05-01 2024-05-02 3.08
What did I buy a month ago?                 | 2024-04-15 2024-04-16 9.6
What did I buy 3 months ago?                | 2024-02-15 2024-02-16 16.8
What did I buy twelve months ago?           | 2023-05-15 2023-05-16 49.2
What did I buy a year ago?                  | 2023-05-15 2023-05-16 116.8
What did I buy around five years ago?       | 2019-05-15 2019-05-16 584
What did I buy two Saturdays ago?           | 2024-05-04 2024-05-05 0.5
What have I done since two weeks ago?       | 2024-05-01 - 3.08
What did I buy last week?                   | 2024-05-06 2024-05-13 2
What was last week's plan?                  | 2024-05-06 2024-05-13 2
What did I buy this week?                   | 2024-05-13 2024-05-20 2
What is due next week?                      | 2024-05-20 2024-05-27 2
What did I buy the week before last?        | 2024-04-29 2024-05-06 2
What did I buy last month?                  | 2024-04-01 2024-05-01 5
What did I buy this month?                  | 2024-05-01 2024-06-01 5
What is due next month?                     | 2024-06-01 2024-07-01 5
What did I buy last year?                   | 2023-01-01 2024-01-01 30
What did I buy this year?                   | 2024-01-01 2025-01-01 30
What is due next year?                      | 2025-01-01 2026-01-01 30
What did I do last weekend?                 | 2024-05-11 2024-05-13 1
What did I do this past weekend?            | 2024-05-11 2024-05-13 1
What is planned this weekend?               | 2024-05-18 2024-05-20 1
What is planned next weekend?               | 2024-05-25 2024-05-27 1
What did I do this past week?               | 2024-05-08 2024-05-16 1
What did I do over the past month?          | 2024-04-15 2024-05-16 3
What did I do in the last week?             | 2024-05-08 2024-05-16 1
What did I do in the last 3 days?           | 2024-05-12 2024-05-16 1
What did I do in the past two weeks?        | 2024-05-01 2024-05-16 1.4
What did I do during the last six months?   | 2023-11-15 2024-05-16 18.2
What did I do the last couple of days?      | 2024-05-13 2024-05-16 1
What did I do in the last year?             | 2023-05-15 2024-05-16 36.6
What did I do last Saturday?                | 2024-05-11 2024-05-12 0.5
What did I do on Saturday?                  | 2024-05-11 2024-05-12 0.5
what did i do on saturday                   | 2024-05-11 2024-05-12 0.5
What did I do this past Saturday?           | 2024-05-11 2024-05-12 0.5
What did I do last Wednesday?               | 2024-05-08 2024-05-09 0.5
What did I do on Wednesday?                 | 2024-05-08 2024-05-09 0.5
What is on this Friday?                     | 2024-05-17 2024-05-18 0.5
What did I do this Monday?                  | 2024-05-13 2024-05-14 0.5
What was in last Monday's mail?             | 2024-05-13 2024-05-14 0.5
What did I do on Tuesday of last week?      | 2024-05-07 2024-05-08 0.5
What did I do last week on Tuesday?         | 2024-05-07 2024-05-08 0.5
What have I done since Monday?              | 2024-05-13 - 0.5
What have I done since last Monday?         | 2024-05-13 - 0.5
What did I do on 2023-05-08?                | 2023-05-08 2023-05-09 1
What did I do at 2023-05-08T10:00:00Z?      | 2023-05-08 2023-05-09 1
What did I do on 2023/5/8?                  | 2023-05-08 2023-05-09 1
What did I do in 2023-05?                   | 2023-05-01 2023-06-01 5
What did I do on 5 May 2023?                | 2023-05-05 2023-05-06 1
What did I do on the 5th of May 2023?       | 2023-05-05 2023-05-06 1
What did I do on May 5th, 2023?             | 2023-05-05 2023-05-06 1
What did I do on Friday, May 5th, 2023?     | 2023-05-05 2023-05-06 1
What did I do on Friday 5 May 2023?         | 2023-05-05 2023-05-06 1
What did I do on May 5?                     | 2024-05-05 2024-05-06 1
what did i do on may 5                      | 2024-05-05 2024-05-06 1
What did I do on 8 May?                     | 2024-05-08 2024-05-09 1
What did I do on Dec. 3?                    | 2023-12-03 2023-12-04 1
What did I do on 3 Sept 2022?               | 2022-09-03 2022-09-04 1
What did I do on 16 May?                    | 2023-05-16 2023-05-17 1
What did I do on 16 May this year?          | 2024-05-16 2024-05-17 1
What did I do on 3 May last year?           | 2023-05-03 2023-05-04 1
What did I do around May 5?                 | 2024-05-05 2024-05-06 2
What did I do on 25/12/2023?                | 2023-12-25 2023-12-26 1
What did I do on 12/25/2023?                | 2023-12-25 2023-12-26 1
What did I do on 5/5/2023?                  | 2023-05-05 2023-05-06 1
What did I do on 25.12.2023?                | 2023-12-25 2023-12-26 1
What did I do in March?                     | 2024-03-01 2024-04-01 5
what did i do in march                      | 2024-03-01 2024-04-01 5
What did I do in May?                       | 2024-05-01 2024-06-01 5
What did I do in June?                      | 2023-06-01 2023-07-01 5
What did I do in Dec?                       | 2023-12-01 2024-01-01 5
What did I do in March 2023?                | 2023-03-01 2023-04-01 5
What did I do in March of last year?        | 2023-03-01 2023-04-01 5
What did I do in March last year?           | 2023-03-01 2023-04-01 5
What did I do last March?                   | 2024-03-01 2024-04-01 5
What did I do last May?                     | 2023-05-01 2023-06-01 5
What is due this June?                      | 2024-06-01 2024-07-01 5
What did I do in early March?               | 2024-03-01 2024-04-01 5
What did I do mid-March?                    | 2024-03-01 2024-04-01 5
What did I do at the end of March?          | 2024-03-01 2024-04-01 5
What does the January invoice say?          | 2024-01-01 2024-02-01 5
What did I do in 2022?                      | 2022-01-01 2023-01-01 30
What did I do in the year 2022?             | 2022-01-01 2023-01-01 30
What have I done since March?               | 2024-03-01 - 5
What have I done from March on?             | 2024-03-01 - 5
What have I done since 2020?                | 2020-01-01 - 30
What did I do after 5 May?                  | 2024-05-06 - 1
What did I do after last week?              | 2024-05-13 - 2
What did I do before June 2023?             | - 2023-06-01 5
What did I do before June?                  | - 2023-06-01 5
What did I do prior to March 2023?          | - 2023-03-01 5
What did I do until March?                  | - 2024-04-01 5
What did I do up to May 5?                  | - 2024-05-06 1
What did I do between March and May?        | 2024-03-01 2024-06-01 5
What did I do between March and June?       | 2023-03-01 2023-07-01 5
What did I do between December and March?   | 2023-12-01 2024-04-01 5
What did I do from May 5 to May 8, 2023?    | 2023-05-05 2023-05-09 1
What did I do from May 2022 to July?        | 2022-05-01 2022-08-01 5
What did I do between 2019 and 2021?        | 2019-01-01 2022-01-01 30
What did I do from last Monday to yesterday?| 2024-05-13 2024-05-15 0.5
What did I do from March until May 2023?    | 2023-03-01 2023-06-01 5
What did I do in March–May 2023?            | 2023-03-01 2023-06-01 5
What did I do in March and in April?        | 2024-03-01 2024-04-01 5; 2024-04-01 2024-05-01 5
What did I do in March, April or May?       | 2024-03-01 2024-04-01 5; 2024-04-01 2024-05-01 5; 2024-05-01 2024-06-01 5
Did I pay in 2022 or 2023?                  | 2022-01-01 2023-01-01 30; 2023-01-01 2024-01-01 30
What did I get for Christmas?               | 2023-12-25 2023-12-26 2
what did i get for christmas                | 2023-12-25 2023-12-26 2
What did I do around Christmas?             | 2023-12-25 2023-12-26 4
What did I do on Christmas Eve?             | 2023-12-24 2023-12-25 2
What did I do on Christmas 2021?            | 2021-12-25 2021-12-26 2
What did I do on New Year's Eve?            | 2023-12-31 2024-01-01 2
What did I do on New Year’s Day?            | 2024-01-01 2024-01-02 2
What did I do on Valentine's Day last year? | 2023-02-14 2023-02-15 2
What did I wear last Halloween?             | 2023-10-31 2023-11-01 2
What did I do on July 4th?                  | 2023-07-04 2023-07-05 2
What did I do on the Fourth of July?        | 2023-07-04 2023-07-05 2
"""

ABSTAINS = """
When did I buy the lamp?
What did I buy recently?
What did I buy lately?
What did I buy the other day?
What did I buy a few weeks ago?
What did I buy several months ago?
What did I buy some time ago?
What did I buy a while ago?
What did I buy a week and a half ago?
What did I buy two and a half weeks ago?
What did I buy 2.5 weeks ago?
What did I buy two or three weeks ago?
What did I buy 2-3 weeks ago?
What did I buy over a year ago?
What did I buy more than a year ago?
What did I buy 9999 years ago?
What did I buy before my trip?
What did I buy after the wedding?
What did I say when I was young?
What may I eat?
May I eat this?
May 5 people come?
may 5 people come?
Who will march with me?
What did June say?
What did April's mother say?
What was in June’s room?
Where was I before June left?
What came second?
Have I once said so?
What should I do next time?
What did I say last time?
Where is the sun?
Who sat there?
What will I do one day?
How do I spend a day?
How long is the trip, is it for two weeks?
Which job takes three days?
Which trip was two weeks long?
Did the trip last two weeks?
What do I do every Monday?
What do I do on Mondays?
What do I always do on Monday?
What do I do on a Monday?
Which shop has Black Friday sales?
What is due on the last Friday of the month?
What did I do 10 days before the wedding?
What did I do two weeks before Christmas?
What did I do right after Christmas?
Where is the Christmas tree?
What is my new year's resolution?
What must I finish by March?
What is due next March?
What is due next Monday?
What do I do every March?
What happened the last week of school?
What did I do in the summer?
What did I do in the summer of 2022?
What did I do last summer?
What did I do in the winter of last year?
What did I do on 5/8/2023?
What did I do on 2023-02-30?
What did I do on Feb 30?
What did I do on 31/31/2023?
Who can say it in 2000 words?
Which class of 2022 was it?
Which song is from the 1990s?
What is the 2022 budget?
Who works from Monday to Friday?
What did I say of “last week” and "yesterday"?
Was habe ich letzte Woche gekauft?
¿Qué compré la semana pasada?
先週何を買いましたか
"""


def _row(line: str) -> tuple[str, list[tuple[str, str, float]]]:
    text, _, said = line.partition("|")
    windows = []
    for window in said.split(";") if said.strip() else []:
        start, end, tolerance = window.split()
        windows.append((_moment(start, FIRST), _moment(end, LAST), float(tolerance)))
    return text.strip(), windows


def _moment(short: str, unbounded: str) -> str:
    if short == "-":
        return unbounded
    day, _, hour = short.partition("T")
    return f"{day}T{hour or '00'}:00:00Z"


def _days(text: str, now: datetime) -> list[tuple[str, str]]:
    return [(window.start, window.end) for window in time_windows(text, now=now)]


@pytest.mark.parametrize(
    ("text", "windows"), [pytest.param(*_row(line), id=_row(line)[0]) for line in SAID.strip().splitlines()]
)
def test_a_time_that_is_said_is_a_window(text: str, windows: list[tuple[str, str, float]]) -> None:
    """The window is half open, in UTC, and has a tolerance in days."""
    found = [(each.start, each.end, round(each.tolerance, 6)) for each in understand(text, now=NOW).windows]

    assert found == windows


@pytest.mark.parametrize("text", ABSTAINS.strip().splitlines())
def test_what_is_ambiguous_is_no_time(text: str) -> None:
    """Durations, habits, verbs, names, vague words and other languages: better no window than a wrong one."""
    assert understand(text, now=NOW).windows == ()


@pytest.mark.parametrize(
    ("now", "text", "start", "end"),
    [
        ("2024-02-29", "a year ago", "2023-02-28", "2023-03-01"),
        ("2024-03-31", "a month ago", "2024-02-29", "2024-03-01"),
        ("2023-03-31", "a month ago", "2023-02-28", "2023-03-01"),
        ("2024-01-01", "yesterday", "2023-12-31", "2024-01-01"),
        ("2024-01-01", "last month", "2023-12-01", "2024-01-01"),
        ("2024-01-01", "last week", "2023-12-25", "2024-01-01"),
        ("2024-12-31", "next month", "2025-01-01", "2025-02-01"),
        ("2024-12-31", "on New Year's Eve", "2024-12-31", "2025-01-01"),
        ("2024-12-30", "on New Year's Eve", "2023-12-31", "2024-01-01"),
        ("2025-03-01", "on February 29", "2024-02-29", "2024-03-01"),
        ("2024-02-28", "on February 29", "2020-02-29", "2020-03-01"),
        ("2025-03-01", "on 29 February this year", "", ""),
        ("2024-03-01", "last March", "2023-03-01", "2023-04-01"),
        ("2024-05-19", "last weekend", "2024-05-11", "2024-05-13"),
        ("2024-05-19", "this weekend", "2024-05-18", "2024-05-20"),
        ("2024-05-20", "last weekend", "2024-05-18", "2024-05-20"),
        ("2024-05-19", "last Sunday", "2024-05-12", "2024-05-13"),
    ],
)
def test_calendars_have_edges(now: str, text: str, start: str, end: str) -> None:
    """Leap days, the ends of months and years, and a weekday that is today."""
    expected = [(f"{start}T00:00:00Z", f"{end}T00:00:00Z")] if start else []

    assert _days(text, datetime.fromisoformat(f"{now}T12:00:00Z")) == expected


def test_days_are_those_of_the_zone_of_the_question() -> None:
    """Also when it is tomorrow there already, and on days of 23 and 25 hours."""
    berlin, west = ZoneInfo("Europe/Berlin"), timezone(timedelta(hours=-8))

    assert _days("yesterday", datetime(2024, 4, 1, 0, 30, tzinfo=berlin)) == [
        ("2024-03-30T23:00:00Z", "2024-03-31T22:00:00Z")
    ]
    assert _days("yesterday", datetime(2024, 10, 28, 9, 0, tzinfo=berlin)) == [
        ("2024-10-26T22:00:00Z", "2024-10-27T23:00:00Z")
    ]
    assert _days("today", datetime(2024, 5, 15, 22, 0, tzinfo=west)) == [
        ("2024-05-15T08:00:00Z", "2024-05-16T08:00:00Z")
    ]


def test_a_day_that_a_zone_never_had_is_no_time() -> None:
    """Samoa went from 29 to 31 December 2011."""
    assert _days("on 30 December 2011", NOW.astimezone(ZoneInfo("Pacific/Apia"))) == []


def test_times_at_the_ends_of_the_calendar_are_left_out_or_open() -> None:
    """Nothing is raised where a calendar has no such day."""
    first, last = datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, tzinfo=ZoneInfo("America/New_York"))

    assert _days("yesterday or last year or in June or on May 5", first) == []
    assert _days("today or next week or this year", last) == []
    assert _days("yesterday", last) == [("9999-12-30T05:00:00Z", "9999-12-31T05:00:00Z")]


def test_a_window_says_which_words_it_is_from() -> None:
    """The words include the qualifiers before the phrase."""
    said = [each.said for each in time_windows("Was it since  last Monday, about two weeks ago or in 2022?", now=NOW)]

    assert said == ["since last Monday", "about two weeks ago", "in 2022"]


def test_one_question_has_only_so_many_windows() -> None:
    """Only the first MAX_WINDOWS count."""
    windows = time_windows(", ".join(f"in {year}" for year in range(2000, 2024)), now=NOW)

    assert [each.start[:4] for each in windows] == [str(year) for year in range(2000, 2000 + MAX_WINDOWS)]
