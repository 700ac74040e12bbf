"""Search while you type, with reasons and filters."""

import re

import pytest
from playwright.sync_api import BrowserContext, expect

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
    page.locator("#question").press("End")
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


def titles(part: str) -> list[str]:
    """The titles of the hits, in order."""
    return [re.sub("<[^>]+>", "", each) for each in re.findall(r'<p class="hit-title"><a[^>]*>(.*?)</a>', part)]


def test_while_one_types_the_last_word_may_be_unfinished(site: Site, memory: Memory) -> None:
    """Words of titles and names that begin so are found, titles first; a plain search takes words as they are."""
    memory.notes.write("Inbox/Zelkova.md", "# Zelkova\n\nA tree of the avenue.\n")
    memory.notes.write("Inbox/Orchard plan.md", "# Orchard plan\n\nThe zelkova by the gate, a zelkova by the well.\n")
    live = site.get("/search?q=zelk", **{"X-Part": "results"}).body.decode()
    two_words = site.get("/search?q=plan+of+the+orch", **{"X-Part": "results"}).body.decode()
    finished = site.get("/search?q=zelk+", **{"X-Part": "results"}).body.decode()
    plain = site.get("/search?q=zelk").body.decode()

    assert titles(live)[:2] == ["Zelkova", "Orchard plan"]
    assert "words: zelkova" in live
    assert titles(two_words)[0] == "Orchard plan"
    assert [part for part in (finished, plain) if "words: zelkova" in part] == []


def test_a_plain_search_for_half_a_word_offers_the_whole_one(site: Site, memory: Memory) -> None:
    """As a link, where nothing has the word as it was typed."""
    memory.notes.write("Inbox/Zymurgy.md", "# Zymurgy\n\nBeer and bread.\n")
    reply = site.get("/search?q=about+zymur&folder=Nowhere").body.decode()

    assert "Did you mean" in reply
    assert 'href="/search?q=about+zymurgy"' in reply


def test_an_entry_is_named_by_its_words(site: Site) -> None:
    """Not by its file; the reasons have the words as they are spelled, not their stems."""
    part = site.get("/search?q=society+greenhouse+opens", **{"X-Part": "results"}).body.decode()

    assert "The greenhouse opens in May." in titles(part)
    assert re.search(r"words: [^<]*greenhouse", part)
    assert not re.search(r"words: [^<]*\b(?:greenhous|societi)\b", part)


def test_a_snippet_has_no_signs_of_markdown_links_and_blocks(site: Site, memory: Memory) -> None:
    """[text](address) is its text, and the name of a block is left out."""
    memory.notes.write("Inbox/Pergola.md", "# Pergola\n\nPergola by [the smith](https://example.org/x?y=z). ^pergola\n")
    text = site.get("/search?q=pergola", **{"X-Part": "results"}).body.decode()

    assert re.search(r"by the smith\.\s*<", text)
    assert "^pergola" not in text


@pytest.mark.needs("chromium")
def test_while_the_daemon_does_not_answer_the_field_says_so(signed_in: BrowserContext, site: Site) -> None:
    """Instead of hits that are no longer those of the question; the next letter asks again."""
    page = signed_in.new_page()
    page.goto(f"{site.origin}/search?q=compost")
    page.route("**/search?*", lambda route: route.abort())
    page.locator("#question").fill("rainwater")
    page.wait_for_selector("#results:has-text('Commonplace does not answer.')")
    page.unroute("**/search?*")
    page.locator("#question").fill("rainwater tank")
    page.wait_for_selector("#results li")

    assert page.locator("#results").get_attribute("aria-busy") == "false"
