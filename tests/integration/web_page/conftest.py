"""One daemon, one vault of 1,000 notes and one browser for all tests of the page, so that each costs milliseconds.

visit("/facts")        the page at that path in a signed-in Chromium, as a playwright Page; fails the test at its end if
                       the browser logged an error, such as what the CSP blocked. After a click, wait for what you
                       assert (`expect`): the next page may be on its way, or half of it read
site.get("/facts")     the same over plain HTTP, without a browser: quicker, and enough for most rules
site.post("/undo", {"commit": "..."})   a form of the page, with its CSRF token and origin
memory                 the same vault as the person, to prepare what a test needs and to see what it did;
                       `memory.acting(AGENT)` is an agent
site.daemon            the daemon: its log, its commands

All tests share the vault: make what you change yourself, with words of your own, and count nothing that others add.
"""

import asyncio
import json
import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from commonplace import open_memory
from commonplace.memory import Memory
from tests import components, daemons, page_vault
from tests.daemons import Daemon, Reply
from tests.polling import wait_for_one_day

Visit = Callable[[str], Page]

expect.set_options(timeout=30_000)  # milliseconds, as all that playwright does: other tests may keep the machine busy


@dataclass(frozen=True)
class Site:
    """The page as a signed-in program sees it."""

    daemon: Daemon
    vault: Path
    cookie: str
    csrf: str

    @property
    def origin(self) -> str:
        """The origin of the page."""
        return self.daemon.url

    def get(self, path: str, **headers: str) -> Reply:
        """A page."""
        return self.daemon.call(
            "GET", path, token="", headers={"Accept": "text/html", "Cookie": self.cookie, **headers}
        )

    def post(self, path: str, fields: Mapping[str, str], *, csrf: str | None = None, **headers: str) -> Reply:
        """The answer to a form, which is a redirect if it went well."""
        sent = {**fields, "csrf": self.csrf if csrf is None else csrf}
        all_headers = {
            "Accept": "text/html",
            "Cookie": self.cookie,
            "Origin": self.origin,
            "Sec-Fetch-Site": "same-origin",
            "Content-Type": "application/x-www-form-urlencoded",
            **headers,
        }
        return post_text(self.daemon, path, urlencode(sent), all_headers)


def post_text(daemon: Daemon, path: str, text: str, headers: Mapping[str, str]) -> Reply:
    """The answer to that body; headers without a value are not sent."""
    import http.client

    connection = http.client.HTTPConnection("127.0.0.1", daemon.port, timeout=60)
    try:
        connection.request("POST", path, text.encode(), {name: value for name, value in headers.items() if value})
        answer = connection.getresponse()
        return Reply(answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read())
    finally:
        connection.close()


def sign_in(daemon: Daemon, **flags: str) -> tuple[str, str]:
    """The cookie of a new session, and its CSRF token."""
    link = page_link(daemon, **flags)
    reply = daemon.call("GET", link.removeprefix(daemon.url), token="")
    cookie = reply.headers["set-cookie"].split(";")[0]
    page = daemon.call("GET", "/", token="", headers={"Accept": "text/html", "Cookie": cookie})
    found = re.search(r'<meta name="csrf" content="([^"]+)"', page.body.decode())
    assert found, page.body.decode()
    return cookie, found[1]


def page_link(daemon: Daemon, **flags: str) -> str:
    """A link that signs in once."""
    words = [word for name, value in flags.items() for word in (f"--{name}", value)]
    return str(json.loads(daemon.command("open", "--no-browser", "--json", *words).stdout)["url"])


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A signed-in session of a daemon that serves the vault of these tests."""
    wait_for_one_day()
    home = tmp_path_factory.mktemp("page")
    vault = page_vault.write_notes(home / "Garden", generated=1000)
    environ = daemons.surroundings(home)
    daemons.register(environ, vault)
    daemons.command(environ, "calendar", "add", "garden", str(page_vault.write_calendar(home / "garden.ics")))
    with patch.dict(os.environ, environ, clear=True), open_memory(vault) as memory:
        memory.index.sync()
        page_vault.remember(memory)
        page_vault.log_calls(memory)
    daemon = daemons.start(home, environ)
    try:
        yield Site(daemon, vault, *sign_in(daemon))
    finally:
        daemon.stop()


@pytest.fixture
def memory(site: Site, monkeypatch: pytest.MonkeyPatch) -> Iterator[Memory]:
    """The memory of the person in the vault of these tests."""
    for name in components.variables_of_ours():
        monkeypatch.delenv(name)
    for name, value in site.daemon.environ.items():
        monkeypatch.setenv(name, value)
    with open_memory(site.vault) as memory:
        yield memory


@pytest.fixture(scope="session")
def _chromium() -> Iterator[tuple[Browser, asyncio.AbstractEventLoop]]:
    components.require("chromium")
    with sync_playwright() as playwright:
        program = shutil.which("chromium") or shutil.which("google-chrome")
        own_clock: dict[str, str | float | bool] = {**os.environ}
        own_clock.pop("LD_PRELOAD", None)  # with a shifted clock it spins
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"], env=own_clock)
        loop = asyncio.get_running_loop()
        asyncio._set_running_loop(None)
        yield browser, loop
        asyncio._set_running_loop(loop)
        browser.close()


@pytest.fixture
def browser(_chromium: tuple[Browser, asyncio.AbstractEventLoop]) -> Iterator[Browser]:
    """A Chromium for this test.

    Playwright's own event loop counts as running only meanwhile: other tests of this process run loops of their own.
    """
    found, loop = _chromium
    asyncio._set_running_loop(loop)
    yield found
    asyncio._set_running_loop(None)


@pytest.fixture
def signed_in(browser: Browser, site: Site) -> Iterator[BrowserContext]:
    """A browser context with the session's cookie."""
    context = browser.new_context()
    name, _, value = site.cookie.partition("=")
    context.add_cookies([{"name": name, "value": value, "url": site.origin, "httpOnly": True, "sameSite": "Strict"}])
    yield context
    context.close()


@pytest.fixture
def visit(signed_in: BrowserContext, site: Site) -> Iterator[Visit]:
    """Opens a path of the page in the browser."""
    errors: list[str] = []
    page = signed_in.new_page()
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)

    def go(path: str) -> Page:
        page.goto(f"{site.origin}{path}")
        return page

    yield go
    assert errors == []
