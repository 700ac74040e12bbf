"""The vault that the benchmark of entries makes is one that the library could have left."""

from collections import Counter
from functools import partial
from pathlib import Path

from bench.entries_vault import HUB, MANY, build, facts_of, notes_of, subjects

from commonplace.app import open_memory
from commonplace.flows.memory.new_entry import new_entry_note
from tests.vaults import make_vault

COUNT = 100


def keys_of(note: bytes) -> list[str]:
    """The keys of a note's frontmatter, in the order in which they stand."""
    return [line.split(":")[0] for line in note.decode().split("---\n")[1].splitlines()]


def test_nothing_is_wrong_with_the_entries_that_are_made(tmp_path: Path) -> None:
    """Every one is read as an entry, and neither its keys nor its chain have a Problem."""
    build(tmp_path / "vault", COUNT)
    with open_memory(tmp_path / "vault", settings={"data": str(tmp_path / "data")}) as memory:
        linted = memory.lint()
        hub = [each for each in memory.facts.about(HUB) if each.fact.subject]  # plain sentences come after them

    assert linted.problems == ()
    assert linted.entries == COUNT
    assert [each.state for each in hub] == ["current"] * (COUNT // 50)


def test_a_superseded_value_has_the_keys_and_the_place_that_the_library_gives_it(tmp_path: Path) -> None:
    """And so has the one that takes its place: the same keys in the same order, all the words of the reason."""
    make_vault(tmp_path / "vault")
    with open_memory(tmp_path / "vault", settings={"data": str(tmp_path / "data")}) as memory:
        add = partial(memory.facts.add, "Ada", "works_at", topics=["coding"], interface="bench")
        add("Acme", valid_from="2021-01-01", valid_until="2099-01-01")
        kept = add("Initech", valid_from="2022-01-01")
    real = {path: path.read_bytes() for path in (tmp_path / "vault/Agent/Memory").rglob("*a*-*.md")}
    (old,) = (note for path, note in real.items() if "_archive" in path.parts)
    (new,) = (note for path, note in real.items() if "_archive" not in path.parts)
    made = {fact.id: fact for fact in facts_of(2_000)}
    ended = next(fact for fact in made.values() if fact.was_valid_until and not fact.supersedes)
    heir = next(fact for fact in made.values() if fact.supersedes and not fact.superseded_by and not fact.valid_until)

    assert keys_of(new_entry_note(ended, tags=())) == keys_of(old)
    assert keys_of(new_entry_note(heir, tags=())) == keys_of(new)
    assert ended.path.startswith("Agent/Memory/_archive/fact/20")
    assert heir.reason.replace(heir.predicate, "works_at") == kept.reason


def test_each_value_ends_where_the_next_begins_and_both_name_each_other() -> None:
    """Only what has one value at a time is superseded."""
    made = {fact.id: fact for fact in facts_of(3_000)}
    ended = [fact for fact in made.values() if fact.status == "superseded"]

    assert len(ended) > 100
    for old in ended:
        new = made[old.superseded_by]
        assert (new.supersedes, new.subject, new.predicate) == (old.id, old.subject, old.predicate)
        assert (old.valid_until, old.superseded_at) == (new.valid_from, new.recorded)
        assert old.predicate not in MANY


def test_a_fiftieth_of_the_entries_is_about_the_hub_and_current() -> None:
    """The others are two thirds statements; the hub is nobody of whom a usual number of facts is known."""
    made = facts_of(3_000)
    hub = [fact for fact in made if fact.subject == HUB]
    kinds = Counter(fact.kind for fact in made)

    assert len(hub) == 60
    assert {fact.status for fact in hub} == {"active"}
    assert {fact.predicate for fact in hub} == set(MANY)
    assert 0.64 < kinds["preference"] / len(made) < 0.67
    assert HUB not in subjects(3_000)


def test_the_same_vault_comes_of_the_same_number() -> None:
    """So that figures of two commits are of the same vault."""
    assert facts_of(300) == facts_of(300)
    assert list(notes_of(300)) == list(notes_of(300))
