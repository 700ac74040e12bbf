"""What a browser is told, so that the pages which may call can, and no other."""

from typing import Final

from commonplace.daemon.head import Head
from commonplace.daemon.refusals import Headers

_METHODS: Final = b"GET, POST, PUT, PATCH, DELETE"
_ASKABLE: Final = frozenset(
    {"accept", "authorization", "commonplace-client", "commonplace-vault", "content-type", "last-event-id"}
)
_MINUTES: Final = b"600"  # seconds for which a browser need not ask again


def is_preflight(head: Head) -> bool:
    """Whether a browser asks, before the request itself, if a page may make it."""
    return head.method == "OPTIONS" and bool(head.one("origin") and head.one("access-control-request-method"))


def sharing(head: Head) -> Headers:
    """The headers that let the page behind a request read its answer. Its origin has been admitted before."""
    origin = head.one("origin")
    if origin is None:
        return ()
    return (
        (b"access-control-allow-origin", origin.encode("latin-1")),
        (b"access-control-expose-headers", b"mcp-session-id, retry-after, www-authenticate"),
        (b"vary", b"Origin"),
    )


def preflight_answer(head: Head) -> Headers:
    """What an admitted page may send: our methods, and of the headers it asks for those that we read."""
    asked = (name.strip().lower() for name in (head.one("access-control-request-headers") or "").split(","))
    granted = [name for name in asked if name in _ASKABLE or name.startswith("mcp-")]
    return (
        (b"access-control-allow-methods", _METHODS),
        (b"access-control-allow-headers", ", ".join(granted).encode("latin-1")),
        (b"access-control-max-age", _MINUTES),
    )
