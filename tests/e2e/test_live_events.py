"""Live events of a real daemon, over real sockets."""

import http.client
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests import daemons
from tests.daemons import Daemon, running


class Stream:
    """An open stream of events."""

    def __init__(self, response: http.client.HTTPResponse) -> None:
        self.response = response
        self.last_id = ""

    def next(self, kind: str, **wanted: Any) -> dict[str, Any]:
        """The fields of the next event of that kind with these values; others are skipped."""
        deadline = time.monotonic() + 60
        while True:
            assert time.monotonic() < deadline, (kind, wanted)
            event, fields = self._read()
            if event == kind and wanted.items() <= fields.items():
                return fields

    def _read(self) -> tuple[str, dict[str, Any]]:
        lines: dict[str, str] = {}
        while line := self.response.readline().decode().strip():
            name, _, value = line.partition(": ")
            lines[name] = value
        self.last_id = lines.get("id", self.last_id)
        return lines.get("event", ""), json.loads(lines.get("data", "{}"))


@contextmanager
def listening(daemon: Daemon, token: str, last_id: str = "") -> Iterator[Stream]:
    """A stream of the daemon's events."""
    connection = http.client.HTTPConnection("127.0.0.1", daemon.port, timeout=60)
    headers = {"Authorization": f"Bearer {token}", **({"Last-Event-ID": last_id} if last_id else {})}
    try:
        connection.request("GET", "/api/v1/events", headers=headers)
        response = connection.getresponse()
        assert (response.status, response.getheader("content-type", "")[:17]) == (200, "text/event-stream")
        stream = Stream(response)
        stream.next("hello")
        yield stream
    finally:
        connection.close()


def test_what_any_process_does_is_told_and_the_daemon_stops_at_once(tmp_path: Path) -> None:
    """A write over HTTP, one by the command line, an edit by hand, a job; then the end of the daemon.

    A stream lives longer than a caller may take to send or to read.
    """
    with running(tmp_path / "home", COMMONPLACE_SERVE__BODY_SECONDS="1") as daemon:
        token = daemon.token("page", scopes=("admin",))
        daemon.wait_synced()
        with listening(daemon, token) as stream:
            daemon.call("PUT", "/api/v1/notes/Inbox/A.md", body={"text": "# A\n"}, token=token)
            ours = stream.next("write", path="Inbox/A.md")
            (tmp_path / "b.md").write_text("# B\n")
            other = daemons.program(daemon.environ, "note", "write", "Inbox/B.md", "--file", str(tmp_path / "b.md"))
            assert other.returncode == 0, other.stderr
            theirs = stream.next("write", path="Inbox/B.md")
            (tmp_path / "home/Notes/Inbox/C.md").write_text("# C\n")
            edited = stream.next("file", path="Inbox/C.md")
            daemon.call("POST", "/api/v1/jobs/probe/run", body={}, token=token)
            started, finished = stream.next("job", state="started"), stream.next("job", state="finished")
            last_id = stream.last_id
        assert daemon.call("POST", "/api/v1/entries", body={"text": "Prefers rye bread."}, token=token).status == 200
        with listening(daemon, token, last_id) as stream:
            stream.next("write", verb="remember")
            proposal = {"path": "Agent/styles/plain.md", "text": "# Plain\n\nShort words.\n", "reason": "asked"}
            assert daemon.call("POST", "/api/v1/profile/propose", body=proposal, token=token).status == 200
            review = stream.next("review")
            daemon.stop()
            stream.response.read()  # raises IncompleteRead if the daemon cuts it off when its patience ends

    assert (ours["actor"], theirs["actor"]) == ("agent", "person")
    assert len(ours["commit"]) == len(theirs["commit"]) == 40
    assert edited["change"] == "saved"
    assert (started["job"], finished["outcome"]) == ("probe", "done")
    assert review == {"waiting": 1}
