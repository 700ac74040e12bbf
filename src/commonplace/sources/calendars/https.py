"""Requests to a calendar's server, with limits: size, time, redirects and hosts.

The host's address is looked up once, checked, and connected to: a name that leads into a private network is refused
unless the person named that host as private. A redirect is followed to https alone, never into a private network, and
carries the password only to the host it is for. A proxy of the environment (`HTTPS_PROXY`, `NO_PROXY`) is used for
https, and never for a private host. Errors name the host and the status, never the address.
"""

import http.client
import ipaddress
import socket
import ssl
import time
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import SplitResult, unquote, urljoin, urlsplit
from urllib.request import getproxies, proxy_bypass

from commonplace.errors import ProviderFailed, Reason, Refused, UsageError

_REDIRECTS: Final = (301, 302, 303, 307, 308)
_MOST_REDIRECTS: Final = 5
_READ_BYTES: Final = 64 << 10
_PORTS: Final = {"http": 80, "https": 443}
_HINT: Final = "Check the address and the network; a calendar that was added is tried again by itself."
_CERTIFICATE_HINT: Final = (
    "For a server of your own, add its certificate to those that this machine trusts, or name it by SSL_CERT_FILE."
)


@dataclass(frozen=True, slots=True)
class Response:
    """A response: its status, its headers in small letters, its body, and the address that gave it."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    address: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class CalendarServer:
    """Whom to ask and within which limits; one value for one reading of one calendar.

    `address` is a secret. `deadline` is on the monotonic clock. `used` counts the bytes of all responses.
    `siblings` are hosts of the same domain that the server named.
    """

    address: str = field(repr=False)
    label: str
    deadline: float
    max_bytes: int
    user: str = ""
    password: str = field(default="", repr=False)
    allows_private: bool = False
    used: list[int] = field(default_factory=list)
    siblings: list[tuple[str, str, int]] = field(default_factory=list)

    def admits(self, address: str) -> bool:
        """True if the server may send us to that address with the password: a host of its own domain, over https.

        So iCloud keeps each account on a host such as p42-caldav.icloud.com.
        """
        own, other = checked_address(self.address), checked_address(address, what="an address of the server")
        if _origin(own) == _origin(other):
            return True
        domains = [(each.hostname or "").partition(".")[2] for each in (own, other)]
        if domains[0] != domains[1] or "." not in domains[0] or {own.scheme, other.scheme} != {"https"}:
            return False
        self.siblings.append(_origin(other))
        return True

    def send(self, method: str, address: str = "", *, headers: Mapping[str, str], body: bytes = b"") -> Response:
        """The response to this request, after redirects. Raises ProviderFailed, Refused and UsageError."""
        target = checked_address(address or self.address)
        for _ in range(_MOST_REDIRECTS + 1):
            response = self._send_once(method, target, headers, body)
            if response.status not in _REDIRECTS:
                return response
            target = self._redirected(target, response.headers.get("location", ""))
        raise self.failed(f"redirects more than {_MOST_REDIRECTS} times", "malformed")

    def failed(self, what: str, reason: Reason) -> ProviderFailed:
        """The error that says what this server did."""
        return ProviderFailed(f"{self.label} {what}", reason=reason, hint=_HINT)

    def refused(self, status: int) -> ProviderFailed:
        """The error for a response with that status."""
        if status in (401, 403):
            error = self.failed(f"responded {status}: the address or the password is not accepted", "auth")
            error.hint = (
                "Check the name and the password; many servers want a password made for this program. If they changed, "
                "remove the calendar and add it again."
            )
            return error
        if status in (404, 410):
            error = self.failed(f"responded {status}: there is no calendar at that address", "unreachable")
            error.hint = "Copy the address anew: a private address ends when it is reset."
            return error
        return self.failed(f"responded {status}", "busy" if status in (408, 429) or status >= 500 else "unreachable")

    def _redirected(self, target: SplitResult, location: str) -> SplitResult:
        address = checked_address(urljoin(target.geturl(), location), what="a redirect")
        if address.scheme != "https" and _origin(address) != _origin(target):
            raise self.failed("redirects to an address without https", "malformed")
        return address

    def _send_once(self, method: str, target: SplitResult, headers: Mapping[str, str], body: bytes) -> Response:
        sent = {"User-Agent": "commonplace", "Accept-Encoding": "identity", **headers}
        own = checked_address(self.address)
        if self.user and _origin(target) in (_origin(own), *self.siblings):
            sent["Authorization"] = "Basic " + b64encode(f"{self.user}:{self.password}".encode()).decode()
        connection = self._connection(target, is_named=target.hostname == own.hostname)
        path = (target.path or "/") + (f"?{target.query}" if target.query else "")
        try:
            connection.request(method, path, body=body or None, headers=sent)
            answer = connection.getresponse()
            values = {name.lower(): value for name, value in answer.getheaders()}
            return Response(answer.status, values, self._body(answer), target.geturl())
        except (OSError, http.client.HTTPException, ValueError) as error:  # a ValueError would show the address
            raise self._unreached(error) from None
        finally:
            connection.close()

    def _connection(self, target: SplitResult, *, is_named: bool) -> http.client.HTTPConnection:
        """A connection to a checked address of the host. Raises ProviderFailed and Refused."""
        host, port = target.hostname or "", target.port or _PORTS[target.scheme]
        proxy = _proxy_for(target) if not (is_named and (self.allows_private or _is_literal(host))) else None
        try:
            found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError):
            if not proxy:
                raise self.failed("was not found", "unreachable") from None
            found = []  # behind a proxy, only that knows the names of the internet
        addresses = [str(each[4][0]) for each in found]
        may_be_private = is_named and (self.allows_private or _is_literal(host))
        if not may_be_private and any(not is_public(each) for each in addresses):
            hint = "If it is yours, add it with --private."
            raise Refused(f"{self.label} is in a private network, or leads into one", hint=hint)
        if target.scheme == "http" and any(is_public(each) for each in addresses):
            raise Refused(f"{self.label} would be asked without encryption", hint="Use an address with https://.")
        left = self.deadline - time.monotonic()
        if left <= 0:
            raise self.failed("took too long", "unreachable")
        if proxy:
            return _tunnel(proxy, host, port, timeout=left)
        if target.scheme == "http":
            plain = http.client.HTTPConnection(host, port, timeout=left)
            plain.sock = self._socket(addresses, port)
            return plain
        context = ssl.create_default_context()
        secure = http.client.HTTPSConnection(host, port, timeout=left, context=context)
        try:
            secure.sock = context.wrap_socket(self._socket(addresses, port), server_hostname=host)
        except OSError as error:
            raise self._unreached(error) from None
        return secure

    def _unreached(self, error: Exception) -> ProviderFailed:
        failure = self.failed(f"did not respond: {_cause(error)}", "unreachable")
        if isinstance(error, ssl.SSLCertVerificationError):
            failure.hint = _CERTIFICATE_HINT
        return failure

    def _socket(self, addresses: list[str], port: int) -> socket.socket:
        """A connection to the first of the host's addresses that answers. Raises ProviderFailed."""
        cause = "no address"
        for address in dict.fromkeys(addresses):
            try:
                return socket.create_connection((address, port), timeout=max(0.1, self.deadline - time.monotonic()))
            except OSError as error:
                cause = _cause(error)
        raise self.failed(f"did not respond: {cause}", "unreachable")

    def _body(self, answer: http.client.HTTPResponse) -> bytes:
        if answer.getheader("Content-Encoding", "identity").lower() != "identity":
            raise self.failed("responded with a compressed text, which was not asked for", "malformed")
        parts: list[bytes] = []
        while part := answer.read1(_READ_BYTES):
            parts.append(part)
            self.used.append(len(part))
            if sum(self.used) > self.max_bytes:
                raise self.failed(f"has more than {self.max_bytes:,} bytes (calendar.max_mb)", "too_long")
            if time.monotonic() > self.deadline:
                raise self.failed("took too long", "unreachable")
        if answer.length:  # the connection ended before the announced length
            raise http.client.IncompleteRead(b"")
        return b"".join(parts)


