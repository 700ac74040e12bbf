"""`commonplace demo`: the main job on a sample vault, with real output."""

import subprocess
import sys
import tempfile
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer

from commonplace.app import copy_sample
from commonplace.cli.door import print_line

STORY: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("The notes of a small vault.", ("note", "list")),
    ("One of them.", ("note", "read", "People/Ada Lindqvist.md")),
    ("One section of another.", ("note", "read", "Projects/Greenhouse/Greenhouse.md", "--section", "Plan")),
    ("Where its links lead: by name, by path, by alias.", ("note", "links", "Meetings/2026-10-19 Sensor review.md")),
    ("Links that lead nowhere yet.", ("links",)),
    ("What is wrong in the notes: shown with its line, never repaired behind your back.", ("lint",)),
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
    with tempfile.TemporaryDirectory(prefix="commonplace-demo-") if into is None else nullcontext(into) as folder:
        copy_sample(Path(folder).expanduser())
        for caption, words in STORY:
            _tell(caption, words, vault=str(folder))
    if into:
        print_line(f"\nThe sample vault is in {into}. Try: commonplace --vault {into} note list")


def _tell(caption: str, words: tuple[str, ...], *, vault: str) -> None:
    """Run one command as a person would, and show it with its output."""
    shown = " ".join(f'"{word}"' if " " in word else word for word in words)
    print_line(f"\n# {caption}\n$ commonplace {shown}")
    run = [sys.executable, "-m", "commonplace", "--vault", vault, *words]
    subprocess.run(run, check=True, stderr=sys.stdout)
