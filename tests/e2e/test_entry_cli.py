"""Entries from the command line: saved, evolved, confirmed, forgotten, erased, recalled."""

import json
import re
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from commonplace.app import open_memory
from commonplace.app.vaults import user_data_folder
from commonplace.model.request import NewEntry
from tests.command_line import Run, answer, new_vault
from tests.gitvault import git
from tests.terminal import on_a_terminal

CONCISE = "Prefers concise pull requests."


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    """A new vault."""
    return new_vault(tmp_path / "vault")


def saved(run: Run, *words: str, given: str = "") -> dict[str, Any]:
    return dict(answer(run("save", *words, "--json", given=given))["remembered"])


@pytest.mark.requirement("A-01", "A-06", "A-15")
def test_saving_makes_a_note_of_its_own_in_the_folder_of_its_kind(run: Run, vault: Path) -> None:
    """With the keys of an entry, in one commit, and the answer says what it is called."""
    told = run("save", CONCISE, "--kind", "preference", "--topic", "coding", "--tag", "review")
    (note,) = vault.glob("Agent/Memory/preference/*/*.md")
    text = note.read_text()

    assert told.stdout == f"saved {note.stem[-6:]} preference: {CONCISE}\n"
    assert (told.returncode, told.stderr) == (0, "")
    assert text.endswith(f"---\n{CONCISE}\n") or text.rstrip().endswith(CONCISE)
    assert "kind: preference\n" in text
    assert git(vault, "status", "--porcelain") == ""


@pytest.mark.requirement("A-01")
@pytest.mark.usefixtures("one_day")
def test_the_same_words_are_confirmed_and_not_saved_again(run: Run, vault: Path) -> None:
    """The first time on a day is written down, the second changes nothing."""
    first = saved(run, CONCISE, "--kind", "preference")
    again = run("save", CONCISE, "--kind", "preference")
    third = saved(run, CONCISE, "--kind", "preference")

    assert again.stdout == f"already known, confirmed (1 time): {first['id'][-6:]} {CONCISE}\n"
    assert (third["action"], third["id"], third["changed"]) == ("confirm", first["id"], False)
    assert len(list(vault.glob("Agent/Memory/preference/*/*.md"))) == 1


def test_text_comes_from_standard_input(run: Run) -> None:
    """With a dash or with nothing; what is empty is refused as junk."""
    dashed = saved(run, "-", "--kind", "fix", given="Restart the broker after an update.\n")
    piped = saved(run, "--kind", "workflow", given="Run the linter before every commit.\n")
    nothing = run("save", "--kind", "fix", "--json", given="  \n")

    assert dashed["fact"]["text"] == "Restart the broker after an update."
    assert piped["fact"]["text"] == "Run the linter before every commit."
    assert (nothing.returncode, json.loads(nothing.stdout)["error"]["reason"]) == (3, "junk")


def test_a_secret_is_refused_and_written_nowhere(run: Run, vault: Path) -> None:
    """Exit code 3, with a hint, and never the secret itself."""
    key = "AKIA" + "IOSFODNN7" + "EXAMPLE"
    told = run("save", f"The key of the backup is {key}.", "--kind", "fact")

    assert told.returncode == 3
    assert key not in told.stdout + told.stderr
    assert "password manager" in told.stderr
    assert not list(vault.glob("Agent/Memory/fact/**/*.md"))


def test_a_dry_run_prints_the_difference_and_writes_nothing(run: Run, vault: Path) -> None:
    """And says what would become of it."""
    told = run("save", CONCISE, "--kind", "preference", "--dry-run")

    assert f"+{CONCISE}\n" in told.stdout
    assert "nothing was written: insert" in told.stderr
    assert not list(vault.glob("Agent/Memory/preference/**/*.md"))


