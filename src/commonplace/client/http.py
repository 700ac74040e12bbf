"""One HTTP request to the daemon over its Unix socket, and its response: whole, or event by event."""

import http.client
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from commonplace.client.paths import NoAnswer, Unreachable, check_private, daemon_files

_NOT_RUNNING = "the daemon is not running: `commonplace serve` starts it"
_DISCONNECTED = "the daemon closed the connection before it answered"
_ABANDONED = "the request was cancelled before it was sent"
_TIMED_OUT = "the daemon did not answer in time"
_CONNECT_SECONDS = 5.0  # the system takes a connection for a daemon that runs; only a full queue makes it wait


@dataclass(frozen=True, slots=True)
class Reply:
    """A whole response; header names are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


def call(
    method: str,
    path: str,
    *,
    body: bytes | None = None,
    headers: Mapping[str, str] | None = None,
    timeout: float | None = None,
) -> Reply:
    """The daemon's response. `timeout` is how many seconds it may be silent. Raises Unreachable, NoAnswer."""
    with Exchange(daemon_files().socket, timeout=timeout) as exchange:
        exchange.send(method, path, body=body, headers=headers)
        return Reply(exchange.status, exchange.headers, exchange.read())


class Exchange:
    """A request in progress: `send` sends it, `read` or `events` read the response, `abandon` cancels it.

    `abandon` may be called from another thread; whoever waits for the response then gets Unreachable.
    """

    def __init__(self, socket_file: Path, *, timeout: float | None = None) -> None:
        self.status = 0
        self.headers: Mapping[str, str] = {}
        self._file = socket_file
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._timeout = timeout
        self._connection = http.client.HTTPConnection("localhost")
        self._connection.sock = self._socket
        self._response: http.client.HTTPResponse | None = None
        self._is_abandoned = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._response:
            self._response.close()
        self._connection.close()
        self._socket.close()

    def send(
        self, method: str, path: str, *, body: bytes | None = None, headers: Mapping[str, str] | None = None
    ) -> None:
        """Send the request and wait for the status and headers of the response. Raises Unreachable."""
        self._connect()
        with _as_unreachable():
            self._connection.request(method, path, body=body, headers=dict(headers or {}))
            self._response = self._connection.getresponse()
        self.status = self._response.status
        self.headers = {name.lower(): value for name, value in self._response.getheaders()}

    def read(self) -> bytes:
        """The rest of the response body. Raises Unreachable if the connection breaks."""
        if self._response is None:
            return b""
        with _as_unreachable():
            return self._response.read()

    def events(self) -> Iterator[bytes]:
        """The content of each server-sent event as it arrives. Raises Unreachable if the connection breaks."""
        content: list[bytes] = []
        while line := self._read_line():
            line = line.rstrip(b"\r\n")
            if line.startswith(b"data:"):
                content.append(line[5:].removeprefix(b" "))
            elif not line:
                if event := b"\n".join(content):  # empty events only keep the connection open
                    yield event
                content = []

    def abandon(self) -> None:
        """Close the connection, upon which the daemon stops working on the request."""
        self._is_abandoned = True
        with suppress(OSError):  # not connected yet, or closed already
            self._socket.shutdown(socket.SHUT_RDWR)

    def _connect(self) -> None:
        try:
            check_private(self._file.parent)
            self._socket.settimeout(self._timeout or _CONNECT_SECONDS)
            self._socket.connect(str(self._file))
            self._socket.settimeout(self._timeout)
            if self._is_abandoned:
                raise Unreachable(_ABANDONED)
        except (FileNotFoundError, ConnectionRefusedError) as error:
            raise Unreachable(_NOT_RUNNING) from error
        except (TimeoutError, BlockingIOError) as error:  # BlockingIOError: too many wait to be accepted
            raise NoAnswer(_TIMED_OUT) from error
        except OSError as error:
            raise Unreachable(f"the daemon's socket {self._file} cannot be used ({error.strerror or error})") from error

    def _read_line(self) -> bytes:
        if self._response is None:
            return b""
        with _as_unreachable():
            return self._response.readline()


@contextmanager
def _as_unreachable() -> Iterator[None]:
    """Turn an error after the request was sent, when its outcome is unknown, into Unreachable."""
    try:
        yield
    except TimeoutError as error:
        raise NoAnswer(_TIMED_OUT, sent=True) from error
    except (OSError, http.client.HTTPException, ValueError) as error:  # ValueError: closed while it was read
        raise Unreachable(_DISCONNECTED, sent=True) from error
