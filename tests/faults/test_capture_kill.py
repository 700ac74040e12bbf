"""A daemon that is killed again and again while it captures sessions: each line is in history once, none is lost.

Nor is any lost with `history.db`.
"""

import http.client
import itertools
import random
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from tests.daemons import Daemon, register, small_vault, start, surroundings
from tests.faults.figures import Figures
from tests.run_length import rounds
from tests.transcript_lines import claude, claude_folder

KILLS = rounds(2, long=200)
LAP = 25
"""Kills after which every conversation is compared with what was said, and a new vault is taken."""
SESSIONS = 3


class Session(threading.Thread):
    """An agent that speaks, writes its transcript and calls its hook, whether a daemon is there or not."""

    def __init__(self, home: Path, name: str) -> None:
        super().__init__(daemon=True)
        self.name, self._path = name, claude_folder(home) / f"{name}.jsonl"
        self.ends = threading.Event()
        self.daemon_now: Daemon | None = None
        self.said: list[str] = []
        self.handed = 0

    def run(self) -> None:
        for number in itertools.count():
            if self.ends.is_set():
                return
            text = f"{self.name} says {number}"
            line = claude("user", text, id_=text, at=datetime.now(UTC).isoformat())
            with self._path.open("a") as file:  # in two halves, as a reader may see it
                file.write(line[:50])
                file.flush()
                file.write(line[50:])
            self.said.append(text)
            self.hand_over("stop")
            self.ends.wait(0.005 if self.daemon_now else 0.3)

    def hand_over(self, event: str) -> None:
        """Call the hook, which may fail."""
        body = {"session_id": self.name, "transcript_path": str(self._path), "cwd": "/"}
        headers = {"Commonplace-Client": "claude-code"}
        daemon = self.daemon_now
        try:
            if daemon:
                self.handed += daemon.call("POST", f"/hooks/v1/{event}", body=body, headers=headers).status == 202
        except (OSError, http.client.HTTPException):
            return  # it died before it answered


def test_no_kill_of_the_daemon_loses_or_doubles_what_was_said(tmp_path: Path) -> None:
    """Progress at each phase end survives kill -9 in the middle of it, and comes into history once."""
    chance = random.Random(11)
    with Figures("capture") as figures:
        for begun in range(0, KILLS, LAP):
            home = tmp_path / f"home{begun}"
            environ, kills = surroundings(home), min(LAP, KILLS - begun)
            register(environ, small_vault(home / "Notes"))
            sessions = [Session(home, f"s{number}") for number in range(SESSIONS)]
            for session in sessions:
                session.start()
            try:
                for _ in range(kills):
                    _kill_one(start(home, environ), sessions, chance)
                    figures.kills += 1
            finally:
                for session in sessions:
                    session.ends.set()
                    session.join(60)
            _verify(home, partial(start, home, environ), sessions, figures)
            assert sum(len(session.said) for session in sessions) >= 10 * kills


def _kill_one(daemon: Daemon, sessions: list[Session], chance: random.Random) -> None:
    """Kill a daemon when it has taken ten hooks more."""
    handed = sum(each.handed for each in sessions)
    for session in sessions:
        session.daemon_now = daemon
    deadline = time.monotonic() + 120
    while sum(each.handed for each in sessions) < handed + 10:
        assert time.monotonic() < deadline
        time.sleep(0.005)
    time.sleep(chance.uniform(0, 0.1))  # so that the kill falls anywhere in a look
    daemon.kill()
    for session in sessions:
        session.daemon_now = None


def _verify(home: Path, begin: Callable[[], Daemon], sessions: list[Session], figures: Figures) -> None:
    """All that was said is in history once, and again when `history.db` is made anew of the conversation files."""
    said = {session.name: session.said for session in sessions}
    last = begin()  # which reads on by itself: nobody hands anything over again
    kept = _kept_at_last(last)
    last.stop()
    figures.acknowledged += sum(map(len, said.values()))
    figures.lost += sum(len(set(lines) - set(kept.get(name, ()))) for name, lines in said.items())
    assert kept == said
    (database,) = home.rglob("history.db")
    for file in database.parent.glob("history.db*"):
        file.unlink()
    after = begin()
    restored = _kept_at_last(after)
    after.stop()
    figures.restored += sum(map(len, restored.values()))
    figures.more = "restored: lines that are there again after `history.db` was deleted"
    assert restored == said


def _kept_at_last(daemon: Daemon) -> dict[str, list[str]]:
    """What is in history of each session, when nothing waits any longer."""
    deadline = time.monotonic() + 120
    while daemon.call("GET", "/daemon/status").json["capture"]["waiting"]:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    threads = daemon.call("GET", "/api/v1/conversations").json["conversations"]
    shown = {each["source_id"]: daemon.call("GET", f"/api/v1/conversations/{each['id']}").json for each in threads}
    return {name: [message["text"] for message in each["messages"]] for name, each in shown.items()}
