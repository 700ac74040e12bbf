"""The real Claude Code with the plugin of this repository: memory in the prompt, tools, and the session in history."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from tests.hosts.anthropic_endpoint import ScriptedAnthropic
from tests.hosts.claude_code import run_claude
from tests.hosts.endpoint import Say, ScriptedModel, missing_words
from tests.hosts.person import WHO, Person, newcomer, robin
from tests.hosts.programs import PLUGIN, Ran
from tests.hosts.sessions import ANSWER, LEARNED, PROMPT, Session, recorded

pytestmark = pytest.mark.needs("node")

MOST_CHARACTERS: Final = 10_000  # a text that is longer goes into a file instead of the prompt
TOOLS: Final = "mcp__plugin_commonplace_commonplace__"


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    """Robin's session with the plugin."""

    def run(person: Person, model: ScriptedModel) -> Ran:
        allowed = ("--allowedTools", f"{TOOLS}memory_save")
        return run_claude(PROMPT, *allowed, model=model, environ=person.environ, project=person.project)

    with recorded(tmp_path_factory, ScriptedAnthropic, run) as ended:
        yield ended


def noted_by(person: Person, kind: str) -> list[Any]:
    """What hooks gave to the program, of this kind, by its own record of the person's one session."""
    (transcript,) = (person.home / ".claude" / "projects").glob("*/*.jsonl")
    lines = [json.loads(line) for line in transcript.read_text().splitlines()]
    noted = [line["attachment"] for line in lines if line["type"] == "attachment"]
    return [each["content"] for each in noted if each["type"] == kind]


def injected_for(person: Person) -> list[str]:
    """The texts that hooks gave to the model."""
    return [text for content in noted_by(person, "hook_additional_context") for text in content]


def test_memory_is_in_what_claude_code_sends_to_its_model(session: Session) -> None:
    """Who the person is stands there from the start of the session, and the passage that fits comes with the prompt."""
    at_start, at_prompt = injected_for(session.person)

    assert WHO in at_start
    assert "40 days on one charge" in at_prompt
    assert all(text in session.turns[0].text for text in (at_start, at_prompt))


def test_no_more_is_given_to_claude_code_than_it_takes(session: Session) -> None:
    """There is more that is always loaded; we choose from it, where the program would leave out nearly all of it."""
    assert MOST_CHARACTERS // 2 < max(map(len, injected_for(session.person))) <= MOST_CHARACTERS
    assert "persisted-output" not in session.turns[0].text


def test_claude_code_shows_the_person_what_was_recalled(session: Session) -> None:
    """One line for the start and one for the prompt, which the model does not read."""
    lines = noted_by(session.person, "hook_system_message")

    assert len(lines) == 2
    assert all(line.startswith("Commonplace: ") and "recalled" in line for line in lines)
    assert not any(line in turn.text for line in lines for turn in session.turns)


def test_claude_code_tells_its_model_of_our_tools(session: Session) -> None:
    """Their names and what they do, and what the server says of itself."""
    told = session.turns[-1]

    assert {"memory_save", "memory_recall", "memory_search", "note_read"} <= session.model.tools_in(told)
    assert "Commonplace is the long-term memory of the person you work for" in told.text


def test_claude_code_passes_on_what_a_save_is_asked_for(session: Session) -> None:
    """What `about` and `when` are, and when to save at all, reach the model whole."""
    told = next(each for each in session.model.requests if session.model.tools_in(each))

    assert missing_words(told) == []


def test_claude_code_offers_our_skills_to_its_model(session: Session) -> None:
    """Recall, remember and reflect, each with a line that says when."""
    for skill in ("recall", "remember", "reflect"):
        assert f"- commonplace:{skill}: " in session.turns[0].text


def test_a_tool_call_in_claude_code_writes_an_entry(session: Session) -> None:
    """What the model saves is a note in the vault, and the note says where it comes from."""
    (note,) = session.person.entries_with(LEARNED)

    assert "claude-code" in note.read_text()


def test_a_session_of_claude_code_is_in_history_once_and_alone(session: Session) -> None:
    """What the person and the model said, without what hooks and tools added, though two hooks handed it over."""
    assert session.person.said_in("claude-code") == [[("user", PROMPT), ("assistant", ANSWER)]]


def given_after(folder: Path, said: list[tuple[str, ...]]) -> tuple[list[int], int]:
    """How often the session's model was told who the person is, after each of these; and how often a hook gave up."""
    told = []
    with robin(folder) as person, ScriptedAnthropic([]) as model:
        for words in said:
            assert run_claude(*words, model=model, environ=person.environ, project=person.project).code == 0
            told.append(sum(WHO in text for text in injected_for(person)))
        return told, person.skips


@pytest.mark.requirement("A-46")
def test_a_session_of_claude_code_has_its_memory_once_until_it_is_compacted(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """Not again when it is resumed."""
    said = [("The greenhouse?",), ("And now?", "--continue"), ("/compact", "--continue"), ("And then?", "--continue")]
    told, skips = given_after(tmp_path_factory.mktemp("robin"), said)

    assert (told, skips) == ([1, 1, 2, 2], 0)


@pytest.mark.requirement("A-57")
def test_without_a_vault_claude_code_works_as_if_nothing_were_installed(tmp_path: Path) -> None:
    """No daemon, no vault: nothing is put into the prompt, and nothing is said. `bench/waits.py` has the time."""
    ended: list[tuple[int, str, str]] = []

    def ask(*plugins: Path) -> None:
        ran = run_claude("One and one?", model=model, environ=environ, project=tmp_path, plugins=plugins)
        ended.append((ran.code, ran.said, ran.errors))

    with newcomer(tmp_path) as environ, ScriptedAnthropic([Say("Two.")] * 3) as model:
        ask(PLUGIN)  # starts a daemon
        ask(PLUGIN)
        ask()

    assert {*ended} == {(0, "Two.\n", "")}
    assert not any("additional context" in turn.text for turn in model.turns)
