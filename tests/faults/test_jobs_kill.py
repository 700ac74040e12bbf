"""Every job and skill: the dry run is what a run does, a second run does nothing, and a kill changes no outcome."""

import random
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest

from commonplace.memory import Memory
from commonplace.model.upkeep import JobRecord
from commonplace.upkeep.registry import JOBS
from tests.faults.figures import Figures
from tests.faults.killing import killed_after
from tests.gitvault import git
from tests.llm_server import ModelScript, serving_models
from tests.run_length import rounds
from tests.upkeep_vault import NOW, copied, live, model_answer, open_lived

KILLS = rounds(1, long=40)
KILLED = rounds(6, long=100)  # jobs; of a short run, some that are always the same
ROOMS = ("flows/", "history/sqlite", "index/sqlite", "index/tables", "database", "vault", "upkeep")
IDLE = {"commitment_log", "person_profile"}
"""Skills that find nothing to do in this vault: they follow commitments and notes about people."""
NAMES = [job.name for job in JOBS if job.name not in IDLE]
SAMPLE = random.Random(30).sample(NAMES, min(KILLED, len(NAMES)))
ONE_STEP = {"digest", "weekly_review"}
"""Jobs that do one thing at a time."""
LOOKING = {"calendar", "probe"}
"""Jobs that look anew each time, and say what they saw."""
BEFORE = {"meeting_note": "calendar"}
"""The job that must run first."""
_BY_PATH = re.compile(r"\[\[([^|\]]+)\|\1\]\]")
_DIGITS = re.compile(r"\b[0-9a-f]{8}-[0-9a-f-]{27}\b|\b[0-9a-f]{6,40}\b")


@dataclass(frozen=True, slots=True)
class Lived:
    """A vault in which every job has something to do. Its data knows it by its path, so each test restores it there."""

    folder: Path
    saved: Path
    models: ModelScript

    def restore(self, name: str) -> None:
        """As it was made, ready for this job."""
        copied(self.saved, self.folder)
        if name in BEFORE:
            with self.opened() as memory:
                memory.index.sync()
                memory.jobs.run(BEFORE[name])

    def opened(self) -> Memory:
        """The person's memory of it."""
        return open_lived(self.folder, models=self.models)

    def state(self) -> Counter[str]:
        """Every note, what is known of calendars and talks, and what waits, without random names."""
        vault = self.folder / "vault"
        notes = (file for file in vault.rglob("*") if file.is_file() and ".git" not in file.parts)
        with self.opened() as memory:
            history = memory._session.stores.history
            events = history.events(NOW - timedelta(days=9), NOW + timedelta(days=9))
            known = [*map(repr, events), *(each.id for each in history.conversations(kind=None))]
            waiting = memory.reviews.list()
            known += [f"{len(waiting.proposals)} proposals, {memory.reviews.count()} in all"]
        known += [f"staged: {git(vault, 'diff', '--cached', '--stat')}"]
        texts = [f"{file.relative_to(vault)}\n{_lines(file)}" for file in notes]
        return Counter(_DIGITS.sub("*", each) for each in (*texts, *known))

    def differences(self, whole: Counter[str]) -> list[str]:
        """What is there and should not be, and what is not there and should."""
        found = self.state()
        return [f"+ {each}" for each in (found - whole)] + [f"- {each}" for each in (whole - found)]


def _lines(file: Path) -> str:
    """The lines of a note; those of a generated list, which is ordered by random names, in their own order.

    A link to a person is by path or by name, and what search finds related depends on what was indexed by then.
    """
    text = _BY_PATH.sub(r"[[\1]]", file.read_text().replace("[[People/", "[[")).partition("\n## Related\n")[0]
    lines = _DIGITS.sub("*", text).splitlines()
    return "\n".join(sorted(lines) if file.name == "_index.md" else lines)


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lived]:
    folder = tmp_path_factory.mktemp("lived")
    with serving_models() as models:
        models.answers = model_answer
        live(folder, models=models)
        yield Lived(folder, copied(folder, tmp_path_factory.mktemp("saved") / "folder"), models)


def steps_of(record: JobRecord) -> list[tuple[str, ...]]:
    """The steps of a run, without the ids in their values."""
    names = [(each.step.action, each.step.subject) for each in record.steps]
    said = [() if record.job in LOOKING else (each.step.said,) for each in record.steps]
    return [(*name, *more) for name, more in zip(names, said, strict=True)]


def _run(name: str, memory: Memory) -> bool:
    return memory.jobs.run(name).outcome == "done"


@pytest.mark.parametrize("name", NAMES)
def test_the_dry_run_is_what_is_done_and_no_kill_changes_what_comes_of_it(lived: Lived, name: str) -> None:
    """Killed at any call of our functions: the next run does the rest, and the vault is that of a run without a kill.

    A second run finds nothing to do.
    """
    run = partial(
        killed_after, work=partial(_run, name), root=lived.folder, rooms=ROOMS, settings={}, opens=lived.opened
    )
    lived.restore(name)
    with lived.opened() as memory:
        planned = memory.jobs.run(name, dry_run=True)
    calls = run(steps=None)
    whole = lived.state()
    with lived.opened() as memory:
        (done,) = memory.jobs.log(name)
        again = memory.jobs.run(name)

    assert len(done.steps) >= (1 if name in ONE_STEP else 3)
    assert {each.outcome for each in done.steps} <= {"done", "proposed"}
    assert steps_of(planned) == steps_of(done)
    assert name in LOOKING or again.steps == ()
    assert lived.differences(whole) == []

    chance = random.Random(name)
    kills = KILLS if name in SAMPLE else 0
    with Figures(f"job {name}") as figures:
        while figures.kills < kills:
            lived.restore(name)
            while figures.kills < kills and not run(steps=chance.randrange(1, calls)):
                figures.kills += 1
            assert run(steps=None) > 0
            differences = lived.differences(whole)
            figures.acknowledged += whole.total()
            figures.lost += sum(each.startswith("-") for each in differences)
            figures.restored += 1
            assert differences == [], f"after {figures.kills} kills"
