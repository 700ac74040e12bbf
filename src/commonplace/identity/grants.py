"""OAuth grants: the clients that registered, and what people let them do. Secrets are stored as hashes.

A person's consent is a grant. Its code is good for one exchange; its access tokens live an hour; each use of its
refresh token gives a new one. A code or a refresh token that comes a second time was stolen from one of its two users,
so the whole grant ends.
"""

import json
import re
import secrets
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from ipaddress import ip_address, ip_network
from typing import Any, Final

from commonplace.errors import NotFound
from commonplace.identity.authorization import AuthorizationRequest, OAuthError, is_same_resource, verifier_fits
from commonplace.identity.schema import IdentityConnection, IdentityDatabase, secret_hash
from commonplace.model import SCOPES, Scope
from commonplace.model.moment import moment_text

ACCESS_PREFIX: Final = "cpa_"
"""How an access token begins."""
ACCESS_LIFE: Final = timedelta(hours=1)
REFRESH_LIFE: Final = timedelta(days=30)
CODE_LIFE: Final = timedelta(minutes=2)
MOST_CLIENTS: Final = 10_000
"""Anybody may register a client: of those without a grant the oldest are forgotten."""
MOST_OF_NETWORK: Final = 200
"""Clients without a grant from one network: whoever registers more displaces their own, and nobody who signs in now."""
_REFRESH_PREFIX: Final = "cpr_"
_CLIENT_ID: Final = re.compile("[0-9a-f]{32}")

_ADD_CLIENT: Final = "INSERT INTO oauth_clients (id, name, redirects, created, network) VALUES (?, ?, ?, ?, ?)"
_FIND_CLIENT: Final = "SELECT id, name, redirects, created FROM oauth_clients WHERE id = ?"
_DROP_CLIENTS: Final = """
DELETE FROM oauth_clients WHERE id IN (
  SELECT id FROM oauth_clients WHERE id NOT IN (SELECT client FROM oauth_grants)
  ORDER BY created DESC, id LIMIT 1000000000 OFFSET ?)
"""
_DROP_OF_NETWORK: Final = """
DELETE FROM oauth_clients WHERE id IN (
  SELECT id FROM oauth_clients WHERE network = ? AND id NOT IN (SELECT client FROM oauth_grants)
  ORDER BY created DESC, id LIMIT 1000000000 OFFSET ?)
"""
_ADD_GRANT: Final = """
INSERT INTO oauth_grants (id, client, name, person, vault, scopes, resource, created) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
"""
_ADD_CODE: Final = "INSERT INTO oauth_codes (hash, grant_id, redirect, challenge, expires) VALUES (?, ?, ?, ?, ?)"
_DROP_OLD: Final = """
DELETE FROM oauth_codes WHERE expires <= :now;
DELETE FROM oauth_tokens WHERE expires <= :now;
DELETE FROM oauth_grants WHERE id NOT IN (SELECT grant_id FROM oauth_codes)
  AND id NOT IN (SELECT grant_id FROM oauth_tokens);
"""
_FIND_CODE: Final = "SELECT grant_id, redirect, challenge, expires, is_used FROM oauth_codes WHERE hash = ?"
_USE_CODE: Final = "UPDATE oauth_codes SET is_used = 1 WHERE hash = ?"
_GRANTS: Final = """
SELECT id, client, name, person, vault, scopes, resource, created, last_used, revoked, why FROM oauth_grants
"""
_FIND_GRANT: Final = f"{_GRANTS} WHERE id = ?"
_LIST_GRANTS: Final = f"{_GRANTS} WHERE person = ? ORDER BY created, id"
_ADD_TO_GRANT: Final = "INSERT INTO oauth_tokens (hash, grant_id, kind, expires) VALUES (?, ?, ?, ?)"
_FIND_HASH: Final = "SELECT grant_id, kind, expires, is_used FROM oauth_tokens WHERE hash = ?"
_USE_HASH: Final = "UPDATE oauth_tokens SET is_used = 1 WHERE hash = ?"
_DROP_ACCESS: Final = "DELETE FROM oauth_tokens WHERE grant_id = ? AND kind = 'access'"
_REVOKE: Final = "UPDATE oauth_grants SET revoked = ?, why = ? WHERE id = ? AND revoked = ''"
_USED: Final = "UPDATE oauth_grants SET last_used = ? WHERE id = ?"


