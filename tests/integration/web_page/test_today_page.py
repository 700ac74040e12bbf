"""The start and the page of a note, in a browser and without one."""

import re

import pytest
from playwright.sync_api import BrowserContext, expect

from commonplace.memory import Memory
from commonplace.model.digest import DigestLine
from commonplace.web.page.today_page import _remedy
from tests.integration.web_page.conftest import Site, Visit
from tests.page_vault import AGENT

FORBIDDEN = ("<script", "<img", "onerror", 'href="javascript', "<form", "<button", "style=")
pytestmark = pytest.mark.needs("chromium")


def test_today_shows_what_waits_what_was_recalled_and_the_latest_conversations(visit: Visit, memory: Memory) -> None:
    """And in the digest, what was learned since the person last looked."""
    memory.acting(AGENT).context("When does the greenhouse open?", conversation="page-today")  # an erasure clears them
    page = visit("/")
    text = page.inner_text("main")

    assert "Prefers spaces over tabs." in text
    assert "instead of “Prefers tabs over spaces.”" in text
    assert "to claude-code" in page.locator(".card", has_text="Recalled lately").inner_text()
    assert "How large is the rainwater tank?" in text
    assert page.locator("nav.side a[aria-current=page]").inner_text() == "Today"


def test_what_a_program_did_is_undone_and_what_is_due_is_done_by_a_button(visit: Visit, memory: Memory) -> None:
    """Each line of the digest has its remedy beside it."""
    memory.acting(AGENT).entries.save("The quince hedge is two metres high.", kind="fact")
    memory.notes.write(
        "Meetings/Hedge.md", "---\ntype: meeting\n---\n## Action items\n\n- [ ] Zora: cut the hedge by 2026-01-09\n"
    )
    page = visit("/")
    page.locator(".digest li", has_text="quince hedge").get_by_role("button", name="Undo").click()
    page.wait_for_selector(".flash")
    assert "quince hedge" not in str(memory.entries.recall("quince hedge").hits)
    page.locator(".card li", has_text="cut the hedge").get_by_role("button", name="Done").click()
    page.wait_for_selector(".flash")

    assert "- [x] Zora: cut the hedge" in memory.notes.read("Meetings/Hedge.md").text


def test_what_is_due_is_read_without_links_and_names_nobody_for_the_person(visit: Visit, memory: Memory) -> None:
    """All of it is there, the later below; a task that repeats has no button, because only Tasks adds the next one."""
    lines = "".join(f"- [ ] Weed bed {number} 📅 2026-01-1{number}\n" for number in range(9))
    odd = "- [ ] Ask [[Zora Lind|Zora]] about the fence 📅 2026-01-01\n- [ ] Sweep 🔁 every week 📅 2026-01-02\n"
    memory.notes.write("Daily/2026-01-01.md", lines + odd)
    page = visit("/")
    card = page.locator(".card", has=page.get_by_role("heading", name="Due"))
    first = card.locator("li", has_text="about the fence").inner_text()
    repeating = card.locator("li", has_text="Sweep")

    assert first.startswith("Ask Zora about the fence\n")
    assert repeating.get_by_role("button").count() == 0
    assert "repeats: tick it in Obsidian" in repeating.inner_text()
    later = card.locator("li", has_text="Weed bed 8")
    assert not later.is_visible()
    card.locator("summary").click()
    expect(later).to_be_visible()


def test_a_commitment_whose_line_was_changed_meanwhile_is_not_closed(site: Site) -> None:
    """The message says what happened, and no id."""
    reply = site.post("/commitments/close", {"id": "70d17861-cb14-5fd5-8ecb-001cbb500188"})

    assert reply.status == 409
    assert b"This line of a note has changed since you saw it." in reply.body
    assert b"70d17861" not in reply.body


def test_a_digest_that_was_read_is_not_shown_again(site: Site, memory: Memory) -> None:
    """The button moves its beginning; opening the page does not."""
    site.get("/")
    before = memory.digests.read(advance=False).since
    reply = site.post("/seen", {})

    assert (reply.status, reply.headers["location"]) == (303, "/")
    assert memory.digests.read(advance=False).since > before
    assert b"Marked as read" in site.get("/").body
    assert b"Marked as read" not in site.get("/").body


