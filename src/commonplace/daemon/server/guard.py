"""The guard: every request passes it before a route sees it, and every response on its way out.

It checks, in this order, the form of the request, the Host, the Origin, the token, the rate, the scope and the body.
What it admits carries a `Caller`, a complete body, and no token.
"""

import asyncio
import re
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from math import ceil
from typing import TYPE_CHECKING, Final, TypeVar
from urllib.parse import unquote, urlsplit

from commonplace.client.paths import as_client_name, is_client_name
from commonplace.daemon.server.messages import (
    ErrorResponse,
    RequestHead,
    ResponseSender,
    browser_of_other_user,
    foreign_form,
    foreign_link,
    head_too_large,
    internal_error,
    invalid_token,
    is_for_browser,
    is_preflight,
    malformed,
    missing_scope,
    no_vault,
    not_by_proxy,
    not_for_members,
    not_your_metrics,
    other_user,
    other_vault,
    owns_no_vault,
    preflight_headers,
    refuse_request,
    request_head,
    signed_out,
    tokens_unreadable,
    too_large,
    too_many_fields,
    too_many_guesses,
    too_many_requests,
    too_slow,
    without_person,
    wrong_host,
    wrong_origin,
)
from commonplace.daemon.tokens import Tokens, is_own_program
from commonplace.errors import CommonplaceError
from commonplace.events import emit
from commonplace.identity.access import Identities
from commonplace.identity.devices import Token
from commonplace.identity.grants import ACCESS_PREFIX, OAuthGrant
from commonplace.identity.people import short_name
from commonplace.model import SCOPES, Caller, Scope
from commonplace.model.change import CALLER, STILL_ADMITTED, Via
from commonplace.web.page.sessions import (
    AUTHORIZE,
    BASE_URL,
    CLIENT_ADDRESS,
    LOGIN,
    MCP_PATH,
    PAGE_SESSION,
    SIGN_IN,
    SIGN_OUT,
    PageSession,
    PageSessions,
    cookie_name,
    cookie_value,
    is_open_path,
    is_page_path,
)

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Send
    from starlette.types import Scope as AsgiScope

    from commonplace.policy.options import ServeOptions

LONGEST_HEAD: Final = 16_384
"""Bytes of a request's target and headers, together."""

MOST_FIELDS: Final = 50_000
"""Names, lists and objects in the JSON of a body: the largest request, 5,000 messages, has about half as many."""

