"""A process that has loaded the program once and forks a child for each order: no child pays for an interpreter.

    child = warm().fork("tests.warm:run_program", "serve", output=Path(os.devnull), errors=log, environ=environ)
    child.kill()
    subprocess.run([warm_program(), "note", "list"])

`warm_program()` is a small program for shells, hosts and `subprocess`: it sends its words, environment, folder and
standard streams to the warm process, passes signals on to the child, and ends as the child ended. It starts in 15 ms.

The warm process has one thread, because a fork of a process with threads may hang. It only loads modules and works out
what depends on nothing, in surroundings that are no person's; a child sets its own before it does anything. A child
differs from a new process in these: its parent is the warm process, it leads a process group, it has no controlling
terminal, and its hash seed and its libraries' threads are those of the warm process. A child whose surroundings would
change how an interpreter starts (PYTHONUTF8, LC_ALL) is refused.

These start the real program with an interpreter of its own:

- `tests/e2e/test_cli.py`: the program of the tests is the program; an answer that cannot be written.
- `tests/e2e/test_hooks.py`: all that is about deadlines.
- `tests/docs/test_docs.py`: the daemon of the page about serving.
- `tests/e2e/test_serve.py`: the end of a daemon, its first answer, and those that start in the background.
- `tests/e2e/test_mcp_stdio.py`, `test_search_cli.py` (`watch`), `test_vault_cli.py` (an init that is stopped).
"""

import atexit
import gc
import io
import marshal
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from inspect import signature
from pathlib import Path
from pkgutil import walk_packages
from typing import Any, Final, NamedTuple, NoReturn, Self

ROOT: Final = Path(__file__).parents[1]
RUN: Final = "tests.warm:run_program"
MODULE: Final = "tests.warm:run_module"
DEMO: Final = "tests.warm:run_demo"
CODE: Final = "tests.warm:run_code"
INTERPRETER: Final = "INTERPRETER_OF_THE_DEMO"
# Linear algebra libraries start threads of their own when they are loaded.
ONE_THREAD: Final = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
# What a daemon or a command loads after it has started; no module of ours imports these at its top.
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
    "rich.console",
    "simsimd",
    "uvicorn.lifespan.off",
    "uvicorn.loops.auto",
    "uvicorn.protocols.http.auto",
)
_AT_START: Final = ("PYTHON", "LC_", "LANG")  # variables that an interpreter reads when it starts
_CLOCK: Final = ("LD_PRELOAD", "FAKETIME", "DONT_FAKE_MONOTONIC")  # that of tools/clock.py
_NEUTRAL: Final = ("PATH", "TMPDIR", "LD_LIBRARY_PATH", *_CLOCK)
_PURE: Final = ("facts", "model", "notes", "questions", "screening")  # rooms of stages, which do no I/O
_SIZE: Final = 8  # bytes of a number between the processes

_CLIENT: Final = '''#!{python} -IS
"""Runs `commonplace WORDS` as a child of the warm process; with no more modules than it must have."""
import _signal, _socket, marshal, posix, sys

_signal.signal(_signal.SIGINT, _signal.SIG_DFL)
umask = posix.umask(0)
posix.umask(umask)
order = marshal.dumps(({call!r}, sys.argv, posix.environ, posix.getcwd(), umask))
server = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
server.connect({address!r})
streams = b"".join(number.to_bytes(4, sys.byteorder) for number in (0, 1, 2))
server.sendmsg([len(order).to_bytes({size}, "big")], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, streams)])
server.sendall(order)
pid = int.from_bytes(server.recv({size}), "big") or sys.exit("the warm process has ended")


def pass_on(number, frame):
    try:
        posix.kill(pid, number)
    except ProcessLookupError:
        pass


for number in (_signal.SIGHUP, _signal.SIGINT, _signal.SIGQUIT, _signal.SIGTERM):
    _signal.signal(number, pass_on)
code = int.from_bytes(server.recv({size}) or sys.exit("the warm process has ended"), "big", signed=True)
if code < 0:
    if -code not in (_signal.SIGKILL, _signal.SIGSTOP):
        _signal.signal(-code, _signal.SIG_DFL)
    posix.kill(posix.getpid(), -code)
posix._exit(code)
'''


class Order(NamedTuple):
    """What a child is to do: call "module:function" with the words after the first, in these surroundings."""

    call: str
    words: Sequence[str]
    environ: Mapping[bytes, bytes]
    folder: str
    umask: int


