"""The command line on the sample vault: its answers, and, as a process, its pipes, terminals and exit codes."""

import json
import os
import subprocess
import sys
from pathlib import Path
from shlex import quote

import pytest

from tests.command_line import Run, answer
from tests.terminal import on_a_terminal
from tests.warm import warm_program


@pytest.fixture
def vault(sample: Path) -> Path:
    """The sample vault, without git."""
    return sample


def in_a_process(*words: str) -> subprocess.CompletedProcess[str]:
    """What the program prints, started with an interpreter of its own."""
    command = [sys.executable, "-m", "commonplace", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("words", [["note", "read", "gone.md"], ["note", "stat", "README.md", "--json"]])
def test_the_program_of_the_tests_is_the_program(run: Run, sample: Path, words: list[str]) -> None:
    """Called in this process or started anew: the same output, asides and exit code."""
    started, called = in_a_process("--vault", str(sample), *words), run(*words)

    assert (called.returncode, called.stdout, called.stderr) == (started.returncode, started.stdout, started.stderr)


def test_a_note_piped_on_is_the_note_byte_for_byte(run: Run, sample: Path) -> None:
    """`note read` adds nothing to standard output, CRLF included."""
    command = [warm_program(), "--vault", str(sample), "note", "read", "Daily/2026-10-13.md"]
    shown = subprocess.run(command, capture_output=True, check=True).stdout

    assert shown == (sample / "Daily/2026-10-13.md").read_bytes()


@pytest.mark.requirement("D-17")
def test_a_note_as_json_has_its_parts(run: Run, sample: Path) -> None:
    """path, content without the frontmatter, frontmatter, mtime and size; plus version, tags, links and Problems."""
    note = answer(run("note", "read", "People/Jonas Weber.md", "--json"))
    stat = (sample / "People/Jonas Weber.md").stat()

    assert (note["ok"], note["path"], note["title"]) == (True, "People/Jonas Weber.md", "Jonas Weber")
    assert note["content"].startswith("# Jonas Weber")
    assert note["frontmatter"]["role"] == "Electronics"
    assert (note["mtime"], note["size"]) == (stat.st_mtime, stat.st_size)
    assert note["links"] == ["Greenhouse", "Leipzig", "Sensors"]
    assert note["sensitive"] is False


def test_the_sensitive_note_says_so(run: Run) -> None:
    """A person may read it; the answer tells programs what it is."""
    assert answer(run("note", "read", "Inbox/Sensitive credentials.md", "--json"))["sensitive"] is True


def test_one_section_can_be_read(run: Run) -> None:
    """A heading and what is below it."""
    shown = run("note", "read", "Projects/Greenhouse/Greenhouse.md", "--section", "why").stdout

    assert shown == "## Why\n\nThe old one let in rain and lost its east wall in the storm of March.\n\n"


def test_an_unknown_section_names_the_ones_there_are(run: Run) -> None:
    """The hint lists the headings."""
    result = run("note", "read", "Projects/Greenhouse/Greenhouse.md", "--section", "Wy")

    assert result.returncode == 2
    assert "Why, Plan, Budget, Decisions" in result.stderr


@pytest.mark.requirement("D-18", "D-122")
def test_list_gives_paths_with_forward_slashes_without_the_ignored(run: Run) -> None:
    """The sample vault has about 18 notes over the usual folders; `.obsidian` is not listed, Templates is."""
    paths = run("note", "list").stdout.splitlines()

    assert paths == sorted(paths)
    assert len(paths) == 18
    assert "Projects/Greenhouse/Sensors.md" in paths
    assert "Templates/Meeting.md" in paths
    assert not [path for path in paths if path.startswith(".obsidian")]


@pytest.mark.requirement("D-18")
def test_list_takes_a_folder_and_may_stay_in_it(run: Run) -> None:
    """`list(folder, recursive=False)`."""
    assert run("note", "list", "Projects", "--no-recursive").stdout == "Projects/Website relaunch.md\n"
    assert answer(run("note", "list", "Projects", "--json"))["count"] == 3


@pytest.mark.requirement("D-19")
def test_stat_gives_time_and_size(run: Run, sample: Path) -> None:
    """mtime and size, as the file system has them."""
    found = answer(run("note", "stat", "README.md", "--json"))
    stat = (sample / "README.md").stat()

    assert (found["mtime"], found["size"]) == (stat.st_mtime, stat.st_size)


@pytest.mark.requirement("D-20", "A-19")
def test_links_gives_bare_targets_and_where_they_lead(run: Run) -> None:
    """Alias and heading are told apart from the target; names, paths and frontmatter aliases resolve."""
    found = answer(run("note", "links", "Meetings/2026-10-19 Sensor review.md", "--json"))["links"]

    assert [(link["target"], link["path"]) for link in found] == [
        ("Ada", "People/Ada Lindqvist.md"),
        ("Jonas", "People/Jonas Weber.md"),
        ("Jonas Weber", "People/Jonas Weber.md"),
        ("Sensors", "Projects/Greenhouse/Sensors.md"),
        ("2026-10-05 Greenhouse kickoff", "Meetings/2026-10-05 Greenhouse kickoff.md"),
    ]


@pytest.mark.requirement("D-22")
def test_any_note_below_the_root_may_be_read(run: Run) -> None:
    """Reading does not ask for the write allowlist: README and templates are readable."""
    assert run("note", "read", "README.md").returncode == 0
    assert run("note", "read", "Templates/Meeting.md").returncode == 0


def test_lint_lists_each_problem_with_its_line(run: Run) -> None:
    """The broken note and the template, and nothing that is in order."""
    result = run("lint", "--json")
    found = answer(result)

    assert [(problem["path"], problem["line"] > 0) for problem in found["problems"]] == [
        ("Inbox/Broken import.md", True),
        ("Templates/Meeting.md", True),
    ]
    assert found["notes"] == 18


def test_links_finds_what_leads_nowhere(run: Run) -> None:
    """Link integrity over the whole vault; a link in a code block is none."""
    targets = {link["target"] for link in answer(run("links", "--json"))["links"] if not link["path"]}

    assert targets == {
        "Lindqvist & Daughters",
        "Uppsala",
        "Leipzig",
        "Allotment society",
        "bed-layout.png",
        "MQTT broker",
    }


@pytest.mark.parametrize(
    ("path", "reason", "code"),
    [
        ("No such note.md", "missing", 2),
        ("../outside.md", "path_escape", 3),
        ("People/../README.md", "path_escape", 3),
        ("/etc/passwd.md", "path_escape", 3),
        (".obsidian/app.json", "not_markdown", 3),
        (".git/config.md", "refused", 3),
        ("People", "not_markdown", 3),
        ("link.md", "path_escape", 3),
        ("linked/outside.md", "path_escape", 3),
    ],
)
@pytest.mark.requirement("D-29")
def test_every_verb_passes_the_same_guard(run: Run, sample: Path, path: str, reason: str, code: int) -> None:
    """`..`, absolute, non-Markdown, symbolic links and missing notes: one reason, one exit code, whatever the verb."""
    (sample.parent / "outside.md").write_text("secret")
    (sample / "link.md").symlink_to(sample.parent / "outside.md")
    (sample / "linked").symlink_to(sample.parent)

    for verb in ("read", "stat", "links"):
        result = run("note", verb, path, "--json")

        assert (result.returncode, answer(result)["error"]["reason"]) == (code, reason)
        assert answer(result)["ok"] is False
        assert "secret" not in result.stdout


def test_an_error_for_people_is_one_line_with_a_hint(sample: Path) -> None:
    """On standard error, with nothing on standard output and no traceback."""
    result = in_a_process("--vault", str(sample), "note", "read", "People/Ada.txt")

    assert result.stdout == ""
    assert result.stderr.splitlines() == ["commonplace: not a note: People/Ada.txt", "  Notes end in .md."]


@pytest.mark.parametrize("typed", ["people/ada lindqvist.md", "People/Ada Lindquist.md", "ada lindqvist.md"])
def test_a_name_that_is_nearly_right_is_suggested(run: Run, typed: str) -> None:
    """The hint has the path as it is on disk."""
    result = run("note", "read", typed)

    assert result.returncode == 2
    assert "Did you mean People/Ada Lindqvist.md?" in result.stderr


def test_no_vault_named_says_how_to_name_one(run: Run) -> None:
    """Exit code 2, and the ways to say it."""
    result = run("note", "list", named=False)

    assert result.returncode == 2
    assert "--vault" in result.stderr
    assert "COMMONPLACE_VAULT" in result.stderr


def test_a_vault_that_is_not_there_is_unavailable(tmp_path: Path) -> None:
    """Exit code 5."""
    result = in_a_process("--vault", str(tmp_path / "gone"), "note", "list", "--json")

    assert (result.returncode, answer(result)["error"]["type"]) == (5, "VaultUnavailable")


def test_the_environment_names_the_vault(run: Run, sample: Path) -> None:
    """`COMMONPLACE_VAULT` is enough."""
    assert run("note", "list", named=False, COMMONPLACE_VAULT=str(sample)).returncode == 0


@pytest.mark.parametrize(
    "words", [["note", "raed", "x.md"], ["note", "read"], ["note", "read", "x.md", "--nope"], ["--set", "x"]]
)
def test_bad_usage_is_json_too(run: Run, words: list[str]) -> None:
    """Programs that asked for JSON get JSON, and exit code 2."""
    result = run(*words, "--json", named=False)

    assert (result.returncode, answer(result)["error"]["type"]) == (2, "UsageError")


def test_global_options_may_stand_anywhere(run: Run, sample: Path) -> None:
    """Before or behind the command."""
    behind = run("note", "list", "--vault", str(sample), "--json", named=False)

    assert answer(behind)["count"] == 18


def test_settings_show_tells_where_each_value_comes_from(run: Run) -> None:
    """Default, file, variable or flag."""
    rows = answer(
        run("settings", "show", "--json", "--set", "retrieval.max_k=9", COMMONPLACE_USER="robin", named=False)
    )["settings"]
    origins = {row["key"]: (row["value"], row["from"]) for row in rows}

    assert origins["retrieval.max_k"] == (9, "flag")
    assert origins["user"] == ("robin", "$COMMONPLACE_USER")
    assert origins["safety.max_note_bytes"] == (200_000, "default")


def test_settings_path_prints_the_file_to_edit(run: Run) -> None:
    """Also when it is not there yet."""
    shown = run("settings", "path", named=False).stdout

    assert "commonplace/settings.toml  (does not exist yet)" in shown


def test_text_that_steers_a_terminal_is_defused(sample: Path) -> None:
    """A note is not trusted: on a terminal its escape sequences are shown, not obeyed."""
    (sample / "evil.md").write_text("\033]0;owned\007\033[2J")
    shown = on_a_terminal("note", "read", "evil.md", vault=sample)

    assert "\033" not in shown
    assert "\N{REPLACEMENT CHARACTER}]0;owned" in shown


def test_text_that_steers_nothing_is_shown_as_it_is(sample: Path) -> None:
    """Line endings, joined emoji and non-breaking spaces are no attack."""
    text = "\ufeffone\r\ntwo \N{WOMAN}\u200d\N{ROCKET} non\xa0breaking"
    (sample / "kind.md").write_text(text, newline="")

    assert text.removeprefix("\ufeff").replace("\r", "") in on_a_terminal(
        "note", "read", "kind.md", vault=sample
    ).replace("\r", "")


def test_a_long_path_is_folded_on_a_terminal_and_never_cut(sample: Path) -> None:
    """Every character of it is there."""
    (sample / ("Q" * 150 + ".md")).write_text("")

    assert on_a_terminal("note", "list", vault=sample).count("Q") == 150


@pytest.mark.parametrize("words", ["note list", "demo"])
def test_a_reader_that_has_seen_enough_is_no_error(
    sample: Path, words: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """`| head -1` ends the program quietly, with exit code 0, and leaves no temporary file."""
    for number in range(2000):
        (sample / f"{number:050}.md").write_text("[[nowhere]]")
    temporary = tmp_path_factory.mktemp("temporary")
    command = f"{quote(warm_program())} --vault {quote(str(sample))} {words} | head -1"
    result = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "TMPDIR": str(temporary)},
    )

    assert (result.returncode, result.stderr) == (0, "")
    assert [*temporary.iterdir()] == []


