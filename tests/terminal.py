"""The command line where a person looks at it: as a process, forked by the warm one, on a pseudo-terminal."""

import fcntl
import os
import pty
import select
import struct
import subprocess
import termios
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from tests.warm import warm_program

_PATIENCE: Final = 60  # seconds until a question is shown
_A_MOMENT: Final = 0.01


def on_a_terminal(
    *words: str,
    vault: Path,
    columns: int = 80,
    typed: str = "",
    keys: Sequence[tuple[str, str]] = (),
    variables: Mapping[str, str] | None = None,
    with_errors: bool = False,
) -> str:
    """What `commonplace WORDS` shows in a terminal that is this wide, without colours and links, to who types this.

    Of `keys` each is pressed once the question that it answers is shown and the terminal hands over single keys.
    `variables` are set in its environment. What it writes to standard error is shown only `with_errors`.
    """
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    os.write(leader, typed.encode())
    environ = {key: value for key, value in os.environ.items() if key not in ("COLUMNS", "LINES")}
    with subprocess.Popen(
        [warm_program(), "--vault", str(vault), *words],
        stdin=follower if typed or keys else subprocess.DEVNULL,
        stdout=follower,
        stderr=follower if with_errors else subprocess.DEVNULL,
        env={**environ, "TERM": "linux", "NO_COLOR": "1", **(variables or {})},
    ):
        os.close(follower)
        shown = b"".join([*_press(leader, keys), _read_all(leader)])
    os.close(leader)
    return shown.decode()


def _press(leader: int, keys: Sequence[tuple[str, str]]) -> Iterator[bytes]:
    """Press each key when its question is shown; what is shown until then."""
    for question, key in keys:
        shown, deadline = b"", time.monotonic() + _PATIENCE
        while question.encode() not in shown or termios.tcgetattr(leader)[3] & termios.ICANON:
            assert time.monotonic() < deadline, shown
            if select.select([leader], [], [], _A_MOMENT)[0]:
                shown += os.read(leader, 65536)
        os.write(leader, key.encode())
        yield shown


def _read_all(leader: int) -> bytes:
    pieces: list[bytes] = []
    try:
        while piece := os.read(leader, 65536):
            pieces.append(piece)
    except OSError:  # how a terminal says that nobody writes to it any more
        pass
    return b"".join(pieces)
