"""The tables of the simulated year, for the terminal and for `docs/benchmarks.md`."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from bench.quality_tables import table

ABOUT: Final = """## A simulated year

One generated person talks with an assistant on 365 days, mostly about nothing that lasts.
34 attributes (home, job, boss, medicine, tools, rules of a codebase) and 8 plans change; each change is said once, some
are said again.
Every night the due jobs run, with an injected clock, real git and real SQLite.
Every week the person reads the digest and decides what waits: what is true is approved.
A scripted model answers over HTTP with what a good model would find; on three days it is away, and every 47th answer is
no JSON.
So the first year shows what the pipeline does with right extractions, not how well a model extracts; it has the hashing
encoder. The second has no model and the real encoder.

- "True facts" are the distinct things that were said and hold; "attributes right" those whose value now is a current
  entry, after the person's review of that day; "stale" are current entries with a value that is over.
- "Profile" is what a new session is given, in characters; it has the memories of the last days, so that a value of the
  day before yesterday may stand there beside the present one.
- Commands of the digest are run in a copy of the vault: each `undo` must bring back the bytes of before, each approval
  must end the waiting, and the undo of the approval must bring it back.
- Recall asks the same 100 questions about the values of the day.
- Seconds are those of a machine on which other programs ran; those of single jobs are part of `jobs`.
"""
_HEADS: Final = (
    *("day", "entries", "true facts", "archived", "attributes right", "stale", "waiting", "profile"),
    "stale lines in the profile",
)


def year_tables(told: Mapping[str, Any]) -> Iterator[str]:
    """One year: its checkpoints, recall, commands, time, and what it broke."""
    yield from [
        f"### {told['name'].capitalize()}",
        "",
        f"{told['days']} days, seed {told['seed']}, {told['name']}, {told['seconds']:.0f} s:",
        "",
    ]
    rows = [
        (
            each["day"],
            each["entries"],
            each["facts"],
            each["archived"],
            f"{each['known']} of {each['attributes']}",
            each["stale"],
            each["waiting"],
            f"{each['profile']:,}",
            f"{each['profile_stale']} of {each['profile_lines']}",
        )
        for each in told["checkpoints"]
    ]
    yield from [*table(_HEADS, rows), ""]
    asked = [
        (day, f"{found['questions']:.0f}", f"{found['in_context']:.1%}", f"{found['in_hits']:.1%}")
        for day, found in told["recall"].items()
    ]
    yield from [*table(("asked on", "questions", "answer in the context", "answer among 5 hits"), asked), ""]
    works = told["commands"] - len(told["commands_failed"])
    yield f"Commands of digests: {works} of {told['commands']} work, of {len(told['command_kinds'])} kinds."
    yield f"After a rebuild all answers are {'the same' if told['rebuild_equal'] else 'NOT the same'}."
    yield f"Seconds: {', '.join(f'{name} {value:g}' for name, value in told['seconds_of'].items())}."
    broken = told["broken"]
    yield f"Rules broken: {len(broken)}{': ' + '; '.join(broken[:12]) if broken else ''}."