def test_an_answer_that_cannot_be_written_is_told(run: Run, sample: Path) -> None:
    """A full disk behind `>` is no traceback; a closed output is nothing at all."""
    command = f"{quote(sys.executable)} -m commonplace --vault {quote(str(sample))} note list"
    full = subprocess.run(["bash", "-c", f"{command} > /dev/full"], capture_output=True, text=True, check=False)
    closed = subprocess.run(["bash", "-c", f"{command} >&-"], capture_output=True, text=True, check=False)

    assert (full.returncode, "cannot write" in full.stderr) == (2, True)
    assert (closed.returncode, closed.stderr) == (0, "")


def test_one_unreadable_note_does_not_hide_the_others(run: Run, sample: Path) -> None:
    """It is a Problem; every other note is still read."""
    (sample / "pipe.md").unlink(missing_ok=True)
    os.mkfifo(sample / "pipe.md")
    (sample / "folder.md").mkdir()
    found = answer(run("lint", "--json"))

    assert ("pipe.md", "special-file") in [(problem["path"], problem["code"]) for problem in found["problems"]]
    assert found["notes"] == 18


def test_a_vault_cannot_stop_the_program_with_its_settings(run: Run, sample: Path) -> None:
    """A pipe in the place of the file is refused, not waited for."""
    os.mkfifo(sample / ".commonplace.toml")
    result = run("note", "list")

    assert (result.returncode, "not a regular file" in result.stderr) == (2, True)


