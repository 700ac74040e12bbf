"""Changing notes from the command line, on a vault under git."""

import json
import re
import shlex
from pathlib import Path

import pytest

from commonplace.app import open_memory
from commonplace.model import Actor, Terms
from tests.command_line import Run, answer
from tests.gitvault import git
from tests.terminal import on_a_terminal


def test_a_note_is_written_from_standard_input_or_a_file(run: Run, vault: Path, tmp_path: Path) -> None:
    """And the answer has the commit and the version that the next writer may expect."""
    (tmp_path / "text.md").write_text("from a file\n")
    piped = answer(run("note", "write", "Inbox/a.md", "--json", given="piped\n"))["change"]
    expect = run("note", "write", "Inbox/a.md", "--file", str(tmp_path / "text.md"), "--expect", piped["version"])

    assert (piped["changed"], piped["commit"]) == (True, git(vault, "rev-parse", "HEAD^").strip())
    assert expect.returncode == 0
    assert (vault / "Inbox/a.md").read_text() == "from a file\n"
    assert git(vault, "status", "--porcelain") == ""


@pytest.mark.parametrize(
    ("words", "reason", "code"),
    [
        (["note", "write", "README.md"], "outside_allowlist", 3),
        (["note", "write", "../x.md"], "path_escape", 3),
        (["note", "write", "Inbox/x.txt"], "not_markdown", 3),
        (["note", "write", "README.md", "--expect", "0" * 64, "--personal"], "conflict", 4),
        (["note", "write", "README.md", "--expect", "absent", "--personal"], "conflict", 4),
        (["note", "delete", "Inbox/none.md"], "missing", 2),
        (["note", "move", "Inbox/none.md", "Inbox/x.md"], "missing", 2),
        (["note", "move", "People/Ada Lindqvist.md", "People/Jonas Weber.md"], "conflict", 4),
        (["note", "move", "People/Ada Lindqvist.md", "Elsewhere/Ada.md"], "outside_allowlist", 3),
        (["note", "erase", "Inbox/none.md", "--yes"], "missing", 2),
        (["note", "erase", "Inbox/Broken import.md"], "usage", 2),
        (["undo"], "missing", 2),
        (["undo", "--commit", "ffff"], "missing", 2),
        (["note", "write", "Inbox/x.md", "--file", "/no/such/file"], "usage", 2),
        (["note", "write", "Inbox/x.md", "--set", "safety.max_note_bytes=2"], "too_large", 3),
        (["grant", "../x.md"], "path_escape", 3),
    ],
)
@pytest.mark.requirement("D-36")
def test_every_refusal_has_its_reason_and_exit_code_and_changes_nothing(
    run: Run, vault: Path, words: list[str], reason: str, code: int
) -> None:
    """One line with reason, path and hint; the vault and git are as before."""
    before = git(vault, "rev-parse", "HEAD"), git(vault, "status", "--porcelain")
    result = run(*words, "--json", given="text\n")
    error = answer(result)["error"]

    assert (result.returncode, error["reason"]) == (code, reason)
    assert error.get("hint")
    assert (git(vault, "rev-parse", "HEAD"), git(vault, "status", "--porcelain")) == before


def test_a_dry_run_prints_the_difference(run: Run, vault: Path) -> None:
    """And changes nothing."""
    head = git(vault, "rev-parse", "HEAD")
    shown = run("note", "write", "Daily/2026-10-11.md", "--dry-run", given="# 2026-10-11\n\nDry.\n").stdout

    assert "+Dry.\n" in shown
    assert git(vault, "rev-parse", "HEAD") == head


def test_the_story_of_a_note_write_move_delete_undo_log(run: Run, vault: Path) -> None:
    """Each step is a commit, and two undos bring back the moved note at its first path."""
    run("note", "write", "Inbox/a.md", "-m", "first", given="text [[Greenhouse]]\n")
    run("note", "move", "Inbox/a.md", "Projects/a.md")
    run("note", "delete", "Projects/a.md")
    undone = answer(run("undo", "2", "--json"))["undone"]
    entries = answer(run("log", "--json"))["entries"]

    assert [each["verb"] for each in undone] == ["undo", "undo"]
    assert (vault / "Inbox/a.md").read_text() == "text [[Greenhouse]]\n"
    assert [each["verb"] for each in entries] == ["undo", "undo", "delete", "move", "write"]
    assert entries[-1]["reason"] == "first"
    assert entries[-1]["origin"] == "cli"
    assert git(vault, "status", "--porcelain") == ""