@dataclass(frozen=True, slots=True)
class OAuthClient:
    """A program that registered, under the name it gave itself, with the addresses to which codes may be sent."""

    id: str
    name: str
    redirects: tuple[str, ...]
    created: str


@dataclass(frozen=True, slots=True)
class OAuthGrant:
    """What a person let a client do in one vault. `why` says why it ended; empty while it is valid."""

    id: str
    client: str
    name: str
    person: str
    vault: str
    scopes: tuple[Scope, ...]
    resource: str
    created: str
    last_used: str = ""
    revoked: str = ""
    why: str = ""


@dataclass(frozen=True, slots=True)
class TokenPair:
    """New tokens of a grant, in plain text: they are stored nowhere."""

    access: str
    refresh: str
    grant: OAuthGrant


class OAuthGrants:
    """Clients, codes, grants and tokens in one database. Its methods may be called from several threads."""

    def __init__(self, database: IdentityDatabase) -> None:
        self._database = database
        self._uses: dict[str, str] = {}
        self._lock = threading.Lock()

    def register(self, name: str, redirects: Sequence[str], *, address: str, now: datetime) -> OAuthClient:
        """A new public client. `redirects` have been checked; `address` is that of the machine that registers it."""
        client = OAuthClient(secrets.token_hex(16), name, tuple(redirects), moment_text(now))
        network = network_of(address)
        row = (client.id, client.name, json.dumps(client.redirects), client.created, network)
        with self._database.write_transaction() as connection:
            connection.execute(_DROP_OF_NETWORK, (network, MOST_OF_NETWORK - 1))
            connection.execute(_DROP_CLIENTS, (MOST_CLIENTS - 1,))
            connection.execute(_ADD_CLIENT, row)
        return client

    def client(self, id: str) -> OAuthClient | None:
        """The client with that id; None if there is none."""
        if not _CLIENT_ID.fullmatch(id):
            return None
        with self._database.read_transaction() as connection:
            row: Any = connection.execute(_FIND_CLIENT, (id,)).fetchone()
        return OAuthClient(row[0], row[1], tuple(json.loads(row[2])), row[3]) if row else None

    def approve(self, request: AuthorizationRequest, *, name: str, person: str, vault: str, now: datetime) -> str:
        """Record the person's consent, for one vault; returns the code that the client exchanges for tokens."""
        code, id, at = secrets.token_urlsafe(32), secrets.token_hex(4), moment_text(now)
        scopes = " ".join(request.scopes)
        with self._database.write_transaction() as connection:
            connection.execute(_DROP_OLD, {"now": at})
            connection.execute(_ADD_GRANT, (id, request.client, name, person, vault, scopes, request.resource, at))
            expires = moment_text(now + CODE_LIFE)
            connection.execute(_ADD_CODE, (secret_hash(code), id, request.redirect, request.challenge, expires))
        return code

    def exchange(
        self, code: str, *, client: str, redirect: str, verifier: str, resource: str, now: datetime
    ) -> TokenPair:
        """The tokens for a code. Raises OAuthError; whatever is wrong uses the code up.

        A code that was used before ends its grant, with every token that it gave.
        """
        with self._database.write_transaction() as connection:
            row: Any = connection.execute(_FIND_CODE, (secret_hash(code),)).fetchone()
            if row is None:
                raise _invalid("unknown code")
            id, registered, challenge, expires, is_used = row
            grant, at = _grant(connection, id), moment_text(now)
            connection.execute(_USE_CODE, (secret_hash(code),))
            fits = (grant.client, registered) == (client, redirect) and verifier_fits(verifier, challenge)
            problem = _problem(grant, resource, is_valid=fits and expires > at and not is_used)
            if problem:
                connection.execute(_REVOKE, (at, "its code was used twice" if is_used else "its code was misused", id))
            else:
                return _issue(connection, grant, now=now)
        raise problem

    def refresh(self, token: str, *, client: str, resource: str, now: datetime) -> TokenPair:
        """New tokens for a refresh token, which is then used up. Raises OAuthError.

        A refresh token that was used before ends its grant: one of its two users has stolen it.
        """
        with self._database.write_transaction() as connection:
            row: Any = connection.execute(_FIND_HASH, (secret_hash(token),)).fetchone()
            if row is None or row[1] != "refresh":
                raise _invalid("unknown refresh token")
            id, _, expires, is_used = row
            grant, at = _grant(connection, id), moment_text(now)
            problem = _problem(grant, resource, is_valid=grant.client == client and expires > at and not is_used)
            if problem is None:
                connection.execute(_USE_HASH, (secret_hash(token),))
                connection.execute(_DROP_ACCESS, (id,))
                return _issue(connection, grant, now=now)
            if is_used:
                connection.execute(_REVOKE, (at, "its refresh token was used twice", id))
        raise problem

    def revoke(self, token: str, *, client: str, now: datetime) -> None:
        """End the grant of that token, if it is one of the client's; nothing happens for any other token."""
        with self._database.write_transaction() as connection:
            row: Any = connection.execute(_FIND_HASH, (secret_hash(token),)).fetchone()
            if row and _grant(connection, row[0]).client == client:
                connection.execute(_REVOKE, (moment_text(now), "the client signed out", row[0]))

    def end(self, id: str, *, now: datetime) -> OAuthGrant:
        """End the grant with that id. Raises NotFound."""
        with self._database.write_transaction() as connection:
            connection.execute(_REVOKE, (moment_text(now), "revoked by hand", id))
            return _grant(connection, id)

    def find(self, token: str, *, now: datetime) -> OAuthGrant | None:
        """The valid grant of that access token; None for any other text."""
        with self._database.read_transaction() as connection:
            row: Any = connection.execute(_FIND_HASH, (secret_hash(token),)).fetchone()
            if row is None or row[1] != "access" or row[2] <= moment_text(now):
                return None
            grant = _grant(connection, row[0])
        return None if grant.revoked else grant

    def list(self, person: str) -> tuple[OAuthGrant, ...]:
        """The person's grants, oldest first, with those that have ended lately."""
        with self._database.read_transaction() as connection:
            return tuple(_from_row(row) for row in connection.execute(_LIST_GRANTS, (person,)))

    def touch(self, grant: OAuthGrant, *, now: datetime) -> None:
        """Remember that the grant was used; `write_uses` writes it later, so that a request waits for no disk."""
        with self._lock:
            self._uses[grant.id] = moment_text(now)

    def write_uses(self) -> int:
        """Write when grants were used; returns how many. Raises VaultUnavailable, and forgets no use then."""
        with self._lock:
            uses = dict(self._uses)
        if uses:
            with self._database.write_transaction() as connection:
                connection.executemany(_USED, [(at, id) for id, at in uses.items()])
        with self._lock:  # one that was used again meanwhile is written next time
            self._uses = {id: at for id, at in self._uses.items() if uses.get(id) != at}
        return len(uses)


