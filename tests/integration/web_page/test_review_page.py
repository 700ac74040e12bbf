"""The page of what waits: decided one by one, by buttons and by keys, and only as it was shown."""

import re

import pytest
from playwright.sync_api import expect

from commonplace.memory import Memory
from tests.integration.web_page.conftest import Site, Visit
from tests.page_vault import AGENT

pytestmark = pytest.mark.needs("chromium")


def waiting(memory: Memory, text: str) -> str:
    """The id of an entry with these words, which waits because an agent only read them."""
    saved = memory.acting(AGENT).entries.save(text, kind="preference", trust="read", interface="claude-code")
    return saved.fact.id


def seen_of(site: Site, id: str) -> str:
    """What the page says that the person saw of an entry or a proposal."""
    found = re.search(
        rf'value="{id}">\s*<input type="hidden" name="seen" value="(\w+)"', site.get("/review").body.decode()
    )
    assert found
    return found[1]


def test_a_waiting_memory_is_approved_by_a_key_and_the_next_is_chosen(visit: Visit, memory: Memory) -> None:
    """`j` chooses, `a` approves; the message can undo it."""
    id = waiting(memory, "Likes quince jelly on toast.")
    page = visit("/review")
    card = page.locator("#memories ~ ol > li.card", has_text="quince jelly")
    for _ in range(page.locator("[data-keys] > *").count()):
        page.keyboard.press("j")
        if "chosen" in (card.get_attribute("class") or ""):
            break
    page.keyboard.press("a")
    page.wait_for_selector(".flash")

    expect(page.locator(".flash")).to_contain_text("Approved: Likes quince jelly on toast.")
    page.locator(".flash").get_by_role("button", name="Undo").click()
    expect(page.locator(".flash")).to_contain_text("Undone: Likes quince jelly on toast.")
    page.locator(".flash").get_by_role("button", name="Redo").click()
    expect(card).to_have_count(0)
    assert memory.entries.show(id).fact.origins.trust == "told"


def test_an_entry_that_changed_after_it_was_shown_is_not_approved(site: Site, memory: Memory) -> None:
    """Otherwise a program could show one thing and have another approved."""
    id = waiting(memory, "Likes medlar jelly on toast.")
    path = memory.reviews.show(id).fact.path
    seen = seen_of(site, id)
    note = site.vault / path
    note.write_text(note.read_text().replace("medlar", "hemlock"))
    reply = site.post("/review/entry", {"id": id, "deed": "approve", "seen": seen})

    assert reply.status == 409
    assert b"has changed since you saw it" in reply.body
    assert memory.reviews.show(id).fact.path == path


def test_it_is_rejected_or_worded_anew(site: Site, memory: Memory) -> None:
    """In the person's own words it is theirs."""
    wrong, nearly = waiting(memory, "Keeps bees in the cellar."), waiting(memory, "Keeps sheep in the attic.")
    rejected = site.post("/review/entry", {"id": wrong, "deed": "reject", "seen": seen_of(site, wrong)})
    edited = site.post(
        "/review/entry",
        {"id": nearly, "deed": "edit", "seen": seen_of(site, nearly), "text": "Keeps sheep on the meadow."},
    )

    assert (rejected.status, edited.status) == (303, 303)
    assert memory.entries.show(nearly).fact.text == "Keeps sheep on the meadow."
    assert not [each for each in memory.reviews.list().entries if each.fact.id in (wrong, nearly)]


def test_a_proposed_change_of_a_note_shows_its_difference_and_can_be_edited(visit: Visit, memory: Memory) -> None:
    """The editor begins with the proposed words."""
    memory.notes.write("Agent/styles/Letters.md", "---\nstyle: letters\n---\nShort letters.\n")
    memory.acting(AGENT).reviews.propose(
        "Agent/styles/Letters.md", "---\nstyle: letters\n---\nWarm, short letters.\n", why="asked for"
    )
    page = visit("/review")
    card = page.locator("li.card", has_text="Letters")
    assert "+Warm, short letters." in card.inner_text()
    card.get_by_role("link", name="Edit").click()
    box = page.locator("#whole")
    expect(box).to_have_value(re.compile("Warm, short letters."))
    box.fill(box.input_value().replace("Warm", "Kind"))
    page.get_by_role("button", name="Write the note like this").click()
    page.wait_for_selector(".flash")

    assert memory.notes.read("Agent/styles/Letters.md").text.endswith("Kind, short letters.\n")


def test_the_key_e_begins_to_edit(visit: Visit, memory: Memory) -> None:
    """The words can be typed at once."""
    waiting(memory, "Likes quandong jelly on toast.")
    page = visit("/review")
    page.keyboard.press("j")
    page.keyboard.press("e")

    expect(page.locator("li.chosen textarea:focus")).to_have_count(1)


