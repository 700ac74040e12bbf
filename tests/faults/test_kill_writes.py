"""Writers are killed at any moment while a person edits the same notes: nothing acknowledged is lost."""

import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

import pytest

from commonplace.vault.syscalls import exchange
from tests.faults.writing import PAIR, SHARED, is_whole, text_of
from tests.gitvault import git, leftovers, new_vault, status
from tests.run_length import rounds

KILLS = rounds(16, long=4000)
WRITERS = 4
ROOT = Path(__file__).parents[2]


class Person(threading.Thread):
    """Someone who edits shared notes all the time, in place or as editors do, and knows no lock.

    `saved` are the texts that must not be lost: all but those that the person's own next save replaced.
    The save itself says what it replaced: looking before it would miss what a writer puts back in between.
    """

    def __init__(self, root: Path) -> None:
        super().__init__(daemon=True)
        self._root = root
        self._chance = random.Random("person")
        self.ends = threading.Event()
        self.saved: set[bytes] = set()
        self.saves = 0

    def run(self) -> None:
        while not self.ends.wait(self._chance.uniform(0.0, 0.3)):
            note = self._root / self._chance.choice(SHARED)
            self.saves += 1
            text = text_of(f"person-{self.saves}")
            replaced = self._chance.choice((_save_in_place, _save_by_rename))(note, text)
            self.saved.discard(replaced)
            self.saved.add(text)


def _save_in_place(note: Path, text: bytes) -> bytes:
    """Write into the file itself, and say what it said before."""
    with note.open("r+b") as file:
        before = file.read()
        file.seek(0)
        file.truncate()
        file.write(text)
    return before


def _save_by_rename(note: Path, text: bytes) -> bytes:
    """Put another file in its place, as many editors do, and say what the first one said."""
    beside = note.with_suffix(".md~")
    beside.write_bytes(text)
    folder = os.open(note.parent, os.O_RDONLY)
    try:
        assert exchange(folder, beside.name, note.name)
    finally:
        os.close(folder)
    before = beside.read_bytes()
    beside.unlink()
    return before


@dataclass
class Writer:
    """A child in a process group of its own, and what it acknowledged."""

    root: Path
    name: str
    acknowledged: list[dict[str, str | None]] = field(default_factory=list)

    def __post_init__(self) -> None:
        command = [sys.executable, "-m", "tests.faults.writing", str(self.root), self.name]
        self._process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, start_new_session=True, text=True)

    @property
    def pid(self) -> int:
        """The id of its process, and of its group."""
        return self._process.pid

    def kill(self, *, with_git: bool) -> None:
        """Kill it, with the git it may be running or without, and take in what it had acknowledged."""
        assert self._process.poll() is None, f"writer {self.name} ended by itself"
        if with_git:
            os.killpg(self._process.pid, signal.SIGKILL)
        else:
            self._process.kill()
        for line in self._lines():
            self._take(line)
        self._process.wait()
        self._lines().close()

    def _lines(self) -> IO[str]:
        assert self._process.stdout
        return self._process.stdout

    def _take(self, line: str) -> None:
        self.acknowledged.append(json.loads(line))


def _kill_all_along(root: Path, kills: int) -> Iterator[Writer]:
    """Every writer that ever was: a random one of those at work is killed, again and again."""
    chance, number = random.Random(3), 0
    at_work: list[Writer] = []
    while number < kills + WRITERS:
        while len(at_work) < WRITERS and number < kills + WRITERS:
            at_work.append(Writer(root, f"w{number}"))
            number += 1
        _wait_for_commits(chance.randrange(6))  # else a busy machine kills writers that have not begun to write
        writer = _who_writes(at_work, has_begun=chance.random() < 0.7)
        time.sleep(chance.uniform(0, 0.04))  # so that the kill falls anywhere in one
        at_work.remove(writer)
        writer.kill(with_git=chance.random() < 0.75)
        yield writer
    for writer in at_work:
        writer.kill(with_git=True)
        yield writer


