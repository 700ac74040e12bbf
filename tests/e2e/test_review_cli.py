"""Review from the command line: listed, shown, approved, edited, rejected; one by one on a terminal."""

import re
from pathlib import Path

import pytest

from commonplace import open_memory
from tests.command_line import Run, answer, new_vault
from tests.terminal import on_a_terminal

TABS, SPACES = "Prefers tabs over spaces.", "Prefers spaces over tabs."
TEA = "Drinks green tea in the morning."


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    """A new vault."""
    return new_vault(tmp_path / "vault")


@pytest.fixture
def ids(run: Run, vault: Path) -> tuple[str, str, str]:
    """The last digits of an entry of the person, of what an agent has read against it, and of what else it has read."""
    old = answer(run("save", TABS, "--kind", "preference", "--json"))["remembered"]["id"]
    with open_memory(vault, actor="agent") as agent:
        new = agent.entries.evolve(old, SPACES, reason="said so", interface="claude-code", trust="read").fact.id
        read = agent.entries.save(TEA, kind="preference", trust="read", interface="claude-code").fact.id
    return old[-6:], new[-6:], read[-6:]


def test_the_list_has_the_text_the_source_the_reason_and_what_it_speaks_against(run: Run, ids: tuple[str, ...]) -> None:
    """Oldest first; `review` alone prints it where there is no terminal."""
    old, new, read = ids
    told, listed = run("review"), answer(run("review", "list", "--json"))
    lines = told.stdout.splitlines()

    assert told.returncode == 0
    assert lines[0] == f"1 of 2  {new} preference: {SPACES}"
    assert lines[1].endswith("by claude-code (read)")
    assert lines[2] == "   waits: What was read waits for the person's approval."
    assert lines[3].startswith(f"   against {old}: {TABS} (told, ")
    assert lines[5] == f"2 of 2  {read} preference: {TEA}"
    assert (listed["count"], [each["fact"]["text"] for each in listed["waiting"]]) == (2, [SPACES, TEA])


def test_a_terminal_opens_what_waits_with_a_click(run: Run, vault: Path, ids: tuple[str, ...]) -> None:
    """By its id in the list, and by its path."""
    links = {each["fact"]["id"]: each["fact"]["link"] for each in answer(run("review", "--json"))["waiting"]}
    link = next(link for id, link in links.items() if id.endswith(ids[1]))
    coloured = {"NO_COLOR": "", "TERM": "xterm-256color"}
    listed = on_a_terminal("review", "list", vault=vault, variables=coloured)
    shown = on_a_terminal("review", "show", ids[1], vault=vault, variables=coloured)

    assert re.search(rf"\033\]8;id=\d+;{re.escape(link)}\033\\{ids[1]}\033", listed)
    assert re.search(rf"\033\]8;id=\d+;{re.escape(link)}\033\\Agent/Memory/_staging/[^\033]+\.md\033", shown)


def test_approving_says_what_was_replaced_and_undo_takes_it_back(run: Run, ids: tuple[str, ...]) -> None:
    """It is recalled from then on."""
    old, new, _ = ids
    told = run("review", "approve", new)
    recalled = answer(run("recall", "spaces tabs", "--json"))["results"]
    run("undo")
    again = run("review", "show", new)

    assert told.stdout == f"approved {new} preference: {SPACES}\n  replaced {old}: {TABS}\n"
    assert [each["content"] for each in recalled] == [SPACES]
    assert SPACES in again.stdout
    assert "Agent/Memory/_staging/" in again.stdout


def test_all_are_approved_after_a_dry_run(run: Run, ids: tuple[str, ...]) -> None:
    """The dry run prints the difference; then nothing waits."""
    dry = run("review", "approve", "--all", "--dry-run")
    done = answer(run("review", "approve", "--all", "--json"))
    empty = run("review")

    assert "+status: superseded" in dry.stdout
    assert dry.stderr.count("nothing was written") == 2
    assert [each["action"] for each in done["reviewed"]] == ["approve", "approve"]
    assert (empty.stdout, empty.stderr) == ("", "nothing waits for your review\n")


def test_an_edit_and_a_rejection(run: Run, ids: tuple[str, ...], vault: Path) -> None:
    """The edited words count as the person's; the rejected ones cannot come again."""
    old, new, read = ids
    edited = run("review", "edit", new, "Prefers spaces, but tabs in Makefiles.")
    rejected = run("review", "reject", read, "--reason", "never true")

    assert (
        edited.stdout
        == f"approved {new} preference: Prefers spaces, but tabs in Makefiles.\n  replaced {old}: {TABS}\n"
    )
    assert rejected.stdout == f"rejected {read} preference: {TEA}\n"
    assert len(list(vault.glob("Agent/Memory/_archive/_staging/*.md"))) == 1
    assert not list(vault.glob("Agent/Memory/_staging/*.md"))


def test_wrong_names_have_a_hint(run: Run, ids: tuple[str, ...]) -> None:
    """No entry, one that does not wait, and both ways of naming."""
    nothing, known = run("review", "approve"), run("review", "approve", ids[0])
    both = run("review", "reject", ids[1], "--all")

    assert (nothing.returncode, known.returncode, both.returncode) == (2, 4, 2)
    assert "--all" in nothing.stderr
    assert "`commonplace review` lists what waits" in known.stderr


def test_status_and_doctor_say_how_many_wait(run: Run, ids: tuple[str, ...]) -> None:
    """Whether the daemon runs or not."""
    said = "2 memories wait for your review: `commonplace review`"

    assert said in run("status").stdout
    assert answer(run("status", "--json"))["review"] == 2
    assert said in run("doctor").stdout


