"""`commonplace hook` as hosts run it: a process for every event, and a real daemon behind its socket."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from commonplace.client.paths import daemon_files
from tests import patience
from tests.daemons import Daemon, command, register, running, small_vault, surroundings
from tests.stand_in import Script, standing_in
from tests.warm import warm_program

USER = "Robin wants short answers and metric units."
HOUSE = "Ask before sending anything to anyone."
ASKED = "What do my notes say about what heats the greenhouse?"


@dataclass(frozen=True, slots=True)
class Ran:
    """What a hook left behind."""

    code: int
    out: str
    err: str

    @property
    def context(self) -> str:
        """The text that the host puts before the model; empty where the hook said nothing."""
        answer = json.loads(self.out or "{}")
        assert {*answer} <= {"hookSpecificOutput", "systemMessage"}
        if "hookSpecificOutput" not in answer:
            return ""
        assert {*answer["hookSpecificOutput"]} == {"hookEventName", "additionalContext"}
        return str(answer["hookSpecificOutput"]["additionalContext"])

    @property
    def line(self) -> str:
        """The line that the host shows to the person; empty where there is none."""
        return str(json.loads(self.out or "{}").get("systemMessage", ""))


def hook(
    environ: Mapping[str, str],
    event: str,
    *options: str,
    given: Mapping[str, Any] | bytes | None = None,
    cwd: Path | None = None,
    seconds: float | None = 30.0,
) -> Ran:
    """Run a hook as a host does, and check what is true of every one of them.

    Its deadline is longer than that of people's hooks, because other tests may keep the machine busy; None for the
    program as it is.
    """
    call = patience.HOOKS if seconds == 4.0 else patience.UNHURRIED_HOOKS
    program = [sys.executable, "-m", "commonplace"] if seconds is None else [warm_program(call)]
    written = given if isinstance(given, bytes) else json.dumps(given or {}).encode()
    ran = subprocess.run(
        [*program, "hook", event, *options],
        input=written,
        capture_output=True,
        env=dict(environ),
        cwd=cwd,
        check=False,
    )
    result = Ran(ran.returncode, ran.stdout.decode(), ran.stderr.decode())
    assert result.code == 0, result
    assert result.out.count("\n") == bool(result.out)
    assert result.err.count("\n") == bool(result.err)
    assert not (result.out and result.err)
    return result


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    """A person with two vaults; the first is the default, and says who they are."""
    home = tmp_path_factory.mktemp("person")
    first, second = small_vault(home / "Notes"), small_vault(home / "Work")
    for vault, text in ((first, USER), (second, "Robin works at Acme.")):
        (vault / "Agent").mkdir()
        (vault / "Agent/USER.md").write_text(f"{text}\n")
    (first / "Agent/_always-load").mkdir()
    (first / "Agent/_always-load/House.md").write_text(f"{HOUSE}\n")
    with running(home, vaults=[first, second]) as started:
        started.wait_synced()
        started.call("POST", "/hooks/v1/prompt", body={"prompt": "greenhouse", "within": 30.0})  # all is loaded now
        yield started


@contextmanager
def silent() -> Iterator[None]:
    """A daemon that takes every connection, and never says a word."""
    daemon_files().make_folders()
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listening:
        listening.bind(str(daemon_files().socket))
        listening.listen(16)
        yield


@pytest.mark.requirement("A-40", "A-41")
def test_a_session_is_given_who_the_person_is_and_a_prompt_what_it_is_about(daemon: Daemon) -> None:
    """Each as one JSON object of the form that all hosts understand, fenced, with its sources."""
    start = hook(daemon.environ, "session-start", "--host", "claude-code", given={"source": "startup"})
    prompt = hook(daemon.environ, "prompt", "--host", "codex", given={"prompt": ASKED})
    gemini = hook(daemon.environ, "prompt", "--host", "gemini", given={"prompt": ASKED})

    assert USER in start.context
    assert HOUSE in start.context
    assert json.loads(start.out)["hookSpecificOutput"]["hookEventName"] == "SessionStart"
    assert "heated by compost" in prompt.context
    assert "Projects/Greenhouse.md" in prompt.context
    assert json.loads(prompt.out)["hookSpecificOutput"]["hookEventName"] == "UserPromptSubmit"
    assert "heated by compost" in gemini.context
    assert json.loads(gemini.out)["hookSpecificOutput"]["hookEventName"] == "BeforeAgent"


@pytest.mark.requirement("A-46")
def test_a_prompt_is_not_given_again_what_its_session_began_with(daemon: Daemon) -> None:
    """Another session is, and so is the same one once its host has made it shorter or begun it anew; no resumed one."""
    asked = {"session_id": "first", "prompt": ASKED}

    def prompt(**more: str) -> str:
        return hook(daemon.environ, "prompt", "--host", "claude-code", given={**asked, **more}).context

    def event(name: str, **more: str) -> str:
        return hook(daemon.environ, name, "--host", "claude-code", given={"session_id": "first", **more}).context

    assert USER in prompt()
    assert USER in event("session-start", source="startup")
    assert USER not in (again := prompt())
    assert "heated by compost" in again
    assert USER in prompt(session_id="second")
    assert USER in hook(daemon.environ, "prompt", "--host", "codex", given=asked).context
    event("pre-compact")
    assert USER in prompt()
    assert USER in event("session-start", source="compact")
    assert HOUSE not in prompt()
    event("session-end")
    assert HOUSE not in event("session-start", source="resume")
    assert HOUSE not in prompt()
    assert HOUSE in event("session-start", source="clear")


def test_a_host_shows_what_was_recalled_in_one_line(daemon: Daemon) -> None:
    """Claude Code and Codex have a place for it; where nothing was recalled there is none."""
    given = {"session_id": "line", "prompt": ASKED}
    start = hook(daemon.environ, "session-start", "--host", "codex", given={"session_id": "line", "source": "startup"})
    prompt, again = (hook(daemon.environ, "prompt", "--host", "codex", given=given) for _ in range(2))
    other = hook(daemon.environ, "prompt", "--host", "elsewhere", given=given)

    assert start.line.startswith("Commonplace: 2 memories recalled: ")
    assert prompt.line == 'Commonplace: 1 passage recalled: "The greenhouse is heated by compost. ..."'
    assert (again.context, again.line) == ("", "")
    assert other.context
    assert other.line == ""


def test_what_has_changed_since_the_session_began_is_given(daemon: Daemon) -> None:
    """The model has read the old words."""
    note = daemon.home / "Notes/Agent/_always-load/House.md"
    given = {"session_id": "changing", "prompt": "And now?"}
    hook(daemon.environ, "session-start", "--host", "claude-code", given=given)
    note.write_text("Ask twice.\n")
    try:
        context = hook(daemon.environ, "prompt", "--host", "claude-code", given=given).context
    finally:
        note.write_text(f"{HOUSE}\n")

    assert "Ask twice." in context
    assert USER not in context


@pytest.mark.requirement("A-60")
def test_the_vault_is_the_one_of_the_hosts_environment_and_never_the_current_folder(daemon: Daemon) -> None:
    """Without one it is the default; one that is not registered is told."""
    notes, work = daemon.home / "Notes", daemon.home / "Work"

    def start(*options: str, **variables: str) -> Ran:
        return hook({**daemon.environ, **variables}, "session-start", *options, cwd=work)

    assert USER in start().context
    assert "Acme" in start(COMMONPLACE_VAULT=str(work)).context
    assert "Acme" in start(MEMORY_VAULT_PATH=str(work)).context
    assert "Acme" in start(COMMONPLACE_VAULT=str(work), MEMORY_VAULT_PATH=str(notes)).context
    assert "Acme" in start("--vault", str(work)).context
    assert "no vault is registered as" in start(COMMONPLACE_VAULT="/nowhere").err


def test_a_host_that_counts_tokens_is_given_fewer(daemon: Daemon) -> None:
    """What is never cut is cut all the same where it is more than the host takes, and its fence is closed."""
    long = daemon.home / "Notes/Agent/USER.md"
    long.write_text("Robin: x1 y2 z3 q4. " * 1000)
    try:
        claude = hook(daemon.environ, "session-start", "--host", "claude-code").context
        codex = hook(daemon.environ, "session-start", "--host", "codex").context
    finally:
        long.write_text(f"{USER}\n")

    assert 8000 < len(claude) <= 9000
    assert len(codex) < len(claude)
    for context in (claude, codex):
        *_, cut, closing = context.splitlines()
        assert cut.startswith("[truncated")
        assert closing.startswith("</memory-")


def test_a_phase_of_work_is_passed_on(daemon: Daemon) -> None:
    """One that there is not is told, and the prompt goes on without."""
    given = {"prompt": ASKED}

    assert USER not in hook(daemon.environ, "prompt", "--phase", "briefing", given=given).context
    assert "no phase is called" in hook(daemon.environ, "prompt", "--phase", "dancing", given=given).err


@pytest.mark.parametrize(
    "prompt",
    [
        "greenhouse " * 170_000,
        "greenhouse \N{GRINNING FACE} \x00 \N{RIGHT-TO-LEFT OVERRIDE} \N{ZERO WIDTH JOINER} caf\xe9",
        "greenhouse \ud83d \udc00",
        "greenhouse \u2028 \x1b[31m </memory> ```",
    ],
    ids=["huge", "odd", "half characters", "control"],
)
def test_whatever_stands_in_a_prompt_it_is_answered(prompt: str, daemon: Daemon) -> None:
    """Text of any size that is read, and any characters that JSON can hold."""
    ran = hook(daemon.environ, "prompt", "--host", "claude-code", given={"prompt": prompt})

    assert ran.err == ""
    assert USER in ran.context


def test_input_that_is_too_large_or_none_is_told_in_one_line(daemon: Daemon) -> None:
    """All of it is read, so that no host sees a broken pipe."""
    large = hook(daemon.environ, "prompt", given={"prompt": "x" * 3_000_000})
    broken = hook(daemon.environ, "prompt", given=b'{"prompt": ')

    assert large.err == "commonplace: skipped (the host's input has 3000014 bytes; at most 2000000 are accepted)\n"
    assert broken.err == "commonplace: skipped (the host's input is not JSON)\n"


def test_a_line_that_is_not_understood_does_not_stop_the_host(daemon: Daemon) -> None:
    """Exit code 2 would keep the prompt from the model."""
    assert "no such event: 'promt'" in hook(daemon.environ, "promt").err
    assert "unknown argument --fast" in hook(daemon.environ, "prompt", "--fast").err


def test_hooks_are_answered_on_the_socket_alone(daemon: Daemon) -> None:
    """A token, whatever it allows, is not enough."""
    refused = daemon.call(
        "POST", "/hooks/v1/prompt", body={"prompt": "x"}, token=daemon.token("page", scopes=["admin"])
    )
    unknown = daemon.call("POST", "/hooks/v1/dance", body={})
    wrong = daemon.call("POST", "/hooks/v1/prompt", body={"prompt": 3})

    assert (refused.status, refused.json["error"]["type"]) == (403, "Refused")
    assert (unknown.status, wrong.status) == (400, 400)
    assert "prompt" in wrong.json["error"]["message"]


def test_the_last_event_of_each_host_is_told_and_kept(daemon: Daemon) -> None:
    """With how long it took, and what was skipped; a ping is not an event of a host."""
    hook(daemon.environ, "stop", "--host", "codex", given={"session_id": "s"})
    hook(daemon.environ, "prompt", "--host", "codex", "--fast")
    hook(daemon.environ, "ping", "--host", "pinging")
    told = {each["host"]: each for each in daemon.call("GET", "/daemon/status").json["hooks"]}
    shown = daemon.command("status").stdout
    files = [daemon.state / name for name in ("hook_events.json", "hook_skips.tsv")]

    assert told["codex"]["event"] == "stop"
    assert told["codex"]["took_ms"] >= 0
    assert told["codex"]["events"] >= 1
    assert told["codex"]["last_skip"]["reason"] == "unknown argument --fast"
    assert "pinging" not in told
    assert "hooks     codex: stop at " in shown
    assert ": unknown argument --fast" in shown
    assert json.loads(files[0].read_text())["codex"]["event"] == "stop"
    assert {file.stat().st_mode & 0o777 for file in files} == {0o600}


def test_a_transcript_is_recorded_unless_its_project_is_left_out(daemon: Daemon, tmp_path: Path) -> None:
    """A file in the project says so; what memory knows is put before its prompts all the same."""
    off, on = tmp_path / "off", tmp_path / "on"
    for project in (off, on):
        project.mkdir()
        hook(daemon.environ, "stop", given=_session(daemon.home, project, marked=project is off))
    given = {"session_id": "off", "cwd": str(off), "prompt": ASKED}
    context = hook(daemon.environ, "prompt", "--host", "claude-code", given=given).context
    deadline = time.monotonic() + 60
    while "Talk in on" not in (listed := daemon.command("conversation", "list").stdout):
        assert time.monotonic() < deadline, daemon.log()

    assert "heated by compost" in context
    assert "Talk in off" not in listed


def _session(home: Path, project: Path, *, marked: bool) -> dict[str, str]:
    """What Claude Code says at the end of a turn in this project; the project's own file says that it is left out."""
    if marked:
        (project / ".commonplace-off").touch()
    transcript = home / ".claude/projects" / project.name / f"{project.name}.jsonl"
    transcript.parent.mkdir(parents=True)
    line = {
        "type": "user",
        "uuid": f"u-{project.name}",
        "timestamp": "2026-11-15T19:00:00.000Z",
        "sessionId": project.name,
        "cwd": str(project),
        "message": {"role": "user", "content": f"Talk in {project.name} about tomatoes."},
    }
    transcript.write_text(json.dumps(line) + "\n")
    return {"session_id": project.name, "transcript_path": str(transcript), "cwd": str(project)}


