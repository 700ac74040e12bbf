"""What a conversation has been given does not come again: by prompts, a start, a restart; what it missed does."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from commonplace.flows.context import build, facts
from commonplace.history.base import ContextState
from commonplace.memory import Memory
from tests.late_parts import make_late
from tests.memories import Calendar, make_memory

LONG = 60.0
TEA = "Prefers green tea to coffee."
GUTTER = "The gutter is blocked by leaves."
ABOUT_TEA = "make my green tea, no coffee"
ABOUT_GUTTER = "clear the gutter of our leaves"


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    """A vault with a note of the person's own and one entry."""
    user = tmp_path / "vault" / "Agent" / "USER.md"
    user.parent.mkdir(parents=True)
    user.write_text("Writes British English.\n")
    with make_memory(tmp_path, clock=Calendar()) as opened:
        opened.entries.save(TEA, kind="preference")
        yield opened


def prompt(memory: Memory, text: str, name: str = "c-1", **asked: Any) -> str:
    """What this prompt of a conversation is given."""
    return memory.context(text, conversation=name, **({"within": None} | asked)).text


def start(memory: Memory, name: str = "c-1", **asked: Any) -> str:
    return memory.context.start(conversation=name, **({"within": None} | asked)).text


def test_a_session_is_given_its_profile_once_at_its_start(memory: Memory) -> None:
    """Neither a second start nor a prompt about the same repeats it; another conversation gets its own."""
    first, again, asked, other = start(memory), start(memory), prompt(memory, ABOUT_TEA), start(memory, "c-2")

    assert all(words in first and words in other for words in (TEA, "British English"))
    assert (again, asked) == ("", "")


def test_the_first_prompt_of_a_conversation_has_the_profile_if_its_start_was_missed(memory: Memory) -> None:
    """With what the prompt needs, each said once; the second has neither."""
    first, second = prompt(memory, "write a haiku about rain"), prompt(memory, ABOUT_TEA)

    assert (first.count(TEA), first.count("British English")) == (1, 1)
    assert second == ""


def test_without_a_conversation_each_prompt_has_the_profile_unless_it_is_not_wanted(memory: Memory) -> None:
    """Nobody knows then what the model has."""
    twice = [memory.context("write a haiku about rain", within=None).text for _ in range(2)]
    alone = memory.context("write a haiku about rain", within=None, profile=False).text

    assert all(TEA in text for text in twice)
    assert alone == ""


def test_what_was_learnt_since_comes_with_a_prompt_about_it_and_only_once(memory: Memory) -> None:
    """It was in no profile that the session has."""
    start(memory)
    memory.entries.save(GUTTER, kind="fact")
    asked, again = prompt(memory, ABOUT_GUTTER), prompt(memory, f"{ABOUT_GUTTER}, today")

    assert GUTTER in asked
    assert TEA not in asked
    assert again == ""


def test_a_changed_note_of_the_persons_own_comes_again(memory: Memory, tmp_path: Path) -> None:
    """Its new text holds from now on; an unchanged one does not come."""
    start(memory)
    (tmp_path / "vault" / "Agent" / "USER.md").write_text("Writes American English.\n")

    assert "American English" in prompt(memory, "write a haiku about rain")
    assert prompt(memory, "write a haiku about snow") == ""


def test_after_a_compaction_all_of_it_is_given_again(memory: Memory) -> None:
    """`forget` says that the model no longer has it; the prompts before are still known."""
    start(memory)
    prompt(memory, "plan the rows of the vegetable bed")
    memory.context.forget("c-1")

    assert memory.context.given("c-1").prompts == ("plan the rows of the vegetable bed",)
    assert TEA in start(memory)
    assert start(memory) == ""
    memory.context.forget("unknown")
    assert memory.context.given("unknown") == ContextState("unknown")


def test_a_restart_of_the_program_does_not_give_it_again(memory: Memory, tmp_path: Path) -> None:
    """What was given is in the history on this device."""
    start(memory)
    memory.close()
    with make_memory(tmp_path, clock=Calendar()) as reopened:
        again, asked = start(reopened), prompt(reopened, ABOUT_TEA)
        other = start(reopened, "c-2")

    assert (again, asked) == ("", "")
    assert TEA in other


def test_a_peek_records_nothing(memory: Memory) -> None:
    """Not that the profile was given, nor the prompt."""
    assert TEA in start(memory, peek=True)
    assert TEA in prompt(memory, ABOUT_TEA, peek=True)
    assert memory.context.given("c-1") == ContextState("c-1")
    assert TEA in start(memory)


