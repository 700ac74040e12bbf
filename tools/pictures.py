"""Takes a picture of every page of the sample vault, for docs/guide: by day, some by night, some on a phone.

Run it as `python tools/pictures.py`. It starts a daemon of its own in a temporary home, and ends it.
"""

import json
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Final
from unittest.mock import patch

from playwright.sync_api import Browser, Page, sync_playwright

sys.path.insert(0, str(Path(__file__).parent.parent))
from commonplace import open_memory
from commonplace.web.page.app import PAGES
from tests import page_vault
from tests.daemons import Daemon, command, register, start, surroundings

FOLDER: Final = Path(__file__).parent.parent / "docs" / "guide" / "pictures"
WIDE: Final = {"width": 1200, "height": 800}
PHONE: Final = {"width": 390, "height": 780}
_MORE: Final = {
    "search": "/search?q=how+do+we+water+the+beds",
    "note": "/notes/Projects/Greenhouse/Greenhouse.md",
    "person": "/people/Ada%20Lindqvist",
    "context": "/context?prompt=When+does+the+greenhouse+open%3F",
    "template": "/templates/daily_reflection",
    "welcome": "/welcome",
}


_OTHERS: Final = (
    ("today-dark", "/", WIDE, "dark"),
    ("today-phone", "/", PHONE, "light"),
    ("graph-dark", "/graph", WIDE, "dark"),
    ("review-phone", "/review", PHONE, "dark"),
)


def addresses() -> dict[str, str]:
    """The name of each picture, and the address that it shows."""
    entries = [page.ENTRY for page in PAGES if hasattr(page, "ENTRY")]
    return {entry.title.lower().replace(" ", "-"): entry.path for entry in entries} | _MORE


def take(browser: Browser, link: str, origin: str) -> None:
    """Take every picture in a browser that the link signs in."""
    wide = browser.new_context(viewport=WIDE, color_scheme="light")  # type: ignore[arg-type]
    page = wide.new_page()
    page.goto(link)
    for name, path in addresses().items():
        _take_one(page, f"{origin}{path}", name)
    page.goto(f"{origin}/facts?text=tabs")
    page.locator(".list a").first.click()
    _take_one(page, page.url, "fact")
    signed_in = wide.storage_state()
    for name, path, size, scheme in _OTHERS:
        other = browser.new_context(viewport=size, color_scheme=scheme, storage_state=signed_in)  # type: ignore[arg-type]
        _take_one(other.new_page(), f"{origin}{path}", name)


def _take_one(page: Page, address: str, name: str) -> None:
    """Take the picture once what moves has come to rest: the graph, the checks of health."""
    page.goto(address)
    for moving, resting in (("[data-graph]", "[data-rest]"), ("[data-refresh]", "#health-now:not([data-refresh])")):
        if page.locator(moving).count():
            page.wait_for_selector(resting)
    page.screenshot(path=FOLDER / f"{name}.png")
    print(name)


def serve(home: Path) -> Daemon:
    """A daemon that serves the sample vault, with what an agent and its person told it."""
    vault = page_vault.write_notes(home / "Garden", generated=0)
    environ = surroundings(home, provider="minilm-l6-v2")
    register(environ, vault)
    command(environ, "calendar", "add", "garden", str(page_vault.write_calendar(home / "garden.ics")))
    with patch.dict("os.environ", environ, clear=True), open_memory(vault) as memory:
        memory.index.sync()
        page_vault.remember(memory)
        page_vault.log_calls(memory)
        memory.calendars.sync()
        memory.templates.run("meeting_note", day="yesterday")
        memory.templates.run("daily_reflection")
    return start(home, environ)


def main() -> None:
    """Take all pictures."""
    FOLDER.mkdir(exist_ok=True)
    home = Path(tempfile.mkdtemp(prefix="commonplace-pictures-"))
    daemon = serve(home)
    try:
        daemon.wait_synced()
        link = json.loads(daemon.command("open", "--no-browser", "--json").stdout)["url"]
        with sync_playwright() as playwright:
            program = shutil.which("chromium") or shutil.which("google-chrome")
            browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
            take(browser, link, daemon.url)
            browser.close()
    finally:
        daemon.stop()
        shutil.rmtree(home, ignore_errors=True)


if __name__ == "__main__":
    main()
