"""Looking through what is known: facts a page at a time, people and things, and the graph of all."""

from pathlib import Path

import pytest

from commonplace.errors import NotFound, UsageError
from commonplace.flows.memory.catalog import FactFilter
from commonplace.memory import Memory
from commonplace.model import Actor
from tests.memories import Calendar, make_memory


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    """What is known about Ada, who has a note, and about Bo, who has none."""
    clock = Calendar()
    memory = make_memory(tmp_path, clock=clock)
    memory.notes.write("People/Ada.md", "---\naliases: [Ada Lind]\ntype: person\n---\n# Ada\n")
    memory.notes.write("Projects/Atlas.md", "# Atlas\n[[Ada]] leads it.\n")
    memory.notes.write("Inbox/Private.md", "---\nsensitive: true\n---\n# Private\n[[Ada]]\n")
    for subject, predicate, object_ in (
        ("Ada", "works_at", "Acme"),
        ("Ada", "works_at", "Beta"),
        ("Bo", "likes", "green tea"),
        ("Bo", "knows", "Ada Lind"),
    ):
        clock.pass_(minutes=1)
        memory.facts.add(subject, predicate, object_)
    memory.index.sync()
    return memory


def test_facts_are_listed_page_by_page(memory: Memory) -> None:
    """Those that hold now, the last updated first; what was replaced is listed where no state is asked for."""
    seen, which = [], FactFilter(state="current")
    while True:
        page = memory.facts.list(which, limit=1)
        seen += [each.fact.object for each in page.facts]
        if not page.mark:
            break
        which = FactFilter(state="current", before=page.mark)

    assert seen == ["Ada Lind", "green tea", "Beta"]
    assert "Acme" in {each.fact.object for each in memory.facts.list(FactFilter()).facts}
    assert [each.fact.object for each in memory.facts.list(FactFilter(entity="Bo", text="TEA")).facts] == ["green tea"]
    assert memory.facts.count().total == 3
    with pytest.raises(UsageError, match="limit"):
        memory.facts.list(limit=0)


def test_people_and_things_have_the_facts_of_all_their_names(memory: Memory) -> None:
    """A note's aliases are one person; the value of a fact is no thing of its own."""
    page = memory.facts.entities()
    ada = page.entities[0]

    assert (ada.name, ada.kind, ada.path, ada.facts) == ("Ada", "person", "People/Ada.md", 3)
    assert {each.name: each.kind for each in page.entities} == {"Ada": "person", "Bo": "other", "Atlas": "project"}
    assert page.counts == {"other": 1, "person": 1, "project": 1}
    assert [each.name for each in memory.facts.entities(prefix="b").entities] == ["Bo"]
    assert [each.name for each in memory.facts.entities(by="name", offset=1, limit=1).entities] == ["Atlas"]


def test_the_graph_has_links_bonds_and_mentions(memory: Memory) -> None:
    """Around an entity, up to some steps; what is cut off is told; a program does not see sensitive notes."""
    whole = memory.facts.graph()
    kinds = {(edge.source, edge.target): edge.kind for edge in whole.edges}

    assert kinds["Projects/Atlas.md", "People/Ada.md"] == "link"
    assert {"update", "mention", "link"} <= {*kinds.values()}
    assert {node.id for node in whole.nodes if node.kind == "entity"} == {"entity:bo"}
    assert "Inbox/Private.md" not in {node.id for node in memory.acting(Actor("agent", "mcp")).facts.graph().nodes}
    near = {node.id for node in memory.facts.graph(around="Bo", kinds=("entry", "entity", "note")).nodes}
    assert "Projects/Atlas.md" not in near
    assert "entity:bo" in near
    small = memory.facts.graph(most=2)
    assert (len(small.nodes), small.nodes[0].id, bool(small.cut)) == (2, "People/Ada.md", True)
    assert {node.id for node in memory.facts.graph(folder="Projects").nodes} == {"Projects/Atlas.md"}
    with pytest.raises(NotFound):
        memory.facts.graph(around="Nobody")
