"""The tables of what has changed, for the terminal and for `docs/benchmarks.md`."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from bench.proportions import wilson
from bench.quality_tables import table
from bench.updates_scoring import HALF_LIVES, MEASURES, OFF

ABOUT: Final = """## Updated values, and ranking by age

The questions of LongMemEval_S about something that has changed have one session with the old value and one with the
current value.
Search returns ten sessions; if both are among them, the headline is how often the current one comes first.
Each question is asked without ranking by age, and with several half-lives; the default is 30 days.
Sessions that speak of the same thing, and only these, change places by age.
The tables also show the share over all questions, where a session that is not found counts as last, and how ranking
by age changes recall.
The interval of the headline is Wilson's; that of all questions comes from 2,000 bootstrap samples.

**What this does not show**

- There are few such questions, so the intervals are wide, and one question more or less means nothing.
- The old value is the first one mentioned: values between it and the current one do not count.
- Only sessions are ranked. Entries and facts, where a new value ends the old one, play no part in this.
- The two sessions are between less than a day and 255 days apart, so this says nothing about years.
"""


def tables(told: Mapping[str, Any]) -> Iterator[str]:
    """Which value comes first, then what that costs, in Markdown."""
    yield from headline(told)
    rows = [
        [
            _named(each),
            each["n"],
            each["both"],
            each["above_of_both"],
            f"**{_points(_share(each))}**" if each["both"] else "-",
            " to ".join(map(_points, wilson(each["above_of_both"], each["both"]))),
            f"{each['above']} ({_points(each['share'])})",
            " to ".join(map(_points, each["interval"])),
        ]
        for each in told["order"]
    ]
    heads = ["ranking by age", "n", "both in the top 10", "of these current first", "%", "95 % interval"]
    yield from table([*heads, "current first of all (%)", "95 % interval of all"], rows)
    for measure in MEASURES:
        yield ""
        yield from table(
            [f"{measure}, %", "n", "of these name a time", "off", *(f"{days} days" for days in HALF_LIVES if days)],
            [[each["type"], each["n"], each["timed"], *_changes(each[measure])] for each in told["types"]],
        )


def headline(told: Mapping[str, Any]) -> Iterator[str]:
    """Of the questions with both sessions in the top 10, how often the current one is first; nothing without any."""
    counted = [each for each in told["order"] if each["both"]]
    if counted:
        parts = ", ".join(
            f"{_named(each)} {each['above_of_both']} of {each['both']} ({_points(_share(each))} %)" for each in counted
        )
        yield from [f"Of the questions with both sessions in the top 10, the current one is first: {parts}.", ""]


def _share(order: Mapping[str, Any]) -> float:
    return float(order["above_of_both"] / order["both"])


def _named(order: Mapping[str, Any]) -> str:
    return f"half-life {order['half_life']} days" if order["half_life"] else "off"


def _changes(shares: Mapping[str, float]) -> Iterator[str]:
    """The share where age is not weighed, then by how many points it changes with each half-life."""
    off = shares[str(OFF)]
    yield _points(off)
    yield from (f"{(shares[str(days)] - off) * 100:+.1f}" for days in HALF_LIVES if days)


def _points(share: float) -> str:
    return f"{share * 100:.1f}"
