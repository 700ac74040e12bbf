"""Importing other memories and notes into a real vault: what they become, a second time, and what is never touched."""

import json
import shutil
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from commonplace.errors import UsageError
from commonplace.memory import Memory
from commonplace.memory.imports import ImportReport
from tests.import_examples.build import zip_of, zip_of_example
from tests.import_examples.other_memories import database, write_example
from tests.memories import Calendar, make_memory

KINDS = (
    "mcp-memory",
    "mem0",
    "letta",
    "basic-memory",
    "logseq",
    "notion",
    "agentm",
    "donna",
    "istota",
    "vault-operator",
)
COUNTS: dict[str, tuple[dict[str, int], dict[str, int], dict[str, int]]] = {
    "mcp-memory": ({}, {}, {"saved": 15, "refused": 1}),
    "mem0": ({}, {}, {"saved": 8, "refused": 1}),
    "letta": ({"saved": 2}, {"saved": 1}, {"saved": 6}),
    "basic-memory": ({}, {"saved": 3}, {}),
    "logseq": ({}, {"saved": 3, "refused": 1}, {}),
    "notion": ({}, {"saved": 5}, {}),
    "agentm": ({}, {"saved": 3}, {"saved": 4, "staged": 1}),
    "donna": ({"saved": 1}, {"saved": 6}, {"saved": 1}),
    "istota": ({"saved": 2}, {"saved": 3}, {"saved": 8}),
    "vault-operator": ({"saved": 1}, {"saved": 1}, {"saved": 5}),
}
"""Conversations, notes and entries of each example by outcome."""


@pytest.fixture
def calendar() -> Calendar:
    return Calendar(datetime(2026, 11, 16, 9, 0, tzinfo=UTC))


@pytest.fixture
def memory(tmp_path: Path, calendar: Calendar) -> Memory:
    return make_memory(tmp_path, clock=calendar)


def counts(report: ImportReport) -> tuple[dict[str, int], dict[str, int], dict[str, int]]:
    return report.conversations, report.notes, report.entries


def vault_texts(folder: Path) -> dict[str, bytes]:
    vault = folder / "vault"
    return {str(path.relative_to(vault)): path.read_bytes() for path in vault.rglob("*.md")}


def head(folder: Path) -> str:
    command = ["git", "-C", str(folder / "vault"), "rev-parse", "HEAD"]
    return subprocess.run(command, check=False, capture_output=True, text=True).stdout


def write_memories(folder: Path, *memories: dict[str, Any]) -> Path:
    """A file of mem0 with these memories."""
    full = [{"id": str(number), "user_id": "ann", **each} for number, each in enumerate(memories)]
    file = folder / "mem0.json"
    file.write_text(json.dumps(full))
    return file


def write_fact(folder: Path, place: str, known: str, *, valid_from: str = "") -> Path:
    """A database of istota in which the person lives there."""
    source = folder / f"istota-{place}"
    source.mkdir()
    tables = (Path(__file__).parents[2] / "import_examples/istota/istota.sql").read_text().split("INSERT", 1)[0]
    row = f"(1, 'ann', 'ann', 'lives_in', '{place}', '{valid_from}', NULL, 0, 1.0, NULL, 'extracted', '{known}', NULL)"
    (source / "istota.db").write_bytes(database(f"{tables}INSERT INTO knowledge_facts VALUES {row};"))
    return source


def entry_texts(folder: Path) -> str:
    return "\n".join(text.decode() for path, text in vault_texts(folder).items() if path.startswith("Agent/Memory/"))


@pytest.mark.requirement("X-03")
@pytest.mark.parametrize("kind", KINDS)
def test_a_dry_run_says_what_an_import_does_and_a_second_import_changes_nothing(
    kind: str, tmp_path: Path, memory: Memory, calendar: Calendar
) -> None:
    """Who has one of the other memories brings the data along, with a dry run, and may do so again on another day."""
    source = write_example(kind, tmp_path / "source")

    planned = memory.imports.run([source], dry_run=True)
    assert vault_texts(tmp_path) == {}
    first = memory.imports.run([source])
    assert counts(planned) == counts(first) == COUNTS[kind]
    assert [each.kind for each in first.sources] == [kind]
    stored, commit = vault_texts(tmp_path), head(tmp_path)
    calendar.pass_(days=3)
    second = memory.imports.run([source])

    assert not second.has_changes
    assert (vault_texts(tmp_path), head(tmp_path)) == (stored, commit)


