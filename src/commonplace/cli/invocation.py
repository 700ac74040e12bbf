"""One invocation of the command line: its global options, the memory it opens, and how answers are printed."""

import os
import re
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TextIO

import typer

from commonplace.errors import UsageError

if TYPE_CHECKING:
    from datetime import tzinfo

    from commonplace.memory import Memory
    from commonplace.settings.load import LoadedSettings

_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]")

_REFRESH_S = 0.1  # between two updates of a progress line


@dataclass(frozen=True, slots=True)
class Invocation:
    """The global options of one call of `commonplace`."""

    json: bool = False
    quiet: bool = False
    flags: Mapping[str, object] = field(default_factory=dict)

    def settings(self) -> "LoadedSettings":
        """All settings, with this call's flags on top."""
        from pathlib import Path

        from commonplace.settings.load import load_settings

        # Only a person's current folder counts: a program's says nothing about its owner.
        current = Path.cwd() if sys.stdin.isatty() else None
        return load_settings(flags=self.flags, current=current)

    def memory(self) -> "Memory":
        """The memory of the vault that this call names. Use it in a `with` block, which closes it."""
        from commonplace.app import open_with
        from commonplace.model import Actor

        return open_with(self.settings().settings, actor=Actor("person", "cli"))

    def answer(self, values: Mapping[str, Any], show: Callable[[], None]) -> None:
        """Print the answer: as JSON with `--json`, else as `show` prints it for people."""
        if self.json:
            print_json({"ok": True, **values})
        else:
            show()

    def inform(self, text: str) -> None:
        """Print a line in addition to the answer, to standard error; not with `-q` or `--json`."""
        if not (self.quiet or self.json):
            print_stderr(text)


def invocation_of(context: typer.Context) -> Invocation:
    """The global options that `main` parsed."""
    return context.find_object(Invocation) or Invocation()


def show_help(context: typer.Context) -> None:
    """Print the help of a command group that was called without a command."""
    if context.invoked_subcommand is None:
        print_line(context.get_help())


def print_json(values: Mapping[str, Any]) -> None:
    """Print one JSON object on standard output, in ASCII, so that no terminal encoding can break it."""
    import json

    _write(json.dumps(values, default=_json_value, indent=2) + "\n", sys.stdout)


def print_line(text: str = "") -> None:
    """Print a line on standard output."""
    _write(text + "\n", sys.stdout)


def print_text(text: str) -> None:
    """Print a note's text as it is; on a terminal without its control characters."""
    _write(text, sys.stdout)


def print_stderr(text: str) -> None:
    """Print a line on standard error."""
    _write(text + "\n", sys.stderr)


def print_table(headers: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table on a terminal, in colours unless NO_COLOR is set; elsewhere cells separated by two blanks."""
    if not sys.stdout.isatty():
        for row in rows:
            print_line("  ".join(row))
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(*headers, box=None, header_style="bold", pad_edge=False)
    for row in rows:
        table.add_row(*[Text(printable(cell), overflow="fold") for cell in row])
    Console().print(table)


def progress_line(text: Callable[[int, int], str]) -> Callable[[int, int], None]:
    """A counter in one line of the terminal, wiped when it is done; silent where standard error is not a terminal."""
    shown = 0.0

    def show(done: int, total: int) -> None:
        nonlocal shown
        if sys.stderr.isatty() and (done >= total or time.monotonic() > shown + _REFRESH_S):
            shown = time.monotonic()
            sys.stderr.write("\r\033[K" if done >= total else f"\r\033[K{text(done, total)}")
            sys.stderr.flush()

    return show


def local_zone() -> "tzinfo":
    """The time zone of this machine."""
    from datetime import UTC, datetime

    return datetime.now().astimezone().tzinfo or UTC


def file_time_text(mtime: float) -> str:
    """A file's time as UTC, ISO 8601; a time that no calendar has is printed as a number."""
    from commonplace.model.moment import timestamp_text

    try:
        return timestamp_text(mtime)
    except (ValueError, OverflowError, OSError):
        return f"{mtime:.0f}"


def printable(text: str) -> str:
    """The text without control characters: notes are not trusted, and a terminal obeys them."""
    return _CONTROL.sub("\N{REPLACEMENT CHARACTER}", text.replace("\r\n", "\n").removeprefix("\ufeff"))


def _write(text: str, stream: TextIO) -> None:
    """Write all of it. A reader that closes the pipe (`| head`) ends the program quietly, as with every tool."""
    if stream.isatty():
        text = printable(text)
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
            f"cannot write the answer: {error.strerror}", hint="Check where the output goes: is that disk full?"
        ) from error


def _json_value(value: Any) -> Any:
    """What a value that JSON does not know becomes: dataclasses objects, paths and all else text."""
    from dataclasses import asdict, is_dataclass

    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    return os.fspath(value) if isinstance(value, os.PathLike) else str(value)
