"""A vault in which every scheduled job and skill has something to do, made once and copied for each test."""

import json
import shutil
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from commonplace.memory import Memory
from commonplace.model import Actor, Message
from tests.llm_server import MODEL, Answer, ModelScript, Received
from tests.memories import Calendar, make_memory
from tests.stores import save
from tests.upkeep_jobs import use_daily

NOW: Final = datetime(2027, 3, 8, 15, 0, tzinfo=UTC)
LONG_AGO: Final = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)
_TWIN: Final = """---
id: 01a0b000-0000-7000-8000-000000{digits}
kind: fact
recorded: 2026-03-0{day}T08:00:00Z
source: {{interface: other-device, trust: said}}
---
{text}
"""
_TWINS: Final = ("The harbour office closes at noon.", "The mill grinds rye in autumn.", "The ferry needs a new bell.")
_RECURRING: Final = ("Had a migraine after red wine.", "Missed the night train.", "Slept badly before the exam.")
_ENDED: Final = ("The sale of umbrellas runs.", "The bridge is closed.", "The pool has no water.")
_LOVED: Final = ("Answers should be short.", "Prefers tabs to spaces.", "Wants metric units.")
_HARMED: Final = (
    "Reads on trains in the morning.",
    "Bakes bread on Sundays with rye.",
    "Sings in a choir.",
)
_CHANGED: Final = (
    "The ferry to Hven leaves at {0}.",
    "Baker Skov unlocks his shop at {0}.",
    "Uses {0} as editor.",
)
_EXPLAINED: Final = "For the record, this is how we deploy the {0}:\n1. Run tests.\n2. Build the {0}.\n3. Copy it over."
_SPOKEN: Final = (
    "Please fix the valve of the greenhouse",
    "Which tea shop opens on Sunday?",
    "Write tests for pumps",
)
_MEETING: Final = """BEGIN:VCALENDAR
VERSION:2.0
PRODID:test
BEGIN:VEVENT
UID:{name}
SUMMARY:Talk about {name}
DTSTART:20270308T{hour}0000Z
DTEND:20270308T{hour}3000Z
ATTENDEE;CN=Ada Lovelace:mailto:ada@example.org
ATTENDEE;CN=Guest of {name}:mailto:{name}@example.org
END:VEVENT
END:VCALENDAR
"""
_HOURS: Final = {"garden": 10, "harbour": 12, "school": 14}
_CHANNELS: Final = ("crew", "team")
_CUES: Final = {"about": "what is known here", "when": "plans, visits, repairs"}


def open_lived(folder: Path, *, models: ModelScript, at: datetime = NOW) -> Memory:
    """The person's memory in that folder, with its clock stopped; the model curates, judges and describes."""
    block = {"provider": "openai", "base_url": models.openai, "model": MODEL}
    settings: dict[str, object] = {
        "upkeep.zone": "UTC",
        "upkeep.retention.days": 300,
        "upkeep.links.suggest": 0,
        "skills.meeting_note.lookback_minutes": 1440,
        "calendar.calendars": [f"{name} path={folder / f'{name}.ics'}" for name in _HOURS],
        **{f"llm.{task}.{name}": value for task in ("curate", "judge", "describe") for name, value in block.items()},
    }
    return make_memory(folder, clock=Calendar(at), settings=settings)


def model_answer(asked: Received) -> Answer:
    """What the model answers: of near entries the newest replaces the others; the same cues for each entry; a line of
    its own for each profile.
    """
    if '"groups"' in asked.words:
        return Answer({"verdicts": [*_verdicts(json.loads(asked.body["messages"][1]["content"])["groups"])]})
    if '{"entries"' in asked.words:
        entries = json.loads(asked.body["messages"][1]["content"])["entries"]
        return Answer({"entries": [{"number": each["number"], **_CUES} for each in entries]})
    place = next((name for name in _CHANNELS if f"channel {name}" in asked.words), "bees")
    return Answer({"ops": [{"op": "add_heading", "heading": "Habits", "lines": [f"Speaks of {place} on Sundays."]}]})


def _verdicts(groups: Sequence[Sequence[dict[str, Any]]]) -> Iterator[dict[str, Any]]:
    for newest, *others in groups:
        for older in others:
            pair = {"newer": newest["number"], "older": older["number"]}
            yield {**pair, "reasoning": "It says another hour.", "verdict": "replaces"}


