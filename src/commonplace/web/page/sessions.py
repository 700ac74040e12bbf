"""Who is signed in on the page: one-time links, and the sessions that they begin. Kept in memory, secrets as hashes.

The daemon's guard finds the session of a request by its cookie; the page begins and ends sessions. Nothing heavy is
imported here, because the guard is loaded for every program.
"""

import hashlib
import hmac
import re
import secrets
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final, TypeVar

_T = TypeVar("_T")
LINK_LIFE: Final = timedelta(minutes=5)
SESSION_LIFE: Final = timedelta(days=14)
PAGE_SESSION: Final = "commonplace.page_session"
"""The key of the PageSession in the ASGI scope, set by the daemon's guard."""
ASSETS: Final = "/assets/"
LOGIN: Final = "/login"
AUTHORIZE: Final = "/oauth/authorize"
"""Where a program sends the person's browser to ask for consent."""
SIGN_IN: Final = "/oauth/signin"
SIGN_OUT: Final = "/logout"
BASE_URL: Final = "commonplace.base_url"
"""The key of the daemon's address, as its callers know it, in the ASGI scope; set by the daemon's guard."""
CLIENT_ADDRESS: Final = "commonplace.client_address"
"""The key of the address of the caller's machine in the ASGI scope; set by the daemon's guard."""
MCP_PATH: Final = "/mcp"
Redeem = Callable[[str], tuple[str, str] | None]
"""Gives the person of a sign-in code and the vault they begin with; None if the code is not valid."""
_MOST_LINKS: Final = 20
_MOST_SESSIONS: Final = 20  # of one person
_MOST_FLASHES: Final = 5
_OF_PROGRAMS: Final = re.compile(
    r"/(?:mcp|api|daemon|hooks|health|ready|proof|metrics|\.well-known|oauth/(?:register|token|revoke))(?:/.*)?",
    re.DOTALL,
)


def mcp_address(scope: Mapping[str, Any]) -> str:
    """The address of the MCP server, for which OAuth gives tokens, as the callers of this request know it."""
    return f"{scope[BASE_URL]}{MCP_PATH}"


def is_page_path(path: str) -> bool:
    """True for a path of the page, False for one that programs call."""
    return not _OF_PROGRAMS.fullmatch(path)


def is_open_path(path: str) -> bool:
    """True for what the page gives to a browser that is not signed in: the way in, and the style of that page."""
    return path in (LOGIN, AUTHORIZE, SIGN_IN) or path.startswith(ASSETS)


@dataclass(frozen=True, slots=True)
class Flash:
    """A message that the next page shows once; its Undo button, if it has one, sends `undo_fields` to `undo_action`.

    `label` is what the button says.
    """

    text: str
    undo_action: str = ""
    undo_fields: Mapping[str, str] = field(default_factory=dict)
    label: str = "Undo"


@dataclass(slots=True)
class PageSession:
    """One signed-in browser: the vault that it looks at, its CSRF token, and messages for its next page.

    `person` is the id of the person who signed in; empty for the user who runs the daemon.
    """

    vault: str
    ends: datetime
    person: str = ""
    csrf: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)
    _flashes: list[Flash] = field(default_factory=list)

    def fits(self, csrf: str) -> bool:
        """True if this is the session's CSRF token."""
        return hmac.compare_digest(self.csrf.encode(), csrf.encode("utf-8", "surrogateescape"))

    def add_flash(self, flash: Flash) -> None:
        """Keep a message for the next page."""
        self._flashes = [*self._flashes, flash][-_MOST_FLASHES:]

    def take_flashes(self) -> list[Flash]:
        """The messages that were not shown yet, which are then forgotten."""
        flashes, self._flashes = self._flashes, []
        return flashes


class PageSessions:
    """All links and sessions of one daemon. Its methods may be called from several threads."""

    def __init__(self, clock: Callable[[], datetime], redeem: Redeem = lambda code: None) -> None:
        self._clock, self._redeem = clock, redeem
        self._lock = threading.Lock()
        self._links: dict[str, tuple[str, datetime]] = {}
        self._sessions: dict[str, PageSession] = {}

    def make_code(self, *, vault: str) -> str:
        """The code of a new link to that vault, valid once and for `LINK_LIFE`."""
        code = secrets.token_urlsafe(32)
        with self._lock:
            self._forget_old()
            self._links[_hash(code)] = vault, self._clock() + LINK_LIFE
            _keep_newest(self._links, _MOST_LINKS)
        return code

    def is_own_link(self, code: str) -> bool:
        """True if the code is that of a link for the user who runs the daemon, and still valid."""
        with self._lock:
            self._forget_old()
            return _hash(code) in self._links

    def sign_in(self, code: str) -> str | None:
        """The secret of a new session for its cookie; None if the code was used, is too old or was never given.

        The code is that of a link of ours, or the sign-in code of a person.
        """
        with self._lock:
            self._forget_old()
            vault, _ = self._links.pop(_hash(code), (None, None))
        invited = self._redeem(code) if vault is None else ("", vault)  # may wait for a database: without the lock
        if invited is None:
            return None
        secret, (person, vault) = secrets.token_urlsafe(32), invited
        with self._lock:
            self._sessions[_hash(secret)] = PageSession(vault, self._clock() + SESSION_LIFE, person)
            own = [key for key, each in self._sessions.items() if each.person == person]
            for key in own[:-_MOST_SESSIONS]:
                del self._sessions[key]
        return secret

    def find(self, secret: str) -> PageSession | None:
        """The session of that cookie; None if it has ended."""
        with self._lock:
            session = self._sessions.get(_hash(secret))
            return session if session and session.ends > self._clock() else None

    def sign_out(self, session: PageSession) -> None:
        """End that session."""
        with self._lock:
            self._sessions = {key: each for key, each in self._sessions.items() if each is not session}

    def _forget_old(self) -> None:
        now = self._clock()
        self._links = {key: link for key, link in self._links.items() if link[1] > now}
        self._sessions = {key: each for key, each in self._sessions.items() if each.ends > now}


def cookie_name(port: int | None) -> str:
    """The name of the session's cookie. It has the port, because a browser sends cookies to every port of a host."""
    return f"commonplace_{port or 0}"


def cookie_value(header: str, name: str) -> str:
    """The value of that cookie in a Cookie header; empty if it is missing."""
    for pair in header.split(";"):
        key, _, value = pair.strip().partition("=")
        if key == name:
            return value
    return ""


def _keep_newest(values: dict[str, _T], most: int) -> None:
    while len(values) > most:
        del values[next(iter(values))]


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogateescape")).hexdigest()
