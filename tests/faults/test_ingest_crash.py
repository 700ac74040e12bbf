"""Processes that sync are killed, run beside each other and are searched: the index ends as a rebuild would."""

import os
import random
import shutil
import signal
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from commonplace.encoders.hashing import HashingEncoder
from commonplace.flows.ingest.index_notes import index_notes
from commonplace.flows.ingest.sync import rebuild, sync
from commonplace.flows.search.search import SearchQuery, search
from commonplace.flows.stores import Stores
from commonplace.model import MODES
from tests.faults.figures import Figures
from tests.run_length import rounds
from tests.stores import close, index_contents, make_stores, save

KILLS = rounds(6, long=1600)
LAP = 100
"""Kills after which the whole index is compared with one that is made anew."""
NOTES = 120
SECONDS = rounds(1, long=30)
WORDS = ("apple", "pear", "plum", "wall", "water", "bed", "glass", "sensor", "solar", "seed")
ASKS = [
    SearchQuery(text, mode, k=32, min_score=0.1) for mode in MODES for text in ("apple wall", "solar seed in the bed")
]


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


def shelf_in(tmp_path: Path, folder: str = "data") -> Stores:
    return make_stores(tmp_path / "vault", tmp_path / folder, encoder=HashingEncoder(64), least=50)


def child(tmp_path: Path, work: Callable[[Stores], object]) -> int:
    """The id of a new process that does this work with a stores of its own; what it raises is in a file."""
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
    shutil.rmtree(tmp_path / "fresh", ignore_errors=True)
    fresh = shelf_in(tmp_path, "fresh")
    sync(fresh)
    answers = index_contents(fresh, ASKS)
    close(fresh)
    return answers


@dataclass
class Killing:
    """Children that sync and are killed at any moment from their start to their end, however busy the machine is."""

    folder: Path
    chance: random.Random
    lasts: float = 0.2
    """Seconds that a sync takes, as a guess: shorter when one ended by itself, longer when one was killed."""

    def kill(self) -> bool:
        """Let a child sync, and kill it; False if it had ended before."""
        pid = child(self.folder, sync)
        time.sleep(self.chance.uniform(0.0, self.lasts))
        os.kill(pid, signal.SIGKILL)
        killed = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == -signal.SIGKILL
        self.lasts = min(self.lasts * (1.02 if killed else 0.9), 3.0)
        return killed


def test_a_sync_that_is_killed_anywhere_leaves_an_index_that_the_next_one_completes(tmp_path: Path) -> None:
    """Killed by signal 9 at any moment, again and again, while notes change: after one sync all is as if made anew."""
    person, killing, comparisons = begin(tmp_path), Killing(tmp_path, random.Random(11)), 0
    with Figures("ingest") as figures:
        while figures.kills < KILLS:
            killed = killing.kill()
            figures.kills += killed
            assert failures(tmp_path) == []
            person.edit(12)
            if killed and (figures.kills % LAP == 0 or figures.kills == KILLS):
                _complete(tmp_path)
                comparisons += 1
                figures.more = f"{comparisons} comparisons with an index made anew"


def _complete(tmp_path: Path) -> None:
    """After one more sync the index says what one says that is made anew."""
    stores = shelf_in(tmp_path)
    sync(stores)
    answers = index_contents(stores, ASKS)
    close(stores)
    assert failures(tmp_path) == []
    assert len(answers) > len(ASKS)
    assert answers == from_nothing(tmp_path)


def test_processes_that_sync_rebuild_and_search_at_once_end_with_one_truth(tmp_path: Path) -> None:
    """Two sync, one takes in single notes, one rebuilds, one searches, a person edits: no error, and one outcome."""
    person, end = begin(tmp_path), tmp_path / "end"

    def again_and_again(do: Callable[[Stores], object]) -> Callable[[Stores], None]:
        def work(stores: Stores) -> None:
            while not end.exists():
                do(stores)
            sync(stores)

        return work

    def ingest_some(stores: Stores) -> None:
        index_notes([f"A/n{random.randrange(NOTES)}.md" for _ in range(20)], stores)

    def search_often(stores: Stores) -> None:
        for hit in search(random.choice(ASKS), stores, audience="person"):
            assert hit.text

    works: list[Callable[[Stores], object]] = [
        sync,
        sync,
        ingest_some,
        lambda stores: rebuild(stores),
        search_often,
    ]
    pids = [child(tmp_path, again_and_again(work)) for work in works]
    until = time.monotonic() + SECONDS
    while time.monotonic() < until and not failures(tmp_path):
        person.edit(3)
        time.sleep(0.02)  # a person who types fast
    end.touch()
    codes = [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in pids]
    stores = shelf_in(tmp_path)
    answers = index_contents(stores, ASKS)
    close(stores)

    assert failures(tmp_path) == []
    assert codes == [0] * len(works)
    assert answers == from_nothing(tmp_path)
