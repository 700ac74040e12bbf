"""`commonplace install`, and then the real programs: what it wrote is what they read."""

from collections.abc import Callable, Iterator
from typing import Final

import pytest

from tests.hosts.anthropic_endpoint import ScriptedAnthropic
from tests.hosts.claude_code import run_claude
from tests.hosts.codex import run_codex, settle
from tests.hosts.endpoint import Call, Say, ScriptedModel, missing_words
from tests.hosts.gemini import ScriptedGemini, run_gemini, settle_gemini
from tests.hosts.openai_endpoint import ScriptedOpenAI
from tests.hosts.person import WHO, Person, robin
from tests.hosts.programs import Ran

pytestmark = pytest.mark.needs("node")

TRIES: Final = 5
SEARCH: Final = Call("memory_search", {"query": "which board do the sensors use?"})
FOUND: Final = "40 days on one charge"
SKILL: Final = "List what waits for the person's approval"
"""How the skill `review-memory` describes itself to a model."""


@pytest.fixture(scope="module")
def person(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Person]:
    """Robin, who has a daemon, and no plugin anywhere."""
    with robin(tmp_path_factory.mktemp("robin")) as person:
        yield person


@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_what_is_installed_for_claude_code_works_there(transport: str, person: Person) -> None:
    """Memory in the prompt and tools that answer, by either transport."""
    words = ("Good morning.", "--allowedTools", "mcp__commonplace__memory_search")
    with ScriptedAnthropic([SEARCH, Say("Good.")] * TRIES) as model:
        person.run("install", "claude-code", "--transport", transport, "--yes")
        ran = calmly(
            person,
            model,
            lambda: run_claude(*words, model=model, environ=person.environ, project=person.project, plugins=()),
        )
        person.run("uninstall", "claude-code")

    assert (ran.code, ran.said) == (0, "Good.\n"), ran.errors
    assert WHO in model.turns[-1].text
    assert FOUND in model.turns[-1].text
    assert SKILL in model.turns[-1].text


@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_what_is_installed_for_codex_works_there(transport: str, person: Person) -> None:
    """Memory in the prompt and tools that answer, by either transport."""
    with ScriptedOpenAI([SEARCH, Say("Good.")] * TRIES) as model:
        settings = settle(person.home, model)
        before = settings.read_text()
        person.run("install", "codex", "--transport", transport, "--yes")
        ran = calmly(person, model, lambda: run_codex("Good morning.", environ=person.environ, project=person.project))
        person.run("uninstall", "codex")

    assert (ran.code, ran.said) == (0, "Good.\n"), ran.errors
    assert WHO in model.turns[-1].text
    assert FOUND in model.turns[-1].text
    assert SKILL in model.turns[-1].text
    assert settings.read_text() == before


@pytest.mark.requirement("X-16")
def test_a_skill_is_a_command_in_claude_code(person: Person) -> None:
    """What a person types after it goes with its text to the model."""
    words = ("/recall the glass of the greenhouse", "--allowedTools", "mcp__commonplace__memory_search")
    with ScriptedAnthropic([Say("Second-hand.")]) as model:
        person.run("install", "claude-code", "--yes")
        ran = run_claude(*words, model=model, environ=person.environ, project=person.project, plugins=())
        person.run("uninstall", "claude-code")

    assert (ran.code, ran.said) == (0, "Second-hand.\n"), ran.errors
    assert "What the person wrote after the command, if anything, is the question." in model.turns[-1].text
    assert "the glass of the greenhouse" in model.turns[-1].text


@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_what_is_installed_for_gemini_works_there(transport: str, person: Person) -> None:
    """Memory in the prompt, tools that answer and skills, by either transport; and the session is recorded."""
    settings = settle_gemini(person.home)
    before = settings.read_text()
    with ScriptedGemini([SEARCH, Say("Good.")] * TRIES) as model:
        person.run("install", "gemini", "--transport", transport, "--yes")
        ran = calmly(
            person,
            model,
            lambda: run_gemini("Good morning.", model=model, environ=person.environ, project=person.project),
        )
        person.run("uninstall", "gemini")

    assert (ran.code, ran.said.splitlines()[-1]) == (0, "Good."), ran.errors
    assert WHO in model.turns[-1].text
    assert FOUND in model.turns[-1].text
    assert SKILL in model.turns[-1].text
    assert settings.read_text() == before
    assert person.said_in("gemini")[-1] == [("user", "Good morning."), ("assistant", "Good.")]
    assert missing_words(next(each for each in model.requests if model.tools_in(each))) == []


def calmly(person: Person, model: ScriptedModel, session: Callable[[], Ran]) -> Ran:
    """What comes of a session in which no hook gave up and our tools were there in time for the model's first call.

    Other tests may keep the machine busy, and a host does not wait for long.
    """
    for _ in range(TRIES):
        before = person.skips
        ran = session()
        if person.skips == before and FOUND in model.turns[-1].text:
            break
    return ran
