"""The benchmarks of memory, on a real library: candidates, what a session is given, generated entries."""

from pathlib import Path

import pytest
from bench.memory_context import judge
from bench.memory_crowd import write_crowd
from bench.memory_gate import outcome_of
from bench.memory_sets import (
    CandidateMemory,
    LabelledEntry,
    LabelledPrompt,
    Person,
)
from bench.memory_vault import Opener, new_vault, save_entries

from commonplace.model.request import NewEntry

HASHING = {"embedding.provider": "hashing"}
ROBIN = Person(
    "robin",
    (LabelledEntry("r1", "preference", "Rides a green bicycle to the harbour office.", ""),),
    (("Garden/Beans.md", "# Beans\n\nSown in May.\n"),),
    (LabelledPrompt("q1", "obvious", "which bicycle do I ride to the harbour office?", ("r1",), (), (), ""),),
)


def keys_of(note: str) -> list[str]:
    return [line.split(":")[0] for line in note.split("---\n")[1].splitlines()]


@pytest.mark.parametrize(
    ("text", "known", "outcome"),
    [
        ("Keeps bees behind the shed.", "", "added"),
        ("Keeps bees behind the shed.", "Keeps bees behind the shed.", "confirmed"),
        ("The password of the router is hunter2-Zebra9.", "", "refused"),
    ],
)
def test_what_becomes_of_a_candidate_is_told(text: str, known: str, outcome: str) -> None:
    """By what memory holds afterwards, not by what the library says of it."""
    with Opener(HASHING).in_memory() as (memory, clock):
        assert outcome_of(memory, clock, CandidateMemory("g", "keep", text, known))[0] == outcome


def test_a_session_is_given_its_start_and_then_what_it_has_not_read(tmp_path: Path) -> None:
    """The needed entry is there, in one of both or in the own part when the start was left out."""
    new_vault(tmp_path, ROBIN.notes)
    with Opener(HASHING).on_disk(tmp_path) as (memory, clock):
        memory.index.sync()
        saved = save_entries(memory, clock, ROBIN)
        (judged,) = judge(memory, ROBIN, saved)

    assert (saved.missing, saved.refused) == ((), {})
    assert judged.session == judged.alone == ("r1",)


def test_generated_entries_are_as_the_library_writes_them(tmp_path: Path) -> None:
    """The same keys in the same order, in the folder of its kind; and none has a Problem."""
    new_vault(tmp_path)
    write_crowd(tmp_path / "vault", 60)
    made = {path.parent.parent: path.read_text() for path in (tmp_path / "vault/Agent/Memory").rglob("*.md")}
    with Opener(HASHING).on_disk(tmp_path) as (memory, _):
        memory.index.sync()
        linted = memory.lint()
        real = memory.entries.add(NewEntry("Keeps bees behind the shed.", kind="fact")).fact

    note = tmp_path / "vault" / real.path
    assert (linted.problems, linted.entries) == ((), 60)
    assert keys_of(made[note.parent.parent]) == keys_of(note.read_text())
