"""Where a person lets a program use their memory: they sign in by a one-time code, see who asks for what, and decide.

The request is checked again when the decision is sent. A wrong request is answered here, and the browser is sent
nowhere unless its redirect URI leads to the person's own machine: anybody can register an address of their own.
"""

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import PurePath
from typing import Annotated, Final
from urllib.parse import parse_qs, parse_qsl, urlencode

from fastapi import APIRouter, Depends, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import RedirectResponse, Response

from commonplace.errors import Refused, UsageError
from commonplace.events import emit
from commonplace.identity.access import Identities
from commonplace.identity.authorization import (
    OAUTH_SCOPES,
    AuthorizationRequest,
    OAuthError,
    check_request,
    is_own_machine,
    redirect_fits,
    redirect_host,
    redirect_source,
    with_parameters,
)
from commonplace.identity.grants import OAuthClient
from commonplace.identity.people import Person, VaultMember, allowed_scopes
from commonplace.web.page.sessions import AUTHORIZE, BASE_URL, PAGE_SESSION, SIGN_IN, PageSession, mcp_address
from commonplace.web.page.view import PageForm, page_host, page_session, render, set_session_cookie

router = APIRouter()
_MOST_FIELDS: Final = 50
_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self' {redirect}; frame-ancestors 'none'; base-uri 'none'"
)
"""That of every page, with the client's address: browsers also hold the redirect after a form to `form-action`."""


@dataclass(frozen=True, slots=True)
class ConsentRequest:
    """A request whose client and redirect URI fit; `request` is None if something else is wrong, for the client."""

    client: OAuthClient
    redirect: str
    state: str
    query: str
    request: AuthorizationRequest | None
    problem: OAuthError | None


@router.get(AUTHORIZE)
def ask_consent(request: Request) -> Response:
    """The question whether a program may use the memory; first, who is asked. Raises UsageError."""
    consent = _read(request, request.url.query)
    if consent.problem and not is_own_machine(consent.redirect):  # anybody can register an address: no open redirect
        raise UsageError(f"the program asks for something wrong: {consent.problem.message}", hint="Begin again there.")
    if consent.request is None:
        return _answer(request, consent, consent.problem)
    person = _signed_in(request)
    if person is None:
        return _ask_code(request, consent.query, consent.client.name)
    vaults = _identities(request).people.vaults_of(person.id)
    if not vaults:
        raise Refused(
            f"{person.id} has no vault", hint="Whoever runs the server shares one: `commonplace person share`."
        )
    page = render(
        request,
        "consent.html",
        title="Let a program use your memory",
        person=person,
        client=consent.client,
        host=redirect_host(consent.redirect),
        redirect=consent.redirect,
        writes="write" in consent.request.scopes,
        choices=[_choice(each) for each in vaults],
        request_query=consent.query,
        action=AUTHORIZE,
        navigation=(),
        navigation_groups=[],
        vaults=[],
    )
    page.headers["content-security-policy"] = _POLICY.format(redirect=redirect_source(consent.redirect))
    return page


@router.post(AUTHORIZE)
def decide(request: Request, form: PageForm, session: Annotated[PageSession, Depends(page_session)]) -> Response:
    """Send the person's decision to the program. Raises UsageError, Refused for a vault that is not theirs."""
    consent, person = _read(request, form.raw("request")), _signed_in(request)
    if consent.request is None or person is None:
        raise UsageError("this request is not valid any more", hint="Begin again from the program.")
    if form.text("decision") != "allow":
        return _answer(request, consent, OAuthError("the person said no", code="access_denied"))
    identities, named = _identities(request), form.required("vault")
    member = next((each for each in identities.people.vaults_of(person.id) if each.vault == named), None)
    if member is None:
        raise Refused("this vault is not one of yours", hint="Choose one from the list.")
    wanted = consent.request.scopes if form.is_set("write") else OAUTH_SCOPES[:1]
    allowed = allowed_scopes(person, member.role, wanted)
    granted = replace(consent.request, scopes=tuple(each for each in OAUTH_SCOPES if each in allowed))
    code = identities.grants.approve(
        granted, name=consent.client.name, person=person.id, vault=member.vault, now=datetime.now(UTC)
    )
    emit("oauth_granted", client=consent.client.id, person=person.id)
    return _redirect(request, consent, code=code)


