"""The page of every write: its difference, and an undo button that works."""

import json
import re

import pytest
from playwright.sync_api import expect

from commonplace.memory import Memory
from tests.integration.web_page.conftest import Site, Visit
from tests.page_vault import AGENT

pytestmark = pytest.mark.needs("chromium")


def test_a_write_is_shown_with_its_difference_and_taken_back_by_a_button(visit: Visit, memory: Memory) -> None:
    """Afterwards it is marked as undone, and has no button."""
    saved = memory.acting(AGENT).entries.save("The walnut tree was planted in 1931.", kind="fact")
    page = visit("/activity?actor=agent")
    page.locator(f".list a[href='/activity/{saved.commit}']").click()
    expect(page.locator("main")).to_contain_text("+The walnut tree was planted in 1931.")
    page.get_by_role("button", name="Undo this change").click()
    page.wait_for_selector(".flash")

    assert "walnut" not in str(memory.entries.recall("walnut tree").hits)
    line = page.locator(".list li", has=page.locator(f"a[href='/activity/{saved.commit}']"))
    expect(line).to_contain_text("undone")


def test_the_list_goes_back_page_by_page_to_the_first_write(site: Site, memory: Memory) -> None:
    """And a filter by note shows the writes of that note alone."""
    memory.notes.write("Inbox/Walnuts.md", "Many.\n")
    memory.notes.write("Inbox/Walnuts.md", "Many, and green.\n")
    of_note = site.get("/activity?path=Inbox/Walnuts.md").body.decode()

    assert of_note.count('title="Inbox/Walnuts.md"') == 2
    assert site.get("/activity/0000000").status == 404
    assert site.get("/activity?path=Inbox/Walnuts").body.decode().count('title="Inbox/Walnuts.md"') == 2
    nowhere = site.get("/activity?path=Inbox")
    assert (nowhere.status, b"No changes." in nowhere.body) == (200, True)


def test_what_happens_meanwhile_is_told_on_the_open_page(visit: Visit, memory: Memory) -> None:
    """A write by another process appears at the foot, and what waits beside Review."""
    page = visit("/facts")
    page.wait_for_selector("body[data-live]")
    memory.acting(AGENT).entries.save("Likes walnut bread.", kind="preference", trust="read", interface="claude-code")
    page.locator(".live", has_text="since you opened this page").wait_for()

    page.wait_for_selector("nav.side a[href='/review'] .badge")


@pytest.mark.parametrize(
    ("events", "line"),
    [
        ("write progress:3/9", "1 change since you opened this page. Reading: 3 of 9 notes. Show"),
        ("progress:3/9 write", "1 change since you opened this page. Reading: 3 of 9 notes. Show"),
        ("write progress:3/9 progress:9/9", "1 change since you opened this page. Show"),
        ("write progress:0/0 write", "2 changes since you opened this page. Show"),
        ("job:started", "sleep: started."),
        ("job:started job:finished", "sleep: finished. Show"),
        ("job:started write job:finished", "1 change since you opened this page. Show"),
    ],
)
def test_work_under_way_hides_no_news_and_is_gone_when_it_is_done(visit: Visit, events: str, line: str) -> None:
    """The line at the foot of a page after these events, in whichever order they come."""
    page = visit("/facts")
    page.route("**/live", lambda route: route.fulfill(content_type="text/event-stream", body=_stream(events)))
    page.reload()
    page.wait_for_selector("body[data-live]")

    page.locator(".live", has_text=re.compile(f"^{re.escape(line)}$")).wait_for()


def _stream(events: str) -> str:
    """Server-sent events in short: `write`, `progress:DONE/TOTAL` and `job:STATE`; the browser does not ask again."""
    texts = ["retry: 600000\nevent: hello\ndata: {}\n\n"]
    for event in events.split():
        kind, _, value = event.partition(":")
        fields: dict[str, object] = {"job": "sleep", "state": value} if kind == "job" else {}
        if kind == "progress":
            done, total = map(int, value.split("/"))
            fields = {"work": "watch", "what": "notes", "done": done, "total": total}
        texts.append(f"event: {kind}\ndata: {json.dumps(fields)}\n\n")
    return "".join(texts)


def test_what_happened_is_shown_again_from_an_address_with_a_place_and_never_from_that_of_a_form(
    visit: Visit, memory: Memory
) -> None:
    """A link to the same place reads nothing again, and the address of a form's answer is no page."""
    page = visit("/activity#content")
    page.wait_for_selector("body[data-live]")
    memory.notes.write("Inbox/Hazelnuts.md", "Few.\n")
    page.locator(".live a").click()
    page.locator(".list").get_by_text("Hazelnuts").first.wait_for()
    page.goto(page.url.replace("/activity", "/templates/daily_reflection"))
    page.get_by_role("button", name="Preview").click()
    page.wait_for_selector("#preview")
    page.wait_for_selector("body[data-live]")
    memory.notes.write("Inbox/Hazelnuts.md", "Many.\n")
    page.locator(".live", has_text="since you opened this page").wait_for()

    assert page.locator(".live a").count() == 0
