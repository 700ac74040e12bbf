"""Requests and responses as the guard sees them: request heads, error responses, security and CORS headers."""

import asyncio
import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from html import escape
from math import ceil
from typing import TYPE_CHECKING, Any, Final

from commonplace.errors import CommonplaceError, Refused, UsageError, VaultUnavailable
from commonplace.model import Scope
from commonplace.web.page.sessions import ASSETS, AUTHORIZE, is_page_path

if TYPE_CHECKING:
    from starlette.types import Message, Receive, Send

Headers = tuple[tuple[bytes, bytes], ...]

SECURITY_HEADERS: Final[Headers] = (
    (b"cache-control", b"no-store"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-content-type-options", b"nosniff"),
)
_JSON: Final = b"application/json"
_PAGE: Final = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Not done · Commonplace</title></head>
<body><main><h1>Not done</h1>{text}<p><a href="/">Go to Today</a></p></main></body></html>
"""
_POLICY: Final = b"content-security-policy"
_PAGE_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
PAGE_HEADERS: Final[Headers] = (
    (b"cache-control", b"no-store"),
    (_POLICY, _PAGE_POLICY.encode("ascii")),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"referrer-policy", b"same-origin"),  # without a referrer a browser hides the origin of a form, too
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
)
"""For the page that the daemon serves; no other page may read it, so it has no CORS headers."""
ASSET_HEADERS: Final[Headers] = (
    (b"cache-control", b"public, max-age=31536000, immutable"),  # the address has a hash of the content
    *PAGE_HEADERS[1:],
)
_REPLACED_HEADERS: Final = frozenset({name for name, _ in (*SECURITY_HEADERS, *PAGE_HEADERS)} | {b"server", b"vary"})
_LINGER_SECONDS: Final = 0.5  # a caller that is still sending would otherwise see a broken pipe, and not the reason
_REQUEST_TIMEOUT: Final = 408
_CORS_METHODS: Final = b"GET, POST, PUT, PATCH, DELETE"
_CORS_HEADERS: Final = frozenset(
    {"accept", "authorization", "commonplace-client", "commonplace-vault", "content-type", "last-event-id"}
)
_CORS_MAX_AGE: Final = b"600"  # seconds for which a browser need not ask again


@dataclass(slots=True)
class ConnectionFacts:
    """What was found out about a connection; it holds for all requests that come over it.

    `is_own` tells whether the program at its other end is one of this user; None if that was not asked yet.
    """

    is_own: bool | None = None


CONNECTION: Final = "commonplace.connection"
"""The key of a connection's facts in the state of an ASGI scope."""


@dataclass(frozen=True, slots=True)
class RequestHead:
    """Method, path without its query, headers as they came, and the port of ours that was reached.

    `size` counts the bytes of the whole target and of the headers. `peer` is the caller's end of a TCP connection, and
    `connection` what is known about it.
    """

    method: str
    path: str
    headers: tuple[tuple[bytes, bytes], ...]
    port: int | None
    size: int
    peer: tuple[str, int] | None = None
    connection: ConnectionFacts = field(default_factory=ConnectionFacts)

    def all(self, name: str) -> list[str]:
        """Every value of a header, in order."""
        key = name.lower().encode("ascii")
        return [value.decode("latin-1").strip() for header, value in self.headers if header == key]

    def one(self, name: str) -> str | None:
        """A header's first value; None if it is missing."""
        return next(iter(self.all(name)), None)

    @property
    def has_body(self) -> bool:
        """True if a body follows."""
        return self.one("transfer-encoding") is not None or self.one("content-length") not in (None, "0")

    @property
    def content_length(self) -> int | None:
        """The length of the body that the caller declares; None if it does not."""
        value = self.one("content-length")
        return int(value) if value and value.isascii() and value.isdigit() else None


def request_head(scope: Mapping[str, Any]) -> RequestHead:
    """The head of the request that an ASGI server parsed."""
    server = scope.get("server") or ("", None)
    target = len(scope.get("raw_path") or scope["path"]) + len(scope.get("query_string", b""))
    size = target + sum(len(name) + len(value) for name, value in scope["headers"])
    peer, headers = scope.get("client"), tuple(scope["headers"])
    peer = (peer[0], peer[1]) if peer else None
    known = scope.get("state", {}).get(CONNECTION) or ConnectionFacts()
    return RequestHead(scope["method"], scope["path"], headers, port=server[1], size=size, peer=peer, connection=known)


@dataclass(frozen=True, slots=True)
class ErrorResponse:
    """Why a request was refused: a status, and an error that never holds a secret; `caller` is empty if unknown."""

    status: int
    error: CommonplaceError
    headers: Headers = ()
    caller: str = ""

    def body(self) -> bytes:
        """The error in the JSON shape of all doors."""
        return json.dumps({"ok": False, "error": self.error.as_dict()}).encode("ascii")

    def page(self) -> bytes:
        """The error as a small page of HTML, for a browser."""
        message = self.error.message
        said = [f"{message[:1].upper()}{message[1:]}.", *filter(None, [self.error.hint])]
        return _PAGE.format(text="".join(f"<p>{escape(each)}</p>" for each in said)).encode("utf-8")


def malformed(message: str, *, hint: str) -> ErrorResponse:
    """400: the request itself is wrong."""
    return ErrorResponse(400, UsageError(message, hint=hint))


def wrong_host(*, is_team: bool) -> ErrorResponse:
    """421: the Host header names another machine."""
    hint = (
        "It must be that of serve.public_url: let the proxy pass the Host on."
        if is_team
        else "Call the daemon as 127.0.0.1 or localhost, with its port."
    )
    return ErrorResponse(421, Refused("the Host header does not name this daemon", hint=hint))


def wrong_origin() -> ErrorResponse:
    """403: a web page that may not call the daemon."""
    hint = "If you trust that page, add its origin to the setting serve.allowed_origins."
    return ErrorResponse(403, Refused("web pages from this origin may not call the daemon", hint=hint))


def invalid_token(metadata: str = "", *, was_sent: bool = False) -> ErrorResponse:
    """401: no token, or not a valid one. All cases have the same text, so that a guess reveals nothing.

    `metadata` is the address at which an OAuth client reads how to get a token; empty where OAuth is not offered. It is
    told whether a token `was_sent`, so that it gets a new one.
    """
    hint = "Run `commonplace token create NAME` and send what it prints as `Authorization: Bearer ...`."
    error = 'error="invalid_token", ' if was_sent else ""
    challenge = f'Bearer {error}resource_metadata="{metadata}", scope="read write"' if metadata else "Bearer"
    headers = ((b"www-authenticate", challenge.encode("ascii")),)
    return ErrorResponse(401, Refused("missing or invalid token", hint=hint), headers)


def not_by_proxy() -> ErrorResponse:
    """403: a machine that is not one of the trusted proxies."""
    hint = "Use the public address of this server, or add the proxy to serve.trusted_proxies."
    return ErrorResponse(403, Refused("this server is reached through its proxy alone", hint=hint))


def without_person() -> ErrorResponse:
    """403: a token or a session of the user who runs a team server, from which people connect as themselves."""
    hint = "Use a token of a person: `commonplace token create NAME --person ID`; or the socket, on the server itself."
    return ErrorResponse(403, Refused("a team server accepts the tokens of people alone", hint=hint))


def owns_no_vault() -> ErrorResponse:
    """403: the page for a person who has no vault of their own, or not this one any more."""
    hint = "Your programs can use the vaults that are shared with you. `commonplace person share` makes you an owner."
    return ErrorResponse(403, Refused("this page shows the vaults that a person owns, and you own none", hint=hint))


def not_for_members() -> ErrorResponse:
    """403: a page of the server's own settings."""
    hint = "Whoever runs the server does that with `commonplace` on the server."
    return ErrorResponse(403, Refused("this page is for whoever runs the server", hint=hint))


def not_your_metrics() -> ErrorResponse:
    """403: a token of a person who does not run the server, whose metrics count what everybody does."""
    hint = "Use a token of a person with the role owner or admin: `commonplace person set ID --role admin`."
    return ErrorResponse(403, Refused("the metrics are those of the whole server", hint=hint))


def signed_out() -> ErrorResponse:
    """303 to the start: a form was sent after its session had ended; the start page says how to sign in."""
    hint = "Run `commonplace open`."
    return ErrorResponse(303, Refused("this browser is not signed in", hint=hint), ((b"location", b"/"),))


def foreign_link() -> ErrorResponse:
    """403: a browser that followed a link on another web page, such as one in a mail or a chat."""
    hint = "If you trust it, copy the link into the address bar of a new tab. A link that signs you in is not used up."
    return ErrorResponse(403, Refused("a link on another web page does not lead in here", hint=hint))


def foreign_form() -> ErrorResponse:
    """403: a change that was sent with the page's cookie, but not by the page."""
    hint = "Reload the page, and send the form again from there."
    return ErrorResponse(403, Refused("this request did not come from the page itself", hint=hint))


def other_user() -> ErrorResponse:
    """403: a token that another user of this machine presents, who may have got it where a host sent it by mistake."""
    hint = "If that user may use your memory, run `commonplace settings set serve.other_users true`."
    return ErrorResponse(403, Refused("this token is used by another user of this machine", hint=hint))


def browser_of_other_user() -> ErrorResponse:
    """403: a link or a cookie of the page that another user of this machine presents."""
    hint = "Run `commonplace open` as yourself: the page is that of your own memory."
    return ErrorResponse(403, Refused("this page belongs to another user of this machine", hint=hint))


def missing_scope(scope: Scope) -> ErrorResponse:
    """403: a valid token without this scope."""
    hint = f"Run `commonplace token create NAME --scope {scope}` and use that token."
    return ErrorResponse(403, Refused(f"this token lacks the scope {scope}", hint=hint))


def other_vault() -> ErrorResponse:
    """403: a token that does not open this vault; it does not tell whether there is such a vault."""
    hint = "Leave out the header Commonplace-Vault, or create a token for that vault."
    return ErrorResponse(403, Refused("this token is for another vault", hint=hint))


def no_vault() -> ErrorResponse:
    """403: a token of a person with whom no vault is shared, or not the one that the token is for."""
    hint = "Whoever runs the server shares one: `commonplace person share VAULT ID`."
    return ErrorResponse(403, Refused("this token opens no vault: none is shared with its person", hint=hint))


def too_large(most: int) -> ErrorResponse:
    """413: a body that is not read."""
    hint = "Send less at once, or raise the setting serve.max_body_bytes."
    return ErrorResponse(413, Refused(f"the request is larger than {most} bytes", reason="too_large", hint=hint))


def too_many_fields(most: int) -> ErrorResponse:
    """413: a body with more names than any request has."""
    message = f"the request has more than {most:,} fields"
    return ErrorResponse(413, Refused(message, reason="too_large", hint="Send less at once."))


def head_too_large(most: int) -> ErrorResponse:
    """431: a target or headers that are too long."""
    message = f"the request's headers are larger than {most} bytes"
    return ErrorResponse(431, Refused(message, reason="too_large", hint="Use the body."))


def too_slow(seconds: float) -> ErrorResponse:
    """408: a body that did not arrive in time."""
    error = Refused(f"the request did not arrive within {seconds:g} s", hint="Send it again, in one go.")
    return ErrorResponse(_REQUEST_TIMEOUT, error)


def too_many_requests(wait: float) -> ErrorResponse:
    """429: the caller exceeds the rate limit. `wait` is in seconds."""
    seconds = ceil(wait)
    error = Refused("too many requests", hint=f"Wait {seconds} s, then send fewer.")
    return ErrorResponse(429, error, ((b"retry-after", str(seconds).encode("ascii")),))


def too_many_guesses(wait: float) -> ErrorResponse:
    """429: many wrong tokens; a valid one is still accepted. `wait` is in seconds."""
    seconds = ceil(wait)
    hint = f"Wait {seconds} s; find out which program sends a wrong token, and give it a new one."
    error = Refused("too many requests without a valid token", hint=hint)
    return ErrorResponse(429, error, ((b"retry-after", str(seconds).encode("ascii")),))


def tokens_unreadable() -> ErrorResponse:
    """503: no token can be checked. The path of the file is not told to callers."""
    error = VaultUnavailable("the list of tokens cannot be read", hint="`commonplace token list` says why.")
    return ErrorResponse(503, error)


def internal_error() -> ErrorResponse:
    """500: an unexpected error in a route."""
    error = CommonplaceError("unexpected error", hint="`commonplace status` says where the log is.")
    return ErrorResponse(500, error)


class ResponseSender:
    """An ASGI `send` whose responses carry our security headers, and CORS headers for an admitted page.

    What is sent for a path of our own page carries the headers of that page instead.
    """

    def __init__(self, send: "Send", head: RequestHead | None = None) -> None:
        self._send = send
        self._headers = _headers_for(head) if head else SECURITY_HEADERS
        self._is_for_browser = head is not None and is_for_browser(head)
        self._keeps_policy = head is not None and head.path == AUTHORIZE  # its form leads to the client's address
        self.is_started = False

    async def __call__(self, message: "Message") -> None:
        """Pass a message on."""
        if message["type"] == "http.response.start":
            self.is_started = True
            sent = [(name.lower(), value) for name, value in message.get("headers", ())]
            policies = [each for each in sent if each[0] == _POLICY and self._keeps_policy]
            own = [each for each in sent if each[0] not in _REPLACED_HEADERS]
            ours = [each for each in self._headers if not policies or each[0] != _POLICY]
            message = {**message, "headers": [*own, *policies, *ours]}
        await self._send(message)

    async def send_empty(self, status: int, headers: Headers) -> None:
        """Send a response without a body."""
        await self({"type": "http.response.start", "status": status, "headers": headers})
        await self({"type": "http.response.body", "body": b""})

    async def send_error(self, error: ErrorResponse, *, headers: Headers = (), more: bool = False) -> None:
        """Send an error; `more` keeps the stream open although Content-Length is satisfied."""
        body, kind = (error.page(), b"text/html; charset=utf-8") if self._is_for_browser else (error.body(), _JSON)
        content = ((b"content-type", kind), (b"content-length", str(len(body)).encode("ascii")))
        start = {"type": "http.response.start", "status": error.status}
        await self({**start, "headers": (*content, *error.headers, *headers)})
        await self({"type": "http.response.body", "body": body, "more_body": more})


def is_for_browser(head: RequestHead) -> bool:
    """True if the request wants a page of ours to show; what is refused is then told as a page, too."""
    is_page = is_page_path(head.path) and not head.path.startswith(ASSETS)
    return is_page and "text/html" in (head.one("accept") or "")


def _headers_for(head: RequestHead) -> Headers:
    if not is_page_path(head.path):
        return (*SECURITY_HEADERS, *cors_headers(head))
    return ASSET_HEADERS if head.path.startswith(ASSETS) else PAGE_HEADERS


async def refuse_request(
    error: ErrorResponse, head: RequestHead, *, receive: "Receive", send: ResponseSender, most: int
) -> None:
    """Send the error; if the request has a body, which was not read, also close the connection."""
    if not head.has_body:
        await send.send_error(error)
        return
    await send.send_error(error, headers=((b"connection", b"close"),), more=True)
    if error.status != _REQUEST_TIMEOUT:
        await _drain(receive, most)
    await send({"type": "http.response.body", "body": b""})


async def _drain(receive: "Receive", most: int) -> None:
    """Discard what a caller still sends, for a moment and up to `most` bytes, until it reads the response."""
    with suppress(TimeoutError):
        async with asyncio.timeout(_LINGER_SECONDS):
            while most > 0:
                message = await receive()
                if message["type"] == "http.disconnect" or not message.get("more_body", False):
                    return
                most -= len(message.get("body", b""))


def is_preflight(head: RequestHead) -> bool:
    """True for a CORS preflight, with which a browser asks whether a page may make a request."""
    return head.method == "OPTIONS" and bool(head.one("origin") and head.one("access-control-request-method"))


def cors_headers(head: RequestHead) -> Headers:
    """The headers that let the page behind a request read the response. Its origin has been admitted before."""
    origin = head.one("origin")
    if origin is None:
        return ()
    return (
        (b"access-control-allow-origin", origin.encode("latin-1")),
        (b"access-control-expose-headers", b"mcp-session-id, retry-after, www-authenticate"),
        (b"vary", b"Origin"),
    )


def preflight_headers(head: RequestHead) -> Headers:
    """What an admitted page may send: our methods, and those of the requested headers that we read."""
    requested = (name.strip().lower() for name in (head.one("access-control-request-headers") or "").split(","))
    allowed = [name for name in requested if name in _CORS_HEADERS or name.startswith("mcp-")]
    return (
        (b"access-control-allow-methods", _CORS_METHODS),
        (b"access-control-allow-headers", ", ".join(allowed).encode("latin-1")),
        (b"access-control-max-age", _CORS_MAX_AGE),
    )
