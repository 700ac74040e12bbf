"""Screening on the way into memory: narration is stripped, unknown kinds are refused, a person's own kinds are not."""

from pathlib import Path

import pytest

from commonplace.errors import Refused, UsageError
from commonplace.model import KINDS
from tests.memories import make_memory


@pytest.mark.requirement("V-04")
def test_a_bullet_or_label_is_stripped_and_the_answer_shows_what_was_saved(tmp_path: Path) -> None:
    """The same statement with another label confirms it; who said it, and how sure they were, are words of it."""
    with make_memory(tmp_path, actor="agent") as memory:
        saved = memory.entries.save("For the record: the cat is called Otto.", kind="fact")
        again = memory.entries.save("- Note: The cat is called Otto.", kind="fact")
        doubted = memory.entries.save("As far as I know, the cat is called Otto.", kind="fact")

    assert saved.fact.text == "The cat is called Otto."
    assert "the-cat-is-called-otto" in saved.fact.path
    assert (again.action, again.fact.id) == ("confirm", saved.fact.id)
    assert (doubted.action, doubted.fact.text) == ("insert", "As far as I know, the cat is called Otto.")


def test_what_only_tells_of_the_session_is_refused_with_the_reason(tmp_path: Path) -> None:
    """The reason is a sentence for the agent, and nothing is written."""
    with make_memory(tmp_path, actor="agent") as memory, pytest.raises(Refused) as raised:
        memory.entries.save("The assistant explained how tides work.", kind="fact")

    assert "it only tells what happened in the conversation" in str(raised.value)
    assert raised.value.reason == "junk"
    assert not list((tmp_path / "vault").rglob("*tides*"))


def test_an_unknown_kind_is_refused_with_the_list_and_a_kind_of_the_settings_is_not(tmp_path: Path) -> None:
    """The hint lists every kind that may be used."""
    with make_memory(tmp_path, settings={"facts.kinds": ["recipe"]}) as memory:
        with pytest.raises(UsageError) as raised:
            memory.entries.save("Prefers tea.", kind="taste")
        saved = memory.entries.save("Bread: 500 g of flour, 350 g of water.", kind="recipe")

    assert all(kind in (raised.value.hint or "") for kind in (*KINDS, "recipe"))
    assert saved.fact.path.startswith("Agent/Memory/recipe/")


def test_an_entry_with_a_kind_of_its_own_is_read_and_can_be_replaced(tmp_path: Path) -> None:
    """A person may write any kind into a note: it is found by it, and a new version keeps it."""
    with make_memory(tmp_path) as memory:
        fact = memory.entries.save("Bread has 350 g of water.", kind="fact").fact
        file = tmp_path / "vault" / fact.path
        file.write_text(file.read_text().replace("kind: fact", "kind: recipe"))
        memory.index.sync()
        (hit, *_) = memory.entries.recall("bread", kinds=["recipe"]).hits
        evolved = memory.entries.evolve(fact.id, "Bread has 375 g of water.", reason="tried it")

    assert hit.path == fact.path
    assert evolved.fact.kind == "recipe"
