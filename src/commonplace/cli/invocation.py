"""One invocation of the command line: its global options, the memory it opens, and how answers are printed."""

import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Final, TextIO

import typer

from commonplace.errors import CommonplaceError, UsageError
from commonplace.model.untrusted_text import break_marks, clean_text

if TYPE_CHECKING:
    from datetime import datetime, tzinfo
    from pathlib import Path

    from rich.console import Console
    from rich.text import Text

    from commonplace.memory import Memory
    from commonplace.settings.load import LoadedSettings
    from commonplace.settings.schema import Settings

_MOMENT: Final = re.compile(r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")  # as `moment_text` writes it
_GAP: Final = 2  # blanks between two columns
_PATHS: Final = frozenset(("note", "path", "file", "from", "to", "leads to"))  # headers of columns with paths
_NO_LINKS: Final = frozenset(("", "dumb", "linux", "unknown"))  # terminals without hyperlinks

WRITING_COMMANDS = frozenset(
    {
        *(
            "save",
            "settle",
            "evolve",
            "describe",
            "confirm",
            "forget",
            "erase",
            "load",
            "undo",
            "grant",
            "sync",
            "rebuild",
        ),
        *("watch", "note write", "note delete", "note move", "note erase", "fact add", "fact end"),
        *("review approve", "review edit", "review reject", "review settle", "review bring-back", "review agree"),
        *("user append", "user add-heading", "user remove", "user replace", "user remove-heading", "user apply"),
        *("import", "conversation add", "conversation close", "conversation memory", "conversation erase"),
        *("learn", "note mark", "note unmark"),
        *("project plan", "project progress", "project feature", "digest"),
        *("task add", "task erase", "correction add", "correction erase", "welcome"),
        *("calendar add", "calendar sync", "calendar remove", "conversation prune", "commitment close"),
        *("jobs run", "template run"),
    }
)
"""The commands that change a vault or its data. With several vaults, each says which one it is about to change."""


@dataclass(frozen=True, slots=True)
class Invocation:
    """The global options of one call of `commonplace`, and its command, such as `note write`."""

    json: bool = False
    quiet: bool = False
    verbose: bool = False
    flags: Mapping[str, object] = field(default_factory=dict)
    command: str = ""

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

        settings = self._settings_of_vault()
        if self.command in WRITING_COMMANDS and _has_several_vaults():
            self.inform(f"vault: {_absolute(settings.vault.root)}")
        return open_with(settings, actor=Actor("person", "cli"))

    def answer(self, values: Mapping[str, Any], show: Callable[[], None]) -> None:
        """Print the answer: as JSON with `--json`, else as `show` prints it for people."""
        if self.json:
            print_json({"ok": True, **self._vault_field(), **values})
        else:
            show()

    def inform(self, text: str) -> None:
        """Print a line in addition to the answer, to standard error; not with `-q` or `--json`."""
        if not (self.quiet or self.json):
            print_stderr(text)

    def _settings_of_vault(self) -> "Settings":
        """The settings. A vault that was moved and is now named by its new folder is registered there, and says so."""
        from commonplace.settings.registered_vaults import registered_vaults

        settings = self.settings().settings
        root, registered = settings.vault.root, registered_vaults()
        if root is None or registered.find(root) or not registered.entries:
            return settings
        from commonplace.app.registration import recognise_vault

        if before := recognise_vault(root):
            self.inform(f"This vault was in {before}: its history and index follow it to {_absolute(root)}.")
            return self.settings().settings
        return settings

    def _vault_field(self) -> dict[str, str]:
        """The vault in the answer of a command that writes, when there are several."""
        if self.command not in WRITING_COMMANDS or not _has_several_vaults():
            return {}
        return {"vault": _absolute(self.settings().settings.vault.root)}


def _absolute(root: "Path | None") -> str:
    if root is None:
        return ""
    from commonplace.settings.database_vaults import shown_vault

    return shown_vault(root.absolute())


def _has_several_vaults() -> bool:
    from commonplace.settings.registered_vaults import registered_vaults

    return len(registered_vaults().entries) > 1


def invocation_of(context: typer.Context) -> Invocation:
    """The global options that `main` parsed, and the command that runs."""
    found = context.find_object(Invocation) or Invocation()
    invocation = replace(found, command=context.command_path.partition(" ")[2])
    _ZONE.set(cache(partial(_shown_zone, invocation)))
    return invocation


def show_help(context: typer.Context) -> None:
    """Print the help of a command group that was called without a command."""
    if context.invoked_subcommand is None:
        print_line(context.get_help())


def print_json(values: Mapping[str, Any]) -> None:
    """Print one JSON object on standard output, in ASCII, so that no terminal encoding can break it."""
    import json

    _write(json.dumps(values, default=_json_value, indent=2) + "\n", sys.stdout)


def print_line(text: str = "") -> None:
    """Print a line on standard output, without marks and hidden characters: an agent may read it, or a terminal."""
    _write(printable(text) + "\n", sys.stdout)


def print_text(text: str) -> None:
    """Print text of several lines as `print_line` prints one."""
    _write(printable(text), sys.stdout)


def print_context(text: str) -> None:
    """Print a context, in which everything but our own marks was broken when it was composed."""
    _write(clean_text(text), sys.stdout)


def print_note(text: str) -> None:
    """Print a note's text: on a terminal without what it may not obey or hide, elsewhere exactly as it is."""
    _write(printable(text) if sys.stdout.isatty() else text, sys.stdout)


def print_stderr(text: str) -> None:
    """Print a line on standard error, always without control characters: people read it, and logs of other programs."""
    _write(printable(text) + "\n", sys.stderr)


def print_linked(line: str, links: Mapping[str, str], *, style: str = "") -> None:
    """Print a line; on a terminal in that style, and each of the shown texts opens its address with a click."""
    if not sys.stdout.isatty():
        print_line(line)
        return
    from rich.console import Console

    Console(highlight=False, soft_wrap=True).print(linked_text(line, links, style=style))


def linked_text(text: str, links: Mapping[str, str], *, style: str = "") -> "Text":
    """The text for a terminal, in which each of the shown texts is a hyperlink; without control characters.

    The addresses come from `obsidian_link`, never from a note. They are left out where a terminal does not know
    hyperlinks. NO_COLOR leaves them, as it leaves bold type: neither is a colour.
    """
    from rich.text import Text

    line = Text(printable(text), style=style)
    if os.environ.get("TERM", "") in _NO_LINKS:
        return line
    for shown, address in links.items():
        found = re.search(rf"(?<![\w/-]){re.escape(printable(shown))}(?!\w)", line.plain) if address else None
        if found:
            line.stylize(f"link {address}", *found.span())
    return line


def print_table(headers: Sequence[str], rows: Iterable[Sequence[str]], links: Sequence[Mapping[str, str]] = ()) -> None:
    """Print a table on a terminal, in colours unless NO_COLOR is set; elsewhere cells separated by two blanks.

    On a terminal that is too narrow for it, long texts are wrapped between words; if that does not suffice, each row
    becomes a few lines. A word, and so a path, is never broken. `links` has for each row what `linked_text` takes.
    """
    if not sys.stdout.isatty():
        for row in rows:
            print_line("  ".join(row))
        return
    from rich.console import Console

    console = Console(highlight=False, soft_wrap=True)
    shown = [[printable(cell) for cell in row] for row in rows]
    widths = [_narrowest(header, column) for header, column in zip(headers, zip(*shown, strict=True), strict=False)]
    if sum(widths) + _GAP * (len(widths) - 1) <= console.width:
        _print_columns(headers, shown, widths, console, links)
    else:
        for number, row in enumerate(shown):
            for line in _flowing_lines(dict(zip(headers, row, strict=False)), console.width):
                console.print(linked_text(line, links[number] if links else {}))


def _narrowest(header: str, column: Sequence[str]) -> int:
    """How narrow a column can be without breaking a word, or a path, whose blanks are part of it."""
    from rich.cells import cell_len

    words = [header, *column] if header in _PATHS else [header, *(word for cell in column for word in cell.split())]
    return max(map(cell_len, words))


def _print_columns(
    headers: Sequence[str],
    rows: Sequence[Sequence[str]],
    widths: Sequence[int],
    console: "Console",
    links: Sequence[Mapping[str, str]],
) -> None:
    from rich.table import Table

    table = Table(box=None, header_style="bold", pad_edge=False)
    for header, width in zip(headers, widths, strict=False):
        table.add_column(header, min_width=width, no_wrap=header in _PATHS)
    for number, row in enumerate(rows):
        table.add_row(*(linked_text(cell, links[number] if links else {}) for cell in row))
    console.print(table, soft_wrap=False)


def _flowing_lines(row: Mapping[str, str], width: int) -> Iterator[str]:
    """The cells one after the other, as many on a line as fit; later lines are indented.

    A text is wrapped between its words; a word or path that is longer than a line is left to the terminal.
    """
    import textwrap

    from rich.cells import cell_len

    line = ""
    for header, cell in row.items():
        if line and cell_len(line) + _GAP + cell_len(cell) <= width:
            line += " " * _GAP + cell
            continue
        indent = " " * _GAP if line else ""
        if line:
            yield line
        lines = textwrap.wrap(cell, width - _GAP, break_long_words=False, break_on_hyphens=False)
        first, *others = [cell] if header in _PATHS or not lines else lines
        *full, line = [indent + first, *(" " * _GAP + each for each in others)]
        yield from full
    yield line


def local_zone(invocation: Invocation) -> "tzinfo":
    """The person's time zone (`upkeep.zone`, else that of this machine), with its changes in spring and autumn."""
    from commonplace.memory.jobs import zone_of

    return zone_of(invocation.settings().settings.upkeep)


def _shown_zone(invocation: Invocation) -> "tzinfo":
    """The zone of the times that a command shows: that of the machine if no settings can be read."""
    try:
        return local_zone(invocation)
    except CommonplaceError:
        return _machine_zone()


def _machine_zone() -> "tzinfo":
    from commonplace.memory.jobs import zone_of
    from commonplace.settings.schema import Settings

    return zone_of(Settings().upkeep)


_ZONE: "ContextVar[Callable[[], tzinfo]]" = ContextVar("_ZONE", default=_machine_zone)
"""Gives the zone of the times that the current command shows."""


def local_time(moment: "datetime | str | None") -> str:
    """A moment as people read it: to the minute, in their zone; empty for none.

    A day, text that is no moment, and a moment that no calendar has in this zone come back as they are.
    """
    from datetime import UTC, datetime

    if not moment or (isinstance(moment, str) and len(moment) <= len("2026-03-01")):
        return str(moment or "")
    try:
        at = datetime.fromisoformat(moment) if isinstance(moment, str) else moment
        at = (at if at.tzinfo else at.replace(tzinfo=UTC)).astimezone(_ZONE.get()())
    except (ValueError, OverflowError):
        return str(moment)
    return at.replace(tzinfo=None).isoformat(sep=" ", timespec="minutes")


def with_local_times(line: str) -> str:
    """A line of our own for people: each moment in it as `local_time` writes it."""
    return _MOMENT.sub(lambda match: local_time(match[0]), line)


def file_time_text(mtime: float) -> str:
    """A file's time as `local_time` writes it; a time that no calendar has is printed as a number."""
    from commonplace.model.moment import timestamp_text

    try:
        return local_time(timestamp_text(mtime))
    except (ValueError, OverflowError, OSError):
        return f"{mtime:.0f}"


def printable(text: str) -> str:
    """The text without marks and hidden characters: a terminal obeys what a note says, and agents read it too."""
    return break_marks(text.removeprefix("\ufeff"))


def _write(text: str, stream: TextIO) -> None:
    """Write all of it. A reader that closes the pipe (`| head`) ends the program quietly, as with every tool."""
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
