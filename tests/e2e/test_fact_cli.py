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

    assert f"\n  ended {old['id'][-6:]}: Ada works at Acme.\n" in told.stdout
    assert objects(run, "Ada") == ["Beta"]
    assert objects(run, "--entity", "Ada", "--as-of", "2025-06-01") == ["Acme"]
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


def test_a_triple_says_what_it_is_about_and_when_it_matters(run: Run) -> None:
    """`facts --about` finds it, together with other filters or alone; not together with a prompt."""
    held = added(run, "Ada", "works_at", "Acme", "--about", "where Ada works", "--when", "letters to her office")
    added(run, "Bo", "works_at", "Beta", "--about", "where Bo works")
    alone, both = objects(run, "--about", "OFFICE"), objects(run, "Bo", "--about", "works")
    refused = run("facts", "--prompt", "Where does Ada work?", "--about", "office")

    assert (held["fact"]["about"], held["fact"]["when"]) == ("where Ada works", "letters to her office")
    assert (alone, both, objects(run, "--about", "%")) == (["Acme"], ["Beta"], [])
    assert (refused.returncode, "--prompt cannot be combined" in refused.stderr) == (2, True)


@pytest.mark.requirement("I-61", "I-62")
def test_a_fact_is_ended_or_forgotten(run: Run) -> None:
    """What ended stays true for its time; what is forgotten was never true, and the way to erase it is told."""
    stays = added(run, "Ada", "works_at", "Acme", "--valid-from", "2024-01-01")["id"]
    wrong = added(run, "Ada", "likes", "gin")["id"]
    ended = run("fact", "end", stays[-6:], "--at", "2025-03-01")
    deleted = run("forget", wrong[-6:], "--reason", "another Ada")

    assert ended.stdout.startswith(f"ends 2025-03-01: {stays[-6:]} ")
    assert deleted.stdout.startswith(f"forgot {wrong[-6:]}: ")
    assert f"commonplace erase {wrong[-6:]}" in deleted.stderr
    assert objects(run, "Ada") == []
    assert objects(run, "Ada", "--as-of", "2024-06-01") == ["Acme"]


@pytest.fixture
def career(run: Run) -> tuple[str, str]:
    """Two values, one after the other."""
    first = added(run, "Ada", "works_at", "Acme", "--valid-from", "2024-01-01")["id"]
    second = added(run, "Ada", "works_at", "Beta", "--valid-from", "2026-03-01")["id"]
    return first, second


@pytest.mark.requirement("X-09")
def test_every_answer_about_facts_has_the_link_that_opens_their_notes(run: Run, career: tuple[str, str]) -> None:
    """Results of a change, lists, chains, timelines, recalled entries and contexts."""
    added = answer(run("save", "Ada drinks green tea.", "--kind", "preference", "--json"))["remembered"]["fact"]
    chain = answer(run("show", career[1], "--json"))
    moments = answer(run("timeline", "Ada", "--json"))["timeline"]
    facts = [
        added,
        chain["fact"],
        *chain["versions"],
        *answer(run("facts", "Ada", "--all", "--json"))["facts"],
        *(each["fact"] for each in moments),
    ]
    recalled = answer(run("recall", "green tea", "--json"))["results"]
    included = answer(run("context", "What does Ada drink?", "--json"))["included"]

    assert {each["link"] for each in facts} == {_opens(each["path"]) for each in facts}
    assert [each["link"] for each in recalled] == [_opens(each["source_path"]) for each in recalled] != []
    assert _opens(added["path"]) in {each["link"] for each in included}


def _opens(path: str) -> str:
    return f"obsidian://open?vault=vault&file={path.removesuffix('.md').replace('/', '%2F')}"


def test_a_terminal_opens_the_notes_of_facts_with_a_click(run: Run, vault: Path, career: tuple[str, str]) -> None:
    """The id of an entry, the path of a line, the path in a chain; plain where a terminal knows no links."""
    (vault / "People.md").write_text("# People\n\n- [relation] Ada | knows | Bo (colleague)\n- knows [[Bo]]\n")
    run("sync")
    path = answer(run("show", career[1], "--json"))["fact"]["path"]

    def shown(*words: str, **variables: str) -> str:
        return on_a_terminal(*words, vault=vault, variables={"NO_COLOR": "", "TERM": "xterm-256color", **variables})

    def linked(path: str, words: str) -> re.Pattern[str]:
        address = re.escape(_opens(path))
        return re.compile(rf"\033\]8;id=\d+;{address}\033\\(?:\033\[[\d;]*m)*{re.escape(words)}\033")

    assert linked(path, career[1][-6:]).search(shown("facts", "Ada"))
    assert linked("People.md", "People.md:4").search(shown("facts", "People"))
    assert linked(path, path).search(shown("show", career[1]))
    assert linked("People.md", "People.md").search(shown("note", "list"))
    assert linked("People.md", "People.md").search(shown("note", "read", "People.md"))
    assert linked(path, career[1][-6:]).search(shown("facts", "Ada", NO_COLOR="1"))  # a link is no colour
    assert "\033]8" not in shown("facts", "Ada", TERM="linux") + shown("note", "list", TERM="dumb")


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


def test_a_part_of_a_name_is_taken_for_the_only_one_that_has_it(run: Run) -> None:
    """`Marco` is Marco Bianchi as long as there is no other; a slip of the pen is told with the right spelling."""
    added(run, "Marco Bianchi", "works_at", "Acme")
    found, slip, timeline = run("facts", "marco"), run("facts", "Marko Bianci"), run("timeline", "Bianchi")
    added(run, "Nina Bianchi", "works_at", "Brenta")
    several = run("timeline", "Bianchi")

    assert ("Acme" in found.stdout, "'marco' was understood as 'Marco Bianchi'" in found.stderr) == (True, True)
    assert "similar names: Marco Bianchi" in slip.stderr
    assert ("Acme" in timeline.stdout, "was understood as 'Marco Bianchi'" in timeline.stderr) == (True, True)
    assert (several.returncode, "Did you mean Marco Bianchi or Nina Bianchi?" in several.stderr) == (2, True)
