"""Every error, sorted by what the caller should do.

CommonplaceError
|- UsageError         the caller asked for something impossible: fix the call
|- NotFound           no such note, entry, fact
|- Refused            policy says no: path, tier, sensitivity, size, secrets, junk
|- Conflict           the vault moved under us: read again and retry
|- VaultUnavailable   the disk, the lock or git said no
|- IndexDamaged       derived data is bad: `commonplace rebuild` mends it
`- ProviderFailed     a model did not answer: the answer says what is missing

`Problem` (in `model`) is not an error: something wrong in a note is collected and shown, never raised.
"""

from dataclasses import dataclass
from typing import Any, Literal, get_args

Reason = Literal[
    "unexpected",
    "usage",
    "missing",
    "path_escape",
    "not_markdown",
    "outside_allowlist",
    "too_large",
    "sensitive",
    "ignored",
    "secret",
    "junk",
    "refused",
    "conflict",
    "locked",
    "repository_busy",
    "unavailable",
    "damaged",
    "provider",
]
REASONS: tuple[Reason, ...] = get_args(Reason)


class CommonplaceError(Exception):
    """What happened, to what (`path`), and what to do about it (`hint`)."""

    reason: Reason = "unexpected"

    def __init__(
        self,
        message: str,
        *,
        path: str | None = None,
        reason: Reason | None = None,
        hint: str | None = None,
        expected: str | None = None,
        found: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.path = path
        self.reason = reason or type(self).reason
        self.hint = hint
        self.expected = expected
        self.found = found

    def __str__(self) -> str:
        return f"{self.message} ({self.hint})" if self.hint else self.message

    def as_dict(self) -> dict[str, Any]:
        """The error as every door's JSON shows it; fields without a value are left out."""
        fields = {
            "type": type(self).__name__,
            "reason": self.reason,
            "message": self.message,
            "hint": self.hint,
            "path": self.path,
            "expected": self.expected,
            "found": self.found,
        }
        return {name: value for name, value in fields.items() if value is not None}


class UsageError(CommonplaceError):
    """The caller asked for something impossible: fix the call."""

    reason: Reason = "usage"


class NotFound(CommonplaceError):
    """No such note, entry or fact."""

    reason: Reason = "missing"


class Refused(CommonplaceError):
    """Policy says no."""

    reason: Reason = "refused"


class Conflict(CommonplaceError):
    """The vault moved under us: read again and retry."""

    reason: Reason = "conflict"


class VaultUnavailable(CommonplaceError):
    """The disk, the lock or git said no."""

    reason: Reason = "unavailable"


class IndexDamaged(CommonplaceError):
    """Derived data is bad: `commonplace rebuild` mends it."""

    reason: Reason = "damaged"


class ProviderFailed(CommonplaceError):
    """A model did not answer."""

    reason: Reason = "provider"


@dataclass(frozen=True, slots=True)
class Answer:
    """How one kind of error leaves through each door."""

    exit_code: int
    http: int
    mcp: int


ANSWERS: dict[type[CommonplaceError], Answer] = {
    UsageError: Answer(exit_code=2, http=400, mcp=-32602),
    NotFound: Answer(exit_code=2, http=404, mcp=-32002),
    Refused: Answer(exit_code=3, http=403, mcp=-32003),
    Conflict: Answer(exit_code=4, http=409, mcp=-32004),
    VaultUnavailable: Answer(exit_code=5, http=503, mcp=-32005),
    IndexDamaged: Answer(exit_code=6, http=500, mcp=-32006),
    ProviderFailed: Answer(exit_code=7, http=502, mcp=-32007),
}


UNEXPECTED = Answer(exit_code=1, http=500, mcp=-32603)
"""For an error of no kind in the table: a fault of ours."""


def answer_to(error: CommonplaceError) -> Answer:
    """The exit code, HTTP status and MCP code for this error, taken from the nearest ancestor in the table."""
    return next((ANSWERS[kind] for kind in type(error).__mro__ if kind in ANSWERS), UNEXPECTED)
