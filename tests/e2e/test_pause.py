"""Sessions come back to the vault's history through a real daemon; pausing keeps them out."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from commonplace.cli.invocation import with_local_times
from commonplace.daemon.capture.pauses import FILE
from commonplace.daemon.service.state_files import user_daemon_files
from tests.command_line import Run, answer
from tests.daemons import Daemon, Reply, running
from tests.polling import wait_for
from tests.transcript_lines import claude, claude_folder

TOKEN = "ghp_q8Zr2LmVx4Tn7WcKb1YdPf6GhJs9Ee0Ru3Ai"


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    """One daemon for all of these; each test has a session of its own."""
    with running(tmp_path_factory.mktemp("home")) as made:
        yield made


def say(daemon: Daemon, session: str, *texts: str, is_paused: bool = False) -> Path:
    """Write what is said to the session's transcript: now while it is paused, else after a pause that has just ended.

    The second in which a pause ended still belongs to it.
    """
    path = claude_folder(daemon.home) / f"{session}.jsonl"
    now = (datetime.now(UTC) + timedelta(seconds=0 if is_paused else 2)).isoformat()
    with path.open("a") as file:
        file.write("".join(claude("user", text, id_=str(uuid4()), at=now) for text in texts))
    return path


def stop(daemon: Daemon, session: str, path: Path, *, event: str = "stop", cwd: str = "/") -> Reply:
    """What the hook of Claude Code sends."""
    body = {"session_id": session, "transcript_path": str(path), "cwd": cwd}
    return daemon.call("POST", f"/hooks/v1/{event}", body=body, headers={"Commonplace-Client": "claude-code"})


def kept(daemon: Daemon, session: str) -> list[str]:
    """What is in history of a session."""
    shown = [daemon.call("GET", f"/api/v1/conversations/{id_}").json for id_ in ids_of(daemon, session)]
    return [message["text"] for each in shown for message in each["messages"]]


def ids_of(daemon: Daemon, session: str) -> list[str]:
    """Under which ids the session is kept: one, or none."""
    threads = daemon.call("GET", "/api/v1/conversations").json["conversations"]
    return [each["id"] for each in threads if each["source_id"] == session]


def status(daemon: Daemon) -> Any:
    return daemon.call("GET", "/daemon/status").json["capture"]


def bytes_of(file: Path) -> bytes:
    """What is in a file of the daemon, which may remove or replace it at any moment."""
    try:
        return file.read_bytes()
    except FileNotFoundError:
        return b""


def wait_read(daemon: Daemon, path: Path) -> None:
    """Wait until all of a transcript was read, or passed over."""

    def is_read() -> bool:
        known = [json.loads(bytes_of(file) or b"{}") for file in (daemon.state / "captures").glob("*.json")]
        return any((each.get("path"), each.get("recorded")) == (str(path), path.stat().st_size) for each in known)

    wait_for(is_read)


def test_a_session_is_in_history_after_the_hook_and_no_secret_is_anywhere(daemon: Daemon) -> None:
    """Phase end: the transcript is read, tagged with its program, and found; of a secret no file holds a trace."""
    path = say(daemon, "first", "The boat is called Argo.", f"Use {TOKEN} for the push.")
    reply = stop(daemon, "first", path, event="session-end")
    wait_read(daemon, path)
    found = daemon.call("POST", "/api/v1/search", body={"query": "what is the boat called"}).json["results"]

    assert (reply.status, reply.json["taken"]) == (202, True)
    assert kept(daemon, "first") == ["The boat is called Argo.", "Use [redacted] for the push."]
    assert "Argo" in str(found[0])
    for folder in ("data", "state"):
        for file in (daemon.home / folder).rglob("*"):
            assert not file.is_file() or TOKEN.encode() not in bytes_of(file), file


@pytest.mark.requirement("V-15")
def test_while_it_is_paused_nothing_is_recorded_and_nothing_of_it_later(daemon: Daemon) -> None:
    """The person says `pause` and `resume`; `status` shows it; the daemon needs no restart."""
    paused = daemon.command("pause", "--json")
    path = say(daemon, "second", "Not this.", is_paused=True)
    stop(daemon, "second", path)
    wait_read(daemon, path)
    shown, at_first = daemon.command("status").stdout, kept(daemon, "second")
    resumed = json.loads(daemon.command("resume", "--json").stdout)
    say(daemon, "second", "But this.")
    stop(daemon, "second", path)
    wait_for(lambda: kept(daemon, "second"))

    assert json.loads(paused.stdout)["changed"] is True
    assert "paused    everything, since 20" in shown
    assert at_first == []
    assert (resumed["changed"], resumed["paused"]) == (True, [])
    assert kept(daemon, "second") == ["But this."]


def test_a_conversation_is_paused_by_the_id_that_is_shown(daemon: Daemon) -> None:
    """Its id here, or that of its program."""
    path = say(daemon, "third", "One.")
    stop(daemon, "third", path)
    wait_for(lambda: kept(daemon, "third"))
    paused = daemon.command("pause", "--conversation", *ids_of(daemon, "third"))
    say(daemon, "third", "Two.", is_paused=True)
    stop(daemon, "third", path)
    wait_read(daemon, path)
    again = daemon.command("resume", "--conversation", "third")

    assert paused.stdout == "paused: conversation third\n"
    assert again.stdout == "recording again: conversation third\n"
    assert kept(daemon, "third") == ["One."]


def test_a_project_is_paused_with_all_below_it(daemon: Daemon) -> None:
    """Named by its folder, which must be there."""
    project = daemon.home / "project"
    (project / "inner").mkdir(parents=True)
    daemon.command("pause", "--project", str(project))
    paths = say(daemon, "fourth", "Not this.", is_paused=True), say(daemon, "fifth", "But this.")
    stop(daemon, "fourth", paths[0], cwd=str(project / "inner"))
    stop(daemon, "fifth", paths[1], cwd=str(daemon.home))
    for path in paths:
        wait_read(daemon, path)
    everything = daemon.command("resume")
    daemon.command("resume", "--project", str(project))

    assert (kept(daemon, "fourth"), kept(daemon, "fifth")) == ([], ["But this."])
    assert everything.stdout.startswith(f"was not paused: everything\nstill paused: project {project}, since ")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--project", "/nowhere/at/all"], "no such folder"),
        (["--project", "/", "--conversation", "x"], "cannot be combined"),
        (["--conversation", " "], "conversation id is empty"),
        (["--conversation", "c-000000000000"], "no such conversation"),
    ],
)
def test_what_cannot_be_paused_is_told(daemon: Daemon, words: list[str], said: str) -> None:
    """With exit code 2, and nothing is changed."""
    result = daemon.command("pause", *words)

    assert (result.returncode, said in result.stderr) == (2, True), result.stderr
    assert status(daemon)["paused"] == []


def test_a_file_elsewhere_is_refused(daemon: Daemon) -> None:
    """Whoever calls a hook cannot make the daemon read any file."""
    secret = daemon.home / "secret.jsonl"
    secret.write_text(claude("user", "Not a transcript.", id_="1"))
    reply = stop(daemon, "sixth", secret)

    assert reply.status == 403
    assert reply.json["error"]["reason"] == "path_escape"


def test_what_is_paused_is_shown_without_a_daemon(run: Run, tmp_path: Path) -> None:
    """By `pause --list`, `pause` itself, `status` and `doctor`; with the time since when."""
    nothing = run("pause", "--list")
    run("pause", "--project", str(tmp_path))
    first, again = run("pause"), run("pause")
    listed = run("pause", "--list").stdout.splitlines()
    shown, told = run("status"), answer(run("status", "--json"))
    found = {each["what"]: each["said"] for each in answer(run("doctor", "--json"))["findings"]}

    since = listed[1].removeprefix("everything, since ")
    assert nothing.stdout == "nothing is paused\n"
    assert (first.stdout, again.stdout) == ("paused: everything\n", f"already paused since {since}: everything\n")
    assert listed[0].startswith(f"project {tmp_path}, since 20")
    assert shown.stdout.splitlines()[1:] == [f"paused    {line}" for line in listed]
    assert (told["running"], [*map(with_local_times, told["capture"]["paused"])]) == (False, listed)
    assert with_local_times(found["recording"]) == f"paused: {listed[0]}; paused: {listed[1]}"
    assert [each["kind"] for each in answer(run("pause", "--list", "--json"))["paused"]] == ["project", "all"]
    assert run("pause", "--list", "--project", str(tmp_path)).returncode == 2


def test_a_list_of_pauses_that_cannot_be_used_is_a_finding(run: Run) -> None:
    """Nothing is recorded meanwhile, so it is said wherever pauses are shown."""
    run("pause")
    file = user_daemon_files().folder / FILE
    file.write_text("{")
    found = {each["what"]: each for each in answer(run("doctor", "--json"))["findings"]}

    assert found["recording"]["ok"] is False
    assert "remove it and pause again" in found["recording"]["remedy"]
    assert "the list of pauses cannot be used" in run("status").stdout
