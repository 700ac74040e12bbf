"""The page on which a person lets a program use their memory, in a real browser."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Browser

from tests import npm_packages
from tests.daemons import Daemon
from tests.http_servers import TestHTTPServer
from tests.integration.web_page.test_every_page import findings
from tests.team import OAuthProgram, done, invite, team_server

pytestmark = pytest.mark.needs("chromium")


@pytest.fixture(scope="module")
def team(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    """A team server of one person."""
    with team_server(tmp_path_factory.mktemp("team"), "ada") as daemon:
        yield daemon


@pytest.fixture
def callback() -> Iterator[tuple[str, list[str]]]:
    """A program's own server, and the addresses at which browsers came to it."""
    visits: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            visits.append(self.path)
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(b"<!doctype html><title>Done</title><h1>Back in the program</h1>")

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = TestHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/callback", visits
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.needs("node")
def test_a_person_signs_in_reads_and_allows_in_a_browser(
    browser: Browser, team: Daemon, callback: tuple[str, list[str]]
) -> None:
    """The whole way works by the browser's own rules, with nothing that axe finds serious, and leads back."""
    address, visits = callback
    program, axe = OAuthProgram(team, redirect=address), npm_packages.axe_script()
    program.register()
    context = browser.new_context()
    page, errors = context.new_page(), []
    page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    page.goto(f"{team.url}{program.address()}")
    page.evaluate(axe)
    problems = findings(page)
    page.get_by_label("Your one-time code").fill(invite(team, "ada"))
    page.get_by_role("button", name="Sign in").click()
    page.evaluate(axe)
    problems += findings(page)
    page.get_by_role("button", name="Allow", exact=True).click()
    page.get_by_text("Back in the program").wait_for()
    context.close()
    answer = parse_qs(urlsplit(next(each for each in visits if each.startswith("/callback"))).query)

    assert problems == []
    assert [each for each in errors if "favicon" not in each and "404" not in each] == []
    assert answer["state"] == ["st-1"]
    assert program.exchange(answer["code"][0]).status_code == 200


def test_a_page_of_another_site_may_send_the_person_here_and_frame_nothing(
    browser: Browser, team: Daemon, tmp_path: Path
) -> None:
    """A link on a program's own web page leads to the question; a frame of it stays empty."""
    program = OAuthProgram(team)
    program.register()
    question = f"{team.url}{program.address()}".replace("&", "&amp;")
    context = browser.new_context()
    page = context.new_page()
    page.route(
        "https://program.example/**",
        lambda route: route.fulfill(
            body=f'<a href="{question}">Connect</a><iframe src="{question}"></iframe>', content_type="text/html"
        ),
    )
    page.goto("https://program.example/connect")
    framed = [frame.content() for frame in page.frames[1:]]
    page.get_by_role("link", name="Connect").click()
    heading = page.get_by_role("heading", name="Sign in")
    heading.wait_for()
    context.close()

    assert not any("one-time code" in each for each in framed)
    assert done(team, "person", "show", "ada")["id"] == "ada"