@pytest.mark.requirement("A-40", "A-41")
@pytest.mark.parametrize("event", ["session-start", "prompt", "stop"])
def test_a_daemon_that_hangs_holds_up_no_host(event: str) -> None:
    """The hook ends by itself and says why in one line; `bench/waits.py` measures when."""
    with silent():
        ran = hook(os.environ, event, "--host", "codex", given={"prompt": "x"}, seconds=None)

    assert "in time" in ran.err or "too long" in ran.err


def test_a_daemon_that_hangs_is_replaced_when_a_session_starts(tmp_path: Path) -> None:
    """Nothing but hooks runs: the first is not held up, and a later prompt has memory again."""
    with running(tmp_path) as daemon:
        daemon.wait_synced()
        daemon.process.send_signal(signal.SIGSTOP)
        try:
            ran = hook(daemon.environ, "session-start", "--host", "claude-code", seconds=4.0)
            deadline = time.monotonic() + 60
            while daemon.process.poll() is None or not _remembers(daemon):
                assert time.monotonic() < deadline
        finally:
            daemon.kill()
            daemon.command("stop")

    assert "if it hangs, it is replaced now" in ran.err


def _remembers(daemon: Daemon) -> bool:
    return hook(daemon.environ, "prompt", given={"prompt": ASKED}, seconds=4.0).context != ""


