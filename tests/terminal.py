"""The command line where a person looks at it: as a process, forked by the warm one, on a pseudo-terminal."""

import fcntl
import os
import pty
import struct
import subprocess
import termios
from collections.abc import Mapping
from pathlib import Path

from tests.warm import warm_program


def on_a_terminal(
    *words: str,
    vault: Path,
    columns: int = 80,
    typed: str = "",
    variables: Mapping[str, str] | None = None,
    with_errors: bool = False,
) -> str:
    """What `commonplace WORDS` shows in a terminal that is this wide, without colours and links, to who types this.

    `variables` are set in its environment. What it writes to standard error is shown only `with_errors`.
    """
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    os.write(leader, typed.encode())
    environ = {key: value for key, value in os.environ.items() if key not in ("COLUMNS", "LINES")}
    with subprocess.Popen(
        [warm_program(), "--vault", str(vault), *words],
        stdin=follower if typed else subprocess.DEVNULL,
        stdout=follower,
        stderr=follower if with_errors else subprocess.DEVNULL,
        env={**environ, "TERM": "linux", "NO_COLOR": "1", **(variables or {})},
    ):
        os.close(follower)
        shown = _read_all(leader)
    os.close(leader)
    return shown.decode()


def _read_all(leader: int) -> bytes:
    pieces: list[bytes] = []
    try:
        while piece := os.read(leader, 65536):
            pieces.append(piece)
    except OSError:  # how a terminal says that nobody writes to it any more
        pass
    return b"".join(pieces)
