"""The tools that save, correct and forget."""

from pathlib import Path

import pytest

from commonplace.memory import Memory
from tests.integration.mcp_server.host import Host, text_of, vault_with

TEXT = "Prefers concise pull requests."


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    return vault_with(tmp_path, People__Ada="# Ada\n\nAda paints.\n")


def note(memory: Memory, path: str) -> dict[str, object]:
    return dict(memory.notes.read(path).frontmatter)


@pytest.mark.requirement("V-37")
def test_what_an_agent_saves_is_an_entry_that_every_way_in_finds(memory: Memory) -> None:
    """With its program and conversation; the library finds what MCP saved, and MCP what the library saved."""
    host = Host(memory)
    saved = host.ask("memory_save", text=TEXT, kind="preference", topics=["coding"], session_id="s-1")
    memory.entries.save("Prefers long reviews of small changes.", kind="preference")
    found = host.ask("memory_search", query="reviews of small changes")["results"]

    assert (saved["action"], saved["staged"], saved["changed"]) == ("insert", False, True)
    assert saved["path"].startswith("Agent/Memory/preference/")
    assert note(memory, saved["path"])["source"] == {
        "interface": "claude-code",
        "conversation": "s-1",
        "trust": "said",
    }
    assert TEXT in [hit.text for hit in memory.search("concise pull requests")]
    assert "Prefers long reviews of small changes." in [hit["content"] for hit in found]


def test_the_program_is_known_by_its_token_or_by_what_its_client_says(memory: Memory) -> None:
    """A generic name gives way to the client's; if both are generic it is unknown."""
    saved = [
        Host(memory, name="socket", program="ChatGPT").ask("memory_save", text="Likes to garden in May."),
        Host(memory, name="perplexity", program="mcp").ask("memory_save", text="Reads about soil on Sundays."),
        Host(memory, name="socket", program="mcp").ask("memory_save", text="Keeps bees behind the house."),
    ]

    assert [each["fact"]["source"]["interface"] for each in saved] == ["chatgpt", "perplexity", "unknown"]


def test_the_same_text_confirms_and_makes_no_second_entry(memory: Memory) -> None:
    """What is known is not duplicated."""
    host = Host(memory)
    first, again = (host.ask("memory_save", text=TEXT, kind="preference") for _ in range(2))

    assert (first["action"], again["action"]) == ("insert", "confirm")
    assert first["id"] == again["id"]


def test_a_correction_takes_the_place_of_an_entry_and_says_why(memory: Memory) -> None:
    """The old one is archived, each names the other; without a reason nothing changes."""
    host = Host(memory)
    old = host.ask("memory_save", text=TEXT, kind="preference")
    refused = host.error("memory_save", text="Prefers long ones.", replaces=old["id"])
    of_another_kind = host.error(
        "memory_save", text="Prefers long ones.", replaces=old["id"], reason="said so", kind="fact"
    )
    new = host.ask(
        "memory_save", text="Prefers long pull requests.", replaces=old["id"], reason="said so", kind="preference"
    )

    assert (refused["reason"], of_another_kind["reason"]) == ("usage", "usage")
    assert "kind" in of_another_kind["message"]
    assert (new["action"], new["old"]) == ("supersede", old["id"])
    assert memory.entries.show(old["id"]).versions[0].fact.superseded_by == new["id"]


def test_a_triple_is_a_fact_with_its_time(memory: Memory) -> None:
    """Facts and timeline show it."""
    host = Host(memory)
    for place, day in (("Acme", "2024-01-01"), ("Beta", "2025-06-01")):
        text = f"Ada works at {place}."
        host.ask("memory_save", text=text, subject="Ada", predicate="works_at", object=place, valid_from=day)
    now = host.ask("memory_facts", entity="Ada")
    timeline = host.ask("memory_facts", entity="Ada", timeline=True)

    assert [fact["object"] for fact in now["facts"]] == ["Beta"]
    assert [(each["what"], each["fact"]["object"]) for each in timeline["timeline"]] == [
        ("began", "Acme"),
        ("replaced", "Acme"),
        ("began", "Beta"),
    ]
    assert host.ask("memory_facts", entity="Ada", timeline=True, limit=1)["more"] is True


def test_facts_and_recalled_memories_have_the_link_for_programs(memory: Memory) -> None:
    """In the JSON that `verbose` adds; a model reads the text, which has no link."""
    host = Host(memory)
    saved = host.ask("memory_save", text="Ada paints the shed green.", kind="fact", subject="Ada")
    listed = host.ask("memory_facts", entity="Ada")["facts"]
    moments = host.ask("memory_facts", entity="Ada", timeline=True)["timeline"]
    recalled = host.ask("memory_recall", prompt="What does Ada paint?")["included"]
    link = memory.notes.link(saved["path"])
    facts = [saved["fact"], *listed, *(each["fact"] for each in moments)]

    assert link
    assert {each["link"] for each in facts} == {link}
    assert link in {each["link"] for each in recalled}
    assert "obsidian://" not in text_of(host.call("memory_facts", entity="Ada"))


