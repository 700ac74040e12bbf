"""OAuth 2.1 for remote MCP clients: metadata, registration, tokens and revocation.

What the MCP specification asks for: protected resource metadata (RFC 9728), authorization server metadata (RFC 8414),
dynamic client registration (RFC 7591), PKCE, resource indicators (RFC 8707), rotating refresh tokens and revocation
(RFC 7009). The person's part, signing in and consenting, is `web/page/consent_page.py`. All clients are public: what
they have instead of a secret is the verifier of PKCE.
"""

import json
from collections.abc import Callable, Mapping
from datetime import datetime
from functools import partial
from typing import Any, Final
from urllib.parse import parse_qsl

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from commonplace.errors import UsageError
from commonplace.events import emit
from commonplace.identity.access import Identities
from commonplace.identity.authorization import OAUTH_SCOPES, OAuthError, check_redirects, client_name
from commonplace.identity.grants import ACCESS_LIFE, TokenPair
from commonplace.web.page.sessions import AUTHORIZE, BASE_URL, CLIENT_ADDRESS, MCP_PATH, mcp_address

_MOST_FIELDS: Final = 50
_REGISTER, _TOKEN, _REVOKE = "/oauth/register", "/oauth/token", "/oauth/revoke"
_GRANTS: Final = ["authorization_code", "refresh_token"]


def oauth_routes(identities: Identities, clock: Callable[[], datetime]) -> list[Route]:
    """The routes that programs call. Without people there is nobody to ask, and they answer 404."""
    endpoints = OAuthEndpoints(identities, clock)
    protected = "/.well-known/oauth-protected-resource"
    server = "/.well-known/oauth-authorization-server"
    return [
        *(Route(path, endpoints.protected_resource, methods=["GET"]) for path in (protected, f"{protected}{MCP_PATH}")),
        *(Route(path, endpoints.authorization_server, methods=["GET"]) for path in (server, f"{server}{MCP_PATH}")),
        Route(_REGISTER, endpoints.register, methods=["POST"]),
        Route(_TOKEN, endpoints.give_tokens, methods=["POST"]),
        Route(_REVOKE, endpoints.revoke, methods=["POST"]),
    ]


