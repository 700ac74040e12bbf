"""What one prompt is given: entries judged among entries, follow-ups, and nothing where nothing is needed."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from commonplace.memory import Memory
from commonplace.model import Context
from tests.memories import Calendar, make_memory

PNPM = "Install packages with pnpm, never with npm."


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    """An empty vault."""
    with make_memory(tmp_path, clock=Calendar()) as opened:
        yield opened


def asked(memory: Memory, prompt: str, **more: Any) -> Context:
    return memory.context(prompt, **({"within": None, "profile": False} | more))


def texts(context: Context) -> list[str]:
    return [each.piece.text for each in context.included]


def test_entries_are_judged_among_entries_however_many_notes_say_the_same(memory: Memory, tmp_path: Path) -> None:
    """Forty notes with more of the words neither push the entry out nor come along."""
    memory.entries.save(PNPM, kind="preference")
    for number in range(40):
        note = tmp_path / "vault" / f"Log {number}.md"
        note.write_text(f"# Log {number}\n\nInstall packages with npm, npm install packages, day {number}.\n")
    memory.index.sync()
    found = asked(memory, "install the npm packages")

    assert texts(found) == [PNPM]
    assert ("recalled", "an entry plainly fits the prompt, which does not ask for notes") in [
        (each.section, each.said) for each in found.left_out
    ]


def test_at_most_three_entries_come_and_the_next_are_named(memory: Memory) -> None:
    """The nearest first, with how near each is."""
    for animal, day in (("goat", "Monday"), ("cow", "Tuesday"), ("duck", "Friday"), ("mule", "Sunday")):
        memory.entries.save(f"The {animal} in our barn eats hay, on {day} oats.", kind="fact")
    found = asked(memory, "buy hay and oats for our barn")

    assert len(texts(found)) == 3
    assert all("fits the prompt (score " in each.piece.why for each in found.included)
    assert [each.why for each in found.left_out if each.section == "facts"] == ["unsure"]
    assert "too far from the prompt (score " in found.left_out[0].said


def test_the_wording_decides_how_near_an_entry_must_be(memory: Memory) -> None:
    """One that is less near comes if one speaks of oneself; a nearer one does not for what anybody could ask."""
    memory.entries.save("The barn by the river is painted red, the doors are green.", kind="fact")
    own = asked(memory, "our barn needs paint")
    general = asked(memory, "what colours are barns painted in")

    assert (len(texts(own)), texts(general)) == (1, [])


@pytest.mark.parametrize("reply", ["ok, do it", "yes, yes, go ahead, please continue, ok", "the second one, please"])
def test_a_follow_up_is_read_with_the_prompt_before_it(memory: Memory, reply: str) -> None:
    """Alone it asks for nothing; a courtesy between them does not count as what it follows."""
    alone = asked(memory, reply, conversation="c-1")
    asked(memory, "install the packages of the project", conversation="c-1")
    asked(memory, "sounds good, thanks", conversation="c-1")
    memory.entries.save(PNPM, kind="preference")
    found = asked(memory, reply, conversation="c-1")
    again = asked(memory, reply, conversation="c-1")

    assert (texts(alone), texts(found), texts(again)) == ([], [PNPM], [])
    assert memory.context.given("c-1").prompts == ("install the packages of the project",)


def test_only_the_last_two_prompts_are_kept_and_a_part_of_each(memory: Memory) -> None:
    """Enough for a follow-up to lean on."""
    for prompt in ("plan the vegetable bed", "paint the garden fence green", "mend the roof tiles " * 100):
        asked(memory, prompt, conversation="c-1")

    kept = memory.context.given("c-1").prompts
    assert kept[0] == "paint the garden fence green"
    assert len(kept) == 2
    assert len(kept[1]) == 500


@pytest.mark.parametrize("prompt", ["thanks, that is all", "Good morning!", "ok", "write a haiku about rain", "  "])
def test_a_prompt_that_needs_nothing_gets_nothing(memory: Memory, prompt: str) -> None:
    """Neither courtesy nor play brings what happens to be there."""
    memory.entries.save(PNPM, kind="preference")

    assert asked(memory, prompt).text == ""


def test_a_playbook_comes_whole_and_a_long_entry_as_a_text_of_its_own(memory: Memory) -> None:
    """Each under its id, so that it can be read and corrected."""
    steps = "Bleed the radiators:\n\n1. Turn the pump off.\n2. Open each valve with the key until water comes."
    story = (
        "The boiler in the cellar dates from 1994 and was put in by the father of Mrs Lund, who kept every "
        "bill. Its pump failed in the cold January of 2004, when snow blocked the lane and nobody could come "
        "for nine days; since then a spare one lies on the shelf above the washing machine. The valve of the "
        "kitchen circuit sticks and wants a drop of oil each autumn, before the first frost. In 2019 the "
        "mechanic of the village replaced the burner and said that the tank would outlive the house, but that "
        "nobody makes this thermostat any more, so that the two used ones from the school should be kept dry "
        "and wrapped in paper."
    )
    playbook = memory.entries.save(steps, kind="procedural").fact
    long = memory.entries.save(story, kind="fact").fact
    radiators = asked(memory, "bleed our radiators with the key")
    boiler = asked(memory, "our boiler: what did the mechanic of the village replace?")

    assert [(each.piece.section, each.piece.text, each.piece.fact) for each in radiators.included] == [
        ("playbooks", steps, playbook.id)
    ]
    assert ("recalled", long.id) in [(each.piece.section, each.piece.fact) for each in boiler.included]


def test_recall_can_be_switched_off(tmp_path: Path) -> None:
    """The profile still comes."""
    with make_memory(tmp_path, clock=Calendar(), settings={"context.recall": False}) as memory:
        memory.entries.save(PNPM, kind="preference")
        found = asked(memory, "install the npm packages")
        profile = memory.context.start(within=None)

    assert found.text == ""
    assert "context.recall is off" in [each.said for each in found.left_out]
    assert PNPM in profile.text


def test_the_same_words_are_as_near_in_every_vault(tmp_path: Path) -> None:
    """The name of an entry's file has random digits of its id, which must not count."""
    near = []
    for number in range(3):
        with make_memory(tmp_path / str(number), clock=Calendar()) as memory:
            memory.entries.save("Keeps the ladder behind the shed.", kind="fact")
            near.append([each.piece.why for each in asked(memory, "where is my ladder?").included])

    assert near[0]
    assert near[0] == near[1] == near[2]