@pytest.mark.requirement("A-31", "A-33", "V-05")
def test_evolving_replaces_with_a_reason_and_shows_the_chain(run: Run, vault: Path) -> None:
    """The old version lies in the archive; `show` has both, oldest first, whichever of them is named."""
    old = saved(run, CONCISE, "--kind", "preference")
    told = run("evolve", old["id"][-6:], "Prefers long pull requests.", "--reason", "said so on Monday")
    new = answer(run("show", old["id"], "--json"))["versions"][-1]
    shown = run("show", new["id"]).stdout

    assert told.stdout.splitlines() == [
        f"saved {new['id'][-6:]} preference: Prefers long pull requests.",
        f"  ended {old['id'][-6:]}: {CONCISE}",
        "  said so on Monday",
    ]
    assert "`commonplace undo` takes it back" in told.stderr
    assert [line[:3] for line in shown.splitlines() if line[:1].isdigit()] == ["1. ", "2. "]
    assert f"replaced by {new['id'][-6:]}" in shown
    assert f"replaces {old['id'][-6:]}: said so on Monday" in shown
    assert len(list(vault.glob("Agent/Memory/_archive/**/*.md"))) == 1


ALLERGIC = "Is allergic to shellfish."
MENUS = "restaurants, menus, prawns"


def test_what_an_entry_is_about_and_when_it_matters_is_saved_shown_and_searched(run: Run, vault: Path) -> None:
    """Both stand in its note, `show` prints them, and `facts --about` finds the entry by a part of either."""
    fact = saved(run, ALLERGIC, "--kind", "fact", "--about", "food  allergies", "--when", MENUS)["fact"]
    saved(run, "The food of the cat is in the cellar.", "--kind", "fact")
    note, shown = (vault / fact["path"]).read_text(), run("show", fact["id"]).stdout
    found = [answer(run("facts", "--about", words, "--json"))["facts"] for words in ("Allerg", "menus", "cellar")]

    assert (fact["about"], fact["when"]) == ("food allergies", MENUS)
    assert f"about: food allergies\nwhen: {MENUS}\n" in note
    assert "about: food allergies\n" in shown
    assert f"when: {MENUS}\n" in shown
    assert [[each["id"] for each in rows] for rows in found] == [[fact["id"]], [fact["id"]], []]


def test_a_new_version_keeps_both_unless_they_are_said_anew(run: Run) -> None:
    """As it keeps its kind and its topics."""
    old = saved(run, ALLERGIC, "--kind", "fact", "--about", "food allergies", "--when", MENUS)
    new = answer(run("evolve", old["id"], "Is allergic to nuts.", "--reason", "r", "--when", "cakes", "--json"))
    newer = answer(run("evolve", new["remembered"]["id"], "Eats nuts.", "--reason", "r", "--about", "nuts", "--json"))
    facts = [each["remembered"]["fact"] for each in (new, newer)]

    assert [(each["about"], each["when"]) for each in facts] == [("food allergies", "cakes"), ("nuts", "cakes")]


@pytest.mark.usefixtures("one_day")
def test_an_entry_is_described_and_its_words_stay(run: Run, vault: Path) -> None:
    """A dry run shows the difference; an empty text removes one; programs get the entry; `undo` takes it back."""
    fact = saved(run, ALLERGIC, "--kind", "fact")["fact"]
    planned = run("describe", fact["id"][-6:], "--about", "food allergies", "--dry-run")
    untouched = (vault / fact["path"]).read_text()
    told = run("describe", fact["id"][-6:], "--about", "food allergies", "--when", MENUS)
    again = answer(run("describe", fact["id"], "--when", MENUS, "--json"))["remembered"]
    less = answer(run("describe", fact["id"], "--about", "", "--json"))["remembered"]
    run("undo")
    back = answer(run("show", fact["id"], "--json"))["fact"]

    assert (planned.returncode, "+about: food allergies\n" in planned.stdout) == (0, True)
    assert "about:" not in untouched
    assert told.stdout.splitlines() == [f"{fact['id'][-6:]} {ALLERGIC}", "  it is found by that, too"]
    assert (again["changed"], again["reason"]) == (False, "it is already described so")
    assert (less["action"], less["fact"]["about"], less["fact"]["when"]) == ("describe", "", MENUS)
    assert (back["about"], back["when"], back["text"]) == ("food allergies", MENUS, ALLERGIC)