def test_more_says_that_there_are_facts_beyond_the_limit(memory: Memory) -> None:
    """A model then knows that it has not seen everything."""
    host = Host(memory)
    for drink in ("tea", "coffee", "water"):
        host.ask("memory_save", text=f"Ada likes {drink}.", subject="Ada", predicate="likes", object=drink)
    some, all_ = host.ask("memory_facts", entity="Ada", limit=2), host.ask("memory_facts", entity="Ada", limit=3)

    assert (some["count"], some["more"]) == (2, True)
    assert (all_["count"], all_["more"]) == (3, False)


@pytest.mark.requirement("A-24")
def test_forgetting_marks_the_entry_and_never_removes_its_file(memory: Memory, tmp_path: Path) -> None:
    """Its status is deleted, with the time and the reason; search and recall skip it; undo brings it back."""
    host = Host(memory)
    saved = host.ask("memory_save", text=TEXT, kind="preference")
    gone = host.ask("memory_forget", id=saved["id"], reason="no longer so")
    keys = note(memory, gone["path"])
    found = host.ask("memory_search", query=TEXT)["count"]
    recalled = host.ask("memory_recall", prompt="how should I write pull requests?")["text"]
    host.ask("undo_last")

    assert (gone["action"], gone["id"]) == ("forget", saved["id"])
    assert (keys["status"], bool(keys["deleted_at"])) == ("deleted", True)
    assert found == 0
    assert TEXT not in recalled
    assert host.ask("memory_search", query=TEXT)["count"] == 1


def test_a_thought_is_captured_in_the_inbox(memory: Memory) -> None:
    """It has no kind."""
    saved = Host(memory).ask("memory_save", text="Perhaps heat the greenhouse by compost.")

    assert saved["path"].startswith("Agent/Memory/_inbox/")
    assert saved["fact"]["kind"] == ""


def test_secrets_are_refused_with_their_reason(memory: Memory) -> None:
    """The hint says what to do instead."""
    error = Host(memory).error("memory_save", text="The password of the router is hunter2-Xq9!vT4z.")

    assert error["reason"] == "secret"
    assert error["hint"]


def test_what_waits_for_the_person_says_so_and_why(memory: Memory) -> None:
    """An agent's replacement of what the person told is staged, and not recalled until approved."""
    told = memory.entries.save("Prefers tabs to spaces.", kind="preference")
    saved = Host(memory).ask(
        "memory_save", text="Prefers spaces to tabs.", replaces=told.fact.id, reason="seen in the code"
    )

    assert saved["staged"] is True
    assert saved["reason"]
    assert memory.entries.show(told.fact.id).fact.status == "active"


def test_what_a_host_saves_belongs_to_the_project_it_works_in(memory: Memory, tmp_path: Path) -> None:
    """By the folder of its door, or by name; a correction keeps the project, and cannot move it to another."""
    (tmp_path / "atlas/.git").mkdir(parents=True)
    host, remote = Host(memory, folder=str(tmp_path / "atlas/src")), Host(memory)
    saved = host.ask("memory_save", text="The tests run with `make check`.", kind="workflow")
    named = remote.ask("memory_save", text="The hull is painted in spring.", kind="workflow", project="boat")
    rough = host.ask("memory_save", text="The chart may need a second index.")
    plain = remote.ask("memory_save", text="The garden gate squeaks.")
    newer = remote.ask("memory_save", text="The tests run with `make all`.", replaces=saved["id"], reason="renamed")
    moved = remote.error("memory_save", text="The tests run.", replaces=newer["id"], reason="no reason", project="boat")
    host.ask("conversation_save", messages=[{"role": "user", "content": "Where are the charts?"}], session_id="s")

    assert [each["fact"]["project"] for each in (saved, named, rough, plain, newer)] == [
        "atlas",
        "boat",
        "atlas",
        "",
        "atlas",
    ]
    assert saved["fact"]["project_root"] == str(tmp_path / "atlas")
    assert moved["message"] == "a correction cannot change project"
    assert [each.project for each in memory.conversations.list()] == ["atlas"]


def test_a_host_recalls_what_belongs_to_the_project_it_works_in(memory: Memory, tmp_path: Path) -> None:
    """What was saved in one project is not given to a host in another."""
    for name in ("atlas", "boat"):
        (tmp_path / name / ".git").mkdir(parents=True)
    atlas, boat = (Host(memory, folder=str(tmp_path / name)) for name in ("atlas", "boat"))
    atlas.ask("memory_save", text="The tests run with `make check`.", kind="workflow")
    recalled = [host.ask("memory_recall", prompt="how do I run the tests?")["text"] for host in (atlas, boat)]

    assert ["make check" in text for text in recalled] == [True, False]
