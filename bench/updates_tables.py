"""The tables of what has changed, for the terminal and for `docs/benchmarks.md`."""

from collections.abc import Iterator, Mapping
from typing import Any

from bench.quality_tables import table
from bench.updates_scoring import HALF_LIVES, MEASURES, OFF


def tables(told: Mapping[str, Any]) -> Iterator[str]:
    """Which value comes first, then what that costs, in Markdown."""
    rows = [
        [
            f"half-life {each['half_life']} days" if each["half_life"] else "off (the default)",
            each["n"],
            each["both"],
            each["above_of_both"],
            each["above"],
            f"**{_points(each['share'])}**",
            " to ".join(map(_points, each["interval"])),
        ]
        for each in told["order"]
    ]
    heads = ["weighing by age", "n", "both in the top 10", "of these current first", "current first", "%"]
    yield from table([*heads, "95 % interval"], rows)
    for measure in MEASURES:
        yield ""
        yield from table(
            [f"{measure}, %", "n", "of these name a time", "off", *(f"{days} days" for days in HALF_LIVES if days)],
            [[each["type"], each["n"], each["timed"], *_changes(each[measure])] for each in told["types"]],
        )


def _changes(shares: Mapping[str, float]) -> Iterator[str]:
    """The share where age is not weighed, then by how many points it changes with each half-life."""
    off = shares[str(OFF)]
    yield _points(off)
    yield from (f"{(shares[str(days)] - off) * 100:+.1f}" for days in HALF_LIVES if days)


def _points(share: float) -> str:
    return f"{share * 100:.1f}"
