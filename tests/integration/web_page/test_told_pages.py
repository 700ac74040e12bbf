"""The pages of what was told: conversations, the profile, and what an agent is given for a prompt."""

import pytest
from playwright.sync_api import expect

from commonplace.memory import Memory
from tests.integration.web_page.conftest import Site, Visit
from tests.page_vault import AGENT

pytestmark = pytest.mark.needs("chromium")


def told(memory: Memory, name: str, text: str) -> str:
    """The id of a conversation in which the person said that."""
    turns = [{"role": "user", "content": text}, {"role": "assistant", "content": "Noted."}]
    return memory.acting(AGENT).conversations.record(turns, interface="claude-code", source_id=name, title=name).id


@pytest.mark.requirement("V-30")
def test_conversations_are_listed_searched_and_read(visit: Visit, memory: Memory) -> None:
    """A passage leads to its turn."""
    told(memory, "About cellos", "My cello needs new strings before the winter concert.")
    page = visit("/conversations")
    expect(page.get_by_role("link", name="About cellos")).to_be_visible()
    page.locator("#field-q").fill("cello strings")
    page.get_by_role("button", name="Find").click()
    page.locator("main .list").first.get_by_role("link", name="About cellos").first.click()

    expect(page.locator("#turn-1")).to_contain_text("new strings")


def test_what_was_learned_from_a_conversation_stands_beside_it(site: Site, memory: Memory) -> None:
    """With the words from which it was learned."""
    id = told(memory, "About tea", "I prefer oolong tea in the afternoon.")
    memory.conversations.close(id)
    memory.learning.learn(id)
    body = site.get(f"/conversations/{id}").body.decode()

    assert "oolong" in body[body.index("Learned from it") : body.index('class="turns"')]


def test_a_conversation_is_set_aside_and_erased_only_on_purpose(site: Site, memory: Memory) -> None:
    """The box must be ticked."""
    id = told(memory, "About a secret garden", "The key is under the pot.")
    aside = site.post("/conversations/use", {"id": id, "memory": "off"})
    hasty = site.post("/conversations/erase", {"id": id})

    assert aside.status == 303
    assert memory.conversations.show(id)[0].memory == "off"
    assert hasty.status == 400
    assert site.post("/conversations/erase", {"id": id, "sure": "1"}).status == 303
    assert site.get(f"/conversations/{id}").status == 404


@pytest.mark.requirement("V-31")
def test_the_profile_shows_what_every_session_gets_and_takes_a_line(visit: Visit, memory: Memory) -> None:
    """A line is added by an operation, which its message can undo."""
    page = visit("/profile")
    assert "Answer in plain English, without emojis." in page.inner_text("main")
    page.locator("#field-line").fill("Works on Mondays from the garden.")
    page.get_by_role("button", name="Add").click()
    page.wait_for_selector(".flash")

    assert "Works on Mondays from the garden." in memory.profiles.show().text
    page.locator(".flash").get_by_role("button", name="Undo").click()
    page.wait_for_selector(".flash")
    assert "Works on Mondays from the garden." not in memory.profiles.show().text


def test_a_line_of_a_new_section_is_taken_and_what_is_refused_is_said_in_words(site: Site, memory: Memory) -> None:
    """The section is added with it; an empty line, HTML and an unknown line have their sentences."""
    version = memory.profiles.show().version
    line = {"op": "append", "heading": "Pets", "line": "Has a hen called Berta.", "version": version}
    added = site.post("/profile/edit", line)
    text, shown = memory.profiles.show().text, site.get("/profile").body.decode()
    empty = site.post("/profile/edit", {"op": "append", "heading": "Pets"})
    marked = site.post("/profile/edit", {"op": "append", "heading": "Pets", "line": "A <b>big</b> hen."})
    unknown = site.post("/profile/edit", {"op": "remove", "match": "Has a goat."})

    assert (added.status, empty.status, marked.status, unknown.status) == (303, 400, 400, 303)
    assert "## Pets\n\n- Has a hen called Berta.\n" in text
    assert "USER.md was changed." in shown
    assert b"USER.md was not changed: the statement is empty." in empty.body
    assert b"it contains HTML or a comment" in marked.body
    assert "No line of USER.md is like this" in site.get("/profile").body.decode()


def test_the_context_of_a_prompt_says_why_and_is_silent_where_nothing_is_needed(visit: Visit) -> None:
    """Looking records nothing; what is left out has its reason."""
    page = visit("/context")
    page.locator("#prompt").fill("When did I decide that the greenhouse opens?")
    page.get_by_role("button", name="Show what it gets").click()
    expect(page.locator(".given")).to_contain_text("The greenhouse opens in May.")
    expect(page.locator("table").first).to_be_visible()
    page.get_by_role("link", name="The greenhouse opens in May.", exact=True).click()
    page.wait_for_url("**/facts/*")
    expect(page.locator("h1")).to_have_text("The greenhouse opens in May.")
    page.go_back()
    page.locator("#prompt").fill("What is 17 times 23?")
    page.get_by_role("button", name="Show what it gets").click()

    expect(page.locator("main")).to_contain_text("Silence.")


def test_what_a_context_leaves_out_is_named_by_its_words(site: Site, memory: Memory) -> None:
    """Not by six digits: one has to see what the agent was not given."""
    fact = memory.entries.save("The beehive stands behind the shed.", kind="fact").fact
    reply = site.get("/context?prompt=How+does+a+beehive+in+general+work%3F").body.decode()
    left_out = reply.partition("<h2>Left out</h2>")[2]

    assert f'<a href="/facts/{fact.id}">The beehive stands behind the shed.</a>' in left_out