def test_secrets_of_another_memory_do_not_come_in(tmp_path: Path, memory: Memory) -> None:
    """An entry or a note with a secret is refused, counted, and told without the secret itself."""
    shapes = {"mcp-memory": "broken.jsonl", "mem0": "broken.json", "logseq": ""}
    named = [write_example(kind, tmp_path / kind) / path for kind, path in shapes.items()]
    reports = [memory.imports.run([each]) for each in named]

    everything = b"".join(vault_texts(tmp_path).values()).decode()
    told = "".join(each.reason for report in reports for each in report.skips)
    for secret in ("AKIAIOSFODNN7QX4TZ2B", "hunter2", "ghp_"):
        assert secret not in everything
        assert secret not in told
    assert [report.entries.get("refused", 0) + report.notes.get("refused", 0) for report in reports] == [1, 1, 1]


def test_imported_entries_hold_at_once_and_are_marked_as_imported(tmp_path: Path, memory: Memory) -> None:
    """The entry names its program, when it was known, and the trust `imported`; it is found at once."""
    file = write_memories(tmp_path, {"memory": "Keeps bees in Amersfoort", "created_at": "2025-01-02T03:04:05Z"})
    memory.imports.run([file])

    (text,) = (text for path, text in vault_texts(tmp_path).items() if "bees" in path)
    assert b"source: {interface: mem0, trust: imported}" in text
    assert b"valid_from: 2025-01-02T03:04:05Z" in text
    assert "Keeps bees in Amersfoort" in memory.search("bees").hits[0].text


def test_the_topics_of_another_memory_are_what_its_entry_is_about(tmp_path: Path, memory: Memory) -> None:
    """They are the words of whoever saved it; many of them are cut, and one that has none says nothing."""
    file = write_memories(
        tmp_path,
        {"memory": "Keeps bees in Amersfoort", "categories": ["animal_care", "hobbies"]},
        {"memory": "Plays the oboe on Sundays", "categories": [f"topic_{number:03}" for number in range(20)]},
        {"memory": "Rows on the lake in spring"},
    )
    memory.imports.run([file])
    held = {each.fact.text.split()[0]: each.fact for each in memory.facts.about()}

    assert (held["Keeps"].about, held["Keeps"].when) == ("animal care, hobbies", "")
    assert held["Plays"].about == ", ".join(f"topic {number:03}" for number in range(10)) + ", topic"
    assert held["Rows"].about == ""


def test_a_second_import_does_not_confirm(tmp_path: Path, memory: Memory, calendar: Calendar) -> None:
    """What is confirmed comes into the standing profile: that an export says it twice is no confirmation."""
    file = write_memories(tmp_path, {"memory": "Keeps bees in Amersfoort"})
    memory.imports.run([file])
    calendar.pass_(days=30)
    memory.imports.run([file])

    assert "confirmed" not in entry_texts(tmp_path)


def test_an_older_memory_does_not_end_what_the_person_told(tmp_path: Path, memory: Memory) -> None:
    """It stands beside it with the day on which the other memory knew it; as a triple it is part of the past."""
    told = memory.entries.save("Lives in Berlin.").fact
    memory.facts.add("me", "lives_in", "Berlin")
    file = write_memories(tmp_path, {"memory": "Lives in Utrecht.", "created_at": "2024-01-02T00:00:00Z"})
    reports = [memory.imports.run([each]) for each in (file, write_fact(tmp_path, "Utrecht", "2024-01-02 00:00:00"))]
    current = {(each.fact.text, each.fact.begins[:10]) for each in memory.facts.about() if not each.fact.predicate}

    assert [each.entries for each in reports] == [{"saved": 1}, {"saved": 1}]
    assert current == {(told.text, "2026-11-16"), ("Lives in Utrecht.", "2024-01-02")}
    assert [each.fact.object for each in memory.facts.about("me", predicate="lives_in")] == ["Berlin"]


