"""When segments are written and which: few and large ones, each chunk rewritten a number of times that grows slowly."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from commonplace.index.sqlite.segment_file import Named

LEAST: Final = 1000
"""Chunks that are newer than the segments before it is worth making one of them."""

MOST: Final = 65_536
"""Chunks in a segment: what is in memory at once while it is made, some 6 kB a chunk that has ten sentences."""


@dataclass(frozen=True, slots=True)
class Newer:
    """What no segment holds yet: numbers from `first` to `last`, and how many chunks of them are there."""

    first: int
    last: int
    chunks: int


def next_range(
    named: Sequence[Named], *, living: Mapping[str, int], bad: frozenset[str], newer: Newer, least: int, most: int
) -> tuple[int, int] | None:
    """The numbers of which a segment should be made next, in the place of those it overlaps; None when all is well.

    `living` counts the chunks of each segment that are still there, `bad` are files that cannot be used.
    """
    for each in named:
        if each.name in bad or living[each.name] * 2 < each.chunks:
            return each.first, each.last
    if newer.chunks < least:
        return None
    if newer.last - newer.first >= most:
        return newer.first, newer.first + most - 1
    first, gathered = newer.first, newer.chunks
    for each in reversed(named):
        if each.chunks >= 2 * gathered or each.chunks + gathered > most:
            break
        first, gathered = each.first, gathered + each.chunks
    return first, newer.last
