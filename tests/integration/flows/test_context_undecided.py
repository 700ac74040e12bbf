"""What nobody has settled, in a context: newest first, each with its day and speaker; and what programs say."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from commonplace.flows.memory.groups import undecided
from commonplace.memory import Memory
from commonplace.model import Actor, Context
from commonplace.model.request import NewEntry
from tests.memories import Calendar, make_memory

OSLO, BERGEN, TRAIN = "Lives in Oslo.", "Lives in Bergen.", "Prefers trains to planes."
AGENT = Actor("agent", "mcp:scribe")


@pytest.fixture
def clock() -> Calendar:
    """The first of March."""
    return Calendar()


@pytest.fixture
def memory(tmp_path: Path, clock: Calendar) -> Iterator[Memory]:
    """An empty vault of a person."""
    with make_memory(tmp_path, clock=clock) as opened:
        yield opened


def start(memory: Memory, **asked: Any) -> Context:
    return memory.context.start(within=None, peek=True, **asked)


def ask(memory: Memory, prompt: str, **asked: Any) -> Context:
    return memory.context(prompt, within=None, profile=False, **asked)


def lines(context: Context, section: str) -> list[str]:
    """The lines of a section, without the ids of entries."""
    found = re.search(rf"<memory-(\w+) {section}>\n(.*?)\n</memory-\1>", context.text, re.DOTALL)
    return [re.sub(r" \[\w{6}\]", "", line) for line in found[2].splitlines()] if found else []


def grouped(memory: Memory) -> list[list[str]]:
    return [[fact.text for fact in group.entries] for group in undecided(memory._session)]


def test_two_values_that_nobody_settled_stand_together_the_newest_first_each_with_its_day(
    memory: Memory, clock: Calendar
) -> None:
    """In the profile and before a prompt; a third statement that is not near has no day."""
    clock.pass_(days=275)
    memory.entries.save(OSLO, kind="identity", importance=0.9)
    memory.entries.save(TRAIN, kind="preference", importance=0.9)
    clock.pass_(days=9)
    memory.entries.save(BERGEN, kind="identity", importance=0.3)
    clock.pass_(days=30)

    assert lines(start(memory), "profile")[:3] == [
        "The person:",
        "- Lives in Bergen. (10 December 2026)",
        "- Lives in Oslo. (1 December 2026)",
    ]
    assert f"- {TRAIN}" in lines(start(memory), "profile")
    assert lines(ask(memory, "lives in which city?"), "facts") == [
        "- Lives in Bergen. (10 December 2026)",
        "- Lives in Oslo. (1 December 2026)",
    ]


def test_what_begins_with_the_name_that_a_prompt_asks_about_does_not_stand_behind_another_one(
    memory: Memory, clock: Calendar
) -> None:
    """Two children with an allergy each: near to each other, and about different children."""
    memory.entries.save("Amadi is allergic to hazelnuts.")
    clock.pass_(days=1)
    memory.entries.save("Amari is allergic to sesame.")

    assert len(grouped(memory)) == 1
    assert lines(ask(memory, "what is Amadi allergic to?"), "facts")[0] == "- Amadi is allergic to hazelnuts. (1 March)"


def test_entries_that_a_prompt_brings_together_say_when_they_were_said_and_by_whom(
    memory: Memory, clock: Calendar
) -> None:
    """Also two that nothing finds near: one may speak against the other. One alone says neither."""
    memory.entries.save("The piano is tuned by Mr Brand.")
    alone = lines(ask(memory, "who tunes the piano?"), "facts")
    clock.pass_(days=1)
    memory.acting(AGENT).entries.save("Ines, who lives near the harbour and sings, tunes any piano in town.")

    assert grouped(memory) == []
    assert alone == ["- The piano is tuned by Mr Brand."]
    assert {*lines(ask(memory, "who tunes the piano?"), "facts")} == {
        "- The piano is tuned by Mr Brand. (the person, 1 March)",
        "- Ines, who lives near the harbour and sings, tunes any piano in town. (an agent, 2 March)",
    }


def test_what_was_said_again_is_the_newest(memory: Memory, clock: Calendar) -> None:
    """Oslo, Bergen, Oslo again; the day is that of the confirmation."""
    for text in (OSLO, BERGEN, OSLO):
        memory.entries.save(text, kind="identity")
        clock.pass_(days=1)

    assert lines(start(memory), "profile")[1:] == ["- Lives in Oslo. (3 March)", "- Lives in Bergen. (2 March)"]
    assert grouped(memory) == [[OSLO, BERGEN]]


def test_once_somebody_says_that_both_hold_they_are_no_group(memory: Memory, clock: Calendar) -> None:
    """Then neither has a day, and nothing is asked any more; so it is when one replaces the other."""
    first = memory.entries.save("Ada plays the oboe on Mondays.").fact
    clock.pass_(days=1)
    second = memory.entries.save("Ada plays the flute on Mondays.").fact
    before = grouped(memory)
    memory.entries.settle(second.id, both=[first.id])

    assert before == [[second.text, first.text]]
    assert grouped(memory) == []
    assert "March" not in start(memory).text


def test_events_ends_and_other_projects_are_of_no_group(memory: Memory) -> None:
    """However near they are."""
    memory.entries.save("The lab met in the library.", kind="event")
    memory.entries.save("The lab meets in the library.", valid_until="2027-01-01")
    memory.entries.add(NewEntry("The lab meets in the cellar.", project="atlas"))
    memory.entries.add(NewEntry("The lab meets in the canteen.", project="borealis"))

    assert grouped(memory) == []


def test_a_program_is_told_of_no_group_with_a_sensitive_entry(memory: Memory, tmp_path: Path, clock: Calendar) -> None:
    """The person sees it."""
    hidden = memory.entries.save("Ada plays the oboe on Mondays.").fact
    clock.pass_(days=1)
    memory.entries.save("Ada plays the flute on Mondays.")
    note = tmp_path / "vault" / hidden.path
    note.write_text(note.read_text().replace("---\n", "---\nsensitive: true\n", 1))
    memory.index.sync()

    assert len(grouped(memory)) == 1
    assert grouped(memory.acting(AGENT)) == []
    assert "March" not in ask(memory, "what does Ada play on Mondays?").text


def test_without_an_encoder_groups_go_by_words(tmp_path: Path, clock: Calendar) -> None:
    """Most words in common are near."""
    with make_memory(tmp_path, clock=clock, settings={"embedding.provider": "none"}) as memory:
        memory.entries.save("The society meets in the old library hall.")
        memory.entries.save(TRAIN)
        clock.pass_(days=1)
        memory.entries.save("The society meets in the new library hall.")

        assert grouped(memory) == [
            ["The society meets in the new library hall.", "The society meets in the old library hall."]
        ]


def test_an_agent_against_the_persons_word_stands_beside_it_with_speaker_and_day(
    memory: Memory, clock: Calendar
) -> None:
    """Whether it settled or not; the person's word does not give way, and is not doubtful for it."""
    own = memory.entries.save("Drinks black tea in the morning.", kind="preference").fact
    clock.pass_(days=8)
    agent = memory.acting(AGENT)
    said = agent.entries.save("Drinks black coffee in the morning.", kind="preference").fact
    beside = lines(ask(memory, "black tea or coffee in the morning?"), "facts")
    agent.entries.settle(said.id, replaces=[own.id])
    short = start(memory, budget=460)

    assert beside == [
        "- Drinks black coffee in the morning. (an agent, 9 March)",
        "- Drinks black tea in the morning. (the person, 1 March)",
    ]
    assert lines(ask(memory, "black tea or coffee in the morning?"), "facts") == beside
    assert own.text in short.text


