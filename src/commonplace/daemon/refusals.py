"""What the guard says to those it does not let in: a status, an error in the one shape, and never a secret."""

import json
import re
from dataclasses import dataclass
from math import ceil
from typing import Final

from commonplace.daemon.head import Head
from commonplace.errors import CommonplaceError, Refused, UsageError, VaultUnavailable
from commonplace.events import emit
from commonplace.model import Scope

Headers = tuple[tuple[bytes, bytes], ...]

SLOW: Final = 408
_SECRET: Final = re.compile(r"cpl_[\w-]*")
_SHOWN: Final = 200  # characters of a path that are worth a line of the log


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a request goes no further; `caller` is whose it is, where that is known."""

    status: int
    error: CommonplaceError
    headers: Headers = ()
    caller: str = ""

    def body(self) -> bytes:
        """The error as every door's JSON shows it."""
        return json.dumps({"ok": False, "error": self.error.as_dict()}).encode("ascii")


def log_refusal(refusal: Refusal, head: Head, *, via: str) -> None:
    """Write down that a request was refused, without its headers, its query and its body."""
    path = _SECRET.sub("cpl_...", head.path[:_SHOWN])
    emit(
        "request_refused",
        level="warning",
        status=refusal.status,
        message=refusal.error.message,
        method=head.method[:10],
        path=path,
        via=via,
        caller=refusal.caller,
    )


def malformed(message: str, *, hint: str) -> Refusal:
    """The request itself is wrong."""
    return Refusal(400, UsageError(message, hint=hint))


def wrong_host() -> Refusal:
    """The request was meant for another machine."""
    error = Refused("this host name is not ours", hint="Call the daemon as 127.0.0.1 or localhost, with its port.")
    return Refusal(421, error)


def wrong_origin() -> Refusal:
    """A web page that may not call."""
    hint = "Where you trust that page, add its origin to the setting serve.allowed_origins."
    return Refusal(403, Refused("a web page of this origin may not call the daemon", hint=hint))


def token_wanted() -> Refusal:
    """No token, or none that counts. All cases read the same, so that a guess teaches nothing."""
    hint = "Run `commonplace token create NAME` and send what it prints as `Authorization: Bearer ...`."
    return Refusal(401, Refused("a valid token is wanted", hint=hint), ((b"www-authenticate", b"Bearer"),))


def scope_wanted(scope: Scope) -> Refusal:
    """A good token that does not reach this far."""
    hint = f"Run `commonplace token create NAME --scope {scope}` and use that token."
    return Refusal(403, Refused(f"this token lacks the scope {scope}", hint=hint))


def other_vault() -> Refusal:
    """A token that is bound to another vault."""
    hint = "Leave the header Commonplace-Vault out, or create a token for that vault."
    return Refusal(403, Refused("this token is for another vault", hint=hint))


def too_large(most: int) -> Refusal:
    """A body that is not read."""
    hint = "Send less at once, or raise the setting serve.max_body_bytes."
    return Refusal(413, Refused(f"the request is larger than {most} bytes", reason="too_large", hint=hint))


def head_too_large(most: int) -> Refusal:
    """A target or headers that nobody needs."""
    error = Refused(f"the head of the request is larger than {most} bytes", reason="too_large", hint="Use the body.")
    return Refusal(431, error)


def too_slow(seconds: float) -> Refusal:
    """A body that did not come."""
    error = Refused(f"the request did not arrive within {seconds:g} s", hint="Send it again, in one go.")
    return Refusal(SLOW, error)


def too_many(wait: float) -> Refusal:
    """One caller, too many requests. `wait` is in seconds."""
    seconds = ceil(wait)
    error = Refused("too many requests", hint=f"Wait {seconds} s and go on more slowly.")
    return Refusal(429, error, ((b"retry-after", str(seconds).encode("ascii")),))


def too_many_guesses(wait: float) -> Refusal:
    """Many wrong tokens; a good one is let in all the same. `wait` is in seconds."""
    seconds = ceil(wait)
    hint = f"Wait {seconds} s; look which program sends a wrong token, and give it a new one."
    error = Refused("too many requests without a valid token", hint=hint)
    return Refusal(429, error, ((b"retry-after", str(seconds).encode("ascii")),))


def tokens_unreadable() -> Refusal:
    """Nobody can be told by a token now. Which file it is concerns the person alone."""
    error = VaultUnavailable("the list of tokens cannot be read", hint="Run `commonplace token list`: it says why.")
    return Refusal(503, error)


def our_fault() -> Refusal:
    """Something broke behind the door."""
    error = CommonplaceError("something unexpected went wrong", hint="`commonplace status` says where the log is.")
    return Refusal(500, error)
