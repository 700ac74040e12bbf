"""`commonplace demo`: a tour on a sample vault, with real output."""

import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass, replace
from datetime import datetime
from importlib.util import find_spec
from pathlib import Path
from shlex import quote
from typing import Annotated

import typer

from commonplace.cli.invocation import print_context, print_line, print_stderr
from commonplace.errors import CommonplaceError

NOTE = "Inbox/Watering.md"
CALENDAR = "calendar.ics"
TODAY = "today"
"""Stands for the day on which the demo began: it may go on after midnight."""
_EVENT = """BEGIN:VCALENDAR
VERSION:2.0
PRODID:-//Commonplace//demo
BEGIN:VEVENT
UID:sensor-review@demo
SUMMARY:Sensor review
DTSTART:{day}T120000
DTEND:{day}T123000
LOCATION:Greenhouse
DESCRIPTION:Which board do we order?
ATTENDEE;CN=Ada:mailto:ada@example.org
ATTENDEE;CN=Jonas:mailto:jonas@example.org
END:VEVENT
END:VCALENDAR
"""
_MODEL = "COMMONPLACE_EMBEDDING__MODEL_FOLDER"


@dataclass(frozen=True, slots=True)
class Command:
    """One command of the tour, what is piped into it, and the exit code it must end with.

    `finds` must be in the first line of its output, and `brings` must be the only memory in it; questions by meaning
    need the model. A command without a caption belongs to the one before it. One that `needs` a package which is not
    installed is left out.
    """

    caption: str
    words: tuple[str, ...]
    given: str | None = None
    code: int = 0
    finds: str = ""
    brings: str = ""
    needs: str = ""


@dataclass(frozen=True, slots=True)
class PersonEdit:
    """A person adds a line to the note in their own editor."""

    caption: str
    line: str


STORY: tuple[Command | PersonEdit, ...] = (
    Command("A small vault: list its notes.", ("note", "list")),
    Command("Read one section of a note.", ("note", "read", "Projects/Greenhouse/Greenhouse.md", "--section", "Plan")),
    Command(
        "See where links lead: by name, path or alias.",
        ("note", "links", "Meetings/2026-10-19 Sensor review.md"),
    ),
    Command(
        "Problems in notes are reported with their line, never repaired behind your back.",
        ("lint",),
        code=1,
    ),
    Command("Index everything, by words and by meaning.", ("sync",)),
    Command(
        "Search by words: the right section of the right note.",
        ("search", "permit for the tank", "-k", "1"),
        finds="Meetings/2026-10-05 Greenhouse kickoff.md:21  Greenhouse kickoff > Open questions",
    ),
    Command(
        "Search by meaning: the question shares no word with the note.",
        ("search", "battery life of the device", "-k", "1"),
        finds="Projects/Greenhouse/Sensors.md:11  Sensors > Which board",
    ),
    Command(
        "Find a person by what they do.",
        ("search", "who signs for large sums of money", "-k", "1"),
        finds="People/Priya Raman.md",
    ),
    Command(
        "Find a reason.",
        ("search", "why did we need a new greenhouse", "-k", "1"),
        finds="Projects/Greenhouse/Greenhouse.md:14  Greenhouse > Why",
    ),
    Command(
        "Search one folder, and see why the hit was found.",
        ("search", "how often does it send a reading", "--path", "Meetings", "-k", "1", "--explain"),
        finds="Meetings/2026-10-19 Sensor review.md:9  Sensor review",
    ),
    Command(
        "Write a note: one commit.",
        ("note", "write", NOTE, "-m", "the plan for July"),
        given="---\ntags: [garden]\n---\nWater the beds at six.\n",
    ),
    Command(
        "A writer with an outdated version is refused, and nothing changes.",
        ("note", "write", NOTE, "--expect", "0" * 64),
        given="Water the beds at noon.\n",
        code=4,
    ),
    PersonEdit("You edit the same note in Obsidian and commit nothing.", "Not on Sundays. (Robin)"),
    Command(
        "The next write first commits your edit as yours.",
        ("note", "write", NOTE),
        given="Water the beds at six, twice in July.\n",
    ),
    Command("Both are in the note's history.", ("note", "history", NOTE)),
    Command(
        "Move a note: links to it are updated.",
        ("note", "move", "People/Jonas Weber.md", "People/Jonas Weber-Lind.md"),
    ),
    Command("Undo it, links included.", ("undo",)),
    Command(
        "Save something to remember: one entry.",
        ("save", "Prefers watering before breakfast.", "--kind", "preference", "--topic", "garden"),
    ),
    Command(
        "Save it again: the entry is confirmed, not duplicated.",
        ("save", "prefers watering before breakfast", "--kind", "preference"),
    ),
    Command("Add a fact about a person.", ("fact", "add", "Tomas", "lives in", "Oslo", "--valid-from", "2024-05-01")),
    Command(
        "A new value ends the old one; nothing is overwritten.",
        ("fact", "add", "Tomas", "lives in", "Bergen", "--valid-from", "2026-09-01"),
    ),
    Command("List the facts about someone; structured lines in notes are facts, too.", ("facts", "Ada")),
    Command(
        "Ask where he lived on a given day.",
        ("facts", "Tomas", "--predicate", "lives_in", "--as-of", "2025-01-01"),
    ),
    Command("See it on a timeline.", ("timeline", "Tomas")),
    Command(
        "Save two things that an agent should never forget.",
        ("save", "Is allergic to shellfish.", "--kind", "constraint"),
    ),
    Command("", ("save", "Bad left knee since 2021: no running, swims instead.", "--kind", "constraint")),
    Command("See the profile that every session of an agent is given once.", ("context",)),
    Command(
        "See what one prompt brings: the memory it needs, alone, although they share no word.",
        ("context", "what time of day should I get the hose out?"),
        brings="Prefers watering before breakfast.",
    ),
    Command("", ("context", "would prawns be fine for me?"), brings="Is allergic to shellfish."),
    Command("", ("context", "should I sign up for the half marathon?"), brings="Bad left knee since 2021"),
    Command("A prompt that needs nothing gets nothing.", ("context", "write a haiku about rain")),
    Command(
        "Read a calendar: the meeting of today, from a file.", ("calendar", "add", "work", CALENDAR), needs="icalendar"
    ),
    Command(
        "Write the note about it: its people, what they discussed before, what they owe.",
        ("template", "run", "meeting_note", "--date", TODAY, "--dry-run"),
        needs="icalendar",
    ),
    Command("", ("template", "run", "meeting_note", "--date", TODAY), needs="icalendar"),
    Command("Write one note with who has to do what: a tick in it closes.", ("template", "run", "commitment_log")),
    Command("A secret is refused and written nowhere.", ("save", "The wifi password is tulip-Garden-84!"), code=3),
    Command("See what was written, by whom and why.", ("log",)),
)


