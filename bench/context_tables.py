"""The tables of what it costs to put memory before a prompt, for the terminal and for `docs/benchmarks.md`."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from bench.quality_tables import table

TARGETS: Final = {1_000: 60, 10_000: 60, 100_000: 150}
"""The most milliseconds that 95 of 100 contexts may take, by the number of chunks."""

ABOUT: Final = """## Context, warm

The vault has a thousand entries, one note in twenty with facts in its lines, always-loaded notes, dated notes and
styles; generated chunks fill the index up to its size.
First come real questions, a quarter of which name someone the vault knows; then the same questions with real text
pasted below them, 4,000 characters in all; then the start of a session.
Each prompt is encoded, and each use is recorded.
Parts run in parallel: the sum of their times exceeds the total.

**What this does not show**

- Everything is asked a second time: files are in the page cache, and the machine is otherwise idle.
- The generated chunks have no facts and no files, so none of them has to be checked on disk.
- A watcher, and concurrent readers and writers, are covered by the daemon's figures.
"""


def tables(told: Mapping[str, Any]) -> Iterator[str]:
    """Times by size and way beside plain search, the parts, and how often something was late."""
    heads = ["chunks", "what", "p50 / p95 ms", "target, p95", "p95, times plain search", "mean ms of the parts"]
    yield from table(heads, [row for size in told["sizes"] for row in _rows(size)])
    yield ""
    yield from table(
        ["chunks", "with the usual deadlines", "something was late", "first context of the process ms"],
        [
            [f"{size['chunks']:,}", what, f"{late['late']} of {late['of']}", size["first_context_ms"]]
            for size in told["sizes"]
            for what, late in size["late"].items()
        ],
    )


def _rows(size: Mapping[str, Any]) -> Iterator[list[object]]:
    search = size["ways"]["plain search"]["p95"]
    target = TARGETS.get(size["chunks"])
    for way, took in size["ways"].items():
        is_context = way != "plain search"
        judged = "" if not target or not is_context else f"{target} {'met' if took['p95'] <= target else 'MISSED'}"
        parts = ", ".join(f"{part} {ms}" for part, ms in took["parts_mean"].items())
        ratio = f"{took['p95'] / search:.1f}" if is_context else ""
        yield [f"{size['chunks']:,}", way, f"{took['p50']} / {took['p95']}", judged, ratio, parts]
