"""The vault that tests of the page look at: the sample vault, generated notes, and what agents and the person told."""

import os
import random
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

from commonplace.history.base import ModelCall, Spending
from commonplace.memory import Memory
from commonplace.model import Actor
from tests.vaults import sample_vault

AGENT = Actor("agent", "claude-code")
_WORDS = (
    "soil",
    "sensor",
    "compost",
    "meeting",
    "budget",
    "harvest",
    "letter",
    "glass",
    "water",
    "frame",
    "seed",
    "plan",
)


def write_notes(root: Path, *, generated: int) -> Path:
    """The sample vault and so many small notes with links and tags; always the same."""
    sample_vault(root, git=False)
    source = random.Random(21)
    for number in range(generated):
        file = root / "Archive" / f"{number % 20:02}" / f"Note {number:04}.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        sentence = " ".join(source.choices(_WORDS, k=10)).capitalize()
        other = source.randrange(generated)
        file.write_text(
            f"---\ntags: [archive, {_WORDS[number % 12]}]\n---\n# Note {number}\n\n{sentence}. [[Note {other:04}]]\n"
        )
    now = time.time()  # the clock of the tests may be shifted, and the kernel's is not
    for file in root.rglob("*.md"):
        os.utime(file, (now, now))
    return root


def remember(memory: Memory) -> None:
    """What the person and an agent told this memory: entries, facts, conversations; two things wait for review."""
    agent = memory.acting(AGENT)
    tabs = memory.entries.save("Prefers tabs over spaces.", kind="preference", tags=["code"])
    memory.entries.save("The greenhouse opens in May.", kind="decision", tags=["greenhouse"])
    memory.entries.save("Answer in plain English, without emojis.", kind="feedback", always_load=True)
    memory.facts.add("Ada", "works_at", "Nordvik Energy")
    memory.facts.add("Jonas", "lives_in", "Leipzig")
    agent.entries.save("The rainwater tank holds 300 litres.", kind="fact", tags=["greenhouse"])
    agent.entries.evolve(tabs.fact.id, "Prefers spaces over tabs.", reason="said so", interface="claude-code")
    agent.entries.save("Drinks green tea in the morning.", kind="preference", trust="read", interface="claude-code")
    for number, (asked, answered) in enumerate(_TURNS):
        agent.conversations.record(
            [{"role": "user", "content": asked}, {"role": "assistant", "content": answered}],
            interface="claude-code",
            source_id=f"page-{number}",
            title=asked,
        )
    agent.context("When does the greenhouse open?", conversation="page-0", within=None)


def write_calendar(file: Path) -> Path:
    """A calendar of four meetings, one of them over, the others on the next days."""
    midnight = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    events = "".join(_event(number, midnight, *each) for number, each in enumerate(_MEETINGS))
    file.write_text(f"BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//garden//EN\r\n{events}END:VCALENDAR\r\n")
    return file


def _event(number: int, midnight: datetime, day: int, hour: int, title: str, people: tuple[str, ...]) -> str:
    start = midnight + timedelta(days=day, hours=hour)
    attendees = [f"ATTENDEE;CN={name}:mailto:{name.split()[0].lower()}@example.org" for name in people]
    lines = [
        "BEGIN:VEVENT",
        f"UID:meeting-{number}@garden",
        f"DTSTAMP:{midnight:%Y%m%dT%H%M%SZ}",
        f"DTSTART:{start:%Y%m%dT%H%M%SZ}",
        f"DTEND:{start + timedelta(hours=1):%Y%m%dT%H%M%SZ}",
        f"SUMMARY:{title}",
        *attendees,
        "END:VEVENT",
    ]
    return "".join(f"{line}\r\n" for line in lines)


def log_calls(memory: Memory) -> None:
    """Calls of a language model on the last thirty days, as the log of a person who set one has them."""
    source, now = random.Random(30), datetime.now(UTC)
    for day in range(30):
        for task in ("extract", "summarize", "draft"):
            tokens = source.randrange(2_000, 40_000) if source.random() < 0.7 else 0
            call = ModelCall(
                at=now - timedelta(days=day),
                task_type=task,
                model_alias="haiku",
                input_hash="0" * 64,
                version="v1",
                duration_ms=900.0,
                tokens=tokens,
                cost=tokens * 2e-6,
            )
            if tokens:
                memory.learning._session.stores.history.reserve_call(call, budget=Spending(tokens=10**9, cost=1e6))


_MEETINGS = (
    (-1, 9, "Sensor review", ("Jonas Weber", "Priya Raman")),
    (1, 9, "Foundation of the greenhouse", ("Ada Lindqvist",)),
    (1, 15, "Seed swap", ("Tomas Okafor", "Priya Raman")),
    (3, 10, "Society meeting", ("Ada Lindqvist", "Jonas Weber", "Priya Raman")),
)
_TURNS = (
    ("When does the greenhouse open?", "In May, as you decided."),
    ("How large is the rainwater tank?", "It holds 300 litres."),
    ("Who measures the soil?", "Jonas does, with his own sensors."),
)
