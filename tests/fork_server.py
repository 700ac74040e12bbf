"""`commonplace` as a process that starts at once: forked from one that has imported everything.

A fresh start imports for half a second, and a page of the guide starts dozens. What is forked has its own streams,
folder and variables, reads everything from disk anew, and ends with its own exit code: only the imports are shared.
"""

import gc
import importlib
import marshal
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from shlex import join
from tempfile import TemporaryDirectory
from typing import NoReturn

ROOT = Path(__file__).parents[1]
CLIENT = Path(__file__).with_name("fork_client.py")
READY = b"ready\n"
PATIENCE = 10.0
IMPORTED = ("commonplace.cli.main", "commonplace.index.sqlite", "commonplace.encoders.minilm", "tokenizers")


@contextmanager
def quick_commonplace() -> Iterator[Path]:
    """A program like `commonplace` that starts at once, as long as the block lasts."""
    with TemporaryDirectory(prefix="quick-") as folder:
        program, place = Path(folder) / "commonplace", Path(folder) / "socket"
        words = (sys.executable, "-IS", str(CLIENT), str(place))
        program.write_text(f'#!/bin/sh\nexec {join(words)} "$@"\n')
        program.chmod(0o755)
        command = [sys.executable, "-m", "tests.fork_server", str(place), str(program)]
        with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) as server:
            try:
                assert server.stdout
                assert server.stdout.readline() == READY
                yield program
            finally:
                server.kill()


def serve(place: str, program: str) -> None:
    """Fork for everyone who connects, until killed or alone. Its children start `program` where they start Python."""
    for name in IMPORTED:
        importlib.import_module(name)
    sys.executable = program
    gc.freeze()
    starter = os.getppid()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(place)
        listener.listen(64)
        listener.settimeout(PATIENCE)
        os.write(1, READY)
        while os.getppid() == starter:
            with suppress(TimeoutError), listener.accept()[0] as asked:
                if not os.fork():
                    listener.close()
                    _answer(asked)
            _reap()


def _reap() -> None:
    """Bury those who have answered."""
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _answer(asked: socket.socket) -> NoReturn:
    """Run what is asked for in a process of its own, and tell how it ended."""
    _, streams, _, _ = socket.recv_fds(asked, 1, 3)
    with asked.makefile("rb") as file:
        words, folder, variables = marshal.loads(file.read())
    if not (running := os.fork()):
        asked.close()
        _become(words, folder, variables, streams)
    for stream in streams:
        os.close(stream)
    status = os.waitpid(running, 0)[1]
    asked.sendall(bytes([os.waitstatus_to_exitcode(status) % 256]))
    os._exit(0)


def _become(words: list[str], folder: str, variables: dict[str, str], streams: list[int]) -> NoReturn:
    """This process is `commonplace` from here on."""
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(variables)
    time.tzset()
    sys.argv = ["commonplace", *words]
    from commonplace.__main__ import main

    main()
    sys.exit()


if __name__ == "__main__":
    serve(*sys.argv[1:])
