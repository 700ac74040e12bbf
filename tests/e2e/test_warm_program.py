"""The warm program that stands for the real one in tests: nobody who calls it can tell the difference."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.polling import wait_for
from tests.warm import Child, WarmProcess, warm, warm_program

SHOW = "tests.e2e.test_warm_program:show"
WAIT = "tests.e2e.test_warm_program:wait"
REAL = "from tests.e2e.test_warm_program import show; show()"


def show(*_: str) -> None:
    """Print what a program knows of its surroundings, and end with code 3."""
    mask = os.umask(0)
    streams = {
        name: (stream.encoding, stream.errors, stream.line_buffering, stream.isatty(), stream.fileno())
        for name, stream in (("in", sys.stdin), ("out", sys.stdout), ("err", sys.stderr))
    }
    signals = {number: str(signal.getsignal(number)) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGCHLD)}
    environ = {name: value for name, value in os.environ.items() if name not in ("_", "PYTHONPATH")}
    known = (environ, os.getcwd(), mask, streams, signals, sys.argv[1:], sys.stdin.read(), signal.set_wakeup_fd(-1))
    print(json.dumps(known, sort_keys=True))  # noqa: T201
    sys.exit(3)


def wait(file: str) -> None:
    """Write the number of this process to a file, and do nothing until a signal comes."""
    Path(file).write_text(str(os.getpid()))
    signal.pause()


def _run(*command: str, environ: Mapping[str, str], folder: Path) -> tuple[int, str]:
    ran = subprocess.run(
        command, env=environ, cwd=folder, input="given\n", stdout=subprocess.PIPE, text=True, check=False
    )
    return ran.returncode, ran.stdout


def test_a_warm_program_has_the_surroundings_of_its_caller(tmp_path: Path) -> None:
    """Words, environment, folder, standard streams, signals and exit code are those of a program started anew."""
    root = Path(__file__).parents[2]
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join([str(root), *sys.path]), "TEST_NAME": "caf\xe9"}
    real = _run(sys.executable, "-c", REAL, "a", "\xe9", environ=environ, folder=tmp_path)
    forked = {name: value for name, value in environ.items() if name != "PYTHONPATH"}

    assert _run(warm_program(SHOW), "a", "\xe9", environ=forked, folder=tmp_path) == real
    assert (real[0], "given" in real[1]) == (3, True)


def test_what_an_interpreter_reads_when_it_starts_cannot_be_changed_by_a_fork() -> None:
    """It is refused, not left out."""
    ran = subprocess.run(
        [warm_program(), "--version"], env={**os.environ, "PYTHONUTF8": "0"}, stderr=subprocess.PIPE, check=False
    )

    assert (ran.returncode, b"start the real program" in ran.stderr) == (1, True)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_signal_to_the_warm_program_ends_its_child(number: signal.Signals, tmp_path: Path) -> None:
    """It ends by the same signal, and nothing is left running."""
    file = tmp_path / "pid"
    process = subprocess.Popen([warm_program(WAIT), str(file)])
    wait_for(lambda: file.exists() and file.read_text() != "")
    process.send_signal(number)

    assert process.wait(60) == -number
    wait_for(lambda: not _runs(int(file.read_text())))


def test_no_child_outlives_the_process_of_the_tests(tmp_path: Path) -> None:
    """Whether it is closed with its connection or with the warm process."""
    with WarmProcess() as another:
        children = [_waiting(each, tmp_path / name) for each, name in ((warm(), "one"), (another, "two"))]
        children[0].connection.close()
    children[1].connection.close()

    wait_for(lambda: not any(_runs(child.pid) for child in children))


def _waiting(process: WarmProcess, file: Path) -> Child:
    child = process.fork(WAIT, str(file), output=Path(os.devnull), errors=file.with_suffix(".err"))
    wait_for(file.exists)
    return child


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