class WarmProcess:
    """The process that forks, with these modules loaded."""

    def __init__(self, *modules: str) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="warm-"))
        self._address = str(self.folder / "socket")
        kept = {name: os.environ[name] for name in os.environ if name in _NEUTRAL or name.startswith(_AT_START)}
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listening:
            listening.bind(self._address)
            listening.listen(64)
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.warm", str(listening.fileno()), *modules],
                cwd=ROOT,
                env={**kept, **ONE_THREAD, "HOME": str(self.folder)},
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                pass_fds=[listening.fileno()],
                start_new_session=True,
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the process and all of its children."""
        assert self._process.stdin
        self._process.stdin.close()
        self._process.wait(30)
        shutil.rmtree(self.folder)

    def fork(
        self,
        target: str,
        *arguments: str,
        output: Path,
        errors: Path,
        environ: Mapping[str, str] | None = None,
    ) -> "Child":
        """A child that leads a process group and calls "module:function" with these words.

        What it prints is appended to `output` and `errors`. Its surroundings are those of the test unless given.
        """
        umask = os.umask(0)
        os.umask(umask)
        chosen = os.environ if environ is None else environ
        encoded = {os.fsencode(name): os.fsencode(value) for name, value in chosen.items()}
        order = marshal.dumps((target, ["commonplace", *arguments], encoded, os.getcwd(), umask))
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        connection.connect(self._address)
        with open(os.devnull, "rb") as nothing, output.open("ab") as out, errors.open("ab") as err:
            streams = [file.fileno() for file in (nothing, out, err)]
            socket.send_fds(connection, [len(order).to_bytes(_SIZE, "big")], streams)
            connection.sendall(order)
            pid = connection.recv(_SIZE)
        assert pid, "the warm process has ended"
        return Child(int.from_bytes(pid, "big"), connection)

    def program(self, call: str = RUN) -> str:
        """A program `commonplace` that does this in a child; its folder may stand in a PATH."""
        file = self.folder / call.replace(":", ".") / "commonplace"
        if not file.exists():
            file.parent.mkdir(exist_ok=True)
            file.write_text(_CLIENT.format(python=sys.executable, call=call, address=self._address, size=_SIZE))
            file.chmod(0o755)
        return str(file)


@dataclass
class Child:
    """A forked process, used like one of `subprocess`. It is killed when its connection closes."""

    pid: int
    connection: socket.socket
    returncode: int | None = None

    def poll(self) -> int | None:
        """Its exit code, the negative signal if one ended it, None while it runs."""
        with suppress(subprocess.TimeoutExpired):
            return self.wait(0)
        return None

    def wait(self, timeout: float | None = None) -> int:
        """The exit code when it has ended."""
        if self.returncode is None:
            self.connection.settimeout(timeout)
            try:
                code = self.connection.recv(_SIZE)
            except (BlockingIOError, TimeoutError) as error:
                raise subprocess.TimeoutExpired(f"process {self.pid}", timeout or 0) from error
            assert code, "the warm process has ended"
            self.connection.close()
            self.returncode = int.from_bytes(code, "big", signed=True)
        return self.returncode

    def kill(self, *, with_group: bool = False) -> None:
        """Kill it with signal 9, alone or with the processes it has started, and wait until it is gone."""
        if with_group:
            with suppress(ProcessLookupError):
                os.killpg(self.pid, signal.SIGKILL)
        self.send_signal(signal.SIGKILL)
        self.wait()

    def terminate(self) -> None:
        """Ask it to end."""
        self.send_signal(signal.SIGTERM)

    def send_signal(self, number: int) -> None:
        """Send it a signal, unless it has ended."""
        if self.poll() is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)


@cache
def warm() -> WarmProcess:
    """The warm process of this process of tests, with all modules of ours; it ends with the tests, however they end."""
    process = WarmProcess(*_modules())
    atexit.register(process.close)
    return process


def warm_program(call: str = RUN) -> str:
    """A program `commonplace` without the start of an interpreter that loads it."""
    return warm().program(call)


def run_program(*_: str) -> None:
    """Do what `commonplace WORDS` does; the words are in `sys.argv`."""
    from commonplace.__main__ import main

    main()


def run_module(*_: str) -> None:
    """Do what `python -m commonplace WORDS` does."""
    assert sys.argv[1:3] == ["-m", "commonplace"], sys.argv
    del sys.argv[1:3]
    run_program()


def run_demo(*_: str) -> None:
    """Do what `commonplace demo` does; INTERPRETER is what it starts with `-m commonplace`."""
    sys.executable = os.environ.pop(INTERPRETER)
    run_program()


def run_code(code: str, *_: str) -> None:
    """Do what `python -c CODE` does."""
    exec(compile(code, "<string>", "exec"), {"__name__": "__main__"})


def _modules() -> list[str]:
    """Every module of ours, and what is loaded besides."""
    import commonplace

    ours = (module.name for module in walk_packages(commonplace.__path__, "commonplace."))
    return [*ours, *LATE, "tests.patience", "tests.warm"]


# ---------------------------------------------------------------- in the warm process


def main() -> None:
    """Load modules, then fork a child for each order until standard input ends; a child returns from here."""
    for module in sys.argv[2:]:
        import_module(module)
    assert len(os.listdir("/proc/self/task")) == 1, "a thread was started while modules were loaded"
    assert tempfile.tempdir is None, "the folder of temporary files was chosen while modules were loaded"
    _work_out()
    gc.collect()
    gc.freeze()  # so that a child copies fewer pages
    with socket.socket(fileno=int(sys.argv[1])) as listening, _woken_by_children() as woken:
        order, streams = _Server(listening, woken).serve()
    _begin(order, streams)
    _exit(_call(order))


def _work_out() -> None:
    """What a process works out when it first needs it, where that reads nothing: expressions and tables of words."""
    from commonplace.model.text import LazyPattern
    from commonplace.screening.junk import junk_reason

    for each in gc.get_objects():
        if isinstance(each, LazyPattern):
            assert each.compiled
    for name in [*sys.modules]:
        if name.startswith(tuple(f"commonplace.{room}." for room in _PURE)):
            for each in vars(sys.modules[name]).values():
                if hasattr(each, "cache_info") and not signature(each).parameters:
                    each()
    assert not junk_reason("The boat lies in Kiel.")


@contextmanager
def _woken_by_children() -> Iterator[socket.socket]:
    """A socket that can be read when a child has ended; in a child, signals are as they were."""
    woken, waking = socket.socketpair()
    with woken, waking:
        woken.setblocking(False)
        waking.setblocking(False)
        signal.set_wakeup_fd(waking.fileno())
        signal.signal(signal.SIGCHLD, lambda *_: None)
        yield woken
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.set_wakeup_fd(-1)


class _Server:
    """Takes orders, and tells who gave one when the child has ended."""

    def __init__(self, listening: socket.socket, woken: socket.socket) -> None:
        self._listening = listening
        self._woken = woken
        self._connections: dict[int, socket.socket] = {}

    def serve(self) -> tuple[Order, Sequence[int]]:
        """Returns in a child only."""
        while True:
            watched: list[Any] = [0, self._listening, self._woken, *self._connections.values()]
            waiting = select.select(watched, [], [])[0]
            if 0 in waiting:
                self._end()
            if self._woken in waiting:
                self._woken.recv(4096)
                self._report()
            for pid, connection in self._connections.items():
                if connection in waiting:
                    os.kill(pid, signal.SIGKILL)  # whoever started it is gone; a child is there until `_report`
            if self._listening in waiting and (taken := self._take_order()):
                return taken

    def _take_order(self) -> tuple[Order, Sequence[int]] | None:
        connection = self._listening.accept()[0]
        size, streams, *_ = socket.recv_fds(connection, _SIZE, 3)
        if len(streams) < 3:
            connection.close()
            return None
        with connection.makefile("rb") as file:
            order = Order(*marshal.loads(file.read(int.from_bytes(size, "big"))))
        pid = os.fork()
        if not pid:
            return order, streams
        for each in streams:
            os.close(each)
        with suppress(PermissionError):  # of a child that has begun a session by now
            os.setpgid(pid, pid)  # here and in the child, so that it is done before anybody knows the child
        self._connections[pid] = connection
        with suppress(BrokenPipeError):
            connection.sendall(pid.to_bytes(_SIZE, "big"))
        return None

    def _report(self) -> None:
        while self._connections:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if not pid:
                return
            code = os.waitstatus_to_exitcode(status)
            with suppress(BrokenPipeError), closing(self._connections.pop(pid)) as connection:
                connection.sendall(code.to_bytes(_SIZE, "big", signed=True))

    def _end(self) -> NoReturn:
        for pid in self._connections:
            with suppress(ProcessLookupError):
                os.killpg(pid, signal.SIGKILL)
        sys.exit()


def _begin(order: Order, streams: Sequence[int]) -> None:
    """Make of this process what a new one would be."""
    os.setpgid(0, 0)
    for number, opened in enumerate(streams):
        os.dup2(opened, number)
    os.closerange(3, os.sysconf("SC_OPEN_MAX"))
    _open_streams()
    coerced = (b"LC_CTYPE", b"C.UTF-8")  # what Python itself sets where the locale is C
    started = {name: value for name, value in order.environ.items() if os.fsdecode(name).startswith(_AT_START)}
    started = dict(each for each in started.items() if each != coerced)
    if other := [name for name, value in started.items() if os.environb.get(name) != value]:
        sys.exit(f"the warm process was started with other values of {other}: start the real program")
    os.environ.clear()
    os.environb.update(order.environ)
    time.tzset()
    os.umask(order.umask)
    os.chdir(order.folder)
    sys.argv = [*order.words]


def _open_streams() -> None:
    """Buffered as a new process would buffer these: by the line on a terminal, and not at all if Python is told so."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        before = getattr(sys, name)
        buffering = 0 if before.write_through else -1
        file = open(number, "wb" if number else "rb", buffering, closefd=False)  # noqa: SIM115 (open until the end)
        stream = io.TextIOWrapper(
            file,
            before.encoding,
            before.errors,
            "\n",
            line_buffering=bool(buffering) and (name == "stderr" or file.isatty()),
            write_through=before.write_through,
        )
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)


def _call(order: Order) -> int:
    """The exit code of what was called; what ends in words or a traceback is left to the interpreter."""
    module, _, name = order.call.partition(":")
    try:
        getattr(import_module(module), name)(*order.words[1:])
    except SystemExit as ended:
        if isinstance(ended.code, str):
            raise
        return int(ended.code or 0)
    return 0


def _exit(code: int) -> None:
    """End as the interpreter does, but leave the memory to the system, which takes 0.1 s less."""
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code & 0xFF)


if __name__ == "__main__":
    main()
