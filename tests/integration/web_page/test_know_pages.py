"""The pages of what is known: facts, people and topics, the graph."""

import re
from typing import get_args

import pytest
from playwright.sync_api import expect

from commonplace.memory import Memory
from commonplace.model.fact import Bond
from commonplace.web.page.view import BOND_WORDS
from tests.integration.web_page.conftest import Site, Visit
from tests.page_vault import AGENT

pytestmark = pytest.mark.needs("chromium")


@pytest.mark.requirement("V-32")
def test_facts_are_filtered_and_one_is_confirmed_corrected_and_forgotten(visit: Visit, memory: Memory) -> None:
    """The old version stays as its past."""
    memory.entries.save("The barrel holds 80 litres of cider.", kind="fact", topics=["cellar"])
    page = visit("/facts?text=cider")
    page.get_by_role("link", name="80 litres").click()
    page.get_by_role("button", name="Still true").click()
    expect(page.locator(".flash")).to_contain_text("Confirmed")
    page.get_by_text("Correct it").click()
    page.locator("#correct").fill("The barrel holds 120 litres of cider.")
    page.get_by_role("button", name="Correct", exact=True).click()

    expect(page.locator("h1")).to_have_text("The barrel holds 120 litres of cider.")
    expect(page.locator("ol.list:not(.timeline)")).to_contain_text("80 litres")
    expect(page.locator("ol.timeline")).to_contain_text("Replaced The barrel holds 80 litres")
    expect(page.locator("ol.list:not(.timeline)")).to_contain_text("replaced")
    page.get_by_role("button", name="Forget").click()
    page.wait_for_url("**/facts")
    expect(page.locator("#field-state")).to_contain_text("waits for you")

    assert "cider" not in str(memory.entries.recall("litres of cider").hits)


def test_a_correction_that_is_undone_leads_back_to_the_fact_as_it_was(visit: Visit, memory: Memory) -> None:
    """The corrected one is gone, so its page would not be found."""
    fact = memory.entries.save("The press holds 30 kilos of pears.", kind="fact").fact
    page = visit(f"/facts/{fact.id}")
    page.get_by_text("Correct it").click()
    page.locator("#correct").fill("The press holds 45 kilos of pears.")
    page.get_by_role("button", name="Correct", exact=True).click()
    page.locator(".flash").get_by_role("button", name="Undo").click()
    expect(page.locator(".flash")).to_contain_text("Undone")

    expect(page.locator("h1")).to_have_text("The press holds 30 kilos of pears.")


@pytest.mark.requirement("X-25")
def test_what_is_near_a_fact_that_was_saved_on_the_page_is_settled_with_a_button(visit: Visit, memory: Memory) -> None:
    """The neighbours stand below it, each with who said it and when; what was replaced can be taken back."""
    old = memory.entries.save("The cooper who mends the casks is Halvard Moe.", kind="fact").fact
    page = visit("/facts")
    page.get_by_text("Save something").click()
    page.locator("#save").fill("The cooper who mends the casks is Ingrid Dahl.")
    page.get_by_role("button", name="Save", exact=True).click()
    near = page.locator("section", has=page.locator("#near")).locator("li", has_text="Halvard Moe")
    expect(near).to_contain_text(f"you, {old.begins[:10]}")
    near.get_by_role("button", name="No longer holds").click()

    expect(page.locator(".flash")).to_contain_text("Ended: “The cooper who mends the casks is Halvard Moe.”")
    expect(page.locator("ol.list:not(.timeline)")).to_contain_text("Halvard Moe")
    assert memory.entries.show(old.id).fact.status == "superseded"


def test_both_may_hold_and_an_older_wording_may_stay(site: Site, memory: Memory) -> None:
    """The page leads to the entry that stays; a verdict that does not exist is refused."""
    old = memory.entries.save("The boiler is descaled each March.", kind="fact").fact
    new = memory.entries.save("The boiler gets its descaling each March.", kind="fact").fact
    form = {"id": new.id, "older": old.id}
    both = site.post("/facts/settle", {**form, "verdict": "both"})
    shown = site.get(f"/facts/{new.id}").body.decode()
    same = site.post("/facts/settle", {**form, "verdict": "same"})

    assert both.status == 303
    assert f'Holds beside <a href="/facts/{old.id}">' in shown
    assert site.post("/facts/settle", {**form, "verdict": "eats"}).status == 400
    assert (same.status, same.headers["location"]) == (303, f"/facts/{old.id}")
    assert memory.entries.show(new.id).fact.status == "superseded"


