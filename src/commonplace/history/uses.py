"""The part of the history seam that knows of use: what was recalled on this device, and what conversations are about.

Terms:
- use     that a fact was put before someone who asked. Days are counted, not moments: a fact that is recalled often on
          one day is used once on it for what ages by days, and as often as it was for what is shown.
- lock    the topics that a conversation was found to be about. There is one for each conversation, the newest.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple, Protocol

from commonplace.model import TopicLock


class Use(NamedTuple):
    """How often a fact was recalled, on how many days, and on which day last (2026-03-01)."""

    times: int
    days: int
    last: str


class Uses(Protocol):
    """What is known of use. Its methods raise VaultUnavailable as those of the whole history do."""

    def record_use(self, ids: Sequence[str], *, now: datetime) -> None:
        """Count one use of each of these facts, on the day of that moment in UTC."""

    def uses(self, ids: Iterable[str], *, since: datetime | None = None) -> Mapping[str, Use]:
        """The uses of these facts, from the day of that moment on; those that were never used are left out."""

    def forget_uses(self, ids: Iterable[str]) -> int:
        """Remove what is known of the use of these facts for good; how many rows. As `forget_path` when it fails."""

    def lock_topics(self, lock: TopicLock) -> None:
        """Keep what a conversation is about, in the place of what was kept before."""

    def topic_lock(self, conversation: str) -> TopicLock | None:
        """What that conversation is about; None when nothing was kept."""