def test_an_undated_memory_that_contradicts_the_person_stands_beside_their_word(tmp_path: Path, memory: Memory) -> None:
    """Nobody has said that one ends the other; the entry says where it comes from."""
    memory.entries.save("Lives in Berlin.")
    report = memory.imports.run([write_memories(tmp_path, {"memory": "Lives in Utrecht."})])
    current = {each.fact.text: each.fact.origins.trust for each in memory.facts.about()}

    assert report.entries == {"saved": 1}
    assert current == {"Lives in Berlin.": "told", "Lives in Utrecht.": "imported"}


def test_what_the_person_forgot_does_not_come_back(tmp_path: Path, memory: Memory) -> None:
    """An import of the same file again is no reason to remember what the person asked to forget."""
    file = write_memories(tmp_path, {"memory": "Collects stamps from Suriname"})
    memory.imports.run([file])
    (path,) = (path for path in vault_texts(tmp_path) if "stamps" in path)
    memory.entries.forget(path, reason="wrong")
    report = memory.imports.run([file])

    assert report.entries == {"known": 1}
    assert not memory.reviews.list().entries


def test_a_changed_memory_is_a_new_version_where_it_says_so(tmp_path: Path, memory: Memory, calendar: Calendar) -> None:
    """A triple with one value at a time ends the one before it, which names its successor; a sentence ends nothing."""
    for day, place in (("2025-01-01", "Utrecht"), ("2026-01-01", "Haarlem")):
        sentence = {"memory": f"Lives in {place}.", "created_at": f"{day}T00:00:00Z"}
        said = memory.imports.run([write_memories(tmp_path, sentence)])
        report = memory.imports.run([write_fact(tmp_path, place, f"{day} 00:00:00", valid_from=day)])
        calendar.pass_(days=1)

    assert (said.entries, report.entries) == ({"saved": 1}, {"updated": 1})
    assert entry_texts(tmp_path).count("superseded_by") == 1
    assert len(memory.facts.about()) == 3


def test_a_strangers_file_waits_as_a_whole(tmp_path: Path, memory: Memory) -> None:
    """With `review` nothing that another memory held is recalled until the person approves it."""
    source = write_example("mcp-memory", tmp_path / "source")
    report = memory.imports.run([source / "memory.json"], review=True)

    assert report.entries == {"staged": 8}
    assert not memory.search("Utrecht").hits


def test_always_loaded_entries_of_others_wait(tmp_path: Path, memory: Memory) -> None:
    """A file may not put its words before every prompt: the person approves what agentm loaded always."""
    memory.imports.run([write_example("agentm", tmp_path / "source")])

    waiting = memory.reviews.list().entries
    assert [(each.fact.text, each.fact.always_load) for each in waiting] == [
        ("Prefers terse status lines over paragraphs.", True)
    ]


def test_lines_of_an_imported_note_are_not_the_persons_word(tmp_path: Path, memory: Memory) -> None:
    """Structured lines are facts, with the trust of a program's note."""
    memory.imports.run([write_example("basic-memory", tmp_path / "source")])

    (line,) = (each for each in memory.facts.about("Coffee Brewing") if "Light roasts" in each.fact.text)
    assert line.fact.origins.trust == "said"


def test_a_note_of_the_person_is_never_overwritten(tmp_path: Path, memory: Memory) -> None:
    """A path that is taken is not taken twice: the imported note gets another name, the same in each import."""
    mine = tmp_path / "vault/People/alice.md"
    mine.parent.mkdir(parents=True)
    mine.write_text("# Alice\n\nMy own note.\n")
    source = write_example("donna", tmp_path / "source")
    memory.imports.run([source])
    second = memory.imports.run([source])

    assert mine.read_text() == "# Alice\n\nMy own note.\n"
    assert "Prefers async Slack" in (tmp_path / "vault/People/alice (donna).md").read_text()
    assert second.notes == {"known": 6}