def test_of_a_private_conversation_only_what_every_session_is_given_is_recorded(memory: Memory) -> None:
    """Its profile, so that it does not come again; no prompt, and nothing that a prompt brought."""
    start(memory, private=True)
    before = memory.context.given("c-1")
    memory.entries.save(GUTTER, kind="fact")
    asked = prompt(memory, ABOUT_GUTTER, private=True)

    assert GUTTER in asked
    assert start(memory, private=True) == ""
    assert memory.context.given("c-1") == before
    assert before.given
    assert (before.prompts, before.missed) == ((), "")
    assert {held.uses for held in memory.facts.about("", limit=9)} == {0}


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str, str], threading.Event]]:
    """Makes a step of the flow wait until the event that comes back is set; the part with that step is late."""
    events: list[threading.Event] = []

    def hold(step: str, part: str) -> threading.Event:
        go_on, original = threading.Event(), getattr(build, step)

        def slowly(*arguments: Any, **more: Any) -> Any:
            go_on.wait(LONG)
            return original(*arguments, **more)

        monkeypatch.setattr(build, step, slowly)
        make_late(part, monkeypatch, until=go_on)
        events.append(go_on)
        return go_on

    yield hold
    for event in events:
        event.set()


def test_what_recall_missed_comes_with_the_next_prompt(
    memory: Memory, slow: Callable[[str, str], threading.Event]
) -> None:
    """Whatever that one is, and only once; the late context says what was late."""
    start(memory)
    memory.entries.save(GUTTER, kind="fact")
    ready = slow("entry_pieces", "recall")
    late = memory.context(ABOUT_GUTTER, conversation="c-1")
    missed = memory.context.given("c-1").missed
    ready.set()
    thanks, again = prompt(memory, "thanks"), prompt(memory, "thanks again")

    assert (late.text, late.late, missed) == ("", ("recall",), ABOUT_GUTTER)
    assert GUTTER in thanks
    assert again == ""
    assert memory.context.given("c-1").missed == ""


def test_a_profile_that_was_not_ready_is_given_next_time(
    memory: Memory, slow: Callable[[str, str], threading.Event]
) -> None:
    """The rest came in time and does not come again."""
    ready = slow("profile_pieces", "profile")
    late = memory.context.start(conversation="c-1")
    ready.set()
    asked = prompt(memory, "write a haiku about rain")

    assert ("British English" in late.text, TEA in late.text, late.late) == (True, False, ("profile",))
    assert ("British English" in asked, TEA in asked) == (False, True)


def test_a_context_that_nobody_read_is_taken_back(memory: Memory) -> None:
    """The conversation has what it had before, and its next prompt brings what that one asked for."""
    start(memory)
    memory.entries.save(GUTTER, kind="fact")
    before = memory.context.given("c-1")
    unread = prompt(memory, ABOUT_GUTTER)
    memory.context.take_back(before, prompt=ABOUT_GUTTER)
    read = prompt(memory, "thanks")

    assert GUTTER in unread
    assert GUTTER in read
    assert TEA not in read


def test_a_briefing_leaves_the_profile_for_the_next_prompt(memory: Memory) -> None:
    """It goes without the person's memory, so the conversation does not have it yet."""
    briefing = prompt(memory, ABOUT_TEA, phase="briefing")
    later = prompt(memory, "what is new?")

    assert "British English" not in briefing
    assert "British English" in later


def test_a_kept_prompt_holds_no_secret(memory: Memory) -> None:
    """The history keeps the last prompts of a conversation for follow-ups, as it keeps what was said."""
    prompt(memory, "use the token ghp_Zk4vN8qRt2LwXc6YbH1mJ9dPf5sGa3Ue7iTo for my tea order")
    (kept,) = memory.context.given("c-1").prompts

    assert "ghp_" not in kept
    assert "tea order" in kept


def test_a_session_that_is_compacted_while_a_prompt_is_answered_has_only_that_answer(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was given before the compaction is not recorded anew."""
    start(memory)
    original = facts.entry_pieces

    def compacting(*arguments: Any) -> Any:
        memory.context.forget("c-1")
        return original(*arguments)

    monkeypatch.setattr(build, "entry_pieces", compacting)
    prompt(memory, "a prompt about nothing that is known")

    assert TEA in start(memory)