def test_a_terminal_asks_about_one_entry_after_another(run: Run, ids: tuple[str, ...], vault: Path) -> None:
    """An unknown key is asked again; what is skipped still waits."""
    _, new, _ = ids
    shown = on_a_terminal("review", vault=vault, typed="x\na\ns\n")
    left = answer(run("review", "--json"))

    assert f"approved {new} preference: {SPACES}" in shown
    assert shown.count("[a/e/r/s/q]") == 3
    assert [each["fact"]["text"] for each in left["waiting"]] == [TEA]


def test_on_a_terminal_an_entry_is_edited_or_rejected_until_the_person_quits(
    run: Run, ids: tuple[str, ...], vault: Path
) -> None:
    """The rest still waits."""
    on_a_terminal("review", vault=vault, typed="e\nPrefers two spaces.\nq\n")
    left = answer(run("review", "--json"))["count"]
    on_a_terminal("review", vault=vault, typed="r\n")

    assert left == 1
    assert answer(run("review", "--json"))["count"] == 0
    assert "Prefers two spaces." in run("recall", "spaces").stdout


LINDEN, EIGHT = "The bakery in the Linden street opens at seven.", "The bakery in the Linden street opens at eight."


@pytest.fixture
def undecided(run: Run, vault: Path) -> tuple[str, str, str]:
    """The last digits of an entry of the person and of what an agent says instead; the id of a group of two."""
    old = answer(run("save", TABS, "--json"))["remembered"]["id"]
    with open_memory(vault, actor="agent") as agent:
        new = agent.entries.save(SPACES, replaces=[old], interface="claude-code").fact.id
    run("save", LINDEN)
    run("save", EIGHT)
    (group,) = answer(run("review", "--json"))["groups"]
    return old[-6:], new[-6:], group["id"]


def test_endings_and_groups_are_listed_with_speaker_and_day_and_the_commands(
    run: Run, undecided: tuple[str, str, str]
) -> None:
    """Each once; the group with its newest entry first."""
    old, new, group = undecided
    lines, listed = run("review").stdout.splitlines(), answer(run("review", "--json"))

    assert re.fullmatch(rf"ending  {new}: {SPACES} \(claude-code, \d{{4}}-\d\d-\d\d\)", lines[0])
    assert re.fullmatch(rf"   would end {old}: {TABS} \(the person, \d{{4}}-\d\d-\d\d\)", lines[1])
    assert lines[2] == f"   end it: commonplace review approve {new}; keep both: commonplace review reject {new}"
    assert lines[4] == f"{group}  2 near entries, the newest first: how do they relate?"
    assert (EIGHT in lines[5], LINDEN in lines[6]) == (True, True)
    assert lines[7] == f"   commonplace review settle {group} both|replaces|same"
    assert (listed["count"], listed["endings"][0]["against"][0]["speaker"]) == (2, "the person")


def test_endings_and_groups_are_decided_by_command(run: Run, undecided: tuple[str, str, str]) -> None:
    """A verdict that does not exist is named; a group that is decided is gone."""
    old, new, group = undecided
    ended, wrong = run("review", "approve", new), run("review", "settle", group, "maybe")
    dry, settled = run("review", "settle", group, "replaces", "--dry-run"), run("review", "settle", group, "replaces")
    again = run("review", "settle", group, "both")

    assert ended.stdout == f"approved {new}: {SPACES}\n  replaced {old}: {TABS}\n"
    assert (wrong.returncode, "both, replaces, same" in wrong.stderr) == (2, True)
    assert "+status: superseded" in dry.stdout
    assert re.fullmatch(rf"kept \w+: {EIGHT}\n  replaced \w+: {LINDEN}\n", settled.stdout)
    assert (again.returncode, answer(run("review", "--json"))["count"]) == (4, 0)


def test_on_a_terminal_one_key_decides_an_ending_and_a_group(
    run: Run, undecided: tuple[str, str, str], vault: Path
) -> None:
    """Both hold; the newest alone holds."""
    _, new, _ = undecided
    shown = on_a_terminal("review", vault=vault, typed="b\nn\n")

    assert f"both hold {new}: {SPACES}" in shown
    assert re.search(rf"kept \w+: {EIGHT}", shown)
    assert answer(run("review", "--json"))["count"] == 0


def test_on_a_terminal_a_wrong_statement_is_forgotten(run: Run, undecided: tuple[str, str, str], vault: Path) -> None:
    """Then nothing is left to end."""
    _, new, _ = undecided
    shown = on_a_terminal("review", vault=vault, typed="f\nq\n")

    assert f"forgot {new}: {SPACES}" in shown
    assert answer(run("review", "--json"))["endings"] == []


@pytest.mark.parametrize("way", ["command", "terminal"])
def test_what_an_old_rule_ended_is_listed_and_brought_back(run: Run, vault: Path, way: str) -> None:
    """Or it stays ended, and is not listed again."""
    old = answer(run("save", "Nora is allergic to penicillin.", "--json"))["remembered"]["id"][-6:]
    new = answer(run("evolve", old, "Nora stopped smoking.", "--reason", "It says that this has changed.", "--json"))[
        "remembered"
    ]["id"][-6:]
    lines = run("review", "--ended").stdout.splitlines()
    if way == "command":
        back = run("review", "bring-back", old).stdout
    else:
        back = on_a_terminal("review", "--ended", vault=vault, typed="b\n")

    assert f"{old}: Nora is allergic to penicillin. (the person, " in lines[0]
    assert lines[1].startswith(f"   replaced by {new}: Nora stopped smoking.")
    assert lines[2] == "   because: It says that this has changed."
    assert f"brought back {old}: Nora is allergic to penicillin." in back
    assert run("review", "--ended").stderr == "no old rule has ended anything that you have not looked at\n"
    assert answer(run("show", old, "--json"))["fact"]["status"] == "active"
