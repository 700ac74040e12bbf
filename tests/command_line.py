"""The command line, called in this process: the same words, streams and exit codes, without the start of a program.

What only a process has (pipes that break, terminals, signals, two at once) is tested with real ones.
"""

import io
import json
import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any
from unittest.mock import patch

from commonplace import events
from commonplace.__main__ import main

Run = Callable[..., CompletedProcess[str]]

_STOPS = (signal.SIGINT, signal.SIGTERM)


def run_commonplace(*words: str, given: str = "", env: Mapping[str, str] | None = None) -> CompletedProcess[str]:
    """What `commonplace WORDS` answers, with this text on its standard input and in this environment."""
    out, err = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.TextIOWrapper(io.BytesIO(), "utf-8")
    typed = io.TextIOWrapper(io.BytesIO(given.encode()), "utf-8")
    with (
        _as_a_process(os.environ if env is None else env),
        patch.multiple(sys, argv=["commonplace", *words], stdin=typed, stdout=out, stderr=err),
    ):
        code = _exit_code()
    return CompletedProcess(words, code, _written_to(out), _written_to(err))


def calling(vault: Path) -> Run:
    """A function that calls `commonplace` on this vault; `named=False` leaves the vault for the program to find."""

    def call(*words: str, given: str = "", named: bool = True, **environ: str) -> CompletedProcess[str]:
        chosen = ["--vault", str(vault)] if named else []
        return run_commonplace(*chosen, *words, given=given, env={**os.environ, **environ})

    return call


def new_vault(folder: Path) -> Path:
    """What `commonplace init` makes of this folder."""
    made = run_commonplace("init", str(folder))
    assert made.returncode == 0, made.stdout + made.stderr
    return folder


def answer(done: CompletedProcess[str]) -> dict[str, Any]:
    """What a command that was called with `--json` printed."""
    return dict(json.loads(done.stdout))


def _exit_code() -> int:
    try:
        main()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    return 0


@contextmanager
def _as_a_process(env: Mapping[str, str]) -> Iterator[None]:
    """The environment as given; afterwards nothing is left of what would end with a process."""
    handlers = {number: signal.getsignal(number) for number in _STOPS}
    with patch.dict(os.environ, dict(env), clear=True), patch.object(tempfile, "tempdir", None):
        time.tzset()
        try:
            yield
        finally:
            events.listen("warning")
            for number, handler in handlers.items():
                signal.signal(number, handler)
    time.tzset()


def _written_to(stream: io.TextIOWrapper) -> str:
    """All of it, with the line ends that a pipe read as text would have."""
    stream.flush()
    stream.seek(0)
    return stream.read()