def test_a_conflict_of_an_undo_shows_the_place(run: Run, vault: Path) -> None:
    """On standard error, with markers, for people."""
    run("note", "write", "Inbox/a.md", given="one\n")
    run("note", "write", "Inbox/a.md", given="two\n")
    (vault / "Inbox/a.md").write_text("three\n")
    result = run("undo")

    assert result.returncode == 4
    assert "three" in result.stderr
    assert "<<<<<<<" in result.stderr


def test_erasing_says_what_git_still_holds(run: Run, vault: Path) -> None:
    """And how to purge it."""
    result = run("note", "erase", "Inbox/Broken import.md", "--yes")

    assert not (vault / "Inbox/Broken import.md").exists()
    assert "git still holds it" in result.stdout
    assert "filter-repo" in result.stdout


def test_a_grant_from_the_terminal_lets_an_agent_write_once(run: Run, vault: Path) -> None:
    """A person gives it for one path; the library uses it as an agent."""
    from commonplace import Refused, open_memory
    from commonplace.model import Terms

    token = run("grant", "README.md").stdout.strip()
    with open_memory(vault, actor="agent") as memory:
        with pytest.raises(Refused):
            memory.notes.write("README.md", "x\n")
        done = memory.notes.write("README.md", "granted\n", Terms(grant=token))
        with pytest.raises(Refused):
            memory.notes.grant("README.md")

    assert done.changed


def test_an_agent_may_not_read_what_is_sensitive(vault: Path) -> None:
    """Its owner may; the reason is `sensitive`."""
    from commonplace import Refused, open_memory

    with open_memory(vault, actor="agent") as memory, pytest.raises(Refused, match="sensitive"):
        memory.notes.read("Inbox/Sensitive credentials.md")
    with open_memory(vault) as memory:
        assert memory.notes.read("Inbox/Sensitive credentials.md").title


@pytest.mark.requirement("D-40", "D-41")
def test_init_makes_a_vault_and_registers_it(run: Run, tmp_path: Path) -> None:
    """One repository at its root with a local identity; afterwards no vault needs to be named."""
    made = run("init", str(tmp_path / "New vault"), named=False)
    run("note", "write", "Inbox/a.md", given="x\n", named=False)

    assert made.returncode == 0, made.stderr
    assert (tmp_path / "New vault/Inbox/a.md").read_text() == "x\n"
    assert git(tmp_path / "New vault", "config", "--local", "user.name") == "Commonplace\n"
    assert run("note", "list", named=False).stdout == "Inbox/a.md\n"


def test_init_adopts_a_repository_as_it_is(run: Run, tmp_path: Path) -> None:
    """No commit, no setting, no file of it is touched."""
    folder = tmp_path / "mine"
    folder.mkdir()
    git(folder, "init", "-q")
    (folder / "note.md").write_text("mine\n")
    before = sorted((path, path.stat().st_mtime_ns) for path in folder.rglob("*") if path.is_file())
    result = run("init", str(folder), named=False)

    assert "existing repository" in result.stdout
    assert sorted((path, path.stat().st_mtime_ns) for path in folder.rglob("*") if path.is_file()) == before


def test_a_vault_without_git_is_read_and_not_written(run: Run, sample: Path, tmp_path: Path) -> None:
    """Reading wants no repository; the refusal to write says what to do."""
    import shutil

    bare = tmp_path / "plain"
    shutil.copytree(sample, bare, ignore=shutil.ignore_patterns(".git"))
    listed = run("--vault", str(bare), "note", "list", named=False)
    written = run("--vault", str(bare), "note", "write", "Inbox/a.md", given="x", named=False)

    assert listed.returncode == 0
    assert (written.returncode, "commonplace init" in written.stderr) == (5, True)
    assert not (bare / "Inbox/a.md").exists()


@pytest.mark.requirement("D-45")
def test_changes_are_events_with_their_duration(run: Run) -> None:
    """`vault_write`, `vault_delete`, `vault_move` on standard error with `-v`."""
    lines = [
        *run("-v", "note", "write", "Inbox/a.md", given="x").stderr.splitlines(),
        *run("-v", "note", "move", "Inbox/a.md", "Inbox/b.md").stderr.splitlines(),
        *run("-v", "note", "delete", "Inbox/b.md").stderr.splitlines(),
    ]
    events = {event["event"]: event for event in map(json.loads, lines) if "duration_ms" in event}

    assert set(events) == {"vault_write", "vault_move", "vault_delete"}
    assert events["vault_write"]["duration_ms"] > 0


