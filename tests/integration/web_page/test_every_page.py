"""Every page of the navigation: accessible, no wider than a phone, and of use without JavaScript."""

import pytest
from playwright.sync_api import BrowserContext, Page

from commonplace.memory import Memory
from commonplace.web.page.app import PAGES
from tests import npm_packages
from tests.integration.web_page.conftest import Site, Visit
from tests.page_vault import AGENT

PATHS = [
    *[page.ENTRY.path for page in PAGES if hasattr(page, "ENTRY")],
    "/search?q=greenhouse",
    "/notes?folder=Projects",
    "/notes/Projects/Greenhouse/Greenhouse.md",
    "/templates/daily_reflection",
    "/jobs/probe",
    "/people/Ada%20Lindqvist",
    "/context?prompt=When+does+the+greenhouse+open",
    "/welcome",
]
RUN = "rules => axe.run(document, rules).then(found => found.violations)"

pytestmark = pytest.mark.needs("chromium")


@pytest.fixture(scope="module")
def axe() -> str:
    """The script of axe-core."""
    return npm_packages.axe_script()


def findings(page: Page, *rules: str) -> list[str]:
    """What axe finds that is serious or critical, with the first place of each."""
    chosen = {"runOnly": list(rules)} if rules else {}
    found = page.evaluate(RUN, {**chosen, "resultTypes": ["violations"]})
    return [
        f"{each['id']}: {each['nodes'][0]['html'][:200]}" for each in found if each["impact"] in ("serious", "critical")
    ]


@pytest.mark.needs("node")
@pytest.mark.parametrize("path", PATHS)
def test_axe_finds_nothing_serious(visit: Visit, axe: str, path: str) -> None:
    """By day, and the contrast by night too."""
    page = visit(path)
    page.evaluate(axe)
    by_day = findings(page)
    page.emulate_media(color_scheme="dark", reduced_motion="reduce")

    assert by_day == []
    assert findings(page, "color-contrast") == []


def test_each_key_goes_to_one_page() -> None:
    """And none is a key that does something else after `g`."""
    keys = [page.ENTRY.key for page in PAGES if hasattr(page, "ENTRY")]

    assert len({*keys}) == len(keys)


def test_no_page_is_wider_than_a_phone_without_javascript(signed_in: BrowserContext, site: Site) -> None:
    """At 360 pixels nothing has to be scrolled sideways, and each page has its heading."""
    browser = signed_in.browser
    assert browser is not None
    phone = browser.new_context(
        viewport={"width": 360, "height": 740}, java_script_enabled=False, storage_state=signed_in.storage_state()
    )
    page = phone.new_page()
    wide = []
    for path in PATHS:
        page.goto(f"{site.origin}{path}")
        wide += [path] * (page.evaluate("document.documentElement.scrollWidth") > 360)
        wide += [path] * (not page.locator("main h1").count())
    phone.close()

    assert wide == []


def test_a_long_address_without_blanks_makes_no_page_wider(
    signed_in: BrowserContext, site: Site, memory: Memory
) -> None:
    """In a title, in a fact, in what waits and in what is due."""
    address = f"https://example.org/{'pomegranate' * 30}"
    agent = memory.acting(AGENT)
    fact = memory.entries.save(f"The shop is at {address}", kind="fact").fact
    agent.entries.save(f"Reads {address}", kind="preference", trust="read", interface="claude-code")
    talk = agent.conversations.record(
        [{"role": "user", "content": address}], interface="claude-code", source_id="long", title=address
    )
    memory.notes.write("Inbox/Long.md", f"- [ ] Read {address} 📅 2026-01-01\n")
    browser = signed_in.browser
    assert browser is not None
    phone = browser.new_context(viewport={"width": 360, "height": 740}, storage_state=signed_in.storage_state())
    page = phone.new_page()
    wide = {}
    paths = ("/", "/review", "/facts", f"/facts/{fact.id}", "/conversations", "/search?q=pomegranate", "/activity")
    for path in (*paths, f"/conversations/{talk.id}", "/notes/Inbox/Long.md", "/timeline"):
        page.goto(f"{site.origin}{path}")
        wide[path] = page.evaluate("document.documentElement.scrollWidth")
    phone.close()

    assert {path: width for path, width in wide.items() if width > 360} == {}


def test_what_the_script_hides_is_not_seen(visit: Visit) -> None:
    """Such as the button beside a choice that sends itself."""
    button = visit("/facts").locator("main button").first
    button.evaluate("button => { button.hidden = true; }")

    assert not button.is_visible()