def live(folder: Path, *, models: ModelScript) -> None:
    """Make the vault: every job that does more than one thing at a time finds at least three."""
    for name, hour in _HOURS.items():
        (folder / f"{name}.ics").write_text(_MEETING.format(name=name, hour=hour).replace("\n", "\r\n"))
    clock = Calendar(LONG_AGO)
    with make_memory(folder, clock=clock) as person:
        _live_long_ago(folder / "vault", person, clock)
    with open_lived(folder, models=models) as person:
        _live_lately(folder / "vault", person)


def copied(source: Path, target: Path) -> Path:
    """The folder as it was, at the place of the other; no state folder is noted in it.

    The note is by the number of the vault's folder, which a file system gives to a new folder again. Each test has a
    state folder of its own.
    """
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(source, target, symlinks=True)
    for note in target.glob("vault/.git/commonplace/state-*"):
        note.unlink()
    return target


def _live_long_ago(vault: Path, person: Memory, clock: Calendar) -> None:
    """Old conversations; events that recur; facts that ended, that say the same, and that came from elsewhere."""
    agent = person.acting(Actor("agent", "codex"))
    for number, text in enumerate(_SPOKEN):
        person.conversations.record([Message("user", text, at=LONG_AGO)], interface="old", source_id=str(number))
    for text in _ENDED:
        agent.entries.save(text, kind="fact", valid_until="2026-04-01")
    for number, text in enumerate(_TWINS):
        for day in (1, 2):
            name = f"{text.lower().replace(' ', '-').rstrip('.')}-0{number}0a0{day}"
            twin = _TWIN.format(digits=f"0{number}0a0{day}", day=day, text=text)
            save(vault, f"Agent/Memory/fact/2026-03/{name}.md", twin)
    for _ in range(3):
        clock.pass_(days=7)
        for text in _RECURRING:
            agent.entries.save(text, kind="event", valid_from=f"{clock.at:%Y-%m-%d}")
    person.index.sync()


def _live_lately(vault: Path, person: Memory) -> None:
    """Entries that are used daily, or were harmed; talks of the last days; renamed notes; channels."""
    agent = person.acting(Actor("agent", "codex"))
    for text in _LOVED:
        use_daily(person.entries.save(text, kind="preference").fact.id, person, Calendar(NOW), days=15)
    for text in _CHANGED:
        for hour in ("nine", "ten"):
            agent.entries.save(text.format(hour), kind="fact")
    _harm(vault, *(agent.entries.save(text, kind="preference").fact.path for text in _HARMED))
    for number, text in enumerate(_SPOKEN):
        at = NOW - timedelta(days=number + 1)
        said = [Message("user", text, at=at), Message("user", _EXPLAINED.format(text.split()[-1].rstrip("?")), at=at)]
        person.conversations.record(said, interface="cli", source_id=f"late-{number}")
        save(vault, f"Agent/memories/{at:%Y-%m-%d}.md", f"- Bees moved in on {at:%A}.\n")
        for channel in _CHANNELS:
            told = [Message("user", text, at=at, author="ada")]
            person.conversations.record(told, interface="talk", source_id=f"channel:{channel}/{number}")
            save(vault, f"Agent/channels/{channel}/memories/2027-03-06.md", f"- The {channel} met.\n")
    save(vault, "People/Ade.md", "# Ade\n\nAda paints the shed in Leipzig.\n")
    for path in ("Agent/Log.md", "Agent/Trip.md", "Projects/Plan.md"):
        save(vault, path, "# A log\n\nSaw [[Ade]] today.\n")
    person.index.sync()
    (vault / "People/Ade.md").rename(vault / "People/Ada.md")


def _harm(vault: Path, unnamed: str, misnamed: str, misplaced: str) -> None:
    """Edit entries as another program does: no slug, another slug, the folder of another month."""
    for path, word in ((unnamed, "slag: "), (misnamed, "slug: un")):
        file = vault / path
        file.write_text(file.read_text().replace("slug: ", word))
    file = vault / misplaced
    (file.parent.parent / "2026-01").mkdir()
    file.rename(file.parent.parent / "2026-01" / file.name)
