"""The journal: what a transaction is about to do, on the disk before it does it, so that a crash can be made good.

It is one line of JSON in the user's state directory, beside the lock that guards it. While git works, lines with the
time are added: a lock that git left behind is ours only if it is not older than the last of them.
A journal that cannot be read was never whole, and then nothing had begun.
"""

import json
import os
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from commonplace.vault.base import Label
from commonplace.vault.syscalls import flush
from commonplace.vault.trouble import disk_trouble

_EMPTY_FILE = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_CLOEXEC", 0)


@dataclass(frozen=True, slots=True)
class Entry:
    """One path of a mutation: its versions before and after, ABSENT for none, and what git had of it.

    `blob` is git's id of the bytes before, `head` and `staged` the ids that HEAD and the index held;
    `mode` is that of the file before.
    """

    path: str
    before: str
    after: str
    mode: int | None
    blob: str | None
    head: str | None
    staged: str | None


@dataclass(frozen=True, slots=True)
class Journal:
    """One mutation: its id and label, its paths, the folders that are not there yet, and the process that makes it."""

    mutation: str
    label: Label
    entries: tuple[Entry, ...]
    folders: tuple[str, ...]
    pid: int
    started: str

    @property
    def paths(self) -> tuple[str, ...]:
        """The paths it changes."""
        return tuple(entry.path for entry in self.entries)


@dataclass(frozen=True, slots=True)
class Found:
    """A journal left behind, None when it is torn, and when git was last set to work."""

    journal: Journal | None
    git_since: float | None


class JournalFile:
    """The file of a vault's journal; when it is empty there is none. Whoever holds the vault's lock may use it.

    It is emptied and not removed, so that having a journal costs one flush and having none costs none: should a crash
    of the machine bring an old one back, recovery finds its commit and has nothing to do.
    """

    def __init__(self, file: Path) -> None:
        self._file = file

    def write(self, journal: Journal) -> None:
        """Have the journal on the disk itself. Raises VaultUnavailable, and then there is none."""
        try:
            with disk_trouble(str(self._file), doing="write the journal"):
                self._write(as_text(journal).encode())
        except BaseException:
            self.remove()
            raise

    def git_begins(self) -> None:
        """Note the time: from now on git may leave locks behind. A crash of the machine may forget it."""
        with disk_trouble(str(self._file), doing="write the journal"), self._file.open("a", encoding="ascii") as file:
            file.write(f"{time.time()}\n")

    def read(self) -> Found | None:
        """The journal that was left behind; None when there is none."""
        with disk_trouble(str(self._file), doing="read the journal"):
            try:
                text = self._file.read_bytes().decode(errors="replace")
            except FileNotFoundError:
                return None
        first, *times = text.split("\n")
        return Found(parse(first), _last_time(times)) if text else None

    def remove(self) -> None:
        """Have no journal."""
        with disk_trouble(str(self._file), doing="empty the journal"):
            os.close(os.open(self._file, _EMPTY_FILE, 0o600))

    def _write(self, text: bytes) -> None:
        is_new = not self._file.exists()
        opened = os.open(self._file, _EMPTY_FILE, 0o600)
        try:
            while text:
                text = text[os.write(opened, text) :]
            flush(opened)
        finally:
            os.close(opened)
        if is_new:
            _flush_folder(self._file.parent)


def as_text(journal: Journal) -> str:
    """The journal as a line."""
    return json.dumps(asdict(journal), separators=(",", ":")) + "\n"


def parse(line: str) -> Journal | None:
    """The journal that the line holds; None when it holds no whole one."""
    try:
        fields = json.loads(line)
        entries = tuple(Entry(**entry) for entry in fields.pop("entries"))
        label = fields.pop("label")
        trailers = tuple((str(key), str(value)) for key, value in label["trailers"])
        folders = tuple(fields.pop("folders"))
        return Journal(label=Label(label["message"], trailers), entries=entries, folders=folders, **fields)
    except (ValueError, TypeError, KeyError, AttributeError):
        return None


def _last_time(lines: list[str]) -> float | None:
    for line in reversed(lines):
        try:
            return float(line)
        except ValueError:
            continue  # the last line may be torn
    return None


def _flush_folder(path: Path) -> None:
    folder = os.open(path, os.O_RDONLY)
    try:
        flush(folder)
    finally:
        os.close(folder)
