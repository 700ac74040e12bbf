"""The first minutes of a new user: `init` harms nothing, and vaults can be listed, chosen, moved and removed."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from commonplace.cli.invocation import WRITING_COMMANDS
from commonplace.cli.main import COMMANDS, load_command
from commonplace.settings.registered_vaults import registered_vaults
from tests.command_line import answer, new_vault, run_commonplace
from tests.gitvault import git
from tests.polling import wait_for
from tests.terminal import on_a_terminal

READING_COMMANDS = frozenset(
    {
        *("search", "recall", "show", "facts", "timeline", "log", "status", "styles", "lint", "links", "context"),
        *("note read", "note list", "note stat", "note links", "note history", "review list", "review show"),
        *("conversation list", "conversation show", "topics infer", "stats", "eval", "doctor", "day"),
        *("calendar list", "commitment list", "jobs list", "jobs log", "project show", "user log", "user show"),
        *("template list", "template show", "template base"),
        *("learn log", "learn status", "learn spending"),
        *("task list", "task show", "correction list", "correction show"),
    }
)
MACHINE_COMMANDS = frozenset(
    {
        *("init", "vault list", "vault use", "vault move", "vault remove", "vault export", "vault import"),
        *("vault copy-history", "pause", "resume", "demo"),
        *("model install", "model list", "model use", "model status", "install", "uninstall", "mcp", "hook", "serve"),
        *("settings show", "settings keys", "settings set", "settings unset", "settings path", "settings example"),
        *("open", "stop", "token create", "token list", "token revoke"),
        *("person add", "person list", "person show", "person set", "person remove", "person invite"),
        *("person share", "person unshare", "person copy"),
    }
)


def write(folder: Path, *paths: str, text: str = "text\n") -> Path:
    for path in paths:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return folder


def listing(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


@pytest.mark.parametrize("words", [["init"], ["init", "."], ["init", "~", "--yes"], ["init", "~", "--dry-run"]])
def test_a_home_folder_is_refused_and_untouched(home: Path, monkeypatch: pytest.MonkeyPatch, words: list[str]) -> None:
    """It was committed as a whole, with the private key in it, and left with a repository."""
    write(home, ".ssh/id_rsa", "Documents/letter.txt", "note.md")
    monkeypatch.chdir(home)
    before = listing(home)
    result = run_commonplace(*words)

    assert (result.returncode, "is your home folder: it cannot be a vault" in result.stderr) == (3, True)
    assert listing(home) == before


def test_init_says_what_it_commits_what_it_leaves_out_and_what_comes_next(tmp_path: Path) -> None:
    """And it does what it said."""
    vault = write(tmp_path / "garden", "01 Inbox/a.md", "journal/b.md", ".obsidian/app.json", "keys/server.pem")
    planned = run_commonplace("init", str(vault), "--dry-run")
    before = listing(vault)
    done = run_commonplace("init", str(vault))

    assert planned.stdout.splitlines()[:3] == [
        "first commit: 2 files, 2 of them notes, 10 bytes",
        "left out as secret: 1 file (keys/server.pem)",
        "left out as hidden: 1 file (.obsidian/)",
    ]
    assert (planned.stdout.splitlines()[-1], ".git" in before) == ("Nothing was changed.", False)
    assert done.stdout.splitlines()[:3] == planned.stdout.splitlines()[:3]
    assert "agents may write to: Agent, 01 Inbox, journal\n" in done.stdout
    assert "default: yes" in done.stdout
    commands = [line.split("  ")[1] for line in done.stdout.splitlines()[-4:]]
    assert commands == [
        'commonplace search "..."',
        "commonplace sync",
        "commonplace install claude-code",
        "commonplace welcome",
    ]
    assert git(vault, "ls-files").splitlines() == ["01 Inbox/a.md", "journal/b.md"]


def test_init_tells_programs_everything(tmp_path: Path) -> None:
    """The same as JSON."""
    vault = write(tmp_path / "garden", "a.md", ".env")
    told = answer(run_commonplace("init", str(vault), "--json"))

    assert told["commit"] == {"files": 1, "notes": 1, "bytes": 5}
    assert told["left_out"] == [{"path": ".env", "reason": "hidden", "files": 1, "bytes": 5}]
    assert (told["git"], told["default"], told["registered_before"], told["moved_from"]) == (
        "created",
        True,
        False,
        None,
    )
    assert told["folders"][:2] == ["Agent", "Inbox"]
    assert len(told["next"]) == 4


def test_a_folder_that_looks_like_no_vault_must_be_named_and_confirmed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The source of a program is not put under git by accident."""
    source = write(tmp_path / "program", "package.json", *[f"src/{number}.c" for number in range(12)])
    monkeypatch.chdir(source)
    unnamed = run_commonplace("init", "--yes")
    named = run_commonplace("init", str(source))

    for refused in (unnamed, named):
        assert (refused.returncode, "source of a program (package.json)" in refused.stderr) == (3, True)
    assert (source / ".git").exists() is False
    assert run_commonplace("init", str(source), "--yes").returncode == 0
    assert (source / ".git").is_dir()