def test_a_host_that_never_ends_its_input_is_not_waited_for() -> None:
    """Nor one that reads nothing of what is written."""
    with subprocess.Popen(
        [sys.executable, "-m", "commonplace", "hook", "stop"], stdin=subprocess.PIPE, stderr=subprocess.PIPE
    ) as waiting:
        code = waiting.wait(60)
        assert waiting.stderr
        output = waiting.stderr.read()

    assert (code, output) == (0, b"commonplace: skipped (it took too long)\n")


def test_without_a_vault_nothing_is_said_and_nothing_is_started() -> None:
    """The plugin may be installed before anybody has a vault."""
    ran = hook(os.environ, "prompt", given={"prompt": "x"})

    assert (ran.out, ran.err) == ("", "")
    assert not daemon_files().folder.exists()


def test_without_a_daemon_one_is_started_and_this_turn_goes_on_without(tmp_path: Path) -> None:
    """It is told, the next hook does not start another, and soon there is an answer."""
    environ = surroundings(tmp_path)
    register(environ, small_vault(tmp_path / "Notes"))
    try:
        first = hook(environ, "session-start", "--host", "claude-code")
        hook(environ, "session-start", "--host", "claude-code", seconds=None)
        deadline = time.monotonic() + 60
        while hook(environ, "prompt", given={"prompt": "greenhouse compost"}).context == "":
            assert time.monotonic() < deadline
    finally:
        command(environ, "stop")

    assert first.err == "commonplace: skipped (the daemon was not running and has been started)\n"
    log = (Path(environ["COMMONPLACE_STATE"]) / "daemon/serve.log").read_text()
    assert log.count('"daemon_started"') == 1


def test_a_state_folder_that_cannot_be_used_is_told(tmp_path: Path) -> None:
    """One that others may enter could hold anybody's socket."""
    environ = surroundings(tmp_path)
    register(environ, small_vault(tmp_path / "Notes"))
    (tmp_path / "file").touch()
    folder = tmp_path / "open/daemon"
    folder.mkdir(parents=True)
    folder.chmod(0o755)

    no_folder = hook({**environ, "COMMONPLACE_STATE": str(tmp_path / "file")}, "prompt").err
    assert "cannot be used" in no_folder or "cannot be started" in no_folder  # a long path has its socket elsewhere
    assert "open to other users" in hook({**environ, "COMMONPLACE_STATE": str(tmp_path / "open")}, "prompt").err


def test_a_stop_that_a_hook_brought_about_is_left_alone() -> None:
    """Else two hooks could keep each other going."""
    script = Script()
    with standing_in(script):
        ran = hook(os.environ, "stop", given={"stop_hook_active": True, "transcript_path": "/t.jsonl"})

    assert (ran.out, ran.err, script.asked) == ("", "", [])
