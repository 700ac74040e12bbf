"""Who may see the page: links that work once, sessions by cookie, forms of the page itself."""

import threading
from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import Browser, Page, expect

from commonplace.web.page.sessions import LINK_LIFE, SESSION_LIFE, PageSessions
from tests.integration.web_page.conftest import Site, page_link, post_text, sign_in

FORM = "application/x-www-form-urlencoded"


@pytest.mark.needs("chromium")
def test_a_link_signs_a_browser_in_once(site: Site, browser: Browser) -> None:
    """Used again, in another browser, it says so and what to do."""
    link = page_link(site.daemon)
    first, second = browser.new_context(), browser.new_context()
    page, again = first.new_page(), second.new_page()
    page.goto(link)
    cookie = first.cookies()[0]
    answer = again.goto(link)

    assert page.title() == "Today · Commonplace"
    assert (cookie["httpOnly"], cookie["sameSite"], cookie["path"]) == (True, "Strict", "/")
    assert answer is not None
    assert answer.status == 401
    assert "This link was used already, or it is too old." in again.inner_text("main")
    assert "commonplace open" in again.inner_text("main")
    _sign_out(page)
    expect(page.locator("main")).to_contain_text("not signed in")
    first.close()
    second.close()


def test_a_new_link_of_the_user_replaces_their_session(site: Site) -> None:
    """`commonplace open` works in a browser that is signed in; a code of nobody says that it is."""
    cookie, _ = sign_in(site.daemon)
    headers = {"Cookie": cookie, "Accept": "text/html", "Sec-Fetch-Site": "none"}
    again = site.daemon.call("GET", page_link(site.daemon).removeprefix(site.origin), token="", headers=headers)
    unknown = site.daemon.call("GET", "/login?code=unknown", token="", headers=headers)

    assert (again.status, again.headers["location"]) == (303, "/")
    assert unknown.status == 403
    assert b"You are signed in already." in unknown.body


def _sign_out(page: Page) -> None:
    page.get_by_role("button", name="Sign out").click()


def test_a_browser_without_a_session_is_told_how_to_sign_in(site: Site) -> None:
    """A program gets JSON, as before; neither sees anything of the vault."""
    page = site.daemon.call("GET", "/notes", token="", headers={"Accept": "text/html"})
    program = site.daemon.call("GET", "/notes", token="")

    assert (page.status, page.headers["content-type"]) == (401, "text/html; charset=utf-8")
    assert b"commonplace open" in page.body
    assert program.status == 401
    assert program.json["error"]["message"] == "missing or invalid token"


@pytest.mark.parametrize("path", ["/mcp", "/api/v1/stats", "/daemon/status"])
def test_a_cookie_is_worth_nothing_where_programs_call(site: Site, path: str) -> None:
    """Those paths need a token or the socket."""
    assert site.get(path).status == 401


def test_a_token_has_no_page(site: Site) -> None:
    """Even the person's own: the page is for a session, whose forms have a CSRF token."""
    token = site.daemon.token(scopes=("admin",))
    reply = site.daemon.call("GET", "/", token=token, headers={"Accept": "text/html"})

    assert reply.status == 404
    assert reply.json["error"]["message"] == "no such path"


def test_a_link_is_given_on_the_socket_alone(site: Site) -> None:
    """A token of an agent, or a stolen one, gives no way in."""
    reply = site.daemon.call("POST", "/daemon/page-link", token=site.daemon.token(scopes=("admin",)))

    assert reply.status == 403


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://localhost:1", "Sec-Fetch-Site": "same-site"},
        {"Origin": "null", "Sec-Fetch-Site": ""},
        {"Origin": "app://obsidian.md", "Sec-Fetch-Site": "cross-site"},
        {"Origin": "", "Sec-Fetch-Site": "cross-site"},
        {"Origin": "", "Sec-Fetch-Site": ""},
    ],
)
def test_a_form_of_another_page_is_refused(site: Site, headers: dict[str, str]) -> None:
    """Also with the right token, which another page cannot know."""
    assert site.post("/seen", {}, **headers).status == 403


@pytest.mark.parametrize("csrf", ["", "wrong"])
def test_a_form_without_the_token_of_its_session_is_refused(site: Site, csrf: str) -> None:
    """Also from the page's own origin, and with the token of another session."""
    _, other = sign_in(site.daemon)

    assert site.post("/seen", {}, csrf=csrf).status == 403
    assert site.post("/seen", {}, csrf=other).status == 403
    assert site.post("/seen", {}, csrf="", **{"X-CSRF": site.csrf}).status == 303


def test_a_form_of_a_session_that_has_ended_leads_to_the_way_in(site: Site) -> None:
    """Nothing is done, and the start says how to sign in."""
    reply = post_text(site.daemon, "/seen", "csrf=x", {"Accept": "text/html", "Content-Type": FORM, "Cookie": "a=b"})

    assert (reply.status, reply.headers["location"]) == (303, "/")


def test_nothing_of_others_can_run_or_be_loaded(site: Site) -> None:
    """The policy forbids all but our own files; pages are not kept by the browser, files are kept for long."""
    page = site.get("/")
    address = page.body.decode().split('rel="stylesheet" href="')[1].split('"')[0]
    style = site.daemon.call("GET", address, token="")
    policy = page.headers["content-security-policy"]

    assert "default-src 'none'" in policy
    assert "script-src 'self'" in policy
    assert "unsafe" not in policy
    assert page.headers["cache-control"] == "no-store"
    assert "access-control-allow-origin" not in site.get("/", Origin=site.origin).headers
    assert (style.status, style.headers["content-type"].split(";")[0]) == (200, "text/css")
    assert "immutable" in style.headers["cache-control"]
    assert b"style=" not in page.body
    assert b"<script>" not in page.body


def test_links_and_sessions_end_by_themselves() -> None:
    """A link after minutes, a session after two weeks; and the oldest go first if there are too many."""
    now = datetime(2026, 3, 1, tzinfo=UTC)
    sessions = PageSessions(lambda: now)
    late, code = sessions.make_code(vault="a"), sessions.make_code(vault="b")
    secret = sessions.sign_in(code)
    now += LINK_LIFE
    too_late = sessions.sign_in(late)
    secrets = [sessions.sign_in(sessions.make_code(vault="c")) for _ in range(20)]
    found = [sessions.find(each or "") for each in secrets]

    assert secret is not None
    assert too_late is None
    assert sessions.find(secret) is None
    assert all(found)
    now += SESSION_LIFE + timedelta(seconds=1)
    assert sessions.find(secrets[-1] or "") is None


def test_others_do_not_wait_while_a_code_is_looked_up() -> None:
    """People may be in a database that is slow: the sessions of everybody else are found meanwhile."""
    found = []

    def redeem(code: str) -> tuple[str, str]:
        other = threading.Thread(target=lambda: found.append(sessions.find("secret")), daemon=True)
        other.start()
        other.join(5)
        return "ada", "/vaults/ada"

    sessions = PageSessions(lambda: datetime(2026, 3, 1, tzinfo=UTC), redeem)
    secret = sessions.sign_in("code")

    assert found == [None]
    assert secret is not None
