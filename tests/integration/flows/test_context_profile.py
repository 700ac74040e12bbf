"""The profile that a session is given: its groups, its choice, its project, the last session and what waits."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from commonplace.flows.context import session_start
from commonplace.memory import Memory
from commonplace.model import Actor, Context
from tests.memories import Calendar, make_memory

ALLERGY = "Is allergic to walnuts."
SHIP = "Deploys go out with the script `ship.sh`."
RECIPE = (
    "Bake bread: weigh 800 grams of rye and 200 of spelt, stir in the starter of the evening before with warm water, "
    "knead it for ten minutes, cover it with a damp cloth, let it rise until noon, shape two loaves, score each with a "
    "sharp blade, and then use the stone oven."
)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    """An empty vault."""
    with make_memory(tmp_path, clock=Calendar()) as opened:
        yield opened


def repository(folder: Path) -> str:
    (folder / ".git").mkdir(parents=True)
    return str(folder)


def lines(context: Context, section: str = "profile") -> list[str]:
    """The lines of a section, without what follows the statement."""
    found = re.search(rf"<memory-(\w+) {section}>\n(.*?)\n</memory-\1>", context.text, re.DOTALL)
    return [re.sub(r" \[\w+\].*", "", line) for line in found[2].splitlines()] if found else []


def start(memory: Memory, **asked: Any) -> Context:
    return memory.context.start(within=None, peek=True, **asked)


def test_everything_current_is_there_grouped_with_constraints_first(memory: Memory) -> None:
    """One line for each, with the id by which every command knows it; what is over or forgotten is not there."""
    saved = memory.entries.save(ALLERGY, kind="fact").fact
    memory.entries.save("Prefers trains to planes.", kind="preference")
    memory.entries.save("A library of seeds for the street.", kind="idea")
    memory.entries.save("Joan repairs bicycles.", kind="fact")
    gone = memory.entries.save("Works in Graz.", kind="identity").fact
    memory.entries.forget(gone.id, reason="wrong")
    found = start(memory)

    assert lines(found) == [
        "Constraints:",
        f"- {ALLERGY}",
        "Preferences:",
        "- Prefers trains to planes.",
        "People, projects, things:",
        "- Joan repairs bicycles.",
        "Ideas:",
        "- A library of seeds for the street.",
    ]
    assert f"- {ALLERGY} [{saved.id[-6:]}]\n" in found.text
    assert all("in the profile" in each.piece.why for each in found.included)


def test_under_a_tight_budget_what_harms_if_missed_stays_and_the_rest_is_named(tmp_path: Path) -> None:
    """What does not fit is listed with its reason; a budget of 0 gives no profile at all."""
    with make_memory(tmp_path, clock=Calendar(), settings={"context.profile": 60}) as memory:
        memory.entries.save(ALLERGY, kind="fact")
        memory.entries.save("Prefers trains to planes.", kind="preference")
        idea = memory.entries.save("A library of seeds for the street.", kind="idea").fact
        tight = start(memory)
    with make_memory(tmp_path, clock=Calendar(), settings={"context.profile": 0}) as memory:
        none = start(memory)

    assert lines(tight) == ["Constraints:", f"- {ALLERGY}", "Preferences:", "- Prefers trains to planes."]
    assert [(each.source, each.why) for each in tight.left_out] == [(idea.id[-6:], "section")]
    assert "the profile is full" in tight.left_out[0].said
    assert (none.text, none.left_out) == ("", ())


def test_a_line_that_was_cut_comes_whole_when_a_prompt_is_about_it(memory: Memory) -> None:
    """And only once; a line that was shown whole does not come again."""
    memory.entries.save(RECIPE, kind="procedural")
    memory.entries.save("The stone oven is lit on Sundays.", kind="fact")
    begun = memory.context.start(conversation="c-1", within=None)
    asked = memory.context("bake bread in the stone oven", conversation="c-1", within=None)
    again = memory.context("bake bread in the stone oven, please", conversation="c-1", within=None)

    assert any(line.startswith("- Bake bread: weigh") and line.endswith(" ...") for line in lines(begun))
    assert "use the stone oven" not in begun.text
    assert RECIPE in asked.text
    assert "lit on Sundays" not in asked.text
    assert again.text == ""


@pytest.mark.requirement("X-12")
def test_entries_of_another_project_are_left_out_unless_they_are_about_the_person(
    memory: Memory, tmp_path: Path
) -> None:
    """What was saved in a repository is known there; the person is the same everywhere."""
    atlas, boat = repository(tmp_path / "atlas"), repository(tmp_path / "boat")
    memory.entries.save(SHIP, kind="workflow", folder=atlas)
    memory.entries.save(ALLERGY, kind="fact", folder=atlas)
    memory.entries.save("Prefers squash merges.", kind="preference", folder=atlas)
    memory.entries.save("The kettle stands in the hall.", kind="fact")
    here, there = start(memory, folder=f"{atlas}/src"), start(memory, folder=boat)

    assert {f"- {SHIP}", f"- {ALLERGY}", "- Prefers squash merges."} <= {*lines(here)}
    assert f"- {SHIP}" not in lines(there)
    assert {f"- {ALLERGY}", "- Prefers squash merges.", "- The kettle stands in the hall."} <= {*lines(there)}


@pytest.mark.requirement("X-12")
def test_an_entry_of_another_project_comes_before_a_prompt_only_if_the_project_is_named(
    memory: Memory, tmp_path: Path
) -> None:
    """However near it is; the reason says whose it is."""
    atlas, boat = repository(tmp_path / "atlas"), repository(tmp_path / "boat")
    saved = memory.entries.save(SHIP, kind="workflow", folder=atlas).fact
    asked: dict[str, Any] = {"within": None, "profile": False, "peek": True}
    here = memory.context("how do deploys go out?", folder=atlas, **asked)
    there = memory.context("how do deploys go out?", folder=boat, **asked)
    named = memory.context("how do deploys of atlas go out?", folder=boat, **asked)

    assert (SHIP in here.text, SHIP in there.text, SHIP in named.text) == (True, False, True)
    assert (saved.id[-6:], "scope", "it belongs to the project atlas") in [
        (each.source, each.why, each.said) for each in there.left_out
    ]


def test_what_an_agent_mined_keeps_its_doubt_in_the_profile(tmp_path: Path) -> None:
    """A statement about the person, from a program and never confirmed; what they told is not marked."""
    with make_memory(tmp_path, clock=Calendar(), settings={"facts.staged_trusts": ()}) as memory:
        agent = memory.acting(Actor("agent", "claude-code"))
        agent.entries.save("Owns a cello.", kind="fact", trust="mined")
        memory.entries.save("Collects stamps of Finland.", kind="fact")
        found = start(memory)

    (mined,) = [line for line in found.text.splitlines() if "cello" in line]
    (told,) = [line for line in found.text.splitlines() if "stamps" in line]
    assert "(not sure: mined by a program, never confirmed." in mined
    assert "not sure" not in told


def test_what_is_planned_says_from_when(tmp_path: Path) -> None:
    """In the profile and before a prompt; once it has begun it says nothing of that."""
    calendar = Calendar()
    with make_memory(tmp_path, clock=calendar) as memory:
        memory.entries.save("Works at the observatory.", kind="fact", valid_from="2026-12-03")
        profile = start(memory)
        prompt = memory.context("my work at the observatory", within=None, profile=False, peek=True)
        calendar.pass_(days=300)
        begun = start(memory)

    planned = "- Works at the observatory. (planned, from 3 December 2026)"
    assert planned in lines(profile)
    assert planned in prompt.text
    assert "- Works at the observatory." in lines(begun)


def said(role: str, *texts: str) -> list[dict[str, str]]:
    return [{"role": role, "content": text} for text in texts]


def test_the_last_session_of_the_project_is_there_in_three_lines(memory: Memory, tmp_path: Path) -> None:
    """How it began, its last request and its last answer, each cut to a line; only of this project, and of another
    session than this one."""
    atlas, boat = repository(tmp_path / "atlas"), repository(tmp_path / "boat")
    talk = [
        *said("user", "Add an index\nto the orders table.", "ok"),
        *said("assistant", "Done: `CREATE INDEX`."),
        *said("user", "Now measure the slow query. " * 20),
        *said("assistant", "It takes 4 ms instead of 900.", "ok"),
    ]
    memory.conversations.record(talk, interface="codex", source_id="s-1", folder=atlas, trust="told")
    here, there, own = (
        lines(start(memory, folder=folder, conversation=name), "session")
        for folder, name in ((atlas, ""), (boat, ""), (atlas, "codex:s-1"))
    )

    assert len(here) == 3
    assert re.fullmatch(
        r'- Last session in atlas \(codex, \d+ \w+ \d{4}\) began with: "Add an index to the orders table\."', here[0]
    )
    assert here[1].startswith('- Its last request: "Now measure the slow query. ')
    assert here[1].endswith(' ..."')
    assert len(here[1]) < 200
    assert here[2] == '- Its last answer: "It takes 4 ms instead of 900."'
    assert there == own == lines(start(memory), "session") == []


def test_a_session_is_told_how_much_waits_for_review(memory: Memory) -> None:
    """A number, never the words that wait."""
    nothing = lines(start(memory), "session")
    agent = memory.acting(Actor("agent", "claude-code"))
    agent.entries.save("Read somewhere: tea cures colds.", kind="fact", trust="read")
    agent.entries.save("Read somewhere: whales sing.", kind="fact", trust="read")
    waiting = start(memory)

    assert nothing == []
    assert lines(waiting, "session") == ["- 2 memories wait for your review: `commonplace review`"]
    assert "whales" not in waiting.text


def test_the_lines_of_a_note_about_the_person_are_in_the_profile_and_others_are_not(
    memory: Memory, tmp_path: Path
) -> None:
    """Structured lines whose subject is the person; those of others come when a prompt names them."""
    (tmp_path / "vault" / "People").mkdir()
    (tmp_path / "vault" / "People" / "Ada.md").write_text("# Ada\n\n- works_at [[Acme]]\n")
    (tmp_path / "vault" / "Me.md").write_text("---\naliases: [me]\n---\n# Me\n\n- lives_in [[Bergen]]\n")
    memory.index.sync()
    found = start(memory)

    assert ("Bergen" in found.text, "Acme" in found.text) == (True, False)
    assert "Acme" in memory.context("a letter to Ada", within=None, peek=True, profile=False).text


def test_an_old_constraint_is_considered_however_many_entries_are_newer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The profile chooses among the newest entries; what harms if it is missed is always among them."""
    monkeypatch.setattr(session_start, "_POOL", 2)
    calendar = Calendar()
    with make_memory(tmp_path, clock=calendar) as memory:
        memory.entries.save("Cannot have penicillin.", kind="constraint")
        memory.entries.save("The shed has a green door.", kind="fact")
        calendar.pass_(days=1)
        memory.entries.save("Ada brings the ladder.", kind="fact")
        memory.entries.save("Rolf keeps the accounts.", kind="fact")
        text = start(memory).text

    assert "penicillin" in text
    assert "ladder" in text
    assert "green door" not in text
