"""The vault's notes alone are enough: a rebuild, and another machine's index, know what the first one knew."""

import random
from pathlib import Path

import pytest

from commonplace.errors import CommonplaceError
from commonplace.memory import Memory
from tests.memories import Calendar, make_memory

PEOPLE = ("Ada", "Jonas", "me")
PLACES = ("Berlin", "Paris", "Oslo")
TEXTS = ("Likes tea.", "Likes green tea.", "Walks to work.", "Reads on trains.", "Bakes bread.", "Plays chess at noon.")


def live(memory: Memory, calendar: Calendar, chance: random.Random) -> None:
    """Do one thing that a person might do, whatever comes of it."""
    calendar.pass_(hours=chance.randrange(1, 40))
    ids = [held.fact.id for held in memory.facts.about(every=True) if held.fact.origin == "entry"]
    some = chance.choice(ids) if ids else "none"
    day = f"2026-0{chance.randrange(1, 6)}-1{chance.randrange(9)}"
    verbs = (
        lambda: memory.entries.save(chance.choice(TEXTS), kind="preference", topics=[chance.choice(("food", "work"))]),
        lambda: memory.facts.add(chance.choice(PEOPLE), "lives_in", chance.choice(PLACES), valid_from=day),
        lambda: memory.facts.add(chance.choice(PEOPLE), "likes", chance.choice(PLACES)),
        lambda: memory.entries.evolve(some, f"Prefers {chance.choice(PLACES)} in May {chance.random()}.", reason="why"),
        lambda: memory.entries.confirm(some),
        lambda: memory.entries.forget(some),
        lambda: memory.facts.end(some),
        lambda: memory.notes.undo(),
        lambda: memory.notes.write(
            f"People/{chance.choice(PEOPLE)}.md", f"- lives_in [[{chance.choice(PLACES)}]]\n- [skill] knows Go #work\n"
        ),
    )
    try:
        chance.choice(verbs)()
    except CommonplaceError:
        return


def told(memory: Memory) -> dict[str, object]:
    """All that memory says of facts, edges, topics and versions."""
    facts = memory.facts.about(every=True, limit=1000)
    return {
        "facts": facts,
        "chains": [memory.entries.show(held.fact.id) for held in facts],
        "then": memory.facts.about(as_of="2026-03-20"),
        "known": memory.facts.about(known="2026-03-20"),
        "topics": memory.topics.list(),
        "infer": memory.topics.infer("green tea and bread"),
        "links": [
            memory.facts.links(name, hops=2) for name in ("Ada", "Jonas") if memory.facts.about(name, every=True)
        ],
        "problems": memory.lint().problems,
        "hits": [(hit.chunk_id, hit.score) for hit in memory.search("tea Berlin lives likes", include_archive=True)],
    }


@pytest.mark.parametrize("seed", range(2))
def test_a_rebuild_from_the_vault_alone_knows_the_same(tmp_path: Path, seed: int) -> None:
    """Facts, edges, topics, versions and hits; and so does an index that is made elsewhere from the same files."""
    calendar, chance = Calendar(), random.Random(seed)
    with make_memory(tmp_path, clock=calendar) as memory:
        for _ in range(30):
            live(memory, calendar, chance)
        memory.index.sync()
        before = told(memory)
        memory.index.rebuild()
        after = told(memory)
    with make_memory(tmp_path, clock=calendar, settings={"data": str(tmp_path / "elsewhere")}) as other:
        other.index.sync()
        elsewhere = told(other)

    assert len(memory_facts(before)) > 8
    assert after == before
    assert elsewhere == before


def memory_facts(said: dict[str, object]) -> tuple[object, ...]:
    facts = said["facts"]
    assert isinstance(facts, tuple)
    return facts


@pytest.mark.parametrize("seed", range(2))
def test_at_most_one_value_of_a_single_valued_predicate_is_current(tmp_path: Path, seed: int) -> None:
    """Whatever was done, in whatever order, and on every day that is asked for."""
    calendar, chance = Calendar(), random.Random(100 + seed)
    with make_memory(tmp_path, clock=calendar) as memory:
        for _ in range(30):
            live(memory, calendar, chance)
        days = ("", *(f"2026-0{month}-15" for month in range(1, 7)))
        held = [
            [each.fact.object for each in memory.facts.about(name, predicate="lives_in", as_of=day, known=known)]
            for name in PEOPLE
            for day in days
            for known in ("", "2026-03-15")
        ]

    assert any(held)
    assert max(map(len, held)) == 1
