"""How far it is from a door to the database: runs commands on the sample vault under a profiler.

For each command: the files of ours in which a function ran, how often execution crossed from one of them into another,
and the deepest stack at an SQL statement and at a start of git, in files of ours and in frames.
Each command runs in a process of its own, so opening and checking the databases is part of every walk.

    .venv/bin/python tools/trace.py            # the eight walks in ARCHITECTURE.md
    .venv/bin/python tools/trace.py search     # one of them, with the files on its deepest stacks
"""

import json
import os
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from types import FrameType
from typing import Any, Final, TypedDict

SOURCES: Final = f"{Path(__file__).parents[1] / 'src' / 'commonplace'}{os.sep}"
WALKS: Final[dict[str, Sequence[str]]] = {
    "note read": ("note", "read", "People/Ada Lindqvist.md"),
    "note write": ("note", "write", "Inbox/Trace.md", "--file", "note.md"),
    "save": ("save", "Sharpens the pruning knife every Sunday.", "--kind", "workflow"),
    "fact add": ("fact", "add", "Tomas", "works at", "Beta"),
    "search": ("search", "battery life of the device"),
    "facts": ("facts", "Tomas"),
    "context": ("context", "where does Tomas work?"),
    "sync": ("sync",),
}
_SQL: Final = ("Connection.execute", "Cursor.execute")


class Figures(TypedDict):
    """What one walk measured: stacks are files from the database up to the door, one for each frame."""

    files: int
    functions: int
    switches: int
    stacks: dict[str, list[str]]


class Trace:
    """A profile function that counts files and switches, and keeps the deepest stacks."""

    def __init__(self) -> None:
        self._files: set[str] = set()
        self._functions: set[tuple[str, int]] = set()
        self._switches = 0
        self._last = ""
        self._stacks: dict[str, list[str]] = {}
        self._imports: Counter[int] = Counter()

    def __call__(self, frame: FrameType, event: str, argument: Any) -> None:
        """Called by Python at every call of a function, in Python or in C. What an import runs does not count."""
        if frame.f_code.co_name == "<module>" and event in ("call", "return"):
            self._imports[threading.get_ident()] += 1 if event == "call" else -1
        if self._imports[threading.get_ident()]:
            return
        file = _file_of(frame)
        if event == "call" and file:
            self._files.add(file)
            self._functions.add((file, frame.f_code.co_firstlineno))
            self._switches += file != self._last
            self._last = file
        elif event == "call" and frame.f_code.co_qualname == "Popen.__init__":
            self._keep("git", frame)
        elif event == "c_call" and getattr(argument, "__qualname__", "") in _SQL:
            self._keep("SQL", frame)

    def figures(self) -> Figures:
        """What was counted so far."""
        return Figures(
            files=len(self._files), functions=len(self._functions), switches=self._switches, stacks=self._stacks
        )

    def _keep(self, what: str, frame: FrameType | None) -> None:
        stack = []
        while frame:
            stack += [file] if (file := _file_of(frame)) else []
            frame = frame.f_back
        if len(set(stack)) > len(set(self._stacks.get(what, ()))):
            self._stacks[what] = stack


def _file_of(frame: FrameType) -> str:
    """The file of ours that the frame runs in; empty for any other."""
    file = frame.f_code.co_filename
    return file.removeprefix(SOURCES) if file.startswith(SOURCES) else ""


def run_traced(arguments: Sequence[str], results: Path) -> None:
    """Run one command in this process and write what was measured."""
    from commonplace.__main__ import main

    trace = Trace()
    sys.argv = ["commonplace", *arguments]
    threading.setprofile(trace)
    sys.setprofile(trace)
    try:
        main()
    finally:
        sys.setprofile(None)
        results.write_text(json.dumps(trace.figures()))


def measure(names: Sequence[str]) -> dict[str, Figures]:
    """The figures of each walk, in the order in which they run on one sample vault."""
    figures = {}
    with tempfile.TemporaryDirectory() as folder:
        environment = {
            **os.environ,
            "HOME": folder,
            "XDG_DATA_HOME": f"{folder}/data",
            "XDG_STATE_HOME": f"{folder}/state",
            "XDG_CONFIG_HOME": f"{folder}/config",
            "COMMONPLACE_VAULT": f"{folder}/vault",
        }
        (Path(folder) / "note.md").write_text("Water the beds at six.\n")
        _run(folder, environment, "-m", "commonplace", "demo", "--into", f"{folder}/vault")
        _run(folder, environment, "-m", "commonplace", "sync")
        for name in names:
            results = Path(folder) / "figures.json"
            _run(folder, environment, __file__, "--into", str(results), *WALKS[name])
            figures[name] = json.loads(results.read_text())
    return figures


def _run(folder: str, environment: dict[str, str], *arguments: str) -> None:
    run = subprocess.run([sys.executable, *arguments], cwd=folder, env=environment, capture_output=True, text=True)
    if run.returncode:
        sys.exit(f"{' '.join(arguments)} failed with exit code {run.returncode}:\n{run.stderr}")


def _depth(figures: Figures, what: str) -> str:
    stack = figures["stacks"].get(what)
    return f"{len(set(stack))} ({len(stack)})" if stack else "-"


def main() -> None:
    """Print a table of all walks, or one walk with the files on its deepest stacks."""
    if sys.argv[1:2] == ["--into"]:
        run_traced(sys.argv[3:], Path(sys.argv[2]))
        return
    names = [" ".join(sys.argv[1:])] if sys.argv[1:] else [*WALKS]
    if unknown := [name for name in names if name not in WALKS]:
        sys.exit(f"no such walk: {unknown[0]} (walks: {', '.join(WALKS)})")
    print(
        "| walk | files | functions | switches | SQL: files (frames) | git: files (frames) |\n|---|---|---|---|---|---|"
    )
    for name, figures in measure(names).items():
        counts = " | ".join(str(figures[key]) for key in ("files", "functions", "switches"))
        print(f"| `{name}` | {counts} | {_depth(figures, 'SQL')} | {_depth(figures, 'git')} |")
        for what, stack in figures["stacks"].items() if len(names) == 1 else ():
            print(f"\n{what}: {' > '.join(dict.fromkeys(reversed(stack)))}")


if __name__ == "__main__":
    main()
