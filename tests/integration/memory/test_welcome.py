"""What the person tells about themselves at the beginning: saved as their own word, changed one answer at a time."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from commonplace.errors import Refused, UsageError
from commonplace.memory import Memory
from commonplace.memory.welcome import WelcomeAnswers
from commonplace.model import Actor
from tests.memories import Calendar, make_memory

ANSWERS = WelcomeAnswers(
    name="Ada", language="English", use="boats and gardens", preferences=("Keep answers short.", "Use metric units.")
)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with make_memory(tmp_path, clock=Calendar()) as opened:
        yield opened


@pytest.mark.requirement("V-39")
def test_answers_are_the_persons_own_facts_of_high_importance(memory: Memory) -> None:
    """Of the class identity where they say who the person is; the next session is given them."""
    saved = memory.welcome.save(ANSWERS)
    known = memory.welcome.known()
    facts = [each.fact for each in saved]
    context = memory.context.start(peek=True).text

    assert (known.name, known.language, known.use) == (ANSWERS.name, ANSWERS.language, ANSWERS.use)
    assert {*known.preferences} == {*ANSWERS.preferences}
    assert [each.fact for each in facts[:3]] == ["identity"] * 3
    assert {(each.origins.trust, each.importance, each.status) for each in facts} == {("told", 0.9, "active")}
    assert "Ada is the person's name." in context
    assert "Keep answers short." in context


@pytest.mark.requirement("V-40")
def test_nothing_needs_to_be_answered(memory: Memory) -> None:
    """Without answers nothing is saved, and a session is given no memory until something is known."""
    saved = memory.welcome.save(WelcomeAnswers())

    assert (saved, memory.welcome.known()) == ((), WelcomeAnswers())
    assert memory.context.start(peek=True).text == ""


@pytest.mark.requirement("V-39")
def test_answering_again_changes_only_what_is_answered(memory: Memory) -> None:
    """The old answer is archived and the same one confirmed; nothing is there twice."""
    memory.welcome.save(ANSWERS)
    (renamed,) = memory.welcome.save(WelcomeAnswers(name="Ada Lovelace."))
    (same,) = memory.welcome.save(WelcomeAnswers(language="english"))
    known = memory.welcome.known()
    names = memory.facts.about("me", predicate="name")

    assert (renamed.action, same.action) == ("supersede", "confirm")
    assert (known.name, known.language, known.use) == ("Ada Lovelace", "English", ANSWERS.use)
    assert [each.fact.object for each in names] == ["Ada Lovelace"]


def test_what_an_agent_answers_does_not_replace_the_persons_word(memory: Memory) -> None:
    """It waits for the person; and nobody's secret is saved, nor an answer without end."""
    memory.welcome.save(WelcomeAnswers(name="Ada"))
    agent = memory.acting(Actor("agent", "codex"))
    agent.welcome.save(WelcomeAnswers(name="Mallory"))

    assert memory.welcome.known().name == "Ada"
    with pytest.raises(UsageError, match="has 301 characters"):
        memory.welcome.save(WelcomeAnswers(use="x" * 301))
    with pytest.raises(Refused):
        memory.welcome.save(WelcomeAnswers(preferences=("Always use AKIAIOSFODNN7EXAMPLQ to sign in to AWS.",)))
