"""A day of the generated person with a real memory: conversations, learning, the night's jobs, and their own habits.

The clock is injected, git and SQLite are real. The person writes and renames their notes in the file manager, reads the
digest every week and then goes through the review: what is true is approved, what is not is rejected.
"""

import os
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from datetime import time as time_of_day
from pathlib import Path
from typing import Any, Final

from bench.year_model import YearModel
from bench.year_person import CLOSES, PROJECT, Year, attributes_said, date_of
from bench.year_talk import (
    HYPOTHETICAL_WORDS,
    INJECTED_WORDS,
    NOTES,
    deed_of,
    own_line,
    rename_of,
    talks_of,
)

from commonplace.errors import CommonplaceError
from commonplace.memory import Memory
from commonplace.model import FactSnapshot
from commonplace.model.upkeep import JobRecord
from tests.memories import Calendar

REVIEWS: Final = 7
"""Days between two reviews."""


@dataclass(slots=True)
class Life:
    """The person, their memory and their clock; what happened is counted."""

    memory: Memory
    calendar: Calendar
    year: Year
    vault: Path
    seed: int
    model: YearModel | None = None
    own: dict[str, bytes] = field(default_factory=dict)
    seconds: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    jobs: defaultdict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    learned: Counter[str] = field(default_factory=Counter)
    decided: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    day: int = 0

    @contextmanager
    def timed(self, what: str) -> Iterator[None]:
        """Count the seconds of a block."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[what] += time.perf_counter() - start

    def at(self, day: int, hour: int, minute: int = 0) -> None:
        """Set the clock; it never goes back."""
        moment = datetime.combine(date_of(day), time_of_day(hour, minute), UTC)
        self.calendar.at = max(self.calendar.at, moment)

    def fault(self, what: str) -> None:
        """Note something that must not happen."""
        self.faults.append(f"day {self.day}: {what}")

    # ------------------------------------------------------------ one day

    def live(self, day: int) -> None:
        """Live through one day and the night after it."""
        self.day = day
        if self.model:
            self.model.day = day
        self.at(day, 7, 30)
        with self.timed("own notes"):
            self._write_notes(day)
        self._talk(day)
        self.at(day, 22)
        with self.timed("learning"):
            run = self.memory.learning.run()
        self._date_files()
        self.learned.update(item.outcome for result in run.results for item in result.items)
        for hour, minute in ((4, 45), (6, 30)):
            self.at(day + 1, hour, minute)
            with self.timed("jobs"):
                self._count_jobs(self.memory.jobs.run_due())
        self._date_files()
        self.check_own(day)

    def _date_files(self) -> None:
        """Give files that were written today the time of the injected clock: a sync reads what may be newer again."""
        now = self.calendar().timestamp()
        for file in self.vault.rglob("*.md"):
            if file.stat().st_mtime > now:
                os.utime(file, (now - 60, now - 60))

    def _count_jobs(self, records: tuple[JobRecord, ...]) -> None:
        for record in records:
            self.jobs[record.job][record.outcome] += 1
            self.seconds[f"job {record.job}"] += record.seconds
            for step in record.steps:
                self.jobs[record.job][f"steps {step.outcome}"] += 1
                if step.outcome == "failed":
                    self.fault(f"{record.job}: a step failed: {step.step.said} {step.reason}")
            if record.outcome == "failed":
                self.fault(f"{record.job} failed: {record.said}")

    def _talk(self, day: int) -> None:
        for talk in talks_of(day, self.year, seed=self.seed):
            begins = datetime.fromisoformat(talk.messages[0]["at"])
            self.at(day, begins.hour, begins.minute)
            with self.timed("contexts"):
                self.memory.context.start(conversation=talk.id, within=None)
                self.memory.context(talk.messages[0]["content"], conversation=talk.id, within=None)
            ends = datetime.fromisoformat(talk.messages[-1]["at"])
            self.at(day, ends.hour, ends.minute)
            with self.timed("recording"):
                self.memory.conversations.record(
                    talk.messages, source_id=talk.id, title=talk.title, project=talk.project or None
                )
        if deed := deed_of(day):
            with self.timed("recording"):
                self.memory.tasks.record(deed.task, result=deed.result, id=deed.id, interface="agent")

    # ------------------------------------------------------------ the person's own notes

    def _write_notes(self, day: int) -> None:
        """What the person does in the file manager and the editor, and the watcher sees."""
        if day == 0:
            for path, text in NOTES.items():
                self._write(path, text.encode())
        if line := own_line(day):
            path = self._path_now(line[0])
            self._write(path, self.own[path] + line[1].encode())
        if moved := rename_of(day):
            self._rename(*moved)
        if day == CLOSES:
            path = f"Projects/{PROJECT.capitalize()}.md"
            self._write(path, self.own[path].replace(b"status: active", b"status: done"))
        if day == 0 or line or moved or day == CLOSES:
            self.memory.index.sync()

    def _path_now(self, path: str) -> str:
        """Where the note is that once had this path."""
        return path if path in self.own else next(each for each in self.own if self._once.get(each) == path)

    @property
    def _once(self) -> dict[str, str]:
        from bench.year_talk import RENAMES

        return {new: old for old, new in RENAMES}

    def _write(self, path: str, content: bytes) -> None:
        file = self.vault / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
        self.own[path] = content

    def _rename(self, old: str, new: str) -> None:
        if old in self.own:
            (self.vault / old).rename(self.vault / new)
            self.own[new] = self.own.pop(old)

    def check_own(self, day: int) -> None:
        """Every note of the person has the bytes that they left, except where they approved a change."""
        for path, content in self.own.items():
            file = self.vault / path
            if not file.is_file():
                self.fault(f"the person's note {path} is gone")
            elif file.read_bytes() != content:
                self.fault(f"the person's note {path} has changed by itself")
                self.own[path] = file.read_bytes()

    # ------------------------------------------------------------ the review

    def review(self, day: int, *, before: Callable[[], None] = lambda: None) -> None:
        """Read the digest and decide everything that waits. `before` runs while all of it still waits."""
        self.at(day + 1, 7)
        before()
        with self.timed("review"):
            self.memory.digests.read()
            queue = self.memory.reviews.list()
            for waiting in queue.entries:
                deed = "approve" if self._is_true(waiting.fact.text, day) else "reject"
                self._decide(deed, getattr(self.memory.reviews, deed), waiting.fact.id)
            for proposal in queue.proposals:
                deed = "reject" if self.decided["proposals"] % 5 == 4 else "approve"
                self.decided["proposals"] += 1
                self._decide(f"{deed} proposal", getattr(self.memory.reviews, f"{deed}_proposals"), proposal.id)
                self._take_over(proposal.target, proposal.move_to)

    def _decide(self, deed: str, decide: Callable[[str], Any], id: str) -> None:
        try:
            decide(id)
            self.decided[deed] += 1
        except CommonplaceError as error:
            self.decided[f"{deed} failed"] += 1
            self.fault(f"cannot {deed} {id}: {error.message}")

    def _take_over(self, path: str, moved: str) -> None:
        """What the person approved is their own text from now on."""
        if path in self.own:
            del self.own[path]
            at = moved or path
            self.own[at] = (self.vault / at).read_bytes()

    def _is_true(self, text: str, day: int) -> bool:
        """What the person thinks of a statement: false if it gives an attribute a value that it does not have."""
        if any(word.casefold() in text.casefold() for word in (*INJECTED_WORDS, *HYPOTHETICAL_WORDS)):
            return False
        true = self.year.true_on(day)
        said = attributes_said(text, self.year)
        return all(true.get(key) == value for key, value in said.items())

    # ------------------------------------------------------------ what memory holds

    def current(self) -> tuple[FactSnapshot, ...]:
        """The entries that hold now: not archived, not waiting."""
        every = self.memory.facts.about()
        return tuple(
            each for each in every if each.fact.origin == "entry" and each.state == "current" and not each.fact.place
        )