@pytest.mark.parametrize(
    ("words", "message", "hint"),
    [
        (("--about", "x" * 121), "`about` has 121 characters; it may have 120", "Name in 2 to 6 words"),
        (("--when", "menus " * 30), "`when` has 179 characters; it may have 120", "Name a few situations"),
        ((), "nothing is said of the entry", "Give `about`, `when`, or both."),
    ],
)
def test_what_is_too_long_or_says_nothing_is_refused_with_a_hint(
    run: Run, words: tuple[str, ...], message: str, hint: str
) -> None:
    """By `describe`, and a text that is too long by `save` and `evolve`, too; nothing is written."""
    id = saved(run, ALLERGIC, "--kind", "fact")["id"]
    refused = [run("describe", id, *words)]
    if words:
        refused += [run("save", "Keeps bees.", *words), run("evolve", id, "Eats fish.", "--reason", "r", *words)]

    for each in refused:
        assert each.returncode == 2
        assert message in each.stderr
        assert hint in each.stderr
    assert [each["text"] for each in answer(run("facts", "--json"))["facts"]] == [ALLERGIC]


def test_the_triggers_of_older_scripts_are_when_it_matters(run: Run) -> None:
    """The option works, and no help lists it."""
    steps = "Deploy the website:\n1. Run the tests.\n2. Copy dist/ to the server."
    fact = saved(run, steps, "--kind", "procedural", "--trigger", "deploy the website", "--trigger", "publish, or ship")

    assert fact["fact"]["when"] == "deploy the website; publish, or ship"
    assert "trigger" not in run("save", "--help").stdout


BRAND = "The dentist is Dr. Brand in the Marktstrasse."
OKAFOR = "The dentist is Dr. Okafor since she took over."


@pytest.mark.requirement("X-25")
def test_a_save_prints_what_is_near_it_and_the_command_that_settles_it(run: Run) -> None:
    """On standard error, so that a script reads the saved line alone; `undo` takes the verdict back."""
    old = saved(run, BRAND, "--kind", "fact")
    told = run("save", OKAFOR, "--kind", "fact")
    new, day = told.stdout.split()[1], answer(run("show", old["id"], "--json"))["fact"]["recorded"][:10]
    (name,) = re.findall(rf"`commonplace settle ({new}\.[0-9a-f]{{3}}) --replaces ID`", told.stderr)
    settled = run("settle", name, "--replaces", old["name"], "--reason", "took over")
    after = answer(run("show", new, "--json"))
    run("undo")

    assert told.stdout == f"saved {new} fact: {OKAFOR}\n"
    assert told.stderr.splitlines()[1:] == [
        f"  1 {old['name']}, {day}, you: {BRAND}",
        f"if one of them holds no longer: `commonplace settle {name} --replaces ID` (or --covers, --same, --both)",
    ]
    assert settled.stdout.splitlines() == [
        f"settled {new}: {OKAFOR}",
        f"  ended {old['id'][-6:]}: {BRAND}",
        "  took over",
    ]
    assert "`commonplace undo` takes it back" in settled.stderr
    assert [each["state"] for each in after["versions"]] == ["superseded", "current"]
    assert answer(run("show", old["id"], "--json"))["fact"]["status"] == "active"


def test_a_verdict_may_come_with_the_save_and_programs_get_every_field(run: Run) -> None:
    """Neighbours, what ended and what waits are in the JSON; the words of what is known stay."""
    old = saved(run, BRAND, "--kind", "fact")["id"]
    near = saved(run, OKAFOR, "--kind", "fact")
    newer = saved(run, "The dentist is Dr. Lund.", "--replaces", old, "--both", near["id"])
    same = saved(run, "Dr. Lund is the dentist.", "--same", newer["id"])
    meanwhile = saved(run, "The dentist is Dr. Ito.", "--replaces", newer["id"], "--until", "2999-02-01")
    held = run("settle", newer["id"], "--both", near["id"], "--until", "2999-01-01", "--json")

    assert [(each["id"], each["text"], each["speaker"]) for each in near["neighbours"]] == [(old, BRAND, "the person")]
    assert ([each["id"] for each in newer["ended"]], newer["waiting"], newer["neighbours"]) == ([old], [], [])
    assert newer["fact"]["bonds"] == [{"bond": "both", "target": near["id"]}]
    assert (same["action"], same["id"]) == ("settle", newer["id"])
    assert (meanwhile["ended"], meanwhile["fact"]["valid_until"][:10]) == ([], "2999-02-01")
    assert answer(held)["remembered"]["fact"]["valid_until"][:10] == "2999-01-01"