def network_of(address: str) -> str:
    """A short hash of the network that an address is in: one person has all addresses of an IPv6 network of 64 bits."""
    try:
        found = ip_address(address.partition("%")[0])
    except ValueError:
        return secret_hash(address)[:16]
    bits = 32 if found.version == 4 else 64
    return secret_hash(str(ip_network((found, bits), strict=False)))[:16]


def _grant(connection: IdentityConnection, id: str) -> OAuthGrant:
    row: Any = connection.execute(_FIND_GRANT, (id,)).fetchone()
    if row is None:
        raise NotFound(f"no grant {id}", hint="`commonplace person show ID` lists the grants of a person.")
    return _from_row(row)


def _from_row(row: Any) -> OAuthGrant:
    id, client, name, person, vault, scopes, *rest = row
    return OAuthGrant(id, client, name, person, vault, tuple(each for each in SCOPES if each in scopes.split()), *rest)


def _issue(connection: IdentityConnection, grant: OAuthGrant, *, now: datetime) -> TokenPair:
    access = ACCESS_PREFIX + secrets.token_urlsafe(32)
    refresh = _REFRESH_PREFIX + secrets.token_urlsafe(32)
    connection.execute(_ADD_TO_GRANT, (secret_hash(access), grant.id, "access", moment_text(now + ACCESS_LIFE)))
    connection.execute(_ADD_TO_GRANT, (secret_hash(refresh), grant.id, "refresh", moment_text(now + REFRESH_LIFE)))
    return TokenPair(access, refresh, grant)


def _problem(grant: OAuthGrant, resource: str, *, is_valid: bool) -> OAuthError | None:
    """Why no token is given; None if one is. All reasons but a wrong resource read alike."""
    if not is_valid or grant.revoked:
        return _invalid("this code or token is not valid, or not for this client")
    if resource and not is_same_resource(resource, grant.resource):
        return OAuthError("resource is not the one that the person agreed to", code="invalid_target")
    return None


def _invalid(message: str) -> OAuthError:
    return OAuthError(message, code="invalid_grant")
