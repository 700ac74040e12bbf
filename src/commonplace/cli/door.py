"""What every command shares: the global options, the memory they open, and how an answer is shown."""

import json
import os
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, is_dataclass
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from typing import Any, TextIO

import typer

from commonplace.errors import UsageError
from commonplace.memory import Memory
from commonplace.model import Actor
from commonplace.settings import Loaded, load_settings

_STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]")

_FLICKER = 0.1  # seconds between two states of a counter


@dataclass(frozen=True, slots=True)
class Door:
    """The global options of one call."""

    json: bool = False
    quiet: bool = False
    flags: Mapping[str, object] = field(default_factory=dict)

    def settings(self) -> Loaded:
        """All settings, with this call's flags on top."""
        current = Path.cwd() if sys.stdin.isatty() else None  # a program's folder says nothing about its person
        return load_settings(flags=self.flags, current=current)

    def memory(self) -> Memory:
        """The memory of the vault that this call is about."""
        from commonplace.app import open_with

        return open_with(self.settings().settings, actor=Actor("person", "cli"))

    @contextmanager
    def opened(self) -> Iterator[Memory]:
        """The same, closed when the block ends."""
        with self.memory() as memory:
            yield memory

    def answer(self, values: Mapping[str, Any], show: Callable[[], None]) -> None:
        """JSON for programs with `--json`, else the view for people."""
        if self.json:
            print_json({"ok": True, **values})
        else:
            show()

    def aside(self, text: str) -> None:
        """A line that is not the answer itself, to standard error; `-q` leaves it out."""
        if not (self.quiet or self.json):
            print_aside(text)


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
    _write(json.dumps(values, default=_plain, indent=2) + "\n", sys.stdout)


def print_line(text: str = "") -> None:
    """A line for people."""
    _write(text + "\n", sys.stdout)


def print_text(text: str) -> None:
    """A note's text as it is; on a terminal without its control characters."""
    _write(text, sys.stdout)


def print_aside(text: str) -> None:
    """A line to standard error."""
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
    for row in rows:
        table.add_row(*[Text(defused(cell), overflow="fold") for cell in row])
    Console().print(table)


def wiping(text: Callable[[int, int], str]) -> Callable[[int, int], None]:
    """A counter on the terminal, in one line that wipes itself out at the end; nothing where no one looks."""
    shown = 0.0

    def show(done: int, total: int) -> None:
        nonlocal shown
        if sys.stderr.isatty() and (done >= total or time.monotonic() > shown + _FLICKER):
            shown = time.monotonic()
            sys.stderr.write("\r\033[K" if done >= total else f"\r\033[K{text(done, total)}")
            sys.stderr.flush()

    return show


def local_zone() -> tzinfo:
    """The zone in which the person at this door reads clocks."""
    return datetime.now().astimezone().tzinfo or UTC


def iso(mtime: float) -> str:
    """A file time as UTC, ISO 8601; a time that no calendar has stays a number."""
    try:
        return datetime.fromtimestamp(mtime, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (ValueError, OverflowError, OSError):
        return f"{mtime:.0f}"


def _write(text: str, stream: TextIO) -> None:
    """Write it all. A reader that has seen enough (`| head`) ends the program quietly, as every tool does."""
    if stream.isatty():
        text = defused(text)
    try:
        stream.flush()
        stream.buffer.write(text.encode("utf-8", "replace"))
        stream.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        raise SystemExit(0) from None
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        raise UsageError(
            f"the answer cannot be written: {error.strerror}", hint="Look where the output goes: is that disk full?"
        ) from error


def defused(text: str) -> str:
    """The text without what steers a terminal or turns its direction, because notes are not trusted."""
    return _STEERING.sub("\N{REPLACEMENT CHARACTER}", text.replace("\r\n", "\n").removeprefix("\ufeff"))


def _plain(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    if isinstance(value, Path):
        return os.fspath(value)
    return str(value)