def test_the_proposed_folders_are_where_agents_may_write(tmp_path: Path) -> None:
    """Kept in the person's own settings for this vault; nothing of it is in the vault."""
    vault, other = write(tmp_path / "garden", "Tagebuch/a.md", "Rezepte/b.md"), tmp_path / "other"
    new_vault(vault)
    new_vault(other)

    assert _allowlist(vault) == ["Inbox", "Tagebuch"]
    assert _allowlist(other)[:2] == ["Inbox", "Meetings"]
    assert listing(vault)[-4:] == ["Rezepte", "Rezepte/b.md", "Tagebuch", "Tagebuch/a.md"]
    assert run_commonplace("init", str(vault), "--folders", "Rezepte, Inbox/").returncode == 0
    assert _allowlist(vault) == ["Rezepte", "Inbox"]
    assert answer(run_commonplace("init", str(vault), "--json"))["folders"] == ["Agent", "Rezepte", "Inbox"]
    assert run_commonplace("init", str(vault), "--folders", "../x").returncode == 2


def _allowlist(vault: Path) -> Any:
    shown = answer(run_commonplace("--vault", str(vault), "settings", "show", "safety.path_allowlist", "--json"))
    return shown["settings"][0]["value"]


def test_a_person_is_asked_on_a_terminal(tmp_path: Path) -> None:
    """About the commit, and about the folders; a no changes nothing."""
    vault = write(tmp_path / "garden", "Journal/a.md")
    refused = on_a_terminal("init", str(vault), vault=vault, typed="n\n")
    agreed = on_a_terminal("init", str(vault), vault=vault, typed="y\nInbox, Journal, Recipes\n")

    assert "first commit: 1 file" in refused
    assert "Go on? [Y/n]" in refused
    assert "Folders [Inbox, Journal]" in agreed
    assert _allowlist(vault) == ["Inbox", "Journal", "Recipes"]


def test_the_first_vault_is_the_default_until_another_is_chosen(tmp_path: Path) -> None:
    """A second `init` says so, and how to change it; `vault use` does."""
    new_vault(tmp_path / "one")
    second = run_commonplace("init", str(tmp_path / "two"))
    used = run_commonplace("vault", "use", "two")
    listed = answer(run_commonplace("vault", "list", "--json"))["vaults"]

    assert f"default: no, that is {tmp_path / 'one'}; `commonplace vault use {tmp_path / 'two'}`" in second.stdout
    assert used.stdout == f"default: {tmp_path / 'two'}\n"
    assert [(each["vault"], each["default"], each["state"]) for each in listed] == [
        (str(tmp_path / "one"), False, "ready"),
        (str(tmp_path / "two"), True, "ready"),
    ]


def test_a_command_that_writes_names_its_vault_when_there_are_several(tmp_path: Path) -> None:
    """On standard error for people, as a field for programs; not while there is only one."""
    new_vault(tmp_path / "one")
    alone = run_commonplace("save", "Ada likes tea.")
    new_vault(tmp_path / "two")
    several = run_commonplace("save", "Bea likes tea.")
    as_json = answer(run_commonplace("--vault", str(tmp_path / "two"), "save", "Cy likes tea.", "--json"))

    assert f"vault: {tmp_path / 'one'}" not in alone.stderr
    assert f"vault: {tmp_path / 'one'}\n" in several.stderr
    assert as_json["vault"] == str(tmp_path / "two")
    assert "vault" not in answer(run_commonplace("note", "list", "--json"))


def test_every_command_is_known_to_write_or_not() -> None:
    """A new one is added to one of the three tables."""
    names = {"learn"}  # learns, if no word follows
    for name in COMMANDS:
        command = load_command(name)
        names |= {f"{name} {each}" for each in getattr(command, "commands", {})} or {name}

    assert names == WRITING_COMMANDS | READING_COMMANDS | MACHINE_COMMANDS
    assert not WRITING_COMMANDS & (READING_COMMANDS | MACHINE_COMMANDS)