def test_a_changed_source_updates_its_note_unless_it_was_changed_here(tmp_path: Path, memory: Memory) -> None:
    """The stamp says what a note was made from: a newer text replaces it, and the person's edits stay."""
    source = write_example("notion", tmp_path / "source")
    memory.imports.run([source])
    plan = next(source.rglob("Plan aaaa*.md"))
    plan.write_text("# Plan\n\nThe plan has changed.\n")
    home = next(source.rglob("Home*.md"))
    home.write_text("# Home\n\nAll new.\n")
    edited = tmp_path / "vault/Imports/Notion/Home.md"
    edited.write_text(edited.read_text() + "\nMy own remark.\n")
    report = memory.imports.run([source])

    assert report.notes == {"updated": 1, "kept": 1, "known": 3}
    assert "The plan has changed." in (tmp_path / "vault/Imports/Notion/Home/Plan.md").read_text()
    assert "My own remark." in edited.read_text()
    assert memory.imports.run([source]).notes == {"known": 4, "kept": 1}


def test_a_zip_of_zips_is_read_like_the_folder(tmp_path: Path, memory: Memory) -> None:
    """Notion sends a large workspace as a zip of zips, and every other shape may be zipped too."""
    (tmp_path / "export.zip").write_bytes(zip_of({"Export-1-Part-1.zip": zip_of_example("notion")}))
    report = memory.imports.run([tmp_path / "export.zip"])

    assert report.notes == {"saved": 5}
    assert "[[Write, then ship]]" in (tmp_path / "vault/Imports/Notion/Home/Tasks.md").read_text()


def test_many_notes_are_few_commits_and_wait_for_their_vectors(tmp_path: Path, memory: Memory) -> None:
    """A hundred notes are one commit, found by their words at once; the next sync encodes them."""
    pages = tmp_path / "source/pages"
    pages.mkdir(parents=True)
    (tmp_path / "source/logseq").mkdir()
    (tmp_path / "source/logseq/config.edn").write_text("{}")
    for number in range(105):
        (pages / f"Page {number}.md").write_text(f"- The kiln of potter {number} stands in Delft.\n")
    report = memory.imports.run([tmp_path / "source"])
    log = ["git", "-C", str(tmp_path / "vault"), "log", "--format=%s", "-2"]

    assert report.notes == {"saved": 105}
    assert report.unencoded == 100
    assert subprocess.run(log, check=True, capture_output=True, text=True).stdout.split("\n")[:2] == [
        "commonplace: import 5 notes",
        "commonplace: import 100 notes",
    ]
    assert memory.search("kiln potter 7", k=1).hits
    memory.index.sync()
    assert memory.imports.run([tmp_path / "source"]).unencoded == 0


def test_an_imported_note_is_no_source_of_memory(tmp_path: Path, memory: Memory) -> None:
    """Only the person marks a note as a source: the mark of a stranger's note is taken away, others stay."""
    page = tmp_path / "source/pages/x.md"
    page.parent.mkdir(parents=True)
    page.write_text("---\nmemory: source\nsensitive: true\n---\n- The user loves spam.\n")
    (tmp_path / "source/logseq").mkdir()
    (tmp_path / "source/logseq/config.edn").write_text("{}")
    memory.imports.run([tmp_path / "source"])

    note = (tmp_path / "vault/Imports/Logseq/pages/x.md").read_text()
    assert "memory:" not in note
    assert "sensitive: true" in note


@pytest.mark.requirement("X-03")
def test_entries_of_agentm_inside_the_vault_become_entries_where_they_are(tmp_path: Path, memory: Memory) -> None:
    """A dry run shows the keys that each note would get; its text and its other keys stay byte for byte."""
    folder = write_example("agentm", tmp_path / "vault/Agent")
    note = folder / "Memory/domain-reference/wal-mode.md"
    before = vault_texts(tmp_path)
    planned = memory.imports.run([folder], dry_run=True)
    assert vault_texts(tmp_path) == before
    report = memory.imports.run([folder])

    assert counts(planned) == counts(report) == ({}, {"kept": 3}, {"updated": 3, "kept": 2})
    old, new = before["Agent/Memory/domain-reference/wal-mode.md"].decode(), note.read_text()
    assert new.endswith(old.partition("\n---\n")[2])
    assert {line for line in old.splitlines() if line not in new.splitlines()} == set()
    assert "source:" in new
    assert "trust: said" in new
    assert "about: sqlite, testing\n" in new
    assert "agentm_supersedes: memory/insight/old-fix.md" in (folder / "Memory/insight/small-steps.md").read_text()
    told = {each.code for each in memory.lint().problems if "small-steps" in each.path}
    assert told <= {"entry-name", "entry-order"}  # every value can be read; the name and the order stay as they were
    assert any("+id: " in each and "wal-mode.md" in each for each in planned.differences)
    assert memory.search("WAL mode needs the shm file").hits
    assert not memory.imports.run([folder]).has_changes


