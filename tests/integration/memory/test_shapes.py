"""The shapes of answers: memory sends the fields that are declared, and both servers derive their schemas from them."""

from collections.abc import Iterator, Mapping
from typing import Any, Generic, TypeVar

import pytest
from pydantic import ConfigDict, TypeAdapter, with_config
from typing_extensions import TypedDict

from commonplace.memory import Memory, fact_shapes, shapes
from tests.memories import make_memory

Values = Mapping[str, Any]
Shape = TypeVar("Shape")


@with_config(ConfigDict(extra="forbid"))
class _Closed(TypedDict, Generic[Shape]):
    """An answer that may have no undeclared field."""

    answer: Shape


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[type, Values]:
    """One answer of each shape, from a memory with something for each."""
    with make_memory(tmp_path_factory.mktemp("memory")) as memory:
        return dict(_answers(memory))


def _answers(memory: Memory) -> Iterator[tuple[type, Any]]:
    saved = memory.facts.add("Ada", "works_at", "Acme")
    memory.conversations.record([{"role": "user", "content": "Ada left Acme."}], interface="codex", source_id="s")
    answer, context = memory.search("Ada Acme"), memory.context("where does Ada work?", within=None)
    thread, messages = memory.conversations.show(memory.conversations.list()[0].id)
    note, link = memory.notes.read(saved.fact.path), memory.notes.link
    yield shapes.ExplainedSearchShape, shapes.search_shape(answer, explain=True)
    yield shapes.SearchShape, shapes.search_shape(answer)
    yield shapes.HitShape, shapes.hit_shape(answer.hits[0])
    yield shapes.ContextShape, shapes.context_shape(context, link)
    yield fact_shapes.FactShape, fact_shapes.fact_shape(saved.fact, link)
    yield fact_shapes.FactSnapshotShape, fact_shapes.snapshot_shape(memory.facts.about("Ada")[0], link)
    yield fact_shapes.EntryResultShape, fact_shapes.entry_result_shape(saved, link)
    yield fact_shapes.ChainShape, fact_shapes.chain_shape(memory.entries.show(saved.fact.id), link)
    yield fact_shapes.TimelineEventShape, fact_shapes.timeline_event_shape(memory.facts.timeline("Ada")[0], link)
    yield shapes.ThreadShape, shapes.thread_shape(thread)
    yield shapes.MessageShape, shapes.message_shape(1, messages[0])
    yield shapes.NoteShape, shapes.note_shape(note, sensitive=False, link=link(note.path))


@pytest.mark.requirement("D-93")
def test_every_answer_has_the_declared_fields_and_no_other(answers: dict[type, Values]) -> None:
    """Validated strictly, nested objects too: a field that is missing, undeclared or of another type fails."""
    for shape, values in answers.items():
        TypeAdapter(_Closed[shape]).validate_python({"answer": values})  # type: ignore[valid-type]
