"""Two clones of one vault that remember apart and are merged by plain git: no conflict, one value, problems told."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from commonplace.errors import CommonplaceError
from commonplace.memory import Memory
from tests.gitvault import git
from tests.memories import Calendar, make_memory


def clone(folder: Path, other: Path) -> None:
    other.mkdir()
    subprocess.run(["git", "clone", "--quiet", str(folder / "vault"), str(other / "vault")], check=True)
    for key, value in (("user.name", "Person"), ("user.email", "person@localhost")):
        git(other / "vault", "config", key, value)


def pull(folder: Path, other: Path) -> subprocess.CompletedProcess[str]:
    """Fetch what the other clone has, and merge it as a person would."""
    git(folder / "vault", "config", "user.name", "Person")
    git(folder / "vault", "config", "user.email", "person@localhost")
    git(folder / "vault", "fetch", "--quiet", str(other / "vault"), "HEAD")
    command = ["git", "-C", str(folder / "vault"), "merge", "--quiet", "--no-edit", "FETCH_HEAD"]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def values(memory: Memory, entity: str, predicate: str) -> list[str]:
    return [held.fact.object for held in memory.facts.about(entity, predicate=predicate)]


def test_two_devices_that_change_different_entries_merge_without_a_conflict(tmp_path: Path) -> None:
    """Each adds, confirms, evolves and forgets; plain git joins them; both then know the same, and one value holds."""
    one, two, calendar = tmp_path / "one", tmp_path / "two", Calendar()
    with make_memory(one, clock=calendar) as memory:
        texts = ("Likes tea in the morning.", "Walks to work on Mondays.", "Reads on trains.", "Owns a red bicycle.")
        facts = [memory.entries.save(text, kind="preference").fact for text in texts]
    clone(one, two)
    calendar.pass_(days=1)
    with make_memory(one, clock=calendar) as memory:
        memory.entries.save("Plays the violin badly.", kind="preference")
        memory.entries.confirm(facts[0].id)
        memory.entries.evolve(facts[1].id, "Cycles to work on Mondays.", reason="bought a bicycle")
        memory.facts.add("me", "lives_in", "Berlin", valid_from="2026-03-01")
    calendar.pass_(hours=1)
    with make_memory(two, clock=calendar) as memory:
        memory.index.sync()
        memory.entries.save("Bakes bread at weekends.", kind="preference")
        memory.entries.forget(facts[2].id)
        memory.entries.evolve(facts[3].id, "Owns a blue bicycle.", reason="painted it")
        memory.facts.add("me", "lives_in", "Paris", valid_from="2026-03-02")
    merged = pull(one, two)
    back = pull(two, one)
    told = []
    for folder in (one, two):
        with make_memory(folder, clock=calendar) as memory:
            memory.index.sync()
            current = sorted(held.fact.text for held in memory.facts.about())
            told.append((current, values(memory, "me", "lives_in"), {each.code for each in memory.lint().problems}))

    assert (merged.returncode, back.returncode) == (0, 0)
    assert told[0] == told[1]
    current, lives_in, codes = told[0]
    assert lives_in == ["Paris"]
    assert "competing-claims" in codes
    assert {"Plays the violin badly.", "Bakes bread at weekends.", "Cycles to work on Mondays."} <= set(current)
    assert {"Owns a blue bicycle.", "Likes tea in the morning."} <= set(current)
    assert not {"Reads on trains.", "Walks to work on Mondays.", "Owns a red bicycle."} & set(current)


def test_the_same_entry_changed_on_both_sides_is_a_conflict_that_doctor_shows(tmp_path: Path) -> None:
    """Git's own conflict: reads go on, writes are refused while the merge is open, and the place is told."""
    one, two, calendar = tmp_path / "one", tmp_path / "two", Calendar()
    with make_memory(one, clock=calendar) as memory:
        fact = memory.entries.save("Likes tea in the morning.", kind="preference").fact
    clone(one, two)
    for folder, hours in ((one, 1), (two, 2)):
        calendar.pass_(hours=hours, days=hours)
        with make_memory(folder, clock=calendar) as memory:
            memory.index.sync()
            memory.entries.confirm(fact.id)
    merged = pull(one, two)
    with make_memory(one, clock=calendar) as memory:
        memory.index.sync()
        findings = [finding for finding in memory.index.examine() if not finding.ok]
        with pytest.raises(CommonplaceError):
            memory.entries.save("Something else entirely is true.", kind="preference")

    assert merged.returncode != 0
    assert any(finding.path == fact.path for finding in findings)


_FENCE = re.compile(r"memory-[0-9a-f]{8}")  # another word in each context


def age(folder: Path, *, newest_first: bool) -> None:
    """Give the notes of a clone times of their own: each an hour, in the order of their paths or in the other."""
    notes = sorted((folder / "vault").rglob("*.md"), reverse=newest_first)
    for hours, note in enumerate(notes):
        os.utime(note, (1_600_000_000 + 3600 * hours,) * 2)


def told(folder: Path, calendar: Calendar) -> list[object]:
    """What a clone answers: searches by words, by meaning and by both, facts, lists of sensitive titles, contexts."""
    with make_memory(folder, clock=calendar) as memory:
        memory.index.sync()
        answers: list[object] = []
        for question in ("soil for the garden", "water", "what does Ana like"):
            for mode in ("hybrid", "words", "sense", "rrf"):
                hits = memory.search(question, mode=mode, k=20).hits
                answers.append([(hit.path, hit.line, hit.score, hit.text) for hit in hits])
            answers.append(_FENCE.sub("", memory.context(question, notes="always", within=60).text))
        answers.append([held.fact for held in memory.facts.about()])
        answers.append(_FENCE.sub("", memory.context.start(within=60).text))
    return answers


def test_two_clones_with_other_file_times_answer_alike(tmp_path: Path) -> None:
    """Of notes that fit alike only the path tells the order: neither a file's time nor the order of indexing does."""
    one, two, calendar = tmp_path / "one", tmp_path / "two", Calendar()
    with make_memory(one, clock=calendar) as memory:
        memory.entries.save("Ana likes good soil for her garden.", kind="preference")
    for name in ("Moss", "Ash", "Zinnia", "Fern", "Birch"):
        notes = {
            f"Garden/{name}.md": "# Plant\n\nGood soil for the garden, and water.\n\n- likes [[Ana]]\n",
            f"Private/{name}.md": "---\nmemory: local-only\ntitle: water\n---\nA secret.\n",
        }
        for path, text in notes.items():
            (one / "vault" / path).parent.mkdir(exist_ok=True)
            (one / "vault" / path).write_text(text)
    git(one / "vault", "add", "Garden", "Private")
    git(one / "vault", "-c", "user.name=P", "-c", "user.email=p@localhost", "commit", "--quiet", "-m", "notes")
    clone(one, two)
    age(one, newest_first=True)
    age(two, newest_first=False)

    assert told(one, calendar) == told(two, calendar)
