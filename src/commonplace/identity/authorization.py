"""What an OAuth client may ask for, as pure rules: redirect URIs, PKCE, scopes and the resource.

The rules are those of OAuth 2.1 and of the authorization chapter of the MCP specification. An error before the redirect
URI is known to be the client's is shown to the person; only later ones are sent to the client.
"""

import base64
import hashlib
import hmac
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import SplitResult, parse_qsl, urlencode, urlsplit

from commonplace.errors import Refused, UsageError
from commonplace.model import Scope

OAUTH_SCOPES: Final[tuple[Scope, ...]] = ("read", "write")
"""What a client can be given over OAuth; `admin` is for tokens that a person makes by hand."""
MOST_REDIRECTS: Final = 10
_LONGEST_REDIRECT: Final = 1000
_LONGEST_NAME: Final = 60
_LOOPBACK: Final = frozenset({"127.0.0.1", "localhost", "::1"})
_APP_SCHEMES: Final = frozenset({"cursor", "vscode", "vscode-insiders", "windsurf"})
"""Schemes of agent hosts; any other program uses a scheme with a dot, such as com.example.app (RFC 8252)."""
_APP_SCHEME: Final = re.compile(r"[a-z][a-z0-9+-]*(?:\.[a-z0-9+-]+)+")
_HOST: Final = re.compile(r"[A-Za-z0-9._-]+|[0-9a-f:.]+")  # what may stand in a policy of the page
_CHALLENGE: Final = re.compile("[A-Za-z0-9_-]{43}")
_VERIFIER: Final = re.compile("[A-Za-z0-9._~-]{43,128}")


class OAuthError(Refused):
    """A refusal that is told to an OAuth client; `code` is the error of the specification, such as invalid_grant."""

    def __init__(self, message: str, *, code: str) -> None:
        super().__init__(message, hint="Ask the person to authorize the program again.")
        self.code = code


@dataclass(frozen=True, slots=True)
class AuthorizationRequest:
    """A valid request of a client for the person's consent."""

    client: str
    redirect: str
    challenge: str
    scopes: tuple[Scope, ...]
    resource: str
    state: str = ""


def client_name(text: object) -> str:
    """The name by which a client calls itself, as one short line of printable characters."""
    words = " ".join(text.split()) if isinstance(text, str) else ""
    printable = "".join(each for each in words if each.isprintable())
    return printable[:_LONGEST_NAME].strip() or "unnamed program"


def check_redirects(values: object) -> tuple[str, ...]:
    """The redirect URIs of a registration. Raises UsageError unless each is one that a client may have."""
    uris = tuple(each for each in values if isinstance(each, str)) if isinstance(values, list) else ()
    if not 0 < len(uris) <= MOST_REDIRECTS or not all(map(is_valid_redirect, uris)):
        hint = "Use https, http on this machine (127.0.0.1, localhost), or the scheme of an app; no fragment."
        raise UsageError("redirect_uris must be 1 to 10 valid redirect URIs", hint=hint)
    return uris


def is_valid_redirect(uri: str) -> bool:
    """True for https, for http on the loopback, and for the scheme of an app; never with a fragment or a user."""
    parts = _split(uri)
    if parts is None or "#" in uri or parts.username is not None or parts.password is not None:
        return False
    if parts.scheme == "https":
        return bool(_HOST.fullmatch(parts.hostname or ""))
    if parts.scheme == "http":
        return parts.hostname in _LOOPBACK
    return parts.scheme in _APP_SCHEMES or bool(_APP_SCHEME.fullmatch(parts.scheme))


def redirect_fits(uri: str, registered: Sequence[str]) -> bool:
    """True if the URI is one of the client's, to the character; on the loopback the port may be another."""
    if not is_valid_redirect(uri):
        return False
    return uri in registered or any(_differs_by_port(uri, each) for each in registered)


def is_own_machine(uri: str) -> bool:
    """True if the redirect leads to a program or an app on the person's own machine."""
    parts = urlsplit(uri)
    return parts.scheme != "https" or parts.hostname in _LOOPBACK