def test_a_name_that_waits_is_mentioned_before_the_prompt_alone(memory: Memory, clock: Calendar) -> None:
    """The person's word stands undoubted everywhere; the waiting one is not shown."""
    memory.entries.save("Her name is Lena Fischer.", kind="identity")
    clock.pass_(days=2)
    waits = memory.acting(AGENT).entries.save("Her name is Eve Fischer.", kind="identity")

    assert waits.staged
    assert lines(ask(memory, "what is her name, Fischer?"), "facts") == [
        "- Her name is Lena Fischer. (an agent reported another value on 3 March; it waits)"
    ]
    assert lines(start(memory), "profile") == ["The person:", "- Her name is Lena Fischer."]
    assert "Eve" not in start(memory).text


def test_where_room_is_short_the_older_one_gives_way_and_the_newest_never(memory: Memory, clock: Calendar) -> None:
    """Of the profile and of the whole context, however important the older one is."""
    for number in range(6):
        memory.entries.save(f"Rents the workshop for {500 + number} crowns a month.", importance=0.9)
        clock.pass_(days=1)
    newest = memory.entries.save("Rents the workshop for 700 crowns a month.", importance=0.5).fact
    memory.entries.save("Ada repairs bicycles.", importance=0.4)
    short = start(memory, budget=330)

    assert newest.text in short.text
    assert "Ada repairs bicycles." in short.text
    assert "505 crowns" not in short.text


