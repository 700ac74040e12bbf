"""Facts, topics, styles and lint from the command line; as a process where a terminal draws."""

import re
from pathlib import Path
from typing import Any

import pytest

from tests.command_line import Run, answer, new_vault
from tests.terminal import on_a_terminal


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    """A new vault."""
    return new_vault(tmp_path / "vault")


def added(run: Run, *words: str) -> dict[str, Any]:
    return dict(answer(run("fact", "add", *words, "--json"))["remembered"])


def objects(run: Run, *words: str) -> list[str]:
    return [each["object"] for each in answer(run("facts", *words, "--json"))["facts"]]


@pytest.mark.requirement("I-55", "I-60", "V-18")
def test_a_new_value_of_a_single_valued_predicate_ends_the_old(run: Run) -> None:
    """Now only the new one is known; as of a day in between, the old one."""
    old = added(run, "Ada", "works_at", "Acme", "--valid-from", "2024-01-01")
    told = run("fact", "add", "Ada", "works_at", "Beta", "--valid-from", "2026-03-01")

    assert f"\n  replaced {old['id'][-6:]}: " in told.stdout
    assert objects(run, "Ada") == ["Beta"]
    assert objects(run, "--entity", "Ada", "--as-of", "2025-06-01", "--known", "now") == ["Acme"]
    assert sorted(objects(run, "Ada", "--all")) == ["Acme", "Beta"]


@pytest.mark.requirement("I-58", "I-69")
def test_facts_are_chosen_by_entity_topic_and_predicate(run: Run) -> None:
    """Many values stand side by side; the list says from when to when each is true."""
    added(run, "Ada", "likes", "green tea", "--topic", "kitchen")
    added(run, "Ada", "likes", "black coffee", "--topic", "kitchen")
    added(run, "Bo", "lives_in", "Kiel", "--valid-from", "2025-01-01", "--valid-until", "2090-01-01")

    assert sorted(objects(run, "Ada")) == ["black coffee", "green tea"]
    assert sorted(objects(run, "--topic", "kitchen", "-n", "1")) in (["black coffee"], ["green tea"])
    assert objects(run, "--predicate", "lives_in") == ["Kiel"]
    assert run("facts", "Bo").stdout.split("  ")[1:4] == ["current", "2025-01-01", "2090-01-01"]
    assert "no facts found" in run("facts", "Nobody").stderr


@pytest.mark.requirement("I-61", "I-62")
def test_a_fact_is_ended_or_deleted(run: Run) -> None:
    """What ended stays true for its time; what is deleted was never true, and the way to erase it is told."""
    stays = added(run, "Ada", "works_at", "Acme", "--valid-from", "2024-01-01")["id"]
    wrong = added(run, "Ada", "likes", "gin")["id"]
    ended = run("fact", "invalidate", stays[-6:], "--at", "2025-03-01")
    deleted = run("fact", "delete", wrong[-6:], "--reason", "another Ada")

    assert ended.stdout.startswith(f"ends 2025-03-01: {stays[-6:]} ")
    assert deleted.stdout.startswith(f"forgot {wrong[-6:]}: ")
    assert f"commonplace erase {wrong[-6:]}" in deleted.stderr
    assert objects(run, "Ada") == []
    assert objects(run, "Ada", "--as-of", "2024-06-01", "--known", "now") == ["Acme"]


@pytest.fixture
def career(run: Run) -> tuple[str, str]:
    """Two values, one after the other."""
    first = added(run, "Ada", "works_at", "Acme", "--valid-from", "2024-01-01")["id"]
    second = added(run, "Ada", "works_at", "Beta", "--valid-from", "2026-03-01")["id"]
    return first, second


@pytest.mark.requirement("I-69")
def test_a_timeline_is_plain_where_nobody_looks(run: Run, career: tuple[str, str]) -> None:
    """A line for each thing that happened; for programs with the facts."""
    first, second = (each[-6:] for each in career)
    lines = [line.split() for line in run("timeline", "Ada").stdout.splitlines()]
    moments = answer(run("timeline", "Ada", "--json"))["timeline"]

    assert [line[:2] for line in lines] == [
        ["2024-01-01", "began"],
        ["2026-03-01", "replaced"],
        ["2026-03-01", "began"],
    ]
    assert lines[1][2:5] == ["by", second, first]
    assert [(each["what"], each["fact"]["object"]) for each in moments] == [
        ("began", "Acme"),
        ("replaced", "Acme"),
        ("began", "Beta"),
    ]