@router.post(SIGN_IN)
async def sign_in(request: Request) -> Response:
    """Begin a session by the person's one-time code; go on with the question, or to the start. Raises UsageError."""
    try:
        fields = parse_qs((await request.body()).decode("utf-8"), max_num_fields=_MOST_FIELDS)
    except ValueError as error:
        raise UsageError("this is not a form", hint="Reload the page, and send it again.") from error
    code, query = (fields.get(name, [""])[0].strip() for name in ("code", "request"))
    return await run_in_threadpool(_begin_session, request, code, query)


def _begin_session(request: Request, code: str, query: str) -> Response:
    """Sign the browser in if the code is valid; else ask for another one. People may be in a database: it waits."""
    secret = page_host(request).sessions.sign_in(code) if code else None
    if secret is None:
        return _ask_code(request, query, "", said="This code was used already, is too old, or was never given.")
    response = RedirectResponse(f"{AUTHORIZE}?{urlencode(_pairs(query))}" if query else "/", 303)
    set_session_cookie(request, response, secret)
    return response


def _read(request: Request, query: str) -> ConsentRequest:
    """The request in the query. Raises UsageError if its client or its redirect URI is not known."""
    pairs = _pairs(query)
    values = dict(pairs)
    if len(values) != len(pairs):
        raise UsageError("a parameter of this request came twice", hint="Begin again from the program.")
    client = _identities(request).grants.client(values.get("client_id", ""))
    if client is None:
        raise UsageError("this program is not registered here", hint="Remove the server from it, and add it again.")
    redirect = values.get("redirect_uri", "")
    if not redirect_fits(redirect, client.redirects):
        raise UsageError("the program asks to be answered at an address that is not its own", hint="Do not go on.")
    found, problem = None, None
    try:
        found = check_request(values, resource=mcp_address(request.scope))
    except OAuthError as error:
        problem = error
    return ConsentRequest(client, redirect, values.get("state", ""), urlencode(pairs), found, problem)


def _pairs(query: str) -> list[tuple[str, str]]:
    try:
        return parse_qsl(query, keep_blank_values=True, max_num_fields=_MOST_FIELDS)
    except ValueError as error:
        raise UsageError("this request is not valid", hint="Begin again from the program.") from error


def _signed_in(request: Request) -> Person | None:
    """The person whose browser this is: by their own session, or as the user who runs the daemon; None if nobody."""
    session, identities = request.scope.get(PAGE_SESSION), _identities(request)
    if not isinstance(session, PageSession):
        return None
    return identities.find(session.person or identities.local_owner())


def _ask_code(request: Request, query: str, client: str, said: str = "") -> Response:
    return render(
        request,
        "sign_in.html",
        title="Sign in",
        client=client,
        said=said,
        request_query=query,
        action=SIGN_IN,
        again=f"{AUTHORIZE}?{query}" if query else "/",
    )


def _answer(request: Request, consent: ConsentRequest, problem: OAuthError | None) -> Response:
    """Tell the program why it gets no code."""
    error = problem or OAuthError("the request is not valid", code="invalid_request")
    return _redirect(request, consent, error=error.code, error_description=error.message)


def _redirect(request: Request, consent: ConsentRequest, **values: str) -> Response:
    """Send the browser to the program with these values; `iss` says who answers, against mixing servers up."""
    address = with_parameters(consent.redirect, **values, state=consent.state, iss=request.scope[BASE_URL])
    response = RedirectResponse(address, 303)
    response.headers["content-security-policy"] = _POLICY.format(redirect=redirect_source(consent.redirect))
    return response


def _choice(member: VaultMember) -> tuple[str, str]:
    kind = "your own" if member.role == "owner" else f"shared with you as {member.role}"
    return member.vault, f"{PurePath(member.vault).name} ({kind})"


def _identities(request: Request) -> Identities:
    return page_host(request).identities