@pytest.mark.parametrize(
    ("keys", "states"),
    [
        ("\r", {BRAND: "current", OKAFOR: "current"}),
        ("\x03", {BRAND: "current", OKAFOR: "current"}),
        ("xR", {BRAND: "superseded", OKAFOR: "current"}),
        ("s", {BRAND: "current", OKAFOR: "superseded"}),
        ("b", {BRAND: "current", OKAFOR: "current"}),
    ],
)
def test_on_a_terminal_a_save_asks_with_one_key(run: Run, vault: Path, keys: str, states: dict[str, str]) -> None:
    """Without Enter, which keeps both and writes nothing; what is no answer is asked again."""
    saved(run, BRAND, "--kind", "fact")
    pressed = [("[r]eplaces it, [c]overs it", key) for key in keys]
    on_a_terminal("save", OKAFOR, "--kind", "fact", vault=vault, keys=pressed, columns=200, with_errors=True)
    known = answer(run("facts", "--all", "--json"))["facts"]

    assert {each["text"]: each["state"] for each in known} == states
    assert len(git(vault, "log", "--format=%h").splitlines()) == 3 + (keys not in ("\r", "\x03"))


def test_of_several_near_ones_the_number_is_the_second_key(run: Run, vault: Path) -> None:
    """A number that is not in the list is asked again."""
    saved(run, BRAND, "--kind", "fact")
    saved(run, "The dentist is Dr. Lund in the Marktstrasse.", "--kind", "fact")
    pressed = [("Enter: leave it", "r"), ("Which one, 1 to 2", "7"), ("Which one, 1 to 2", "2")]
    shown = on_a_terminal("save", OKAFOR, "--kind", "fact", vault=vault, keys=pressed, columns=200, with_errors=True)
    listed = next(line.partition(": ")[2] for line in shown.splitlines() if line.startswith("  2 "))
    known = answer(run("facts", "--all", "--json"))["facts"]

    assert [each["text"] for each in known if each["state"] == "superseded"] == [listed]


def test_show_has_every_field_for_programs(run: Run) -> None:
    """The fact, its versions with their state, and the edges; the path does as a name."""
    first = saved(run, CONCISE, "--kind", "preference", "--topic", "coding", "--importance", "0.9")
    more = saved(run, "Wants a picture in them.", "--kind", "preference", "--extends", first["id"])
    shown = answer(run("show", more["fact"]["path"], "--json"))

    assert (shown["fact"]["id"], shown["fact"]["source"]["interface"]) == (more["id"], "cli")
    assert [each["state"] for each in shown["versions"]] == ["current"]
    assert {"source": more["id"], "bond": "extend", "target": first["id"]} in shown["edges"]
    assert (first["fact"]["importance"], first["fact"]["topics"]) == (0.9, ["coding"])


def test_forgetting_is_soft_and_undone(run: Run) -> None:
    """Nothing recalls it; `undo` brings it back."""
    id_ = saved(run, CONCISE, "--kind", "preference")["id"]
    told = run("forget", id_[-6:], "--reason", "not mine")
    gone = answer(run("recall", "concise pull requests", "--json"))["count"]
    run("undo")
    back = answer(run("recall", "concise pull requests", "--json"))["count"]

    assert told.stdout == f"forgot {id_[-6:]}: {CONCISE}\n  not mine\n"
    assert "commonplace erase" in told.stderr
    assert (gone, back) == (0, 1)


def test_confirming_says_how_often(run: Run) -> None:
    """A second time on one day changes nothing."""
    id_ = saved(run, CONCISE, "--kind", "preference")["id"]
    first, second = run("confirm", id_).stdout, run("confirm", id_).stdout

    assert first == f"already known, confirmed (1 time): {id_[-6:]} {CONCISE}\n"
    assert second.startswith(f"already known: {id_[-6:]}")


