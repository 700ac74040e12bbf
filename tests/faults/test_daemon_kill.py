"""A daemon that is killed in the middle of its work, again and again: nothing that it acknowledged is lost."""

import http.client
import itertools
import random
import threading
import time
from pathlib import Path

import pytest

from tests.daemons import Daemon, register, small_vault, start, surroundings
from tests.faults.figures import Figures
from tests.gitvault import git, leftovers, status
from tests.run_length import rounds

KILLS = rounds(3, long=200)
WRITERS = 3


class Writer(threading.Thread):
    """A client that writes note after note through whatever daemon there is, and knows which were confirmed."""

    def __init__(self, name: str) -> None:
        super().__init__(daemon=True)
        self._name = name
        self.ends = threading.Event()
        self.daemon_now: Daemon | None = None
        self.acknowledged: dict[str, str] = {}
        self.broken_off = 0

    def run(self) -> None:
        for number in itertools.count():
            if self.ends.is_set():
                return
            self._write(f"Inbox/{self._name}-{number}.md", f"# {self._name} {number}\n\nwritten by {self._name}\n")

    def _write(self, path: str, text: str) -> None:
        if self.daemon_now is None:
            time.sleep(0.01)
            return
        try:
            reply = self.daemon_now.call("PUT", f"/api/v1/notes/{path}", body={"text": text}, timeout=60)
        except (ConnectionRefusedError, FileNotFoundError):
            time.sleep(0.01)  # it is dead already
            return
        except (OSError, http.client.HTTPException):
            self.broken_off += 1
            return  # it died before it answered: nothing was promised
        assert reply.status == 200, reply.body
        self.acknowledged[path] = text


@pytest.mark.requirement("A-22")
def test_no_kill_of_the_daemon_loses_an_acknowledged_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Writers over HTTP, the daemon killed in between: each confirmed note is there, git is sound, a new one starts."""
    environ = surroundings(tmp_path)
    root = small_vault(tmp_path / "Notes")
    register(environ, root)
    with Figures("daemon") as figures:
        writers = _kill_all_along(tmp_path, environ, figures)
        monkeypatch.setenv("XDG_STATE_HOME", environ["XDG_STATE_HOME"])
        last = start(tmp_path, environ)
        recovered = last.call("PUT", "/api/v1/notes/Inbox/last.md", body={"text": "# Last\n"})
        last.wait_synced()
        listed = {note["path"] for note in last.call("GET", "/api/v1/notes?folder=Inbox").json["notes"]}
        figures.restored = last.log().count("vault_recovered")
        code = last.stop()
    _verify(root, writers, listed)

    assert (recovered.status, code) == (200, 0)
    assert leftovers(root) == []
    assert status(root) == []
    assert git(root, "fsck", "--no-dangling") == ""
    assert not list((tmp_path / "state/commonplace/daemon").glob("*.sock"))


def _kill_all_along(home: Path, environ: dict[str, str], figures: Figures) -> list[Writer]:
    """Kill one daemon after the other while clients write; what each had confirmed is on disk when it is dead."""
    chance, writers = random.Random(7), [Writer(f"w{number}") for number in range(WRITERS)]
    for writer in writers:
        writer.start()
    try:
        for figures.kills in range(1, KILLS + 1):
            before = {path for writer in writers for path in writer.acknowledged}
            daemon = start(home, environ)
            _let_write(writers, daemon, more=chance.randrange(1, 6))
            time.sleep(chance.uniform(0, 0.05))  # so that the kill falls anywhere in a write
            daemon.kill()
            for writer in writers:
                writer.daemon_now = None
            new = [(path, text) for writer in writers for path, text in [*writer.acknowledged.items()]]
            lost = [path for path, text in new if path not in before and not _says(home / "Notes" / path, text)]
            figures.acknowledged, figures.lost = len(new), figures.lost + len(lost)
            figures.more = f"{sum(writer.broken_off for writer in writers)} requests broken off"
            assert lost == []
    finally:
        for writer in writers:
            writer.ends.set()
            writer.join(60)
    return writers


def _verify(root: Path, writers: list[Writer], listed: set[str]) -> None:
    """Every note that was ever confirmed is on disk, in the newest commit and in the list."""
    acknowledged = {path: text for writer in writers for path, text in writer.acknowledged.items()}
    committed = set(git(root, "ls-tree", "-r", "--name-only", "HEAD").splitlines())

    assert len(acknowledged) >= KILLS
    assert [path for path, text in acknowledged.items() if not _says(root / path, text)] == []
    assert acknowledged.keys() <= committed
    assert acknowledged.keys() <= listed


def _let_write(writers: list[Writer], daemon: Daemon, *, more: int) -> None:
    """Let the writers use this daemon until they have that many confirmations more."""
    wanted = sum(len(writer.acknowledged) for writer in writers) + more
    deadline = time.monotonic() + 120
    for writer in writers:
        writer.daemon_now = daemon
    while sum(len(writer.acknowledged) for writer in writers) < wanted:
        assert time.monotonic() < deadline, daemon.log()
        assert all(writer.is_alive() for writer in writers), "a writer was refused"
        time.sleep(0.002)


def _says(note: Path, text: str) -> bool:
    return note.exists() and note.read_text() == text