def test_init_makes_a_repository_where_a_foreign_one_only_happens_to_be_above(run: Run, tmp_path: Path) -> None:
    """A home under git, or a project that ignores the folder, is not the notes' repository."""
    (tmp_path / "project/notes").mkdir(parents=True)
    git(tmp_path / "project", "init", "-q")
    (tmp_path / "project/.gitignore").write_text("*\n")
    result = run("init", str(tmp_path / "project/notes"), named=False)

    assert "git: new repository" in result.stdout
    assert (tmp_path / "project/notes/.git").is_dir()


@pytest.mark.parametrize("words", [["delete"], ["move"], ["erase", "--yes"]])
@pytest.mark.parametrize(
    ("path", "hint"),
    [
        ("Inbox/Broken inport.md", "Did you mean Inbox/Broken import.md?"),
        ("Nope.md", "`commonplace note list` lists all notes."),
    ],
)
def test_a_note_that_does_not_exist_is_told_with_the_most_similar_path(
    run: Run, words: list[str], path: str, hint: str
) -> None:
    """Also outside the folders that programs may write to: that it does not exist comes first."""
    verb, *options = words
    done = run("note", verb, path, *(["Inbox/x.md"] if verb == "move" else []), *options)

    assert done.returncode == 2
    assert done.stderr.splitlines() == [f"commonplace: no such note: {path}", f"  {hint}"]


@pytest.mark.parametrize("words", [["delete"], ["move"], ["erase", "--yes"], ["write"]])
def test_what_personal_means_is_said_where_it_is_asked_for(run: Run, vault: Path, words: list[str]) -> None:
    """In one sentence, with the command that does it; and that command does it."""
    (vault / "My day.md").write_text("A day.\n")
    verb, *options = words
    line = ["note", verb, "My day.md", *(["Inbox/x.md"] if verb == "move" else []), *options]
    refused = run(*line, given="Another day.\n")
    explained, _, command = refused.stderr.splitlines()[1].partition(" To do it: ")

    assert refused.returncode == 3
    assert "It is a personal note: programs may write to Inbox, " in explained
    assert command == f"commonplace --vault {vault} {shlex.join(line)} --personal"
    assert run(*shlex.split(command)[1:], named=False, given="Another day.\n").returncode == 0
    assert (vault / "My day.md").exists() == (verb == "write")


def test_the_log_says_why_and_which_agent(run: Run, vault: Path) -> None:
    """The reason that was given, and the program it came through, for people and for programs."""
    id_ = answer(run("save", "Prefers concise pull requests.", "--kind", "preference", "--json"))["remembered"]["id"]
    run("forget", id_, "--reason", "never said it")
    with open_memory(vault, actor="agent") as memory:
        memory.acting(Actor("agent", "claude-code")).notes.write("Inbox/a.md", "a\n", Terms(message="a new idea"))
    lines = [line.split("  ") for line in run("log").stdout.splitlines()]
    entries = answer(run("log", "--json"))["entries"]

    assert [(line[2], line[-1]) for line in lines] == [
        ("agent (claude-code)", "a new idea"),
        ("person (cli)", "never said it"),
        ("person (cli)", f"commonplace: save preference {id_[-6:]}"),
    ]
    assert [(each["actor"], each["origin"], each["reason"]) for each in entries] == [
        (who.split()[0], who.split()[1].strip("()"), why) for who, why in ((line[2], line[-1]) for line in lines)
    ]


@pytest.mark.parametrize("columns", [60, 80, 120])
def test_no_path_is_broken_on_a_terminal(vault: Path, columns: int) -> None:
    """Rows that are too long for the terminal take several lines, and a line is not cut within a path."""
    long = "Projects/A rather long name of a folder/" + "and-then-a-name-without-any-blank-in-it-" * 2 + "end.md"
    (vault / long).parent.mkdir(parents=True)
    (vault / long).write_text("x\n")
    listed = on_a_terminal("note", "list", "Projects", vault=vault, columns=columns)
    settings = on_a_terminal("settings", "show", "context", vault=vault, columns=columns)

    assert long in listed
    assert "Projects/Website relaunch.md" in listed
    lines = re.sub(r"\x1b\[[0-9;]*m|\r", "", settings).splitlines()
    assert all(len(line.rstrip()) <= columns for line in lines)
    assert "domain-reference" in settings
