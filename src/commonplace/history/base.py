"""The history seam: what happened, kept where it can be asked for.

Terms:
- audit     one row for each note that a change touched: who, what, why, the version before and after, the commit.
            Rows are only ever added; `forget_path` alone takes some away, for a person who erases a note.
- mutation  one change as the vault made it; a mutation of many notes has one row for each.
- grant     a person's leave for one write to one personal note; it works once and for a short time.
- call      one text that was given to a model, by its hash alone; `forget_calls` takes away those of an erased note.
Those of conversations stand in `conversations.py`, those of use in `uses.py`.

Times are UTC to the second, as in notes and commits.
"""

import hashlib
import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Protocol

from commonplace.errors import UsageError
from commonplace.history.conversations import Conversations
from commonplace.history.uses import Uses


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """What one mutation did to one note.

    `mutation` is its id (the trailer Commonplace-Mutation) or its commit; `actor` is person, agent or job;
    `origin` is the door it came through, `reason` the message of the change.
    `before` and `after` are versions, None where there was no such note; `destination` is where a move went.
    """

    mutation: str
    when: datetime
    verb: str
    path: str
    actor: str
    origin: str
    reason: str
    destination: str | None = None
    before: str | None = None
    after: str | None = None
    commit: str | None = None
    in_digest: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "when", utc_second(self.when))

    def names(self, path: str) -> bool:
        """Whether this is about the note at that path, as the one changed or as the destination of a move."""
        return path in (self.path, self.destination)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCall:
    """One text that was given to a model.

    `task_type` says what for, such as embed_vault_chunk or embed_memory_query; `model_alias` is the model's short
    name, `version` that of the encoder. `input_hash` is the sha256 of the text. `cost` is in dollars, and 0, as
    `tokens` is, for a model that runs on this machine.
    """

    at: datetime
    task_type: str
    model_alias: str
    input_hash: str
    version: str
    duration_ms: float
    tokens: int = 0
    cost: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "at", utc_second(self.at))


class History(Conversations, Uses, Protocol):
    """One history, with the conversations that it keeps and what it knows of use.

    Its methods raise VaultUnavailable when it cannot be read or written, and then did nothing.
    """

    def record(self, *entries: AuditEntry) -> None:
        """Add these rows, all or none."""

    def entries(
        self,
        *,
        path: str | None = None,
        actor: str | None = None,
        since: datetime | None = None,
        limit: int | None = None,
    ) -> tuple[AuditEntry, ...]:
        """The rows about that note, by that actor, from that time on; newest first, at most `limit`."""

    def newest_commit(self) -> str | None:
        """The latest commit that was recorded or recovered; None when none was."""

    def recover(self, entries: Iterable[AuditEntry]) -> int:
        """Add the rows whose commit is not known, given in the order they happened; how many were added.

        A commit is known once a row of it was added, also when its rows were forgotten since: a path that was erased
        does not come back. Rows without a commit cannot be told from known ones and are left out.
        """

    def forget_path(self, path: str) -> int:
        """Remove every trace of that path for good; how many audit rows went.

        Rows of other notes that share a mutation with it stay, with the path taken out of their reason.
        After VaultUnavailable rows may be gone while traces are left on the disk: call it again.
        """

    def give_grant(self, path: str, *, now: datetime, minutes: int = 10) -> str:
        """A new token that lets one write to that path pass within those minutes. Only its hash is kept."""

    def has_grant(self, token: str, path: str, *, now: datetime) -> bool:
        """Whether the token is good for exactly that path now; it is not used up by asking."""

    def use_grant(self, token: str, path: str, *, now: datetime) -> bool:
        """Whether the token is good for exactly that path now; a good one is used up by this."""

    def log_calls(self, calls: Sequence[ModelCall]) -> None:
        """Add a row for each call, all or none."""

    def calls(
        self, *, task_type: str | None = None, since: datetime | None = None, limit: int | None = None
    ) -> tuple[ModelCall, ...]:
        """The calls of that type, from that time on; newest first, at most `limit`."""

    def count_calls(self, task_type: str | None = None) -> int:
        """How many calls were logged, of that type or of all."""

    def forget_calls(self, input_hashes: Iterable[str]) -> int:
        """Remove every call with one of these texts for good; how many went. As `forget_path` when it fails."""

    def close(self) -> None:
        """Let go of what is open; the next call opens it again."""


ERASED = "[erased]"
"""What stands in a reason where the path of an erased note was."""


def utc_second(when: datetime) -> datetime:
    """The moment in UTC, to the second. Raises UsageError for a time without a zone, and for one that UTC has not."""
    if when.tzinfo is None:
        raise UsageError(f"the time {when.isoformat()} has no zone", hint="Give it one, such as datetime.now(UTC).")
    try:
        return when.astimezone(UTC).replace(microsecond=0)
    except OverflowError as error:  # year 1 or 9999, in a zone in which UTC has left the calendar
        message = f"the time {when.isoformat()} is out of range"
        raise UsageError(message, hint="Give one between the years 2 and 9998.") from error


def checked_limit(limit: int | None) -> int | None:
    """The limit. Raises UsageError for one below zero."""
    if limit is not None and limit < 0:
        raise UsageError(f"a limit of {limit} is below zero", hint="Leave it out to get everything.")
    return limit


def new_token() -> str:
    """The text of a new grant, 192 bits from the system's source of chance."""
    return secrets.token_urlsafe(24)


def token_hash(token: str) -> str:
    """What is kept of a token."""
    return hashlib.sha256(token.encode(errors="replace")).hexdigest()


def expiry(now: datetime, minutes: int) -> datetime:
    """When a grant given now ends. Raises UsageError for less than a minute."""
    if minutes < 1:
        raise UsageError(f"a grant of {minutes} minutes lets nothing pass", hint="Give it at least one minute.")
    return utc_second(now) + timedelta(minutes=minutes)
