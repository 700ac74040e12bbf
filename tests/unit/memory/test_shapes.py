"""The shapes of answers: what every door declares is what memory gives."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from commonplace.mcp_server import answers as mcp
from commonplace.memory import Memory, shapes
from commonplace.web import conversation_routes, fact_answers, note_answers, search_answers
from commonplace.web.answers import Shape
from tests.unit.flows.memory import make_memory

Given = dict[str, Any]


@pytest.fixture
def given(tmp_path: Path) -> dict[str, Given]:
    """One answer of each shape, from a memory with something for each."""
    with make_memory(tmp_path) as memory:
        return _answers(memory)


def _answers(memory: Memory) -> dict[str, Given]:
    saved = memory.facts.add("Ada", "works_at", "Acme")
    memory.conversations.record([{"role": "user", "content": "Ada left Acme."}], interface="codex", source_id="s")
    answer, context = memory.search("Ada Acme"), memory.context("where does Ada work?", within=None)
    thread, messages = memory.conversations.show(memory.conversations.list()[0].id)
    note = memory.notes.read(saved.fact.path)
    return {
        "answer": shapes.answer_shape(answer),
        "explained": shapes.answer_shape(answer, explain=True),
        "hit": shapes.hit_shape(answer.hits[0]),
        "context": shapes.context_shape(context),
        "included": shapes.context_shape(context)["included"][0],
        "fact": shapes.fact_shape(saved.fact),
        "held": shapes.held_shape(memory.facts.about("Ada")[0]),
        "remembered": shapes.remembered_shape(saved),
        "chain": shapes.chain_shape(memory.entries.show(saved.fact.id)),
        "moment": shapes.moment_shape(memory.facts.timeline("Ada")[0]),
        "thread": shapes.thread_shape(thread),
        "message": shapes.message_shape(1, messages[0]),
        "note": shapes.note_shape(note, sensitive=False),
    }


BY_HTTP: dict[str, type[Shape]] = {
    "hit": search_answers.HitShape,
    "explained": search_answers.SearchAnswer,
    "context": search_answers.ContextAnswer,
    "included": search_answers.IncludedShape,
    "fact": fact_answers.FactShape,
    "held": fact_answers.HeldShape,
    "remembered": fact_answers.RememberedShape,
    "chain": fact_answers.ChainAnswer,
    "moment": fact_answers.MomentShape,
    "thread": conversation_routes.ThreadShape,
    "message": conversation_routes.MessageShape,
    "note": note_answers.NoteAnswer,
}
BY_MCP: dict[str, type[Any]] = {
    "hit": mcp.HitShape,
    "answer": mcp.SearchAnswer,
    "context": mcp.RecallAnswer,
    "remembered": mcp.SavedAnswer,
}
SOMETIMES = {"ok", "error", "empty", "as_of", "history_begins"}
"""What an answer has when there is something to say, and what each door adds itself."""


@pytest.mark.requirement("D-93")
def test_every_door_declares_the_fields_that_memory_gives_and_no_other(given: dict[str, Given]) -> None:
    """Else an answer by HTTP would be a fault of ours, and one by MCP would hold what no schema tells a model of.

    The path of what was saved is added by MCP itself.
    """
    given_by_mcp = {**given, "remembered": {**given["remembered"], "path": ""}}

    assert {name: declared(BY_HTTP[name].model_fields) for name in BY_HTTP} == fields_of(given, BY_HTTP)
    assert {name: declared(BY_MCP[name].__annotations__) for name in BY_MCP} == fields_of(given_by_mcp, BY_MCP)


def declared(names: Iterable[str]) -> set[str]:
    return set(names) - SOMETIMES


def fields_of(given: dict[str, Given], wanted: Iterable[str]) -> dict[str, set[str]]:
    return {name: declared(given[name]) for name in wanted}
