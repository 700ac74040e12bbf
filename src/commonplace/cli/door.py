"""What every command shares: the global options, the memory they open, and how an answer is shown."""

import json
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, is_dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import typer

from commonplace.memory import Memory
from commonplace.settings import Loaded, load_settings


@dataclass(frozen=True, slots=True)
class Door:
    """The global options of one call."""

    json: bool = False
    flags: Mapping[str, object] = field(default_factory=dict)

    def settings(self) -> Loaded:
        """All settings, with this call's flags on top."""
        return load_settings(flags=self.flags)

    def memory(self) -> Memory:
        """The memory of the vault that this call is about."""
        from commonplace.app import open_with

        return open_with(self.settings().settings)

    def answer(self, values: Mapping[str, Any], show: Callable[[], None]) -> None:
        """JSON for programs with `--json`, else the view for people."""
        if self.json:
            print_json({"ok": True, **values})
        else:
            show()


def door_of(context: typer.Context) -> Door:
    """The global options that `main` parsed."""
    door = context.find_object(Door)
    return door if door else Door()


def help_alone(context: typer.Context) -> None:
    """Print the help of a command that was called without a word more."""
    if context.invoked_subcommand is None:
        print_line(context.get_help())


def print_json(values: Mapping[str, Any]) -> None:
    """One JSON object on standard output; only ASCII, so that no encoding of a terminal can break it."""
    sys.stdout.write(json.dumps(values, default=_plain, indent=2) + "\n")


def print_line(text: str = "") -> None:
    """A line for people."""
    _write(text + "\n", sys.stdout)


def print_text(text: str) -> None:
    """A note's text as it is; on a terminal without its control characters."""
    _write(text, sys.stdout)


def print_aside(text: str) -> None:
    """A line that is not the answer itself: to standard error."""
    _write(text + "\n", sys.stderr)


def print_table(headers: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """A table on a terminal, in colours unless NO_COLOR is set; elsewhere the same cells, two blanks between them."""
    if not sys.stdout.isatty():
        for row in rows:
            print_line("  ".join(row))
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(*headers, box=None, header_style="bold", pad_edge=False)
    table.columns[0].no_wrap = True
    for row in rows:
        table.add_row(*[Text(_defused(cell), overflow="fold") for cell in row])
    Console().print(table)


def iso(mtime: float) -> str:
    """A file time as UTC, ISO 8601."""
    return datetime.fromtimestamp(mtime, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _write(text: str, stream: Any) -> None:
    if stream.isatty():
        text = _defused(text)
    stream.flush()
    stream.buffer.write(text.encode("utf-8", "replace"))
    stream.flush()


def _defused(text: str) -> str:
    """The text without the characters that steer a terminal, because notes are not trusted."""
    return "".join(char if char in "\n\t" or char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in text)


def _plain(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    if isinstance(value, Path):
        return os.fspath(value)
    return str(value)