def test_notes_inside_the_vault_stay_where_they_are(tmp_path: Path, memory: Memory) -> None:
    """Donna's vault uses our folders: naming it imports her database and copies no note."""
    shutil.rmtree(tmp_path / "vault/.git")
    memory = make_memory(tmp_path)
    folder = write_example("donna", tmp_path / "vault")
    report = memory.imports.run([folder])

    assert counts(report) == ({"saved": 1}, {"kept": 6}, {"saved": 1})
    assert not (tmp_path / "vault/Imports").exists()


DAMAGED = {
    "cut.db": database("CREATE TABLE facts (id, text); CREATE TABLE fact_edges (id);")[:3000],
    "empty.db": b"SQLite format 3\x00" + bytes(200),
    "noise.db": b"SQLite format 3\x00" + bytes(range(256)) * 64,
}


@pytest.mark.parametrize("name", DAMAGED)
def test_a_damaged_database_is_refused_with_a_reason(name: str, tmp_path: Path, memory: Memory) -> None:
    """It is not recognised, or a problem says so; nothing is stored."""
    file = tmp_path / name
    file.write_bytes(DAMAGED[name])
    with pytest.raises(UsageError, match="not what"):
        memory.imports.run([file], kind="vault-operator")

    assert vault_texts(tmp_path) == {}


def test_a_database_that_would_run_something_is_only_read(tmp_path: Path, memory: Memory) -> None:
    """A view or a virtual table in the place of a table is not looked at; text that is no UTF-8 is replaced."""
    sql = """
        CREATE TABLE fact_edges (id); CREATE TABLE real (text);
        INSERT INTO real VALUES (CAST(x'4b65657073206265657320ff20616e642068656e73' AS TEXT));
        CREATE VIEW facts AS SELECT text, 1 AS is_latest FROM real;
    """
    (tmp_path / "memory.db").write_bytes(database(sql))
    with pytest.raises(UsageError, match="not what"):
        memory.imports.run([tmp_path / "memory.db"], kind="vault-operator")
    table = sql.replace("CREATE VIEW facts AS", "CREATE TABLE facts AS")
    (tmp_path / "memory.db").write_bytes(database(table))
    report = memory.imports.run([tmp_path / "memory.db"])

    assert report.entries == {"saved": 1}
    assert "Keeps bees � and hens" in entry_texts(tmp_path)


def test_a_database_of_several_people_is_not_imported(tmp_path: Path, memory: Memory) -> None:
    """One person's memory does not get another's facts; the problem names them."""
    sql = (Path(__file__).parents[2] / "import_examples/istota/istota.sql").read_text()
    sql += "INSERT INTO knowledge_facts (user_id, subject, predicate, object) VALUES ('ben', 'ben', 'likes', 'tea');"
    (tmp_path / "istota.db").write_bytes(database(sql))
    report = memory.imports.run([tmp_path / "istota.db"])

    assert counts(report) == ({}, {}, {})
    assert "several people (alice, ben)" in report.problems[0].message


def test_facts_keep_the_time_in_which_they_held(tmp_path: Path, memory: Memory) -> None:
    """A fact of the knowledge graph that ended is history here too, and its successor holds."""
    memory.imports.run([write_example("istota", tmp_path / "source")])

    current = {each.fact.object for each in memory.facts.about("me") if each.fact.predicate == "lives_in"}
    ended = "".join(text.decode() for path, text in vault_texts(tmp_path).items() if "utrecht" in path)
    assert current == {"Haarlem"}
    assert "valid_from: 2024-01-01\nvalid_until: 2025-06-01\n" in ended
    assert "valid_from: 2019-01-01\nvalid_until: 2021-03-01\n" in ended