def _wait_for_commits(more: int) -> None:
    """Wait until the writers have made that many commits more."""
    wanted, deadline = _commits() + more, time.monotonic() + 60
    while _commits() < wanted:
        assert time.monotonic() < deadline, "no writer gets on"
        time.sleep(0.002)


def _commits() -> int:
    counts = (Path(os.environ["XDG_STATE_HOME"]) / "commonplace/locks").glob("*.commits")
    return sum(int(count.read_text().strip() or 0) for count in counts)


def _who_writes(at_work: list[Writer], *, has_begun: bool) -> Writer:
    """The writer that took the vault's lock last, as soon as it is one of these, and has written a journal if asked."""
    state = Path(os.environ["XDG_STATE_HOME"]) / "commonplace"
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        journals = [journal.stat().st_size for journal in state.glob("journals/*.json")]
        owners = [owner.read_text().strip() for owner in state.glob("locks/*.owner")]
        for writer in at_work:
            if str(writer.pid) in owners and (any(journals) or not has_begun):
                return writer
        time.sleep(0.001)
    raise AssertionError("no writer gets on")


def _history(root: Path) -> tuple[set[tuple[str, str]], Counter[str]]:
    """Every (path, blob) that any commit brought, and how often each mutation was committed."""
    raw = git(root, "log", "--raw", "--no-abbrev", "--no-renames", "--format=", "-m", "--root").splitlines()
    brought = {(line.partition("\t")[2], line.split()[3]) for line in raw if line.startswith(":")}
    trailers = git(root, "log", "--format=%(trailers:key=Commonplace-Mutation,valueonly,separator=)").split()
    return brought, Counter(trailers)


def _blob(text: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(text) + text).hexdigest()


@pytest.mark.requirement("A-30")
def test_no_kill_loses_an_acknowledged_write_or_a_persons_words(tmp_path: Path) -> None:
    """Four writers on overlapping notes, killed with git or without it; a person saves over them meanwhile."""
    root = tmp_path / "vault"
    vault = new_vault(
        root, **dict.fromkeys((Path(path).stem for path in (*SHARED, *PAIR)), text_of("baseline").decode())
    )
    person = Person(root)
    person.start()
    try:
        writers = list(_kill_all_along(root, KILLS))
    finally:
        person.ends.set()
        person.join()
    vault.recover(wait=60)

    brought, mutations = _history(root)
    on_disk = {path: path.read_bytes() for path in root.rglob("*.md") if ".git" not in path.parts}
    everywhere = {blob for _, blob in brought} | {_blob(text) for text in on_disk.values()}
    acknowledged = [(path, token) for writer in writers for each in writer.acknowledged for path, token in each.items()]
    lost = [(path, token) for path, token in acknowledged if token and (path, _blob(text_of(token))) not in brought]
    lost_edits = [text.split(b"\n")[0] for text in person.saved if _blob(text) not in everywhere]
    torn = [path.name for path, text in on_disk.items() if not is_whole(text)]
    copies = [path.name for path in on_disk if " (conflict " in path.name]
    dirty = [line for line in status(root) if not _is_the_persons(line)]
    print(  # noqa: T201
        f"\n{KILLS} kills, {len(acknowledged)} acknowledged writes, {person.saves} saves by a person, "
        f"{len(person.saved)} of them not replaced by the next: "
        f"lost {len(lost)} writes and {len(lost_edits)} edits, {len(torn)} torn notes, {len(copies)} conflict copies, "
        f"{sum(count > 1 for count in mutations.values())} mutations committed twice, {len(leftovers(root))} leftovers"
    )

    assert (lost, lost_edits, torn) == ([], [], [])
    assert (root / PAIR[0]).read_bytes() == (root / PAIR[1]).read_bytes()
    assert leftovers(root) == []
    assert dirty == []
    assert git(root, "fsck", "--no-dangling") == ""


def _is_the_persons(line: str) -> bool:
    """Whether `git status` tells of a note that the person saved last, or of a copy of what they saved."""
    return line[:2] in (" M", "??") and ("shared-" in line)
