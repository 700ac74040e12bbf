"""Search while you type, with reasons and filters."""

import re

import pytest
from playwright.sync_api import expect

from commonplace.memory import Memory
from tests.integration.web_page.conftest import Site, Visit


@pytest.mark.needs("chromium")
def test_hits_appear_while_one_types_with_the_reasons_for_their_place(visit: Visit) -> None:
    """The words of the query are marked, the address can be kept, and Enter on a chosen hit opens its note."""
    page = visit("/")
    page.keyboard.press("/")
    page.keyboard.type("rainwater")
    page.keyboard.press("Enter")
    page.wait_for_url("**/search?q=rainwater*")
    page.keyboard.press("End")
    page.keyboard.type(" tank")
    page.wait_for_url("**/search?q=rainwater+tank*")
    hit = page.locator("#results li", has_text="holds 300 litres").first

    expect(hit).to_contain_text("words: ")
    assert hit.locator("mark").all_inner_texts()[0].lower() in ("rainwater", "tank")
    hit.get_by_role("link").first.click()
    page.wait_for_url("**/notes/Agent/Memory/**")


@pytest.mark.needs("chromium")
def test_the_arrow_goes_from_the_field_to_the_hits(visit: Visit) -> None:
    """Enter then opens the one that is chosen: no mouse is needed."""
    page = visit("/search?q=rainwater")
    page.locator("#question").focus()
    page.keyboard.press("ArrowDown")
    address = page.locator("#results li.chosen a").first.get_attribute("href")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**{address}")


def test_without_javascript_the_form_is_enough(site: Site) -> None:
    """The whole page, with the filters as they were chosen."""
    reply = site.get("/search?q=soil&source=vault&folder=Archive/03&tag=&since=").body.decode()

    assert '<option value="vault" selected>' in reply
    assert "/notes/Archive/03/" in reply
    assert "/notes/Archive/04/" not in reply


def test_a_script_gets_the_hits_alone(site: Site) -> None:
    """No frame around them; what cannot be searched is an error with a hint."""
    part = site.get("/search?q=compost", **{"X-Part": "results"}).body.decode()
    wrong = site.get("/search?q=compost&since=never")

    assert "<html" not in part
    assert "hits in" in part
    assert wrong.status == 400


def test_a_query_is_shown_as_text(site: Site) -> None:
    """Whatever it is."""
    reply = site.get("/search?q=%3Cscript%3Ealert(1)%3C/script%3E%22").body.decode()

    assert "<script>alert" not in reply
    assert "&lt;script&gt;" in reply


def test_a_link_in_a_snippet_is_shown_as_its_text(site: Site, memory: Memory) -> None:
    """Words of the query are marked in it all the same."""
    memory.notes.write(
        "Inbox/Trellis.md", "# Trellis\n\nThe trellis is built by [[Ada Lindqvist|Ada]] and [[Jonas]].\n"
    )
    text = site.get("/search?q=trellis+jonas", **{"X-Part": "results"}).body.decode()

    assert re.search(r"built by Ada and <mark>Jonas</mark>\.", text)
    assert "[[" not in text.split("Inbox/Trellis.md")[0]
