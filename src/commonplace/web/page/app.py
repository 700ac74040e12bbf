"""Builds the page: the list of pages, signing in and out, the choice of a vault, undo, assets, errors as pages."""

import mimetypes
from functools import partial
from typing import Annotated, Final

from fastapi import APIRouter, Depends, FastAPI, Header, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.exceptions import RequestValidationError
from fastapi.responses import RedirectResponse, Response
from starlette.exceptions import HTTPException

from commonplace.errors import CommonplaceError, NotFound, Refused, UsageError, codes_for, for_strangers
from commonplace.model.change import CALLER, STILL_ADMITTED
from commonplace.model.layout import entry_digits
from commonplace.web.event_routes import EventStream
from commonplace.web.page import (
    activity_page,
    consent_page,
    context_page,
    conversation_page,
    fact_page,
    graph_page,
    health_page,
    job_page,
    note_page,
    people_page,
    profile_page,
    review_page,
    search_page,
    settings_page,
    template_page,
    timeline_page,
    today_page,
    welcome_page,
)
from commonplace.web.page.sessions import (
    ASSETS,
    LINK_LIFE,
    LOGIN,
    PAGE_SESSION,
    SIGN_IN,
    SIGN_OUT,
    PageSession,
    cookie_name,
)
from commonplace.web.page.view import (
    NotSignedIn,
    PageForm,
    PageHost,
    PageMemory,
    assets,
    note_title,
    page_host,
    page_session,
    page_vaults,
    redirect,
    render,
    set_session_cookie,
)

PAGES: Final = (
    today_page,
    search_page,
    note_page,
    fact_page,
    people_page,
    timeline_page,
    graph_page,
    welcome_page,
    profile_page,
    context_page,
    conversation_page,
    review_page,
    activity_page,
    job_page,
    template_page,
    health_page,
    settings_page,
)
"""Every page; those with an ENTRY stand in the navigation in this order."""

_entry_router = APIRouter()


def make_page(host: PageHost) -> FastAPI:
    """The page as an ASGI application; the guard in front sets the session of each request."""
    page = FastAPI(openapi_url=None, docs_url=None, redoc_url=None, redirect_slashes=False)
    page.state.host = host
    page.state.checkups = health_page.Checkups(host.checks)
    page.state.navigation = tuple(each.ENTRY for each in PAGES if hasattr(each, "ENTRY"))
    page.exception_handler(CommonplaceError)(_show_error)
    page.exception_handler(RequestValidationError)(_show_wrong_address)
    page.exception_handler(HTTPException)(_show_missing_page)
    page.exception_handler(Exception)(_show_fault)
    page.include_router(_entry_router)
    page.include_router(consent_page.router)
    for each in PAGES:
        page.include_router(each.router, dependencies=[Depends(page_session)])
    return page


@_entry_router.get("/live")
async def follow(request: Request, memory: PageMemory, last_event_id: Annotated[str, Header()] = "") -> Response:
    """What happens in the vault, as server-sent events: the same stream that programs have."""
    vault, live = memory.conversations.vault_folder, page_host(request).live
    person, is_admitted = request.scope[CALLER].person, request.scope[STILL_ADMITTED]
    return EventStream(live.stream(vault, last_event_id[:200], person=person, is_admitted=is_admitted))


