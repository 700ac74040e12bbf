"""Runs the sleep jobs as the runner does, on a real vault with an injected clock: plan, apply, keep the state.

A run can be killed after some steps: then the state stays what it was.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from typing import Any

from commonplace.flows.conversations import record_conversation
from commonplace.history.base import NewThread
from commonplace.memory import Memory
from commonplace.model import Actor, Message
from commonplace.upkeep.job import Job, JobRun, Plan, StepResult
from commonplace.upkeep.options import UpkeepOptions
from commonplace.upkeep.sleep import JOB


@dataclass
class Sleeper:
    """A memory, the person's zone, the settings of upkeep, and the state of each job."""

    memory: Memory
    zone: tzinfo = UTC
    options: UpkeepOptions = field(default_factory=UpkeepOptions)
    states: dict[str, Mapping[str, Any]] = field(default_factory=dict)

    def plan(self, job: Job = JOB) -> Plan:
        """What the job would do now."""
        return job.plan(self._run(job))

    def sleep(self, job: Job = JOB, *, dies_after: int | None = None) -> list[StepResult]:
        """Run the job; one that dies does so many steps and stores no state."""
        run = self._run(job)
        plan = job.plan(run)
        results = [job.apply(step, run) for step in plan.steps[:dies_after]]
        if dies_after is None and plan.state is not None:
            self.states[job.name] = plan.state
        return results

    def _run(self, job: Job) -> JobRun:
        session = self.memory._session
        here = session.as_actor(Actor("job", job.name)).at(session.clock())
        return JobRun(here, self.states.get(job.name, {}), self.zone, False, lambda: False, self.options)

    def talk(
        self,
        *texts: str | Message,
        at: datetime,
        id: str = "one",
        interface: str = "claude-code",
        captured: bool = True,
        **thread: Any,
    ) -> str:
        """Record a conversation of the person and an assistant, by turns, from that moment on; returns its id."""
        messages = [
            each if isinstance(each, Message) else Message("assistant" if number % 2 else "user", each, at=at)
            for number, each in enumerate(texts)
        ]
        new = NewThread(interface=interface, source_id=id, captured=captured, **thread)
        return record_conversation(new, messages, self.memory._session).id

    def file(self, path: str) -> Path:
        """A file of the vault."""
        return Path(self.memory._session.stores.vault_folder) / path

    def note(self, day: str, *, channel: str = "") -> str:
        """The text of a day's note; empty if there is none."""
        folder = f"Agent/channels/{channel}/memories" if channel else "Agent/memories"
        file = self.file(f"{folder}/{day}.md")
        return file.read_text(encoding="utf-8") if file.exists() else ""

    def bullets(self, day: str, *, channel: str = "") -> list[str]:
        """The bullets of a day's note, without their block ids."""
        lines = self.note(day, channel=channel).splitlines()
        return [line[2:].partition(" ^")[0] for line in lines if line.startswith("- ")]