class OAuthEndpoints:
    """The endpoints of the authorization server, which is the daemon itself."""

    def __init__(self, identities: Identities, clock: Callable[[], datetime]) -> None:
        self._identities, self._clock = identities, clock

    async def protected_resource(self, request: Request) -> Response:
        """Which server gives tokens for the MCP server."""
        return await self._describe(
            {
                "resource": mcp_address(request.scope),
                "authorization_servers": [request.scope[BASE_URL]],
                "scopes_supported": [*OAUTH_SCOPES],
                "bearer_methods_supported": ["header"],
                "resource_name": "Commonplace",
            }
        )

    async def authorization_server(self, request: Request) -> Response:
        """What the authorization server can do, and where."""
        base = request.scope[BASE_URL]
        return await self._describe(
            {
                "issuer": base,
                "authorization_endpoint": f"{base}{AUTHORIZE}",
                "token_endpoint": f"{base}{_TOKEN}",
                "registration_endpoint": f"{base}{_REGISTER}",
                "revocation_endpoint": f"{base}{_REVOKE}",
                "scopes_supported": [*OAUTH_SCOPES],
                "response_types_supported": ["code"],
                "response_modes_supported": ["query"],
                "grant_types_supported": _GRANTS,
                "code_challenge_methods_supported": ["S256"],
                "token_endpoint_auth_methods_supported": ["none"],
                "revocation_endpoint_auth_methods_supported": ["none"],
                "authorization_response_iss_parameter_supported": True,
            }
        )

    async def register(self, request: Request) -> Response:
        """Register a public client; anybody may. Only its name and redirect URIs are kept."""
        if not await run_in_threadpool(lambda: self._identities.has_people):
            return _not_offered()
        try:
            values = json.loads(await request.body())
            redirects = check_redirects(values.get("redirect_uris") if isinstance(values, dict) else None)
        except (ValueError, RecursionError):
            return _error("invalid_client_metadata", "the body must be a JSON object")
        except UsageError as error:
            return _error("invalid_redirect_uri", str(error))
        name = client_name(values.get("client_name"))
        address = request.scope[CLIENT_ADDRESS]
        add = partial(self._identities.grants.register, name, redirects, address=address, now=self._clock())
        client = await run_in_threadpool(add)
        emit("oauth_client_registered", client=client.id)
        answer = {
            "client_id": client.id,
            "client_id_issued_at": int(self._clock().timestamp()),
            "client_name": client.name,
            "redirect_uris": [*client.redirects],
            "grant_types": _GRANTS,
            "response_types": ["code"],
            "token_endpoint_auth_method": "none",
            "scope": " ".join(OAUTH_SCOPES),
        }
        return JSONResponse(answer, 201)

    async def give_tokens(self, request: Request) -> Response:
        """Tokens for a code or for a refresh token."""
        fields = await _form(request)
        if fields is None:
            return _error("invalid_request", "the body must be a form without repeated fields")
        if not await run_in_threadpool(self._knows, fields):
            return _error("invalid_client", "no such client", status=401)
        try:
            pair = await run_in_threadpool(self._tokens_for, fields)
        except OAuthError as error:
            emit("oauth_refused", level="warning", client=fields["client_id"], code=error.code)
            return _error(error.code, error.message)
        answer = {
            "access_token": pair.access,
            "token_type": "Bearer",
            "expires_in": int(ACCESS_LIFE.total_seconds()),
            "refresh_token": pair.refresh,
            "scope": " ".join(pair.grant.scopes),
        }
        return JSONResponse(answer)

    async def revoke(self, request: Request) -> Response:
        """End the grant of a token; the answer is the same for a token that is not known."""
        fields = await _form(request)
        if fields is None or "token" not in fields:
            return _error("invalid_request", "the field token is missing")
        if not await run_in_threadpool(self._knows, fields):
            return _error("invalid_client", "no such client", status=401)
        end = partial(self._identities.grants.revoke, client=fields["client_id"], now=self._clock())
        await run_in_threadpool(end, fields["token"])
        return Response(status_code=200)

    async def _describe(self, values: Mapping[str, Any]) -> Response:
        has_people = await run_in_threadpool(lambda: self._identities.has_people)
        return JSONResponse(values) if has_people else _not_offered()

    def _knows(self, fields: Mapping[str, str]) -> bool:
        """True if the form names a client that is registered."""
        id = fields.get("client_id", "")
        return bool(id) and self._identities.has_people and self._identities.grants.client(id) is not None

    def _tokens_for(self, fields: Mapping[str, str]) -> TokenPair:
        """Raises OAuthError."""
        grants, now, kind = self._identities.grants, self._clock(), fields.get("grant_type")
        client, resource = fields["client_id"], fields.get("resource", "")
        if kind == "authorization_code":
            return grants.exchange(
                fields.get("code", ""),
                client=client,
                redirect=fields.get("redirect_uri", ""),
                verifier=fields.get("code_verifier", ""),
                resource=resource,
                now=now,
            )
        if kind == "refresh_token":
            return grants.refresh(fields.get("refresh_token", ""), client=client, resource=resource, now=now)
        raise OAuthError("grant_type must be authorization_code or refresh_token", code="unsupported_grant_type")


async def _form(request: Request) -> dict[str, str] | None:
    """The fields of a form; None if it is none, or has a field twice."""
    try:
        pairs = parse_qsl((await request.body()).decode("utf-8"), keep_blank_values=True, max_num_fields=_MOST_FIELDS)
    except ValueError:
        return None
    fields = dict(pairs)
    return fields if len(fields) == len(pairs) else None


def _error(code: str, message: str, *, status: int = 400) -> Response:
    return JSONResponse({"error": code, "error_description": message}, status)


def _not_offered() -> Response:
    return _error("not_found", "this server has no people who could sign in", status=404)