def test_erasing_asks_and_says_what_git_still_holds(run: Run, vault: Path) -> None:
    """Without a terminal it wants --yes; then the note is gone, and the way to purge git is printed."""
    id_ = saved(run, CONCISE, "--kind", "preference")["id"]
    asked = run("erase", id_)
    told = run("erase", id_, "--yes")

    assert (asked.returncode, "needs confirmation" in asked.stderr) == (2, True)
    assert not list(vault.glob("Agent/Memory/preference/**/*-??????.md"))
    assert "git still holds it in 2 commits; " in told.stdout
    assert "uv tool install git-filter-repo" in told.stdout
    assert f"\n  git -C {vault} filter-repo --force --invert-paths --path Agent/Memory/preference/" in told.stdout
    assert "changes without a commit" in told.stdout
    assert run("show", id_).returncode == 2


def test_the_log_keeps_what_was_done_to_an_erased_entry_without_a_word_of_it(run: Run, vault: Path) -> None:
    """Kind and id stay, for each of its changes; so it is after the log was made anew from git."""
    id_ = saved(run, CONCISE, "--kind", "preference")["id"]
    run("load", id_)
    run("forget", id_, "--reason", "a secret reason")
    run("erase", id_, "--yes")
    (data,) = {file.parent for file in user_data_folder().rglob("history.db")}
    kept, log = (data / "history.db").read_bytes(), run("log").stdout
    for file in data.glob("history.db*"):
        file.unlink()

    rows = [line.split("  ")[3:] for line in log.splitlines()]
    assert [row[0] for row in rows] == ["erase", "forget", "remember", "remember"]
    assert all(f"*-{id_[-6:]}.md" in row[1] for row in rows)
    assert rows[0][2] == f"commonplace: erase entry {id_[-6:]}"
    assert b"concise" not in kept
    assert "concise" not in log
    assert "secret reason" not in log
    assert [line.split("  ")[3:] for line in run("log").stdout.splitlines()] == rows


def test_a_rewritten_history_doubles_no_line_of_the_log(run: Run, vault: Path) -> None:
    """As after a purge or a rebase: the commits have new ids."""
    saved(run, CONCISE, "--kind", "preference")
    saved(run, "Tests come first.", "--kind", "preference")
    before = run("log").stdout.splitlines()
    git(vault, "rebase", "--force-rebase", "--root", "--committer-date-is-author-date")
    after = run("log").stdout.splitlines()

    assert [line.split("  ")[2:] for line in after] == [line.split("  ")[2:] for line in before]
    assert [line.split("  ")[0] for line in after] != [line.split("  ")[0] for line in before]
    for old, new in zip(before, after, strict=True):  # a commit has the time of git, a moment from that of the audit
        moments = [datetime.fromisoformat(line.split("  ")[1]) for line in (new, old)]
        assert abs(moments[1] - moments[0]) < timedelta(seconds=30)


def test_recall_finds_entries_alone_by_kind_and_topic(run: Run) -> None:
    """Notes of your own are not in it; what was replaced comes only where the archive is asked for."""
    run("note", "write", "Inbox/Pulls.md", given="Concise pull requests are praised.\n")
    id_ = saved(run, CONCISE, "--kind", "preference", "--topic", "coding")["id"]
    run("evolve", id_, "Prefers long pull requests.", "--reason", "said so")

    def paths(*words: str) -> list[str]:
        results = answer(run("recall", "pull requests", *words, "--json"))["results"]
        return sorted(each["source_path"].split("/")[2] for each in results)

    assert paths() == ["preference"]
    assert paths("--include-archive") == ["_archive", "preference"]
    assert paths("--kind", "fix") == []
    assert paths("--topic", "coding") == ["preference"]
    assert "Prefers long pull requests." in run("recall", "pull requests").stdout


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["show", "0199-none"], 2, "0199-none"),
        (["save", "Likes tea.", "--kind", "Not a kind!"], 2, "kind"),
        (["save", "Likes tea.", "--fact", "rumour"], 2, "no fact class is called 'rumour'"),
        (["save", "Likes tea.", "--importance", "7"], 2, "importance"),
        (["save", "Likes tea.", "--valid-from", "soon"], 2, "'soon' is not a time"),
        (["save", "Likes tea.", "--extends", "ffffff"], 2, "ffffff"),
        (["evolve", "ffffff", "Likes coffee."], 2, "reason"),
        (["evolve", "ffffff", "Likes coffee.", "--reason", "x"], 2, "ffffff"),
        (["confirm", "ffffff"], 2, "ffffff"),
        (["settle", "ffffff", "--replaces", "eeeeee"], 2, "ffffff"),
        (["settle", "ffffff"], 2, "nothing is settled"),
        (["forget", "ffffff"], 2, "ffffff"),
        (["erase", "ffffff", "--yes"], 2, "ffffff"),
    ],
)
def test_what_cannot_be_done_is_said_with_a_remedy(run: Run, words: list[str], code: int, said: str) -> None:
    """The exit code, the message and the hint on standard error, and nothing on standard output."""
    told = run(*words)

    assert (told.returncode, told.stdout) == (code, "")
    assert said in told.stderr
    assert len(told.stderr.splitlines()) == 2


