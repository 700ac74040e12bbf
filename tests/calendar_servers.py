"""Servers of calendars over real HTTP on loopback: one that answers what a test wrote down, and a real Radicale."""

import socket
import subprocess
import sys
from base64 import b64encode
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from threading import Thread
from urllib.parse import quote

from tests.http_servers import TestHTTPServer
from tests.polling import wait_for

EXAMPLES = Path(__file__).parent / "calendar_examples"
USER, PASSWORD = "ana", "correct horse"


def example(name: str) -> str:
    """The text of a calendar in the shape of that program."""
    return (EXAMPLES / f"{name}.ics").read_bytes().decode()


def event_text(uid: str, *lines: str, summary: str = "Meeting") -> str:
    """A calendar with one event of these lines."""
    return calendar_text("\n".join(["BEGIN:VEVENT", f"UID:{uid}", f"SUMMARY:{summary}", *lines, "END:VEVENT"]))


def calendar_text(*events: str) -> str:
    """A calendar with these events."""
    return "\n".join(["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//tests", *events, "END:VCALENDAR", ""])


@dataclass
class Page:
    """What the server answers, and what it was asked."""

    text: str
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    requests: list[tuple[str, Mapping[str, str]]] = field(default_factory=list)
    address: str = ""


@contextmanager
def serving(page: Page) -> Iterator[Page]:
    """A server that answers every request with the page; with 304 if the request names its ETag."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            page.requests.append((self.path, {name.lower(): value for name, value in self.headers.items()}))
            is_known = "ETag" in page.headers and self.headers.get("If-None-Match") == page.headers["ETag"]
            self.send_response(304 if is_known else page.status)
            for name, value in page.headers.items():
                self.send_header(name, value)
            body = b"" if is_known else page.text.encode()
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_PROPFIND = do_GET  # noqa: N815 - of a server that knows no CalDAV

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = TestHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    page.address = f"http://127.0.0.1:{server.server_address[1]}/private-0123456789abcdef/basic.ics"
    try:
        yield page
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@dataclass(frozen=True)
class Radicale:
    """A running Radicale with one account."""

    port: int

    @property
    def address(self) -> str:
        """The address of the account's calendar `work`."""
        return f"http://127.0.0.1:{self.port}/{USER}/work/"

    def send(self, method: str, path: str, body: str = "", *, password: str = PASSWORD) -> int:
        """The status of the answer to a request."""
        token = b64encode(f"{USER}:{password}".encode()).decode()
        headers = {"Authorization": f"Basic {token}", "Content-Type": "text/calendar; charset=utf-8"}
        with closing(HTTPConnection("127.0.0.1", self.port, timeout=30)) as connection:
            connection.request(method, path, body.encode(), headers)
            return connection.getresponse().status

    def put(self, name: str, text: str) -> None:
        """Store an event in the calendar `work`."""
        status = self.send("PUT", f"/{USER}/work/{quote(name)}.ics", text)
        assert status in (201, 204), status

    def delete(self, name: str) -> None:
        """Delete an event of the calendar `work`."""
        assert self.send("DELETE", f"/{USER}/work/{quote(name)}.ics") == 200


@contextmanager
def radicale(folder: Path) -> Iterator[Radicale]:
    """A Radicale with the empty calendar `work` of one account, in a process of its own."""
    with closing(socket.socket()) as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    (folder / "users").write_text(f"{USER}:{PASSWORD}\n")
    options = {
        "server-hosts": f"127.0.0.1:{port}",
        "auth-type": "htpasswd",
        "auth-htpasswd-filename": str(folder / "users"),
        "auth-htpasswd-encryption": "plain",
        "storage-filesystem-folder": str(folder / "collections"),
        "logging-level": "critical",
    }
    command = [sys.executable, "-m", "radicale", "--config", ""]
    command += [f"--{name}={value}" for name, value in options.items()]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    running = Radicale(port)
    try:
        wait_for(lambda: _is_up(port))
        assert running.send("MKCALENDAR", f"/{USER}/work/") == 201
        yield running
    finally:
        process.terminate()
        process.wait(timeout=120)


def _is_up(port: int) -> bool:
    with closing(socket.socket()) as probe:
        if probe.connect_ex(("127.0.0.1", port)):
            return False
        return bool(probe.getsockname() != probe.getpeername())  # else the system gave the port to the probe itself
