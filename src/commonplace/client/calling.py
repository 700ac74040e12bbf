"""One HTTP request to the daemon over its Unix socket, and its answer: at once, or event by event."""

import http.client
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from commonplace.client.places import Unreachable, check_private, places

_NOT_RUNNING = "the daemon is not running: `commonplace serve` starts it"
_WENT_AWAY = "the daemon went away before it answered"
_GIVEN_UP = "the request was given up before it was sent"
_TOO_SLOW = "the daemon did not answer in time"


@dataclass(frozen=True, slots=True)
class Reply:
    """A whole answer; the names of its headers are in lower case."""

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
    """What the daemon answers. `timeout` is how long it may be silent, in seconds. Raises Unreachable."""
    with Exchange(places().socket, timeout=timeout) as exchange:
        exchange.ask(method, path, body=body, headers=headers)
        return Reply(exchange.status, exchange.headers, exchange.whole())


class Exchange:
    """A request under way: `ask` sends it, `whole` or `events` read the answer, `abandon` gives it up.

    `abandon` may be called from another thread; whoever waits for the answer then gets Unreachable.
    """

    def __init__(self, socket_file: Path, *, timeout: float | None = None) -> None:
        self.status = 0
        self.headers: Mapping[str, str] = {}
        self._file = socket_file
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.settimeout(timeout)
        self._connection = http.client.HTTPConnection("localhost")
        self._connection.sock = self._socket
        self._response: http.client.HTTPResponse | None = None
        self._abandoned = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._response:
            self._response.close()
        self._connection.close()
        self._socket.close()

    def ask(
        self, method: str, path: str, *, body: bytes | None = None, headers: Mapping[str, str] | None = None
    ) -> None:
        """Send the request and wait for the status and headers of its answer. Raises Unreachable."""
        self._connect()
        with _trouble_told():
            self._connection.request(method, path, body=body, headers=dict(headers or {}))
            self._response = self._connection.getresponse()
        self.status = self._response.status
        self.headers = {name.lower(): value for name, value in self._response.getheaders()}

    def whole(self) -> bytes:
        """The rest of the answer. Raises Unreachable when it breaks off."""
        if self._response is None:
            return b""
        with _trouble_told():
            return self._response.read()

    def events(self) -> Iterator[bytes]:
        """The content of each server-sent event, when it comes. Raises Unreachable when the stream breaks off."""
        content: list[bytes] = []
        while line := self._line():
            line = line.rstrip(b"\r\n")
            if line.startswith(b"data:"):
                content.append(line[5:].removeprefix(b" "))
            elif not line:
                if event := b"\n".join(content):  # some are empty: they only keep the way open
                    yield event
                content = []

    def abandon(self) -> None:
        """Close the way to the daemon, which takes this as the wish to stop."""
        self._abandoned = True
        with suppress(OSError):  # not connected yet, or closed already: nothing is under way
            self._socket.shutdown(socket.SHUT_RDWR)

    def _connect(self) -> None:
        try:
            check_private(self._file.parent)
            self._socket.connect(str(self._file))
            if self._abandoned:  # before it began: the request is not sent at all
                raise Unreachable(_GIVEN_UP)
        except (FileNotFoundError, ConnectionRefusedError) as error:
            raise Unreachable(_NOT_RUNNING) from error
        except TimeoutError as error:
            raise Unreachable(_TOO_SLOW) from error
        except OSError as error:
            raise Unreachable(f"the daemon's socket {self._file} cannot be used ({error.strerror or error})") from error

    def _line(self) -> bytes:
        if self._response is None:
            return b""
        with _trouble_told():
            return self._response.readline()


@contextmanager
def _trouble_told() -> Iterator[None]:
    """Trouble after the request was sent, so that nobody knows what became of it, is Unreachable."""
    try:
        yield
    except TimeoutError as error:
        raise Unreachable(_TOO_SLOW, sent=True) from error
    except (OSError, http.client.HTTPException, ValueError) as error:  # ValueError: closed while it was read
        raise Unreachable(_WENT_AWAY, sent=True) from error