def test_in_a_repository_an_entry_is_saved_with_its_project(run: Run, folder: Path) -> None:
    """Each list says so and can be limited to it; an option names another project, or none."""
    (folder / ".git").mkdir()
    told = run("save", "The tests run with `make check`.", "--kind", "workflow").stdout
    other = saved(run, "The hull is painted in spring.", "--project", "boat")["fact"]
    none = saved(run, "Bread is baked on Sundays.", "--no-project")["fact"]
    listed = run("facts", "--project", "working").stdout
    shown = run("show", told.split()[1]).stdout
    found = run("search", "make check", "--mode", "words").stdout
    both = run("save", "Anything.", "--project", "boat", "--no-project")

    assert told.endswith(": The tests run with `make check`.  (project working)\n")
    assert ("make check" in listed, "hull" in listed, "Bread" in listed) == (True, False, False)
    assert f"project working, {folder}" in shown
    assert "(project working)" in found
    assert ((other["project"], other["project_root"]), none["project"]) == (("boat", ""), "")
    assert (both.returncode, "cannot be combined" in both.stderr) == (2, True)


WORDS = ("alarm", "greenhouse", "tulip", "daffodil", "crocus", "snowdrop")


def test_no_commit_message_holds_words_of_an_entry(run: Run, vault: Path) -> None:
    """Whatever is done to it: a message cannot be erased, and outlives the purge of the paths it names."""
    kept = saved(run, "The alarm code of the greenhouse is Tulip.", "--kind", "fact")["id"]
    new = answer(run("evolve", kept, "The alarm code of the greenhouse is Daffodil.", "--reason", "new", "--json"))
    id_ = new["remembered"]["id"]
    run("confirm", id_)
    run("load", id_)
    (note,) = vault.glob("Agent/Memory/_always-load/*.md")
    note.write_text(note.read_text().replace("Daffodil", "Crocus"))  # a person's edit is committed before ours
    run("load", id_, "--on-demand")
    run("undo")
    run("forget", id_, "--reason", "snowdrop is the code now")
    with open_memory(vault, actor="agent") as memory:
        memory.entries.add(NewEntry("The greenhouse alarm is Snowdrop.", kind="fact", always_load=True))
        memory.entries.add(NewEntry("Another greenhouse alarm is Snowdrop.", kind="fact", always_load=True))
    waiting = [each["id"] for each in answer(run("review", "list", "--json"))["waiting"]]
    run("review", "approve", waiting[0])
    run("review", "reject", waiting[1], "--reason", "no snowdrop")
    run("undo")
    for each in (kept, id_, waiting[0]):
        assert run("erase", each, "--yes").returncode == 0, each
    messages = git(vault, "log", "--all", "--format=%B")

    assert len(messages.split("Commonplace-Kind: ")) > 10
    assert [word for word in WORDS if word in messages.lower()] == []
    assert f"commonplace: save fact {kept[-6:]}\n" in messages


def test_what_messages_do_not_name_can_still_be_undone_and_is_still_erased(run: Run, vault: Path) -> None:
    """Moves and paths of our commits are known from what they changed."""
    first = saved(run, "Ada works at Acme.", "--subject", "Ada", "--predicate", "works_at", "--object", "Acme")["id"]
    run("evolve", first, "Ada works at Beta.", "--object", "Beta", "--reason", "a new job")
    undone = run("undo")

    assert undone.returncode == 0, undone.stderr
    assert answer(run("show", first, "--json"))["fact"]["status"] == "active"
    assert run("erase", first, "--yes").returncode == 0
    assert "Acme" not in run("log").stdout
    assert run("undo").returncode == 2
