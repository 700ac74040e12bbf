"""One question to the daemon over its socket. HTTP by hand: the library for it takes three times as long to load."""

import json
import os
import socket
from collections.abc import Mapping

from commonplace.client.paths import Unreachable, check_private, socket_path
from commonplace.hooks.deadline import Deadline

_CHUNK = 1 << 16
_MOST_BYTES = 1_000_000
_LATE = "the daemon did not answer in time"
_WENT_AWAY = "the daemon went away before it answered"


class NotRunning(Unreachable):
    """No daemon is there to be asked."""


class Reply:
    """The daemon's answer: its status, and the object in it."""

    __slots__ = ("said", "status")

    def __init__(self, status: int, said: Mapping[str, object]) -> None:
        self.status = status
        self.said = said


def ask(path: str, body: Mapping[str, object], *, headers: Mapping[str, str], deadline: Deadline) -> Reply:
    """What the daemon answers to a POST. Raises NotRunning when there is none, Unreachable when it does not answer."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as way:
        _connect(way, socket_path(), deadline)
        try:
            way.sendall(_request(path, json.dumps(body).encode(), headers))
            return _read(way, deadline)
        except TimeoutError as error:
            raise Unreachable(_LATE, sent=True) from error
        except OSError as error:
            raise Unreachable(_WENT_AWAY, sent=True) from error


def _connect(way: socket.socket, file: str, deadline: Deadline) -> None:
    way.settimeout(deadline.left)
    try:
        check_private(os.path.dirname(file))
        way.connect(file)
    except (FileNotFoundError, ConnectionRefusedError) as error:
        raise NotRunning("the daemon is not running") from error
    except (TimeoutError, BlockingIOError) as error:  # the second: too many are waiting already
        raise Unreachable(_LATE) from error
    except OSError as error:
        raise Unreachable(f"the daemon's socket cannot be used: {error.strerror}") from error


def _request(path: str, body: bytes, headers: Mapping[str, str]) -> bytes:
    """Version 1.0, in which an answer is not in pieces and its end is the end of the connection."""
    sent = {**headers, "Content-Type": "application/json", "Content-Length": str(len(body))}
    head = "".join(f"{name}: {value}\r\n" for name, value in sent.items())
    return f"POST {path} HTTP/1.0\r\n{head}\r\n".encode("ascii") + body


def _read(way: socket.socket, deadline: Deadline) -> Reply:
    answer = b""
    while len(answer) < _MOST_BYTES:
        way.settimeout(deadline.left)
        chunk = way.recv(_CHUNK)
        if not chunk:
            break
        answer += chunk
    head, _, body = answer.partition(b"\r\n\r\n")
    try:
        said = json.loads(body)
        return Reply(int(head.split(maxsplit=2)[1]), said if isinstance(said, dict) else {})
    except (ValueError, IndexError, RecursionError) as error:
        raise Unreachable(_WENT_AWAY, sent=True) from error