def demo(
    into: Annotated[
        Path | None, typer.Option(help="Keep the sample vault in this folder, which must be new or empty.")
    ] = None,
) -> None:
    """Show Commonplace at work on a sample vault in a temporary folder.

    \b
    Examples:
      commonplace demo
      commonplace demo --into ~/sample-vault
    """
    from commonplace.app import copy_sample, model_statuses, put_under_git

    statuses, _ = model_statuses({})
    has_model = statuses[0].installed  # the first is the default, which the demo uses whatever the settings say
    if not has_model:
        print_stderr("no model installed: search is by words only (`commonplace model install` downloads it)")
    with tempfile.TemporaryDirectory(prefix="commonplace-demo-") as scratch:
        vault = into.expanduser() if into else Path(scratch) / "vault"
        copy_sample(vault)
        put_under_git(vault)
        (Path(scratch) / "settings.toml").touch()
        today = datetime.now()
        (Path(scratch) / CALENDAR).write_text(_EVENT.format(day=f"{today:%Y%m%d}"), encoding="utf-8")
        for scene in STORY:
            if isinstance(scene, PersonEdit):
                _write_by_hand(scene, vault / NOTE)
            elif not scene.needs or find_spec(scene.needs):
                words = tuple(f"{today:%Y-%m-%d}" if word == TODAY else word for word in scene.words)
                _run_command(replace(scene, words=words), vault, Path(scratch), has_model=has_model)
    if into:
        print_line(f"\nThe sample vault is in {into}. Try: commonplace --vault {quote(str(into))} note list")


def _write_by_hand(scene: PersonEdit, note: Path) -> None:
    print_line(f"\n# {scene.caption}\n$ echo {quote(scene.line)} >> {quote(NOTE)}")
    with note.open("a", encoding="utf-8") as opened:
        opened.write(scene.line + "\n")


def _run_command(command: Command, vault: Path, scratch: Path, *, has_model: bool) -> None:
    """Run one command as a person would, and print it with its output."""
    piped = f"echo {quote(command.given.splitlines()[-1])} | " if command.given else ""
    caption = f"\n# {command.caption}" if command.caption else ""
    print_line(f"{caption}\n$ {piped}commonplace {' '.join(map(quote, command.words))}")
    own = {name: value for name, value in os.environ.items() if name == _MODEL or not name.startswith("COMMONPLACE_")}
    done = subprocess.run(
        [sys.executable, "-m", "commonplace", "--vault", str(vault), "--data", str(scratch / "data"), *command.words],
        input=(command.given or "").encode(),
        check=False,
        cwd=scratch,  # outside of any repository, whose project the entries would belong to
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={**own, "COMMONPLACE_SETTINGS": str(scratch / "settings.toml")},
    )
    answer = done.stdout.decode(errors="replace")
    print_context(answer)
    if done.returncode != command.code:
        raise typer.Exit(done.returncode or 1)
    memories = [line for line in answer.splitlines() if line.startswith("- ")]
    is_right = command.finds in answer.partition("\n")[0]
    if command.brings:
        is_right = len(memories) == 1 and command.brings in memories[0]
    if not is_right and has_model:
        expected = command.finds or command.brings
        raise CommonplaceError(f"the demo expected {expected}", hint="This is a bug: please report it.")
