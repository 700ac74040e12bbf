"""The real Codex with the plugin of this repository: memory in the prompt, tools, and the session in history."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.hosts.codex import add_plugin, run_codex, settle
from tests.hosts.endpoint import Say, ScriptedModel, missing_words
from tests.hosts.openai_endpoint import ScriptedOpenAI
from tests.hosts.person import WHO, Person, newcomer
from tests.hosts.programs import Ran
from tests.hosts.sessions import ANSWER, LEARNED, PROMPT, Session, recorded

pytestmark = pytest.mark.needs("node")

MOST_BYTES: Final = 10_000  # 2,500 tokens, as Codex counts them; the middle of a longer text is left out


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    """Robin's session with the plugin."""

    def run(person: Person, model: ScriptedModel) -> Ran:
        settle(person.home, model)
        add_plugin(person.environ, person.home)
        return run_codex(PROMPT, environ=person.environ, project=person.project)

    with recorded(tmp_path_factory, ScriptedOpenAI, run) as ended:
        yield ended


def injected_into(session: Session) -> list[str]:
    """The texts that hooks gave to the program, by its own record of the session."""
    (transcript,) = (session.person.home / ".codex" / "sessions").glob("*/*/*/*.jsonl")
    lines = [line for line in transcript.read_text().splitlines() if '"hooks.additional_context"' in line]
    return [part["text"] for line in lines for part in json.loads(line)["payload"]["content"]]


def test_memory_is_in_what_codex_sends_to_its_model(session: Session) -> None:
    """Who the person is stands there from the start of the session, and the passage that fits comes with the prompt."""
    at_start, at_prompt = injected_into(session)

    assert WHO in at_start
    assert "40 days on one charge" in at_prompt
    assert all(text in session.turns[0].text for text in (at_start, at_prompt))


def test_no_more_is_given_to_codex_than_it_takes(session: Session) -> None:
    """There is more that is always loaded; we choose from it, where the program would cut out the middle."""
    sizes = [len(text.encode()) for text in injected_into(session)]

    assert MOST_BYTES // 2 < max(sizes) <= MOST_BYTES
    assert not any("truncated output" in text for text in injected_into(session))


def test_codex_does_not_tell_its_model_what_it_shows_the_person(session: Session) -> None:
    """The line about what was recalled is for the screen alone."""
    assert not any("recalled:" in turn.text for turn in session.turns)


def test_codex_tells_its_model_of_our_tools(session: Session) -> None:
    """Their names and what they do, and what the server says of itself."""
    told = session.turns[-1]

    assert {"memory_save", "memory_recall", "memory_search", "note_read"} <= session.model.tools_in(told)
    assert "Commonplace is the long-term memory of the person you work for" in told.text


def test_codex_passes_on_what_a_save_is_asked_for(session: Session) -> None:
    """What `about` and `when` are, and when to save at all, reach the model whole."""
    told = next(each for each in session.model.requests if session.model.tools_in(each))

    assert missing_words(told) == []


def test_codex_offers_our_skills_to_its_model(session: Session) -> None:
    """Recall, remember and reflect, each with a line that says when."""
    for skill in ("recall", "remember", "reflect"):
        assert f"- commonplace:{skill}: " in session.turns[0].text


def test_a_tool_call_in_codex_writes_an_entry(session: Session) -> None:
    """What the model saves is a note in the vault, and the note says where it comes from."""
    (note,) = session.person.entries_with(LEARNED)

    assert "codex" in note.read_text()


def test_codex_has_nothing_to_say_against_our_hooks(session: Session) -> None:
    """All that run in such a session end well, in the time that Codex gives them."""
    for event in ("SessionStart", "UserPromptSubmit", "Stop"):
        assert f"hook: {event} Completed" in session.ran.errors
    assert not any(word in session.ran.errors for word in ("hook: SessionEnd Failed", "clamping", "timed out"))


def test_a_session_of_codex_is_in_history_once_and_alone(session: Session) -> None:
    """What the person and the model said, without what hooks and tools added, though two hooks handed it over."""
    assert session.person.said_in("codex") == [[("user", PROMPT), ("assistant", ANSWER)]]


@pytest.mark.requirement("A-57")
def test_without_a_vault_codex_works_as_if_nothing_were_installed(tmp_path: Path) -> None:
    """No daemon, no vault: nothing is put into the prompt, and nothing is said. `bench/waits.py` has the time."""
    bare_home, home = tmp_path / "bare", tmp_path / "home"
    bare_home.mkdir()
    home.mkdir()
    ended: list[tuple[int, str]] = []

    def ask(home: Path) -> None:
        ran = run_codex("One and one?", environ={**environ, "HOME": str(home)}, project=tmp_path)
        ended.append((ran.code, ran.said))

    with newcomer(home) as environ, ScriptedOpenAI([Say("Two.")] * 3) as model:
        settle(bare_home, model)
        settle(home, model)
        add_plugin(environ, home)
        ask(home)  # starts a daemon
        ask(home)
        ask(bare_home)

    assert {*ended} == {(0, "Two.\n")}
    assert not any("<memory-" in turn.text for turn in model.turns)
