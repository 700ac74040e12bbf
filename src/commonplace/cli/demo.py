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

from commonplace.app import copy_sample, put_under_git
from commonplace.cli.door import print_line

NOTE = "Inbox/Watering.md"


@dataclass(frozen=True, slots=True)
class Call:
    """One command of the story, what is piped into it, and the exit code it has to end with."""

    caption: str
    words: tuple[str, ...]
    given: str | None = None
    code: int = 0


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
    own = {name: value for name, value in os.environ.items() if not name.startswith("COMMONPLACE_")}
    done = subprocess.run(
        [sys.executable, "-m", "commonplace", "--vault", str(vault), "--data", str(scratch / "data"), *call.words],
        input=(call.given or "").encode(),
        check=False,
        stderr=subprocess.STDOUT,
        env={**own, "COMMONPLACE_SETTINGS": str(scratch / "settings.toml")},
    )
    if done.returncode != call.code:
        raise typer.Exit(done.returncode or 1)
