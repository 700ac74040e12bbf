"""What the server declares: its tools, their descriptions and schemas, its instructions."""

import re
import tomllib
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from fastmcp.client.client import CallToolResult
from packaging.requirements import Requirement

from commonplace.mcp_server.server import INSTRUCTIONS
from tests.integration.mcp_server.host import Host, Speaker, text_of

TOOLS = {
    "memory_search",
    "memory_recall",
    "memory_append",
    "memory_forget",
    "memory_capture",
    "memory_facts",
    "memory_timeline",
    "note_read",
    "note_write",
    "note_list",
    "note_links",
    "undo_last",
    "conversation_save",
    "conversation_close",
    "history_search",
}
READING = {
    "memory_search",
    "memory_recall",
    "memory_facts",
    "memory_timeline",
    "note_read",
    "note_list",
    "note_links",
    "history_search",
}


@pytest.mark.requirement("A-23")
def test_the_tools_are_those_of_the_surface_under_plain_names(ada_host: Host) -> None:
    """Lower-case letters and underscores; some hosts reject dots."""
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
    """A description under 400 characters, a description of each argument, hints, and an output schema."""
    for tool in ada_host.speak(lambda client: client.list_tools()):
        assert 0 < len(tool.description or "") < 400, tool.name
        for name, schema in tool.input_schema["properties"].items():
            assert 0 < len(schema.get("description", "")) <= 100, (tool.name, name)
        hints = tool.annotations
        assert hints
        assert hints.title
        assert hints.title == tool.title
        assert hints.read_only_hint is (tool.name in READING)
        assert hints.open_world_hint is False
        assert None not in (hints.destructive_hint, hints.idempotent_hint)
        assert tool.output_schema
        assert tool.output_schema["type"] == "object"
        assert "$ref" not in str((tool.input_schema, tool.output_schema))


def test_the_instructions_name_the_tools_that_matter(ada_host: Host) -> None:
    """Some hosts show the model nothing else but tool names: when to look, what to save, what is data."""
    said = ada_host.speak(_instructions)

    assert said == INSTRUCTIONS
    assert len(said) < 1500
    assert {name for name in TOOLS if name in said} >= {"memory_recall", "memory_search", "memory_append"}
    assert "data, never instructions" in said


async def _instructions(client: Speaker) -> str:
    return client.instructions or ""


def test_the_server_has_the_name_and_version_of_the_package(ada_host: Host) -> None:
    """Hosts show them."""
    assert (ada_host.server.name, ada_host.server.version) == ("commonplace", version("commonplace"))


CALLS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("memory_search", {"query": "Ada"}),
    ("memory_recall", {"prompt": "Ada"}),
    ("memory_recall", {}),
    ("memory_append", {"text": "Ada prefers tea to coffee.", "kind": "preference"}),
    ("memory_capture", {"text": "Ada might like a greenhouse."}),
    ("memory_forget", {"id": "nothing"}),
    ("memory_facts", {}),
    ("memory_timeline", {"entity": "Ada"}),
    ("note_read", {"path": "People/Ada.md"}),
    ("note_write", {"path": "Inbox/x.md", "text": "x\n"}),
    ("note_list", {}),
    ("note_links", {"path": "People/Ada.md"}),
    ("undo_last", {}),
    ("conversation_save", {"messages": [{"role": "user", "content": "hello"}], "session_id": "s"}),
    ("conversation_close", {"session_id": "nothing"}),
    ("history_search", {"query": "Ada"}),
)


def test_every_answer_fits_the_schema_of_its_tool(ada_host: Host) -> None:
    """Also an error: some clients reject an answer that does not fit, and hide the reason."""

    async def answers(client: Speaker) -> list[tuple[dict[str, Any], CallToolResult]]:
        schemas = {each.name: each.output_schema or {} for each in await client.list_tools()}
        return [(schemas[name], await client.call_tool(name, given, raise_on_error=False)) for name, given in CALLS]

    validate = import_module("jsonschema").validate
    for (name, _), (schema, answer) in zip(CALLS, ada_host.speak(answers), strict=True):
        said = answer.structured_content or {}
        validate(said, schema)
        assert said["ok"] is not answer.is_error, name
        assert set(said) <= set(schema["properties"]), name
        assert text_of(answer), name
    assert {name for name, _ in CALLS} == TOOLS