def test_ignored_notes_are_in_no_list(run: Run, sample: Path) -> None:
    """`.obsidian` and `.trash` are left out by default, and listed when nothing is ignored."""
    for folder in (".obsidian", ".trash"):
        (sample / folder).mkdir(exist_ok=True)
        (sample / folder / "Old.md").write_text("[[nowhere else]]")

    assert not [path for path in run("note", "list").stdout.splitlines() if path.startswith(".")]
    assert ".trash/Old.md" in run("note", "list", "--set", "vault.ignore_globs=nothing").stdout
    assert "nowhere else" not in run("links").stdout
    assert (sample / ".obsidian/app.json").exists()


def test_quiet_means_nothing_but_errors_on_standard_error(run: Run) -> None:
    """The summary of `lint` is no error."""
    assert run("lint", "-q").stderr == ""
    assert "18 notes" in run("lint").stderr


def test_what_nobody_expected_is_still_an_answer(run: Run, sample: Path) -> None:
    """A bug of ours is one line and exit code 1, and JSON where JSON was asked for."""
    code = (
        "import sys, commonplace.app as app; app.open_with = None; sys.argv = ['x', 'note', 'list', '--json']; "
        "from commonplace.__main__ import main; main()"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)

    assert (result.returncode, answer(result)["error"]["reason"]) == (1, "unexpected")


