"""`commonplace demo`: the main job on a sample vault, with real output."""

import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import Annotated

import typer

from commonplace.app import copy_sample, model_status, put_under_git
from commonplace.cli.door import print_aside, print_line, print_text
from commonplace.errors import CommonplaceError

NOTE = "Inbox/Watering.md"
_MODEL = "COMMONPLACE_EMBEDDING__MODEL_FOLDER"


@dataclass(frozen=True, slots=True)
class Call:
    """One command of the story, what is piped into it, and the exit code it has to end with.

    `finds` is what the first line of its answer has to name; a question by meaning wants the model for it.
    """

    caption: str
    words: tuple[str, ...]
    given: str | None = None
    code: int = 0
    finds: str = ""


@dataclass(frozen=True, slots=True)
class ByHand:
    """A person opens the note in their editor and adds a line."""

    caption: str
    line: str


STORY: tuple[Call | ByHand, ...] = (
    Call("The notes of a small vault.", ("note", "list")),
    Call("One section of one of them.", ("note", "read", "Projects/Greenhouse/Greenhouse.md", "--section", "Plan")),
    Call(
        "Where links lead: by name, by path, by alias.",
        ("note", "links", "Meetings/2026-10-19 Sensor review.md"),
    ),
    Call(
        "What is wrong in the notes: shown with its line, never repaired behind your back.",
        ("lint",),
        code=1,
    ),
    Call("Everything indexed, by words and by meaning.", ("sync",)),
    Call(
        "By words: the right section of the right note.",
        ("search", "permit for the tank", "-k", "1"),
        finds="Meetings/2026-10-05 Greenhouse kickoff.md:21  Greenhouse kickoff > Open questions",
    ),
    Call(
        "By meaning: no word of the question stands in the note.",
        ("search", "battery life of the device", "-k", "1"),
        finds="Projects/Greenhouse/Sensors.md:11  Sensors > Which board",
    ),
    Call(
        "A person, asked for by what they do.",
        ("search", "who signs for large sums of money", "-k", "1"),
        finds="People/Priya Raman.md",
    ),
    Call(
        "A reason.",
        ("search", "why did we need a new greenhouse", "-k", "1"),
        finds="Projects/Greenhouse/Greenhouse.md:14  Greenhouse > Why",
    ),
    Call(
        "Only in some notes, and why it was found.",
        ("search", "how often does it send a reading", "--path", "Meetings", "-k", "1", "--explain"),
        finds="Meetings/2026-10-19 Sensor review.md:9  Sensor review",
    ),
    Call(
        "An agent's words become a note, and a commit.",
        ("note", "write", NOTE, "-m", "the plan for July"),
        given="---\ntags: [garden]\n---\nWater the beds at six.\n",
    ),
    Call(
        "A writer that has seen an older version is refused, and nothing changes.",
        ("note", "write", NOTE, "--expect", "0" * 64),
        given="Water the beds at noon.\n",
        code=4,
    ),
    ByHand("You write in the same note, in Obsidian, and commit nothing.", "Not on Sundays. (Robin)"),
    Call(
        "The next write first keeps your words in a commit of their own.",
        ("note", "write", NOTE),
        given="Water the beds at six, twice in July.\n",
    ),
    Call("Both are in its history.", ("note", "history", NOTE)),
    Call(
        "A note moves, and the links to it follow.",
        ("note", "move", "People/Jonas Weber.md", "People/Jonas Weber-Lind.md"),
    ),
    Call("Taken back, links and all.", ("undo",)),
    Call(
        "One thing known becomes an entry of its own.",
        ("save", "Prefers watering before breakfast.", "--kind", "preference", "--topic", "garden"),
    ),
    Call(
        "Said again, it is confirmed and not written twice.",
        ("save", "prefers watering before breakfast", "--kind", "preference"),
    ),
    Call("A fact about a person.", ("fact", "add", "Tomas", "lives in", "Oslo", "--valid-from", "2024-05-01")),
    Call(
        "A new value ends the old one; nothing is overwritten.",
        ("fact", "add", "Tomas", "lives in", "Bergen", "--valid-from", "2026-09-01"),
    ),
    Call("What is known of someone: a line in a note is a fact, too.", ("facts", "Ada")),
    Call(
        "Where he lived on a day.",
        ("facts", "Tomas", "--predicate", "lives_in", "--as-of", "2025-01-01", "--known", "now"),
    ),
    Call("How it came to be.", ("timeline", "Tomas")),
    Call(
        "What would be put before a model for a prompt: fenced, with its sources, within a budget.",
        ("context", "when shall I water, and where does Tomas live?", "--budget", "900", "--explain"),
    ),
    Call("A secret is refused, and written nowhere.", ("save", "The wifi password is tulip-Garden-84!"), code=3),
    Call("What was written, by whom and why.", ("log",)),
)


def demo(
    into: Annotated[
        Path | None, typer.Option(help="Keep the sample vault in this folder, which must be empty or new.")
    ] = None,
) -> None:
    """Show Commonplace at work on a sample vault in a temporary folder.

    \b
    Examples:
      commonplace demo
      commonplace demo --into ~/sample-vault
    """
    if not model_status({}).installed:
        print_aside("no model is installed: searches go by words alone (`commonplace model install` fetches it)")
    with tempfile.TemporaryDirectory(prefix="commonplace-demo-") as scratch:
        vault = into.expanduser() if into else Path(scratch) / "vault"
        copy_sample(vault)
        put_under_git(vault)
        (Path(scratch) / "settings.toml").touch()
        for scene in STORY:
            if isinstance(scene, ByHand):
                _write_by_hand(scene, vault / NOTE)
            else:
                _call(scene, vault, Path(scratch))
    if into:
        print_line(f"\nThe sample vault is in {into}. Try: commonplace --vault {quote(str(into))} note list")


def _write_by_hand(scene: ByHand, note: Path) -> None:
    print_line(f"\n# {scene.caption}\n$ echo {quote(scene.line)} >> {quote(NOTE)}")
    with note.open("a", encoding="utf-8") as opened:
        opened.write(scene.line + "\n")


def _call(call: Call, vault: Path, scratch: Path) -> None:
    """Run one command as a person would, and show it with its output."""
    piped = f"echo {quote(call.given.splitlines()[-1])} | " if call.given else ""
    print_line(f"\n# {call.caption}\n$ {piped}commonplace {' '.join(map(quote, call.words))}")
    own = {name: value for name, value in os.environ.items() if name == _MODEL or not name.startswith("COMMONPLACE_")}
    done = subprocess.run(
        [sys.executable, "-m", "commonplace", "--vault", str(vault), "--data", str(scratch / "data"), *call.words],
        input=(call.given or "").encode(),
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={**own, "COMMONPLACE_SETTINGS": str(scratch / "settings.toml")},
    )
    answer = done.stdout.decode(errors="replace")
    print_text(answer)
    if done.returncode != call.code:
        raise typer.Exit(done.returncode or 1)
    if call.finds not in answer.partition("\n")[0] and model_status({}).installed:
        raise CommonplaceError(f"the demo expected {call.finds}", hint="This is a bug: please report it.")
