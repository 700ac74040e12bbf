"""What a model is sent of our answers by the real programs: the text once, and no JSON."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

import pytest

from tests.hosts.anthropic_endpoint import ScriptedAnthropic
from tests.hosts.claude_code import run_claude
from tests.hosts.codex import run_codex, settle
from tests.hosts.endpoint import Call, Say, Turn
from tests.hosts.openai_endpoint import ScriptedOpenAI
from tests.hosts.person import Person, robin

pytestmark = pytest.mark.needs("node")

QUESTION: Final = "which board do the sensors use?"
SCRIPT: Final[list[Turn]] = [
    Call("memory_search", {"query": QUESTION}),
    Call("memory_search", {"query": QUESTION, "verbose": True}),
    Call("note_read", {"path": "Nowhere.md"}),
    Say("Good."),
]


@pytest.fixture(scope="module")
def person(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Person]:
    with robin(tmp_path_factory.mktemp("reader")) as person:
        yield person


def check(answers: list[str]) -> None:
    """By default the passages and little else; every field only for whoever asks; an error with its reason."""
    plain, verbose, error = answers[-3:]

    assert "found, best first" in plain
    assert "40 days on one charge" in plain
    assert '"chunk_id"' not in plain.replace("\\", "")
    assert '"chunk_id"' in verbose.replace("\\", "")
    assert len(verbose) > 3 * len(plain)
    assert "missing" in error
    assert "no such note: Nowhere.md" in error
    assert "`commonplace" not in error


def test_claude_code_gives_its_model_the_text_of_an_answer(person: Person) -> None:
    """It drops the text of an answer that has structured content: by default there is none."""
    allowed = ",".join(f"mcp__commonplace__{name}" for name in ("memory_search", "note_read"))
    with ScriptedAnthropic(SCRIPT) as model:
        person.run("install", "claude-code", "--yes")
        words = ("Good morning.", "--allowedTools", allowed)
        ran = run_claude(*words, model=model, environ=person.environ, project=person.project, plugins=())
        person.run("uninstall", "claude-code")

    assert ran.code == 0, ran.errors
    blocks = [block for message in model.turns[-1].body["messages"] for block in blocks_of(message)]
    check([json.dumps(block["content"]) for block in blocks if block.get("type") == "tool_result"])


def test_codex_gives_its_model_the_text_of_an_answer(person: Person) -> None:
    """It sends structured content in place of the text too."""
    with ScriptedOpenAI(SCRIPT) as model:
        settle(person.home, model)
        person.run("install", "codex", "--yes")
        ran = run_codex("Good morning.", environ=person.environ, project=person.project)
        person.run("uninstall", "codex")

    assert ran.code == 0, ran.errors
    items = model.turns[-1].body["input"]
    check([json.dumps(each["output"]) for each in items if each.get("type") == "function_call_output"])


def blocks_of(message: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    content = message["content"]
    return content if isinstance(content, list) else []
