"""The part of the history seam that keeps conversations.

Terms:
- thread    one conversation, known by the program in which it was held and by the id which that program gave it.
- message   one turn of it, numbered from 1. It is known by the id that its program gave it, or without one by what it
            says: by role, author, time and text, and by how many just like it stand before it in the same call.
- stamp     a hash of all that a conversation says: it changes when the conversation does.

Messages are only ever added, each once; `forget_conversation` alone takes them away, all of a thread at once.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from commonplace.model import Message, Recorded, Thread, Trust


@dataclass(frozen=True, slots=True)
class NewThread:
    """A conversation that is to be kept: where it was held, and its id there.

    Without a `source_id` it is known by its messages: it can be recorded again, and cannot grow by that.
    """

    interface: str
    source_id: str = ""
    title: str = ""
    trust: Trust = "told"


class Conversations(Protocol):
    """What is kept of conversations. Its methods raise VaultUnavailable as those of the whole history do."""

    def record_conversation(self, thread: NewThread, messages: Sequence[Message], *, now: datetime) -> Recorded:
        """Add the messages that are not known yet, behind those that are, all or none.

        A known message is left as it is, whatever it says now. A message without a time has that of the message before
        it in the same call, and without one the time `now`. A title that is given replaces the one before; the trust
        stays what it was at first. Raises UsageError for a conversation without messages, a time without a zone, and
        a role or trust that is none; and Refused for a message or title that is new and worth less than what is kept.
        """

    def conversations(
        self, *, interface: str | None = None, since: datetime | None = None, limit: int | None = None
    ) -> tuple[Thread, ...]:
        """Those of that program, with a message from that time on; newest first, at most `limit`."""

    def conversation(self, id: str) -> Thread | None:
        """The conversation with that id; None when there is none."""

    def messages(self, id: str, *, first: int = 1, last: int | None = None) -> tuple[Message, ...]:
        """The messages from one number to another, both within; each has its time. () when there are none."""

    def conversation_stamps(self, ids: Iterable[str] | None = None) -> Mapping[str, str]:
        """The stamp of each conversation, or of those of these that are there, by id."""

    def close_conversation(self, id: str, *, now: datetime) -> bool:
        """Say that it is finished, now; whether it is there. A message that is new opens it again."""

    def forget_conversation(self, id: str) -> bool:
        """Remove the conversation for good; whether it was there. As `forget_path` when it fails."""