@pytest.mark.parametrize("words", [[], ["note"], ["settings"]])
def test_a_command_alone_prints_its_help(run: Run, words: list[str]) -> None:
    """On standard output, as an answer and not as an error."""
    result = run(*words, named=False)

    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.startswith(f"Usage: {' '.join(['commonplace', *words])}")


def test_events_go_to_standard_error_and_only_when_asked_for(run: Run) -> None:
    """`-v` shows them as JSON lines; the answer on standard output is the same."""
    quiet, loud = run("links"), run("links", "-v")
    events = [json.loads(line)["event"] for line in loud.stderr.splitlines() if line.startswith("{")]

    assert events == ["vault_opened", "vault_checked"]
    assert (loud.stdout, '"event"' in quiet.stderr) == (quiet.stdout, False)


def test_the_version_is_printed() -> None:
    """`commonplace --version`."""
    assert in_a_process("--version").stdout == "commonplace 0.1.0\n"


def test_the_demo_touches_no_folder_that_has_something_in_it(run: Run, sample: Path) -> None:
    """`--into` wants a new folder; tests/docs keep a demo in one."""
    before = sorted(sample.rglob("*"))
    result = run("demo", "--into", str(sample), named=False)

    assert (result.returncode, "not empty" in result.stderr) == (3, True)
    assert sorted(sample.rglob("*")) == before