def test_a_note_is_shown_with_its_links_and_properties(visit: Visit) -> None:
    """A wikilink leads to the page of its note."""
    page = visit("/notes/Archive/00/Note%200000.md")
    page.locator(".prose a.note-link").click()
    page.wait_for_url(lambda address: "Note%200000" not in address)

    expect(page.locator("h1")).to_have_text(re.compile("^Note "))
    expect(page.locator(".card", has_text="Properties")).to_contain_text("tags")
    assert page.get_by_role("link", name="Open in Obsidian").get_attribute("href")


def test_what_is_wrong_with_a_request_is_a_page_with_a_hint(site: Site) -> None:
    """With the status that programs get."""
    missing, nowhere = site.get("/notes/No%20such.md"), site.get("/nowhere")

    assert (missing.status, nowhere.status) == (404, 404)
    assert b"No such note" in missing.body
    assert b"There is no such page." in nowhere.body


def test_a_message_can_hold_an_undo_button(site: Site, memory: Memory) -> None:
    """It reverts the change by its commit."""
    saved = memory.entries.save("Quinces are picked in October.", kind="fact")
    reply = site.post("/undo", {"commit": saved.commit or "", "back": "/notes"})

    assert (reply.status, reply.headers["location"]) == (303, "/notes")
    assert b"Undone" in site.get("/notes").body
    assert not [each for each in memory.entries.recall("quinces").hits if "Quinces" in each.text]


def test_a_hostile_note_is_shown_as_harmless_text(visit: Visit, site: Site) -> None:
    """No script, no event handler, no remote picture, no form, no address that runs code."""
    (site.vault / "Inbox" / "Hostile.md").write_text(
        "# Hostile\n\n<script>document.title='no'</script> <img src=x onerror=alert(1)>\n\n"
        "![spy](https://evil.example/p.png) [go](javascript:alert(1)) <a href='//evil.example' onclick='x()'>to</a>\n"
        "<form action=/logout method=post><button class=danger>press</button></form><b style='color:red'>bold</b>\n"
    )
    page = visit("/notes/Inbox/Hostile.md")
    html = page.locator(".prose").inner_html()

    assert page.title() == "Hostile · Commonplace"
    assert not [
        each
        for each in ("<script", "<img", "onerror", 'href="javascript', "<form", "<button", "style=")
        if each in html
    ]
    assert "[picture: spy]" in page.inner_text(".prose")


def test_keys_go_to_pages_and_through_lists(visit: Visit, site: Site) -> None:
    """`?` shows them; `g` and a letter goes to a page, `j` chooses the next of a list, Enter opens it."""
    page = visit("/notes?folder=Archive/00")
    page.keyboard.press("?")

    expect(page.locator("#keys")).to_be_visible()
    page.keyboard.press("Escape")
    page.wait_for_selector("#keys", state="hidden")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.wait_for_url("**/notes/Archive/00/**")
    page.keyboard.press("g")
    page.keyboard.press("t")
    page.wait_for_url(f"{site.origin}/")


def test_a_phone_without_javascript_has_a_menu_and_nothing_to_scroll_sideways(
    signed_in: BrowserContext, site: Site
) -> None:
    """At 360 pixels; the menu opens by itself."""
    browser = signed_in.browser
    assert browser is not None
    phone = browser.new_context(
        viewport={"width": 360, "height": 740}, java_script_enabled=False, storage_state=signed_in.storage_state()
    )
    page = phone.new_page()
    page.goto(site.origin)
    box = page.locator("main").bounding_box()
    page.locator(".menu summary").click()

    expect(page.locator(".menu a", has_text="Today")).to_be_visible()
    assert box is not None
    assert box["x"] + box["width"] <= 360
    phone.close()


@pytest.mark.parametrize(
    ("command", "remedy"),
    [
        ("commonplace undo --commit 1a2b", ("1a2b", "")),
        ("commonplace learn spending", ("", "/doctor#spending")),
        ("commonplace jobs show dream", ("", "/jobs")),
        ("commonplace doctor", ("", "")),
    ],
)
def test_a_line_of_the_digest_has_the_button_of_its_command(command: str, remedy: tuple[str, str]) -> None:
    """Where the page can do or show it; else the command stands there."""
    assert _remedy(DigestLine(group="spent", said="13 calls", command=command, key="spent")) == remedy