def test_a_vault_that_was_moved_is_found_again_with_its_history(tmp_path: Path) -> None:
    """The error names the command; naming the new folder is enough, too."""
    new_vault(tmp_path / "one")
    run_commonplace("save", "Ada likes tea.")
    (tmp_path / "one").rename(tmp_path / "two")
    gone = run_commonplace("log")
    moved = run_commonplace("vault", "move", str(tmp_path / "one"), str(tmp_path / "two"))
    history = run_commonplace("log").stdout
    (tmp_path / "two").rename(tmp_path / "three")
    recognised = run_commonplace("--vault", str(tmp_path / "three"), "log")

    assert (gone.returncode, f"`commonplace vault move {tmp_path / 'one'} NEW_FOLDER`" in gone.stderr) == (5, True)
    assert moved.stdout == f"found: {tmp_path / 'two'}\nwas: {tmp_path / 'one'}\n"
    assert (history.count("ada-likes-tea"), recognised.stdout) == (1, history)
    assert f"This vault was in {tmp_path / 'two'}: its history and index follow it to" in recognised.stderr
    assert registered_vaults().default == tmp_path / "three"


def test_a_vault_is_moved_by_the_command(tmp_path: Path) -> None:
    """If it is still in its old place."""
    new_vault(write(tmp_path / "one", "a.md"))
    told = answer(run_commonplace("vault", "move", "one", str(tmp_path / "two"), "--json"))

    assert (told["moved"], (tmp_path / "two/a.md").exists(), (tmp_path / "one").exists()) == (True, True, False)
    assert run_commonplace("note", "list").stdout == "a.md\n"


def test_a_removed_vault_keeps_its_notes_and_if_wanted_its_data(tmp_path: Path) -> None:
    """`init` finds the data again; `--with-data` needs consent and removes it with the settings for the vault."""
    vault = new_vault(write(tmp_path / "one", "Journal/a.md"))
    run_commonplace("save", "Ada likes tea.")
    data = Path(answer(run_commonplace("vault", "list", "--json"))["vaults"][0]["data"])
    run_commonplace("vault", "remove", "one")
    removed = run_commonplace("log")
    new_vault(vault)
    again = run_commonplace("log")
    unsure = run_commonplace("vault", "remove", "one", "--with-data")
    kept = data.exists()
    deleted = answer(run_commonplace("vault", "remove", "one", "--with-data", "--yes", "--json"))

    assert "no vault was given" in removed.stderr
    assert "ada-likes-tea" in again.stdout
    assert (unsure.returncode, kept, data.exists(), len(deleted["data"])) == (2, True, False, 2)
    assert (vault / "Journal/a.md").exists()
    assert (vault / ".git").is_dir()
    assert registered_vaults().entries == registered_vaults().removed == ()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_an_init_that_is_stopped_leaves_no_repository(tmp_path: Path, home: Path, number: signal.Signals) -> None:
    """Whether it can still clean up or not: the vault gets a whole repository or none."""
    vault = write(tmp_path / "garden", "a.md", "b.md")
    hook = tmp_path / "git-that-waits"
    hook.mkdir()
    (hook / "git").write_text(
        f'#!/bin/sh\ncase "$*" in *"commit --quiet"*) touch {tmp_path}/committing; exec sleep 60;; esac\n'
        f'exec {_git()} "$@"\n'
    )
    (hook / "git").chmod(0o755)
    environ = {**os.environ, "PATH": f"{hook}:{os.environ['PATH']}"}
    plainly = ("env", "--default-signal=INT")  # a background job may have been started with Ctrl-C ignored
    process = subprocess.Popen([*plainly, sys.executable, "-m", "commonplace", "init", str(vault)], env=environ)
    wait_for((tmp_path / "committing").exists)
    process.send_signal(number)
    code = process.wait(50)  # not for git

    assert code not in (0, None)
    assert not (vault / ".git").exists()
    assert registered_vaults().entries == ()
    if number != signal.SIGKILL:
        assert listing(vault) == ["a.md", "b.md"]
        assert not (home / "data").exists()
    new_vault(vault)
    assert sorted(path.name for path in vault.iterdir()) == [".git", "a.md", "b.md"]


def _git() -> str:
    import shutil

    return str(shutil.which("git"))