def test_a_fact_says_what_it_is_about_and_when_it_matters(visit: Visit, memory: Memory) -> None:
    """Saved with both, changed in a form of its own, and taken back with one button."""
    page = visit("/facts")
    page.get_by_text("Save something").click()
    page.locator("#save").fill("The mason who built the oven is Tilde Rask.")
    page.get_by_label("What it is about").fill("who built the oven")
    page.get_by_label("When it matters").fill("cracks, bread, repairs")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator("dl").first).to_contain_text("who built the oven")
    page.locator("summary", has_text="When it matters").click()
    page.get_by_label("Situations in which it matters").fill("cracks, pizza")
    page.get_by_role("button", name="Set", exact=True).click()
    expect(page.locator(".flash")).to_contain_text("Prompts about that find it now.")
    expect(page.locator("dl").first).to_contain_text("cracks, pizza")
    page.locator(".flash").get_by_role("button", name="Undo").click()
    expect(page.locator(".flash")).to_contain_text("Undone")

    expect(page.locator("h1")).to_have_text("The mason who built the oven is Tilde Rask.")
    expect(page.locator("dl").first).to_contain_text("cracks, bread, repairs")
    assert [each.fact.when for each in memory.facts.about(about="built the oven")] == ["cracks, bread, repairs"]


def test_what_an_agent_said_of_a_fact_can_be_removed_and_a_text_that_is_too_long_is_refused(
    site: Site, memory: Memory
) -> None:
    """An empty field says nothing of it."""
    agent = memory.acting(AGENT)
    fact = agent.entries.save("The oven needs birch wood.", kind="fact", about="wood", when="fires, winter").fact
    long = site.post("/facts/describe", {"id": fact.id, "about": "wood", "when": "fire " * 40})
    emptied = site.post("/facts/describe", {"id": fact.id, "about": "what the oven burns", "when": ""})
    held = memory.entries.show(fact.id).fact

    assert (long.status, emptied.status) == (400, 303)
    assert emptied.headers["location"] == f"/facts/{fact.id}"
    assert (held.about, held.when, held.text) == ("what the oven burns", "", fact.text)


def test_a_fact_is_pinned_for_every_session_and_erased_only_on_purpose(site: Site, memory: Memory) -> None:
    """The box must be ticked."""
    fact = memory.entries.save("Wants answers about vinegar in French.", kind="preference").fact
    loaded = site.post("/facts/load", {"id": fact.id, "always": "1", "pinned": "1"})
    shown = memory.entries.show(fact.id).fact

    assert (loaded.status, shown.always_load, shown.pinned) == (303, True, True)
    assert site.post("/facts/erase", {"id": fact.id}).status == 400
    assert site.post("/facts/erase", {"id": fact.id, "sure": "1"}).status == 303
    flash = site.get("/facts").body.decode().partition('class="flash"')[2].partition("</div>")[0]
    assert "Erased: Wants answers about vinegar in french. Git still has it in" in flash
    assert "<code>git filter-repo</code>" in flash
    assert site.get(f"/facts/{fact.id}").status == 404


def test_everything_about_a_person_stands_on_their_page(visit: Visit, memory: Memory) -> None:
    """What they are, what they have to do, and what happened when."""
    memory.facts.add("Petra Quist", "works_at", "Rowan Mill", valid_from="2025-02-01")
    memory.facts.add("Petra Quist", "works_at", "Alder Mill", valid_from="2026-02-01")
    page = visit("/people?prefix=Petra&kind=")
    page.get_by_role("link", name="Petra Quist").click()

    expect(page.locator(".card").first).to_contain_text("Alder Mill")
    expect(page.locator(".timeline")).to_contain_text("Rowan Mill")


def test_the_graph_is_drawn_searched_and_listed(visit: Visit) -> None:
    """A thousand notes come to rest; without the picture there is the list."""
    page = visit("/graph")
    page.wait_for_selector("canvas")
    page.locator("#graph-find").fill("Note 0042")
    page.wait_for_selector(".graph-said:text('1 found')")
    page.wait_for_selector("[data-rest]")

    assert page.locator("main .list li").count() == 25


