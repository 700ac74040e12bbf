"""Every error, sorted by what the caller should do.

CommonplaceError
|- UsageError         the caller asked for something impossible: fix the call
|- NotFound           no such note, entry, fact
|- Refused            policy does not allow it: path, tier, sensitivity, size, secrets, junk
|- Conflict           the vault changed meanwhile: read again and retry
|- VaultUnavailable   the disk, the lock or git failed
|- IndexDamaged       derived data is damaged: `commonplace rebuild` repairs it
`- ProviderFailed     a model did not respond: the result says what is missing

`Problem` (in `model`) is not an error: something wrong in a note is collected and shown, never raised.
"""

from dataclasses import dataclass
from typing import Any, Literal, get_args

from commonplace import DISTRIBUTION

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
    "newer_schema",
    "provider",
    "unreachable",
    "busy",
    "auth",
    "quota",
    "malformed",
    "too_long",
    "budget",
    "paused",
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
        """The error as JSON shows it at every door; fields without a value are left out."""
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
    """Policy does not allow it."""

    reason: Reason = "refused"


class Conflict(CommonplaceError):
    """The vault changed meanwhile: read again and retry."""

    reason: Reason = "conflict"


class VaultUnavailable(CommonplaceError):
    """The disk, the lock or git failed."""

    reason: Reason = "unavailable"


class IndexDamaged(CommonplaceError):
    """Derived data is damaged: `commonplace rebuild` repairs it."""

    reason: Reason = "damaged"


class ProviderFailed(CommonplaceError):
    """A model did not respond, or may not be asked now.

    Its server is `unreachable` or `busy`, refuses the key (`auth`) or wants money (`quota`), answers something
    `malformed`, or the text is `too_long`; the day's `budget` is used up, or calls are `paused` after failures.
    `retry_after` are the seconds after which to try again, 0 if unknown. `tokens_in` and `tokens_out` were paid for;
    `may_be_billed` says that the server had the request and did not tell what it cost.
    """

    reason: Reason = "provider"
    retry_after: float = 0.0
    tokens_in: int = 0
    tokens_out: int = 0
    may_be_billed: bool = False


@dataclass(frozen=True, slots=True)
class ErrorCodes:
    """The codes of one kind of error: process exit code, HTTP status and MCP error code."""

    exit_code: int
    http: int
    mcp: int


ERROR_CODES: dict[type[CommonplaceError], ErrorCodes] = {
    UsageError: ErrorCodes(exit_code=2, http=400, mcp=-32602),
    NotFound: ErrorCodes(exit_code=2, http=404, mcp=-32002),
    Refused: ErrorCodes(exit_code=3, http=403, mcp=-32003),
    Conflict: ErrorCodes(exit_code=4, http=409, mcp=-32004),
    VaultUnavailable: ErrorCodes(exit_code=5, http=503, mcp=-32005),
    IndexDamaged: ErrorCodes(exit_code=6, http=500, mcp=-32006),
    ProviderFailed: ErrorCodes(exit_code=7, http=502, mcp=-32007),
}


UNEXPECTED_CODES = ErrorCodes(exit_code=1, http=500, mcp=-32603)
"""For an error that is not in the table: a bug of ours."""


def missing_extra(extra: str, feature: str) -> UsageError:
    """The error for a feature whose packages are an extra that is not installed."""
    return UsageError(f"{feature} needs packages that are not installed", hint=f"pip install '{DISTRIBUTION}[{extra}]'")


def for_strangers(error: CommonplaceError) -> CommonplaceError:
    """The error as somebody is told it who has not signed in: without the address of a database, or a path."""
    if isinstance(error, VaultUnavailable):
        return VaultUnavailable("the server cannot answer now", hint="Try again in a minute.")
    return error


def codes_for(error: CommonplaceError) -> ErrorCodes:
    """The exit code, HTTP status and MCP code for this error, taken from the nearest ancestor in the table."""
    return next((ERROR_CODES[kind] for kind in type(error).__mro__ if kind in ERROR_CODES), UNEXPECTED_CODES)