def test_a_second_click_on_a_button_sends_nothing(visit: Visit, memory: Memory) -> None:
    """A double click would decide it, and then show that it was decided already."""
    waiting(memory, "Likes rowan jelly on toast.")
    page = visit("/review")
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.url) if request.method == "POST" else None)
    page.locator("li.card", has_text="rowan jelly").get_by_role("button", name="Reject").evaluate(
        "button => { button.click(); setTimeout(() => button.click(), 5); }"
    )
    page.wait_for_selector(".flash")

    assert len(sent) == 1
    expect(page.locator(".flash")).to_contain_text("Rejected: Likes rowan jelly on toast.")


def test_what_was_decided_in_another_window_is_said_to_be_decided(site: Site, memory: Memory) -> None:
    """Not that an entry with a long id is deleted."""
    entry = waiting(memory, "Likes sorrel jelly on toast.")
    fields = {"id": entry, "deed": "approve", "seen": seen_of(site, entry)}
    first, second = site.post("/review/entry", fields), site.post("/review/entry", fields)
    gone = site.post("/review/proposal", {"id": "nonsense", "deed": "approve", "seen": "x"})

    assert first.status == 303
    assert [each.status for each in (second, gone)] == [409, 409]
    assert b"This was decided already." in second.body
    assert b"This was decided already." in gone.body


def test_an_ending_shows_both_statements_and_is_decided(site: Site, memory: Memory) -> None:
    """It ends the old one, both hold, or the new one is forgotten."""
    agent, told = memory.acting(AGENT), {}
    for deed, place in (("approve", "attic"), ("reject", "cellar"), ("forget", "shed")):
        old = memory.entries.save(f"The ladder is kept in the {place}.").fact.id
        new = agent.entries.save(f"The ladder is in the {place} of the neighbour.", replaces=[old]).fact.id
        page = site.get("/review").body.decode()
        assert "Would end: “The ladder is kept in the" in page
        told[deed] = site.post("/review/entry", {"id": new, "deed": deed, "seen": seen_of(site, new)}), old, new
    replies = {deed: reply.status for deed, (reply, _, _) in told.items()}
    stands = {deed: memory.entries.show(old).fact.status for deed, (_, old, _) in told.items()}

    assert set(replies.values()) == {303}
    assert stands == {"approve": "superseded", "reject": "active", "forget": "active"}
    assert memory.entries.show(told["forget"][2]).fact.status == "deleted"
    assert not {each.fact.id for each in memory.reviews.list().endings} & {new for _, _, new in told.values()}


def test_a_group_is_decided_by_a_key(visit: Visit, memory: Memory) -> None:
    """`n`: the newest alone holds; the message names what ended, and undoes it."""
    for hour in ("seven", "eight"):
        memory.entries.save(f"Tilde Rask fires her kiln in the Linden street by {hour}.")
    page = visit("/review")
    card = page.locator("#groups ~ ol > li.card", has_text="Linden street")
    for _ in range(page.locator("[data-keys] > *").count()):
        page.keyboard.press("j")
        if "chosen" in (card.get_attribute("class") or ""):
            break
    page.keyboard.press("n")
    page.wait_for_selector(".flash")

    expect(page.locator(".flash")).to_contain_text(
        "The newest alone holds: Tilde Rask fires her kiln in the Linden street by eight. "
        "Ended: Tilde Rask fires her kiln in the Linden street by seven."
    )
    expect(card).to_have_count(0)


def test_what_ended_can_be_brought_back_from_review_and_from_its_own_page(site: Site, memory: Memory) -> None:
    """On the page of the entry that replaced it, too."""
    first = memory.entries.save("Nora is allergic to penicillin.").fact.id
    second = memory.entries.evolve(first, "Nora stopped smoking.", reason="It says that this has changed.").fact.id
    listed, shown = site.get("/review").body.decode(), site.get(f"/facts/{second}").body.decode()
    reply = site.post("/review/ended", {"id": first, "deed": "back", "back": f"/facts/{first}"})

    assert "1 statement ended by a rule that is gone" in listed
    assert (shown.count('action="/review/ended"'), f'value="{first}"' in shown) == (1, True)
    assert (reply.status, memory.entries.show(first).fact.status) == (303, "active")
    assert "ended by a rule that is gone" not in site.get("/review").body.decode()


def test_every_page_says_how_many_things_wait(site: Site, memory: Memory) -> None:
    """Beside Review, without a script."""
    memory.acting(AGENT).entries.save("Sleeps until noon.", kind="preference", trust="read", interface="claude-code")
    count = memory.reviews.count()
    page = site.get("/settings").body.decode()

    assert page.count(f'Review <span class="badge">{count}</span>') == 2
