"""`commonplace demo`: the main job on a sample vault, with real output."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from shlex import quote
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
    with tempfile.TemporaryDirectory(prefix="commonplace-demo-") as scratch:
        vault = into.expanduser() if into else Path(scratch) / "vault"
        copy_sample(vault)
        no_settings = Path(scratch) / "settings.toml"
        no_settings.touch()
        for caption, words in STORY:
            _tell(caption, words, vault=str(vault), settings=str(no_settings))
    if into:
        print_line(f"\nThe sample vault is in {into}. Try: commonplace --vault {quote(str(into))} note list")


def _tell(caption: str, words: tuple[str, ...], *, vault: str, settings: str) -> None:
    """Run one command as a person would, and show it with its output."""
    shown = " ".join(f'"{word}"' if " " in word else word for word in words)
    print_line(f"\n# {caption}\n$ commonplace {shown}")
    own = {name: value for name, value in os.environ.items() if not name.startswith("COMMONPLACE_")}
    run = [sys.executable, "-m", "commonplace", "--vault", vault, *words]
    done = subprocess.run(run, check=False, stderr=subprocess.STDOUT, env={**own, "COMMONPLACE_SETTINGS": settings})
    if done.returncode:
        raise typer.Exit(done.returncode)
