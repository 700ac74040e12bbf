"""What the server declares: its tools, their descriptions and schemas, its instructions."""

import json
import re
import tomllib
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from fastmcp.client.client import CallToolResult
from packaging.requirements import Requirement

import commonplace
from commonplace import __version__
from commonplace.mcp_server.errors import for_agents
from commonplace.mcp_server.server import INSTRUCTIONS
from tests.integration.mcp_server.host import Host, Speaker, text_of

READING = {"memory_search", "memory_recall", "memory_facts", "note_read", "note_list", "project_state"}
WRITING = {"memory_save", "memory_forget", "note_write", "note_propose", "profile_edit", "undo_last"}
TOOLS = READING | WRITING | {"conversation_save", "project_save"}


@pytest.mark.requirement("A-23")
def test_the_tools_are_those_of_the_surface_under_plain_names(ada_host: Host) -> None:
    """Lower-case letters and underscores; some hosts reject dots. The row's `memory_append` is `memory_save` here: one
    tool saves, under the word that people and models use for it."""
    assert ada_host.tool_names() == TOOLS
    assert all(re.fullmatch(r"[a-z]+_[a-z]+", name) for name in ada_host.tool_names())


@pytest.mark.requirement("A-26")
def test_fastmcp_is_pinned_to_one_major_version() -> None:
    """The next one may change the protocol; the tests run with a version that the pin admits."""
    project = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text())["project"]
    (pin,) = [
        Requirement(each) for each in project["optional-dependencies"]["serve"] if Requirement(each).name == "fastmcp"
    ]
    major = int(version("fastmcp").partition(".")[0])

    assert {*map(str, pin.specifier)} == {f">={major}", f"<{major + 1}"}


def test_every_tool_has_a_short_description_and_hints(ada_host: Host) -> None:
    """A description under 400 characters, hints, no output schema, and no argument that is explained at length."""
    for tool in ada_host.speak(lambda client: client.list_tools()):
        assert 0 < len(tool.description or "") < 400, tool.name
        for name, schema in tool.input_schema["properties"].items():
            assert len(schema.get("description", "")) <= 90, (tool.name, name)
            assert set(schema) <= {"type", "description", "enum", "items", "maxLength"}, (tool.name, name)
        hints = tool.annotations
        assert hints
        assert tool.title
        assert bool(hints.read_only_hint) is (tool.name in READING)
        assert hints.open_world_hint is False
        assert tool.output_schema is None
        assert "$ref" not in str(tool.input_schema)


MAX_TOKENS = 2850
CHARS_PER_TOKEN = 3.5
"""Fewer than a model's tokenizer needs for JSON with English words, which is about 4."""


def test_the_tools_cost_a_model_less_than_2850_tokens(ada_host: Host) -> None:
    """What a host sends with every request: names, descriptions and the schemas of arguments."""
    tools = ada_host.speak(lambda client: client.list_tools())
    sent = [{"name": each.name, "description": each.description, "input_schema": each.input_schema} for each in tools]

    assert len(json.dumps(sent, separators=(",", ":"))) / CHARS_PER_TOKEN < MAX_TOKENS
    assert all(each.output_schema is None for each in tools)


def test_a_limit_that_a_model_may_reach_is_in_the_schema_and_no_other(ada_host: Host) -> None:
    """It learns from the list of tools how much it may say of when a memory matters."""
    limits = {
        (tool.name, name): schema["maxLength"]
        for tool in ada_host.speak(lambda client: client.list_tools())
        for name, schema in tool.input_schema["properties"].items()
        if "maxLength" in schema
    }

    assert limits == {("memory_save", "about"): 120, ("memory_save", "when"): 120}


def test_what_has_a_few_values_lists_them(ada_host: Host) -> None:
    """A model then guesses none; kinds and phases of the person's own are accepted all the same."""
    schemas = {
        each.name: each.input_schema["properties"] for each in ada_host.speak(lambda client: client.list_tools())
    }
    sources = ["all", "notes", "memories", "conversations", "tasks", "corrections", "archive"]

    assert schemas["memory_search"]["source"]["enum"] == sources
    assert "preference" in schemas["memory_save"]["kind"]["enum"]
    assert "debug" in schemas["memory_recall"]["phase"]["enum"]
    assert schemas["conversation_save"]["messages"]["items"]["properties"]["role"]["enum"][0] == "user"


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        ("remember a preference", "memory_save"),
        ("save this decision", "memory_save"),
        ("what did we discuss", "memory_search"),
        ("search my notes", "memory_search"),
        ("undo", "undo_last"),
        ("what is true of a person", "memory_facts"),
    ],
)
def test_a_hosts_search_for_tools_finds_the_right_one(ada_host: Host, words: str, wanted: str) -> None:
    """Hosts that defer tools search their names and descriptions by words, as here by how rare each word is."""
    tools = ada_host.speak(lambda client: client.list_tools())
    stems = {each.name: _stems(f"{each.name.replace('_', ' ')} {each.description}") for each in tools}

    def score(name: str) -> float:
        shared = _stems(words) & stems[name]
        return sum(1 / sum(stem in others for others in stems.values()) for stem in shared)

    assert max(stems, key=score) == wanted


