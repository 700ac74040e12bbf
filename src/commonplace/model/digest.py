"""A digest: what programs did to the memory since the last one, each line with the command that takes it back."""

from collections import Counter
from dataclasses import dataclass
from typing import Literal, get_args

DigestGroup = Literal["learned", "changed", "archived", "proposed", "refused", "failing", "spent"]
DIGEST_GROUPS: tuple[DigestGroup, ...] = get_args(DigestGroup)
"""The groups in the order in which a digest has them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DigestLine:
    """One thing that happened.

    `said` holds no words of an entry: it may stand in a note, which cannot be erased with the entry. `words` are
    the entry's, `reason` is what the job or the program said of it: both are for the person's own screen. `command`
    undoes, approves or explains it. `count` is how many things the line stands for. `key` identifies it: a commit, or
    what is counted.
    """

    group: DigestGroup
    said: str
    command: str
    key: str
    words: str = ""
    reason: str = ""
    count: int = 1
    at: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Digest:
    """What happened from `since` to `until`. `waiting` is how much waits for the person now, in all."""

    since: str
    until: str
    lines: tuple[DigestLine, ...] = ()
    waiting: int = 0
    tokens: int = 0
    dollars: float = 0.0

    @property
    def counts(self) -> dict[str, int]:
        """How many things each group has; groups without any are left out."""
        counts = Counter[str]()
        for line in self.lines:
            counts[line.group] += line.count
        return {group: counts[group] for group in DIGEST_GROUPS if counts[group] and group != "spent"}

    def of(self, group: DigestGroup) -> tuple[DigestLine, ...]:
        """The lines of that group."""
        return tuple(line for line in self.lines if line.group == group)

    @property
    def summary(self) -> str:
        """The counts in a few words: `learned 3, archived 2, 1 waits for you`; empty if nothing happened."""
        parts = [f"{group} {number}" for group, number in self.counts.items() if group != "proposed"]
        return counts_text(parts, waiting=self.waiting)


def counts_text(parts: list[str], *, waiting: int) -> str:
    """The counts of a digest in one line, with how much waits for the person."""
    waits = f"{waiting} {'waits' if waiting == 1 else 'wait'} for you" if waiting else ""
    return ", ".join(filter(None, (*parts, waits)))