def test_the_list_of_vaults_of_an_earlier_version_is_read(tmp_path: Path, home: Path) -> None:
    """And gets names and repositories when it is listed."""
    vault = new_vault(tmp_path / "one")
    registry = home / "config/commonplace/vaults.json"
    registry.write_text(json.dumps({"default": str(vault), "vaults": [str(vault)]}))
    listed = answer(run_commonplace("vault", "list", "--json"))["vaults"]

    assert [(each["vault"], each["default"]) for each in listed] == [(str(vault), True)]
    assert json.loads(registry.read_text())["vaults"][0]["repository"]


def test_another_folder_in_a_vaults_place_is_neither_shown_nor_taken(tmp_path: Path) -> None:
    """It was "ready", had the vault's conversations, and the vault itself got none when it was registered anew."""
    vault = new_vault(write(tmp_path / "one", "a.md"))
    vault.rename(tmp_path / "two")
    write(vault, "o.md")
    listed = run_commonplace("vault", "list").stdout
    errors = [run_commonplace(*words) for words in (["conversation", "list"], ["sync"], ["doctor"])]
    again = run_commonplace("init", str(vault))
    moved = run_commonplace("vault", "move", str(vault), str(tmp_path / "two"))

    assert listed.rstrip().endswith("  another folder, default")
    for each in errors:
        assert "another folder is where the vault was" in each.stdout + each.stderr
        assert f"commonplace vault move {vault} NEW_FOLDER" in each.stdout + each.stderr
    assert (again.returncode, "another folder is where a vault was registered" in again.stderr) == (3, True)
    assert (moved.stdout.splitlines()[0], (vault / ".git").exists()) == (f"found: {tmp_path / 'two'}", False)
    assert run_commonplace("vault", "list").stdout.rstrip().endswith("  ready, default")


def test_a_yes_at_the_question_for_folders_is_no_folder(tmp_path: Path) -> None:
    """It takes what is proposed, and a no ends it; also for a folder that does not exist yet, which is asked first."""
    new, never = tmp_path / "new", tmp_path / "never"
    taken = on_a_terminal("init", str(new), vault=new, typed="y\ny\n")
    refused = on_a_terminal("init", str(never), vault=never, typed="y\nno\n")

    assert taken.index("will be created as a vault") < taken.index("Go on? [Y/n]") < taken.index("Folders [Inbox")
    assert (_allowlist(new)[0], "y" in _allowlist(new)) == ("Inbox", False)
    assert ("Folders [" in refused, never.exists()) == (True, False)


def test_an_end_at_a_question_says_that_nothing_was_changed(tmp_path: Path) -> None:
    """As after Ctrl-C; it said nothing at all."""
    vault = write(tmp_path / "garden", "a.md")
    shown = on_a_terminal("init", str(vault), vault=vault, typed="\x04", with_errors=True)

    assert shown.rstrip().endswith("Nothing was changed.")
    assert listing(vault) == ["a.md"]


def test_init_names_the_repository_around_the_folder(tmp_path: Path) -> None:
    """Commits of agents go into it, or a repository in it is new."""
    outer = write(tmp_path / "outer", "N/a.md")
    git(outer, "init", "--quiet")
    git(outer, "add", ".")
    git(outer, "-c", "user.name=A", "-c", "user.email=a@b.c", "commit", "--quiet", "-m", "all")
    write(outer, "M/b.md")
    inner, nested = (run_commonplace("init", str(outer / name), "--dry-run").stdout for name in ("N", "M"))

    assert (
        f"git: existing repository, left as it is, inside the repository {outer}, where the commits of agents go\n"
        in inner
    )
    assert (
        f"git: new repository, with the first commit above, inside the repository {outer}, which tracks no file of this"
        in nested
    )


def test_the_plan_names_notes_with_keys_and_with_v_all_that_is_left_out(tmp_path: Path) -> None:
    """Some of the names are enough without it."""
    vault = write(tmp_path / "garden", "node_modules/x/index.js", *(f"{number}.pem" for number in range(5)))
    write(vault, "Server.md", text="The token is ghp_9aTb3kLm0PqRs7UvWx2YzA4BcD6EfG8HiJ1k\n")
    git(write(vault, "sub/c.md") / "sub", "init", "--quiet")
    short, full = (run_commonplace("init", str(vault), "--dry-run", *words).stdout for words in ([], ["-v"]))

    assert "left out as dependencies of programs: 1 file (node_modules/)\n" in short
    assert "left out as another repository, though search still finds its notes: 1 folder (sub/)\n" in short
    assert (
        "1 note holds what looks like a key, and will be committed: Server.md; if it is real, remove it first\n"
        in short
    )
    assert ("and 2 more" in short, all(f"{number}.pem" in full for number in range(5))) == (True, True)
