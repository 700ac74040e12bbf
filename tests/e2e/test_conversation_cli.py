"""Conversations from the command line; as a process where a terminal asks or shows."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from commonplace.app.vaults import user_data_folder
from tests.command_line import Run, answer, calling, new_vault, run_commonplace
from tests.terminal import on_a_terminal
from tests.warm import warm_program

TALK = "# The boat\n\nUser: My boat is called Argo.\n\nAssistant: A fine name.\nIt was the ship of Jason.\n"


def test_a_conversation_is_added_listed_shown_found_and_erased(run: Run, tmp_path: Path) -> None:
    """From a file and from standard input; what is added again is known."""
    file = tmp_path / "talk.md"
    file.write_text(TALK)
    added = run("conversation", "add", str(file), "--interface", "chatgpt", "--id", "7")
    again = run("conversation", "add", "-", "--interface", "chatgpt", "--id", "7", given=TALK + "\nUser: Thanks!\n")
    id_ = added.stdout.split(":")[0]
    listed, shown = run("conversation", "list").stdout, run("conversation", "show", id_[:8]).stdout
    found = run("search", "Argo Jason", "--mode", "words", "--source", "chat").stdout
    erased = run("conversation", "erase", id_, "--yes")
    after = run("conversation", "list")

    assert (added.stdout, added.stderr) == (f"{id_}: 2 messages added, 0 known\n", "")
    assert again.stdout == f"{id_}: 1 message added, 2 known\n"
    assert [listed.split("  ")[at] for at in (0, 2, 3)] == [id_, "3", "chatgpt"]
    assert listed.endswith("  The boat\n")
    assert shown.startswith("The boat  (chatgpt, 3 messages, told)\n\n  1. user  2")
    assert "     A fine name.\n     It was the ship of Jason.\n" in shown
    assert f"conversation:{id_} turn 2" in found
    assert (erased.stdout, after.stdout) == (f"erased {id_}: 3 messages\n", "")


def test_programs_get_json(run: Run) -> None:
    """Every verb answers it; times are UTC, turns are numbered."""
    first = {"role": "user", "content": "a", "at": "2026-03-01T09:00:00"}
    second = {"role": "ai", "content": "b", "name": "Bo", "id": "m2"}
    lines = f"{json.dumps(first)}\n{json.dumps(second)}\n"
    recorded = answer(run("conversation", "add", "--trust", "imported", "--json", given=lines))["recorded"]
    (listed,) = answer(run("conversation", "list", "--since", "2026-02", "-n", "1", "--json"))["conversations"]
    shown = answer(run("conversation", "show", recorded["id"], "--turn", "2", "--json"))
    erased = answer(run("conversation", "erase", recorded["id"], "--yes", "--json"))

    assert (recorded["added"], recorded["known"]) == (2, 0)
    assert listed["started"] == listed["updated"] == "2026-03-01T09:00:00Z"
    assert (listed["id"], listed["trust"], listed["turns"], listed["title"]) == (recorded["id"], "imported", 2, "a")
    assert shown["conversation"]["id"] == recorded["id"]
    assert shown["messages"] == [
        {"turn": 2, "role": "assistant", "author": "Bo", "at": "2026-03-01T09:00:00Z", "id": "m2", "text": "b"}
    ]
    assert erased["erased"] == {"id": recorded["id"], "messages": 2}


def test_some_turns_are_shown(run: Run) -> None:
    """One, some, or all from one on; what is not there is said."""
    id_ = run("conversation", "add", given="".join(f"User: turn {at}\n" for at in range(1, 6))).stdout.split(":")[0]

    def turns(*words: str) -> list[str]:
        shown = run("conversation", "show", id_, *words).stdout
        return [line.strip() for line in shown.splitlines() if line.startswith("     ")]

    assert turns("--turn", "2") == ["turn 2"]
    assert turns("--turns", "2-3") == ["turn 2", "turn 3"]
    assert turns("--turns", "4-") == ["turn 4", "turn 5"]
    assert "the conversation has 5" in run("conversation", "show", id_, "--turn", "9").stderr


@pytest.mark.parametrize(
    ("words", "given", "said"),
    [
        (["add"], "hello", "line 1: this line has no speaker"),
        (["add"], '[{"role": "robot", "content": "a"}]', "message 1: unknown role 'robot'"),
        (["add", "/no/such/file"], "", "cannot read the file"),
        (["add", "--trust", "sure"], "User: a", "no such trust: 'sure'"),
        (["show", "c-0"], "", "no such conversation: c-0"),
        (["show", "c-0", "--turns", "x"], "", "not a range of turns"),
        (["show", "c-0", "--turns", "1-2", "--turn", "1"], "", "cannot be combined"),
        (["show", "c-0", "--turns", "0-2"], "", "no such conversation"),
        (["erase", "c-0"], "", "erasing c-0 needs confirmation"),
        (["erase", "c-0", "--yes"], "", "no such conversation: c-0"),
        (["list", "--since", "soon"], "", "'soon' is not a time"),
    ],
)
def test_what_cannot_be_done_is_said_with_a_remedy(run: Run, words: list[str], given: str, said: str) -> None:
    """Exit code 2, and the message and the hint on standard error."""
    told = run("conversation", *words, given=given)

    assert (told.returncode, told.stdout) == (2, "")
    message, *_, hint = told.stderr.splitlines()
    assert said in message
    assert hint.startswith("  ")
    assert hint != message


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="no terminal to ask")
@pytest.mark.parametrize(("reply", "left"), [("y\n", 0), ("n\n", 1)])
def test_a_person_is_asked_about_what_would_be_erased(sample: Path, run: Run, reply: str, left: int) -> None:
    """By its whole id, its title without what steers a terminal, and the number of its messages."""
    id_ = run("conversation", "add", "--title", "The \x1b[31mboat", given=TALK).stdout.split(":")[0]
    outer, inner = os.openpty()
    command = [warm_program(), "--vault", str(sample), "conversation", "erase", id_[:6]]
    os.write(outer, reply.encode())
    done = subprocess.run(command, stdin=inner, capture_output=True, text=True, check=False)
    os.close(inner)
    os.close(outer)
    asked = done.stderr

    assert f"Erase {id_}, 'The boat', 2 messages, for good?" in asked
    assert "\x1b" not in asked
    assert len(answer(run("conversation", "list", "--json"))["conversations"]) == left


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="no terminal to ask")
def test_nobody_is_asked_about_what_is_not_there(sample: Path) -> None:
    """It is said at once."""
    outer, inner = os.openpty()
    command = [warm_program(), "--vault", str(sample), "conversation", "erase", "c-0"]
    done = subprocess.run(command, stdin=inner, capture_output=True, text=True, check=False)
    os.close(inner)
    os.close(outer)

    assert (done.returncode, done.stdout) == (2, "")
    assert "no such conversation: c-0" in done.stderr
    assert "for good?" not in done.stderr


def test_what_was_said_cannot_steer_the_terminal(vault: Path, run: Run) -> None:
    """Colours, cursor movements and turned directions are shown as signs."""
    id_ = run("conversation", "add", given="User: \x1b[31mred\x1b[2J \u202eevil").stdout.split(":")[0]
    seen = on_a_terminal("conversation", "show", id_, vault=vault)

    assert "red" in seen
    assert "\x1b" not in seen
    assert "\u202e" not in seen


def test_a_deleted_history_is_restored_and_told_and_a_sync_drops_nothing(run: Run) -> None:
    """Whatever comes first after the loss; doctor names the day and what was restored."""
    run("conversation", "add", "--interface", "chatgpt", "--id", "7", given=TALK)
    before = run("conversation", "list").stdout
    (database,) = user_data_folder().rglob("history.db")
    for file in database.parent.glob("history.db*"):
        file.unlink()
    synced, after = run("sync"), run("conversation", "list").stdout
    found = run("search", "Argo Jason", "--mode", "words", "--source", "chat").stdout
    doctor = run("doctor").stdout

    assert (synced.returncode, after) == (0, before)
    assert "A fine name." in found
    assert "history.db was missing, empty or damaged: 1 conversation restored" in doctor


def test_a_renamed_vault_keeps_its_conversations_when_it_is_registered_again(tmp_path: Path) -> None:
    """By its repository, also from another path."""
    new_vault(tmp_path / "one")
    run_commonplace("conversation", "add", "--interface", "chatgpt", "--id", "7", given=TALK)
    before = run_commonplace("conversation", "list").stdout
    (tmp_path / "one").rename(tmp_path / "two")
    run_commonplace("init", str(tmp_path / "two"))

    assert before
    assert calling(tmp_path / "two")("conversation", "list").stdout == before


def test_a_read_only_data_folder_is_told_and_can_be_read(run: Run) -> None:
    """No traceback: what is wrong, where, and what to do; and what is recorded can still be listed and shown."""
    run("conversation", "add", "--interface", "chatgpt", "--id", "7", given=TALK)
    run("sync")
    listed, shown = run("conversation", "list").stdout, run("search", "Argo", "--mode", "words", "-k", "1").stdout
    folder = user_data_folder()
    mounted = subprocess.run(["mount", "--bind", folder, folder], capture_output=True, text=True, check=False)
    if mounted.returncode:
        pytest.skip(f"mounting needs root: {mounted.stderr.strip()}")
    try:
        subprocess.run(["mount", "-o", "remount,ro,bind", folder], check=True)
        reads = [run("conversation", "list"), run("search", "Argo", "--mode", "words", "-k", "1"), run("log")]
        writes = [run("conversation", "add", "--id", "8", given=TALK), run("save", "Ada likes tea.")]
    finally:
        subprocess.run(["umount", folder], check=True)

    assert [each.returncode for each in reads] == [0, 0, 0]
    assert (reads[0].stdout, reads[1].stdout) == (listed, shown)
    for each in writes:
        assert each.returncode == 5
        assert "Read-only file system" in each.stderr
        assert "permission" in each.stderr
        assert "Traceback" not in each.stderr