def redirect_host(uri: str) -> str:
    """Where a redirect leads, in words for the person: a host, this computer, or an app."""
    parts = urlsplit(uri)
    if parts.scheme in ("http", "https"):
        return "a program on your own computer" if parts.hostname in _LOOPBACK else str(parts.hostname)
    return f"the app for {parts.scheme}: links"


def redirect_source(uri: str) -> str:
    """The redirect's origin or scheme as a source in a Content-Security-Policy."""
    parts = urlsplit(uri)
    if parts.scheme not in ("http", "https"):
        return f"{parts.scheme}:"
    return f"{parts.scheme}://{parts.netloc}"


def with_parameters(uri: str, **values: str) -> str:
    """The redirect URI with these parameters added to its query; empty ones are left out."""
    parts = urlsplit(uri)
    query = [*parse_qsl(parts.query, keep_blank_values=True), *((key, each) for key, each in values.items() if each)]
    return parts._replace(query=urlencode(query)).geturl()


def check_request(values: Mapping[str, str], *, resource: str) -> AuthorizationRequest:
    """The request with these parameters, whose client and redirect URI fit. Raises OAuthError.

    `resource` is the address of the MCP server: a token for another one is not given.
    """
    if values.get("response_type") != "code":
        raise OAuthError("response_type must be code", code="unsupported_response_type")
    if values.get("code_challenge_method") != "S256" or not _CHALLENGE.fullmatch(values.get("code_challenge", "")):
        raise OAuthError("PKCE with the method S256 is required", code="invalid_request")
    if not is_same_resource(values.get("resource") or resource, resource):
        raise OAuthError("resource must be the address of this MCP server", code="invalid_target")
    return AuthorizationRequest(
        client=values["client_id"],
        redirect=values["redirect_uri"],
        challenge=values["code_challenge"],
        scopes=requested_scopes(values.get("scope", "")),
        resource=resource,
        state=values.get("state", ""),
    )


def requested_scopes(text: str) -> tuple[Scope, ...]:
    """The scopes in a request; all that OAuth gives if it names none. Raises OAuthError for an unknown one."""
    words = set(text.split())
    if not words <= {*OAUTH_SCOPES}:
        raise OAuthError(f"scope must be of {' and '.join(OAUTH_SCOPES)}", code="invalid_scope")
    highest = max((OAUTH_SCOPES.index(each) for each in OAUTH_SCOPES if each in words), default=len(OAUTH_SCOPES) - 1)
    return OAUTH_SCOPES[: highest + 1]


def verifier_fits(verifier: str, challenge: str) -> bool:
    """True if the verifier is the one of which the challenge is the hash (PKCE, S256)."""
    if not _VERIFIER.fullmatch(verifier):
        return False
    digest = hashlib.sha256(verifier.encode("ascii")).digest()
    return hmac.compare_digest(base64.urlsafe_b64encode(digest).rstrip(b"=").decode(), challenge)


def is_same_resource(asked: str, resource: str) -> bool:
    """True if both are the same address; a slash at the end and the case of the host do not count."""
    return _canonical(asked) == _canonical(resource)


def _canonical(uri: str) -> str:
    parts = _split(uri)
    if parts is None or "#" in uri:
        return ""
    return parts._replace(scheme=parts.scheme.lower(), netloc=parts.netloc.lower()).geturl().rstrip("/")


def _split(uri: str) -> SplitResult | None:
    if len(uri) > _LONGEST_REDIRECT or not uri.isascii() or not uri.isprintable() or {*uri} & {*" \\\"'<>`"}:
        return None
    try:
        parts = urlsplit(uri)
        _ = parts.port
    except ValueError:
        return None
    return parts


def _differs_by_port(uri: str, registered: str) -> bool:
    asked, known = urlsplit(uri), urlsplit(registered)
    if asked.scheme != "http" or asked.hostname not in _LOOPBACK:
        return False
    return (known.scheme, known.hostname, known.path, known.query) == (
        *(asked.scheme, asked.hostname),
        *(asked.path, asked.query),
    )
