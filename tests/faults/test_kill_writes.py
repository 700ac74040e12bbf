"""Writers are killed at any moment while a person edits the same notes: nothing acknowledged is lost."""

import hashlib
import json
import os
import random
import shutil
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from commonplace.vault.obsidian import ObsidianVault
from commonplace.vault.syscalls import exchange
from tests.faults.figures import Figures
from tests.faults.writing import PAIR, SHARED, is_whole, text_of
from tests.gitvault import git, leftovers, new_vault, status
from tests.run_length import rounds
from tests.warm import Child, WarmProcess

KILLS = rounds(16, long=4000)
LAP = 250
"""Kills after which everything is verified, and a new vault is taken."""
BASELINE = text_of("baseline").decode()
WRITERS = 4


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
    """A child in a process group of its own, and the file with what it acknowledged."""

    process: Child
    acknowledged: Path

    def kill(self, *, with_git: bool) -> list[dict[str, str | None]]:
        """Kill it, with the git it may be running or without, and return what it had acknowledged."""
        assert self.process.poll() is None, f"{self.acknowledged.name} ended by itself"
        self.process.kill(with_group=with_git)
        return [json.loads(line) for line in self.acknowledged.read_text().splitlines()]


@dataclass
class Killing:
    """Writers on one vault, of which a random one is killed again and again."""

    warm: WarmProcess
    root: Path
    chance: random.Random
    acknowledged: list[dict[str, str | None]] = field(default_factory=list)
    begun: int = 0

    @property
    def log(self) -> Path:
        """What the writers log: among it each recovery from a kill."""
        return self.root.with_name(f"{self.root.name}.log")

    def kill(self, kills: int) -> None:
        """Kill that many writers while others go on."""
        at_work: list[Writer] = []
        while self.begun < kills:
            while len(at_work) < WRITERS and self.begun < kills:
                at_work.append(self._begin())
            _wait_for_commits(self.chance.randrange(6))  # else a busy machine kills writers that have not begun
            writer = _who_writes(at_work, has_begun=self.chance.random() < 0.7)
            time.sleep(self.chance.uniform(0, 0.04))  # so that the kill falls anywhere in one
            at_work.remove(writer)
            self.acknowledged += writer.kill(with_git=self.chance.random() < 0.75)
        for writer in at_work:
            self.acknowledged += writer.kill(with_git=True)

    def _begin(self) -> Writer:
        name = f"w{self.begun}"
        self.begun += 1
        acknowledged = self.root.with_name(f"{self.root.name}-{name}")
        acknowledged.touch()
        target = "tests.faults.writing:write_until_killed"
        return Writer(self.warm.fork(target, str(self.root), name, output=acknowledged, errors=self.log), acknowledged)


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
            if str(writer.process.pid) in owners and (any(journals) or not has_begun):
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
    saves = twice = 0
    with Figures("write") as figures, WarmProcess("tests.faults.writing") as warm:
        for lap in range(0, KILLS, LAP):
            root = tmp_path / f"vault{lap}"
            vault = new_vault(root, **dict.fromkeys((Path(path).stem for path in (*SHARED, *PAIR)), BASELINE))
            killing, person = Killing(warm, root, random.Random(lap)), Person(root)
            person.start()
            try:
                killing.kill(min(LAP, KILLS - lap))
            finally:
                person.ends.set()
                person.join()
            figures.kills += killing.begun
            figures.restored += killing.log.read_text().count("vault_recovered")
            figures.acknowledged += len(killing.acknowledged)
            saves += person.saves
            twice += _verify(vault, killing, person, figures)
            figures.more = f"{saves} saves by a person beside it, {twice} mutations committed twice"


def _verify(vault: ObsidianVault, killing: Killing, person: Person, figures: Figures) -> int:
    """All that was acknowledged and all that the person saved is there, nothing is torn, left over or damaged.

    Returns how many mutations were committed twice, which loses nothing.
    """
    root = killing.root
    vault.recover(wait=60)
    brought, mutations = _history(root)
    on_disk = {path: path.read_bytes() for path in root.rglob("*.md") if ".git" not in path.parts}
    everywhere = {blob for _, blob in brought} | {_blob(text) for text in on_disk.values()}
    acknowledged = [(path, token) for each in killing.acknowledged for path, token in each.items()]
    lost = [(path, token) for path, token in acknowledged if token and (path, _blob(text_of(token))) not in brought]
    lost_edits = [text.split(b"\n")[0] for text in person.saved if _blob(text) not in everywhere]
    figures.lost += len(lost) + len(lost_edits)

    assert (lost, lost_edits) == ([], []), figures
    assert [path.name for path, text in on_disk.items() if not is_whole(text)] == []
    assert (root / PAIR[0]).read_bytes() == (root / PAIR[1]).read_bytes()
    assert leftovers(root) == []
    assert [line for line in status(root) if not _is_the_persons(line)] == []
    assert git(root, "fsck", "--no-dangling") == ""
    shutil.rmtree(root)
    return sum(count > 1 for count in mutations.values())


def _is_the_persons(line: str) -> bool:
    """Whether `git status` tells of a note that the person saved last, or of a copy of what they saved."""
    return line[:2] in (" M", "??") and ("shared-" in line)