_COUNTED_FROM: Final = 100_000  # bytes; a smaller body is validated in milliseconds, whatever it has
_FIELD: Final = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+("[ \t\r\n]*+:)?"?|([\[{])', re.DOTALL)
_ANYONE: Final = Caller("", frozenset())
"""Whoever asks whether the daemon is running; no client has an empty name."""
_OPEN_PATHS: Final = frozenset({"/health", "/ready", "/proof"})  # a caller asks them before it sends a token
_METRICS: Final = "/metrics"
_WELL_KNOWN: Final = "/.well-known/"
_REGISTER: Final = "/oauth/register"
_OAUTH_PATHS: Final = frozenset({_REGISTER, "/oauth/token", "/oauth/revoke"})  # a client has no token yet
RESOURCE_METADATA: Final = "/.well-known/oauth-protected-resource/mcp"
"""Where an OAuth client reads which server gives tokens for /mcp (RFC 9728)."""
_Answer = TypeVar("_Answer")
_SERVER_PAGES: Final = ("/settings", "/welcome")  # they show and change what is the server's
_BURST_SECONDS: Final = 10.0  # a person's programs may at once make as many requests as in that time
_LONGEST_ADDRESS: Final = 64
_PAGE_CALLER: Final = "page"  # the name of the person's browser as a caller
_SECRET: Final = re.compile(r"cp[alr]_[\w-]*")
_LOGGED_PATH: Final = 200  # characters of a path in the log
_LONGEST_PATH: Final = 4096  # bytes, the longest path there is
_GUESSES_PER_SECOND: Final = 5.0
_GUESSES_AT_ONCE: Final = 50
_MOST_CALLERS: Final = 1000  # in a rate limiter; names are free on the socket, so they must not pile up


def guard_app(
    app: "ASGIApp",
    *,
    via: Via,
    options: "ServeOptions",
    tokens: Tokens,
    sessions: PageSessions,
    identities: Identities,
    clock: Callable[[], datetime],
) -> "ASGIApp":
    """The app behind a guard: for TCP, which requires a token or the page's cookie, or for the socket."""
    authenticator = Authenticator(tokens, sessions, identities, options=options, clock=clock)
    return Guard(app, via=via, options=options, authenticator=authenticator, clock=clock)


class Guard:
    """An ASGI app in front of another."""

    def __init__(
        self,
        app: "ASGIApp",
        *,
        via: Via,
        options: "ServeOptions",
        authenticator: "Authenticator",
        clock: Callable[[], datetime],
    ) -> None:
        self._app, self._via, self._options, self._clock = app, via, options, clock
        self._authenticator = authenticator
        self._rates = RateLimiter(per_second=options.requests_per_second, burst=options.burst)
        self._person_rates = RateLimiter(per_second=options.requests_per_second, burst=options.burst)
        self._registrations = RateLimiter(per_second=_GUESSES_PER_SECOND, burst=_GUESSES_AT_ONCE)

    async def __call__(self, scope: "AsgiScope", receive: "Receive", send: "Send") -> None:
        """Admit one request, or refuse it with the reason. The server's lifespan messages pass unchanged."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            await self._handle(scope, receive, send)
        else:
            await send({"type": "websocket.close", "code": 1008})  # no route speaks it

    async def _handle(self, scope: "AsgiScope", receive: "Receive", send: "Send") -> None:
        head = request_head(scope)
        if error := self._check_form(head):
            sender = ResponseSender(send, head if is_for_browser(head) else None)  # a page has no CORS headers
            await self._refuse(error, head, receive=receive, send=sender)
            return
        sender = ResponseSender(send, head)
        if is_preflight(head):
            await sender.send_empty(204, preflight_headers(head))
            return
        is_open = self._via == "tcp" and self._is_open(head)  # nothing to ask of a database, which may hang
        caller = self._admit(head) if is_open else await self._authenticator.run(self._admit, head)
        if isinstance(caller, ErrorResponse):
            await self._refuse(caller, head, receive=receive, send=sender)
            return
        options = self._options
        body = await read_body(head, receive, most=options.max_body_bytes, seconds=options.body_seconds)
        if isinstance(body, bytes) and len(body) > _COUNTED_FROM and await asyncio.to_thread(has_too_many_fields, body):
            body = too_many_fields(MOST_FIELDS)
        if isinstance(body, ErrorResponse):
            await self._refuse(replace(body, caller=caller.name), head, receive=receive, send=sender)
        elif body is not None:
            by_cookie = caller is not _ANYONE and self._goes_by_cookie(head)
            session = await self._authenticator.run(self._authenticator.session_of, head) if by_cookie else None
            inner = {
                **_inner_scope(scope, caller, session),
                BASE_URL: self._options.base_url(head.one("host")),
                CLIENT_ADDRESS: client_address(head, self._options),
                STILL_ADMITTED: lambda: self._is_still_admitted(head, caller),  # its text names no token
            }
            await self._pass_on(inner, _replay(body, receive), sender)

    def _check_form(self, head: RequestHead) -> ErrorResponse | None:
        """The error for a request that not even a CORS preflight may make; None if its form, host and origin fit."""
        if head.size > LONGEST_HEAD:
            return head_too_large(LONGEST_HEAD)
        if not head.path.startswith("/"):
            return malformed("the target of the request is not a path", hint="Request a path, such as /mcp.")
        if len(head.all("transfer-encoding")) + len(head.all("content-length")) > 1:
            return malformed("the length of the body was given twice", hint="Send Content-Length or chunks, not both.")
        hosts, origins, sites = head.all("host"), head.all("origin"), head.all("sec-fetch-site")
        if len(origins) > 1 or len(sites) > 1:
            return malformed("a browser header was sent twice", hint="Send Origin and Sec-Fetch-Site once each.")
        if self._via == "tcp" and len(hosts) != 1:
            return malformed("the request must have one Host header", hint="Send the header Host once.")
        if self._via == "tcp" and not self._options.admits_host(hosts[0], port=head.port or 0):
            return wrong_host(is_team=self._options.team)
        if self._via == "tcp" and not is_admitted_peer(head, self._options):
            return not_by_proxy()
        origin, site = next(iter(origins), None), next(iter(sites), "")
        if head.path == AUTHORIZE and _is_visit(head):  # a program's own web page may send the person here
            return None
        if self._options.admits_fetch(site, origin=origin, port=head.port):
            return None
        return foreign_link() if is_for_browser(head) and _is_visit(head) else wrong_origin()

    def _admit(self, head: RequestHead) -> Caller | ErrorResponse:
        """The caller, if it may make this request now."""
        try:
            caller = self._authenticate(head)
            if isinstance(caller, ErrorResponse):
                return caller
            wait = self._wait(caller, head)
        except CommonplaceError as error:
            emit("tokens_unreadable", level="error", **error.as_dict())
            return tokens_unreadable()
        if wait:
            return replace(too_many_requests(wait), caller=caller.name)
        scope = required_scope(head.path)
        if caller is not _ANYONE and not caller.may(scope):
            return replace(missing_scope(scope), caller=caller.name)
        return caller

    def _is_still_admitted(self, head: RequestHead, caller: Caller) -> bool:
        """True if the request would be admitted now as it was, for the same vault and with the same scopes."""
        try:
            return self._authenticate(head) == caller
        except CommonplaceError:
            return False  # tokens or people cannot be read: whoever listens connects again, and is told so

    def _wait(self, caller: Caller, head: RequestHead) -> float:
        """The seconds that the caller has to wait: for its own rate, or for that of its person's programs together."""
        now, person = self._clock().timestamp(), caller.person
        name = f"{person}/{caller.name}" if person else caller.name or f"@{client_address(head, self._options)}"
        wait = self._rates.draw(name, now=now)
        if head.path == _REGISTER and caller is _ANYONE:  # each leaves a row behind
            return wait or self._registrations.draw(name, now=now)
        rate = self._authenticator.rate_of(person) if person and not wait else None
        if rate is None:
            return wait
        return self._person_rates.draw(person, now=now, per_second=rate, burst=max(1, ceil(rate * _BURST_SECONDS)))

    def _authenticate(self, head: RequestHead) -> Caller | ErrorResponse:
        if self._via == "socket":
            return self._authenticator.by_socket(head)
        if self._is_open(head):
            return _ANYONE
        if self._goes_by_cookie(head):
            return self._authenticator.by_cookie(head)
        return self._authenticator.by_token(head)

    def _is_open(self, head: RequestHead) -> bool:
        """True for what everybody on this machine may read; a token that is sent with it is not looked at."""
        is_metrics = head.path == _METRICS and self._options.metrics_open and is_of_this_machine(head, self._options)
        is_reading = head.method in ("GET", "HEAD")
        if head.path in _OAUTH_PATHS or (is_reading and head.path.startswith(_WELL_KNOWN)):
            return True
        return is_reading and (head.path in _OPEN_PATHS or is_metrics)

    def _goes_by_cookie(self, head: RequestHead) -> bool:
        """True for a request to the page; a cookie counts nowhere else, and not beside a token."""
        return self._via == "tcp" and is_page_path(head.path) and not head.all("authorization")

    async def _refuse(
        self, error: ErrorResponse, head: RequestHead, *, receive: "Receive", send: ResponseSender
    ) -> None:
        _log_refusal(error, head, via=self._via)
        await refuse_request(error, head, receive=receive, send=send, most=self._options.max_body_bytes)

    async def _pass_on(self, scope: "AsgiScope", receive: "Receive", send: ResponseSender) -> None:
        """Call the app. Its unexpected errors are answered without their text, which may quote a note."""
        try:
            await self._app(scope, receive, send)
        except Exception as error:  # noqa: BLE001 (the outermost door: an error of one request must not affect others)
            emit("unexpected_error", level="error", path=scope["path"], exc_info=error)
            if not send.is_started:
                await send.send_error(internal_error())


class Authenticator:
    """Identifies callers: by a token or a cookie over TCP, by the owner's private folder on the socket.

    Slows down guessing. Without `other_users`, a token counts only from a program of the user who runs the daemon; a
    cookie never counts from another one, because browsers send it to every port of this machine. A team server accepts
    tokens from everywhere, those of people alone.
    """

    def __init__(
        self,
        tokens: Tokens,
        sessions: PageSessions,
        identities: Identities,
        *,
        options: "ServeOptions",
        clock: Callable[[], datetime],
    ) -> None:
        self._tokens, self._sessions, self._identities = tokens, sessions, identities
        self._clock, self._options = clock, options
        self._guesses = RateLimiter(per_second=_GUESSES_PER_SECOND, burst=_GUESSES_AT_ONCE)
        self._person_limits: dict[str, float | None] = {}  # of people who exist: as many as there are

    async def run(self, asks: Callable[[RequestHead], _Answer], head: RequestHead) -> _Answer:
        """What a function says of a request; in a thread if people are in a database, which may be slow to answer."""
        return await asyncio.to_thread(asks, head) if self._identities.database.is_remote else asks(head)

    def by_token(self, head: RequestHead) -> Caller | ErrorResponse:
        """The caller over TCP. A valid token is accepted however many wrong ones came before.

        Raises VaultUnavailable if tokens or people cannot be read.
        """
        credential = self._credential(head)
        if credential is None:
            return self._refuse_guess(head)
        if error := self._check_machine(head, credential):
            return error
        headers = _own_headers(head)
        if isinstance(headers, ErrorResponse):
            return headers
        caller = self._caller(credential, headers[1], head)
        if isinstance(caller, Caller):
            credential.touch(self._clock())
        return caller

    def rate_of(self, person: str) -> float | None:
        """The requests per second that a person's programs may make together; None without a limit of their own.

        It is that of the moment when the person was last admitted, which is this request.
        """
        return self._person_limits.get(person)

    def _credential(self, head: RequestHead) -> "Credential | None":
        """What the Authorization header proves; None if it is not valid. Raises VaultUnavailable."""
        values = head.all("authorization")
        scheme, _, secret = (values[0] if len(values) == 1 else "").partition(" ")
        secret = secret.strip()
        if scheme.lower() != "bearer" or not secret:
            return None
        if secret.startswith(ACCESS_PREFIX):
            return self._by_grant(secret, head)
        token = self._tokens.find(secret)
        if token is None:
            return None
        touch = partial(_touch, self._tokens.touch, token)
        return Credential(token.client, token.scopes, token.vault, token.person, token.id, touch)

    def _by_grant(self, secret: str, head: RequestHead) -> "Credential | None":
        """The credential of an OAuth access token, which counts for the MCP server that it was given for alone."""
        grant = self._identities.find_grant(secret, now=self._clock()) if head.path == MCP_PATH else None
        if grant is None or grant.resource != f"{self._options.base_url(head.one('host'))}{MCP_PATH}":
            return None
        name = as_client_name(grant.name) or "oauth"
        touch = partial(_touch, self._identities.grants.touch, grant)
        return Credential(name, grant.scopes, grant.vault, grant.person, grant.id, touch)

    def _check_machine(self, head: RequestHead, credential: "Credential") -> ErrorResponse | None:
        """The error for a credential that comes from where it may not come from."""
        if self._options.team:
            return None if credential.person else without_person()
        if not self._options.other_users and not _is_from_own_program(head):
            emit("token_of_other_user", level="warning", client=credential.client, token=credential.id)
            return other_user()
        return None

    def _caller(self, credential: "Credential", vault: str, head: RequestHead) -> Caller | ErrorResponse:
        """The caller that the credential makes, in the vault that the request names. Raises VaultUnavailable."""
        bound, scopes = credential.vault, frozenset(credential.scopes)
        if bound and vault and vault not in (bound, short_name(bound)):
            return other_vault()
        if not credential.person:
            return Caller(credential.client, scopes, vault=bound or vault, via="tcp")
        access = self._identities.access(credential.person, vault=bound or vault, scopes=scopes)
        if access is None:
            return self._refuse_guess(head)
        if not access.vault:
            return other_vault() if vault else no_vault()
        if required_scope(head.path) == "admin" and not (access.person.runs_the_server and SCOPES[-1] in scopes):
            return missing_scope("admin")
        if head.path == _METRICS and not access.person.runs_the_server:
            return not_your_metrics()
        self._person_limits[credential.person] = access.person.requests_per_second
        return Caller(credential.client, access.scopes, vault=access.vault, via="tcp", person=credential.person)

    def _refuse_guess(self, head: RequestHead) -> ErrorResponse:
        """401 with the way to a token, or 429 after many wrong tokens."""
        if wait := self._guesses.draw(client_address(head, self._options), now=self._clock().timestamp()):
            return too_many_guesses(wait)
        if head.path != MCP_PATH or not self._identities.has_people:
            return invalid_token()
        address = f"{self._options.base_url(head.one('host'))}{RESOURCE_METADATA}"
        return invalid_token(address, was_sent=bool(head.all("authorization")))

    def by_cookie(self, head: RequestHead) -> Caller | ErrorResponse:
        """The person at the page, by the session of their browser.

        A browser without a session may only read the page that says how to sign in, and what that page needs; and it
        may send the form by which a person signs in.
        """
        session = self.session_of(head)
        is_reading = head.method in ("GET", "HEAD")
        if not is_reading and (session or head.path == SIGN_IN) and not is_same_origin(head, self._options):
            return foreign_form()
        may_enter = is_open_path(head.path) or _is_browser(head)
        if session is None and (head.path == SIGN_IN or (is_reading and may_enter)):
            return self._from_other_user(head) if head.path in (LOGIN, AUTHORIZE, SIGN_IN) else _ANYONE
        if session is None:
            wait = self._guesses.draw(client_address(head, self._options), now=self._clock().timestamp())
            return too_many_guesses(wait) if wait else signed_out() if _is_browser(head) else invalid_token()
        caller = self._from_other_user(head)
        if caller is not _ANYONE:
            return caller
        return self._page_caller(session, head)

    def _page_caller(self, session: PageSession, head: RequestHead) -> Caller | ErrorResponse:
        """The person who is signed in: at the pages of their own vaults, and of nothing that is the server's."""
        if not session.person:
            return Caller(_PAGE_CALLER, frozenset(SCOPES), vault=session.vault, via="tcp")
        if is_open_path(head.path) or head.path == SIGN_OUT:
            return Caller(_PAGE_CALLER, frozenset(SCOPES[:1]), vault=session.vault, via="tcp", person=session.person)
        access = self._identities.access(session.person, vault=session.vault, scopes=SCOPES)
        if head.path.startswith(_SERVER_PAGES):
            return not_for_members()
        if access is None or not access.vault or SCOPES[-1] not in access.scopes:
            return owns_no_vault()
        return Caller(_PAGE_CALLER, access.scopes, vault=access.vault, via="tcp", person=session.person)

    def session_of(self, head: RequestHead) -> PageSession | None:
        """The session that the cookie of a request names."""
        cookies = head.all("cookie")
        value = cookie_value(cookies[0], cookie_name(head.port)) if len(cookies) == 1 else ""
        session = self._sessions.find(value) if value else None
        if session is None or not (session.person or self._options.team):
            return session
        return session if self._identities.find(session.person) else None

    def _from_other_user(self, head: RequestHead) -> Caller | ErrorResponse:
        """An error if a program of another user of this machine sent the request; else anyone."""
        if not self._options.team and not _is_from_own_program(head):
            emit("page_of_other_user", level="warning")
            return browser_of_other_user()
        return _ANYONE

    def by_socket(self, head: RequestHead) -> Caller | ErrorResponse:
        """The caller on the socket: its owner, through a program that states its own name."""
        headers = _own_headers(head)
        if isinstance(headers, ErrorResponse):
            return headers
        client, vault = headers
        folder = _decode_path(head.one("commonplace-folder") or "") or ""  # one that cannot be read is no obstacle
        return Caller(client or "socket", frozenset(SCOPES), vault=vault, via="socket", folder=folder)


@dataclass(frozen=True, slots=True)
class Credential:
    """What a request proves by its token: the program, its scopes, the vault it is bound to, and its person.

    `id` is that of the token or grant; `touch` remembers that it was used.
    """

    client: str
    scopes: tuple[Scope, ...]
    vault: str
    person: str
    id: str
    touch: Callable[[datetime], None]


def _touch(touch: Callable[..., None], credential: Token | OAuthGrant, now: datetime) -> None:
    touch(credential, now=now)


def _is_from_own_program(head: RequestHead) -> bool:
    """True if a program of this user sent the request, or it cannot be told; looked up once for a connection.

    The system's table has who made the socket, which never changes: reading it costs more than all other checks.
    """
    if not head.peer or not head.port:
        return True
    if head.connection.is_own is None:
        head.connection.is_own = is_own_program(head.peer, port=head.port)
    return head.connection.is_own


def _is_browser(head: RequestHead) -> bool:
    """True if the request wants a page to show."""
    return "text/html" in (head.one("accept") or "")


def is_same_origin(head: RequestHead, options: "ServeOptions") -> bool:
    """True if a browser says that our own page made the request; both headers must say so if both are there."""
    origin, site = head.one("origin"), head.one("sec-fetch-site")
    if origin is None and site is None:
        return False
    return origin in (None, options.base_url(head.one("host"))) and site in (None, "same-origin")


def _is_visit(head: RequestHead) -> bool:
    """True if a browser follows a link to a page, and no other page reads or frames it."""
    is_page = (head.one("sec-fetch-mode"), head.one("sec-fetch-dest")) == ("navigate", "document")
    return head.method == "GET" and head.one("origin") is None and is_page


def is_admitted_peer(head: RequestHead, options: "ServeOptions") -> bool:
    """True unless proxies are named and the connection is from another machine than one of them or this one."""
    if not options.team or not options.trusted_proxies or head.peer is None:
        return True
    return options.trusts_proxy(head.peer[0]) or head.peer[0] in ("127.0.0.1", "::1")


def client_address(head: RequestHead, options: "ServeOptions") -> str:
    """The address of the caller's machine: what a trusted proxy says, else the other end of the connection."""
    peer = head.peer[0] if head.peer else ""
    if options.trusts_proxy(peer):
        forwarded = ",".join(head.all("x-forwarded-for")).rpartition(",")[2].strip()
        return forwarded[:_LONGEST_ADDRESS] or peer
    return peer


def is_of_this_machine(head: RequestHead, options: "ServeOptions") -> bool:
    """True unless a request to a team server may come from elsewhere: by its address, or by its Host with a proxy."""
    if not options.team:
        return True
    host = urlsplit(f"//{head.one('host') or ''}").hostname
    return client_address(head, options) in ("127.0.0.1", "::1") and host in ("127.0.0.1", "localhost", "::1")


def required_scope(path: str) -> Scope:
    """The scope that a caller needs for this path; the route may require more."""
    return "admin" if path == "/daemon" or path.startswith("/daemon/") else "read"


def _own_headers(head: RequestHead) -> tuple[str, str] | ErrorResponse:
    """The client and the vault that the headers name; empty if they do not."""
    clients, vaults = head.all("commonplace-client"), head.all("commonplace-vault")
    if len(clients) > 1 or len(vaults) > 1:
        hint = "Send Commonplace-Client and Commonplace-Vault once each."
        return malformed("a header of Commonplace was sent twice", hint=hint)
    if clients and not is_client_name(clients[0]):
        hint = "Use 1 to 64 letters, digits, spaces, dots, underscores and dashes."
        return malformed("Commonplace-Client is not a valid client name", hint=hint)
    vault = _decode_path(vaults[0]) if vaults else ""
    if vault is None:
        hint = "Send the path or the folder name of a registered vault, as percent-encoded UTF-8."
        return malformed("Commonplace-Vault is not a path", hint=hint)
    return (clients[0] if clients else "", vault)


def _decode_path(value: str) -> str | None:
    """A path that may be percent-encoded; None if it is not UTF-8, too long, or holds unprintable characters."""
    try:
        text = unquote(value.encode("latin-1").decode("utf-8"), errors="strict")
    except UnicodeDecodeError:
        return None
    is_valid = len(text.encode("utf-8")) <= _LONGEST_PATH and text.isprintable()
    return text if is_valid else None


@dataclass(slots=True)
class _Bucket:
    left: float
    seen: float


class RateLimiter:
    """A token bucket for each caller, which refills by `per_second` up to `burst`."""

    def __init__(self, *, per_second: float, burst: int) -> None:
        self._per_second = per_second
        self._burst = burst
        self._buckets: dict[str, _Bucket] = {}
        self._lock = threading.Lock()

    def draw(self, caller: str, *, now: float, per_second: float | None = None, burst: int | None = None) -> float:
        """The seconds that this caller has to wait; 0.0 if the request may go on.

        `per_second` and `burst` are the caller's own limits, in place of those for all.
        """
        rate, most = per_second or self._per_second, burst or self._burst
        with self._lock:
            bucket = self._buckets.get(caller)
            if bucket is None:
                self._make_room(now)
                bucket = self._buckets[caller] = _Bucket(most, now)
            bucket.left = min(most, bucket.left + max(0.0, now - bucket.seen) * rate)
            bucket.seen = now
            if bucket.left < 1:
                return (1 - bucket.left) / rate
            bucket.left -= 1
            return 0.0

    def _refilled(self, bucket: _Bucket, now: float) -> float:
        """The bucket's level now; a clock that was set back refills nothing."""
        return min(self._burst, bucket.left + max(0.0, now - bucket.seen) * self._per_second)

    def _make_room(self, now: float) -> None:
        """Forget the callers whose bucket is full again, for whom nothing changes; then the oldest."""
        if len(self._buckets) < _MOST_CALLERS:
            return
        self._buckets = {
            name: bucket for name, bucket in self._buckets.items() if self._refilled(bucket, now) < self._burst
        }
        while len(self._buckets) >= _MOST_CALLERS:
            del self._buckets[next(iter(self._buckets))]


async def read_body(
    head: RequestHead, receive: "Receive", *, most: int, seconds: float
) -> bytes | ErrorResponse | None:
    """The whole body, or an error at once if it is too large or too slow; None if the caller went away.

    A declared length is believed if it is too large, and never if it is small enough.
    """
    if head.content_length is not None and head.content_length > most:
        return too_large(most)
    body = bytearray()
    try:
        async with asyncio.timeout(seconds):
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    return None
                body += message.get("body", b"")
                if len(body) > most:
                    return too_large(most)
                if not message.get("more_body", False):
                    return bytes(body)
    except TimeoutError:
        return too_slow(seconds)


def has_too_many_fields(body: bytes) -> bool:
    """True if the JSON in a body has more names, lists and objects than any request.

    Each of them may become an error, on the event loop.
    """
    fields = 0
    for text in _FIELD.finditer(body):
        fields += text[1] is not None or text[2] is not None
        if fields > MOST_FIELDS:
            return True
    return False


def _inner_scope(scope: "AsgiScope", caller: Caller, session: PageSession | None) -> "AsgiScope":
    """The request as a route sees it: with its caller, and without token and cookie, so that nothing can log them."""
    headers = [(name, value) for name, value in scope["headers"] if name not in (b"authorization", b"cookie")]
    return {**scope, "headers": headers, CALLER: caller, PAGE_SESSION: session}


def _replay(body: bytes, receive: "Receive") -> "Receive":
    """A `receive` that gives the body first, then whatever comes, which is that the caller has gone."""
    is_sent = False

    async def next_message() -> "Message":
        nonlocal is_sent
        if is_sent:
            return await receive()
        is_sent = True
        return {"type": "http.request", "body": body, "more_body": False}

    return next_message


def _log_refusal(error: ErrorResponse, head: RequestHead, *, via: str) -> None:
    """Log that a request was refused, without its headers, its query and its body."""
    path = _SECRET.sub("cpl_...", head.path[:_LOGGED_PATH])
    emit(
        "request_refused",
        level="warning",
        status=error.status,
        message=error.error.message,
        method=head.method[:10],
        path=path,
        via=via,
        caller=error.caller,
    )
