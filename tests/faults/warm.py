"""A process that has loaded the program once and forks a child for each order: a kill costs no new interpreter.

    with WarmProcess("tests.faults.writing") as warm:
        child = warm.fork("tests.faults.writing:write_until_killed", "/vault", "w1", output=acknowledged, errors=log)
        child.kill()

It is a process of its own and has one thread, because a fork of a process with threads may hang, and the tests have
threads: the person who edits, the clients of a daemon.
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import IO, Any, Final, Self

from tests.daemons import Launch, Process

ROOT: Final = Path(__file__).parents[2]
# Linear algebra libraries start threads of their own when they are loaded.
ONE_THREAD: Final = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
# What a daemon loads after it has started; no module of ours imports these at its top.
LATE: Final = (
    "Stemmer",
    "anyio._backends._asyncio",
    "anyio.streams.tls",
    "encodings.idna",
    "fastmcp.server.context",
    "fastmcp.server.sessions",
    "fastmcp.server.transforms.catalog",
    "griffe",
    "jsonref",
    "markdown_it",
    "requests",
    "simsimd",
    "uvicorn.lifespan.off",
    "uvicorn.loops.auto",
    "uvicorn.protocols.http.auto",
)


class WarmProcess:
    """The process that forks, with these modules loaded. Only one thread of a test may use it and its children."""

    def __init__(self, *modules: str) -> None:
        command = [sys.executable, "-m", "tests.faults.warm", *modules]
        environ = {**os.environ, **ONE_THREAD}
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(command, cwd=ROOT, env=environ, stdin=pipe, stdout=pipe, text=True, bufsize=1)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the process; children that live on are not its concern."""
        _of(self._process.stdin).close()
        self._process.wait(30)
        _of(self._process.stdout).close()

    def fork(
        self,
        target: str,
        *arguments: str,
        output: Path,
        errors: Path,
        environ: Mapping[str, str] | None = None,
    ) -> "Child":
        """A child in a session of its own that calls "module:function" with these words.

        What it prints is appended to `output` and `errors`. Its surroundings are those of the test unless given.
        """
        order = {
            "call": target,
            "arguments": arguments,
            "environ": dict(os.environ if environ is None else environ),
            "output": str(output),
            "errors": str(errors),
        }
        return Child(self, self.order(order))

    def order(self, order: Mapping[str, Any]) -> Any:
        """Send an order and return the answer."""
        _of(self._process.stdin).write(json.dumps(order) + "\n")
        answer = _of(self._process.stdout).readline()
        assert answer, "the warm process has ended"
        return json.loads(answer)


@dataclass
class Child:
    """A forked process, used like one of `subprocess`."""

    warm: WarmProcess
    pid: int
    returncode: int | None = None

    def poll(self) -> int | None:
        """Its exit code, the negative signal if one ended it, None while it runs."""
        if self.returncode is None:
            self.returncode = self.warm.order({"ended": self.pid, "wait": False})
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """The exit code when it has ended."""
        if timeout is None and self.returncode is None:
            self.returncode = self.warm.order({"ended": self.pid, "wait": True})
        deadline = time.monotonic() + (timeout or 0)
        while (code := self.poll()) is None:
            if time.monotonic() > deadline:
                raise subprocess.TimeoutExpired(f"process {self.pid}", timeout or 0)
            time.sleep(0.005)
        return code

    def kill(self, *, with_group: bool = False) -> None:
        """Kill it with signal 9, alone or with the processes it has started, and wait until it is gone."""
        (os.killpg if with_group else os.kill)(self.pid, signal.SIGKILL)
        self.wait()

    def terminate(self) -> None:
        """Ask it to end."""
        self.send_signal(signal.SIGTERM)

    def send_signal(self, number: int) -> None:
        """Send it a signal."""
        os.kill(self.pid, number)


@contextmanager
def warm_daemons(*, runs_jobs: bool = False) -> Iterator[Launch]:
    """Starts daemons in a fifth of the time, as `launch` of `tests.daemons.start`.

    With `runs_jobs` they look for due jobs at once and every second, not after a minute of quiet.
    """
    call = "tests.faults.warm:serve_with_jobs" if runs_jobs else "tests.faults.warm:run_program"
    with WarmProcess(*modules_of_a_daemon()) as warm:

        def launch(environ: Mapping[str, str], errors: Path) -> Process:
            nowhere = Path(os.devnull)
            return warm.fork(call, "serve", output=nowhere, errors=errors, environ=environ)

        yield launch


def _of(stream: IO[str] | None) -> IO[str]:
    assert stream
    return stream


def run_program(*words: str) -> None:
    """What `commonplace WORDS` does, in this process."""
    from commonplace.__main__ import main

    sys.argv[1:] = words
    main()


def serve_with_jobs(*words: str) -> None:
    """A daemon that looks for due jobs at once and every second."""
    from commonplace.daemon import jobs, serve

    serve._JOBS_FIRST, serve._JOBS_EVERY, jobs._QUIET_SECONDS = 0.0, 1.0, 0.0  # type: ignore[misc]
    run_program(*words)


def modules_of_a_daemon() -> list[str]:
    """Every module of ours, and what a daemon loads besides."""
    import commonplace

    ours = (module.name for module in walk_packages(commonplace.__path__, "commonplace."))
    return [*(name for name in ours if not name.endswith("__main__")), *LATE]


def _fork(order: dict[str, Any]) -> int:
    pid = os.fork()
    if pid:
        return pid
    code = 1
    try:
        code = _live(order)
    finally:
        os._exit(code)  # whatever happens, no second server comes out of this


def _live(order: dict[str, Any]) -> int:
    os.setsid()
    os.environ.clear()
    os.environ.update(order["environ"])
    adding = os.O_WRONLY | os.O_CREAT | os.O_APPEND
    for number, place in ((0, os.devnull), (1, order["output"]), (2, order["errors"])):
        opened = os.open(place, adding if number else os.O_RDONLY, 0o600)
        os.dup2(opened, number)
        os.close(opened)
    module, _, name = order["call"].partition(":")
    try:
        getattr(import_module(module), name)(*order["arguments"])
    except SystemExit as ended:
        if isinstance(ended.code, str):
            os.write(2, f"{ended.code}\n".encode())
        return ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except BaseException:
        import traceback

        traceback.print_exc()
        raise
    return 0


def _ended(pid: int, *, wait: bool) -> int | None:
    found, status = os.waitpid(pid, 0 if wait else os.WNOHANG)
    return os.waitstatus_to_exitcode(status) if found else None


def main() -> None:
    """Load modules, then fork children and say when they have ended, as told, until standard input ends."""
    for module in sys.argv[1:]:
        import_module(module)
    assert len(os.listdir("/proc/self/task")) == 1, "a thread was started while modules were loaded"
    for line in sys.stdin:
        order = json.loads(line)
        answer = _fork(order) if "call" in order else _ended(order["ended"], wait=order["wait"])
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