def checked_address(address: str, *, what: str = "the address of the calendar") -> SplitResult:
    """The parts of an HTTP address; `webcal` is https. Raises UsageError, without the address."""
    try:
        parts = urlsplit(address.strip())
        scheme = {"webcal": "https", "webcals": "https"}.get(parts.scheme, parts.scheme)
        is_valid = scheme in _PORTS and parts.hostname and parts.username is None and parts.port != 0
        is_valid = is_valid and address.strip().isprintable() and address.strip().isascii()
    except ValueError:
        is_valid = False
    if not is_valid:
        raise UsageError(f"{what} is not an https:// or webcal:// address", hint="Check the address.")
    return parts._replace(scheme=scheme, fragment="")


def is_public(address: str) -> bool:
    """True if that IP address is one of the public internet."""
    try:
        ip = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
    mapped = getattr(ip, "ipv4_mapped", None) or ip
    return bool(mapped.is_global and not mapped.is_multicast)


def _proxy_for(target: SplitResult) -> SplitResult | None:
    """The proxy that the environment or the system names for that host; None for http. Raises UsageError."""
    named = getproxies()
    address = named.get("https") or named.get("all") or ""
    if target.scheme != "https" or not address or proxy_bypass(target.hostname or ""):
        return None
    proxy = urlsplit(address if "://" in address else f"http://{address}")
    if proxy.scheme != "http" or not proxy.hostname:
        raise UsageError("HTTPS_PROXY is not an http:// address", hint="Other proxies are not supported.")
    return proxy


def _tunnel(proxy: SplitResult, host: str, port: int, *, timeout: float) -> http.client.HTTPSConnection:
    """A connection through a proxy, encrypted up to the host."""
    connection = http.client.HTTPSConnection(
        proxy.hostname or "", proxy.port or 8080, timeout=timeout, context=ssl.create_default_context()
    )
    login = f"{unquote(proxy.username)}:{unquote(proxy.password or '')}" if proxy.username else ""
    headers = {"Proxy-Authorization": f"Basic {b64encode(login.encode()).decode()}"} if login else {}
    connection.set_tunnel(host, port, headers)
    return connection


def _is_literal(host: str) -> bool:
    """True if the host is an IP address or this machine: whoever writes it knows that it is private."""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return host == "localhost"
    return True


def _origin(target: SplitResult) -> tuple[str, str, int]:
    return target.scheme, target.hostname or "", target.port or _PORTS[target.scheme]


def _cause(error: Exception) -> str:
    """The system's message; for another error only its type, because it may contain the address."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return "its certificate is not valid"
    if str(error).startswith("Tunnel connection failed"):
        return "the proxy did not connect to it"
    return error.strerror or type(error).__name__ if isinstance(error, OSError) else type(error).__name__