@_entry_router.get(LOGIN)
def sign_in(request: Request, code: str = "") -> Response:
    """Begin a session by a one-time link, and go to the start. Raises NotSignedIn and Refused.

    A note may link here with the code of its writer, in whose vault the reader would go on: no page of ours has such a
    link, and the code of another person does not replace a session.
    """
    sessions, is_signed_in = page_host(request).sessions, request.scope.get(PAGE_SESSION) is not None
    if request.headers.get("sec-fetch-site") == "same-origin":
        hint = "If somebody gave you the link, copy it into the address bar of a new tab."
        raise Refused("a link on a page of Commonplace signs nobody in", hint=hint)
    if is_signed_in and not sessions.is_own_link(code):
        raise Refused("you are signed in already", hint="To sign in by this link, sign out first; then open it again.")
    secret = sessions.sign_in(code)
    if secret is None:
        minutes = int(LINK_LIFE.total_seconds() // 60)
        raise NotSignedIn(
            "this link was used already, or it is too old",
            hint=f"Run `commonplace open` again: a link works once, within {minutes} minutes.",
        )
    response = RedirectResponse("/", 303)
    set_session_cookie(request, response, secret)
    return response


@_entry_router.post(SIGN_OUT)
def sign_out(request: Request, form: PageForm, session: Annotated[PageSession, Depends(page_session)]) -> Response:
    """End the session of this browser."""
    page_host(request).sessions.sign_out(session)
    response = RedirectResponse("/", 303)
    response.delete_cookie(cookie_name(request.scope["server"][1]), path="/", httponly=True, samesite="strict")
    return response


@_entry_router.post("/vault")
def choose_vault(request: Request, form: PageForm, session: Annotated[PageSession, Depends(page_session)]) -> Response:
    """Look at another registered vault."""
    chosen = form.required("vault")
    if chosen not in page_vaults(request, session):
        raise NotFound(f"no vault is registered as {chosen!r}", hint="`commonplace vault list` lists them.")
    session.vault = chosen
    return redirect(request, "/")


@_entry_router.post("/undo")
def undo(request: Request, memory: PageMemory, form: PageForm) -> Response:
    """Undo one change by its commit, and go back."""
    changes = memory.notes.undo(commit=form.required("commit"))
    names = {note_title(each.path) if entry_digits(each.path) else each.path for each in changes}
    paths = ", ".join(sorted(names)) or "nothing"
    commit = next((each.commit for each in changes if each.commit), None)
    return redirect(request, form.text("back", "/"), f"Undone: {paths}.", undo=commit, undo_label="Redo")


@_entry_router.get(f"{ASSETS}{{hash}}/{{name}}")
def show_asset(hash: str, name: str) -> Response:
    """A file of the page's own style or script."""
    content, address = assets().get(name, (b"", ""))
    if address != f"{ASSETS}{hash}/{name}":
        raise NotFound("no such file", hint="Reload the page.")
    return Response(content, media_type=mimetypes.guess_type(name)[0])


async def _show_error(request: Request, error: Exception) -> Response:
    """A page with what happened and what to do; for a browser without a session, how to sign in."""
    ours = error if isinstance(error, CommonplaceError) else CommonplaceError("unexpected error")
    if isinstance(ours, NotSignedIn):
        return await run_in_threadpool(_show_way_in, request, ours)
    if request.url.path != "/welcome" and not page_host(request).vaults():
        return RedirectResponse("/welcome", 303)
    if not request.scope[CALLER].name:
        ours = for_strangers(ours)
    title = "Not found" if isinstance(ours, NotFound) else "Not done"
    show = partial(render, request, "error.html", status=codes_for(ours).http, title=title, error=ours)
    return await run_in_threadpool(show)  # it names the person's vaults, which may be in a database


def _show_way_in(request: Request, error: NotSignedIn) -> Response:
    """How to sign in: with a code where people have them, else from a terminal."""
    try:
        action = SIGN_IN if page_host(request).identities.has_people else ""
    except CommonplaceError as away:
        told = for_strangers(away)
        return render(request, "error.html", status=codes_for(told).http, title="Not done", error=told)
    return render(request, "signed_out.html", status=401, title="Sign in", error=error, action=action)


async def _show_wrong_address(request: Request, error: Exception) -> Response:
    return await _show_error(request, UsageError("this address is not complete", hint="Use the links of the page."))


async def _show_fault(request: Request, error: Exception) -> Response:
    """For an unexpected error. Starlette raises it again once this is sent, so that the server logs it in full."""
    hint = "Go back and try again. The log has the details: Health says where it is."
    return await _show_error(request, CommonplaceError("something went wrong in Commonplace itself", hint=hint))


async def _show_missing_page(request: Request, error: Exception) -> Response:
    try:
        page_session(request)
    except NotSignedIn as signed_out:
        return await _show_error(request, signed_out)
    status = error.status_code if isinstance(error, HTTPException) else 404
    if status == 405:
        return await _show_error(
            request, UsageError("this address takes forms only", hint="Use the links of the page.")
        )
    return await _show_error(request, NotFound("there is no such page", hint="The navigation has all pages."))