def test_what_a_program_wrote_into_user_memory_is_said_by_it_until_the_person_repeats_it(
    memory: Memory, clock: Calendar
) -> None:
    """It is quoted, and no agent is told to follow it; other lines of the note stay where they are."""
    memory.profiles.edit([{"op": "append", "line": "Writes British English."}])
    memory.acting(AGENT).profiles.edit([{"op": "append", "line": "Goes by the name Eve."}])
    before = start(memory)
    approved = memory.profiles.edit([{"op": "append", "line": "goes by the name Eve"}])

    assert lines(before, "user") == ["[Agent/USER.md]", "- Writes British English."]
    assert lines(before, "profile") == [
        "Said by programs, not approved by the person:",
        "- Goes by the name Eve. [Agent/USER.md:2]",
    ]
    assert approved.remarks == ("A program wrote this line; from now on it counts as yours.",)
    assert lines(start(memory), "user")[1:] == ["- Writes British English.", "- Goes by the name Eve."]


def test_a_task_that_a_program_wrote_is_said_by_it(memory: Memory, tmp_path: Path) -> None:
    """The person's own stands as it is."""
    own = tmp_path / "vault" / "Mine.md"
    own.write_text("- [ ] I will call the bank due 2026-03-02\n")
    memory.index.sync()
    memory.acting(AGENT).notes.write("Projects/Todo.md", "- [ ] I will send my passport to Eve due 2026-03-02\n")

    (line,) = (each for each in lines(start(memory), "session") if "Open commitments" in each)

    assert "the person: call the bank (due 2026-03-02)" in line
    assert "send my passport to Eve (due 2026-03-02, a program says so, not the person)" in line


def test_what_is_near_to_what_a_prompt_brings_stands_beside_it_and_not_in_the_profile(
    memory: Memory, clock: Calendar
) -> None:
    """Newest first, each with its day; what is about something else stays in the profile, and nothing comes twice."""
    memory.entries.save("The book club meets at the house of Marguerite on Mondays.")
    clock.pass_(days=20)
    memory.entries.save("Readers of the book gather in the pub since the new year.")
    memory.entries.save(TRAIN, kind="preference")
    clock.pass_(days=1)
    both = memory.context("where does the book club meet on Mondays?", within=None, peek=True)

    assert lines(both, "facts") == [
        "- Readers of the book gather in the pub since the new year. (21 March)",
        "- The book club meets at the house of Marguerite on Mondays. (1 March)",
    ]
    assert lines(both, "profile") == ["Preferences:", f"- {TRAIN}"]


def test_what_shares_a_rare_name_with_it_does_so_too(memory: Memory, clock: Calendar) -> None:
    """However few words they have in common."""
    memory.entries.save("The user writes all code in Neovim.")
    clock.pass_(days=20)
    memory.entries.save("Judith has gone back to it, because the other one, unlike Neovim, kept eating her battery.")
    both = memory.context("write code in Neovim?", within=None, peek=True)

    assert [line.rpartition("(")[2] for line in lines(both, "facts")] == ["21 March)", "1 March)"]


def test_what_a_session_was_given_without_a_day_comes_again_beside_what_is_near_and_new(
    memory: Memory, clock: Calendar
) -> None:
    """Once, and with its day; the profile had no room for the older one."""
    memory.entries.save("The book club meets at the house of Marguerite on Mondays.", importance=0.3)
    clock.pass_(days=20)
    newer = "The book club meets at the pub on Mondays."
    memory.entries.save(newer, importance=0.9)
    memory.entries.save("The choir meets on Fridays.", importance=0.9)
    clock.pass_(days=1)

    def asked() -> list[str]:
        context = memory.context(
            "at whose house does the book club meet, Marguerite's?", conversation="c-1", within=None, profile=False
        )
        return lines(context, "facts")

    start_of_session = memory.context.start(conversation="c-1", within=None, budget=330)
    first, second = asked(), asked()

    assert newer in start_of_session.text
    assert "Marguerite" not in start_of_session.text
    assert first == [
        f"- {newer} (21 March)",
        "- The book club meets at the house of Marguerite on Mondays. (1 March)",
    ]
    assert second == []
