"""A person with a vault and a daemon, who uses agent programs; and what is in their history and vault afterwards."""

import json
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from commonplace.app import copy_sample
from commonplace.client.start import read_state
from commonplace.daemon.server.hook_events import read_hook_events
from tests.daemons import STARTS_WITHIN, Daemon, command, running, surroundings
from tests.hosts.programs import with_commonplace

WHO: Final = "Robin writes British English, and likes short answers."
_RULES: Final = {
    f"Agent/_always-load/Rule {number}.md": f"Rule {number}: {'crème brûlée at the café, never at the desk. ' * 10}\n"
    for number in range(30)
}
_KEPT_WITHIN: Final = 60.0  # seconds


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody with a home, a project to work in, a vault and a daemon that serves it."""

    home: Path
    project: Path
    vault: Path
    daemon: Daemon
    environ: Mapping[str, str]

    @property
    def skips(self) -> int:
        """How often a hook gave up or recall was late; on a machine that is busy with other tests it may be."""
        return sum(host["skipped"] + host["late"] for host in read_hook_events(self.daemon.state))

    def run(self, *words: str) -> str:
        """What `commonplace WORDS` answers, all being well."""
        answer = command(self.environ, *words)
        assert answer.returncode == 0, answer.stdout + answer.stderr
        return answer.stdout

    def said_in(self, interface: str) -> list[list[tuple[str, str]]]:
        """Of each finished conversation of that program who said what; waits until there is one."""
        deadline = time.monotonic() + _KEPT_WITHIN
        while not any(thread["closed"] for thread in self._threads(interface)):
            assert time.monotonic() < deadline, f"no conversation is kept: {self.daemon.log()}"
            time.sleep(0.05)
        return [self._said(thread["id"]) for thread in self._threads(interface)]

    def entries_with(self, text: str) -> list[Path]:
        """The notes that programs have saved and that say this; without the list of all of them."""
        notes = (self.vault / "Agent" / "Memory").rglob("*.md")
        return [note for note in notes if note.name != "_index.md" and text in note.read_text()]

    def _threads(self, interface: str) -> list[dict[str, Any]]:
        return list(self._asked("list", "--interface", interface)["conversations"])

    def _said(self, conversation: str) -> list[tuple[str, str]]:
        messages = self._asked("show", conversation)["messages"]
        return [(message["role"], message["text"]) for message in messages]

    def _asked(self, *words: str) -> dict[str, Any]:
        return dict(json.loads(self.run("conversation", *words, "--json")))


@contextmanager
def robin(home: Path) -> Iterator[Person]:
    """Robin for this block: the sample vault, and more that is always loaded than any host takes."""
    vault, project = home / "vault", home / "garden"
    project.mkdir()
    copy_sample(vault)
    (vault / "Agent" / "_always-load").mkdir(parents=True)
    for path, text in {"Agent/USER.md": f"{WHO}\n", **_RULES}.items():
        (vault / path).write_text(text)
    with running(home, vaults=[vault]) as daemon:
        daemon.wait_synced()
        yield Person(home, project, vault, daemon, with_commonplace(daemon.environ))


@contextmanager
def newcomer(home: Path) -> Iterator[dict[str, str]]:
    """The surroundings of somebody who has the program, but no vault and no daemon; one that a host starts is ended."""
    environ = with_commonplace(surroundings(home))
    try:
        yield environ
    finally:
        _end_daemon(environ)


def _end_daemon(environ: Mapping[str, str]) -> None:
    """One that was started has a log, and may not be ready to be ended yet."""
    folder = Path(environ["COMMONPLACE_STATE"]) / "daemon"
    if not (folder / "serve.log").exists():
        return
    deadline = time.monotonic() + STARTS_WITHIN
    while read_state(folder / "serve.json") is None:
        assert time.monotonic() < deadline, (folder / "serve.log").read_text()
        time.sleep(0.02)
    ended = command(environ, "stop")
    assert ended.returncode == 0, ended.stdout + ended.stderr
