"""The two sockets of the daemon: a port of this machine alone, and a file that only its owner may reach."""

import errno
import os
import socket
from pathlib import Path
from typing import Final

from commonplace.errors import VaultUnavailable

LOOPBACK: Final = "127.0.0.1"
_TRIES: Final = 21  # the port that was asked for, and twenty more
_WAITING: Final = 512  # connections that may wait while the daemon is being loaded


def listen_on_port(port: int) -> socket.socket:
    """A listening socket on that port of the loopback, or the next free one. Raises VaultUnavailable."""
    for tried in range(port, min(port + _TRIES, 65536)):
        made = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            made.bind((LOOPBACK, tried))
            made.listen(_WAITING)
        except OSError as error:
            made.close()
            if error.errno not in (errno.EADDRINUSE, errno.EACCES):
                raise _cannot_listen(f"{LOOPBACK}:{tried}", error) from error
        else:
            return made
    raise VaultUnavailable(
        f"no port from {port} to {tried} is free", hint="Name another: `commonplace serve --port N`, or serve.port."
    )


def listen_on_file(path: Path) -> socket.socket:
    """A listening socket at that path. What a dead daemon left there is replaced. Raises VaultUnavailable."""
    made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    before = os.umask(0o177)  # from its first moment on, it is its owner's alone
    try:
        path.unlink(missing_ok=True)
        made.bind(str(path))
        made.listen(_WAITING)
    except OSError as error:
        made.close()
        raise _cannot_listen(str(path), error) from error
    finally:
        os.umask(before)
    return made


def _cannot_listen(where: str, error: OSError) -> VaultUnavailable:
    return VaultUnavailable(f"cannot listen on {where}: {error.strerror}", hint="Look who else uses it.")