def test_the_points_of_a_large_graph_stand_apart(visit: Visit) -> None:
    """A thousand of them: hardly two at one place, where only one could be seen and opened."""
    page = visit("/graph")
    page.wait_for_selector("[data-rest]")
    places = page.evaluate(
        "() => { const { x, y } = document.querySelector('[data-graph]').picture;"
        " return [...x].map((at, i) => [Math.round(at / 4), Math.round(y[i] / 4)].join()) }"
    )

    assert len(places) > 1000
    assert len({*places}) > 0.95 * len(places)


def test_the_graph_around_someone_is_small_and_a_wrong_address_says_what_is_wrong(site: Site, memory: Memory) -> None:
    """The parameters of the address are checked."""
    memory.facts.add("Olga Brandt", "lives_in", "Turku")
    around = site.get("/graph/data?around=Olga%20Brandt&hops=1")

    assert around.status == 200
    assert b"Olga Brandt" in around.body
    assert b"Note 0042" not in around.body
    assert site.get("/graph?hops=99").status == 400


def test_a_name_and_a_folder_with_any_signs_have_a_page(visit: Visit, site: Site, memory: Memory) -> None:
    """A slash in a name, letters beyond ASCII and `&` in a folder."""
    memory.facts.add("AC/DC", "lives_in", "Sydney")
    memory.notes.write("Projects/Köche & Bäder/Plan.md", "Tiles.\n")
    page = visit("/people?kind=&prefix=AC")
    page.get_by_role("link", name="AC/DC").click()
    expect(page.locator("h1")).to_have_text("AC/DC")
    page.goto(f"{site.origin}/notes/Projects/Köche & Bäder")

    assert site.get("/people/").headers["location"] == "/people"
    assert page.inner_text("h1") == "Projects/Köche & Bäder"
    assert "Plan" in page.inner_text("main")


def test_a_fact_of_a_line_says_in_which_note_it_is(site: Site, memory: Memory) -> None:
    """A line often leaves out whom it is about: the name of the note says it. A person's page leads to their note."""
    memory.notes.write("People/Otto Okra.md", "# Otto Okra\n\n- [fact] Is allergic to celery\n")
    facts = site.get("/facts?text=celery").body.decode()
    person = site.get("/people/Otto%20Okra").body.decode()

    assert re.search(r'read in <a [^>]*href="/notes/People/Otto%20Okra.md">People/Otto Okra</a>', facts)
    assert '<a class="button quiet" href="/notes/People/Otto%20Okra.md">Own note</a>' in person


def test_a_fact_names_what_is_bound_to_it(site: Site, memory: Memory) -> None:
    """What an agent says instead of the person's word stands beside it; every bond has words."""
    old = memory.entries.save("Rides a red bicycle.", kind="preference")
    agent = memory.acting(AGENT)
    new = agent.entries.evolve(old.fact.id, "Rides a blue bicycle.", reason="painted", interface="claude-code")
    page = site.get(f"/facts/{old.fact.id}").body.decode()

    assert f'Is said to be ended by <a href="/facts/{new.fact.id}">Rides a blue bicycle.</a>' in page
    assert {*BOND_WORDS} == {*get_args(Bond)}
    assert "the person" not in page


def test_a_note_names_the_notes_that_link_to_it_and_each_change_of_it(site: Site, memory: Memory) -> None:
    """Nobody has to search for what refers to it; a change leads to its difference."""
    change = memory.notes.write("Inbox/Ladder.md", "# Ladder\n\nThree metres.\n")
    memory.notes.write("Inbox/Tools.md", "# Tools\n\nThe [[Ladder]] and [[Ladder|the same]].\n")
    page = site.get("/notes/Inbox/Ladder.md").body.decode()
    linked_from = page.partition("Linked from")[2].partition("History")[0]

    assert linked_from.count('href="/notes/Inbox/Tools.md"') == 1
    assert f'<a href="/activity/{change.commit}">Write</a> by you' in page
    assert "Linked from" not in site.get("/notes/Inbox/Tools.md").body.decode()
