"""Processes that sync are killed, run beside each other and are searched: the index ends as a rebuild would."""

import os
import random
import signal
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from commonplace.encoders.hashing import HashingEncoder
from commonplace.flows.ingest import ingest_paths, sync
from commonplace.flows.look_up import Ask
from commonplace.flows.rebuild import rebuild
from commonplace.flows.recall import recall
from commonplace.flows.shelf import Shelf
from commonplace.model import MODES
from tests.unit.flows.shelf import close, make_shelf, save, told

LONG = os.environ.get("FAULTS") == "long"
KILLS = 300 if LONG else 8
NOTES = 300
SECONDS = 60.0 if LONG else 2.5
WORDS = ("apple", "pear", "plum", "wall", "water", "bed", "glass", "sensor", "solar", "seed")
ASKS = [Ask(text, mode, k=32, min_score=0.1) for mode in MODES for text in ("apple wall", "solar seed in the bed")]


@dataclass
class Person:
    """Someone who writes, renames and removes notes, without a plan."""

    root: Path
    chance: random.Random
    number: int = 0

    def text(self) -> str:
        """Some paragraphs, with a link to another note."""
        self.number += 1
        words = [self.chance.choice(WORDS) for _ in range(self.chance.randrange(5, 120))]
        return f"# Note {self.number}\n\n{' '.join(words)}\n\nSee [[n{self.chance.randrange(NOTES)}]].\n"

    def edit(self, times: int) -> None:
        """Do some of it."""
        for _ in range(times):
            path = f"{self.chance.choice('ABC')}/n{self.chance.randrange(NOTES)}.md"
            there = (self.root / path).exists()
            what = self.chance.random()
            if there and what < 0.2:
                (self.root / path).unlink()
            elif there and what < 0.4:
                (self.root / path).rename(self.root / f"{self.chance.choice('ABC')}/n{self.chance.randrange(NOTES)}.md")
            else:
                save(self.root, path, self.text())


def begin(tmp_path: Path) -> Person:
    """A vault of some hundred notes."""
    person = Person(tmp_path / "vault", random.Random(7))
    for folder in "ABC":
        (person.root / folder).mkdir(parents=True)
    person.edit(NOTES)
    return person


def shelf_in(tmp_path: Path, folder: str = "data") -> Shelf:
    return make_shelf(tmp_path / "vault", tmp_path / folder, encoder=HashingEncoder(64), least=50)


def child(tmp_path: Path, work: Callable[[Shelf], object]) -> int:
    """The id of a new process that does this work with a shelf of its own; what it raises is in a file."""
    pid = os.fork()
    if pid:
        return pid
    try:
        work(shelf_in(tmp_path))
        os._exit(0)
    except BaseException:  # noqa: BLE001 - a child's error must reach the test, and no child may return
        (tmp_path / f"failure-{os.getpid()}").write_text(traceback.format_exc())
        os._exit(1)


def failures(tmp_path: Path) -> list[str]:
    return [file.read_text() for file in tmp_path.glob("failure-*")]


def from_nothing(tmp_path: Path) -> dict[str, object]:
    """What an index says that was made of the vault as it is now."""
    fresh = shelf_in(tmp_path, "fresh")
    sync(fresh)
    answers = told(fresh, ASKS)
    close(fresh)
    return answers


def test_a_sync_that_is_killed_anywhere_leaves_an_index_that_the_next_one_completes(tmp_path: Path) -> None:
    """Killed by signal 9 at any moment, again and again, while notes change: after one sync all is as if made anew."""
    person, chance = begin(tmp_path), random.Random(11)
    killed = 0
    for _ in range(KILLS):
        pid = child(tmp_path, sync)
        time.sleep(chance.uniform(0.0, 0.6))  # so that the kill falls anywhere
        os.kill(pid, signal.SIGKILL)
        killed += os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == -signal.SIGKILL
        person.edit(30)
    shelf = shelf_in(tmp_path)
    sync(shelf)
    answers = told(shelf, ASKS)
    close(shelf)

    assert failures(tmp_path) == []
    assert killed > KILLS // 4
    assert len(answers) > len(ASKS)
    assert answers == from_nothing(tmp_path)


def test_processes_that_sync_rebuild_and_search_at_once_end_with_one_truth(tmp_path: Path) -> None:
    """Two sync, one takes in single notes, one rebuilds, one searches, a person edits: no error, and one outcome."""
    person, end = begin(tmp_path), tmp_path / "end"

    def again_and_again(do: Callable[[Shelf], object]) -> Callable[[Shelf], None]:
        def work(shelf: Shelf) -> None:
            while not end.exists():
                do(shelf)
            sync(shelf)

        return work

    def ingest_some(shelf: Shelf) -> None:
        ingest_paths([f"A/n{random.randrange(NOTES)}.md" for _ in range(20)], shelf)

    def search(shelf: Shelf) -> None:
        for hit in recall(random.choice(ASKS), shelf, sink="person"):
            assert hit.text

    works: list[Callable[[Shelf], object]] = [
        sync,
        sync,
        ingest_some,
        lambda shelf: rebuild(shelf, progress=lambda done, total: None),
        search,
    ]
    pids = [child(tmp_path, again_and_again(work)) for work in works]
    until = time.monotonic() + SECONDS
    while time.monotonic() < until and not failures(tmp_path):
        person.edit(3)
        time.sleep(0.02)  # a person who types fast
    end.touch()
    codes = [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in pids]
    shelf = shelf_in(tmp_path)
    answers = told(shelf, ASKS)
    close(shelf)

    assert failures(tmp_path) == []
    assert codes == [0] * len(works)
    assert answers == from_nothing(tmp_path)