@pytest.mark.usefixtures("career")
@pytest.mark.parametrize("columns", [40, 60, 80, 140])
def test_a_timeline_is_drawn_on_a_terminal(vault: Path, columns: int) -> None:
    """An axis, and a bar for each fact, the second beginning where the first ends; no line is too wide."""
    lines = re.sub(r"\x1b\[[0-9;]*m", "", on_a_terminal("timeline", "Ada", vault=vault, columns=columns)).splitlines()
    ended, goes_on = (next(line for line in lines if mark in line) for mark in ("○", "▶"))

    assert "2025" in lines[0]
    assert "┼" in lines[1]
    assert ended.index("○") == goes_on.index("●")
    assert any("replaced by" in line for line in lines)
    assert max(len(line.rstrip()) for line in lines) <= columns


@pytest.mark.requirement("V-07")
def test_topics_are_listed_with_their_number(run: Run) -> None:
    """And told for a message, by its meaning."""
    added(run, "Ada", "likes", "green tea", "--topic", "kitchen")
    added(run, "Ada", "likes", "black coffee", "--topic", "kitchen")
    listed, programs = run("topics"), answer(run("topics", "--json"))
    inferred = answer(run("topics", "infer", "Ada likes green tea", "--conversation", "c-1", "--json"))

    assert listed.stdout == "kitchen  2\n"
    assert programs["topics"] == [{"name": "kitchen", "documents": 2}]
    assert set(inferred) == {"ok", "topics", "locked", "drifted"}


@pytest.mark.requirement("V-06")
def test_styles_are_listed_and_one_is_chosen_for_a_message(run: Run) -> None:
    """By the context that its note names; the text is printed, its name beside it."""
    run("note", "write", "Agent/styles/Review.md", given="---\ncontexts: [review]\n---\nShort, and kind.\n")
    run("note", "write", "Agent/styles/Plain.md", given="---\ndefault: true\n---\nPlain words.\n")
    listed = run("styles").stdout
    chosen = run("styles", "a review of my pull request")

    assert "Review  review  Short, and kind." in listed
    assert chosen.stdout.strip() == "Short, and kind."
    assert "Agent/styles/Review.md" in chosen.stderr


@pytest.mark.requirement("A-51")
def test_links_around_an_entity_say_what_they_mean(run: Run) -> None:
    """By the words before the link, with no model; one step or more."""
    run("note", "write", "People/Ada.md", given="Ada works at [[Acme]].\n")
    run("note", "write", "People/Acme.md", given="Acme is part of [[Holding]].\n")
    run("note", "write", "People/Holding.md", given="A holding.\n")
    near = answer(run("links", "Ada", "--json"))["links"]
    far = answer(run("links", "Ada", "--hops", "2", "--json"))["links"]

    assert [(each["relation"], each["path"]) for each in near] == [("works_at", "People/Acme.md")]
    assert {each["relation"] for each in far} == {"works_at", "part_of"}
    assert run("links", "Ada").stdout == "People/Ada.md:1  works_at  People/Acme.md\n"
    assert run("links", "Ada", "--all").returncode == 2


def test_lint_has_an_exit_code_and_mends_what_is_safe(run: Run, vault: Path) -> None:
    """0 only when there is nothing; Problems with path and line, and how many of each sort."""
    fine = run("lint")
    added(run, "Ada", "likes", "tea")
    (note,) = vault.glob("Agent/Memory/fact/*/*-??????.md")
    note.write_text("".join(line for line in note.read_text().splitlines(True) if not line.startswith("kind:")))
    broken = run("lint")
    programs = run("lint", "--json")

    assert (fine.returncode, fine.stdout) == (0, "")
    assert broken.returncode == programs.returncode == 1
    assert f"{note.relative_to(vault)}:" in broken.stdout
    assert "entry-key" in broken.stderr
    assert answer(programs)["problem_count"] == len(answer(programs)["problems"]) > 0
