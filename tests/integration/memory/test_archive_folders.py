"""Archive folders at every tier: out of plain search and of prompts, found when they are asked for."""

import json
from pathlib import Path

import pytest

from commonplace.memory import Memory
from commonplace.model import Terms
from tests.command_line import calling
from tests.integration.mcp_server.host import Host
from tests.memories import make_memory

ARCHIVED = (
    "Projects/_archive/Orchard.md",
    "Projects/Garden/_Archive/Orchard 2019.md",
    "Agent/_archive/Orchard.md",
    "Agent/Memory/_archive/Orchard.md",
)
LIVE = "Projects/Orchard.md"
TEXT = "# Orchard\n\nThe orchard grows quince.\n\n- [grows] quince\n"


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    for path in (*ARCHIVED, LIVE):
        note = tmp_path / "vault" / path
        note.parent.mkdir(parents=True, exist_ok=True)
        note.write_text(TEXT)
    memory = make_memory(tmp_path)
    memory.index.sync()
    return memory


def _paths(memory: Memory, **options: object) -> set[str]:
    return {hit.path for hit in memory.search("which quince does the orchard grow", k=20, **options)}  # type: ignore[arg-type]


@pytest.mark.requirement("A-13")
@pytest.mark.parametrize("mode", ["words", "sense", "hybrid"])
def test_every_archive_is_out_of_plain_search_and_found_on_request(memory: Memory, mode: str) -> None:
    """The person's, a project's and the agent's archives: by words, by meaning, and by both."""
    plain, asked = _paths(memory, mode=mode), _paths(memory, mode=mode, include_archive=True)

    assert plain == {LIVE}
    assert asked == {LIVE, *ARCHIVED}


def test_no_archive_reaches_a_prompt(memory: Memory) -> None:
    """Even a prompt that plainly asks for notes is given none; the live note is there."""
    text = memory.context("my notes: which quince does the orchard grow?", notes="always").text

    assert LIVE.removesuffix(".md") in text
    assert "_archive" not in text.casefold()


def test_a_fact_of_an_archived_note_is_no_longer_current(memory: Memory, tmp_path: Path) -> None:
    """Its structured lines are archived with it; nothing is deleted."""
    paths = {each.fact.path for each in memory.facts.about("Orchard")}

    assert paths <= {LIVE}
    assert all((tmp_path / "vault" / path).read_text() == TEXT for path in ARCHIVED)


def test_an_agent_finds_the_archive_only_if_it_asks_for_it(memory: Memory) -> None:
    """The same over MCP: `source` is `archive`."""
    host = Host(memory)

    def found(**arguments: object) -> set[str]:
        answer = host.ask("memory_search", query="orchard quince", k=20, **arguments)
        return {hit["source_path"] for hit in answer["results"]}

    assert found() == {LIVE}
    assert found(source="archive") == {LIVE, *ARCHIVED}


def test_a_note_that_is_moved_to_an_archive_leaves_search_and_comes_back(memory: Memory) -> None:
    """The index follows a move both ways."""
    memory.notes.move(LIVE, "Projects/_archive/2026/Orchard.md", Terms(personal=True))
    gone = _paths(memory)
    memory.notes.move("Projects/_archive/2026/Orchard.md", LIVE, Terms(personal=True))

    assert gone == set()
    assert _paths(memory) == {LIVE}


def test_the_command_line_finds_the_archive_with_an_option(memory: Memory, tmp_path: Path) -> None:
    """`commonplace search --include-archive`; without it the archive stays closed."""
    run = calling(tmp_path / "vault")

    def found(*options: str) -> set[str]:
        done = run("search", "orchard quince", "--json", "-k", "20", *options)
        return {hit["source_path"] for hit in json.loads(done.stdout)["results"]}

    assert found() == {LIVE}
    assert found("--include-archive") == {LIVE, *ARCHIVED}