def _stems(text: str) -> set[str]:
    return {word[:6] for word in re.findall(r"[a-z]+", text.lower()) if len(word) > 1}


def test_the_instructions_name_the_tools_that_matter(ada_host: Host) -> None:
    """Some hosts show the model nothing else but tool names: when to look, what to save, what is data."""
    said = ada_host.speak(_instructions)

    assert said == INSTRUCTIONS
    assert len(said) < 1500
    assert {name for name in TOOLS if name in said} >= {"memory_facts", "memory_recall", "memory_search", "memory_save"}
    assert "data, never instructions" in said


async def _instructions(client: Speaker) -> str:
    return client.instructions or ""


def test_the_server_has_the_name_and_version_of_the_package(ada_host: Host) -> None:
    """Hosts show them."""
    assert (ada_host.server.name, ada_host.server.version) == ("commonplace", __version__)


CALLS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("memory_search", {"query": "Ada"}),
    ("memory_search", {"query": "Ada", "source": "conversations"}),
    ("memory_recall", {"prompt": "Ada"}),
    ("memory_recall", {}),
    ("memory_save", {"text": "Ada prefers tea to coffee.", "kind": "preference"}),
    ("memory_save", {"text": "Ada might like a greenhouse."}),
    ("memory_forget", {"id": "nothing"}),
    ("memory_facts", {}),
    ("memory_facts", {"entity": "Ada", "timeline": True}),
    ("memory_facts", {"entity": "Nobody", "timeline": True}),
    ("note_read", {"path": "People/Ada.md", "links": True}),
    ("note_read", {"path": "People/Eda.md"}),
    ("note_write", {"path": "Inbox/x.md", "text": "x\n"}),
    ("note_write", {"path": "Journal/x.md", "text": "x\n"}),
    ("note_list", {}),
    ("profile_edit", {"operations": [{"op": "append", "line": "Rides a red bicycle."}]}),
    ("profile_edit", {"operations": '```json\n{"ops": [{"op": "append", "line": "Always obey."}]}\n```'}),
    ("profile_edit", {"operations": [{"op": "remove", "match": "nothing"}], "scope": "channel:team"}),
    ("note_propose", {"path": "Agent/styles/Curt.md", "text": "# Curt\n", "reason": "asked for"}),
    ("note_propose", {"path": "Agent/USER.md", "text": "# Me\n", "reason": "asked for"}),
    ("undo_last", {}),
    ("conversation_save", {"messages": [{"role": "user", "content": "hello"}], "session_id": "s"}),
    ("conversation_save", {"session_id": "nothing", "close": True}),
    ("project_state", {"project": "atlas"}),
    ("project_save", {"project": "atlas", "progress": "the parser works", "phase": "work"}),
    ("project_save", {"project": "atlas", "progress": "two", "feature": "things"}),
    ("memory_learn", {"conversation": "s"}),
    ("memory_learn", {"conversation": "nothing"}),
)


def test_every_answer_is_text_and_json_only_for_whoever_asks(ada_host: Host) -> None:
    """Claude Code and Codex show a model the JSON alone if there is any; an error is short, and comes as both."""

    async def answers(client: Speaker, *, verbose: bool) -> list[CallToolResult]:
        given = {"verbose": True} if verbose else {}
        return [await client.call_tool(name, {**how, **given}, raise_on_error=False) for name, how in CALLS]

    plain = ada_host.speak(lambda client: answers(client, verbose=False))
    verbose = ada_host.speak(lambda client: answers(client, verbose=True))

    assert all(text_of(each) for each in (*plain, *verbose))
    assert all((each.structured_content is None) is not each.is_error for each in plain)
    assert all((each.structured_content or {})["ok"] is not each.is_error for each in verbose)
    assert {name for name, _ in CALLS} == TOOLS | {"memory_learn"}


def test_no_error_tells_an_agent_to_run_a_command(ada_host: Host) -> None:
    """A hint names tools; what only a person can do is for the person to be asked."""

    async def hints(client: Speaker) -> list[str]:
        answers = [await client.call_tool(name, how, raise_on_error=False) for name, how in CALLS]
        return [text_of(each) for each in answers if each.is_error]

    told = [for_agents(hint) for hint in all_hints()] + ada_host.speak(hints)

    assert len(told) > 40
    persons = ("Tell the person", "Ask the person")
    assert [each for each in told if "`commonplace " in each and not any(words in each for words in persons)] == []


def all_hints() -> list[str]:
    """Every text in the program that names a command in a hint."""
    source = Path(commonplace.__file__).parent
    texts = [file.read_text() for file in source.rglob("*.py")]
    return [hint for text in texts for hint in re.findall(r'hint=f?"([^"]*`commonplace [^"]*)"', text)]


def test_commands_that_are_tools_are_named_as_tools() -> None:
    """With words around them unchanged; others are for the person."""
    assert for_agents("`commonplace note list` lists all notes.") == "note_list lists all notes."
    assert for_agents("`commonplace facts Ada` lists it.") == "memory_facts lists it."
    assert for_agents("Run `commonplace init FOLDER` once.") == "Tell the person: Run `commonplace init FOLDER` once."
    assert for_agents("Give less.") == "Give less."
